//! What a change does to a text, line by line, as people know it from `diff -u`. What cannot be seen is marked, so that two
//! lines that differ look different. How long the texts may be is decided by whoever asks.

use std::path::Path;

use countersign_core::secrets::Mask;
use countersign_core::text;
use similar::TextDiff;

/// How many unchanged lines stand around a change.
const CONTEXT_LINES: usize = 3;

/// What stands for a tab, for a blank at the end of a line, and for a carriage return.
const TAB: char = '→';
const BLANK: char = '·';
const RETURN: char = '␍';

/// How a character begins that is written as its number.
const NUMBER: &str = "\\u{";

/// A blank that Unicode does not call white space: a braille pattern without dots.
const BRAILLE_BLANK: char = '\u{2800}';

/// The difference as `diff -u` writes it; `before` is none where there is no file yet. Its first line explains the marks,
/// where there are any. The time grows with the square of the lines that differ.
pub(super) fn show(path: &Path, before: Option<&str>, after: &str) -> String {
    let path = path.display();
    let old = before.map_or_else(|| "does not exist".to_owned(), line_ends);
    let new = line_ends(after);
    let before = before.unwrap_or_default();
    if before == after {
        return format!("{path} ({new}): nothing changes");
    }
    let (legend, hunks) = match plain_where_secret(before, after) {
        Some(plain) => (String::new(), plain),
        None => with_legend(hunks(&marked(before), &marked(after))),
    };
    format!("{legend}--- {path} ({old})\n+++ {path} ({new})\n{hunks}")
}

/// The changed lines without marks, where a secret stands in them. A mark between a name and its value would hide it from
/// the mask that looks at every answer and every card, and this spoke does not decide what becomes of a secret.
fn plain_where_secret(before: &str, after: &str) -> Option<String> {
    let plain = hunks(before, after).replace('\r', &RETURN.to_string());
    // In both forms: as it leaves here, and as the core shows what has no marks.
    let holds_secret = |text: &str| Mask::default().class_of(text).is_some();
    (holds_secret(&plain) || holds_secret(&text::escape(&plain))).then_some(plain)
}

fn with_legend(hunks: String) -> (String, String) {
    (legend(&hunks), hunks)
}

fn hunks(before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(CONTEXT_LINES).to_string()
}

/// The text with everything marked that cannot be seen. Two texts that differ are still different, so that the marked
/// texts can be compared in place of the plain ones; and no carriage return is left that could end a line.
fn marked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => {
                mark_line(line, &mut shown);
                shown.push('\n');
            }
            None => mark_line(line, &mut shown),
        }
    }
    shown
}

fn mark_line(line: &str, shown: &mut String) {
    let seen = line.trim_end_matches([' ', '\t', '\r']).len();
    let mut backslashes = 0;
    for (at, c) in line.char_indices() {
        let is_number = is_shown_as_number(c);
        // Backslashes are doubled where they stand before such a number, or before what looks like one: an odd count of
        // them begins a number, and an even count is text.
        if is_number || line.get(at..).is_some_and(|rest| rest.starts_with("u{")) {
            shown.extend(std::iter::repeat_n('\\', backslashes));
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        match c {
            '\t' => shown.push(TAB),
            '\r' => shown.push(RETURN),
            ' ' if at >= seen => shown.push(BLANK),
            _ if is_number => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
}

/// Whether a character is written as its number: it looks like a blank or like a mark, or cannot be seen at all.
fn is_shown_as_number(c: char) -> bool {
    match c {
        ' ' | '\t' | '\r' => false,
        TAB | BLANK | RETURN | BRAILLE_BLANK => true,
        _ if c.is_ascii_graphic() => false,
        _ => {
            let mut bytes = [0; 4];
            let alone: &str = c.encode_utf8(&mut bytes);
            c.is_whitespace() || text::escape(alone) != alone
        }
    }
}

/// What the marks mean that stand in these lines, as a line; nothing where there are none. The marks stand for nothing
/// else there: where they were typed, they are numbers.
fn legend(hunks: &str) -> String {
    let named = [
        (hunks.contains(TAB), "→ a tab"),
        (hunks.contains(BLANK), "· a blank at the end of a line"),
        (hunks.contains(RETURN), "␍ a carriage return"),
        (hunks.contains(NUMBER), "\\u{…} a character by its number (where these letters stand themselves: \\\\u{…})"),
    ];
    let named: Vec<&str> = named.into_iter().filter(|(is_there, _)| *is_there).map(|(_, words)| words).collect();
    if named.is_empty() { String::new() } else { format!("Marks: {}\n", named.join(", ")) }
}

/// How the lines of a text end.
fn line_ends(text: &str) -> String {
    let all = text.matches('\n').count();
    let returns = text.matches("\r\n").count();
    let kind = match (all, returns) {
        (0, _) if text.is_empty() => "empty",
        (0, _) => "no line end",
        (_, 0) => "line ends LF",
        (all, returns) if all == returns => "line ends CRLF",
        _ => "line ends mixed: LF and CRLF",
    };
    let open = !text.is_empty() && !text.ends_with('\n') && all > 0;
    if open { format!("{kind}, the last line has none") } else { kind.to_owned() }
}

#[cfg(test)]
mod tests {
    use countersign_core::secrets::Mask;

    use super::*;

    fn shown(before: &str, after: &str) -> String {
        show(Path::new("/x"), Some(before), after)
    }

    /// Two texts that differ, and what a diff shows of each as its old line.
    fn old_lines(one: &str, two: &str) -> (String, String) {
        let line = |text: &str| {
            let diff = shown(&format!("{text}\n"), "other\n");
            diff.lines().filter(|line| line.starts_with('-')).nth(1).expect("an old line").to_owned()
        };
        (line(one), line(two))
    }

    #[test]
    fn what_looks_alike_is_told_apart() {
        for (one, two) in [
            ("a\tb", "a    b"),
            ("a\tb", "a→b"),
            ("a", "a "),
            ("a ", "a·"),
            ("a  ", "a ·"),
            ("a ", "a \t"),
            ("a b", "a\u{a0}b"),
            ("a\u{a0}b", "a\\u{a0}b"),
            ("a\\u{a0}b", "a\\\\u{a0}b"),
            ("a\\\u{a0}b", "a\\u{a0}b"),
            ("a\\\u{a0}b", "a\\\\u{a0}b"),
            ("a\r", "a␍"),
            ("a\rb", "a␍b"),
            ("a \r", "a·\r"),
            ("ab", "a\u{200b}b"),
            ("a\u{2028}b", "a b"),
            ("a\u{2800}b", "a b"),
            ("a·b", "a\\u{b7}b"),
        ] {
            let (one_shown, two_shown) = old_lines(one, two);
            assert_ne!(one_shown, two_shown, "{one:?} and {two:?}");
            // As it stands on the card: the core's own escape changes nothing more.
            assert_eq!(text::escape(&one_shown), one_shown, "{one:?}");
            for text in [one, two] {
                let diff = shown(&format!("{text}\n"), "other\n");
                let old_lines = diff.lines().filter(|line| line.starts_with('-') && !line.starts_with("---"));
                assert_eq!(old_lines.count(), 1, "one line stays one: {diff}");
            }
        }
    }

    #[test]
    fn marks_are_explained_where_there_are_some() {
        insta::assert_snapshot!(shown("a\tb \nc\n", "a→b\r\nc\n"), @r"
        Marks: → a tab, · a blank at the end of a line, ␍ a carriage return, \u{…} a character by its number (where these letters stand themselves: \\u{…})
        --- /x (line ends LF)
        +++ /x (line ends mixed: LF and CRLF)
        @@ -1,2 +1,2 @@
        -a→b·
        +a\u{2192}b␍
         c
        ");
        // What is far from every change is not shown and not explained.
        let far = "x\t\n".to_owned() + "-\n".repeat(9).as_str();
        insta::assert_snapshot!(shown(&format!("{far}a\n"), &format!("{far}b\n")), @"
        --- /x (line ends LF)
        +++ /x (line ends LF)
        @@ -8,4 +8,4 @@
         -
         -
         -
        -a
        +b
        ");
        assert!(shown("", "C:\\users\\u\n").contains("+C:\\users\\u"), "a backslash stays one elsewhere");
    }

    #[test]
    fn a_mark_hides_no_secret_from_the_mask() {
        let secret = "password\t=\tkorrekt-Horse7battery\n";
        let diff = shown("", secret);
        assert!(Mask::default().class_of(&diff).is_some(), "{diff}");
    }
}
