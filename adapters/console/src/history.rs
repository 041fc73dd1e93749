//! What was typed at a terminal, kept in a file for the next time: without duplicates, without secrets, and for its owner
//! only. Navigation in it is the line editor's.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use countersign_core::secrets::Mask;

/// The most lines that are kept; older ones go first.
pub(crate) const HISTORY_LINES_MAX: usize = 1_000;

/// Only its owner reads it: people type names of hosts, and now and then a password by mistake.
const MODE: u32 = 0o600;

/// The history of one terminal.
pub(crate) struct History {
    path: Option<PathBuf>,
    lines: Vec<String>,
    mask: Mask,
}

impl History {
    /// Reads the file where there is one. A file that cannot be read is reported in the log, and the history starts empty.
    pub(crate) fn open(path: Option<PathBuf>) -> Self {
        let mask = Mask::new(std::iter::empty());
        let lines = path.as_deref().map(|path| read(path, &mask)).unwrap_or_default();
        Self { path, lines, mask }
    }

    /// The lines, oldest first.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Keeps a line and writes the file. Another console may have written it meanwhile, so that it is read first.
    pub(crate) fn remember(&mut self, line: &str) {
        if !worth_keeping(line, |line| self.mask.class_of(line).is_some()) {
            return;
        }
        if let Some(path) = &self.path {
            self.lines = read(path, &self.mask);
        }
        self.lines.push(line.to_owned());
        self.lines = tidy(std::mem::take(&mut self.lines));
        if let Some(path) = &self.path
            && let Err(error) = write(path, &self.lines)
        {
            tracing::warn!(%error, path = %path.display(), "the console's history cannot be written");
        }
    }
}

/// Whether a line goes to the file: it must be one line, and must not look like it carries a secret.
fn worth_keeping(line: &str, looks_secret: impl Fn(&str) -> bool) -> bool {
    !line.trim().is_empty() && !line.contains(['\n', '\r']) && !looks_secret(line)
}

/// The last of each line, in order, and the newest up to the limit.
fn tidy(lines: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    let mut kept: Vec<String> = lines.into_iter().rev().filter(|line| seen.insert(line.clone())).collect();
    kept.truncate(HISTORY_LINES_MAX);
    kept.reverse();
    kept
}

fn read(path: &Path, mask: &Mask) -> Vec<String> {
    match fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let kept = text.lines().filter(|line| worth_keeping(line, |line| mask.class_of(line).is_some()));
            tidy(kept.map(str::to_owned).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "the console's history cannot be read");
            Vec::new()
        }
    }
}

/// Writes beside the file and renames, so that a crash leaves the old one or the new one.
fn write(path: &Path, lines: &[String]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(beside);
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(&beside)?;
    // The mode above is for a new file only; one that a crash left behind may have another.
    file.set_permissions(fs::Permissions::from_mode(MODE))?;
    for line in lines {
        writeln!(file, "{line}")?;
    }
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in the system's temporary directory that goes away with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("countersign-history-{}-{name}", std::process::id())))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    #[test]
    fn it_survives_a_restart_without_duplicates() {
        let scratch = Scratch::new("restart");
        let mut first = History::open(Some(scratch.0.clone()));
        for line in ["disk usage", "why", "disk usage", "  ", "two\nlines"] {
            first.remember(line);
        }
        assert_eq!(History::open(Some(scratch.0.clone())).lines(), ["why", "disk usage"]);
    }

    #[test]
    fn two_consoles_do_not_lose_each_others_lines() {
        let scratch = Scratch::new("two");
        let mut one = History::open(Some(scratch.0.clone()));
        let mut two = History::open(Some(scratch.0.clone()));
        one.remember("from one");
        two.remember("from two");
        assert_eq!(History::open(Some(scratch.0.clone())).lines(), ["from one", "from two"]);
    }

    #[test]
    fn the_file_is_its_owners_alone_even_if_it_was_not() {
        let scratch = Scratch::new("mode");
        fs::write(&scratch.0, "old\n").expect("the temporary directory can be written");
        fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o644)).expect("it is ours");
        History::open(Some(scratch.0.clone())).remember("new");
        let mode = fs::metadata(&scratch.0).expect("it was written").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(History::open(Some(scratch.0.clone())).lines(), ["old", "new"]);
    }

    #[test]
    fn the_oldest_lines_go_first() {
        let lines = tidy((0..HISTORY_LINES_MAX + 5).map(|n| n.to_string()).collect());
        assert_eq!(lines.len(), HISTORY_LINES_MAX);
        assert_eq!(lines.first().map(String::as_str), Some("5"));
    }

    #[test]
    fn what_looks_like_a_secret_is_not_kept() {
        assert!(!worth_keeping("export TOKEN=abc", |line| line.contains("TOKEN=")));
        let mask = Mask::new(std::iter::empty());
        let line = "why does AKIAIOSFODNN7EXAMPLE not work";
        let mut history = History::open(None);
        history.remember(line);
        assert_eq!(history.lines().is_empty(), mask.class_of(line).is_some());
    }
}
