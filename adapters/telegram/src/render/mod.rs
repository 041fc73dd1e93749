//! Turns an outgoing message into what Telegram takes: messages in its HTML, each with a plain text to fall back to, an
//! inline keyboard on the last, or a file where it is too long. Pure. The source is cut and each piece is then drawn, so
//! that no tag, entity or character is ever cut. Sending is elsewhere.

mod block;
mod keyboard;
mod line;
mod mention;
mod pack;
mod table;

use countersign_core::port::{Block, DeliveryNotes, Lane, Mark, Outgoing};

use self::block::Drawing;
use self::line::Line;

pub(crate) use self::keyboard::{Keyboard, Unfit};

/// A longer message becomes a file (DAT-04). A plan's card never does: what is approved must be seen whole.
const PARTS_MAX: usize = 4;

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

/// The text of one message: never empty, and as long as Telegram allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// For `parse_mode` HTML.
    pub(crate) html: String,
    /// The same without markup, where Telegram cannot parse that.
    pub(crate) plain: String,
    /// What can be pressed.
    pub(crate) keyboard: Option<Keyboard>,
}

impl Text {
    /// The same with the notes of its delivery before its own words. There is always room for them.
    pub(crate) fn noting(self, notes: DeliveryNotes) -> Self {
        let Some(notes) = notes.text() else { return self };
        let (html, plain) = (format!("<i>{notes}</i>\n{}", self.html), format!("{notes}\n{}", self.plain));
        Self { html, plain, ..self }
    }
}

/// A message as its parts, in order, at least one; the same parts each time, so that a delivery that broke off can go on
/// where it was. `post` is the id of its outbox row: a button carries it back. No I/O.
pub(crate) fn message(message: &Outgoing, post: &str) -> Result<Vec<Part>, Unfit> {
    let keyboard = keyboard::keyboard(&message.blocks, post)?;
    if is_lasting(message) {
        return Ok(parts(&pack::pack(whole(message, LASTING), pack::SPARING), keyboard));
    }
    let texts = pack::pack(whole(message, Drawing { wide: false, verbatim: false }), pack::FULL);
    if texts.len() <= PARTS_MAX {
        return Ok(parts(&texts, keyboard));
    }
    let document = document(message);
    let mut parts = parts(&pack::pack(announced(message, &document), pack::FULL), keyboard);
    parts.push(Part::Document { name: DOCUMENT_NAME.to_owned(), bytes: document.into_bytes() });
    Ok(parts)
}

/// A message that takes the place of one that was delivered in so many parts, as at most as many texts. A card that has
/// grown too long for its place is an error: it must not be decided, or be said to be decided, by half of it. No I/O.
pub(crate) fn in_place(message: &Outgoing, post: &str, places: usize) -> Result<Vec<Text>, Unfit> {
    let keyboard = keyboard::keyboard(&message.blocks, post)?;
    let fitted = pack::fit(whole(message, LASTING), places).ok_or(Unfit::Place(places))?;
    Ok(texts(&fitted, keyboard))
}

/// How a message is drawn that stays in its place and says more later: whole and as it is.
const LASTING: Drawing = Drawing { wide: false, verbatim: true };

/// Whether a message will have others in its place: a plan's card, and progress.
fn is_lasting(message: &Outgoing) -> bool {
    message.lane == Lane::Progress || message.blocks.iter().any(|block| matches!(block, Block::Card { .. }))
}

fn parts(drawn: &[Vec<Line>], keyboard: Option<Keyboard>) -> Vec<Part> {
    texts(drawn, keyboard).into_iter().map(Part::Message).collect()
}

/// Each as a text, with the keyboard on the last.
fn texts(drawn: &[Vec<Line>], keyboard: Option<Keyboard>) -> Vec<Text> {
    let text = |lines: &Vec<Line>| Text { html: line::html(lines), plain: line::plain(lines), keyboard: None };
    let mut texts: Vec<Text> = drawn.iter().map(text).collect();
    if let Some(last) = texts.last_mut() {
        last.keyboard = keyboard;
    }
    texts
}

/// All of a message as lines, the mark first.
fn whole(message: &Outgoing, drawing: Drawing) -> Vec<Line> {
    let body = message.blocks.iter().enumerate().flat_map(|(at, block)| block::lines(at, block, drawing));
    marked(message, body.collect())
}

/// The lines with the message's mark before the first, or above it where that is no prose. A message that would say
/// nothing says so: Telegram takes no empty one.
fn marked(message: &Outgoing, mut lines: Vec<Line>) -> Vec<Line> {
    let (emoji, word) = mark(message.mark);
    let starts_with_text = matches!(message.blocks.first(), Some(Block::Text { .. }));
    let is_blank = lines.iter().all(|line| line.text().trim().is_empty());
    match lines.first_mut() {
        Some(first) if starts_with_text && !emoji.is_empty() => first.lead(&format!("{emoji} ")),
        Some(_) | None if !emoji.is_empty() => lines.insert(0, Line::plain(&format!("{emoji} {word}"))),
        Some(_) if !is_blank => {}
        Some(_) | None => lines.push(Line::plain("(nothing to show)")),
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
