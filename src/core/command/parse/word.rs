//! From the parser's words to ours: quotes are taken off here, once more and from the text itself. A word is literal, a
//! pattern of file names, or begins with `~`; everything else that a shell would put in place is refused.

use shuck_ast::{BraceSyntax, Word as SyntaxWord, WordPart, WordPartNode};

use super::super::judgement::Finding;
use super::super::line::Argument;
use super::list::{Reader, refused};

/// A word while it is put together.
#[derive(Default)]
struct Draft {
    text: String,
    /// The same as a pattern: what is meant literally has a backslash before it.
    pattern: String,
    is_pattern: bool,
    /// It began with a `~` that stands for a folder.
    from_home: bool,
}

impl Draft {
    fn push(&mut self, c: char) {
        self.text.push(c);
        if "*?[]{}!^\\-".contains(c) {
            self.pattern.push('\\');
        }
        self.pattern.push(c);
    }

    fn push_sign(&mut self, c: char) {
        self.text.push(c);
        self.pattern.push(c);
        self.is_pattern = true;
    }
}

impl Reader<'_> {
    /// Reads one word.
    pub(super) fn word(&self, word: &SyntaxWord) -> Result<Argument, Finding> {
        let mut draft = Draft::default();
        self.parts(&word.parts, &word.brace_syntax, false, &mut draft)?;
        match (draft.is_pattern, draft.from_home) {
            (false, false) => Ok(Argument::Literal(draft.text)),
            (false, true) => Ok(Argument::Home(draft.text)),
            // A question mark in an address is a pattern to a shell, but no path begins with `https:`.
            (true, false) if is_address(&draft.text) => Ok(Argument::Literal(draft.text)),
            (true, false) => Ok(Argument::Pattern(draft.pattern)),
            (true, true) => Err(refused("patterns behind `~`")),
        }
    }

    fn parts(
        &self,
        parts: &[WordPartNode],
        braces: &[BraceSyntax],
        quoted: bool,
        draft: &mut Draft,
    ) -> Result<(), Finding> {
        for (index, part) in parts.iter().enumerate() {
            let written = part.span.slice(self.source);
            match &part.kind {
                WordPart::Literal(text) => {
                    // Inside substitutions the parser keeps its own copy; where it differs, escapes were taken out of it.
                    if !(text.is_source_backed() || text.as_str(self.source, part.span) == written) {
                        return Err(refused("words whose quotes cannot be followed"));
                    }
                    if quoted {
                        double_quoted(written, draft);
                    } else if braces.iter().any(|brace| brace.expands()) {
                        return Err(refused("lists in braces"));
                    } else {
                        unquoted(written, index == 0, draft)?;
                    }
                }
                WordPart::SingleQuoted { dollar: false, value } => {
                    value.slice(self.source).chars().for_each(|c| draft.push(c));
                }
                WordPart::SingleQuoted { dollar: true, .. } => match ansi_c(written) {
                    Some(text) => text.chars().for_each(|c| draft.push(c)),
                    None => return Err(refused("other escapes in $'...' than \\n and \\t")),
                },
                WordPart::DoubleQuoted { dollar: true, .. } => return Err(refused("translated strings ($\"...\")")),
                WordPart::DoubleQuoted { parts, .. } => self.parts(parts, &[], true, draft)?,
                WordPart::Variable(_)
                | WordPart::Parameter(_)
                | WordPart::ParameterExpansion { .. }
                | WordPart::Length(_)
                | WordPart::ArrayAccess(_)
                | WordPart::ArrayLength(_)
                | WordPart::ArrayIndices(_)
                | WordPart::Substring { .. }
                | WordPart::ArraySlice { .. }
                | WordPart::IndirectExpansion { .. }
                | WordPart::PrefixMatch { .. }
                | WordPart::Transformation { .. } => {
                    return Err(refused(&format!("variables such as {written}")));
                }
                WordPart::CommandSubstitution { .. } | WordPart::ProcessSubstitution { .. } => {
                    return Err(refused("commands inside words"));
                }
                WordPart::ArithmeticExpansion { .. } => return Err(refused("calculations")),
                WordPart::ZshQualifiedGlob(_) => return Err(refused("patterns of zsh")),
            }
        }
        Ok(())
    }
}

/// Reads text between double quotes, where a backslash means something before four characters only.
fn double_quoted(written: &str, draft: &mut Draft) {
    let mut chars = written.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => draft.push(c),
            (_, true) => match chars.next() {
                Some('\n') => {}
                Some(next @ ('$' | '`' | '"' | '\\')) => draft.push(next),
                Some(next) => {
                    draft.push('\\');
                    draft.push(next);
                }
                None => draft.push('\\'),
            },
        }
    }
}

/// Reads text without quotes around it.
fn unquoted(written: &str, is_first: bool, draft: &mut Draft) -> Result<(), Finding> {
    let mut written = written;
    if is_first && let Some(rest) = written.strip_prefix('~') {
        if !(rest.is_empty() || rest.starts_with('/')) {
            return Err(refused("home folders of others (`~name`)"));
        }
        draft.from_home = true;
        written = rest;
    }
    let mut chars = written.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(next) => draft.push(next),
                None => draft.push('\\'),
            },
            // `[` alone is a program.
            '*' | '?' | '[' if written != "[" => draft.push_sign(c),
            // They mean something inside `[...]` only, where a pattern reads them itself.
            ']' | '!' | '^' | '-' if draft.is_pattern => draft.push_sign(c),
            '(' | ')' => return Err(refused("extended patterns of bash")),
            c => draft.push(c),
        }
    }
    Ok(())
}

fn is_address(written: &str) -> bool {
    let rest = written.strip_prefix("http://").or_else(|| written.strip_prefix("https://"));
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric() || "_./:@%+=,-?~#".contains(c)))
}

/// The text of `$'...'`, where it has no escapes but the plain ones.
fn ansi_c(written: &str) -> Option<String> {
    let inner = written.strip_prefix("$'")?.strip_suffix('\'')?;
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                same @ ('\\' | '\'' | '"') => text.push(same),
                _ => return None,
            },
            '\'' => return None,
            c => text.push(c),
        }
    }
    Some(text)
}
