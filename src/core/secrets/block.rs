//! Objects by indentation, as YAML has them, anywhere in a text: behind a heading, indented, several in a row, whole or
//! cut off. Each line is looked at once; nothing is expanded, so that anchors and aliases stay what they are.

use std::ops::Range;

use super::flow;
use super::rules::{Find, is_nothing};
use super::structure::Object;

/// How deep a document in the text of a document is followed.
const NESTED_MAX: usize = 3;
/// How deep objects are followed.
const DEPTH_MAX: usize = 64;

/// A line of the text.
struct Line {
    /// Where it begins to say something, and where it ends.
    at: Range<usize>,
    /// The column of what it says behind its dashes.
    column: usize,
    /// The column of its first dash.
    dash: Option<usize>,
    key: Option<Range<usize>>,
    /// What stands behind the key or the dashes.
    value: Range<usize>,
}

/// A key, and the lines of its value: the rest of its own and those below.
struct Field {
    key: Range<usize>,
    line: usize,
    end: usize,
}

struct Frame {
    column: usize,
    object: Object,
    fields: Vec<Field>,
}

/// A text under a key.
struct Leaf {
    key: Range<usize>,
    at: Range<usize>,
}

/// Secrets in every object of the text.
pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut found = Vec::new();
    read(text, 0, &mut found);
    found
}

fn read(text: &str, nested: usize, found: &mut Vec<Find>) {
    let lines: Vec<Line> = lines(text).collect();
    let mut stack: Vec<Frame> = Vec::new();
    let mut n = 0;
    while let Some(line) = lines.get(n) {
        let below = scalar(&lines, n, text);
        let outer = line.dash.unwrap_or(line.column);
        // A line without a key in the place of one ends the object, and so does the next item of a list.
        let is_other = line.key.is_none() && line.dash.is_none();
        let ends = |frame: &Frame| frame.column > outer || is_other && frame.column == outer;
        close(text, &lines, &mut stack, n, |frame| is_boundary(text, line) || ends(frame), found);
        if let Some(key) = &line.key {
            field(text, &mut stack, line, key, n);
        }
        if let (Some(first), Some(last)) = (lines.get(n + 1), lines.get(n + below))
            && below > 0
            && nested < NESTED_MAX
        {
            let start = line_start(text, first.at.start);
            let inside = found.len();
            read(text.get(start..last.at.end).unwrap_or_default(), nested + 1, found);
            for find in found.iter_mut().skip(inside) {
                find.at = find.at.start + start..find.at.end + start;
            }
        }
        n += 1 + below;
    }
    close(text, &lines, &mut stack, lines.len(), |_| true, found);
}

/// Adds a field to the object that it belongs to.
fn field(text: &str, stack: &mut Vec<Frame>, line: &Line, key: &Range<usize>, n: usize) {
    if stack.last().is_none_or(|frame| frame.column < line.column) {
        if stack.len() >= DEPTH_MAX {
            return;
        }
        stack.push(Frame { column: line.column, object: Object::default(), fields: Vec::new() });
    }
    let Some(frame) = stack.last_mut() else { return };
    if let Some(last) = frame.fields.last_mut().filter(|last| last.end == usize::MAX) {
        last.end = n;
    }
    let get = |at: &Range<usize>| text.get(at.clone()).unwrap_or_default();
    let value = get(&unquoted(text, &line.value));
    if !value.is_empty() {
        frame.object.note(get(key), value);
    }
    frame.fields.push(Field { key: key.clone(), line: n, end: usize::MAX });
}

/// Closes the objects on top that `ends` is true of, and adds what is secret in them.
fn close(
    text: &str,
    lines: &[Line],
    stack: &mut Vec<Frame>,
    end: usize,
    ends: impl Fn(&Frame) -> bool,
    found: &mut Vec<Find>,
) {
    let get = |at: &Range<usize>| text.get(at.clone()).unwrap_or_default();
    while let Some(frame) = stack.pop_if(|frame| ends(frame)) {
        for field in &frame.fields {
            let key = get(&field.key);
            // Most keys say nothing, and their values are not gone over.
            if !may_cover(&frame.object, key) {
                continue;
            }
            let leaves = leaves(text, lines, field.line, field.end.min(end));
            let Some(cover) = frame.object.cover(key, leaves.iter().map(|leaf| get(&leaf.at))) else { continue };
            let covered = leaves.iter().filter(|leaf| {
                let own = if leaf.key == field.key { "" } else { get(&leaf.key) };
                cover.holds(own, get(&leaf.at))
            });
            found.extend(covered.map(|leaf| Find { at: leaf.at.clone(), class: cover.class }));
        }
    }
}

/// Whether the key can cover anything at all, judged without its texts.
fn may_cover(object: &Object, key: &str) -> bool {
    object.cover(key, std::iter::once("QUJDREVGR0g1")).is_some()
}

/// The texts of a value: of the line with its key and of the lines below it up to `end`.
fn leaves(text: &str, lines: &[Line], first: usize, end: usize) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let mut n = first;
    while n < end {
        let Some(line) = lines.get(n) else { break };
        let below = scalar(lines, n, text).min(end - n - 1);
        let key = line.key.clone().unwrap_or(0..0);
        let value = line.value.clone();
        let starts_scalar = is_scalar_sign(text.get(value.clone()).unwrap_or_default());
        if starts_scalar || value.is_empty() {
            if let (Some(from), Some(to)) = (lines.get(n + 1), lines.get(n + below))
                && below > 0
            {
                leaves.push(Leaf { key, at: from.at.start..to.at.end });
            }
            n += 1 + below;
            continue;
        }
        // A plain or quoted text goes on in the lines below that are deeper and are no fields.
        let more = lines.get(n + 1..end).unwrap_or_default();
        let outer = line.dash.unwrap_or(line.column);
        let is_more =
            |more: &&Line| line.key.is_some() && more.key.is_none() && more.dash.is_none() && more.column > outer;
        let more = more.iter().take_while(is_more).count();
        let last = lines.get(n + more).map_or(value.end, |line| line.at.end);
        let whole = value.start..last.max(value.end);
        if text.get(value.clone()).is_some_and(|value| value.starts_with(['{', '[']) && !is_nothing(value)) {
            leaves.extend(flow::texts(text, whole).into_iter().map(|at| Leaf { key: key.clone(), at }));
        } else {
            leaves.push(Leaf { key, at: unquoted(text, &whole) });
        }
        n += 1 + more;
    }
    leaves
}

/// How many lines below belong to the block scalar that this line begins; none where it begins none.
fn scalar(lines: &[Line], n: usize, text: &str) -> usize {
    let Some(line) = lines.get(n) else { return 0 };
    if !is_scalar_sign(text.get(line.value.clone()).unwrap_or_default()) {
        return 0;
    }
    let below = lines.get(n + 1..).unwrap_or_default();
    below.iter().take_while(|below| below.dash.unwrap_or(below.column) > line.column).count()
}

/// `|`, `>-`, `|2+`, also behind a tag or an anchor.
fn is_scalar_sign(value: &str) -> bool {
    let sign = value.split_whitespace().next_back().unwrap_or_default();
    let before = value.split_whitespace().rev().skip(1);
    sign.starts_with(['|', '>'])
        && sign.len() <= 3
        && sign.chars().skip(1).all(|c| matches!(c, '+' | '-' | '1'..='9'))
        && before.into_iter().all(|word| word.starts_with(['!', '&']))
}

/// `---`, `...`, and lines that separate texts.
fn is_boundary(text: &str, line: &Line) -> bool {
    let said = text.get(line.at.clone()).unwrap_or_default();
    line.column == 0 && (said.starts_with("---") || said == "...")
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// The range without the quotes around it.
fn unquoted(text: &str, at: &Range<usize>) -> Range<usize> {
    let value = text.get(at.clone()).unwrap_or_default();
    for quote in ['"', '\''] {
        if let Some(inside) = value.strip_prefix(quote) {
            let end = inside.find(quote).map_or(at.end, |end| at.start + 1 + end);
            let escaped = quote == '"' && inside.contains('\\');
            let end = if escaped { inside.rfind(quote).map_or(at.end, |end| at.start + 1 + end) } else { end };
            return at.start + 1..end;
        }
    }
    // A line of JSON ends in a comma.
    at.start..at.start + value.trim_end_matches(',').len()
}

/// The lines that say something; empty ones and comments do not.
fn lines(text: &str) -> impl Iterator<Item = Line> {
    let mut from = 0;
    let raw = text.split_inclusive('\n').map(move |line| {
        let start = from;
        from += line.len();
        (start, line)
    });
    raw.filter_map(move |(start, line)| {
        let said = line.trim_end();
        let rest = said.trim_start_matches([' ', '\t']);
        (!rest.is_empty() && !rest.starts_with('#')).then(|| {
            let mut column = said.len() - rest.len();
            let first = column;
            let mut rest = rest;
            let mut dash = None;
            while let Some(inner) = rest.strip_prefix("- ").or((rest == "-").then_some("")) {
                dash = dash.or(Some(column));
                let trimmed = inner.trim_start();
                column += rest.len() - trimmed.len();
                rest = trimmed;
            }
            let begins = start + column;
            let end = start + said.len();
            let (key, value) = match key_of(rest) {
                Some((key, value)) => (Some(begins + key.start..begins + key.end), begins + value..end),
                None => (None, begins..end),
            };
            Line { at: start + first..end, column, dash, key, value }
        })
    })
}

/// The key at the beginning of a line, and where its value begins.
fn key_of(line: &str) -> Option<(Range<usize>, usize)> {
    let (key, after) = match line.chars().next()? {
        quote @ ('"' | '\'') => {
            let end = line.get(1..)?.find(quote)? + 1;
            (1..end, end + 1)
        }
        '{' | '[' | '}' | ']' => return None,
        _ => {
            let end = line.char_indices().skip(1).take(128).find(|(at, c)| {
                *c == ':' && line.get(at + 1..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
            })?;
            (0..end.0, end.0)
        }
    };
    let rest = line.get(after..)?.trim_start().strip_prefix(':')?;
    let value = rest.trim_start();
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| (key, line.len() - value.len()))
}
