//! The form between neutral blocks and Matrix's HTML: lines of styled spans. What they cost of a message, where a line that
//! is too long is cut, and how lines are written as HTML or as plain text. What stands on them is the blocks'.

use super::link;

/// What stands around preformatted lines (the specification's list of tags for `org.matrix.custom.html`).
const FENCE: [&str; 2] = ["<pre><code>", "</code></pre>"];

/// The tags around a quotation.
const QUOTE: [&str; 2] = ["<blockquote>", "</blockquote>"];

/// The most that a frame takes of a message, at both ends.
pub(super) const FRAME_BYTES: usize = QUOTE[0].len() + QUOTE[1].len();

/// The most that the end of a line takes: a tag in the HTML, a line break in the plain text.
pub(super) const END_BYTES: usize = "<br>".len() + "\\n".len();

/// How a span looks. Matrix's HTML knows more; this is all that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Code,
    /// Words to type: code, which stands between backticks where there is no markup.
    Typed,
}

impl Style {
    /// What stands around it in HTML.
    const fn tags(self) -> [&'static str; 2] {
        match self {
            Self::Plain => ["", ""],
            Self::Bold => ["<strong>", "</strong>"],
            Self::Code | Self::Typed => ["<code>", "</code>"],
        }
    }

    /// What stands on either side of it in plain text.
    const fn sign(self) -> &'static str {
        match self {
            Self::Plain | Self::Bold | Self::Code => "",
            Self::Typed => "`",
        }
    }

    pub(super) const fn is_code(self) -> bool {
        matches!(self, Self::Code | Self::Typed)
    }
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

    /// What its markup takes.
    const fn frame(&self) -> usize {
        let [open, close] = self.style.tags();
        open.len() + close.len() + 2 * self.style.sign().len()
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

impl Line {
    /// A line of prose. What a client would make a link of becomes code.
    pub(super) fn prose(spans: Vec<Span>) -> Self {
        let guarded = spans.into_iter().flat_map(link::guarded).filter(|span| !span.text.is_empty());
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

    /// The most that it takes of an event: the bytes of its HTML and of its plain text, as they stand in JSON, without its
    /// end and without its fence.
    pub(super) fn cost(&self) -> usize {
        let spans = self.spans.iter();
        let spans = spans.map(|span| span.frame() + span.text.chars().map(|c| self.bytes(c)).sum::<usize>());
        self.sign().len() + spans.sum::<usize>()
    }

    const fn bytes(&self, c: char) -> usize {
        let plain = if c.is_ascii_control() { 6 } else { c.len_utf8() };
        match c {
            '"' | '\\' => 4,
            '&' => plain + "&amp;".len(),
            '<' | '>' => plain + "&lt;".len(),
            ' ' if self.fence.is_none() => plain + NBSP.len(),
            _ => 2 * plain,
        }
    }

    /// The line as two, the first of which fits the room: it ends in `…`, and the second begins with one. Nothing is lost.
    pub(super) fn cut(&self, room: usize) -> (Self, Self) {
        let room = room.saturating_sub(2 * '…'.len_utf8());
        let mut used = 0;
        for (at, span) in self.spans.iter().enumerate() {
            used += span.frame();
            for (byte, c) in span.text.char_indices() {
                used += self.bytes(c);
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

    /// Other spans in the same place. A word that was cut is another one, so it is looked at again.
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

/// Lines as Matrix's HTML.
pub(super) fn html(lines: &[Line]) -> String {
    let mut out = String::new();
    let mut after_prose = false;
    for run in lines.chunk_by(|a, b| a.frame() == b.frame()) {
        let drawn: Vec<String> = run.iter().map(line_html).collect();
        let frame = run.first().map(Line::frame);
        match frame {
            Some((Some(_), _)) => out.extend([FENCE[0], &drawn.join("\n"), FENCE[1]]),
            Some((None, Some(_))) => out.extend([QUOTE[0], &drawn.join("<br>"), QUOTE[1]]),
            Some((None, None)) | None => {
                // Only what is framed begins and ends a line by itself.
                out.push_str(if after_prose { "<br>" } else { "" });
                out.push_str(&drawn.join("<br>"));
            }
        }
        after_prose = frame == Some((None, None));
    }
    out
}

fn line_html(line: &Line) -> String {
    if line.fence.is_some() {
        return line.spans.iter().map(|span| escaped(&span.text)).collect();
    }
    let mut out = String::new();
    let mut in_space = true;
    for span in &line.spans {
        let [open, close] = span.style.tags();
        out.extend([open, &spaced(&escaped(&span.text), &mut in_space), close]);
    }
    out
}

/// What a space is that a browser would leave out.
const NBSP: &str = "&nbsp;";

/// The text with each space that follows another one, or begins the line, as one that a browser keeps.
fn spaced(escaped: &str, in_space: &mut bool) -> String {
    let mut out = String::with_capacity(escaped.len());
    for c in escaped.chars() {
        match c {
            ' ' if *in_space => out.push_str(NBSP),
            c => out.push(c),
        }
        *in_space = c == ' ';
    }
    out
}

/// The three characters that mean something in HTML outside a tag.
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

/// Lines as a message without markup.
pub(super) fn plain(lines: &[Line]) -> String {
    lines.iter().map(line_plain).collect::<Vec<_>>().join("\n")
}

fn line_plain(line: &Line) -> String {
    let drawn = |span: &Span| format!("{sign}{}{sign}", span.text, sign = span.style.sign());
    let spans: String = line.spans.iter().map(drawn).collect();
    format!("{}{spans}", line.sign())
}
