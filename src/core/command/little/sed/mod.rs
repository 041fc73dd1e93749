//! What a `sed` script can do: its commands one by one, with the arguments that GNU sed gives them. Refused is what writes
//! a file or runs a command, and every spot where another reading is thinkable.

#[cfg(test)]
mod tests;

use super::{Cursor, OUTPUTS, ends_outside_brackets, reading_problem, size_or_character_problem};

/// What may stand around the parts of `s`, `y` and `\cREGEXc`. Letters, and what means something in a regular
/// expression, would be read in more than one way.
const DELIMITERS: &str = "/|,#@:!%~_;=+-";

/// Why a script is refused.
enum Trouble {
    /// It writes, runs or reads something.
    Harm(String),
    /// It is not understood without doubt.
    Doubt(String),
}

type Step = Result<(), Trouble>;

fn doubt(reason: &str) -> Trouble {
    Trouble::Doubt(reason.to_owned())
}

/// Judges a whole script: `Ok` where it only reads its input and prints; else the reason, in words that fit behind "the
/// script". With `sandboxed`, sed itself refuses to write, to run and to read other files, so a doubt does no harm; what
/// surely wants to do so is still refused.
pub(in crate::command) fn judge(script: &str, sandboxed: bool) -> Result<(), String> {
    if let Some(problem) = size_or_character_problem(script) {
        return Err(problem);
    }
    match (Script { cursor: Cursor::new(script), blocks: 0 }).walk() {
        Ok(()) => Ok(()),
        Err(Trouble::Doubt(_)) if sandboxed => Ok(()),
        Err(Trouble::Doubt(reason) | Trouble::Harm(reason)) => Err(reason),
    }
}

struct Script<'a> {
    cursor: Cursor<'a>,
    /// How many blocks are open.
    blocks: usize,
}

impl<'a> Script<'a> {
    fn walk(&mut self) -> Step {
        loop {
            self.cursor.take_while(|c| matches!(c, ' ' | '\t' | '\n' | ';'));
            match self.cursor.peek() {
                None if self.blocks == 0 => return Ok(()),
                None => return Err(doubt("is not complete: a block is not closed")),
                Some('#') => self.comment()?,
                Some(_) => {
                    let has_address = self.addresses()?;
                    self.negation()?;
                    self.command(has_address)?;
                }
            }
        }
    }

    fn comment(&mut self) -> Step {
        if self.cursor.take_line().ends_with('\\') {
            return Err(doubt("holds a comment that may go on in the next line"));
        }
        Ok(())
    }

    fn skip_blanks(&mut self) {
        self.cursor.take_while(|c| matches!(c, ' ' | '\t'));
    }

    /// The addresses before a command, and the blanks behind them. Whether there is any.
    fn addresses(&mut self) -> Result<bool, Trouble> {
        if !self.address()? {
            return Ok(false);
        }
        self.skip_blanks();
        if self.cursor.eat(",") {
            self.skip_blanks();
            let is_offset = self.cursor.eat("+") || self.cursor.eat("~");
            let is_there = if is_offset { self.number() } else { self.address()? };
            if !is_there {
                return Err(doubt("holds a range without an end"));
            }
            self.skip_blanks();
        }
        Ok(true)
    }

    fn address(&mut self) -> Result<bool, Trouble> {
        if self.cursor.eat("$") {
            return Ok(true);
        }
        if self.number() {
            if self.cursor.eat("~") && !self.number() {
                return Err(doubt("holds a step without a number"));
            }
            return Ok(true);
        }
        let is_special = self.cursor.eat("\\");
        if !is_special && self.cursor.peek() != Some('/') {
            return Ok(false);
        }
        let delimiter = self.delimiter()?;
        self.regex(delimiter)?;
        self.cursor.take_while(|c| matches!(c, ' ' | '\t' | 'I' | 'M'));
        Ok(true)
    }

    fn number(&mut self) -> bool {
        !self.cursor.take_while(|c| c.is_ascii_digit()).is_empty()
    }

    fn negation(&mut self) -> Step {
        if self.cursor.eat("!") {
            self.skip_blanks();
            if self.cursor.peek() == Some('!') {
                return Err(doubt("negates an address twice"));
            }
        }
        Ok(())
    }

    fn command(&mut self, has_address: bool) -> Step {
        let Some(name) = self.cursor.next() else {
            return Err(doubt("ends with an address"));
        };
        match name {
            '{' => {
                self.blocks += 1;
                Ok(())
            }
            '}' => self.close_block(has_address),
            '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' => self.end(),
            'l' | 'q' | 'Q' => {
                self.skip_blanks();
                self.number();
                self.end()
            }
            'v' => {
                self.skip_blanks();
                self.cursor.take_while(|c| c.is_ascii_digit() || c == '.');
                self.end()
            }
            ':' if has_address => Err(doubt("gives a label an address")),
            ':' => self.label_definition(),
            'b' | 't' | 'T' => {
                self.label();
                self.end()
            }
            'a' | 'i' | 'c' => self.text(),
            's' => self.substitution(),
            'y' => self.transliteration(),
            'r' | 'R' => {
                self.skip_blanks();
                reading_problem(self.cursor.take_line()).map_or(Ok(()), |problem| Err(Trouble::Harm(problem)))
            }
            'w' => self.written_file("w"),
            'W' => self.written_file("W"),
            'e' => Err(Trouble::Harm("runs a command (e)".to_owned())),
            other => Err(Trouble::Doubt(format!("holds a command that is not known (`{}`)", other.escape_default()))),
        }
    }

    fn close_block(&mut self, has_address: bool) -> Step {
        if has_address || self.blocks == 0 {
            return Err(doubt("closes a block that is not open"));
        }
        self.blocks -= 1;
        self.end()
    }

    /// What ends a command: `;`, the end of the line, a comment or the end of the block.
    fn end(&mut self) -> Step {
        self.skip_blanks();
        match self.cursor.peek() {
            None | Some('\n' | ';' | '}' | '#') => Ok(()),
            Some(odd) => Err(Trouble::Doubt(format!("holds a command with `{}` behind it", odd.escape_default()))),
        }
    }

    fn label(&mut self) -> &'a str {
        self.skip_blanks();
        self.cursor.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    }

    /// Some seds take a `}` or a comment behind a label for a part of it.
    fn label_definition(&mut self) -> Step {
        if self.label().is_empty() {
            return Err(doubt("holds a label without a name"));
        }
        self.skip_blanks();
        match self.cursor.peek() {
            None | Some('\n' | ';') => Ok(()),
            Some(_) => Err(doubt("holds a label whose end is doubtful")),
        }
    }

    /// The text of `a`, `i` and `c`, up to the first line break that no backslash stands before.
    fn text(&mut self) -> Step {
        self.skip_blanks();
        if self.cursor.eat("\\") && !self.cursor.eat("\n") {
            // `a\` and text in the same line. With nothing but blanks there, seds differ on where the text begins.
            self.skip_blanks();
            if self.cursor.peek() == Some('\\') {
                return Err(doubt("holds a text whose beginning is doubtful"));
            }
        }
        if matches!(self.cursor.peek(), None | Some('\n')) {
            return Err(doubt("holds an empty text, or one whose beginning is doubtful"));
        }
        loop {
            let line = self.cursor.take_line();
            let backslashes = line.chars().rev().take_while(|c| *c == '\\').count();
            match backslashes {
                0 => return Ok(()),
                1 if self.cursor.eat("\n") => {}
                _ => return Err(doubt("holds a text whose end is doubtful")),
            }
        }
    }

    fn delimiter(&mut self) -> Result<char, Trouble> {
        match self.cursor.next() {
            Some(delimiter) if DELIMITERS.contains(delimiter) => Ok(delimiter),
            _ => Err(doubt("holds a regular expression in unusual delimiters")),
        }
    }

    /// A regular expression, and the delimiter behind it.
    fn regex(&mut self, delimiter: char) -> Step {
        let regex = self.part(delimiter)?;
        if regex.contains('\n') || !ends_outside_brackets(regex) {
            return Err(Trouble::Doubt(format!(
                "holds a regular expression whose end is doubtful (`{}`)",
                regex.escape_default()
            )));
        }
        Ok(())
    }

    /// Everything up to the delimiter, on one line but for line breaks behind a backslash.
    fn part(&mut self, delimiter: char) -> Result<&'a str, Trouble> {
        let part = self.cursor.take_delimited(delimiter).ok_or_else(|| doubt("holds a part without an end"))?;
        let bare = part.replace("\\\\", "").replace("\\\n", "");
        if bare.contains('\n') { Err(doubt("holds a part that is broken over lines")) } else { Ok(part) }
    }

    fn substitution(&mut self) -> Step {
        let delimiter = self.delimiter()?;
        self.regex(delimiter)?;
        self.part(delimiter)?;
        self.cursor.take_while(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | ' ' | '\t'));
        match self.cursor.peek() {
            Some('e') => Err(Trouble::Harm("runs what it made as a command (s///e)".to_owned())),
            Some('w') => {
                self.cursor.next();
                self.written_file("s///w")
            }
            _ => self.end(),
        }
    }

    /// `y` knows no brackets, but some seds look for them all the same.
    fn transliteration(&mut self) -> Step {
        let delimiter = self.delimiter()?;
        self.regex(delimiter)?;
        self.part(delimiter)?;
        self.end()
    }

    /// The name of the file goes on to the end of the line.
    fn written_file(&mut self, command: &str) -> Step {
        self.skip_blanks();
        let file = self.cursor.take_line();
        if OUTPUTS.contains(&file) {
            return Ok(());
        }
        let file = if file.is_empty() { "a file" } else { file };
        Err(Trouble::Harm(format!("writes to {file} ({command})")))
    }
}
