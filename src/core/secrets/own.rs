//! The configured secrets by value, as they are and in every encoding that a command line makes of them at no cost: other
//! case, backwards, base64 in any alignment, hexadecimal, octal, escapes, one character a line. Signs and white space do
//! not count, so that no line break and no column hides a secret.

mod forms;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};

use super::rules::Find;
use forms::{Form, forms};

/// The fewest characters of a configured secret that is looked for: shorter ones stand in ordinary words.
const SECRET_CHARS_MIN: usize = 6;
/// A secret of fewer letters, and of nothing but letters, may stand in a sentence as words that follow each other.
const WORDS_CHARS_MAX: usize = 16;
/// How many letters and digits are looked at together to see whether it is worth comparing more.
const GRAM: usize = 6;
/// Words in so many lines are no sentence.
const LINES_MIN: usize = 2;
/// The most letters and digits that are compared. A power of two.
const PART_LETTERS_MAX: usize = 512;
/// The bits of the filter in front of the comparison, as a power of two.
const FILTER_BITS: u32 = 20;

/// The configured secrets. Cheap to clone; what is searched for is worked out when a text is first searched.
#[derive(Clone, Default)]
pub(super) struct Own {
    secrets: Arc<[String]>,
    search: Arc<OnceLock<Search>>,
}

struct Search {
    /// What is looked for with all its signs.
    whole: AhoCorasick,
    /// Whether some of that is never found by its letters.
    has_signs: bool,
    /// One bit for each six letters and digits in a row that some form has, by a hash of them.
    filter: Vec<u64>,
    /// How many letters and digits make a find, each number once.
    lengths: Vec<usize>,
    /// A hash of each part that makes a find, in order.
    parts: Vec<u64>,
    /// The same of parts that are made of words: they count only where they are not the words of a sentence.
    words: Vec<u64>,
}

/// A letter or digit of a text.
#[derive(Clone, Copy, Default)]
struct Letter {
    byte: u8,
    at: usize,
    gap: Gap,
}

impl Own {
    pub(super) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().map(|secret| secret.trim().to_owned());
        let secrets = secrets.filter(|secret| secret.chars().count() >= SECRET_CHARS_MIN).collect();
        Self { secrets, search: Arc::default() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.secrets.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Where they stand in a text, in no order.
    pub(super) fn finds(&self, text: &str) -> Vec<Find> {
        if self.is_empty() {
            return Vec::new();
        }
        let search = self.search.get_or_init(|| Search::new(&self.secrets));
        let mut found = Vec::new();
        let may_stand = search.letters(text, &mut found);
        // With its signs a secret has the same letters, so that most texts are gone over once.
        if may_stand || search.has_signs {
            found.extend(search.whole.find_iter(text).map(|found| found.range()));
        }
        found.into_iter().map(|at| Find { at, class: "secret" }).collect()
    }
}

impl Search {
    fn new(secrets: &[String]) -> Self {
        let all: Vec<Form> = secrets.iter().flat_map(|secret| forms(secret)).collect();
        let whole = all.iter().filter(|form| form.has_signs && form.text.len() >= SECRET_CHARS_MIN);
        let whole = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .build(whole.map(|form| &form.text))
            .expect("invariant: as many as a configuration has");
        let filter = vec![0; 1 << (FILTER_BITS - 6)];
        let mut search =
            Self { whole, has_signs: false, filter, lengths: Vec::new(), parts: Vec::new(), words: Vec::new() };
        for form in &all {
            search.add(form);
        }
        for list in [&mut search.parts, &mut search.words] {
            list.sort_unstable();
            list.dedup();
        }
        search.lengths.sort_unstable();
        search.lengths.dedup();
        search
    }

    /// Adds the parts of a form.
    fn add(&mut self, form: &Form) {
        let letters = form.text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
        let letters: Vec<u8> = letters.collect();
        // A secret that is short or mostly signs is looked for with them.
        if letters.len() < GRAM || form.is_plain && letters.len() * 2 < form.text.len() {
            self.has_signs |= form.has_signs;
            return;
        }
        let is_words = form.is_plain && letters.len() < WORDS_CHARS_MAX && letters.iter().all(u8::is_ascii_alphabetic);
        // One word with signs at its edges is a word.
        let inside = form.text.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        if is_words && inside.len() == letters.len() && inside.len() < form.text.len() {
            self.has_signs |= form.has_signs;
            return;
        }
        // A part of words is a word.
        let length =
            if is_words { letters.len() } else { form.enough.min(letters.len()).clamp(GRAM, PART_LETTERS_MAX) };
        self.lengths.push(length);
        let list = if is_words { &mut self.words } else { &mut self.parts };
        list.extend(letters.windows(length).map(|part| hash(part.iter().copied())));
        for gram in letters.windows(GRAM) {
            let (word, bit) = place(gram.iter().fold(0, |gram, byte| gram << 8 | u64::from(*byte)));
            if let Some(word) = self.filter.get_mut(word) {
                *word |= bit;
            }
        }
    }

    /// Compares letters and digits alone, where each six in a row may be a part of a secret. Returns whether anything is
    /// found, the words of a sentence included.
    fn letters(&self, text: &str, found: &mut Vec<Range<usize>>) -> bool {
        const MASK: u64 = (1 << (8 * GRAM)) - 1;
        let shortest = self.lengths.first().copied().unwrap_or(usize::MAX);
        let mut last = Last::default();
        let mut gram = 0;
        let mut known = 0;
        let mut gap = Gap::None;
        let mut may_stand = false;
        for (at, byte) in text.bytes().enumerate() {
            if !byte.is_ascii_alphanumeric() {
                gap = gap.max(if matches!(byte, b'\n' | b'\r') { Gap::Line } else { Gap::Sign });
                continue;
            }
            let byte = byte.to_ascii_lowercase();
            last.push(Letter { byte, at, gap });
            gap = Gap::None;
            gram = (gram << 8 | u64::from(byte)) & MASK;
            let (word, bit) = place(gram);
            if self.filter.get(word).is_none_or(|word| word & bit == 0) {
                known = 0;
                continue;
            }
            known += 1;
            let part = (known + GRAM > shortest).then(|| self.part(&last, known + GRAM - 1)).flatten();
            may_stand |= part.is_some();
            found.extend(part.filter(|part| !part.is_sentence).map(|part| part.at));
        }
        may_stand
    }

    /// The part of a secret that the last letters are, of which so many are known.
    fn part(&self, last: &Last, known: usize) -> Option<Part> {
        let mut lengths = self.lengths.iter().rev().filter(|length| **length <= known);
        lengths.find_map(|length| self.part_of(last, *length))
    }

    fn part_of(&self, last: &Last, length: usize) -> Option<Part> {
        let hash = hash(last.of(length).map(|letter| letter.byte));
        let is_part = self.parts.binary_search(&hash).is_ok();
        if !is_part && self.words.binary_search(&hash).is_err() {
            return None;
        }
        // A secret that is spread has something before each letter, or goes over lines.
        let gaps = |kind: Gap| last.of(length).skip(1).filter(|letter| letter.gap == kind).count();
        let is_spread = gaps(Gap::Sign) == 0 || gaps(Gap::Sign) + 2 >= length || gaps(Gap::Line) >= LINES_MIN;
        let mut letters = last.of(length);
        let start = letters.next()?.at;
        Some(Part { at: start..letters.last()?.at + 1, is_sentence: !is_part && !is_spread })
    }
}

/// Letters of a text that are letters of a secret.
struct Part {
    at: Range<usize>,
    /// Whether they may be words that follow each other.
    is_sentence: bool,
}

/// What stands before a letter.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Line,
    Sign,
}

/// The last letters of a text, in a ring.
struct Last {
    ring: Vec<Letter>,
    count: usize,
}

impl Default for Last {
    fn default() -> Self {
        Self { ring: vec![Letter::default(); PART_LETTERS_MAX], count: 0 }
    }
}

impl Last {
    fn push(&mut self, letter: Letter) {
        if let Some(slot) = self.ring.get_mut(self.count % PART_LETTERS_MAX) {
            *slot = letter;
        }
        self.count += 1;
    }

    /// The last so many, in order.
    fn of(&self, length: usize) -> impl Iterator<Item = Letter> {
        let slots = self.count.saturating_sub(length)..self.count;
        slots.filter_map(|n| self.ring.get(n % PART_LETTERS_MAX).copied())
    }
}

fn hash(letters: impl Iterator<Item = u8>) -> u64 {
    letters.fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

/// Where the filter has the bit of six letters.
fn place(gram: u64) -> (usize, u64) {
    let hash = gram.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - FILTER_BITS);
    (usize::try_from(hash >> 6).unwrap_or_default(), 1 << (hash & 63))
}

#[cfg(test)]
mod tests;
