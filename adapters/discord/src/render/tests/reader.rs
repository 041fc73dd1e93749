//! A strict reader of the markup that a message may hold: bold, one line in italics, code and fences, everything else behind
//! a backslash. What Discord would read as something that was never meant fails here.

/// What Discord would show.
pub(super) fn read(content: &str) -> Result<String, String> {
    let mut reader =
        Reader { rest: content, shown: String::new(), bold: false, italic: false, fresh: true, is_quoted: false };
    while !reader.rest.is_empty() {
        let at = content.len() - reader.rest.len();
        reader.step().map_err(|error| format!("{error} at {at}"))?;
    }
    if reader.bold || reader.italic { Err("left open".to_owned()) } else { Ok(reader.shown) }
}

#[expect(clippy::struct_excessive_bools, reason = "each is a mark that is open by itself")]
struct Reader<'c> {
    rest: &'c str,
    shown: String,
    bold: bool,
    italic: bool,
    /// Whether nothing stands before this on its line.
    fresh: bool,
    /// Whether the line has the sign of a quotation.
    is_quoted: bool,
}

impl<'c> Reader<'c> {
    fn step(&mut self) -> Result<(), String> {
        if let Some(after) = self.rest.strip_prefix("```\n").filter(|_| self.fresh) {
            let (inside, after) = after.split_once("\n```").ok_or("a fence without an end")?;
            if !(after.is_empty() || after.starts_with('\n')) || inside.contains("```") {
                return Err("something behind a fence".to_owned());
            }
            self.shown.push_str(inside);
            self.go_on(after, false);
            return Ok(());
        }
        // A quotation: its sign is shown as a bar.
        let at_start = self.shown.is_empty() || self.shown.ends_with('\n');
        if let Some(after) = self.rest.strip_prefix("> ").filter(|_| at_start && self.fresh && !self.is_quoted) {
            self.go_on(after, true);
            self.is_quoted = true;
            return Ok(());
        }
        if let Some(after) = self.rest.strip_prefix("**") {
            self.bold = !self.bold;
            self.go_on(after, false);
            return Ok(());
        }
        if let Some(after) = self.rest.strip_prefix('`') {
            let (inside, after) = after.split_once('`').ok_or("code without an end")?;
            if inside.is_empty() || inside.contains('\n') || after.starts_with('`') {
                return Err("code that is none".to_owned());
            }
            self.shown.push_str(inside);
            self.go_on(after, false);
            return Ok(());
        }
        if let Some(after) = self.rest.strip_prefix('*') {
            self.italic = !self.italic;
            self.go_on(after, false);
            return Ok(());
        }
        if let Some(after) = self.rest.strip_prefix('\\') {
            let c = after.chars().next().filter(char::is_ascii_punctuation).ok_or("a bare backslash")?;
            self.shown.push(c);
            self.go_on(&after[1..], false);
            return Ok(());
        }
        self.plain()
    }

    fn plain(&mut self) -> Result<(), String> {
        let c = self.rest.chars().next().ok_or("nothing")?;
        let after = &self.rest[c.len_utf8()..];
        let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let is_item = self.fresh && (matches!(c, '-' | '+') || (digits > 0 && self.rest[digits..].starts_with(". ")));
        if "_~|<>[#".contains(c) || is_item || (c == ':' && after.starts_with('/')) {
            return Err(format!("a bare {c}"));
        }
        if c == '\n' && (self.bold || self.italic) {
            return Err("a mark over the end of a line".to_owned());
        }
        self.shown.push(c);
        self.is_quoted &= c != '\n';
        let fresh = c == '\n' || (self.fresh && c == ' ');
        self.go_on(after, fresh);
        Ok(())
    }

    fn go_on(&mut self, after: &'c str, fresh: bool) {
        (self.rest, self.fresh) = (after, fresh);
    }
}

#[test]
fn the_reader_refuses_what_discord_would_read_as_something_else() {
    let wrong = [
        "**x",
        "a `b",
        "``",
        "# x",
        "> > x",
        "x\ny > z",
        "- x",
        "  - x",
        "1. x",
        "<@12>",
        "https://a.b",
        "~~x~~",
        "||x||",
        "[x](y)",
        "a_b_",
        "```\nx",
        "```rust\nx\n```",
        "**a\nb**",
        "x\\",
    ];
    for wrong in wrong {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    let right = read("*(x)*\n**Why**: a \\*b\\* `c_d`\n```\n<@12> `x` # - 1.\n```\n1\\. end");
    assert_eq!(right, Ok("(x)\nWhy: a *b* c_d\n<@12> `x` # - 1.\n1. end".to_owned()));
}
