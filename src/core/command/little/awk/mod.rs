//! What an `awk` program can do: one pass over its tokens that refuses every way to write a file, to run a command, to
//! load code or to read a file that nobody named. It is no parser: a program that no `awk` would take may pass, for it
//! does nothing.

mod lex;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::{OUTPUTS, reading_problem, size_or_character_problem};
use lex::{Kind, Token};

/// Functions that compute, and `close` and `fflush`, which touch only what was opened.
const FUNCTIONS: [&str; 38] = [
    "and", "asort", "asorti", "atan2", "close", "compl", "cos", "exp", "fflush", "gensub", "gsub", "index", "int",
    "isarray", "length", "log", "lshift", "match", "mkbool", "mktime", "or", "patsplit", "rand", "rshift", "sin",
    "split", "sprintf", "sqrt", "srand", "strftime", "strtonum", "sub", "substr", "systime", "tolower", "toupper",
    "typeof", "xor",
];

/// Words that a parenthesis may follow and that call nothing.
const KEYWORDS: [&str; 16] = [
    "BEGIN", "END", "case", "delete", "do", "else", "exit", "for", "getline", "if", "in", "print", "printf", "return",
    "switch", "while",
];

/// Variables of the environment that are no secret.
const HARMLESS_ENVIRONMENT: [&str; 9] = ["HOME", "HOSTNAME", "LANG", "LC_ALL", "LOGNAME", "PATH", "PWD", "TZ", "USER"];

/// Judges a program: `Ok` where it only reads its input and prints to standard output or standard error; else the
/// reason, in words that fit behind "the program".
pub(in crate::command) fn judge(program: &str) -> Result<(), String> {
    if let Some(problem) = size_or_character_problem(program) {
        return Err(problem);
    }
    let tokens = lex::tokens(program)?;
    let mut walk = Walk::new(&tokens);
    for at in 0..tokens.len() {
        walk.step(at)?;
    }
    if walk.open.is_empty() { Ok(()) } else { Err("is not complete: a bracket is not closed".to_owned()) }
}

/// Where in the program the pass is.
struct Walk<'a> {
    tokens: &'a [Token<'a>],
    /// The brackets that are open.
    open: Vec<&'a str>,
    /// In a `print` statement: how many brackets were open at its start.
    print_depth: Option<usize>,
    /// Behind a `getline` whose `<` would name a file: how many brackets were open there.
    getline_depth: Option<usize>,
    /// The functions that the program defines.
    own_functions: BTreeSet<&'a str>,
    /// The last token that is no line break.
    last: Option<Token<'a>>,
}

impl<'a> Walk<'a> {
    fn new(tokens: &'a [Token<'a>]) -> Self {
        let defines = |first: &Token| first.is_word("function") || first.is_word("func");
        let pairs = tokens.iter().zip(tokens.iter().skip(1));
        let own_functions = pairs.filter(|(first, _)| defines(first)).map(|(_, name)| name.text).collect();
        Self { tokens, open: Vec::new(), print_depth: None, getline_depth: None, own_functions, last: None }
    }

    fn token(&self, at: usize) -> Option<&'a Token<'a>> {
        self.tokens.get(at)
    }

    fn step(&mut self, at: usize) -> Result<(), String> {
        let Some(token) = self.token(at) else {
            return Ok(());
        };
        match token.kind {
            Kind::Newline => self.newline()?,
            Kind::Word => self.word(at, token.text)?,
            Kind::Sign => self.sign(at, token.text)?,
            Kind::Text if token.text.starts_with("/inet") => {
                return Err(format!("may open a network connection (\"{}\")", token.text));
            }
            Kind::Text | Kind::Number | Kind::Regex => {}
        }
        if token.kind != Kind::Newline {
            self.last = Some(*token);
        }
        Ok(())
    }

    fn end_statement(&mut self) {
        self.print_depth = None;
        self.getline_depth = None;
    }

    /// Whether the innermost open bracket is one of values, not of statements.
    fn in_value(&self) -> bool {
        matches!(self.open.last(), Some(&("(" | "[")))
    }

    /// A line break ends a statement, but for the places where every `awk` goes on in the next line. Where only some do,
    /// the program is refused.
    fn newline(&mut self) -> Result<(), String> {
        let last = self.last.filter(|last| last.kind == Kind::Sign || last.is_word("in"));
        let is_over = match last.map_or("", |last| last.text) {
            "," | "&&" | "||" => return Ok(()),
            "" | ")" | "]" | "}" | "{" | ";" | "++" | "--" => !self.in_value(),
            // The end of a label, or half of a condition.
            ":" => self.print_depth.is_none() && self.getline_depth.is_none() && !self.in_value(),
            _ => false,
        };
        if !is_over {
            return Err("breaks a line where some versions of awk would go on".to_owned());
        }
        self.end_statement();
        Ok(())
    }

    fn sign(&mut self, at: usize, sign: &'a str) -> Result<(), String> {
        match sign {
            "(" | "[" => self.open.push(sign),
            ")" | "]" => {
                self.close(if sign == ")" { "(" } else { "[" })?;
                self.getline_depth = self.getline_depth.filter(|depth| *depth <= self.open.len());
            }
            ";" => self.end_statement(),
            "{" if self.in_value() => return Err("opens a block inside parentheses".to_owned()),
            "{" => {
                self.end_statement();
                self.open.push(sign);
            }
            "}" => {
                self.close("{")?;
                self.end_statement();
            }
            "|" | "|&" => return Err(self.pipe_reason(at, sign)),
            ">" | ">>" | ">=" => self.greater(at, sign)?,
            "<" if self.getline_depth.is_some() => self.read_file(at)?,
            ":" if self.last.is_some_and(|last| last.is_sign(":")) => {
                return Err("names a thing of another namespace (::)".to_owned());
            }
            "@load" => return Err("loads code (@load)".to_owned()),
            "@include" => return Err("loads code (@include)".to_owned()),
            "@" | "@namespace" => return Err("calls a function whose name is not seen (@)".to_owned()),
            "&" | "`" => return Err(format!("holds a `{sign}` that is not understood")),
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, opener: &str) -> Result<(), String> {
        if self.open.pop() == Some(opener) { Ok(()) } else { Err("closes a bracket that is not open".to_owned()) }
    }

    fn pipe_reason(&self, at: usize, sign: &str) -> String {
        if self.token(at + 1).is_some_and(|next| next.is_word("getline")) {
            format!("runs a command ({sign} getline)")
        } else {
            format!("runs a command (print {sign})")
        }
    }

    /// A `>` compares, but in a `print` statement and outside of parentheses it writes to a file.
    fn greater(&self, at: usize, sign: &str) -> Result<(), String> {
        let redirects = match self.print_depth {
            Some(depth) => self.open.len() == depth || self.open.last() != Some(&"("),
            None => sign == ">>",
        };
        if !redirects {
            return Ok(());
        }
        if sign == ">=" {
            return Err("prints a comparison without parentheses (>=)".to_owned());
        }
        match self.token(at + 1).map(|file| (file.kind, file.text)) {
            Some((Kind::Text, file)) if OUTPUTS.contains(&file) && self.ends_statement(at + 2) => Ok(()),
            Some((Kind::Text, file)) => Err(format!("writes to {file} (print {sign} \"{file}\")")),
            Some((Kind::Number, file)) => {
                Err(format!("writes to a file named {file} (print {sign} {file}); a comparison needs parentheses"))
            }
            Some((Kind::Word | Kind::Regex | Kind::Sign | Kind::Newline, _)) | None => {
                Err(format!("writes to a file (print {sign})"))
            }
        }
    }

    fn ends_statement(&self, at: usize) -> bool {
        self.token(at).is_none_or(|token| token.kind == Kind::Newline || token.is_sign(";") || token.is_sign("}"))
    }

    /// `getline < FILE`: one file whose name stands there, whole.
    fn read_file(&self, at: usize) -> Result<(), String> {
        let name = self.token(at + 1).filter(|name| name.kind == Kind::Text);
        let Some(name) = name else {
            return Err("reads a file whose name is not seen (getline <)".to_owned());
        };
        let ends = [")", "&&", "||"].iter().any(|sign| self.token(at + 2).is_some_and(|next| next.is_sign(sign)));
        if !ends && !self.ends_statement(at + 2) {
            return Err("reads a file whose name may be longer than what is seen (getline <)".to_owned());
        }
        reading_problem(name.text).map_or(Ok(()), Err)
    }

    fn word(&mut self, at: usize, word: &str) -> Result<(), String> {
        match word {
            "print" | "printf" => {
                if self.in_value() || self.print_depth.is_some() {
                    return Err(format!("holds a `{word}` inside of something else"));
                }
                self.print_depth = Some(self.open.len());
            }
            "getline" => {
                if self.getline_depth.is_some() {
                    return Err("holds a `getline` inside of a `getline`".to_owned());
                }
                self.getline_depth = Some(self.open.len());
            }
            "system" => return Err("runs a command (system)".to_owned()),
            "ARGV" | "ARGC" if !self.is_compared_argument(at) => {
                return Err(format!("may change which files are read ({word})"));
            }
            "ENVIRON" if !self.is_element(at, |key| HARMLESS_ENVIRONMENT.contains(&key)) || self.is_changed(at) => {
                return Err("reads or changes the environment, where secrets may be (ENVIRON)".to_owned());
            }
            "PROCINFO" if !self.is_element(at, |key| key == "sorted_in") => {
                return Err("may change how awk works (PROCINFO)".to_owned());
            }
            "SYMTAB" | "FUNCTAB" => return Err(format!("reaches variables by names that are not seen ({word})")),
            _ => self.call(at, word)?,
        }
        Ok(())
    }

    /// A name with a parenthesis directly behind it is a call.
    fn call(&self, at: usize, word: &str) -> Result<(), String> {
        let next = self.token(at + 1).filter(|next| next.is_glued);
        if word == "_" && next.is_some_and(|next| next.kind == Kind::Text) {
            return Err("holds a string that is translated (_\"...\")".to_owned());
        }
        let is_known = KEYWORDS.contains(&word) || FUNCTIONS.contains(&word) || self.own_functions.contains(word);
        if next.is_some_and(|next| next.is_sign("(")) && !is_known {
            return Err(format!("calls `{word}`, which is not known to only compute"));
        }
        Ok(())
    }

    /// Whether the array at this token is used with one key, written out, that fits: `NAME["key"]`.
    fn is_element(&self, at: usize, fits: fn(&str) -> bool) -> bool {
        self.token(at + 1).is_some_and(|open| open.is_sign("["))
            && self.token(at + 2).is_some_and(|key| key.kind == Kind::Text && fits(key.text))
            && self.token(at + 3).is_some_and(|close| close.is_sign("]"))
    }

    /// Whether an element `NAME[KEY]` may be changed, going by what stands around it. It may only be where a value is
    /// surely read: `delete`, `getline`, an assignment and the target of `sub` all look different.
    fn is_changed(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.token(before));
        let reads_before = before.is_some_and(|before| {
            before.is_word("print") || ["==", "!=", "~", "!~", "=", "("].iter().any(|sign| before.is_sign(sign))
        });
        let reads_after = self.token(at + 4).is_none_or(|after| {
            after.kind == Kind::Newline
                || [")", ";", "}", "{", "&&", "||", "==", "!="].iter().any(|sign| after.is_sign(sign))
        });
        !(reads_before && reads_after)
    }

    /// `FILENAME == ARGV[1]`, the usual way to tell two files apart.
    fn is_compared_argument(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.token(before));
        before.is_some_and(|before| before.is_sign("==") || before.is_sign("!="))
            && self.token(at + 1).is_some_and(|open| open.is_sign("["))
            && self.token(at + 2).is_some_and(|key| key.kind == Kind::Number)
            && self.token(at + 3).is_some_and(|close| close.is_sign("]"))
            && !self.is_changed(at)
    }
}
