//! A strict reader of the HTML that a message may hold: six tags, four entities, nothing crossed and nothing left open. What
//! a client would refuse or read as something else, and what was never meant as markup, fails here.

/// What a client would show.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) text: String,
    /// The same without the sign before each line of a quotation.
    pub(super) bare: String,
    /// The text that stands in no code: where clients look for links and pills.
    pub(super) open: String,
}

/// Reads a message, or says what is wrong with it and where.
pub(super) fn read(html: &str) -> Result<Shown, String> {
    let mut reader = Reader {
        shown: Shown { text: String::new(), bare: String::new(), open: String::new() },
        stack: Vec::new(),
        after_space: true,
        after_pre: false,
    };
    let mut rest = html;
    while let Some(c) = rest.chars().next() {
        let at = html.len() - rest.len();
        let (read, after) = match c {
            '<' => {
                let end = rest.find('>').ok_or(format!("an open tag at {at}"))?;
                reader.tag(&rest[1..end]).map_err(|error| format!("{error} at {at}"))?;
                rest = &rest[end + 1..];
                continue;
            }
            '>' => return Err(format!("a bare > at {at}")),
            '&' => entity(rest).ok_or(format!("a bare & at {at}"))?,
            ' ' if reader.after_space && !reader.within("pre") => {
                return Err(format!("a space that is left out at {at}"));
            }
            c => (c, &rest[c.len_utf8()..]),
        };
        reader.push(read);
        reader.after_space |= c == ' ';
        rest = after;
    }
    if reader.stack.is_empty() { Ok(reader.shown) } else { Err(format!("left open: {:?}", reader.stack)) }
}

struct Reader<'h> {
    shown: Shown,
    stack: Vec<&'h str>,
    /// Whether a browser would leave a space out here: at the beginning of a line, and behind another one.
    after_space: bool,
    /// Whether what was preformatted has just ended a line.
    after_pre: bool,
}

impl<'h> Reader<'h> {
    fn within(&self, tag: &str) -> bool {
        self.stack.contains(&tag)
    }

    fn push(&mut self, c: char) {
        if std::mem::take(&mut self.after_pre) {
            self.push('\n');
        }
        if self.within("blockquote") && (self.shown.text.is_empty() || self.shown.text.ends_with('\n')) {
            self.shown.text.push_str("> ");
        }
        self.shown.text.push(c);
        self.shown.bare.push(c);
        self.shown.open.push(if self.within("code") { ' ' } else { c });
        self.after_space = c == '\n';
    }

    fn tag(&mut self, name: &'h str) -> Result<(), String> {
        match (name, self.stack.as_slice()) {
            ("br", [] | ["blockquote"]) => self.push('\n'),
            ("blockquote", []) => {
                if std::mem::take(&mut self.after_pre) || !self.shown.text.is_empty() {
                    self.push('\n');
                }
                self.stack.push(name);
            }
            ("pre", []) => {
                // What is preformatted begins and ends a line by itself.
                if !self.shown.text.is_empty() && !self.after_pre {
                    self.push('\n');
                }
                self.stack.push(name);
            }
            ("strong" | "em" | "code", [] | ["blockquote"]) | ("code", ["pre"]) => self.stack.push(name),
            ("/strong" | "/em" | "/code" | "/pre" | "/blockquote", [.., open]) if name.ends_with(open) => {
                if name == "/blockquote" && self.shown.text.ends_with('\n') {
                    self.shown.text.push_str("> ");
                }
                self.after_pre = matches!(name, "/pre" | "/blockquote");
                self.stack.pop();
            }
            (name, stack) => return Err(format!("<{name}> within {stack:?}")),
        }
        Ok(())
    }
}

fn entity(rest: &str) -> Option<(char, &str)> {
    [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&nbsp;", ' ')]
        .into_iter()
        .find_map(|(entity, c)| rest.strip_prefix(entity).map(|after| (c, after)))
}

#[test]
fn the_reader_refuses_what_was_never_meant() {
    let wrong = [
        "<strong>x",
        "x</strong>",
        "<strong>x</em>",
        "<a href=\"x\">x</a>",
        "<u>x</u>",
        "a < b",
        "a > b",
        "a & b",
        "&quot;",
        "<strong><em>x</em></strong>",
        "<code><br></code>",
        "a  b",
        "<b",
    ];
    for wrong in wrong {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    let right = read("a &lt;b&gt;<br><strong>c</strong>:&nbsp; <code>d</code><pre><code>e\n  &amp;</code></pre>f");
    let text = "a <b>\nc:  d\ne\n  &\nf".to_owned();
    assert_eq!(right, Ok(Shown { bare: text.clone(), text, open: "a <b>\nc:   \n     \nf".to_owned() }));
}
