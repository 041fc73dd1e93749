//! Turns an outgoing message into what Matrix takes: messages in its HTML, each with a plain text to fall back to, the
//! reactions that stand for buttons on the last, or a file where it is too long. Pure. The source is cut and each piece is
//! then drawn, so that no tag, entity or character is ever cut. Sending is elsewhere.

mod block;
mod line;
mod link;
mod pack;
mod seeds;
mod table;

use std::fmt;

use countersign_core::port::{Block, DeliveryNotes, Lane, Mark, Outgoing};

use self::block::Drawing;
use self::line::Line;

pub(crate) use self::seeds::sign;

/// A longer message becomes a file (DAT-04): these are some 250 lines. A plan's card never does: what is approved must be
/// seen whole.
const PARTS_MAX: usize = 2;

/// The most characters of its first line by which a file is announced.
const TITLE_CHARS_MAX: usize = 300;

/// What a file is called.
const DOCUMENT_NAME: &str = "answer.txt";

/// One thing to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A message.
    Message(Text),
    /// A file.
    Document {
        /// What it is called.
        name: String,
        /// UTF-8.
        bytes: Vec<u8>,
    },
}

/// The text of one message: never empty, and small enough for an encrypted event, also as an edit, which holds it twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// `formatted_body`, in the format `org.matrix.custom.html`.
    pub(crate) html: String,
    /// `body`: the same without markup.
    pub(crate) plain: String,
    /// Whether it is an `m.notice`, for which clients wake nobody: progress is one. What somebody waits for or has to decide
    /// is an `m.text`.
    pub(crate) notice: bool,
    /// The reactions that the bot gives to it itself, in this order, so that a tap gives one more.
    pub(crate) reactions: Vec<&'static str>,
}

impl Text {
    /// The same with the notes of its delivery before its own words. There is always room for them.
    pub(crate) fn noting(self, notes: DeliveryNotes) -> Self {
        let Some(notes) = notes.text() else { return self };
        let (html, plain) = (format!("<em>{notes}</em><br>{}", self.html), format!("{notes}\n{}", self.plain));
        Self { html, plain, ..self }
    }
}

/// A message that does not fit into the messages whose place it is to take, which are so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong(pub(crate) usize);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it is longer than what it takes the place of, which has {} parts", self.0)
    }
}

/// A message as its parts, in order, at least one; the same parts each time, so that a delivery that broke off can go on
/// where it was. No I/O.
pub(crate) fn message(message: &Outgoing) -> Vec<Part> {
    if is_lasting(message) {
        return parts(message, &pack::pack(whole(message, LASTING), pack::SPARING));
    }
    let texts = pack::pack(whole(message, Drawing { wide: false, verbatim: false }), pack::FULL);
    if texts.len() <= PARTS_MAX {
        return parts(message, &texts);
    }
    let document = document(message);
    let mut parts = parts(message, &pack::pack(announced(message, &document), pack::FULL));
    parts.push(Part::Document { name: DOCUMENT_NAME.to_owned(), bytes: document.into_bytes() });
    parts
}

/// A message that takes the place of one that was delivered in so many parts, as at most as many texts. A card that has
/// grown too long for its place is an error: it must not be decided, or be said to be decided, by half of it. No I/O.
pub(crate) fn in_place(message: &Outgoing, places: usize) -> Result<Vec<Text>, TooLong> {
    let fitted = pack::fit(whole(message, LASTING), places).ok_or(TooLong(places))?;
    Ok(texts(message, &fitted))
}

/// How a message is drawn that stays in its place and says more later: whole and as it is.
const LASTING: Drawing = Drawing { wide: false, verbatim: true };

/// Whether a message will have others in its place: a plan's card, and progress.
fn is_lasting(message: &Outgoing) -> bool {
    message.lane == Lane::Progress || message.blocks.iter().any(|block| matches!(block, Block::Card { .. }))
}

fn parts(message: &Outgoing, drawn: &[Vec<Line>]) -> Vec<Part> {
    texts(message, drawn).into_iter().map(Part::Message).collect()
}

/// Each as a text, with the reactions on the last.
fn texts(message: &Outgoing, drawn: &[Vec<Line>]) -> Vec<Text> {
    let notice = message.lane == Lane::Progress;
    let text =
        |lines: &Vec<Line>| Text { html: line::html(lines), plain: line::plain(lines), notice, reactions: Vec::new() };
    let mut texts: Vec<Text> = drawn.iter().map(text).collect();
    if let Some(last) = texts.last_mut() {
        last.reactions = seeds::of(&message.blocks);
    }
    texts
}

/// All of a message as lines, the mark first.
fn whole(message: &Outgoing, drawing: Drawing) -> Vec<Line> {
    let body = message.blocks.iter().enumerate().flat_map(|(at, block)| block::lines(at, block, drawing));
    marked(message, body.collect())
}

/// The lines with the message's mark before the first, or above it where that is no prose. A message that would say
/// nothing says so: an empty one is no answer.
fn marked(message: &Outgoing, mut lines: Vec<Line>) -> Vec<Line> {
    let (emoji, word) = mark(message.mark);
    let starts_with_text = matches!(message.blocks.first(), Some(Block::Text { .. }));
    let is_blank = lines.iter().all(|line| line.text().trim().is_empty());
    match lines.first_mut() {
        Some(first) if starts_with_text && !emoji.is_empty() => first.lead(&format!("{emoji} ")),
        Some(_) | None if !emoji.is_empty() => lines.insert(0, Line::plain(&format!("{emoji} {word}"))),
        Some(_) if !is_blank => {}
        Some(_) | None => return vec![Line::plain("(nothing to show)")],
    }
    lines
}

/// How a message stands to the world, and the word where it stands alone (FMT-04).
const fn mark(mark: Mark) -> (&'static str, &'static str) {
    match mark {
        Mark::Plain => ("", ""),
        Mark::Question => ("❓", "A question"),
        Mark::Refused => ("⛔", "Refused"),
        Mark::Failed => ("❌", "Failed"),
    }
}

/// The whole message as a text of its own, as wide as it likes to be.
fn document(message: &Outgoing) -> String {
    line::text(&whole(message, Drawing { wide: true, verbatim: false }))
}

/// What is said in the place of a message that is too long: its first line, how long it is, and what can be picked.
fn announced(message: &Outgoing, document: &str) -> Vec<Line> {
    let title = message.blocks.first().and_then(|block| match block {
        Block::Text { text } => text.lines().next(),
        Block::Quote { .. }
        | Block::Code { .. }
        | Block::Fields { .. }
        | Block::Table { .. }
        | Block::Choices { .. }
        | Block::Card { .. } => None,
    });
    let title = title.map(|title| Line::plain(&countersign_core::text::cut(title, TITLE_CHARS_MAX)));
    let length = format!(
        "This is too long for a message here: {} lines, {}. All of it is in the file.",
        document.lines().count(),
        size(document.len()),
    );
    let mut body: Vec<Line> = title.into_iter().chain([Line::plain(&length)]).collect();
    let drawing = Drawing { wide: false, verbatim: false };
    let choices = message.blocks.iter().enumerate().filter(|(_, block)| matches!(block, Block::Choices { .. }));
    body.extend(choices.flat_map(|(at, block)| block::lines(at, block, drawing)));
    marked(message, body)
}

/// Bytes for people.
fn size(bytes: usize) -> String {
    if bytes < 1024 { format!("{bytes} bytes") } else { format!("{} KiB", bytes.div_ceil(1024)) }
}

#[cfg(test)]
mod tests;
