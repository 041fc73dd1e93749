//! What can be wrong with an access file, a policy or a table of expectations: one sentence that names the file, the line
//! and what to do.

use std::fmt;

/// A set that is not taken into use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessError {
    /// As people know it.
    pub file: String,
    /// From 1; none where the whole file is meant.
    pub line: Option<usize>,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl AccessError {
    pub(super) fn new(file: &str, line: Option<usize>, problem: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, problem: problem.into() }
    }

    /// What a TOML reader says, with the line that it means.
    pub(super) fn toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map(|span| line_at(text, span.start));
        Self::new(file, line, error.message().trim_end().replace('\n', ", "))
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for AccessError {}

/// The line, from 1, on which a byte of a text stands.
pub(super) fn line_at(text: &str, position: usize) -> usize {
    text.bytes().take(position).filter(|byte| *byte == b'\n').count() + 1
}

/// The known word that was probably meant, as the end of a sentence.
pub(super) fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known.map(|known| (countersign_core::text::mistakes(word, known), known)).min();
    near.filter(|(mistakes, known)| mistakes * 3 <= known.chars().count())
        .map(|(_, known)| format!("; did you mean `{known}`?"))
        .unwrap_or_default()
}
