//! The small part of JavaScript that is understood: chains of names and calls, and plain values. Strings with escapes,
//! templates, regular expressions, operators, functions and comments are no part of it, so nothing can hide in them.

use super::{Danger, unreadable};

/// The deepest nesting of values and calls.
const DEPTH_MAX: usize = 32;

/// Functions that only print or shape the value that they get.
const PRINTS: [&str; 6] = ["print", "printjson", "tojson", "JSON.stringify", "EJSON.stringify", "printjsononeline"];

/// Functions that make a plain value out of plain values.
const MAKES: [&str; 11] = [
    "ObjectId",
    "ISODate",
    "Date",
    "NumberLong",
    "NumberInt",
    "NumberDecimal",
    "Long",
    "Int32",
    "Decimal128",
    "UUID",
    "Timestamp",
];

/// One statement.
pub(super) enum Expr {
    /// `db.users.find(...)`.
    Chain {
        /// The name that it begins with.
        root: String,
        /// What follows, in order.
        calls: Vec<Call>,
    },
    /// A call that prints what stands inside.
    Print(Vec<Expr>),
    /// A value inside such a call.
    Plain(Value),
}

/// `.name`, `["name"]`, `[0]`, and with arguments a call of it.
pub(super) struct Call {
    pub(super) name: String,
    pub(super) args: Option<Vec<Value>>,
}

/// An argument.
pub(super) enum Value {
    Text(String),
    /// A number, a date, an id, true, false, null.
    Plain,
    /// A bare name that stands for something else.
    Name(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

/// Reads from the front of a text.
pub(super) struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, depth: 0 }
    }

    /// Statements with `;` between them; at least one.
    pub(super) fn statements(&mut self) -> Result<Vec<Expr>, Danger> {
        let mut found = Vec::new();
        loop {
            while self.take(';') {}
            if self.peek().is_none() {
                break;
            }
            found.push(self.expr()?);
            if !self.take(';') && self.peek().is_some() {
                return Err(self.unexpected());
            }
        }
        if found.iter().all(|expr| matches!(expr, Expr::Plain(_))) {
            return Err(unreadable("there is no query"));
        }
        Ok(found)
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.rest.chars().next()
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.rest = self.rest.get(c.len_utf8()..).unwrap_or("");
        }
        found
    }

    fn expect(&mut self, c: char) -> Result<(), Danger> {
        if self.take(c) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&mut self) -> Danger {
        match self.peek() {
            Some(c) => unreadable(&format!("`{}` is not understood there", c.escape_default())),
            None => unreadable("it ends too early"),
        }
    }

    fn enter(&mut self) -> Result<(), Danger> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(unreadable("it is nested too deep")) } else { Ok(()) }
    }

    /// A bare name; nothing is taken where there is none.
    fn name(&mut self) -> Option<String> {
        self.peek();
        let length = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '$'));
        let (name, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.rest = rest;
        Some(name.to_owned())
    }

    fn expr(&mut self) -> Result<Expr, Danger> {
        self.enter()?;
        let expr = self.expr_inside();
        self.depth -= 1;
        expr
    }

    fn expr_inside(&mut self) -> Result<Expr, Danger> {
        let before = self.rest;
        let Some(name) = self.name() else { return self.value().map(Expr::Plain) };
        if matches!(name.as_str(), "db" | "rs" | "sh") {
            return self.chain(name);
        }
        self.rest = before;
        if let Some(after) = self.prints() {
            self.rest = after;
            let mut inside = Vec::new();
            while !self.take(')') {
                inside.push(self.expr()?);
                if !self.take(',') {
                    self.expect(')')?;
                    break;
                }
            }
            return Ok(Expr::Print(inside));
        }
        self.value().map(Expr::Plain)
    }

    /// What follows `printjson(`, where the text begins so.
    fn prints(&self) -> Option<&'a str> {
        let text = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
        PRINTS.iter().find_map(|name| text.strip_prefix(name)?.strip_prefix('('))
    }

    fn chain(&mut self, root: String) -> Result<Expr, Danger> {
        let mut calls = Vec::new();
        loop {
            let name = if self.take('.') {
                self.name().ok_or_else(|| self.unexpected())?
            } else if self.take('[') {
                let name = self.index()?;
                self.expect(']')?;
                name
            } else {
                return Ok(Expr::Chain { root, calls });
            };
            let args = if self.take('(') { Some(self.list(')')?) } else { None };
            calls.push(Call { name, args });
        }
    }

    fn index(&mut self) -> Result<String, Danger> {
        match self.value()? {
            Value::Text(name) => Ok(name),
            // A number picks one of several values; it has no name to judge.
            Value::Plain => Ok("[]".to_owned()),
            Value::Name(_) | Value::List(_) | Value::Object(_) => Err(self.unexpected()),
        }
    }

    /// Values with commas between them, up to the bracket that closes them.
    fn list(&mut self, close: char) -> Result<Vec<Value>, Danger> {
        let mut values = Vec::new();
        while !self.take(close) {
            values.push(self.value()?);
            if !self.take(',') {
                self.expect(close)?;
                break;
            }
        }
        Ok(values)
    }

    fn value(&mut self) -> Result<Value, Danger> {
        self.enter()?;
        let value = self.value_inside();
        self.depth -= 1;
        value
    }

    fn value_inside(&mut self) -> Result<Value, Danger> {
        match self.peek() {
            Some(quote @ ('"' | '\'')) => self.text(quote).map(Value::Text),
            Some('{') => self.object(),
            Some('[') => {
                self.take('[');
                self.list(']').map(Value::List)
            }
            Some('-' | '0'..='9' | '.') => self.number(),
            _ => self.word(),
        }
    }

    fn text(&mut self, quote: char) -> Result<String, Danger> {
        self.expect(quote)?;
        let end = self.rest.find(quote).ok_or_else(|| unreadable("a string is not closed"))?;
        let (text, rest) = self.rest.split_at(end);
        if text.contains(['\\', '\n', '\r']) {
            return Err(unreadable("a backslash or a line break in a string"));
        }
        self.rest = rest.strip_prefix(quote).unwrap_or(rest);
        Ok(text.to_owned())
    }

    fn number(&mut self) -> Result<Value, Danger> {
        self.take('-');
        let length = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(length);
        let one_dot = number.matches('.').count() <= 1 && !number.ends_with('.');
        if !one_dot || number.is_empty() || number.contains(|c: char| !c.is_ascii_digit() && c != '.') {
            return Err(self.unexpected());
        }
        self.rest = rest;
        Ok(Value::Plain)
    }

    fn object(&mut self) -> Result<Value, Danger> {
        self.expect('{')?;
        let mut fields = Vec::new();
        while !self.take('}') {
            let key = match self.peek() {
                Some(quote @ ('"' | '\'')) => self.text(quote)?,
                _ => self.name().ok_or_else(|| self.unexpected())?,
            };
            self.expect(':')?;
            fields.push((key, self.value()?));
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        Ok(Value::Object(fields))
    }

    /// `true`, `ObjectId("...")`, `new Date()`, or a bare name.
    fn word(&mut self) -> Result<Value, Danger> {
        let mut name = self.name().ok_or_else(|| self.unexpected())?;
        let new = name == "new";
        if new {
            name = self.name().ok_or_else(|| self.unexpected())?;
        }
        if self.take('(') {
            if !MAKES.contains(&name.as_str()) {
                return Err(super::unknown(&name));
            }
            let plain = self.list(')')?.iter().all(|value| matches!(value, Value::Text(_) | Value::Plain));
            return if plain { Ok(Value::Plain) } else { Err(unreadable("more than plain values in a date or an id")) };
        }
        let plain = matches!(name.as_str(), "true" | "false" | "null");
        Ok(if plain && !new { Value::Plain } else { Value::Name(name) })
    }
}
