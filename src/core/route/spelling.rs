//! Misspelt words: the one known word that a word was probably meant to be. Used to suggest a whole command with the
//! person's own paths and names in it; never to run one.

use std::collections::BTreeSet;

/// Shorter words are left alone: too many others are near them.
const CHARS_MIN: usize = 4;

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
        known.map(|known| (distance(&lower, known), known)).filter(|(far, _)| *far <= allowed).collect();
    near.sort();
    match near.as_slice() {
        [] => None,
        [(_, only)] => Some(only),
        // Two words equally near: nobody knows which was meant.
        [(first, word), (second, _), ..] => (first < second).then_some(word.as_str()),
    }
}

/// How many insertions, deletions, replacements or swaps of neighbours lie between two words.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i.saturating_add(1)];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX);
            let replaced = at(&last, j).saturating_add(usize::from(x != y));
            let removed = at(&last, j.saturating_add(1)).saturating_add(1);
            let added = at(&row, j).saturating_add(1);
            let swapped = match (i.checked_sub(1), j.checked_sub(1)) {
                (Some(h), Some(k)) if a.get(h) == Some(y) && b.get(k) == Some(x) => at(&before, k).saturating_add(1),
                (Some(_) | None, _) => usize::MAX,
            };
            row.push(replaced.min(removed).min(added).min(swapped));
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
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

    #[test]
    fn a_swap_is_one_mistake() {
        assert_eq!(distance("usgae", "usage"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }
}
