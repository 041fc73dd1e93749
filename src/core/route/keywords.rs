//! Suggestions by shared words, for a message that no layer understands. Nothing is decided here.

use super::intents::{Intent, words};

/// The worth of a word that stands in an example, and of one that stands only in the description, in thousandths.
const IN_EXAMPLE: u16 = 320;
const IN_ABOUT: u16 = 160;

/// Shorter words say too little.
const WORD_CHARS_MIN: usize = 3;

/// The most words of a message that are looked at: a longer one is no command.
const WORDS_MAX: usize = 12;

/// Two longer words are alike if they begin with so many letters that are the same: `errors`, `error`.
const STEM_CHARS: usize = 5;

/// Words that stand in any question.
const STOP_WORDS: [&str; 42] = [
    "the", "and", "for", "are", "was", "what", "which", "who", "how", "why", "when", "where", "that", "this", "with",
    "from", "here", "there", "have", "has", "had", "does", "did", "can", "could", "you", "your", "our", "all", "any",
    "now", "show", "not", "machine", "about", "know", "need", "want", "please", "write", "today", "left",
];

/// Returns how many words a message shares with an intent, in thousandths.
pub(super) fn shared(message: &str, intent: &Intent) -> u16 {
    let mut asked = said(message);
    asked.dedup();
    asked.truncate(WORDS_MAX);
    let in_examples: Vec<String> = intent.examples.iter().flat_map(|example| said(example)).collect();
    let in_about = said(&intent.about);
    let worth = |word: &String| {
        if in_examples.iter().any(|known| is_alike(word, known)) {
            IN_EXAMPLE
        } else if in_about.iter().any(|known| is_alike(word, known)) {
            IN_ABOUT
        } else {
            0
        }
    };
    asked.iter().map(worth).fold(0, u16::saturating_add)
}

/// The words of a text that say something.
fn said(text: &str) -> Vec<String> {
    let plain = |word: String| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let says = |word: &String| word.chars().count() >= WORD_CHARS_MIN && !STOP_WORDS.contains(&word.as_str());
    words(text).map(plain).filter(says).collect()
}

fn is_alike(one: &str, other: &str) -> bool {
    let stem = |word: &str| word.chars().take(STEM_CHARS).collect::<String>();
    let singular = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    singular(one) == singular(other)
        || (one.chars().count() >= STEM_CHARS && other.chars().count() >= STEM_CHARS && stem(one) == stem(other))
}
