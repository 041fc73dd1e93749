//! Turns an outgoing message into lines of text, for a given width. Pure. Everything in it is made harmless for a terminal
//! here; the only control characters that leave are newlines and the marks' own colours.

mod card;
mod table;
mod wrap;

use countersign_core::port::{Block, Choice, DeliveryNotes, Mark, Outgoing};
use unicode_width::UnicodeWidthStr as _;

use crate::clean;
use crate::render::wrap::{hang, wrap};

/// In a transcript, what answers no line above it begins with this.
const NOTICE: &str = "(notice) ";

/// Each line of a notice begins with this.
const NOTICE_SIGN: &str = "* ";

/// Each line of a quotation begins with this.
const QUOTED: &str = "| ";

/// Names of fields are aligned up to this width; a longer one keeps its value to itself.
const FIELD_COLUMNS_MAX: usize = 30;

/// How wide lines may be, in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width {
    /// Prose.
    pub(crate) text: usize,
    /// A row of a table.
    pub(crate) row: usize,
}

impl Width {
    /// Both as wide as the terminal; one narrower than 20 columns is drawn as if it had them.
    pub(crate) fn terminal(columns: usize) -> Self {
        let columns = columns.max(20);
        Self { text: columns, row: columns }
    }
}

impl Default for Width {
    /// Where the width is unknown, as in a pipe: prose that is pleasant to read, and rows that keep their names whole.
    fn default() -> Self {
        Self { text: 100, row: 120 }
    }
}

/// How a message is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) width: Width,
    /// Whether marks and diffs are coloured. Marks are words, and a diff has its signs, all the same.
    pub(crate) colour: bool,
    /// Whether a person is at the keys, and can decide a card by a word alone.
    pub(crate) keys: bool,
}

/// A message as lines, each with its end. Nothing where the message says nothing.
pub(crate) fn message(message: &Outgoing, notes: DeliveryNotes, style: Style) -> String {
    ended(&lines(message, &noted(notes), style))
}

/// A message that answers no line above it: it says so, and each of its lines begins with the same sign, so that where it
/// ends is as plain as where it begins.
pub(crate) fn notice(message: &Outgoing, notes: DeliveryNotes, style: Style) -> String {
    let less = |columns: usize| columns.saturating_sub(NOTICE_SIGN.len());
    let width = Width { text: less(style.width.text), row: less(style.width.row) };
    let lead = format!("{NOTICE}{}", noted(notes));
    let signed = lines(message, &lead, Style { width, ..style }).into_iter();
    let signed: Vec<String> = signed.map(|line| format!("{NOTICE_SIGN}{line}").trim_end().to_owned()).collect();
    ended(&signed)
}

/// The notes of its delivery as a message begins with them.
fn noted(notes: DeliveryNotes) -> String {
    notes.text().map_or_else(String::new, |notes| format!("{notes} "))
}

fn lines(message: &Outgoing, before: &str, style: Style) -> Vec<String> {
    let mark = mark(message.mark);
    let separator = if mark.word.contains(' ') { ": " } else { " " };
    let lead = if mark.word.is_empty() { String::new() } else { format!("{}{separator}", mark.word) };
    let lead = format!("{before}{lead}");
    let is_card = message.blocks.iter().any(|block| matches!(block, Block::Card { .. }));
    let mut lines = Vec::new();
    let mut blocks = message.blocks.iter();
    match blocks.as_slice().first() {
        Some(Block::Text { text }) if !lead.is_empty() => {
            lines.extend(prose(&format!("{lead}{text}"), style.width));
            blocks.next();
        }
        Some(_) | None if !lead.is_empty() => lines.push(lead.trim_end_matches([' ', ':']).to_owned()),
        Some(_) | None => {}
    }
    lines.extend(blocks.flat_map(|block| match block {
        Block::Code { text } if is_card && style.colour => card::diff(text),
        block => self::block(block, style),
    }));
    if style.colour
        && let Some(first) = lines.first_mut()
    {
        *first = coloured(first, &mark);
    }
    lines
}

/// A sentence of the console's own, drawn like a message that has this mark.
pub(crate) fn sentence(kind: Mark, text: &str, style: Style) -> String {
    let word = mark(kind).word;
    let text = if word.is_empty() { text.to_owned() } else { format!("{word}: {text}") };
    ended(&prose(&text, style.width))
}

/// Lines with their ends.
fn ended(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

struct Drawn {
    word: &'static str,
    colour: &'static str,
}

/// A mark is a word or a sign that reads without its colour.
fn mark(mark: Mark) -> Drawn {
    match mark {
        Mark::Plain => Drawn { word: "", colour: "" },
        Mark::Question => Drawn { word: "?", colour: "\u{1b}[36m" },
        Mark::Refused => Drawn { word: "✗ refused", colour: "\u{1b}[33m" },
        Mark::Failed => Drawn { word: "! failed", colour: "\u{1b}[31m" },
    }
}

/// The mark in colour. It stands before any text of the message, so that the first occurrence is its own.
fn coloured(line: &str, mark: &Drawn) -> String {
    if mark.word.is_empty() {
        return line.to_owned();
    }
    line.replacen(mark.word, &format!("{}{}\u{1b}[0m", mark.colour, mark.word), 1)
}

fn block(block: &Block, style: Style) -> Vec<String> {
    let width = style.width;
    match block {
        Block::Text { text } => prose(text, width),
        Block::Quote { text } => quotation(text, width),
        // Never wrapped: what is copied from here must be what it was.
        Block::Code { text } => clean::visible(text).lines().map(|line| format!("  {line}")).collect(),
        Block::Fields { fields } => self::fields(fields, width.text),
        Block::Table { columns, rows } => table::table(columns, rows, width.row),
        Block::Card { plan, choices, .. } => card::card(plan, choices, style),
        Block::Choices { choices, .. } => {
            choices.iter().zip(1..).flat_map(|(choice, n)| self::choice(n, choice, width.text)).collect()
        }
    }
}

/// A model's words, each line with a sign that no line of the bot's own begins with.
fn quotation(text: &str, width: Width) -> Vec<String> {
    let width = Width { text: width.text.saturating_sub(QUOTED.len()), ..width };
    prose(text, width).iter().map(|line| format!("{QUOTED}{line}").trim_end().to_owned()).collect()
}

fn prose(text: &str, width: Width) -> Vec<String> {
    clean::visible(text).lines().flat_map(|line| wrap(line, width.text)).collect()
}

fn fields(fields: &[(String, String)], width: usize) -> Vec<String> {
    let names: Vec<String> = fields.iter().map(|(name, _)| format!("{}:", clean::visible_line(name))).collect();
    let aligned = names.iter().map(|name| name.width()).filter(|&columns| columns <= FIELD_COLUMNS_MAX).max();
    let aligned = aligned.unwrap_or(0) + 1;
    let field = |(name, (_, value)): (&String, &(String, String))| {
        let lead = format!("{name}{}", " ".repeat(aligned.saturating_sub(name.width()).max(1)));
        hang(&lead, &clean::visible(value), width)
    };
    names.iter().zip(fields).flat_map(field).collect()
}

fn choice(number: u32, choice: &Choice, width: usize) -> Vec<String> {
    let label = clean::visible_line(&choice.label);
    let about = clean::visible_line(&choice.about);
    let text = if about.is_empty() { label } else { format!("{label} - {about}") };
    hang(&format!("  {number}) "), &text, width)
}

#[cfg(test)]
mod tests;
