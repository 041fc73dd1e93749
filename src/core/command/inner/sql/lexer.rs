//! The words of an SQL text, read so that every server and client reads them alike. Where two of them could disagree about
//! where a string or a comment ends, the text is refused. What the words mean is not known here.

use super::{Danger, Dialect};

/// More words than people type. It also keeps the parser's trees shallow enough to walk and to drop.
const TOKENS_MAX: usize = 2_000;

/// The deepest nesting of brackets: the parser goes back and forth over each level.
const DEPTH_MAX: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// A name or a keyword without quotes.
    Word,
    Number,
    /// A string.
    Text,
    /// A name in quotes.
    Name,
    /// One other character; `::` is one too.
    Symbol,
    /// A backslash outside quotes: here a client's own command begins.
    Backslash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Token<'a> {
    pub(in super::super) kind: Kind,
    pub(in super::super) text: &'a str,
    /// Where it begins in the whole text.
    pub(in super::super) at: usize,
    /// Something stands between it and the token before: a blank or a comment.
    pub(in super::super) spaced: bool,
    /// It is the first of its line.
    pub(in super::super) first: bool,
}

impl Token<'_> {
    /// Whether it is this keyword, in either case.
    pub(in super::super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(in super::super) fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }
}

/// Reads tokens one after the other; a client may skip what it reads in its own way.
pub(in super::super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
    first: bool,
    count: usize,
    depth: usize,
}

impl<'a> Lexer<'a> {
    pub(in super::super) fn new(text: &'a str, dialect: Dialect) -> Self {
        Self { text, at: 0, dialect, first: true, count: 0, depth: 0 }
    }

    /// What has not been read yet.
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Takes the rest of the line, for what is no SQL.
    pub(in super::super) fn take_line(&mut self) -> &'a str {
        let line = self.rest().split('\n').next().unwrap_or("");
        self.at += line.len();
        line
    }

    /// Takes one character, for what is no SQL.
    pub(in super::super) fn take_character(&mut self) {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    /// The next token, or nothing at the end.
    pub(in super::super) fn next(&mut self) -> Result<Option<Token<'a>>, Danger> {
        let before = self.at;
        self.skip_gaps()?;
        let Some(c) = self.rest().chars().next() else { return Ok(None) };
        let (kind, length) = self.measure(c)?;
        self.count += 1;
        if self.count > TOKENS_MAX {
            return Err(unreadable(&format!("it has more than {TOKENS_MAX} words")));
        }
        self.nest(c, kind)?;
        let text = self.rest().get(..length).unwrap_or("");
        let token = Token { kind, text, at: self.at, spaced: self.at > before, first: self.first };
        self.at += length;
        self.first = false;
        Ok(Some(token))
    }

    fn nest(&mut self, c: char, kind: Kind) -> Result<(), Danger> {
        match c {
            '(' | '[' if kind == Kind::Symbol => self.depth += 1,
            ')' | ']' if kind == Kind::Symbol => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.depth > DEPTH_MAX {
            return Err(unreadable(&format!("its brackets are nested more than {DEPTH_MAX} deep")));
        }
        Ok(())
    }

    fn skip_gaps(&mut self) -> Result<(), Danger> {
        loop {
            let rest = self.rest();
            let length = match rest.as_bytes() {
                [b'\n', ..] => {
                    self.first = true;
                    1
                }
                [b' ' | b'\t' | b'\r', ..] => 1,
                [b'-', b'-', ..] => self.line_comment(rest, 2)?,
                [b'#', ..] if self.dialect == Dialect::MySql => self.line_comment(rest, 1)?,
                [b'/', b'*', ..] => block_comment(rest)?,
                _ => return Ok(()),
            };
            self.at += length;
        }
    }

    fn line_comment(&self, rest: &str, mark: usize) -> Result<usize, Danger> {
        let after = rest.as_bytes().get(mark);
        // For MySQL `--1` is a sum and for others a comment.
        let doubtful = mark == 2 && matches!(self.dialect, Dialect::MySql | Dialect::Generic);
        if doubtful && after.is_some_and(|byte| !byte.is_ascii_whitespace()) {
            return Err(unreadable("`--` without a blank after it is a comment for some servers and a sum for others"));
        }
        Ok(rest.find('\n').unwrap_or(rest.len()))
    }

    fn measure(&self, c: char) -> Result<(Kind, usize), Danger> {
        let rest = self.rest();
        match c {
            '\'' => quoted(rest, '\'').map(|length| (Kind::Text, length)),
            '"' if self.dialect == Dialect::MySql => quoted(rest, '"').map(|length| (Kind::Text, length)),
            '"' => quoted(rest, '"').map(|length| (Kind::Name, length)),
            '`' if self.dialect != Dialect::Postgres => quoted(rest, '`').map(|length| (Kind::Name, length)),
            '$' if self.dialect == Dialect::Postgres => dollars(rest).map(|length| (Kind::Text, length)),
            '\\' => Ok((Kind::Backslash, 1)),
            ':' => self.colon(rest).map(|length| (Kind::Symbol, length)),
            '0'..='9' => number(rest).map(|length| (Kind::Number, length)),
            'a'..='z' | 'A'..='Z' | '_' => word(rest).map(|length| (Kind::Word, length)),
            '[' | ']' if self.dialect == Dialect::Postgres => Ok((Kind::Symbol, 1)),
            '#' if self.dialect == Dialect::Postgres => Ok((Kind::Symbol, 1)),
            '(' | ')' | ',' | '.' | ';' | '+' | '-' | '*' | '/' | '%' | '<' | '>' | '=' | '!' | '~' | '^' | '&'
            | '|' | '@' | '?' => Ok((Kind::Symbol, 1)),
            _ => Err(unreadable(&format!("`{}` outside quotes is not understood here", c.escape_default()))),
        }
    }

    fn colon(&self, rest: &str) -> Result<usize, Danger> {
        match rest.as_bytes() {
            [b':', b':', ..] => Ok(2),
            [b':', b'=', ..] => Err(Danger::low("assigns a variable (`:=`)")),
            [b':', b'0'..=b'9' | b' ' | b']', ..] if self.dialect == Dialect::Postgres => Ok(1),
            _ => Err(unreadable("a variable (`:name`) stands for something unseen")),
        }
    }
}

/// All tokens of a text.
pub(in super::super) fn tokens(text: &str, dialect: Dialect) -> Result<Vec<Token<'_>>, Danger> {
    check_characters(text)?;
    let (mut lexer, mut found) = (Lexer::new(text, dialect), Vec::new());
    while let Some(token) = lexer.next()? {
        found.push(token);
    }
    Ok(found)
}

/// Characters that end a line, or the text, for some readers and not for others are refused wherever they stand.
pub(in super::super) fn check_characters(text: &str) -> Result<(), Danger> {
    let lone_return = text.split("\r\n").any(|part| part.contains('\r'));
    let control = text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r'));
    if lone_return || control {
        return Err(unreadable("it holds a control character"));
    }
    Ok(())
}

/// A text that nobody can be sure about.
pub(in super::super) fn unreadable(why: &str) -> Danger {
    Danger::medium(format!("cannot be read as SQL: {why}"))
}

fn block_comment(rest: &str) -> Result<usize, Danger> {
    if rest.starts_with("/*!") || rest.starts_with("/*M!") || rest.starts_with("/*+") {
        return Err(unreadable("a comment that the server executes (`/*!` or `/*+`)"));
    }
    let body = rest.get(2..).unwrap_or("");
    let length = body.find("*/").ok_or_else(|| unreadable("a comment does not end"))?;
    // PostgreSQL nests comments, the others do not.
    if body.get(..length).is_some_and(|inside| inside.contains("/*")) {
        return Err(unreadable("a comment inside a comment"));
    }
    Ok(length + 4)
}

/// The length of what stands in quotes, with them. A quote is written inside by doubling it; whether a backslash escapes
/// one depends on the server and its settings.
fn quoted(rest: &str, quote: char) -> Result<usize, Danger> {
    let (mut backslashes, mut at) = (0_usize, 1);
    while let Some(c) = rest.get(at..).and_then(|rest| rest.chars().next()) {
        at += c.len_utf8();
        if c == '\\' {
            backslashes += 1;
            continue;
        }
        if c == quote {
            if backslashes % 2 == 1 {
                return Err(unreadable("a backslash before a quote, which ends the string for some servers"));
            }
            if rest.get(at..).and_then(|rest| rest.chars().next()) != Some(quote) {
                return Ok(at);
            }
            at += quote.len_utf8();
        }
        backslashes = 0;
    }
    Err(unreadable(&format!("a quote ({quote}) is not closed")))
}

/// `$$text$$` and `$tag$text$tag$`.
fn dollars(rest: &str) -> Result<usize, Danger> {
    let doubtful = || unreadable("`$` outside quotes");
    let tag = rest.get(1..).and_then(|rest| rest.find('$')).and_then(|end| rest.get(..end + 2)).ok_or_else(doubtful)?;
    let name = tag.trim_matches('$');
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !plain || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(doubtful());
    }
    let body = rest.get(tag.len()..).unwrap_or("");
    let length = body.find(tag).ok_or_else(|| unreadable("a string in dollars is not closed"))?;
    Ok(tag.len() + length + tag.len())
}

fn word(rest: &str) -> Result<usize, Danger> {
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    if rest.get(length..).is_some_and(|after| after.starts_with('$')) {
        return Err(unreadable("`$` in a name"));
    }
    Ok(length)
}

/// Servers disagree about `1into`: one name, or a number and a keyword.
fn number(rest: &str) -> Result<usize, Danger> {
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
    let text = rest.get(..length).unwrap_or("");
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let hexadecimal = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_hexdigit());
    if digits(text) || text.strip_prefix("0x").is_some_and(hexadecimal) {
        return Ok(length);
    }
    let after = rest.as_bytes().get(length..).unwrap_or_default();
    let exponent = match text.split_once(['e', 'E']) {
        Some((base, "")) => digits(base) && matches!(after, [b'+' | b'-', b'0'..=b'9', ..]),
        Some((base, power)) => digits(base) && power.chars().all(|c| c.is_ascii_digit()),
        None => false,
    };
    if exponent { Ok(length) } else { Err(unreadable(&format!("`{text}` begins like a number"))) }
}
