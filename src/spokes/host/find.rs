//! `host_file.find`: what is in a directory. Bounded in entries, in time and in what is shown, whatever the directory
//! holds; links are not followed, and the kernel's own trees are left out.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use globset::{Glob, GlobMatcher};
use serde_json::{Value, json};
use walkdir::{DirEntry, WalkDir};

use tokio::time::Instant;

use super::answer::{Answer, Found, Trouble};
use super::call::Call;
use super::file;
use super::this_host::ThisHost;

/// The most entries that are looked at.
const SCANNED_MAX: usize = 100_000;

/// How long is looked.
const LOOKING_MAX: Duration = Duration::from_secs(10);

/// The most entries in an answer.
const SHOWN_MAX: usize = 200;

/// What a look into a directory has seen.
#[derive(Default)]
struct Seen {
    /// The first matches, by path.
    matches: BTreeMap<String, DirEntry>,
    matched: usize,
    scanned: usize,
    unreadable: usize,
    gave_up: bool,
}

/// Looks into `directory` for entries whose name fits the pattern `name`, at most `depth` levels down.
pub(super) fn find(host: &ThisHost, call: &Call) -> Answer {
    let root = file::canonical(call.required("directory")?)?;
    host.refuse_own(&root)?;
    if !root.is_dir() {
        return Err(Trouble::invalid(
            "directory",
            format!("`{0}` is no folder; `show {0}` shows what is in it", root.display()),
        ));
    }
    let pattern = call.text("name").map(matcher).transpose()?;
    let seen = look(&root, pattern.as_ref(), call.count("depth").unwrap_or(1))?;
    let entries: Vec<Value> = seen.matches.iter().map(|(path, entry)| describe(path, entry)).collect();
    let left_out = left_out(&seen);
    let data = json!({
        "directory": root,
        "entries": entries,
        "matched": seen.matched,
        "scanned": seen.scanned,
        "unreadable": seen.unreadable,
    });
    Ok(Found::part(data, left_out))
}

fn matcher(pattern: &str) -> Result<GlobMatcher, Trouble> {
    let glob =
        Glob::new(pattern).map_err(|error| Trouble::invalid("name", format!("`name` is no pattern: {error}")))?;
    Ok(glob.compile_matcher())
}

fn look(root: &Path, pattern: Option<&GlobMatcher>, depth: usize) -> Result<Seen, Trouble> {
    let mut seen = Seen::default();
    let deadline = Instant::now() + LOOKING_MAX;
    let walk = WalkDir::new(root).min_depth(1).max_depth(depth).follow_links(false);
    for entry in walk.into_iter().filter_entry(|entry| !is_kernel_tree(root, entry.path())) {
        if seen.scanned == SCANNED_MAX || Instant::now() > deadline {
            seen.gave_up = true;
            break;
        }
        seen.scanned += 1;
        match entry {
            Ok(entry) => seen.take(entry, pattern),
            Err(error) if error.depth() == 0 => return Err(cannot_open(root, error)),
            Err(_) => seen.unreadable += 1,
        }
    }
    Ok(seen)
}

fn cannot_open(root: &Path, error: walkdir::Error) -> Trouble {
    Trouble::io(root, &error.into())
}

impl Seen {
    fn take(&mut self, entry: DirEntry, pattern: Option<&GlobMatcher>) {
        if pattern.is_some_and(|pattern| !pattern.is_match(entry.file_name())) {
            return;
        }
        self.matched += 1;
        self.matches.insert(entry.path().display().to_string(), entry);
        // The first by name are kept, so that the answer does not depend on the order of the file system.
        if self.matches.len() > SHOWN_MAX {
            self.matches.pop_last();
        }
    }
}

/// `/proc` and its like are no files, and hold more entries than anybody wants. Whoever asks for one of them gets it.
fn is_kernel_tree(root: &Path, path: &Path) -> bool {
    path != root && ["/proc", "/sys", "/dev"].iter().any(|tree| path == Path::new(tree))
}

fn describe(path: &str, entry: &DirEntry) -> Value {
    let kind = match entry.file_type() {
        kind if kind.is_dir() => "directory",
        kind if kind.is_symlink() => "link",
        kind if kind.is_file() => "file",
        _ => "special",
    };
    let meta = entry.metadata().ok();
    let size = meta.as_ref().filter(|meta| meta.is_file()).map(Metadata::len);
    let modified = meta.and_then(|meta| meta.modified().ok()).and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.and_then(|since| i64::try_from(since.as_millis()).ok());
    json!({ "path": path, "kind": kind, "size": size, "modified": modified })
}

fn left_out(seen: &Seen) -> String {
    let shown = seen.matches.len();
    let mut sentences = Vec::new();
    if seen.matched > shown {
        sentences.push(format!(
            "{shown} of {} matches are shown; ask for a narrower name, like `find *.log in FOLDER`",
            seen.matched
        ));
    }
    if seen.gave_up {
        sentences.push(format!("Looking stopped after {} entries; begin in a smaller folder", seen.scanned));
    }
    if seen.unreadable > 0 {
        sentences.push(format!("{} places could not be read", seen.unreadable));
    }
    sentences.join(". ")
}
