//! Misspelt words: the one known word that a word was probably meant to be. Used to suggest a whole command with the
//! person's own paths and names in it; never to run one.

use std::collections::BTreeSet;

use crate::text::mistakes_within;

/// Shorter words are left alone: too many others are near them.
const CHARS_MIN: usize = 3;

/// The text with every misspelt word replaced, or nothing where none was. Words with digits or path characters are
/// arguments, not words.
pub(super) fn corrected(text: &str, vocabulary: &BTreeSet<String>) -> Option<String> {
    let mut changed = false;
    let words: Vec<String> = text
        .split(' ')
        .map(|word| match nearest(word, vocabulary) {
            Some(better) => {
                changed = true;
                better.to_owned()
            }
            None => word.to_owned(),
        })
        .collect();
    changed.then(|| words.join(" "))
}

fn nearest<'a>(word: &str, vocabulary: &'a BTreeSet<String>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let is_word = lower.chars().all(char::is_alphabetic) && lower.chars().count() >= CHARS_MIN;
    if !is_word || vocabulary.contains(&lower) {
        return None;
    }
    let allowed = if lower.chars().count() >= 7 { 2 } else { 1 };
    let known = vocabulary.iter().filter(|known| known.chars().all(char::is_alphabetic));
    let mut near: Vec<(usize, &String)> =
        known.filter_map(|known| Some((mistakes_within(&lower, known, allowed)?, known))).collect();
    near.sort();
    match near.as_slice() {
        [] => None,
        [(_, only)] => Some(only),
        // Two words equally near: nobody knows which was meant.
        [(first, word), (second, _), ..] => (first < second).then_some(word.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_words_are_mended_and_arguments_left_alone() {
        let vocabulary = ["disk", "usage", "memory", "lines", "last", "process", "processes"].map(str::to_owned).into();
        let table = [
            ("disk usgae", Some("disk usage")),
            ("memmory", Some("memory")),
            ("lats 20 lines of /var/log/sylsog", Some("last 20 lines of /var/log/sylsog")),
            ("disk usage", None),
            ("proces 12", Some("process 12")),
            ("write me a poem", None),
        ];
        for (typed, expected) in table {
            assert_eq!(corrected(typed, &vocabulary).as_deref(), expected, "{typed}");
        }
    }
}
