//! The short notation of options in the tables: `-n=` takes a value, `--color?` may have one attached, `-v` takes none;
//! `! 3` at the end of a text is its risk.

use super::super::judgement::Risk;

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Takes {
    Nothing,
    /// Attached, or the next word.
    Value,
    /// Attached or not at all; the next word is never its value.
    AttachedValue,
}

/// `-n=` and the like: the option, and what it takes.
pub(super) fn option(text: &str) -> Result<(String, Takes), String> {
    let (name, takes) = match text.strip_suffix('=') {
        Some(name) => (name, Takes::Value),
        None => match text.strip_suffix('?') {
            Some(name) => (name, Takes::AttachedValue),
            None => (text, Takes::Nothing),
        },
    };
    let bare = name.trim_start_matches(['-', '+']);
    let odd = bare.chars().any(|c| c.is_whitespace() || c == '=');
    if odd || !name.starts_with(['-', '+']) || (bare.is_empty() && name != "-") {
        return Err(format!("`{text}` is not an option"));
    }
    Ok((name.to_owned(), takes))
}

/// `deletes files !3`: the words, and the risk, which is 2 where none is given.
pub(in super::super) fn split_risk(text: &str) -> Result<(String, Risk), String> {
    let Some((words, level)) = text.rsplit_once('!') else {
        return Ok((text.trim().to_owned(), Risk::MediumWrite));
    };
    let risk = match level.trim() {
        "2" => Risk::MediumWrite,
        "3" => Risk::HighWrite,
        other => return Err(format!("`{other}` is not a risk; write !2 or !3")),
    };
    Ok((words.trim().to_owned(), risk))
}
