//! What a terminal must never be sent: control characters, and characters that turn the direction of text. They become
//! visible here, whoever wrote them. Wrapping and colours are elsewhere.

use std::fmt::Write as _;

/// A tab stands at every eighth column, as on any terminal.
const TAB_COLUMNS: usize = 8;

/// Whether a character acts on a terminal, or on the order of text, instead of being seen. A newline counts: where one is
/// wanted, the caller lets it through.
pub(crate) fn acts(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    c.is_control() || turns || breaks
}

/// The text with everything that acts made visible, such as `\u{1b}`. Newlines stay; tabs become spaces, since their width
/// must be known to align anything.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' => {
                out.push('\n');
                column = 0;
            }
            '\t' => {
                let spaces = TAB_COLUMNS - column % TAB_COLUMNS;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            c if acts(c) => {
                let _ = write!(out, "{}", c.escape_unicode());
                column += 6;
            }
            c => {
                out.push(c);
                column += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
            }
        }
    }
    out
}

/// The same on one line.
pub(crate) fn visible_line(text: &str) -> String {
    visible(text).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_becomes_visible() {
        assert_eq!(visible("a\u{1b}[31mb\u{7}\u{9b}c\u{202e}d\re"), r"a\u{1b}[31mb\u{7}\u{9b}c\u{202e}d\u{d}e");
        assert_eq!(visible("one\r\ntwo\n"), "one\ntwo\n");
    }

    #[test]
    fn a_tab_reaches_the_next_eighth_column() {
        assert_eq!(visible("ab\tc\n\td"), "ab      c\n        d");
        assert_eq!(visible_line("a\nb"), "a b");
    }

    #[test]
    fn nothing_that_acts_comes_through() {
        let all: String = (0..=0x2100_u32).filter_map(char::from_u32).collect();
        let left: Vec<char> = visible(&all).chars().filter(|&c| acts(c) && c != '\n').collect();
        assert_eq!(left, []);
    }
}
