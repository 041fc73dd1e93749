//! The form between neutral blocks and Telegram's HTML: lines of styled spans. What they cost of a message, where a line
//! that is too long is cut, and how lines are written as HTML or as plain text. What stands on them is the blocks'.

use super::mention;

/// How a span looks. Telegram's HTML knows more; this is all that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Code,
}

/// A piece of a line. Its text has no line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) style: Style,
    pub(super) text: String,
}

impl Span {
    pub(super) fn new(style: Style, text: &str) -> Self {
        Self { style, text: text.replace(['\n', '\r'], " ") }
    }
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

/// What lines take of the room in a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// UTF-16 code units, which is how Telegram counts.
    pub(super) units: usize,
    /// Bold and code. What comes after the hundredth in a message is silently dropped by Telegram.
    pub(super) entities: usize,
}

impl Cost {
    pub(super) const fn plus(self, other: Self) -> Self {
        Self { units: self.units + other.units, entities: self.entities + other.entities }
    }

    pub(super) const fn fits(self, room: Self) -> bool {
        self.units <= room.units && self.entities <= room.entities
    }
}

impl Line {
    /// A line of prose. A name that Telegram would take for a mention of somebody becomes code.
    pub(super) fn prose(spans: Vec<Span>) -> Self {
        let guarded = spans.into_iter().flat_map(mention::guarded).filter(|span| !span.text.is_empty());
        Self { fence: None, quote: None, spans: guarded.collect() }
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
    }

    /// What stands on it.
    pub(super) fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// What it costs, without its end and without its fence.
    pub(super) fn cost(&self) -> Cost {
        let units: usize = self.spans.iter().flat_map(|span| span.text.chars()).map(units).sum();
        let units = units + self.sign().len();
        Cost { units, entities: self.spans.iter().filter(|span| span.style != Style::Plain).count() }
    }

    /// The line as two, the first of which fits the room: it ends in `…`, and the second begins with one. Nothing is lost.
    pub(super) fn cut(&self, room: Cost) -> (Self, Self) {
        let room = Cost { units: room.units.saturating_sub(1), ..room };
        let mut used = Cost::default();
        for (at, span) in self.spans.iter().enumerate() {
            used.entities += usize::from(span.style != Style::Plain);
            for (byte, c) in span.text.char_indices() {
                used.units += units(c);
                if !used.fits(room) {
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

    /// Other spans in the same place. A name that stood behind a letter may now stand alone, so it is looked at again.
    fn with(&self, spans: Vec<Span>) -> Self {
        match self.fence {
            None => Self { quote: self.quote, ..Self::prose(joined(spans)) },
            Some(_) => Self { fence: self.fence, quote: None, spans: joined(spans) },
        }
    }
}

/// Neighbours of one style as one span.
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

/// What a character costs: the plain text has a space behind an `@` that could begin a mention.
const fn units(c: char) -> usize {
    c.len_utf16() + if c == '@' { 1 } else { 0 }
}

/// Lines as Telegram's HTML.
pub(super) fn html(lines: &[Line]) -> String {
    let fenced = |fence: &[Line]| {
        let inside: Vec<String> = fence.iter().map(line_html).collect();
        let inside = inside.join("\n");
        match fence.first().map(Line::frame) {
            Some((Some(_), _)) => format!("<pre>{inside}</pre>"),
            Some((None, Some(_))) => format!("<blockquote>{inside}</blockquote>"),
            Some((None, None)) | None => inside,
        }
    };
    let runs: Vec<String> = lines.chunk_by(|a, b| a.frame() == b.frame()).map(fenced).collect();
    runs.join("\n")
}

fn line_html(line: &Line) -> String {
    line.spans.iter().map(span_html).collect()
}

fn span_html(span: &Span) -> String {
    let text = escaped(&span.text);
    match span.style {
        Style::Plain => text,
        Style::Bold => format!("<b>{text}</b>"),
        Style::Code => format!("<code>{text}</code>"),
    }
}

/// The three characters that mean something in Telegram's HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The sign of each line of a quotation without markup.
const QUOTED: &str = "> ";

/// Lines as text, exactly; each line of a quotation with its sign.
pub(super) fn text(lines: &[Line]) -> String {
    let shown = |line: &Line| format!("{}{}", line.sign(), line.text());
    lines.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// Lines as a message without markup: no name in it is a mention.
pub(super) fn plain(lines: &[Line]) -> String {
    mention::defused(&text(lines))
}
