//! The mask: takes what `rules.rs` finds, and the configured secrets, out of a text. A mask tells the class and nothing
//! else, neither the length nor a part of the secret.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

use super::rules::{Find, MARKER, finds, may_hold_secrets};

/// The fewest characters of a configured secret that is looked for: shorter ones stand in ordinary words.
const LITERAL_CHARS_MIN: usize = 6;

/// How often a text is gone over at most: a mask may bring a secret to light that stood too close to another. The text
/// is settled when a round finds nothing; the limit keeps the time linear in the text.
const ROUNDS_MAX: usize = 8;

/// Masks secrets in text and JSON. Cheap to make, and a text without secrets costs one pass over it.
#[derive(Clone, Default)]
pub struct Mask {
    literals: Vec<String>,
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({} literals)", self.literals.len())
    }
}

impl Mask {
    /// A mask that also knows these texts, the configured secrets, wherever they stand. Those of fewer than 6
    /// characters are left out.
    pub fn new(literals: impl IntoIterator<Item = String>) -> Self {
        let literals = literals.into_iter().map(|literal| literal.trim().to_owned());
        Self { literals: literals.filter(|literal| literal.chars().count() >= LITERAL_CHARS_MIN).collect() }
    }

    /// The text with each secret replaced by `[masked: CLASS]`; as it is where there is none. Applying it twice is
    /// applying it once.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        for _ in 0..ROUNDS_MAX {
            let found = self.found(&masked);
            if found.is_empty() {
                break;
            }
            masked = Cow::Owned(replace(&masked, &found));
        }
        masked
    }

    /// The class of the first secret in the text; none where [`Mask::apply`] leaves the text as it is.
    pub fn class_of(&self, text: &str) -> Option<&'static str> {
        self.found(text).first().map(|find| find.class)
    }

    /// What is to be replaced: in order and without overlaps.
    fn found(&self, text: &str) -> Vec<Find> {
        let mut all: Vec<Find> = self.literals.iter().flat_map(|literal| literal_finds(text, literal)).collect();
        if may_hold_secrets(text) {
            all.extend(finds(text));
        }
        if all.is_empty() {
            return all;
        }
        all.sort_by_key(|find| (find.at.start, std::cmp::Reverse(find.at.end)));
        merge(beside_markers(text, all))
    }
}

fn literal_finds(text: &str, literal: &str) -> impl Iterator<Item = Find> {
    text.match_indices(literal).map(|(start, found)| Find { at: start..start + found.len(), class: "secret" })
}

/// Leaves masks that stand in the text alone: what lies inside one, up to the end of its sentence, is no secret, and what reaches into one takes all of
/// it. Both lists are in order, so that one pass is enough.
fn beside_markers(text: &str, finds: Vec<Find>) -> Vec<Find> {
    static ANY: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(MARKER).expect("invariant: a fixed pattern that every test compiles"));
    if !text.contains("[masked: ") {
        return finds;
    }
    let markers: Vec<_> = ANY.find_iter(text).map(|found| found.range()).collect();
    let beside = |mut find: Find| {
        let first = markers.partition_point(|marker| marker.end <= find.at.start);
        let end = find.at.end;
        let touched = markers.iter().skip(first).take_while(|marker| marker.start < end);
        for marker in touched {
            let beyond = text.get(marker.end..find.at.end).unwrap_or_default();
            if marker.start <= find.at.start && beyond.chars().all(ends_a_sentence) {
                return None;
            }
            find.at = find.at.start.min(marker.start)..find.at.end.max(marker.end);
        }
        Some(find)
    };
    let mut left: Vec<Find> = finds.into_iter().filter_map(beside).collect();
    left.sort_by_key(|find| find.at.start);
    left
}

/// A sentence of ours may end in a mask; its full stop is no part of the secret.
const fn ends_a_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ':' | '”')
}

fn merge(finds: Vec<Find>) -> Vec<Find> {
    let mut merged: Vec<Find> = Vec::with_capacity(finds.len());
    for find in finds {
        match merged.last_mut().filter(|last| find.at.start < last.at.end) {
            Some(last) => last.at.end = last.at.end.max(find.at.end),
            None => merged.push(find),
        }
    }
    merged
}

fn replace(text: &str, finds: &[Find]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for find in finds {
        masked.push_str(text.get(from..find.at.start).unwrap_or_default());
        masked.push_str(&marker(find.class));
        from = find.at.end;
    }
    masked.push_str(text.get(from..).unwrap_or_default());
    masked
}

/// What stands in a secret's place.
pub(super) fn marker(class: &str) -> String {
    format!("[masked: {class}]")
}
