//! The paths that people of a thread have named: what a model may read by itself. What a tool printed names nothing, because
//! whoever wrote it may want it read. Bounded, in memory only, and gone with the thread's other knowledge.

use std::collections::VecDeque;
use std::path::{Component, Path, PathBuf};

/// The most paths that a thread keeps.
const PATHS_MAX: usize = 256;

/// The named paths, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    paths: VecDeque<PathBuf>,
}

impl Named {
    /// Notes every path in a person's words.
    pub(crate) fn note(&mut self, words: &str) {
        for path in paths_in(words).filter_map(plain) {
            self.paths.retain(|known| *known != path);
            self.paths.push_back(path);
        }
        while self.paths.len() > PATHS_MAX {
            self.paths.pop_front();
        }
    }

    /// Returns whether a path was named, or lies below one that was. The root names itself alone.
    pub(crate) fn covers(&self, path: &str) -> bool {
        let is_below =
            |path: &PathBuf, named: &PathBuf| path == named || (named.parent().is_some() && path.starts_with(named));
        plain(path).is_some_and(|path| self.paths.iter().any(|named| is_below(&path, named)))
    }
}

/// Returns what may be a path in a text: a person's words, a command line, or one word of it. Quotes and the signs around
/// options and lists are left out.
pub fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let is_around = |c: char| {
        c.is_whitespace()
            || matches!(c, '\'' | '"' | '`' | '=' | ':' | ',' | ';' | '|' | '&' | '(' | ')' | '<' | '>' | '@')
    };
    let words = text.split(is_around).map(|word| word.trim_end_matches(['.', '!', '?']).trim_end_matches('/'));
    // The trailing dots of a sentence are gone; what was nothing but dots or slashes is one of these.
    let bare = text.split(is_around).filter(|word| !word.is_empty() && word.chars().all(|c| matches!(c, '.' | '/')));
    words.filter(|word| word.contains('/') || word.starts_with('~')).chain(bare)
}

/// The path in its plain spelling; none where it leads upwards, so that nobody can say what it lies below.
fn plain(path: &str) -> Option<PathBuf> {
    let parts = Path::new(path).components();
    (!parts.clone().any(|part| part == Component::ParentDir)).then(|| parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_what_people_named_and_what_lies_below() {
        let mut named = Named::default();
        named.note("why does /srv/shop/till.log grow, and what is in \"/var/log/nginx/\"? See ~/notes, please.");
        let table = [
            ("/srv/shop/till.log", true),
            ("/srv/./shop//till.log", true),
            ("/srv/shop/till.log.1", false),
            ("/srv/shop", false),
            ("/var/log/nginx", true),
            ("/var/log/nginx/a/b", true),
            ("/var/log/nginx/../../../etc/x", false),
            ("/var/log/nginx-old/x", false),
            ("~/notes", true),
            ("~", false),
            ("/", false),
            ("/etc/hosts", false),
            ("..", false),
        ];
        for (path, expected) in table {
            assert_eq!(named.covers(path), expected, "{path}");
        }
        named.note("how full is / here");
        assert!(named.covers("/") && !named.covers("/etc/hosts"), "the root names itself alone");
    }

    #[test]
    fn the_paths_of_a_line_are_found_in_options_lists_and_quotes() {
        let table: [(&str, &[&str]); 8] = [
            ("df -h", &[]),
            ("cat /etc/hosts", &["/etc/hosts"]),
            ("grep -r x --include='*.c' --file=/a/b ~root", &["/a/b", "~root"]),
            ("du -sh \"/srv/a\" etc/x|sort", &["/srv/a", "etc/x"]),
            ("grep -r x .", &["."]),
            ("ls /", &["/"]),
            ("strings @/srv/list", &["/srv/list"]),
            ("docker cp web:/etc/x -", &["/etc/x"]),
        ];
        for (line, expected) in table {
            assert_eq!(paths_in(line).collect::<Vec<_>>(), expected, "{line}");
        }
    }

    #[test]
    fn only_so_many_paths_are_kept() {
        let mut named = Named::default();
        (0..=PATHS_MAX).for_each(|n| named.note(&format!("/srv/{n}")));
        assert_eq!(named.paths.len(), PATHS_MAX);
        assert!(!named.covers("/srv/0") && named.covers("/srv/1"));
    }
}
