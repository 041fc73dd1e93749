//! The files and folders that a command line may read beside the system's own: those that its words name. A name inside a
//! program's own language, an option or a link therefore leads nowhere. In a named folder, each file that is secret by its
//! name or has a second name is covered; a folder with too many entries can be listed only.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::secrets::secret_path;
use countersign_core::thread::paths_in as paths_in_text;
use walkdir::WalkDir;

use countersign_sandbox::MaskedFiles;

/// The most entries that are looked at in all named folders of one line.
const ENTRIES_MAX: usize = 100_000;

/// The most bytes of the names of covered places: they travel in one argument, of which Linux takes 128 KiB.
const COVERED_BYTES_MAX: usize = 64 * 1024;

/// The named files and folders of one line, real paths, and the places in them that are covered.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadableFiles {
    pub(super) paths: BTreeSet<PathBuf>,
    pub(super) covered: BTreeSet<PathBuf>,
    /// Masked copies of files with secrets.
    pub(super) masked: Option<Arc<MaskedFiles>>,
    /// True if it may read nothing else but programs: it gets names that were not judged, and could show any part of those
    /// files.
    pub(super) is_all: bool,
}

impl ReadableFiles {
    /// Finds what the words name. Walks through folders; opens no file.
    pub(super) fn named_by<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let paths: BTreeSet<&str> = words.into_iter().flat_map(paths_in).collect();
        let mut readable = Self::default();
        let (mut entries_left, mut bytes_left) = (ENTRIES_MAX, COVERED_BYTES_MAX);
        for path in paths {
            readable.add(Path::new(path), &mut entries_left, &mut bytes_left);
        }
        readable
    }

    /// Returns the same with only those files and folders that these words name.
    pub(super) fn named_among<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Self {
        let named = words.into_iter().flat_map(paths_in).filter_map(|path| Path::new(path).canonicalize().ok());
        let paths = named.filter(|path| self.paths.contains(path)).collect();
        Self { paths, ..self.clone() }
    }

    fn add(&mut self, path: &Path, entries_left: &mut usize, bytes_left: &mut usize) {
        let Ok(real) = path.canonicalize() else { return };
        let Ok(meta) = real.metadata() else { return };
        // The root names no file in it; it also stands in `s/a//`.
        if real.parent().is_none() || is_hidden(&real, &meta) {
            return;
        }
        if meta.is_dir() {
            let Some(covered) = hidden_in(&real, entries_left) else { return };
            let bytes = covered.iter().map(|place| place.as_os_str().as_bytes().len()).sum();
            let Some(left) = bytes_left.checked_sub(bytes) else { return };
            *bytes_left = left;
            self.covered.extend(covered);
        }
        self.paths.insert(real);
    }
}

/// Returns where the files of an installed program are: its own file, or all of its folder below `/opt`, where its libraries
/// are too.
pub(super) fn installed(program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    let is_beside_the_system = real.starts_with("/opt");
    Some(if is_beside_the_system { real.components().take(3).collect() } else { real })
}

/// Returns the absolute paths in a word: the word itself, the value of an option, or those that a line in it names.
pub(super) fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    // A name may hold the very signs that paths are split at.
    let whole = std::iter::once(word).chain(word.split_once('=').map(|(_, value)| value));
    whole.chain(paths_in_text(word)).filter(|path| path.starts_with('/'))
}

/// Returns the places in a folder that are covered; none if it has more than `left` entries.
fn hidden_in(folder: &Path, left: &mut usize) -> Option<Vec<PathBuf>> {
    let mut hidden = Vec::new();
    let mut walk = WalkDir::new(folder).min_depth(1).into_iter();
    while let Some(entry) = walk.next() {
        *left = left.checked_sub(1)?;
        let Ok(entry) = entry else { continue };
        if entry.path_is_symlink() {
            continue;
        }
        // Looking at a file's names takes a call; what is no plain file has none that counts.
        let is_hidden = if entry.file_type().is_file() {
            entry.metadata().is_ok_and(|meta| is_hidden(entry.path(), &meta))
        } else {
            secret_path(&entry.path().to_string_lossy()).is_some()
        };
        if is_hidden {
            hidden.push(entry.path().to_owned());
            if entry.file_type().is_dir() {
                walk.skip_current_dir();
            }
        }
    }
    Some(hidden)
}

/// Returns whether a place is secret by its name, or may be by a second name.
fn is_hidden(path: &Path, meta: &Metadata) -> bool {
    let has_second_name = meta.is_file() && meta.nlink() > 1 && meta.mode() & 0o004 == 0;
    has_second_name || secret_path(&path.to_string_lossy()).is_some()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_program_reads_what_its_words_name_and_no_secret_in_it() {
        let dir = tempfile::tempdir().expect("a folder for the test");
        let root = dir.path().canonicalize().expect("it is there");
        let at = |name: &str| root.join(name);
        std::fs::create_dir_all(at("app/.ssh")).expect("a folder can be made");
        std::fs::create_dir(at("other")).expect("a folder can be made");
        for name in ["app/a.txt", "app/.env", "app/.ssh/id_rsa", "app/key.txt", "other/b.txt", "c.txt"] {
            std::fs::write(at(name), "x").expect("a file can be written");
        }
        let hide = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(at("app/key.txt"), hide).expect("it is ours");
        std::fs::hard_link(at("app/key.txt"), at("app/second.txt")).expect("a second name");
        symlink(at("app/.env"), at("app/link")).expect("a link can be made");
        symlink(at("other"), at("app/more")).expect("a link can be made");

        let names = |paths: BTreeSet<PathBuf>| {
            let short = |path: &PathBuf| path.strip_prefix(&root).unwrap_or(path).display().to_string();
            paths.iter().map(short).collect::<Vec<_>>()
        };
        let of = |words: &[String]| {
            let ReadableFiles { paths, covered, .. } = ReadableFiles::named_by(words.iter().map(String::as_str));
            (names(paths), names(covered))
        };
        let word = |before: &str, name: &str| format!("{before}{}", at(name).display());
        let (app, none): (Vec<String>, Vec<String>) = (vec!["app".to_owned()], Vec::new());
        let secrets = ["app/.env", "app/.ssh/id_rsa", "app/key.txt", "app/second.txt"].map(str::to_owned).to_vec();
        assert_eq!(of(&[word("", "app")]), (app, secrets));
        assert_eq!(of(&[word("--file=", "c.txt")]), (vec!["c.txt".to_owned()], none.clone()));
        for before in ["getline < \"", "cat -n ", "@", "a:"] {
            assert_eq!(of(&[word(before, "c.txt")]).0, ["c.txt"], "{before}");
        }
        for before in ["-f", "$r", "."] {
            assert_eq!(of(&[word(before, "c.txt")]), (none.clone(), none.clone()), "{before}");
        }
        assert_eq!(of(&["c.txt".to_owned()]), (none.clone(), none.clone()));
        for secret in ["app/.env", "app/link", "app/key.txt", "app/second.txt", "app/.ssh/id_rsa"] {
            for before in ["", "--file=", "cat "] {
                assert_eq!(of(&[word(before, secret)]), (none.clone(), none.clone()), "{before}{secret}");
            }
        }
    }

    #[test]
    fn a_folder_with_too_much_in_it_is_not_read() {
        let dir = tempfile::tempdir().expect("a folder for the test");
        for name in ["a", "b", "c"] {
            std::fs::write(dir.path().join(name), "x").expect("a file can be written");
        }
        assert_eq!(hidden_in(dir.path(), &mut 3), Some(Vec::new()));
        assert_eq!(hidden_in(dir.path(), &mut 2), None);
    }
}
