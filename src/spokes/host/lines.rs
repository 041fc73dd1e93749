//! Lines of text that nobody vouches for: any size, any bytes. Read forward from a line or backward from the end, never
//! more than a bound of it in memory; invalid UTF-8 is replaced. Escaping is done later, by the core, on everything.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Seek, SeekFrom};

use countersign_core::secrets::Mask;

/// The most text in one answer, in bytes.
pub(super) const TEXT_BYTES_MAX: usize = 64 * 1024;

/// The most of one line that is looked at and shown, in bytes.
pub(super) const LINE_BYTES_MAX: usize = 2_000;

/// How far into a file a search goes, from either end, in bytes: about a second of reading.
pub(super) const SEARCH_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How much is read at a time, going backward.
const BLOCK_BYTES: u64 = 64 * 1024;

/// Some lines of a file, in its order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The lines, each cut to [`LINE_BYTES_MAX`].
    pub(super) lines: VecDeque<String>,
    /// Whether the file goes on, in the direction it was read in.
    pub(super) has_more: bool,
    /// Whether a bound ended it, rather than the number of lines that was asked for.
    pub(super) cut: bool,
}

impl Excerpt {
    /// Whether one more line of this length still fits.
    fn has_room(&self, length: usize) -> bool {
        self.lines.iter().map(String::len).sum::<usize>() + length <= TEXT_BYTES_MAX
    }
}

/// A text as lines, for output that is already bounded.
pub(super) fn split(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|byte| *byte == b'\n').map(clean).collect()
}

/// One line as text: invalid UTF-8 replaced, the carriage return of a Windows line gone, cut to [`LINE_BYTES_MAX`].
pub(super) fn clean(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let kept = line.get(..LINE_BYTES_MAX).unwrap_or(line);
    let mut text = String::from_utf8_lossy(kept).into_owned();
    if kept.len() < line.len() {
        text.push('…');
    }
    text
}

/// Reads `count` lines beginning at line `from` (the first is 1).
pub(super) fn forward(mut input: impl BufRead, from: usize, count: usize) -> io::Result<Excerpt> {
    let mut excerpt = Excerpt::default();
    let mut budget = SEARCH_BYTES_MAX;
    let mut number = 0;
    let mut in_key = None;
    while let Some(line) = next_line(&mut input, &mut budget)? {
        number += 1;
        let text = clean(&line);
        if number < from {
            in_key = match in_key {
                Some(_) if text.contains("-----END ") => None,
                None if begins_key(&text) => Some(text),
                other => other,
            };
            continue;
        }
        // A window that begins inside a key gets the key's first line, by which the mask knows all of it.
        excerpt.lines.extend(in_key.take());
        let has_room = excerpt.has_room(text.len());
        if excerpt.lines.len() == count || !has_room {
            excerpt.has_more = true;
            excerpt.cut = !has_room;
            return Ok(excerpt);
        }
        excerpt.lines.push_back(text);
    }
    excerpt.cut = budget == 0;
    excerpt.has_more = excerpt.cut;
    Ok(excerpt)
}

/// Whether a private key in text form begins on this line.
pub(super) fn begins_key(line: &str) -> bool {
    line.contains("-----BEGIN ") && line.contains("PRIVATE KEY")
}

/// The next line without its end; of a long one a little more than [`LINE_BYTES_MAX`], so that [`clean`] sees that it
/// was longer. `None` at the end of the file, or where the budget of bytes is used up.
fn next_line(input: &mut impl BufRead, budget: &mut u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut any = false;
    while *budget > 0 {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or(chunk);
        let room = (LINE_BYTES_MAX + 2).saturating_sub(line.len());
        line.extend(part.iter().take(room));
        let used = end.map_or(chunk.len(), |end| end + 1);
        input.consume(used);
        *budget = budget.saturating_sub(used as u64);
        if end.is_some() {
            break;
        }
    }
    Ok(any.then_some(line))
}

/// Reads the last `count` lines, or the last that contain `wanted` in upper or lower case, block by block from the end: how long the file is
/// does not matter, unless a search finds too little.
pub(super) fn backward(mut input: impl Read + Seek, count: usize, wanted: Option<&str>) -> io::Result<Excerpt> {
    let wanted = wanted.map(str::to_lowercase);
    let wanted = wanted.as_deref();
    let mut end = input.seek(SeekFrom::End(0))?;
    let stop = end.saturating_sub(SEARCH_BYTES_MAX);
    let mut excerpt = Excerpt::default();
    let mut begun: Vec<u8> = Vec::new();
    let mut is_last = true;
    while end > stop {
        let start = end.saturating_sub(BLOCK_BYTES).max(stop);
        let mut block = read_at(&mut input, start, end - start)?;
        if is_last && block.last() == Some(&b'\n') {
            block.pop();
        }
        is_last = false;
        let mut parts = block.rsplit(|byte| *byte == b'\n');
        // The last line of the block goes on in `begun`; the first goes on in the block before.
        let mut line = join(parts.next().unwrap_or_default(), &begun);
        for part in parts {
            if !take(&mut excerpt, &line, count, wanted) {
                return Ok(excerpt);
            }
            line = part.to_vec();
        }
        begun = line;
        end = start;
    }
    if stop == 0 {
        if !is_last {
            take(&mut excerpt, &begun, count, wanted);
        }
    } else {
        // What stands before was not looked at, and `begun` may lack its beginning.
        excerpt.has_more = true;
        excerpt.cut = true;
    }
    Ok(excerpt)
}

fn read_at(input: &mut (impl Read + Seek), start: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut block = Vec::new();
    input.seek(SeekFrom::Start(start))?;
    input.take(length).read_to_end(&mut block)?;
    Ok(block)
}

/// The most bytes of a line that a search looks at. More of it is shown by nothing, either.
const SEARCHED_BYTES_MAX: usize = 64 * 1024;

/// The beginning of a line and its rest, as far as a search looks at it.
fn join(beginning: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut line: Vec<u8> = beginning.iter().take(SEARCHED_BYTES_MAX).copied().collect();
    let room = SEARCHED_BYTES_MAX.saturating_sub(line.len());
    line.extend(rest.iter().take(room));
    line
}

/// Puts a line in front, if it is wanted; false where no more lines are.
fn take(excerpt: &mut Excerpt, line: &[u8], count: usize, wanted: Option<&str>) -> bool {
    let text = clean(line);
    let whole = || String::from_utf8_lossy(line.get(..SEARCHED_BYTES_MAX).unwrap_or(line));
    // Whether a line of a secret is found would tell what is in it.
    if wanted.is_some_and(|wanted| !Mask::default().apply(&whole()).to_lowercase().contains(wanted)) {
        return true;
    }
    let has_room = excerpt.has_room(text.len());
    if excerpt.lines.len() == count || !has_room {
        excerpt.has_more = true;
        excerpt.cut = !has_room;
        return false;
    }
    excerpt.lines.push_front(text);
    true
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn last(content: &[u8], count: usize, wanted: Option<&str>) -> Vec<String> {
        backward(Cursor::new(content), count, wanted).expect("memory can be read").lines.into()
    }

    #[test]
    fn a_search_looks_behind_what_is_shown_of_a_line() {
        let long = format!("{} needle {}\nshort\n", "x".repeat(5_000), "y".repeat(200_000));
        let found = last(long.as_bytes(), 5, Some("needle"));
        assert_eq!(found.len(), 1, "it stands at 5,000");
        assert!(found[0].len() <= LINE_BYTES_MAX + '…'.len_utf8(), "only its beginning is shown");
        assert!(last(long.as_bytes(), 5, Some("nothing")).is_empty());
    }

    #[test]
    fn the_last_lines_are_the_last_lines() {
        assert_eq!(last(b"a\nb\nc\n", 2, None), ["b", "c"]);
        assert_eq!(last(b"a\nb\nc", 2, None), ["b", "c"]);
        assert_eq!(last(b"a\n\nc\n\n", 3, None), ["", "c", ""]);
        assert_eq!(last(b"a", 5, None), ["a"]);
        assert_eq!(last(b"\n", 5, None), [""]);
        assert_eq!(last(b"", 5, None), [""; 0]);
        assert_eq!(last(b"ax\nb\ncx\nd\n", 2, Some("x")), ["ax", "cx"]);
        assert_eq!(last(b"a\xff\xfe\r\n\x1b[31mred\n", 2, None), ["a\u{fffd}\u{fffd}", "\u{1b}[31mred"]);
    }

    /// Against the plain way of doing it, with lines that cross the blocks at every offset.
    #[test]
    fn blocks_do_not_show() {
        let mut content = String::new();
        for number in 0..30_000 {
            content.push_str(&number.to_string());
            content.push_str(" xxxxxxxxxxxxxxxxxxxxxxx".get(..=number % 23).unwrap_or_default());
            content.push('\n');
        }
        let plain: Vec<&str> = content.lines().collect();
        assert_eq!(last(content.as_bytes(), 500, None), plain[plain.len() - 500..]);
        let found = last(content.as_bytes(), 3, Some("77 x"));
        let expected: Vec<&str> = plain.iter().copied().filter(|line| line.contains("77 x")).collect();
        assert_eq!(found, expected[expected.len() - 3..]);
    }

    #[test]
    fn ten_megabytes_on_one_line_and_bad_bytes_are_bounded() {
        let mut content = vec![b'x'; 10 * 1024 * 1024];
        content.extend(b"\nshort \xc3\x28\n");
        let tail = backward(Cursor::new(&content), 2, None).expect("memory can be read");
        assert_eq!(tail.lines.iter().map(String::len).collect::<Vec<_>>(), [LINE_BYTES_MAX + '…'.len_utf8(), 10]);
        assert!(!tail.has_more);
        let head = forward(Cursor::new(&content), 1, 10).expect("memory can be read");
        assert_eq!(head, tail);
    }

    #[test]
    fn a_text_has_a_size_as_well_as_a_length() {
        let content = format!("{}\n", "y".repeat(1_000)).repeat(500);
        for excerpt in [backward(Cursor::new(&content), 500, None), forward(Cursor::new(&content), 1, 500)] {
            let excerpt = excerpt.expect("memory can be read");
            assert_eq!((excerpt.lines.len(), excerpt.has_more, excerpt.cut), (65, true, true));
        }
    }

    #[test]
    fn reading_forward_begins_at_a_line() {
        let excerpt = forward(Cursor::new("1\n2\n3\n4"), 2, 2).expect("memory can be read");
        assert_eq!((excerpt.lines.into_iter().collect::<String>(), excerpt.has_more), ("23".to_owned(), true));
        let excerpt = forward(Cursor::new("1\n2\n3\n4"), 3, 2).expect("memory can be read");
        assert_eq!((excerpt.lines.into_iter().collect::<String>(), excerpt.has_more), ("34".to_owned(), false));
        assert_eq!(forward(Cursor::new("1\n"), 9, 2).expect("memory can be read"), Excerpt::default());
    }

    #[test]
    fn output_is_split_like_a_file() {
        assert_eq!(split(b""), [""; 0]);
        assert_eq!(split(b"a\n\nb\n"), ["a", "", "b"]);
    }

    #[test]
    fn a_window_inside_a_key_begins_like_the_key() {
        let file = b"note\n-----BEGIN RSA PRIVATE KEY-----\nAAAA\nBBBB\n-----END RSA PRIVATE KEY-----\nafter\n";
        let seen = |from| forward(&file[..], from, 2).expect("it is read").lines.into_iter().collect::<Vec<_>>();
        assert_eq!(seen(4), ["-----BEGIN RSA PRIVATE KEY-----", "BBBB"]);
        assert_eq!(seen(6), ["after"]);
        assert_eq!(seen(1), ["note", "-----BEGIN RSA PRIVATE KEY-----"]);
    }
}
