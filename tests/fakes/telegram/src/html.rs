//! Telegram's HTML: the few tags it knows, read as strictly as Telegram reads them, with its own words for what is wrong.
//! What becomes of the marks afterwards is in `entities`.

use crate::entities::{Entity, EntityKind, Formatted};

/// What Telegram knows (Bot API, "HTML style"), without custom emoji and dates, which no bot here uses.
const TAGS: [&str; 15] = [
    "a",
    "b",
    "strong",
    "i",
    "em",
    "s",
    "strike",
    "del",
    "u",
    "ins",
    "tg-spoiler",
    "span",
    "pre",
    "code",
    "blockquote",
];

/// The text and its marks; what is wrong, in Telegram's words, without "can't parse entities" before it.
pub(crate) fn parse(source: &str) -> Result<Formatted, String> {
    let mut reader =
        Reader { source, at: 0, text: String::new(), offset: 0, open: Vec::new(), entities: Vec::new(), coded: None };
    while let Some(letter) = reader.peek() {
        match letter {
            '<' if reader.rest().starts_with("</") => reader.end_tag()?,
            '<' => reader.start_tag()?,
            _ => reader.letter(),
        }
    }
    match reader.open.pop() {
        Some(open) => Err(format!("Can't find end tag corresponding to start tag \"{}\"", open.tag)),
        None => Ok(Formatted { text: reader.text, entities: reader.entities }),
    }
}

/// A tag that was opened and waits for its end.
struct Open {
    tag: String,
    argument: String,
    /// Where its content begins: in UTF-16 units, and in bytes of the text.
    offset: usize,
    from: usize,
}

struct Reader<'a> {
    source: &'a str,
    at: usize,
    text: String,
    offset: usize,
    open: Vec<Open>,
    entities: Vec<Entity>,
    /// The language that the code ending here bore, in case a `pre` ends here, too.
    coded: Option<String>,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes on while `wanted`; what was passed.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let passed: String = self.rest().chars().take_while(|letter| wanted(*letter)).collect();
        self.at += passed.len();
        passed
    }

    fn blanks(&mut self) {
        self.take_while(|letter| letter.is_ascii_whitespace());
    }

    fn letter(&mut self) {
        let (letter, bytes) = match reference(self.rest()) {
            Some(decoded) => decoded,
            None => self.peek().map_or(('\0', 1), |letter| (letter, letter.len_utf8())),
        };
        self.text.push(letter);
        self.offset += letter.len_utf16();
        self.at += bytes;
    }

    fn start_tag(&mut self) -> Result<(), String> {
        let begin = self.at;
        self.at += 1;
        let tag = self.take_while(|letter| !letter.is_ascii_whitespace() && letter != '>').to_ascii_lowercase();
        if self.peek().is_none() {
            return Err(format!("Unclosed start tag at byte offset {begin}"));
        }
        if !TAGS.contains(&tag.as_str()) {
            return Err(format!("Unsupported start tag \"{tag}\" at byte offset {begin}"));
        }
        let mut argument = String::new();
        while let Some((name, value)) = self.attribute(&tag, begin)? {
            if let Some(told) = telling(&tag, &name, value) {
                argument = told;
            }
        }
        if tag == "span" && argument != "spoiler" {
            return Err(format!("Tag \"span\" must have class \"tg-spoiler\" at byte offset {begin}"));
        }
        self.open.push(Open { tag, argument, offset: self.offset, from: self.text.len() });
        Ok(())
    }

    /// The next attribute and its value; none at the tag's end, which is passed.
    fn attribute(&mut self, tag: &str, begin: usize) -> Result<Option<(String, Option<String>)>, String> {
        let unclosed = || format!("Unclosed start tag \"{tag}\" at byte offset {begin}");
        self.blanks();
        if self.peek() == Some('>') {
            self.at += 1;
            return Ok(None);
        }
        let name = self.take_while(|letter| !letter.is_ascii_whitespace() && !"=>/\"'".contains(letter));
        if name.is_empty() {
            return Err(format!("Empty attribute name in the tag \"{tag}\" at byte offset {begin}"));
        }
        self.blanks();
        match self.peek() {
            None => return Err(unclosed()),
            Some('=') => self.at += 1,
            Some(_) => return Ok(Some((name, None))),
        }
        self.blanks();
        let value = match self.peek() {
            None => return Err(unclosed()),
            Some(quote @ ('"' | '\'')) => self.quoted(quote),
            Some(_) => self.bare()?,
        };
        match self.peek() {
            None => Err(format!("Unclosed start tag at byte offset {begin}")),
            Some(_) => Ok(Some((name, Some(value)))),
        }
    }

    fn quoted(&mut self, quote: char) -> String {
        self.at += 1;
        let mut value = String::new();
        while let Some(letter) = self.peek().filter(|letter| *letter != quote) {
            let (letter, bytes) = reference(self.rest()).unwrap_or((letter, letter.len_utf8()));
            value.push(letter);
            self.at += bytes;
        }
        if self.peek().is_some() {
            self.at += 1;
        }
        value
    }

    fn bare(&mut self) -> Result<String, String> {
        let begin = self.at;
        let value = self.take_while(|letter| letter.is_ascii_alphanumeric() || ".-".contains(letter));
        match self.peek() {
            Some(letter) if !letter.is_ascii_whitespace() && letter != '>' => {
                Err(format!("Unexpected end of name token at byte offset {begin}"))
            }
            _ => Ok(value.to_ascii_lowercase()),
        }
    }

    fn end_tag(&mut self) -> Result<(), String> {
        let begin = self.at;
        let Some(open) = self.open.pop() else { return Err(format!("Unexpected end tag at byte offset {begin}")) };
        self.at += 2;
        let tag = self.take_while(|letter| !letter.is_ascii_whitespace() && letter != '>').to_ascii_lowercase();
        self.blanks();
        if self.peek() != Some('>') {
            return Err(format!("Unclosed end tag at byte offset {begin}"));
        }
        self.at += 1;
        if !tag.is_empty() && tag != open.tag {
            let (expected, found) = (&open.tag, tag);
            return Err(format!(
                "Unmatched end tag at byte offset {begin}, expected \"</{expected}>\", found \"</{found}>\""
            ));
        }
        self.close(&open);
        Ok(())
    }

    /// The mark for what stood between the tags; none for nothing.
    fn close(&mut self, open: &Open) {
        let length = self.offset - open.offset;
        if length == 0 {
            return;
        }
        let language = Some(open.argument.clone()).filter(|language| !language.is_empty());
        let coded = self.coded.take();
        // <pre><code class="language-x"> is one mark, whichever of the two is outside.
        let last = self.entities.last_mut().filter(|last| (last.offset, last.length) == (open.offset, length));
        match (open.tag.as_str(), last) {
            ("pre", Some(last)) if last.kind == EntityKind::Code && coded.is_some() => {
                last.kind = EntityKind::Pre(coded);
                return;
            }
            ("code", Some(last)) if matches!(last.kind, EntityKind::Pre(_)) && language.is_some() => {
                last.kind = EntityKind::Pre(language);
                return;
            }
            ("code", _) => self.coded = language,
            _ => {}
        }
        let content = self.text.get(open.from..).unwrap_or_default();
        let kind = kind_of(&open.tag, &open.argument, content);
        if let Some(kind) = kind {
            self.entities.push(Entity { kind, offset: open.offset, length });
        }
    }
}

/// What an attribute tells about its tag, if anything.
fn telling(tag: &str, name: &str, value: Option<String>) -> Option<String> {
    match (tag, name) {
        ("a", "href") => value,
        ("code", "class") => value?.strip_prefix("language-").map(str::to_owned),
        ("span", "class") => value?.strip_prefix("tg-").map(str::to_owned),
        ("blockquote", "expandable") => Some("1".to_owned()),
        _ => None,
    }
}

/// The mark for a tag; none for a link that leads nowhere.
fn kind_of(tag: &str, argument: &str, content: &str) -> Option<EntityKind> {
    Some(match tag {
        "b" | "strong" => EntityKind::Bold,
        "i" | "em" => EntityKind::Italic,
        "u" | "ins" => EntityKind::Underline,
        "s" | "strike" | "del" => EntityKind::Strikethrough,
        "tg-spoiler" | "span" => EntityKind::Spoiler,
        "pre" => EntityKind::Pre(None),
        "code" => EntityKind::Code,
        "blockquote" if argument.is_empty() => EntityKind::Blockquote,
        "blockquote" => EntityKind::ExpandableBlockquote,
        _ => return link(if argument.is_empty() { content } else { argument }),
    })
}

fn link(url: &str) -> Option<EntityKind> {
    if let Some(user) = url.strip_prefix("tg://user?id=").and_then(|id| id.parse().ok()) {
        return Some(EntityKind::TextMention(user));
    }
    let known = ["http://", "https://", "tg://", "mailto:"].iter().any(|scheme| url.starts_with(scheme));
    if known {
        return Some(EntityKind::TextLink(url.to_owned()));
    }
    let domain = url.contains('.') && !url.contains(char::is_whitespace);
    domain.then(|| EntityKind::TextLink(format!("http://{url}/")))
}

/// The letter that a reference at the beginning of `text` stands for, and its bytes. What Telegram does not know stays
/// as it is written: there are four names, and numbers.
fn reference(text: &str) -> Option<(char, usize)> {
    let body = text.strip_prefix('&')?;
    let (letter, bytes) = if let Some(number) = body.strip_prefix('#') {
        let (digits, radix, lead) = match number.strip_prefix('x') {
            Some(hex) => (hex, 16, 3),
            None => (number, 10, 2),
        };
        let count = digits.chars().take_while(|digit| digit.is_digit(radix)).count();
        let code = u32::from_str_radix(digits.get(..count)?, radix).ok().filter(|code| *code != 0)?;
        (char::from_u32(code)?, lead + count)
    } else {
        let name: String = body.chars().take_while(char::is_ascii_alphabetic).collect();
        let known = [("lt", '<'), ("gt", '>'), ("amp", '&'), ("quot", '"')];
        (known.iter().find(|(known, _)| *known == name)?.1, name.len() + 1)
    };
    let closed = text.get(bytes..)?.starts_with(';');
    (bytes < 10).then_some((letter, bytes + usize::from(closed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entities::slice;

    /// (source, text, marks with what they mark).
    type Row = (&'static str, &'static str, Vec<(EntityKind, &'static str)>);

    /// (mark, what it marks), in the order in which Telegram would have them.
    fn marks(source: &str) -> (String, Vec<(EntityKind, String)>) {
        let read = parse(source).unwrap_or_else(|why| panic!("{source}: {why}"));
        let mark = |entity: &Entity| (entity.kind.clone(), slice(&read.text, entity.offset, entity.length));
        (read.text.clone(), read.entities.iter().map(mark).collect())
    }

    #[test]
    fn what_telegram_knows_is_read() {
        use EntityKind::{Blockquote, Bold, Code, ExpandableBlockquote, Italic, Pre, Spoiler, TextLink, TextMention};
        let rust = || Some("rust".to_owned());
        let rows: [Row; 14] = [
            ("1 &lt; 2 &amp;&amp; &quot;x&quot; &#33;", "1 < 2 && \"x\" !", vec![]),
            ("&nbsp; &apos; & &;", "&nbsp; &apos; & &;", vec![]),
            ("😀 <b>bold</b>", "😀 bold", vec![(Bold, "bold")]),
            ("<B>loud</b>", "loud", vec![(Bold, "loud")]),
            ("<b>a <i>b</i></b>", "a b", vec![(Italic, "b"), (Bold, "a b")]),
            ("<b></b>x", "x", vec![]),
            ("<code>a &lt; b</code>", "a < b", vec![(Code, "a < b")]),
            ("<pre>x</pre>", "x", vec![(Pre(None), "x")]),
            ("<pre><code class=\"language-rust\">x</code></pre>", "x", vec![(Pre(rust()), "x")]),
            ("<a href='https://e.org/?a=1&amp;b=2'>e</a>", "e", vec![(TextLink("https://e.org/?a=1&b=2".into()), "e")]),
            ("<a href=\"tg://user?id=11\">Carol</a>", "Carol", vec![(TextMention(11), "Carol")]),
            ("<span class=\"tg-spoiler\">s</span>", "s", vec![(Spoiler, "s")]),
            ("<blockquote>q</blockquote>", "q", vec![(Blockquote, "q")]),
            ("<blockquote expandable>q</blockquote>", "q", vec![(ExpandableBlockquote, "q")]),
        ];
        for (source, text, expected) in rows {
            let expected: Vec<_> = expected.into_iter().map(|(kind, part)| (kind, part.to_owned())).collect();
            assert_eq!(marks(source), (text.to_owned(), expected), "{source}");
        }
    }

    #[test]
    fn what_telegram_refuses_is_refused_in_its_words() {
        let rows = [
            ("a <br> b", "Unsupported start tag \"br\" at byte offset 2"),
            ("é <x>", "Unsupported start tag \"x\" at byte offset 3"),
            ("1 <2", "Unclosed start tag at byte offset 2"),
            ("1 < 2", "Unsupported start tag \"\" at byte offset 2"),
            ("<b>x", "Can't find end tag corresponding to start tag \"b\""),
            ("x</b>", "Unexpected end tag at byte offset 1"),
            ("<b><i>x</b></i>", "Unmatched end tag at byte offset 7, expected \"</i>\", found \"</b>\""),
            ("<b>x</b", "Unclosed end tag at byte offset 4"),
            ("<b", "Unclosed start tag at byte offset 0"),
            ("<a href=\"x", "Unclosed start tag at byte offset 0"),
            ("<a href=x/y>x</a>", "Unexpected end of name token at byte offset 8"),
            ("<a \"x\">x</a>", "Empty attribute name in the tag \"a\" at byte offset 0"),
            ("<span>x</span>", "Tag \"span\" must have class \"tg-spoiler\" at byte offset 0"),
        ];
        for (source, expected) in rows {
            assert_eq!(parse(source).map(|read| read.text), Err(expected.to_owned()), "{source}");
        }
    }
}
