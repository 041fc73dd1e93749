//! Each kind of neutral block as lines. Cutting, markup and buttons are elsewhere.

use countersign_core::port::{Block, Choice};
use countersign_core::value::is_technical;

use super::line::{Line, Span, Style, fits_fence};
use super::table;

/// How a message is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawing {
    /// Whether there is room for any width, as in a file.
    pub(super) wide: bool,
    /// Whether each character of prose is shown as it is, as on a plan's card.
    pub(super) verbatim: bool,
}

/// A block as lines. `at` is its position in the message.
pub(super) fn lines(at: usize, block: &Block, drawing: Drawing) -> Vec<Line> {
    match block {
        Block::Text { text } => text.lines().map(|line| Line::prose(words(line, drawing))).collect(),
        Block::Quote { text } => text.lines().map(|line| Line::quoted(at, words(line, drawing))).collect(),
        Block::Code { text } if fits_fence(text) => text.lines().map(|line| Line::fenced(at, line)).collect(),
        Block::Code { text } => text.lines().map(Line::plain).collect(),
        Block::Fields { fields } => fields.iter().flat_map(|(name, value)| field(name, value)).collect(),
        Block::Table { columns, rows } => table::table(at, columns, rows, drawing.wide),
        Block::Choices { choices, .. } => listed(choices),
        // Its buttons say all.
        Block::Card { .. } => Vec::new(),
    }
}

/// A line of prose, in which the core writes `words to type` between backticks. In a file they stay, and on a card nothing
/// is read into what it shows.
fn words(line: &str, drawing: Drawing) -> Vec<Span> {
    if drawing.wide || drawing.verbatim {
        return vec![Span::new(Style::Plain, line)];
    }
    let mut spans = Vec::new();
    let mut rest = line;
    while let Some((before, quoted, after)) = quoted(rest) {
        spans.push(Span::new(Style::Plain, before));
        spans.push(Span::new(Style::Code, quoted));
        rest = after;
    }
    spans.push(Span::new(Style::Plain, rest));
    spans
}

/// What stands before the first pair of backticks with words right between them, those, and what follows.
fn quoted(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices('`').find_map(|(open, _)| {
        let inside = text.get(open + 1..)?;
        let close = inside.find('`')?;
        let quoted = &inside[..close];
        (!quoted.is_empty() && quoted.trim() == quoted).then(|| (&text[..open], quoted, &inside[close + 1..]))
    })
}

/// A name and its value; the further lines of a value stand under it.
fn field(name: &str, value: &str) -> Vec<Line> {
    let style = if is_technical(value) { Style::Code } else { Style::Plain };
    let mut lines = value.lines();
    let first = vec![
        Span::new(Style::Bold, name),
        Span::new(Style::Plain, ": "),
        Span::new(style, lines.next().unwrap_or_default()),
    ];
    std::iter::once(Line::prose(first)).chain(lines.map(Line::plain)).collect()
}

/// What the choices' buttons do not say. Nothing where they say all.
fn listed(choices: &[Choice]) -> Vec<Line> {
    let says_more = |choice: &Choice| !choice.about.is_empty() || !super::keyboard::fits(&choice.label);
    if !choices.iter().any(says_more) {
        return Vec::new();
    }
    let line = |(choice, number): (&Choice, usize)| match choice.about.as_str() {
        "" => Line::plain(&format!("{number}) {}", choice.label)),
        about => Line::plain(&format!("{number}) {} - {about}", choice.label)),
    };
    choices.iter().zip(1..).map(line).collect()
}
