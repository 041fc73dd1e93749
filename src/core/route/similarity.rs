//! Similarity without a model: shared trigrams (EMB-05, FM-16), and for short names the number of typing mistakes. It
//! suggests and never decides; whole numbers only.

use crate::port::Similarity;
use crate::text;

/// From where on a suggestion is worth making, in thousandths. Two commands that share a third of their trigrams look
/// alike to a person; chosen on the shipped intents, whose unrelated pairs stay below.
const WORTH_SUGGESTING: u16 = 320;

/// Two names this close are the same name, mistyped. One typing mistake changes most trigrams of a short name, so that
/// shared trigrams alone would not find `nginx` for `ngnix`.
const MISTAKES_MAX: usize = 2;
/// Below this length any two names are that close.
const NAME_CHARS_MIN: usize = 4;
/// Beyond this length trigrams do better, and cost less.
const NAME_CHARS_MAX: usize = 32;

/// The Jaccard index of the trigrams of two texts, or for two short names how few mistakes lie between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lexical;

impl Similarity for Lexical {
    fn alike(&self, a: &str, b: &str) -> u16 {
        let one = a.to_lowercase();
        alike(&one, &trigrams(&one), b)
    }

    fn alike_each(&self, a: &str, texts: &[String]) -> Vec<u16> {
        let one = a.to_lowercase();
        let own = trigrams(&one);
        texts.iter().map(|text| alike(&one, &own, text)).collect()
    }

    fn worth_suggesting(&self) -> u16 {
        WORTH_SUGGESTING
    }
}

fn alike(one: &str, own: &[[char; 3]], other: &str) -> u16 {
    let other = other.to_lowercase();
    let theirs = trigrams(&other);
    let shared = own.iter().filter(|three| theirs.binary_search(three).is_ok()).count();
    let all = own.len().saturating_add(theirs.len()).saturating_sub(shared);
    let thousandths = shared.saturating_mul(1000).checked_div(all).unwrap_or(0);
    u16::try_from(thousandths).unwrap_or(1000).max(mistyped(one, &other))
}

/// Each once, in order: a sorted list is looked through faster than a tree is built.
fn trigrams(text: &str) -> Vec<[char; 3]> {
    let padded: Vec<char> = "  ".chars().chain(text.chars()).chain([' ']).collect();
    let mut all: Vec<[char; 3]> = padded.windows(3).filter_map(|three| three.try_into().ok()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// How much of the longer name is typed right, where few mistakes were made; else nothing.
fn mistyped(a: &str, b: &str) -> u16 {
    let chars = a.chars().count().max(b.chars().count());
    let is_name = a.chars().count().min(b.chars().count()) >= NAME_CHARS_MIN && chars <= NAME_CHARS_MAX;
    if !is_name {
        return 0;
    }
    let mistakes = text::mistakes(a, b);
    if mistakes > MISTAKES_MAX {
        return 0;
    }
    let right = chars.saturating_sub(mistakes).saturating_mul(1000).checked_div(chars);
    right.and_then(|thousandths| u16::try_from(thousandths).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_is_between_nothing_and_equal() {
        let table = [("disk usage", "disk usage", 1000), ("disk usage", "DISK usage", 1000), ("abc", "xyz", 0)];
        for (a, b, expected) in table {
            assert_eq!(Lexical.alike(a, b), expected, "{a} / {b}");
        }
        assert!(Lexical.alike("disk usgae", "disk usage") > WORTH_SUGGESTING);
        assert!(Lexical.alike("write me a poem", "disk usage") < WORTH_SUGGESTING);
        assert_eq!(Lexical.alike("ngnix", "nginx"), 800);
        assert_eq!(Lexical.alike("", ""), 1000);
    }
}
