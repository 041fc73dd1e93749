//! The one way from data to what is shown: masked, then mentions made harmless, then escaped, then cut. The order matters:
//! a cut before the mask could leave a part of a secret, and an escape before it could hide one from the mask.

use crate::secrets::Mask;
use crate::text;

/// One line of at most `chars_max` characters.
pub(super) fn line(mask: &Mask, untrusted: &str, chars_max: usize) -> String {
    text::one_line(&text::defuse_mentions(&mask.apply(untrusted)), chars_max)
}

/// Text of several lines of at most `chars_max` characters.
pub(super) fn prose(mask: &Mask, untrusted: &str, chars_max: usize) -> String {
    text::cut(&lines(mask, untrusted), chars_max)
}

/// Text of several lines, of any length.
pub(super) fn lines(mask: &Mask, untrusted: &str) -> String {
    text::escape(&text::defuse_mentions(&mask.apply(untrusted)))
}

/// A fragment of our own as a sentence: a capital first, a full stop last.
pub(super) fn as_sentence(fragment: &str) -> String {
    let mut chars = fragment.trim().chars();
    let capital: String = chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect();
    ended(&capital)
}

/// Somebody's words with a full stop, where they do not end a sentence already. The first letter stays: it may be a name.
pub(super) fn ended(words: &str) -> String {
    if words.ends_with(['.', '!', '?', ':', '…']) { words.to_owned() } else { format!("{words}.") }
}
