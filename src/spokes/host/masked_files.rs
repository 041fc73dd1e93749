//! The files that a line names, without their secrets. A program can cut, turn and encode what it reads until no mask knows a
//! secret by its shape, so that it is given masked files to begin with. What is too much to be looked through is named, and
//! only commands that show whole lines, which can be masked afterwards, may read it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_core::command::Shows;
use countersign_core::secrets::Mask;
use tokio::time::Instant;
use walkdir::WalkDir;

use super::file::is_the_kernels;
use super::packed::{self, Unpack};
use super::readable::ReadableFiles;
use countersign_sandbox::MaskedFile;

/// The most bytes of a file that is looked through. A larger one can be masked on its way to a filter.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The most bytes that are looked through for one line, in all files together: about 80 ms where they hold no secrets.
const BYTES_MAX: u64 = 4 * FILE_BYTES_MAX;

/// The most files that are looked through for one line.
const FILES_MAX: usize = 20_000;

/// The most files that are masked for one line: each is a mount.
const MASKED_MAX: usize = 200;

/// The most bytes of masked files for one line: they are in memory while it runs.
const MASKED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// For how long files are looked through.
const TIME_MAX: Duration = Duration::from_secs(3);

/// The result of looking through the files that a line names.
#[derive(Debug, Default)]
pub(super) struct Examined {
    /// Files with secrets, masked.
    pub(super) masked: Vec<MaskedFile>,
    /// Files in which a command could show secrets that cannot be masked beforehand, unless it shows whole lines; each with
    /// why.
    pub(super) hidden: BTreeMap<PathBuf, Hidden>,
    /// The named files and folders that were not looked through, or not all of them.
    pub(super) unread: Vec<PathBuf>,
    /// The files in named folders that were not looked through.
    pub(super) left_out: Vec<PathBuf>,
    /// Every file that was looked through, as it was then.
    looked_at: BTreeMap<PathBuf, Stamp>,
}

/// What changes with the content of a file: its file system, its number there, its size, and when it was changed last.
type Stamp = (u64, u64, u64, i64, i64);

/// Why secrets in a file cannot be masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    /// It is compressed, so that its content is unknown.
    Packed(Unpack),
    /// It is no text.
    NoText,
    /// It is a text of two bytes a character, so that also its lines cannot be masked.
    Wide,
    /// There is too much of it.
    TooMuch,
}

impl Hidden {
    /// Returns whether a command that shows this much must not read it.
    pub(super) fn is_from(self, shows: Shows) -> bool {
        match self {
            Self::Packed(_) | Self::NoText => shows == Shows::Anything,
            Self::Wide | Self::TooMuch => shows > Shows::Nothing,
        }
    }
}

/// The remaining limits.
struct Left {
    bytes: u64,
    files: usize,
    masked_bytes: usize,
    until: Instant,
}

impl Left {
    fn all() -> Self {
        Self { bytes: BYTES_MAX, files: FILES_MAX, masked_bytes: MASKED_BYTES_MAX, until: Instant::now() + TIME_MAX }
    }
}

/// A file and its size in bytes.
type Sized = (u64, PathBuf);

impl Examined {
    /// Looks through files and folders. Reads them.
    pub(super) fn of(readable: &ReadableFiles) -> Self {
        let mut examined = Self::default();
        let mut left = Left::all();
        // Files that are named themselves come before those of folders.
        let (folders, files): (Vec<&PathBuf>, Vec<_>) = readable.paths.iter().partition(|path| path.is_dir());
        for named in files.into_iter().chain(folders) {
            let mut files = files_in(named, readable);
            // Configuration is small, and what is large is rarely anything but logs.
            files.sort();
            let unread: Vec<PathBuf> = files
                .into_iter()
                .filter_map(|(size, path)| (!examined.add(size, &path, &mut left)).then_some(path))
                .collect();
            if !unread.is_empty() {
                examined.unread.push(named.clone());
            }
            if named.is_dir() {
                examined.left_out.extend(unread);
            }
        }
        examined
    }

    /// Returns a file in which there are secrets now that were not found before. Reads what changed since.
    pub(super) fn changed(&self, readable: &ReadableFiles) -> Option<PathBuf> {
        let is_same = |path: &Path| stamp(path).is_some_and(|now| self.looked_at.get(path) == Some(&now));
        let is_known = |path: &Path| self.masked(path).is_some() || self.hidden.contains_key(path);
        let mut now = Self::default();
        let mut left = Left::all();
        let files = readable.paths.iter().flat_map(|named| files_in(named, readable));
        for (size, path) in files.filter(|(_, path)| !is_known(path) && (is_the_kernels(path) || !is_same(path))) {
            let is_read = now.add(size, &path, &mut left);
            let is_left_out = self.left_out.contains(&path) || self.unread.contains(&path);
            let has_secrets = now.masked(&path).is_some() || now.hidden.contains_key(&path);
            if has_secrets || !(is_read || is_left_out) {
                return Some(path);
            }
        }
        None
    }

    /// Looks through a file. Returns whether there was room for it.
    fn add(&mut self, size: u64, path: &Path, left: &mut Left) -> bool {
        if size > left.bytes.min(FILE_BYTES_MAX) || left.files == 0 || Instant::now() > left.until {
            return false;
        }
        if let Some(stamp) = stamp(path) {
            self.looked_at.insert(path.to_owned(), stamp);
        }
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(left.bytes).read_to_end(&mut bytes));
        left.files -= 1;
        left.bytes = left.bytes.saturating_sub(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if read.is_err() {
            return true;
        }
        if is_arguments(path) {
            bytes.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b' ');
        }
        match look_through(&bytes) {
            Found::Nothing => {}
            // A program's own words look like secrets at times.
            Found::Hidden(Hidden::NoText) if path.starts_with("/usr") => {}
            Found::Hidden(why) => drop(self.hidden.insert(path.to_owned(), why)),
            Found::Masked(text) if text.len() > left.masked_bytes || self.masked.len() >= MASKED_MAX => {
                self.hidden.insert(path.to_owned(), Hidden::TooMuch);
            }
            Found::Masked(text) => {
                left.masked_bytes -= text.len();
                self.masked.push(MaskedFile { path: path.to_owned(), text });
            }
        }
        true
    }

    /// Returns what stands in a file's place, if anything does.
    pub(super) fn masked(&self, path: &Path) -> Option<&str> {
        self.masked.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }
}

/// The content of a file, by its secrets.
enum Found {
    /// No secret.
    Nothing,
    /// Secrets: the same without them.
    Masked(String),
    /// Perhaps secrets, which cannot be masked.
    Hidden(Hidden),
}

fn look_through(bytes: &[u8]) -> Found {
    if let Some(unpack) = packed::unpack(bytes) {
        return Found::Hidden(Hidden::Packed(unpack));
    }
    let (text, mask) = (String::from_utf8_lossy(bytes), Mask::default());
    if text.contains('\0')
        && mask.class_of(&text.replace(['\0', '\u{fffd}'], "")).is_some()
        && mask.class_of(&text).is_none()
    {
        return Found::Hidden(Hidden::Wide);
    }
    match mask.apply(&text) {
        Cow::Borrowed(_) => Found::Nothing,
        Cow::Owned(_) if text.contains(['\0', '\u{fffd}']) => Found::Hidden(Hidden::NoText),
        Cow::Owned(masked) => Found::Masked(masked),
    }
}

/// Returns a text as it stands in a file of at most [`FILE_BYTES_MAX`], without its secrets; none where the file is larger.
/// Reads the file.
pub(super) fn masked_text(file: &File, size: u64) -> Option<Vec<u8>> {
    if size > FILE_BYTES_MAX {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    let mut read = 0;
    while let Some(rest) = bytes.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, u64::try_from(read).ok()?) {
            Ok(0) | Err(_) => break,
            Ok(more) => read += more,
        }
    }
    bytes.truncate(read);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if matches!(look_through(&bytes), Found::Hidden(Hidden::Wide)) {
        // What is left is a text again, for all but distant languages.
        text.retain(|c| !matches!(c, '\0' | '\u{fffd}'));
    }
    match Mask::default().apply(&text) {
        Cow::Owned(masked) => Some(masked.into_bytes()),
        Cow::Borrowed(_) => Some(text.into_bytes()),
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = path.symlink_metadata().ok()?;
    Some((meta.dev(), meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec()))
}

/// Returns whether a path is that of a process's arguments.
fn is_arguments(path: &Path) -> bool {
    path.starts_with("/proc") && path.ends_with("cmdline")
}

/// The plain files in a folder that can be read behind the walls, or the file itself.
fn files_in(named: &Path, readable: &ReadableFiles) -> Vec<Sized> {
    if is_the_kernels(named) {
        return arguments_in(named).into_iter().map(|path| (0, path)).collect();
    }
    let walk = WalkDir::new(named).into_iter().filter_entry(|entry| !readable.covered.contains(entry.path()));
    let files = walk.flatten().filter(|entry| entry.file_type().is_file());
    files.filter_map(|entry| Some((entry.metadata().ok()?.len(), entry.into_path()))).collect()
}

/// The arguments of processes that a path of the kernel's names: all that it makes up, but these, is its own.
fn arguments_in(named: &Path) -> Vec<PathBuf> {
    let folders = if named == Path::new("/proc") {
        std::fs::read_dir(named).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    } else {
        vec![named.to_owned()]
    };
    let files = folders.into_iter().map(|folder| if is_arguments(&folder) { folder } else { folder.join("cmdline") });
    files.filter(|path| is_arguments(path) && path.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examined(folder: &Path) -> Examined {
        Examined::of(&ReadableFiles::named_by([folder.display().to_string().as_str()]))
    }

    #[test]
    fn secrets_in_files_are_masked_and_what_cannot_be_is_hidden() {
        let dir = tempfile::tempdir().expect("a folder for the test");
        let root = dir.path().canonicalize().expect("it is there");
        let write =
            |name: &str, content: &[u8]| std::fs::write(root.join(name), content).expect("a file can be written");
        write("plain", b"listen=80\n");
        write("shop.conf", b"listen=80\nDB_PASSWORD=Qw7hJ2kLm9Zx\n");
        write("shop.gz", b"\x1f\x8b\x08");
        let wide: Vec<u8> = "DB_PASSWORD=Qw7hJ2kLm9Zx\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        write("shop.utf16", &[b"\xff\xfe".as_slice(), &wide].concat());
        write("shop.db", b"SQLite\0\xffDB_PASSWORD=Qw7hJ2kLm9Zx\n");
        let found = examined(&root);
        let masked =
            MaskedFile { path: root.join("shop.conf"), text: "listen=80\nDB_PASSWORD=[masked: password]\n".to_owned() };
        assert_eq!(found.masked, [masked]);
        let hidden = [
            ("shop.db", Hidden::NoText),
            ("shop.gz", Hidden::Packed(Unpack::Command("zcat"))),
            ("shop.utf16", Hidden::Wide),
        ];
        assert_eq!(found.hidden, hidden.map(|(name, why)| (root.join(name), why)).into());
        assert_eq!(found.unread, Vec::<PathBuf>::new());
    }

    #[test]
    fn the_smallest_files_are_looked_through_and_the_rest_is_said() {
        let dir = tempfile::tempdir().expect("a folder for the test");
        let root = dir.path().canonicalize().expect("it is there");
        std::fs::write(root.join("z.conf"), "password=Qw7hJ2kLm9Zx\n").expect("a file can be written");
        let large = File::create(root.join("a.log")).expect("a file can be made");
        large.set_len(FILE_BYTES_MAX + 1).expect("it can grow");
        let found = examined(&root);
        assert_eq!((found.masked.len(), found.left_out), (1, vec![root.join("a.log")]));
        assert_eq!(found.unread, vec![root]);
    }

    #[test]
    fn a_file_that_gets_secrets_later_is_found() {
        let dir = tempfile::tempdir().expect("a folder for the test");
        let root = dir.path().canonicalize().expect("it is there");
        let write = |name: &str, text: &str| std::fs::write(root.join(name), text).expect("a file can be written");
        write("known.conf", "password=Qw7hJ2kLm9Zx\n");
        write("plain.conf", "listen=80\n");
        let readable = ReadableFiles::named_by([root.display().to_string().as_str()]);
        let before = Examined::of(&readable);
        assert_eq!(before.changed(&readable), None);
        write("plain.conf", "listen=8080\n");
        assert_eq!(before.changed(&readable), None);
        write("new.conf", "password=Qw7hJ2kLm9Zx\n");
        assert_eq!(before.changed(&readable), Some(root.join("new.conf")));
    }
}
