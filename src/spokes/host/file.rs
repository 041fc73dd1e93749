//! `host_file.read`, and opening a file for whoever reads one: only plain files, never one that holds secrets, and no
//! link, race or special file gets around that.

use std::fs::{File, Metadata};
use std::io::BufReader;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use countersign_core::envelope::Suggestion;
use countersign_core::secrets;
use serde_json::json;

use super::answer::{Answer, Found, Trouble};
use super::call::Call;
use super::file_secrets::WINDOW_BYTES_MAX;
use super::masked_files::masked_text;
use super::this_host::ThisHost;
use super::{file_secrets, lines, matching};

/// How many names of a directory are compared when a path does not exist.
const COMPARED_NAMES_MAX: usize = 10_000;

/// File systems whose "files" are the kernel's: `/proc/kmsg` waits for ever, `/proc/1/environ` gives secrets away.
const KERNEL_ROOTS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// A plain file that may be read.
#[derive(Debug)]
pub(super) struct Opened {
    /// Open for reading.
    pub(super) file: File,
    /// Where it really is.
    pub(super) path: PathBuf,
    /// Bytes.
    pub(super) size: u64,
    /// Milliseconds since the Unix epoch; 0 where the file system does not say.
    pub(super) modified: i64,
}

/// Reads some lines of a file.
pub(super) fn read(host: &ThisHost, call: &Call) -> Answer {
    let opened = open(call.required("path")?)?;
    host.refuse_own(&opened.path)?;
    host.refuse_private(&opened.path)?;
    let (from, count) = (call.count("from").unwrap_or(1), call.count("lines").unwrap_or(100));
    let masked = masked_text(&opened.file, opened.size);
    let excerpt = match &masked {
        Some(text) => lines::forward(text.as_slice(), from, count),
        None => lines::forward(BufReader::new(&opened.file), from, count),
    };
    let excerpt = excerpt.map_err(|error| Trouble::io(&opened.path, &error))?;
    let shown = excerpt.lines.len();
    let left_out = match (excerpt.has_more, shown) {
        (false, _) => String::new(),
        (true, 0) => format!("the first {} MiB end before line {from}", lines::SEARCH_BYTES_MAX / 1024 / 1024),
        (true, _) => format!("the file goes on; ask for it from line {} on to see more", from + shown),
    };
    let data = json!({
        "path": opened.path,
        "size": opened.size,
        "modified": opened.modified,
        "from": from,
        "to": (from + shown).saturating_sub(1),
        "lines": match masked {
            Some(_) => excerpt.lines.into_iter().collect(),
            None => file_secrets::masked(&excerpt.lines, &opened.file, opened.size.min(WINDOW_BYTES_MAX)),
        },
    });
    Ok(Found::part(data, left_out))
}

/// Opens a plain file for reading, with all links followed before anything is decided.
pub(super) fn open(path: &str) -> Result<Opened, Trouble> {
    open_unless(path, secrets::secret_path)
}

/// How much of a file is looked at for a key before anything of it is shown: a key file begins with its key, after at most
/// a note. A key somewhere in a log is the mask's business.
const HEAD_BYTES: usize = 8 * 1024;
const HEAD_LINES: usize = 3;

/// Says of what class the secrets in a file are, by its path; `None` where it holds none.
type SecretClass = fn(&str) -> Option<&'static str>;

/// Opens a plain file for whoever tells its size and its sum and nothing of what is in it: only its path can forbid that.
pub(super) fn open_to_compare(path: &str) -> Result<Opened, Trouble> {
    open_plain(path, secrets::secret_path).map(|(opened, _)| opened)
}

fn open_unless(path: &str, secret_class: SecretClass) -> Result<Opened, Trouble> {
    let (opened, meta) = open_plain(path, secret_class)?;
    refuse_key(&opened.file, &opened.path)?;
    refuse_second_name(&meta, &opened.path)?;
    Ok(opened)
}

fn open_plain(path: &str, secret_class: SecretClass) -> Result<(Opened, Metadata), Trouble> {
    refuse_secret(Path::new(path), secret_class)?;
    let real = canonical(path)?;
    check(&real, secret_class)?;
    let meta = real.metadata().map_err(|error| Trouble::io(&real, &error))?;
    if !meta.is_file() {
        return Err(no_plain_file(&real, meta.is_dir()));
    }
    let file = File::open(&real).map_err(|error| Trouble::io(&real, &error))?;
    // Between looking and opening somebody may have put another file there: what counts is what is open now.
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or(real);
    check(&path, secret_class)?;
    let meta = file.metadata().map_err(|error| Trouble::io(&path, &error))?;
    if !meta.is_file() {
        return Err(no_plain_file(&path, meta.is_dir()));
    }
    let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let modified = i64::try_from(since.as_millis()).unwrap_or_default();
    Ok((Opened { file, path, size: meta.len(), modified }, meta))
}

/// Refuses a file that has several names and is not everybody's to read: what its other name says of it, a path does not.
fn refuse_second_name(meta: &Metadata, path: &Path) -> Result<(), Trouble> {
    if meta.nlink() > 1 && meta.mode() & 0o004 == 0 {
        let message = format!("`{}` has a second name (a hard link) and is not everybody's to read", path.display());
        return Err(Trouble::forbidden(message));
    }
    Ok(())
}

/// Refuses a word that names a key, for a program that will show it in its own way (`tac`, `base64`). What is no plain file
/// or cannot be read holds nothing that a program could show.
pub(super) fn refuse_key_at(word: &str) -> Result<(), Trouble> {
    let path = Path::new(word);
    if !path.is_absolute() || !path.metadata().is_ok_and(|meta| meta.is_file()) || word.starts_with("/proc/") {
        return Ok(());
    }
    File::open(path).map_or(Ok(()), |file| refuse_key(&file, path))
}

/// Refuses a key by its content, whatever it is called: of a window inside it no mask could tell what it is.
fn refuse_key(file: &File, path: &Path) -> Result<(), Trouble> {
    let mut head = [0; HEAD_BYTES];
    let read = file.read_at(&mut head, 0).map_err(|error| Trouble::io(path, &error))?;
    if begins_with_key(head.get(..read).unwrap_or_default()) {
        return Err(Trouble::forbidden(format!(
            "`{}` holds a private key; it is never read from a chat",
            path.display()
        )));
    }
    Ok(())
}

/// Whether a file of this content is taken for a private key.
pub(super) fn begins_with_key(content: &[u8]) -> bool {
    let head = String::from_utf8_lossy(content.get(..HEAD_BYTES).unwrap_or(content));
    head.lines().take(HEAD_LINES).any(lines::begins_key)
}

/// Where a path leads, with all links followed; where it leads nowhere, the names beside it that are most like it.
pub(super) fn canonical(path: &str) -> Result<PathBuf, Trouble> {
    let path = Path::new(path);
    path.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Trouble::not_found(format!("`{}` does not exist", path.display()), neighbours(path))
        }
        _ => Trouble::io(path, &error),
    })
}

/// Refuses a path whose file is never opened, whether it is there or not: it holds secrets, or belongs to the kernel.
pub(super) fn refuse_unfit(path: &Path) -> Result<(), Trouble> {
    check(path, secrets::secret_path)
}

/// Returns whether a path belongs to the kernel, which makes up what is read there.
pub(super) fn is_the_kernels(path: &Path) -> bool {
    KERNEL_ROOTS.iter().any(|root| path.starts_with(root))
}

fn check(path: &Path, secret_class: SecretClass) -> Result<(), Trouble> {
    refuse_secret(path, secret_class)?;
    if is_the_kernels(path) {
        let message = format!("`{}` belongs to the kernel; only plain files are read", path.display());
        return Err(Trouble::invalid("path", message));
    }
    Ok(())
}

fn refuse_secret(path: &Path, secret_class: SecretClass) -> Result<(), Trouble> {
    // A path that is not UTF-8 is looked at with its odd bytes replaced: its readable parts still count.
    match secret_class(&path.to_string_lossy()) {
        Some(class) => {
            Err(Trouble::forbidden(format!("`{}` holds secrets ({class}) and is never read", path.display())))
        }
        None => Ok(()),
    }
}

fn no_plain_file(path: &Path, is_dir: bool) -> Trouble {
    let shown = path.display();
    let message = if is_dir {
        format!("`{shown}` is a folder; `list {shown}` shows what is in it")
    } else {
        format!("`{shown}` is no plain file; reading it might never end")
    };
    Trouble::invalid("path", message)
}

fn neighbours(path: &Path) -> Vec<Suggestion> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten().take(COMPARED_NAMES_MAX);
    let names: Vec<(String, String)> = entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path().display().to_string()))
        .collect();
    matching::nearest(&name.to_string_lossy(), names.iter().map(|(name, path)| (name.as_str(), path.as_str())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use countersign_core::envelope::Code;

    use super::*;

    fn refused(path: &Path) -> (Code, String) {
        let trouble = open(&path.display().to_string()).expect_err("it must be refused");
        (trouble.failure().code, trouble.failure().message.clone())
    }

    #[test]
    fn only_plain_files_are_opened() {
        let dir = tempfile::tempdir().expect("a directory for the test");
        let fifo = dir.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
        let (code, message) = refused(&fifo);
        assert_eq!(code, Code::InvalidInput);
        assert!(message.ends_with("is no plain file; reading it might never end"), "{message}");
        let link = dir.path().join("link");
        symlink(&fifo, &link).expect("a link can be made");
        assert_eq!(refused(&link).0, Code::InvalidInput);
        for path in ["/dev/zero", "/proc/kmsg", "/proc/self/status", "/sys/kernel", "/etc"] {
            assert_eq!(refused(Path::new(path)).0, Code::InvalidInput, "{path}");
        }
        let sly = dir.path().join("sly");
        symlink("/proc/self/environ", &sly).expect("a link can be made");
        assert_eq!(refused(&sly).0, Code::PolicyBlocked, "what is secret is refused as that, also behind a link");
    }

    #[test]
    fn a_secret_stays_one_behind_a_link() {
        let dir = tempfile::tempdir().expect("a directory for the test");
        let secret = dir.path().join("id_test");
        std::fs::write(&secret, "do not read").expect("a file can be written");
        let link = dir.path().join("notes.txt");
        symlink(&secret, &link).expect("a link can be made");
        for path in [secret, link] {
            let class: SecretClass = |path| path.ends_with("/id_test").then_some("a private key");
            let trouble = open_unless(&path.display().to_string(), class).expect_err("it must be refused");
            assert_eq!(trouble.failure().code, Code::PolicyBlocked);
            assert!(trouble.failure().message.ends_with("holds secrets (a private key) and is never read"));
        }
    }

    #[test]
    fn a_missing_file_names_its_neighbours() {
        let dir = tempfile::tempdir().expect("a directory for the test");
        std::fs::write(dir.path().join("access.log"), "").expect("a file can be written");
        std::fs::write(dir.path().join("other"), "").expect("a file can be written");
        let trouble = open(&dir.path().join("acess.log").display().to_string()).expect_err("no such file");
        let names: Vec<&str> = trouble.failure().details.suggestions.iter().map(|near| near.name.as_str()).collect();
        assert_eq!((trouble.failure().code, names), (Code::NotFound, vec!["access.log"]));
    }

    #[test]
    fn links_are_followed_to_where_the_file_is() {
        let dir = tempfile::tempdir().expect("a directory for the test");
        let real = dir.path().canonicalize().expect("the directory is there").join("real.txt");
        std::fs::write(&real, "one\ntwo\n").expect("a file can be written");
        let link = dir.path().join("link");
        symlink(&real, &link).expect("a link can be made");
        let opened = open(&link.display().to_string()).expect("a plain file");
        assert_eq!((opened.path, opened.size), (real, 8));
        assert!(opened.modified > 0);
    }

    #[test]
    fn a_key_is_one_whatever_it_is_called() {
        let dir = tempfile::tempdir().expect("a directory for the test");
        let file = dir.path().join("notes.txt");
        std::fs::write(&file, "my notes\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n").expect("a file can be written");
        let (code, message) = refused(&file);
        assert_eq!(code, Code::PolicyBlocked);
        assert!(message.contains("holds a private key"), "{message}");
    }

    #[test]
    fn a_second_name_hides_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a directory for the test");
        let (first, second) = (dir.path().join("private"), dir.path().join("notes.txt"));
        std::fs::write(&first, "x").expect("a file can be written");
        std::fs::hard_link(&first, &second).expect("a second name can be given");
        for (mode, refused_as) in [(0o600, Some(Code::PolicyBlocked)), (0o644, None)] {
            std::fs::set_permissions(&first, std::fs::Permissions::from_mode(mode)).expect("the mode can be set");
            let opened = open(&second.display().to_string());
            assert_eq!(opened.err().map(|trouble| trouble.failure().code), refused_as, "{mode:o}");
        }
    }
}
