//! The tree that the rules of `tidy.rs` look at: its files, its Rust code, and which of that is tests. What is wrong with
//! any of it is not decided here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The files of a repository by their path from its root, with `/` between the parts.
pub(super) struct Tree(pub(super) BTreeMap<String, String>);

impl Tree {
    /// Every file under `root` that is text, without the build's and Git's own.
    pub(super) fn read(root: &Path) -> Self {
        let (mut files, mut folders) = (BTreeMap::new(), vec![root.to_path_buf()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder of the tree can be read").flatten() {
                let path = entry.path();
                let name =
                    path.strip_prefix(root).expect("invariant: found under the root").to_string_lossy().into_owned();
                if path.is_symlink() || matches!(name.as_str(), ".git" | "target") {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    // What is no text still stands in the tree: its name counts for the top level.
                    files.insert(name, fs::read_to_string(&path).unwrap_or_default());
                }
            }
        }
        Self(files)
    }

    pub(super) fn get(&self, path: &str) -> &str {
        self.0.get(path).map_or("", String::as_str)
    }

    pub(super) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        files.filter(|(path, _)| Path::new(path).extension().is_some_and(|end| end == "rs"))
    }

    /// Rust code line by line: (path, number, line without its comment, whether it is test code). This file and its
    /// planted violations are left out.
    pub(super) fn code(&self) -> impl Iterator<Item = (&str, usize, &str, bool)> {
        self.rust().filter(|(path, _)| !path.starts_with("tests/it/tidy")).flat_map(|(path, text)| {
            let tests = test_lines(path, text);
            let lines = text.lines().enumerate();
            lines.map(move |(at, line)| (path, at + 1, line.split("//").next().unwrap_or(""), tests.contains(&at)))
        })
    }
}

/// Which lines, from 0, are tests: all of a test file; else the inline `mod tests {`, to the brace that closes it.
pub(super) fn test_lines(path: &str, text: &str) -> BTreeSet<usize> {
    let whole = path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("tests.rs");
    let mut inside = whole;
    let mut found = BTreeSet::new();
    for (at, line) in text.lines().enumerate() {
        inside |= line == "mod tests {";
        if inside {
            found.insert(at);
        }
        inside &= whole || line != "}";
    }
    found
}
