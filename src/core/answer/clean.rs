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
