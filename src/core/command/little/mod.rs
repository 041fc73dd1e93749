//! Little programs inside text tools: what a program of `awk` or a script of `sed` can do besides reading its input and
//! printing. Each is read by the rules of the real tools, and wherever two of those tools could disagree about where a
//! text or a regular expression ends, the program is refused. Which words of a command line are such a program is not
//! decided here, and nothing here runs anything.

pub(super) mod awk;
pub(super) mod sed;

/// The longest program that is looked at, in bytes.
const PROGRAM_BYTES_MAX: usize = 8 * 1_024;

/// The names between `[:` and `:]` that every reader of regular expressions knows.
const CLASSES: [&str; 12] =
    ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"];

/// The two files that stand for the tool's own output.
const OUTPUTS: [&str; 2] = ["/dev/stdout", "/dev/stderr"];

/// What is left of a text, read from its front.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    const fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let first = chars.next();
        self.rest = chars.as_str();
        first
    }

    /// Takes `text` from the front, if it is there.
    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Everything before the next line break, which stays.
    fn take_line(&mut self) -> &'a str {
        self.take_while(|c| c != '\n')
    }

    /// Everything before the first `end` that no backslash stands before, and takes that `end` too. None where there is
    /// no such `end`.
    fn take_delimited(&mut self, end: char) -> Option<&'a str> {
        let start = self.rest;
        let mut length = 0;
        loop {
            let c = self.next()?;
            if c == end {
                return start.get(..length);
            }
            length += c.len_utf8();
            if c == '\\' {
                length += self.next()?.len_utf8();
            }
        }
    }
}

/// Why a program is not even looked at.
fn size_or_character_problem(program: &str) -> Option<String> {
    if program.len() > PROGRAM_BYTES_MAX {
        return Some(format!("is longer than {PROGRAM_BYTES_MAX} bytes"));
    }
    let odd = program.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'))?;
    Some(format!("holds a character that cannot be seen (`{}`)", odd.escape_default()))
}

/// Whether every tool agrees that a regular expression ends outside square brackets. Some tools let a delimiter inside
/// brackets end the expression and some do not; some see an escape in `[\]]` and some see a backslash.
fn ends_outside_brackets(regex: &str) -> bool {
    is_closed(regex, true) && is_closed(regex, false)
}

/// Whether a regular expression ends outside brackets, with or without escapes inside of them.
fn is_closed(regex: &str, has_escapes: bool) -> bool {
    let mut cursor = Cursor::new(regex);
    while let Some(c) = cursor.next() {
        if c == '\\' {
            cursor.next();
        } else if c == '[' && !skip_bracket(&mut cursor, has_escapes) {
            return false;
        }
    }
    true
}

/// Goes behind the `]` that closes a bracket. False where there is none, or where something like a class is no class.
fn skip_bracket(cursor: &mut Cursor, has_escapes: bool) -> bool {
    cursor.eat("^");
    // A `]` at the start stands for itself.
    cursor.eat("]");
    while let Some(c) = cursor.next() {
        match c {
            ']' => return true,
            '\\' if has_escapes => {
                cursor.next();
            }
            '[' if cursor.rest.starts_with([':', '.', '=']) => {
                cursor.next();
                let name = cursor.take_while(|c| c.is_ascii_lowercase());
                if !CLASSES.contains(&name) || !cursor.eat(":]") {
                    return false;
                }
            }
            _ => {}
        }
    }
    false
}

/// Why a program may not read this file: it may read what `cat` may, and its own input.
fn reading_problem(path: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    let may_read = matches!(path, "/dev/stdin" | "/dev/null")
        || (path.chars().all(is_plain) && super::judge(&format!("cat {path}")).is_proven());
    (!may_read).then(|| format!("reads {path}, which is not proven to be a plain file without secrets"))
}
