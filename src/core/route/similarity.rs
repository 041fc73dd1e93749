//! Similarity without a model: shared trigrams (EMB-05, FM-16), and for short names the number of typing mistakes. It
//! suggests and never decides; whole numbers only.

use std::collections::BTreeMap;

use crate::port::{Likeness, Similarity};
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
        let (a, b) = (a.to_lowercase(), b.to_lowercase());
        let (own, theirs) = (trigrams(&a), trigrams(&b));
        let shared = own.iter().filter(|three| theirs.binary_search(three).is_ok()).count();
        jaccard(shared, own.len(), theirs.len()).max(mistyped(&a, &b))
    }

    fn prepare(&self, texts: &[String]) -> Box<dyn Likeness> {
        let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
        let (mut counts, mut holders) = (Vec::new(), BTreeMap::new());
        for (at, text) in texts.iter().enumerate() {
            let trigrams = trigrams(text);
            counts.push(trigrams.len());
            for three in trigrams {
                let held: &mut Vec<usize> = holders.entry(three).or_default();
                held.push(at);
            }
        }
        Box::new(Prepared { texts, counts, holders })
    }

    fn worth_suggesting(&self) -> u16 {
        WORTH_SUGGESTING
    }
}

/// Texts with their trigrams, turned round: a question looks only at the texts that share one with it.
struct Prepared {
    /// In lower case.
    texts: Vec<String>,
    /// How many trigrams each has.
    counts: Vec<usize>,
    /// In which texts each trigram is.
    holders: BTreeMap<Trigram, Vec<usize>>,
}

impl Likeness for Prepared {
    fn alike_each(&self, text: &str) -> Vec<u16> {
        let text = text.to_lowercase();
        let own = trigrams(&text);
        let mut shared = vec![0_usize; self.texts.len()];
        for at in own.iter().filter_map(|three| self.holders.get(three)).flatten() {
            if let Some(shared) = shared.get_mut(*at) {
                *shared = shared.saturating_add(1);
            }
        }
        let each = self.texts.iter().zip(&self.counts).zip(shared);
        each.map(|((other, theirs), shared)| jaccard(shared, own.len(), *theirs).max(mistyped(&text, other))).collect()
    }
}

/// Three characters, side by side in one number: they are compared very often.
type Trigram = u64;

/// Each once, in order.
fn trigrams(text: &str) -> Vec<Trigram> {
    let padded: Vec<char> = "  ".chars().chain(text.chars()).chain([' ']).collect();
    // A character has 21 bits.
    let packed = |three: &[char]| three.iter().fold(0, |packed, c| (packed << 21) | u64::from(u32::from(*c)));
    let mut all: Vec<Trigram> = padded.windows(3).map(packed).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// How many of all are shared, in thousandths.
fn jaccard(shared: usize, own: usize, theirs: usize) -> u16 {
    let all = own.saturating_add(theirs).saturating_sub(shared);
    let thousandths = shared.saturating_mul(1000).checked_div(all).unwrap_or(0);
    u16::try_from(thousandths).unwrap_or(1000)
}

/// How much of the longer name is typed right, where few mistakes were made; else nothing.
fn mistyped(a: &str, b: &str) -> u16 {
    let chars = a.chars().count().max(b.chars().count());
    let is_name = a.chars().count().min(b.chars().count()) >= NAME_CHARS_MIN && chars <= NAME_CHARS_MAX;
    if !is_name {
        return 0;
    }
    let Some(mistakes) = text::mistakes_within(a, b, MISTAKES_MAX) else { return 0 };
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

    /// What is prepared is only faster.
    #[test]
    fn one_beside_many_is_one_beside_each() {
        let texts =
            ["disk usage", "nginx", "", "DISK usage of the host", "größe der platten", "ngnix"].map(str::to_owned);
        let prepared = Lexical.prepare(&texts);
        for asked in ["disk usgae", "ngnix", "", "Größe der Platten", "write me a poem", "x"] {
            let each: Vec<u16> = texts.iter().map(|text| Lexical.alike(asked, text)).collect();
            assert_eq!(prepared.alike_each(asked), each, "{asked}");
        }
    }
}
