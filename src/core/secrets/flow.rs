//! Objects with brackets anywhere in a text: JSON, flow YAML, literals of Python, whole or cut off. One pass that
//! forgives: what stands between objects, and brackets that do not match, are passed over.

use std::ops::Range;

use super::names::class_of_name;
use super::rules::{Find, is_nothing, looks_random};
use super::structure::Object;

/// How deep objects are followed. Deeper ones are no document.
const DEPTH_MAX: usize = 128;

/// A text in an object.
struct Leaf {
    key: Range<usize>,
    at: Range<usize>,
}

/// A key, and which leaves are under it.
struct Field {
    key: Range<usize>,
    leaves: Range<usize>,
}

/// An object or a list that is still open.
struct Frame {
    is_map: bool,
    object: Object,
    fields: Vec<Field>,
    /// A text of which it is not known yet whether it is a key.
    word: Option<Range<usize>>,
    key: Option<Range<usize>>,
    first_leaf: usize,
}

/// One pass over a text.
struct Reader<'t> {
    text: &'t str,
    stack: Vec<Frame>,
    leaves: Vec<Leaf>,
    finds: Vec<Find>,
}

/// Secrets in every object of the text.
pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut reader = Reader::new(text);
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        at = if reader.stack.is_empty() && !matches!(byte, b'{' | b'[') {
            // Between objects nothing counts.
            text.get(at..).and_then(|rest| rest.find(['{', '['])).map_or(text.len(), |next| at + next)
        } else {
            reader.step(at, *byte)
        };
    }
    while !reader.stack.is_empty() {
        reader.close();
    }
    reader.finds
}

/// The plain texts in a value that is written with brackets.
pub(super) fn texts(text: &str, value: Range<usize>) -> Vec<Range<usize>> {
    let inside = text.get(value.clone()).unwrap_or_default();
    let mut reader = Reader::new(inside);
    let mut at = 0;
    while let Some(byte) = inside.as_bytes().get(at) {
        at = reader.step(at, *byte);
    }
    while !reader.stack.is_empty() {
        reader.close();
    }
    reader.leaves.into_iter().map(|leaf| value.start + leaf.at.start..value.start + leaf.at.end).collect()
}

impl<'t> Reader<'t> {
    const fn new(text: &'t str) -> Self {
        Self { text, stack: Vec::new(), leaves: Vec::new(), finds: Vec::new() }
    }

    fn get(&self, at: &Range<usize>) -> &'t str {
        self.text.get(at.clone()).unwrap_or_default()
    }

    /// Reads one token and returns where the next begins.
    fn step(&mut self, at: usize, byte: u8) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        match byte {
            b'[' if rest.starts_with("[masked: ") => {
                let end = at + rest.find(']').map_or(rest.len(), |end| end + 1);
                self.word(at..end);
                return end;
            }
            b'{' | b'[' => self.open(byte == b'{'),
            b'}' | b']' => self.close(),
            b',' => self.settle(),
            b':' => self.colon(),
            b'"' | b'\'' if self.stack.last().is_some_and(|frame| frame.word.is_none()) => {
                let end = quoted(rest, byte).unwrap_or_else(|| line_end(rest));
                let closed = rest.as_bytes().get(end.saturating_sub(1)) == Some(&byte) && end > 1;
                self.word(at + 1..at + if closed { end - 1 } else { end });
                return at + end.max(1);
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => {
                let end = bare(rest).max(1);
                let end = (end..=rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
                let trimmed = rest.get(..end).unwrap_or_default().trim_end();
                self.word(at..at + trimmed.len());
                return at + end;
            }
        }
        at + 1
    }

    fn open(&mut self, is_map: bool) {
        if self.stack.len() >= DEPTH_MAX {
            self.stack.clear();
            self.leaves.clear();
        }
        let first_leaf = self.leaves.len();
        self.stack.push(Frame {
            is_map,
            object: Object::default(),
            fields: Vec::new(),
            word: None,
            key: None,
            first_leaf,
        });
    }

    /// A text. The next token tells whether it is a key. Several words without quotes are one text, but not over lines.
    fn word(&mut self, at: Range<usize>) {
        let Some(before) = self.stack.last().map(|frame| frame.word.clone()) else { return };
        let is_one_line = |before: &Range<usize>| !self.get(&(before.end..at.start)).contains('\n');
        let word = match before {
            Some(before) if is_one_line(&before) => before.start..at.end,
            Some(_) => {
                self.settle();
                at
            }
            None => at,
        };
        if let Some(frame) = self.stack.last_mut() {
            frame.word = Some(word);
        }
    }

    fn colon(&mut self) {
        let Some(frame) = self.stack.last_mut() else { return };
        if frame.is_map && frame.key.is_none() {
            frame.key = frame.word.take();
        }
    }

    /// Ends a field or an item.
    fn settle(&mut self) {
        let text = self.text;
        let Some(frame) = self.stack.last_mut() else { return };
        let key = frame.key.take();
        if let Some(at) = frame.word.take() {
            let get = |at: &Range<usize>| text.get(at.clone()).unwrap_or_default();
            if let Some(key) = &key {
                frame.object.note(get(key), get(&at));
                let leaf = self.leaves.len();
                frame.fields.push(Field { key: key.clone(), leaves: leaf..leaf + 1 });
            }
            self.leaves.push(Leaf { key: key.unwrap_or(0..0), at });
        }
    }

    fn close(&mut self) {
        self.settle();
        let Some(frame) = self.stack.pop() else { return };
        for field in &frame.fields {
            let leaves = self.leaves.get(field.leaves.clone()).unwrap_or_default();
            let key = self.get(&field.key);
            let Some(cover) = frame.object.cover(key, leaves.iter().map(|leaf| self.get(&leaf.at))) else { continue };
            let covered = leaves.iter().filter(|leaf| {
                let own = if leaves.len() == 1 && leaf.key == field.key { "" } else { self.get(&leaf.key) };
                cover.holds(own, self.get(&leaf.at))
            });
            let covered: Vec<_> = covered.map(|leaf| Find { at: leaf.at.clone(), class: cover.class }).collect();
            self.finds.extend(covered);
        }
        if !frame.is_map {
            self.list(frame.first_leaf);
        }
        let leaves = frame.first_leaf..self.leaves.len();
        if let Some(parent) = self.stack.last_mut()
            && let Some(key) = parent.key.take()
        {
            parent.fields.push(Field { key, leaves });
        }
    }

    /// A list of arguments, and a list of a name and its value.
    fn list(&mut self, first: usize) {
        let leaves = self.leaves.get(first..).unwrap_or_default();
        for pair in leaves.windows(2) {
            let [name, value] = pair else { continue };
            let (named, text) = (self.get(&name.at), self.get(&value.at));
            let is_flag = named.starts_with('-') && !text.starts_with('-') && !is_nothing(text);
            let is_pair = leaves.len() == 2 && looks_random(text);
            if let Some(class) = class_of_name(named).filter(|_| is_flag || is_pair)
                && !text.starts_with("[masked: ")
            {
                self.finds.push(Find { at: value.at.clone(), class });
            }
        }
    }
}

/// The length of a quoted text with its quotes, where it ends on its line.
fn quoted(text: &str, quote: u8) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'\n' => return None,
            _ if byte == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn line_end(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The length of a text without quotes: up to a sign of structure. A colon inside a word is none.
fn bare(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = |(at, byte): (usize, &u8)| match byte {
        b',' | b'{' | b'}' | b'[' | b']' | b'"' | b'\n' => true,
        b':' => bytes.get(at + 1).is_none_or(|next| next.is_ascii_whitespace() || matches!(next, b'"' | b'\'')),
        _ => false,
    };
    bytes.iter().enumerate().position(|(at, byte)| ends((at, byte))).unwrap_or(bytes.len())
}
