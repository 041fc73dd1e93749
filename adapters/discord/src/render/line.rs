//! The form between neutral blocks and Discord's markup: lines of styled spans. What they cost of a message, where a line
//! that is too long is cut, and how lines are written with markup or as plain text. What stands on them is the blocks'.

use super::escape::{escaped, units};

/// What stands around preformatted lines.
const FENCE: &str = "```";

/// What a fence takes of a message, at both ends, with its line breaks.
pub(super) const FENCE_UNITS: usize = 2 * (FENCE.len() + 1);

/// How a span looks. Discord knows more; this is all that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Code,
}

/// A piece of a line. Its text has no line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    style: Style,
    text: String,
}

impl Span {
    /// Code that has backticks in it, or nothing, is no code: nothing takes the meaning from them there.
    pub(super) fn new(style: Style, text: &str) -> Self {
        let text = text.replace(['\n', '\r'], " ");
        let style = if style == Style::Code && !is_code(&text) { Style::Plain } else { style };
        Self { style, text }
    }

    /// What its markup takes.
    const fn frame(&self) -> usize {
        match self.style {
            Style::Plain => 0,
            Style::Bold => 4,
            Style::Code => 2,
        }
    }
}

fn is_code(text: &str) -> bool {
    !text.contains('`') && !text.trim().is_empty() && text.trim() == text
}

/// One line. Lines of the same preformatted block that follow each other are drawn as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The preformatted block that it belongs to, by its position in the message.
    pub(super) fence: Option<usize>,
    /// The quotation that it belongs to, by its position in the message.
    quote: Option<usize>,
    spans: Vec<Span>,
}

impl Line {
    /// A line of prose.
    pub(super) fn prose(spans: Vec<Span>) -> Self {
        Self { fence: None, quote: None, spans: joined(spans) }
    }

    /// A line of prose in one style.
    pub(super) fn plain(text: &str) -> Self {
        Self::prose(vec![Span::new(Style::Plain, text)])
    }

    /// A line of the preformatted block at this position of the message.
    pub(super) fn fenced(fence: usize, text: &str) -> Self {
        Self { fence: Some(fence), quote: None, spans: vec![Span::new(Style::Plain, text)] }
    }

    /// A line of the quotation at this position of the message.
    pub(super) fn quoted(quote: usize, spans: Vec<Span>) -> Self {
        Self { quote: Some(quote), ..Self::prose(spans) }
    }

    /// Returns the block or the quotation that it belongs to: lines of the same one that follow each other are drawn as one.
    pub(super) const fn frame(&self) -> (Option<usize>, Option<usize>) {
        (self.fence, self.quote)
    }

    /// Returns what stands before it in plain text.
    pub(super) const fn sign(&self) -> &'static str {
        if self.quote.is_some() { QUOTED } else { "" }
    }

    /// Puts a text before the line.
    pub(super) fn lead(&mut self, text: &str) {
        self.spans.insert(0, Span::new(Style::Plain, text));
        self.spans = joined(std::mem::take(&mut self.spans));
    }

    /// What stands on it.
    pub(super) fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// The most that it takes of a message, in UTF-16 units, without its end and without its fence.
    pub(super) fn cost(&self) -> usize {
        let spans = self.spans.iter();
        let spans = spans.map(|span| span.frame() + span.text.chars().map(|c| self.units(c)).sum::<usize>());
        self.sign().len() + spans.sum::<usize>()
    }

    const fn units(&self, c: char) -> usize {
        if self.fence.is_some() { c.len_utf16() } else { units(c) }
    }

    /// The line as two, the first of which fits the room: it ends in `…`, and the second begins with one. Nothing is lost.
    pub(super) fn cut(&self, room: usize) -> (Self, Self) {
        let room = room.saturating_sub(1);
        let mut used = 0;
        for (at, span) in self.spans.iter().enumerate() {
            used += span.frame();
            for (byte, c) in span.text.char_indices() {
                used += self.units(c);
                if used > room {
                    return self.cut_at(at, byte);
                }
            }
        }
        (self.clone(), self.with(Vec::new()))
    }

    fn cut_at(&self, at: usize, byte: usize) -> (Self, Self) {
        let (before, rest) = self.spans.split_at(at);
        let mut head = before.to_vec();
        let mut tail = vec![Span::new(Style::Plain, "…")];
        if let Some((span, after)) = rest.split_first() {
            let (kept, left) = span.text.split_at(byte);
            head.push(Span::new(span.style, kept));
            tail.push(Span::new(span.style, left));
            tail.extend_from_slice(after);
        }
        head.push(Span::new(Style::Plain, "…"));
        (self.with(head), self.with(tail))
    }

    /// Other spans in the same place.
    fn with(&self, spans: Vec<Span>) -> Self {
        Self { fence: self.fence, quote: self.quote, spans: joined(spans) }
    }
}

/// Neighbours of one style as one span: two pieces of bold side by side would be read as something else.
fn joined(spans: Vec<Span>) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    for span in spans.into_iter().filter(|span| !span.text.is_empty()) {
        match out.last_mut().filter(|last| last.style == span.style) {
            Some(last) => last.text.push_str(&span.text),
            None => out.push(span),
        }
    }
    out
}

/// Whether a preformatted text can stand in a fence: one that holds a fence itself would end it.
pub(super) fn fits_fence(text: &str) -> bool {
    !text.contains(FENCE)
}

/// Lines with Discord's markup.
pub(super) fn markup(lines: &[Line]) -> String {
    let drawn = |run: &[Line]| {
        if run.first().is_some_and(|line| line.fence.is_some()) {
            format!("{FENCE}\n{}\n{FENCE}", text(run))
        } else {
            run.iter().map(line_markup).collect::<Vec<_>>().join("\n")
        }
    };
    let runs: Vec<String> = lines.chunk_by(|a, b| a.frame() == b.frame()).map(drawn).collect();
    runs.join("\n")
}

fn line_markup(line: &Line) -> String {
    let spans = line.spans.iter().enumerate();
    let drawn: String = spans.map(|(at, span)| span_markup(span, at == 0)).collect();
    format!("{}{drawn}", line.sign())
}

fn span_markup(span: &Span, at_start: bool) -> String {
    match span.style {
        Style::Plain => escaped(&span.text, at_start),
        Style::Bold => format!("**{}**", escaped(&span.text, false)),
        Style::Code => format!("`{}`", span.text),
    }
}

/// The sign of each line of a quotation.
const QUOTED: &str = "> ";

/// Lines as text, exactly; each line of a quotation with its sign.
pub(super) fn text(lines: &[Line]) -> String {
    let shown = |line: &Line| format!("{}{}", line.sign(), line.text());
    lines.iter().map(shown).collect::<Vec<_>>().join("\n")
}
