//! A text as it was before it was written into another: without the escapes of a string, without numbers or signs before
//! its lines. What is found there is traced back.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// The fewest characters of the columns of bytes in a line of a dump.
const DUMP_CHARS_MIN: usize = 20;

/// A part of a view and what it was made from.
struct Piece {
    /// Where it begins here.
    begin: usize,
    /// Where it stands in the other text: as long as here, or longer where it was written with an escape.
    other: Range<usize>,
}

/// A text that was taken out of another.
#[derive(Default)]
pub(super) struct View {
    /// The text.
    pub(super) text: String,
    pieces: Vec<Piece>,
}

impl View {
    /// Adds what stands in the other text at `other`.
    fn push(&mut self, piece: &str, other: Range<usize>) {
        if !piece.is_empty() {
            self.pieces.push(Piece { begin: self.text.len(), other });
            self.text.push_str(piece);
        }
    }

    /// Where a part of this text stands in the other.
    pub(super) fn locate(&self, part: &Range<usize>) -> Range<usize> {
        let piece =
            |at: usize| self.pieces.get(self.pieces.partition_point(|piece| piece.begin <= at).saturating_sub(1));
        let ends =
            |at: usize| self.pieces.get(self.pieces.partition_point(|piece| piece.begin <= at)).map(|next| next.begin);
        // A piece that was written longer counts as a whole.
        let is_plain =
            |piece: &Piece, at: usize| ends(at).unwrap_or(self.text.len()) - piece.begin == piece.other.len();
        let start = piece(part.start).map_or(part.start, |piece| {
            piece.other.start + if is_plain(piece, part.start) { part.start - piece.begin } else { 0 }
        });
        let last = part.end.saturating_sub(1);
        let end = piece(last).map_or(part.end, |piece| {
            if is_plain(piece, last) { piece.other.start + (part.end - piece.begin) } else { piece.other.end }
        });
        start..end.max(start)
    }
}

/// The text with its escapes resolved once: `\n`, `\"`, `\\`, `\u0041`, `\x41`. None where it has none.
pub(super) fn unescaped(text: &str) -> Option<View> {
    let mut next = text.find('\\')?;
    let mut view = View::default();
    let mut from = 0;
    loop {
        let escape = text.get(next..).unwrap_or_default();
        let (length, character) = resolved(escape);
        if let Some(character) = character {
            view.push(text.get(from..next).unwrap_or_default(), from..next);
            view.push(character.encode_utf8(&mut [0; 4]), next..next + length);
            from = next + length;
        }
        let after = next + length;
        match text.get(after..).and_then(|rest| rest.find('\\')) {
            Some(at) => next = after + at,
            None => break,
        }
    }
    if from == 0 {
        return None;
    }
    view.push(text.get(from..).unwrap_or_default(), from..text.len());
    Some(view)
}

/// The strings in a text that hold a text of their own: with line breaks, or an object. Each with its place, and as it was
/// before it was written as a string.
pub(super) fn strings(text: &str) -> Vec<(usize, View)> {
    let mut found = Vec::new();
    let mut next = text.find('"');
    while let Some(open) = next {
        let inside = open + 1;
        let rest = text.get(inside..).unwrap_or_default();
        let mut escaped = false;
        let end = rest.bytes().position(|byte| {
            let ends = byte == b'\n' || byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let end = end.unwrap_or(rest.len());
        let content = rest.get(..end).unwrap_or_default();
        if content.contains("\\n") || content.starts_with(['{', '[']) {
            found.extend(unescaped(content).map(|view| (inside, view)));
        }
        let after = inside + end + 1;
        next = text.get(after..).and_then(|rest| rest.find('"')).map(|at| after + at);
    }
    found
}

/// The length of an escape, and what it stands for; none where it is none.
fn resolved(escape: &str) -> (usize, Option<char>) {
    let hex = |from: usize, to: usize| {
        let digits = escape.get(from..to).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    };
    match escape.as_bytes().get(1) {
        Some(b'n') => (2, Some('\n')),
        Some(b't') => (2, Some('\t')),
        Some(b'r') => (2, Some('\r')),
        Some(byte @ (b'"' | b'\'' | b'\\' | b'/')) => (2, Some(char::from(*byte))),
        Some(b'u') => hex(2, 6).map_or((1, None), |character| (6, Some(character))),
        Some(b'x') => hex(2, 4).map_or((1, None), |character| (4, Some(character))),
        _ => (1, None),
    }
}

/// What programs put before the lines of a file: `cat -n`, `grep -n`, `diff`, a quote, the log of a container,
/// `git blame`, the log of a unit.
const BEFORE_LINES: [&str; 6] = [
    r"^[ \t]*[0-9]{1,7}(?:[\t:|\-)][ \t]?|[ ]{2})",
    r"^[+\- ](?:[+\- ]|$)?",
    r"^(?:> ?)+",
    r"^[A-Za-z0-9_.\-]+ *\| ",
    r"^\^?[0-9a-f]{7,40} (?:\S+ +)?\([^()\n]* [0-9]+\) ",
    r"^[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} \S+ [^\s\[:]+(?:\[[0-9]+\])?: ",
];

/// The text without what stands before its lines. None where most lines have nothing of one kind there.
pub(super) fn without_line_starts(text: &str) -> Option<View> {
    static ANY: LazyLock<RegexSet> =
        LazyLock::new(|| RegexSet::new(BEFORE_LINES).expect("invariant: fixed patterns that tests compile"));
    static EACH: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let each = BEFORE_LINES.iter().map(|pattern| Regex::new(pattern));
        each.map(|regex| regex.expect("invariant: a fixed pattern that tests compile")).collect()
    });
    let mut counts = [0_usize; BEFORE_LINES.len()];
    let mut said = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        said += 1;
        let may_start = |c: char| c.is_ascii_alphanumeric() || " \t+->^".contains(c);
        if !line.starts_with(may_start) && !line.contains('|') {
            continue;
        }
        for kind in &ANY.matches(line) {
            if let Some(count) = counts.get_mut(kind) {
                *count += 1;
            }
        }
    }
    let (kind, count) =
        counts.into_iter().enumerate().max_by_key(|(kind, count)| (*count, BEFORE_LINES.len() - kind))?;
    // A few lines may be a heading. In a difference every line has its sign.
    if count == 0 || count * 2 < said || kind == 1 && count + 2 < said {
        return None;
    }
    let start = EACH.get(kind)?;
    let mut view = View::default();
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let cut = start.find(line).map_or(0, |found| if kind == 1 { 1 } else { found.end() });
        view.push(line.get(cut..).unwrap_or_default(), from + cut..from + line.len());
        from += line.len();
    }
    Some(view)
}

/// The parts of a difference between two files without the signs before their lines; what stands around them stays as it is.
/// None where there is no such part.
pub(super) fn without_signs(text: &str) -> Option<View> {
    if !text.contains("@@ -") {
        return None;
    }
    let mut view = View::default();
    let (mut from, mut signs) = (0, 0);
    for line in text.split_inclusive('\n') {
        let is_signed = |signs: usize| line.bytes().take(signs).all(|byte| matches!(byte, b'+' | b'-' | b' '));
        let ats = line.bytes().take_while(|byte| *byte == b'@').count();
        let begins = ats >= 2 && line.get(ats..).is_some_and(|rest| rest.starts_with(" -"));
        // Three signs where two files became one, and so on.
        signs = if begins { ats - 1 } else { signs };
        if !(begins || is_signed(signs) || line.trim().is_empty() || line.starts_with('\\')) {
            signs = 0;
        }
        let cut = if begins { 0 } else { signs.min(line.trim_end_matches('\n').len()) };
        view.push(line.get(cut..).unwrap_or_default(), from + cut..from + line.len());
        from += line.len();
    }
    Some(view)
}

/// Dumps of bytes without the columns at their edges: the offset before and the characters behind. None where few lines
/// begin with an offset or a number.
pub(super) fn without_columns(text: &str) -> Option<View> {
    let mut lines = 0;
    let mut view = View::default();
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let begin = from;
        from += line.len();
        let Some(start) = offset(line) else { continue };
        lines += 1;
        let rest = line.get(start..).unwrap_or_default();
        let kept = behind(rest).unwrap_or(rest.len());
        view.push(rest.get(..kept).unwrap_or_default(), begin + start..begin + start + kept);
    }
    (lines >= 2).then_some(view)
}

/// Where a find that ends at `end` in a dump has to end so that the characters of its last row are covered, too.
pub(super) fn row_end(text: &str, end: usize) -> usize {
    let begin = text.get(..end).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let line = text.get(begin..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let row = offset(line).and_then(|start| line.get(start..));
    if row.and_then(behind).is_some() { begin + line.len() } else { end }
}

/// The length of a number at the beginning of a line and of the sign behind it.
fn offset(line: &str) -> Option<usize> {
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    let rest = line.get(blanks..)?;
    let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    let sign = rest.as_bytes().get(digits)?;
    ((1..=16).contains(&digits) && matches!(sign, b':' | b')' | b' ' | b'\t' | b'-')).then_some(blanks + digits + 1)
}

/// Where the characters begin that stand behind a row of bytes.
fn behind(row: &str) -> Option<usize> {
    let marked = row.find('|').or_else(|| row.find("  >"));
    let is_digits = |text: &str| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_hexdigit());
    // In rows of numbers what stands last is a number, too.
    let unmarked =
        || row.trim_end().rfind("  ").filter(|at| row.get(*at..).is_some_and(|last| !is_digits(last.trim_end())));
    let is_bytes = |at: &usize| row.get(..*at).is_some_and(is_digits);
    marked.or_else(unmarked).filter(|at| *at >= DUMP_CHARS_MIN).filter(is_bytes)
}
