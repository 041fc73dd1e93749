//! From the parser's words to ours: quotes are taken off here, once more and from the text itself, and everything that a
//! shell would put in place of something is marked as unseen. Variables that the line set are followed.

use shuck_ast::{
    Assignment, AssignmentValue, BraceSyntax, Pattern, PatternPart, Word as SyntaxWord, WordPart, WordPartNode,
};

use super::super::script::{Unseen, Word};
use super::command::Reader;
use super::scope::{VALUES_MAX, Value};

/// A word while it is put together.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    text: String,
    unseen: Option<Unseen>,
    /// Something stands in it for certain, so that what comes does not begin the word.
    solid: bool,
}

impl Draft {
    fn push(&mut self, text: &str) {
        if let Some(unseen) = &mut self.unseen {
            unseen.plain = unseen.plain && (self.solid || !text.starts_with('-'));
            unseen.pieces = unseen.pieces && !text.contains(BREAKING);
            unseen.number = unseen.number && text.is_empty();
        } else {
            self.text.push_str(text);
        }
        self.solid = self.solid || !text.is_empty();
    }

    /// From here on the word is not known.
    fn hide(&mut self, part: &Hidden) {
        let splits = part.many && !part.keeps_start;
        let before = self.unseen.take().unwrap_or_else(|| Unseen {
            text: String::new(),
            start: self.text.clone(),
            plain: !self.text.starts_with('-'),
            number: self.text.is_empty() && !self.solid,
            many: false,
            pieces: !self.text.contains(BREAKING),
        });
        let begins = self.solid || part.plain;
        let start = match (splits, self.solid) {
            (true, _) => String::new(),
            (false, true) => before.start,
            (false, false) => part.start.clone(),
        };
        self.unseen = Some(Unseen {
            text: String::new(),
            start: if self.solid && !splits && before.text.is_empty() && !before.many {
                format!("{start}{}", self.known_more(part))
            } else {
                start
            },
            plain: before.plain && begins && (!splits || part.pieces),
            number: before.number && part.number,
            many: before.many || part.many,
            pieces: before.pieces && part.pieces,
        });
        self.solid = self.solid || !part.may_be_empty;
    }

    /// What a hidden part that follows known text alone is known to begin with.
    fn known_more(&self, part: &Hidden) -> String {
        if self.unseen.is_none() { part.start.clone() } else { String::new() }
    }
}

/// What a shell splits a word at, or takes for a pattern.
const BREAKING: [char; 6] = [' ', '\t', '\n', '*', '?', '['];

/// A part of a word that is put in place when the line runs.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "things that are known or not, independent of each other")]
pub(super) struct Hidden {
    /// What it begins with.
    pub(super) start: String,
    /// It does not begin with `-`.
    pub(super) plain: bool,
    /// A whole number.
    pub(super) number: bool,
    /// It may become several words, or none.
    pub(super) many: bool,
    /// It may become several words, but each begins with what stands before it (patterns and braces, not blanks in a
    /// variable).
    pub(super) keeps_start: bool,
    /// Split at blanks, no piece of it begins with `-`.
    pub(super) pieces: bool,
    /// It may be nothing at all.
    pub(super) may_be_empty: bool,
}

impl Hidden {
    /// Any text: one word in quotes, any number of words without.
    pub(super) fn anything(quoted: bool) -> Self {
        Self { many: !quoted, may_be_empty: true, ..Self::default() }
    }

    /// A number that may be negative; never empty.
    pub(super) fn integer() -> Self {
        Self { number: true, ..Self::default() }
    }

    /// Digits; never empty.
    pub(super) fn digits() -> Self {
        Self { plain: true, number: true, pieces: true, ..Self::default() }
    }
}

impl Reader<'_> {
    /// What a word can be: one or more ways, each with the words it comes to. Commands inside it are read, too.
    pub(super) fn word(&mut self, word: &SyntaxWord) -> Vec<Vec<Word>> {
        let written = word.span.slice(self.source).to_owned();
        if !self.assigning
            && let Some(words) = self.whole_variable(word)
        {
            return words;
        }
        let mut drafts = vec![Draft::default()];
        self.parts(&word.parts, &word.brace_syntax, false, &mut drafts);
        drafts.into_iter().map(|draft| vec![self.finished(draft, &written)]).collect()
    }

    fn finished(&mut self, draft: Draft, written: &str) -> Word {
        match draft.unseen {
            None => Word::Known(draft.text),
            // A question mark in an address is a pattern to the shell, but no path begins with `https:`.
            Some(unseen) if unseen.many && is_address(written) => Word::Known(written.to_owned()),
            Some(unseen) => {
                self.needs_shell();
                Word::Unseen(Unseen { text: written.to_owned(), ..unseen })
            }
        }
    }

    /// A word that is nothing but an unquoted variable of known texts: a shell splits them at blanks.
    fn whole_variable(&mut self, word: &SyntaxWord) -> Option<Vec<Vec<Word>>> {
        let [WordPartNode { kind: WordPart::Variable(name), .. }] = word.parts.as_slice() else {
            return None;
        };
        let Value::OneOf(values) = self.scope.value(name.as_str()) else {
            return None;
        };
        self.needs_shell();
        let split = |value: &String| {
            value
                .split_ascii_whitespace()
                .map(|piece| if is_safe(piece) { Word::from(piece) } else { Word::any(value) })
                .collect()
        };
        Some(values.iter().map(split).collect())
    }

    fn parts(&mut self, parts: &[WordPartNode], braces: &[BraceSyntax], quoted: bool, drafts: &mut Vec<Draft>) {
        for (index, part) in parts.iter().enumerate() {
            match &part.kind {
                WordPart::Literal(text) => {
                    // Inside substitutions the parser keeps its own copy; where it differs, escapes were taken out of it.
                    if text.is_source_backed() || text.as_str(self.source, part.span) == part.span.slice(self.source) {
                        let raw = part.span.slice(self.source);
                        let braces = braces.iter().filter(|b| b.expands()).map(|b| b.span.start.offset());
                        let offset = part.span.start.offset();
                        let brace = braces.filter_map(|at| at.checked_sub(offset)).find(|at| *at < raw.len());
                        let raw = raw.to_owned();
                        self.literal(&raw, quoted, index == 0, brace, drafts);
                    } else {
                        self.unknown("has a word whose quotes cannot be followed");
                    }
                }
                WordPart::SingleQuoted { value, dollar } => {
                    let raw = value.slice(self.source).to_owned();
                    self.single_quoted(&raw, *dollar, part.span.slice(self.source), drafts);
                }
                WordPart::DoubleQuoted { parts, dollar } => {
                    if *dollar {
                        self.unknown("has a translated string ($\"...\")");
                    }
                    for draft in drafts.iter_mut() {
                        draft.push("");
                    }
                    self.parts(parts, &[], true, drafts);
                }
                WordPart::Variable(name) => self.variable(name.as_str(), quoted, drafts),
                other @ (WordPart::ZshQualifiedGlob(_)
                | WordPart::CommandSubstitution { .. }
                | WordPart::ArithmeticExpansion { .. }
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
                | WordPart::ProcessSubstitution { .. }
                | WordPart::Transformation { .. }) => {
                    let written = part.span.slice(self.source);
                    if quoted && written.starts_with("${") && written.contains('\'') {
                        // There quotes are plain text to a shell, and quotes to both parsers.
                        self.unknown("has quotes inside \"${ }\", which are not judged");
                    }
                    let hidden = self.expansion(other, quoted || self.assigning);
                    for draft in drafts.iter_mut() {
                        draft.hide(&hidden);
                    }
                }
            }
        }
    }

    /// Unquoted text, or text between double quotes, as it is written.
    fn literal(&mut self, raw: &str, quoted: bool, first: bool, brace: Option<usize>, drafts: &mut [Draft]) {
        if !quoted && first && raw.starts_with('~') {
            let home = Hidden { start: "/".to_owned(), plain: true, ..Hidden::default() };
            for draft in drafts.iter_mut() {
                draft.hide(&home);
            }
            let rest = raw.split_once('/').map_or("", |(_, rest)| rest);
            self.literal(rest, quoted, false, None, drafts);
            return;
        }
        let mut text = String::new();
        let mut chars = raw.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some((_, '\n')) => {}
                    Some((_, next)) if quoted && !matches!(next, '$' | '`' | '"' | '\\') => {
                        text.push('\\');
                        text.push(next);
                    }
                    Some((_, next)) => text.push(next),
                    None => text.push('\\'),
                },
                // In an assignment a pattern stays as it is; `[` alone is a program.
                '*' | '?' | '[' if !quoted && !self.assigning && raw != "[" => {
                    self.hidden_names(&text, drafts);
                    return;
                }
                '{' if !quoted && !self.assigning && brace == Some(at) => {
                    self.hidden_names(&text, drafts);
                    return;
                }
                '(' | ')' if !quoted => {
                    self.unknown("has a pattern of bash that is not judged");
                    return;
                }
                c => text.push(c),
            }
        }
        for draft in drafts.iter_mut() {
            draft.push(&text);
        }
    }

    /// A pattern of file names or a list in braces, after some text that is known.
    fn hidden_names(&mut self, before: &str, drafts: &mut [Draft]) {
        self.needs_shell();
        let names = Hidden { many: true, keeps_start: true, ..Hidden::default() };
        for draft in drafts {
            draft.push(before);
            draft.hide(&names);
        }
    }

    fn single_quoted(&mut self, value: &str, dollar: bool, written: &str, drafts: &mut [Draft]) {
        let text = if dollar { ansi_c(written) } else { Some(value.to_owned()) };
        match text {
            Some(text) => drafts.iter_mut().for_each(|draft| draft.push(&text)),
            None => self.unknown("has a word in `$'...'` whose escapes are not followed"),
        }
    }

    /// `$name` inside a word.
    fn variable(&mut self, name: &str, quoted: bool, drafts: &mut Vec<Draft>) {
        self.needs_shell();
        self.check_name(name);
        let quoted = quoted || self.assigning;
        let value = self.scope.value(name);
        if let Value::OneOf(values) = &value
            && values.iter().all(|text| quoted || is_safe(text))
            && drafts.len() * values.len() <= VALUES_MAX
        {
            let extended = drafts.iter().flat_map(|draft| {
                values.iter().map(move |value| {
                    let mut draft = draft.clone();
                    draft.push(value);
                    draft
                })
            });
            *drafts = extended.collect();
            return;
        }
        let hidden = hidden_variable(name, &value, quoted);
        for draft in drafts.iter_mut() {
            draft.hide(&hidden);
        }
    }

    /// The parser takes `${ command; }` of newer shells for a variable with an odd name.
    pub(super) fn check_name(&mut self, name: &str) {
        let special = name.len() == 1 && name.chars().all(|c| "?$#!@*-_0123456789".contains(c));
        let word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !(special || word || (!name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()))) {
            self.unknown("has an expansion that is not judged");
        }
    }

    /// Remembers `name=value`, and reads what the value holds.
    pub(super) fn assignment(&mut self, assignment: &Assignment) {
        let name = assignment.target.name.as_str().to_owned();
        if let Some(subscript) = &assignment.target.subscript
            && !self.is_plain_subscript(subscript)
        {
            self.unknown("sets an element of a list whose place is computed");
        }
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let alternatives = self.assigned(word);
                if assignment.append || assignment.target.subscript.is_some() { Value::Unknown } else { alternatives }
            }
            AssignmentValue::Compound(list) => {
                for element in &list.elements {
                    if let shuck_ast::ArrayElem::Keyed { .. } | shuck_ast::ArrayElem::KeyedAppend { .. } = element {
                        self.unknown("sets elements of a list by computed places");
                    }
                    self.word(&element.value().word);
                }
                Value::Unknown
            }
        };
        self.assign(&name, value);
    }

    /// What a word is in an assignment, where blanks and patterns stay as they are.
    fn assigned_words(&mut self, word: &SyntaxWord) -> Vec<Word> {
        let before = std::mem::replace(&mut self.assigning, true);
        let words = self.word(word).into_iter().flatten().collect();
        self.assigning = before;
        words
    }

    /// What a variable holds after `name=WORD`.
    fn assigned(&mut self, word: &SyntaxWord) -> Value {
        let words = self.assigned_words(word);
        let known: Option<Vec<String>> = words.iter().map(|word| word.known().map(str::to_owned)).collect();
        match (known, words.as_slice()) {
            (Some(texts), _) if !texts.is_empty() => Value::OneOf(texts),
            (Some(_), _) => Value::OneOf(vec![String::new()]),
            (None, [Word::Unseen(unseen)]) => of_unseen(unseen),
            (None, _) => Value::Unknown,
        }
    }

    /// `NAME=value` before a program.
    pub(super) fn settings(&mut self, assignments: &[Assignment]) -> Vec<(String, Word)> {
        let mut settings = Vec::new();
        for assignment in assignments {
            self.needs_shell();
            let AssignmentValue::Scalar(word) = &assignment.value else {
                self.unknown("sets a list before a program");
                continue;
            };
            let values = self.assigned_words(word);
            if assignment.append || assignment.target.subscript.is_some() {
                self.unknown("changes a variable before a program");
            }
            let name = assignment.target.name.as_str();
            settings.extend(values.into_iter().map(|value| (name.to_owned(), value)));
        }
        settings
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        for part in &pattern.parts {
            match &part.kind {
                PatternPart::Literal(_) | PatternPart::AnyString | PatternPart::AnyChar => {}
                PatternPart::CharClass(text) => {
                    if text.slice(self.source).contains(['$', '`']) {
                        self.unknown("has a pattern with something computed inside");
                    }
                }
                PatternPart::Group { patterns, .. } => patterns.iter().for_each(|inner| self.pattern(inner)),
                PatternPart::Word(word) => {
                    self.word(word);
                }
            }
        }
    }
}

/// What a variable holds that was set to this, or to an item of a loop that is this.
pub(super) fn of_unseen(unseen: &Unseen) -> Value {
    match unseen {
        Unseen { number: true, plain: true, .. } => Value::Number,
        Unseen { number: true, .. } => Value::Integer,
        Unseen { plain: true, pieces: true, .. } => Value::Plain,
        Unseen { plain: true, start, .. } => Value::Starting(start.clone()),
        Unseen { .. } => Value::Unknown,
    }
}

pub(super) fn hidden_variable(name: &str, value: &Value, quoted: bool) -> Hidden {
    let anything = Hidden::anything(quoted && !matches!(name, "@" | "*"));
    match value {
        Value::Number => Hidden::digits(),
        Value::Integer => Hidden::integer(),
        Value::Plain => Hidden { plain: true, pieces: true, ..anything },
        Value::Starting(start) => {
            Hidden { start: start.clone(), plain: true, may_be_empty: start.is_empty(), ..anything }
        }
        Value::OneOf(values) => {
            Hidden { plain: quoted && values.iter().all(|value| !value.starts_with('-')), ..anything }
        }
        Value::Unknown => anything,
    }
}

/// Text that a shell neither splits nor takes for a pattern.
fn is_safe(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_./:@%+=,-".contains(c))
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
