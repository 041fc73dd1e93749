//! The mask: takes what `rules.rs` finds, and the configured secrets, out of a text. A mask tells the class and nothing
//! else, neither the length nor a part of the secret.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::Regex;

use super::detect::finds;
use super::own::Own;
use super::rules::{Find, MARKER, looks_random};

/// How often a text is gone over at most: a mask may bring a secret to light that stood too close to another. The text
/// is settled when a round finds nothing; the limit keeps the time linear in the text.
const ROUNDS_MAX: usize = 8;

/// The fewest letters and digits of a part of a secret that is looked for in other texts.
const SOUGHT_LETTERS_MIN: usize = 8;

/// Masks secrets in text and JSON. Cheap to make, and a text without secrets costs one pass over it.
#[derive(Clone, Default)]
pub struct Mask {
    own: Own,
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({} literals)", self.own.len())
    }
}

impl Mask {
    /// A mask that also knows these texts, the configured secrets, wherever they stand and in whatever encoding. Those of
    /// fewer than 6 characters are left out.
    pub fn new(literals: impl IntoIterator<Item = String>) -> Self {
        Self { own: Own::new(literals) }
    }

    /// The text with each secret replaced by `[masked: CLASS]`; as it is where there is none. Applying it twice is
    /// applying it once.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replaced(text, |_, class| marker(class))
    }

    /// The same with as many lines as before: a secret over several lines is masked on each of them.
    pub fn apply_by_line<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replaced(text, |secret, class| {
            let lines = secret.split('\n').map(|line| if line.is_empty() { String::new() } else { marker(class) });
            lines.collect::<Vec<_>>().join("\n")
        })
    }

    fn replaced<'a>(&self, text: &'a str, by: impl Fn(&str, &str) -> String) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        for _ in 0..ROUNDS_MAX {
            let found = self.found(&masked);
            if found.is_empty() {
                break;
            }
            masked = Cow::Owned(replace(&masked, &found, &by));
        }
        masked
    }

    /// The secrets in the text, as they stand in it, and what they are where they are base64. Words and numbers are left out:
    /// in another text they are just that.
    pub fn secrets_in(&self, text: &str) -> Vec<String> {
        let found = self.found(text).into_iter().filter_map(|find| text.get(find.at));
        let all = found.flat_map(|secret| [Some(secret.to_owned()), decoded(secret)]).flatten();
        let letters = |part: &str| part.chars().filter(char::is_ascii_alphanumeric).count();
        let is_sought = |part: &&str| letters(part) >= SOUGHT_LETTERS_MIN && looks_random(part);
        all.flat_map(|secret| secret.split_whitespace().filter(is_sought).map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }

    /// The class of the first secret in the text; none where [`Mask::apply`] leaves the text as it is.
    pub fn class_of(&self, text: &str) -> Option<&'static str> {
        self.found(text).first().map(|find| find.class)
    }

    /// What is to be replaced: in order and without overlaps.
    fn found(&self, text: &str) -> Vec<Find> {
        let mut all = finds(text, &self.own);
        if all.is_empty() {
            return all;
        }
        all.sort_by_key(|find| (find.at.start, std::cmp::Reverse(find.at.end)));
        merge(beside_markers(text, all))
    }
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

/// A sentence of ours may end in a mask; its full stop is no part of the secret, nor is the escape of a quote behind it.
const fn ends_a_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ':' | '”' | '\\')
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

/// What a text is that is base64 of another text.
fn decoded(secret: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD_NO_PAD.decode(secret.trim_end_matches('=')).ok()?).ok()?;
    (!text.chars().any(char::is_control)).then_some(text)
}

fn replace(text: &str, finds: &[Find], by: impl Fn(&str, &str) -> String) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for find in finds {
        masked.push_str(text.get(from..find.at.start).unwrap_or_default());
        masked.push_str(&by(text.get(find.at.clone()).unwrap_or_default(), find.class));
        from = find.at.end;
    }
    masked.push_str(text.get(from..).unwrap_or_default());
    masked
}

/// What stands in a secret's place.
pub(super) fn marker(class: &str) -> String {
    format!("[masked: {class}]")
}
