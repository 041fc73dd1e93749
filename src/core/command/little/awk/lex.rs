//! The words of an `awk` program. Where a `/` could begin a regular expression in one `awk` and divide in another, the
//! program is refused. What the words mean together is not known here.

use super::super::{Cursor, ends_outside_brackets};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    Number,
    /// A string; its text is what stands between the quotes.
    Text,
    /// A regular expression; its text is what stands between the slashes.
    Regex,
    /// An operator or a piece of punctuation.
    Sign,
    /// The end of a line.
    Newline,
}

/// One word of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Nothing stands between it and the token before.
    pub(super) is_glued: bool,
}

impl Token<'_> {
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }
}

/// The operators, the long ones first: the longest that fits is the one that is meant.
const SIGNS: [&str; 48] = [
    "**=",
    "||",
    "|&",
    "&&",
    "==",
    "!=",
    "!~",
    "<=",
    ">=",
    ">>",
    "++",
    "--",
    "+=",
    "-=",
    "*=",
    "/=",
    "%=",
    "^=",
    "**",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "!",
    ">",
    "<",
    "|",
    "?",
    ":",
    "~",
    "$",
    "=",
    // Not operators, but said by name when they are refused.
    "@load",
    "@include",
    "@namespace",
    "@",
    "&",
    "`",
];

/// Words with a meaning in some `awk`: after one of them a `/` is not surely a division.
const MEANINGFUL: [&str; 25] = [
    "BEGIN",
    "BEGINFILE",
    "END",
    "ENDFILE",
    "break",
    "case",
    "close",
    "continue",
    "default",
    "delete",
    "do",
    "else",
    "exit",
    "fflush",
    "for",
    "func",
    "function",
    "getline",
    "if",
    "in",
    "length",
    "next",
    "nextfile",
    "switch",
    "while",
];

/// Words whose parentheses hold a condition and no value.
const HEADS: [&str; 4] = ["for", "if", "switch", "while"];

/// What a `/` is.
enum Slash {
    Division,
    Regex,
    Doubtful,
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    tokens: Vec<Token<'a>>,
    /// For each open parenthesis, whether a word of [`HEADS`] stands before it.
    heads: Vec<bool>,
    /// Whether the parenthesis that closed last was such a one.
    closed_head: bool,
}

/// The tokens of a program, or why it cannot be read without doubt.
pub(super) fn tokens(program: &str) -> Result<Vec<Token<'_>>, String> {
    let mut lexer = Lexer { cursor: Cursor::new(program), tokens: Vec::new(), heads: Vec::new(), closed_head: false };
    loop {
        let before = lexer.cursor.rest.len();
        lexer.skip_blanks()?;
        let is_glued = before == lexer.cursor.rest.len() && !lexer.tokens.is_empty();
        let Some(first) = lexer.cursor.peek() else {
            return Ok(lexer.tokens);
        };
        let (kind, text) = lexer.token(first)?;
        lexer.tokens.push(Token { kind, text, is_glued });
    }
}

impl<'a> Lexer<'a> {
    /// Spaces, comments and continued lines.
    fn skip_blanks(&mut self) -> Result<(), String> {
        loop {
            let blanks = self.cursor.take_while(|c| matches!(c, ' ' | '\t'));
            if self.cursor.eat("\\\n") {
                // Without a space on one side, a word could go on in the next line.
                if blanks.is_empty() && !self.cursor.rest.starts_with([' ', '\t']) {
                    return Err("continues a line in the middle of a word".to_owned());
                }
            } else if self.cursor.peek() == Some('#') {
                if self.cursor.take_line().ends_with('\\') {
                    return Err("holds a comment that may go on in the next line".to_owned());
                }
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self, first: char) -> Result<(Kind, &'a str), String> {
        match first {
            '\n' => {
                self.cursor.next();
                Ok((Kind::Newline, "\n"))
            }
            '"' => self.text(),
            '/' => match self.slash() {
                Slash::Regex => self.regex(),
                Slash::Division => self.sign(),
                Slash::Doubtful => Err("holds a `/` that may divide or begin a regular expression".to_owned()),
            },
            'a'..='z' | 'A'..='Z' | '_' => {
                Ok((Kind::Word, self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_')))
            }
            '0'..='9' => self.number(),
            '.' => self.number(),
            _ => self.sign(),
        }
    }

    fn text(&mut self) -> Result<(Kind, &'a str), String> {
        self.cursor.next();
        let text = self.cursor.take_delimited('"').ok_or("holds a string without an end")?;
        if text.contains('\n') { Err("holds a string over two lines".to_owned()) } else { Ok((Kind::Text, text)) }
    }

    fn regex(&mut self) -> Result<(Kind, &'a str), String> {
        self.cursor.next();
        let regex = self.cursor.take_delimited('/').ok_or("holds a regular expression without an end")?;
        if regex.contains('\n') || !ends_outside_brackets(regex) {
            return Err(format!("holds a regular expression whose end is doubtful (`/{}/`)", regex.escape_default()));
        }
        Ok((Kind::Regex, regex))
    }

    /// Digits, a point, an exponent; and nothing directly behind that some `awk` would take for more of it.
    fn number(&mut self) -> Result<(Kind, &'a str), String> {
        let start = self.cursor.rest;
        let is_digit = |c: char| c.is_ascii_digit();
        let mut digits = self.cursor.take_while(is_digit).len();
        if self.cursor.eat(".") {
            digits += self.cursor.take_while(is_digit).len();
        }
        let mut is_odd = digits == 0;
        if self.cursor.eat("e") || self.cursor.eat("E") {
            let _ = self.cursor.eat("+") || self.cursor.eat("-");
            is_odd |= self.cursor.take_while(is_digit).is_empty();
        }
        is_odd |= self.cursor.rest.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        let number = start.strip_suffix(self.cursor.rest).unwrap_or(start);
        if is_odd {
            Err(format!("holds a number that is not understood (`{number}`)"))
        } else {
            Ok((Kind::Number, number))
        }
    }

    fn sign(&mut self) -> Result<(Kind, &'a str), String> {
        let Some(sign) = SIGNS.into_iter().find(|sign| self.cursor.eat(sign)) else {
            let odd = self.cursor.peek().map(|c| c.escape_default().to_string()).unwrap_or_default();
            return Err(format!("holds a `{odd}` that is not understood"));
        };
        if sign == "(" {
            self.heads.push(self.tokens.last().is_some_and(|token| HEADS.iter().any(|head| token.is_word(head))));
        } else if sign == ")" {
            self.closed_head = self.heads.pop().unwrap_or(true);
        }
        Ok((Kind::Sign, sign))
    }

    /// The token before decides: behind a value a `/` divides, elsewhere it begins a regular expression.
    fn slash(&self) -> Slash {
        let Some(before) = self.tokens.last() else {
            return Slash::Regex;
        };
        match before.kind {
            Kind::Newline => Slash::Regex,
            Kind::Number | Kind::Text | Kind::Regex => Slash::Division,
            Kind::Word => match before.text {
                "print" | "printf" | "return" => Slash::Regex,
                word if MEANINGFUL.contains(&word) => Slash::Doubtful,
                _ => Slash::Division,
            },
            Kind::Sign => match before.text {
                ")" if self.closed_head => Slash::Doubtful,
                ")" | "]" => Slash::Division,
                "{" | "}" | ";" | "(" | "," | "!" | "~" | "!~" | "&&" | "||" | "?" | ":" | "=" => Slash::Regex,
                _ => Slash::Doubtful,
            },
        }
    }
}
