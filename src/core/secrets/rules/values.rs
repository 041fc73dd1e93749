//! Which of the texts that a pattern finds are secrets: where a value ends, and what says nothing.

use super::Candidate;

/// What programs and the operating system say about a file that they could not use.
const PATH_ERRORS: [&str; 11] = [
    "cannot",
    "could not be",
    "Permission denied",
    "No such file or directory",
    "Is a directory",
    "Not a directory",
    "Read-only file system",
    "No space left on device",
    "Input/output error",
    "Operation not permitted",
    "unrecognized option",
];

/// The most of a path that is looked at.
const PATH_BYTES_MAX: usize = 256;

/// More than the longest of them.
const PATH_ERROR_CHARS_MAX: usize = 40;

/// A plain value goes on behind `&`, `;` and `,` unless another field (`name=`) begins there, and behind a quote that stands in the
/// middle of a word: what is cut off would be shown. Each character is looked at once.
pub(super) fn grown(text: &str, start: usize, mut end: usize) -> usize {
    let closes = text.get(..start).and_then(|before| before.chars().next_back()).filter(|c| "\"'`".contains(*c));
    if closes.is_some() {
        return end;
    }
    while let Some(rest) = text.get(end..) {
        let mut chars = rest.chars();
        let goes_on = match chars.next() {
            Some('&' | ';' | ',') => !begins_field(chars.as_str()),
            Some('"' | '\'' | '`') => chars.next().is_some_and(char::is_alphanumeric),
            _ => false,
        };
        if !goes_on {
            break;
        }
        end += 1 + rest.chars().skip(1).take_while(|c| !is_delimiter(*c)).map(char::len_utf8).sum::<usize>();
    }
    // The sign that escapes a closing quote is not the value's.
    let value = text.get(start..end).unwrap_or_default();
    let is_escape = text.get(end..).is_some_and(|rest| rest.starts_with(['"', '\'', '`']));
    if is_escape { start + value.trim_end_matches('\\').len() } else { end }
}

fn is_delimiter(c: char) -> bool {
    c.is_whitespace() || matches!(c, '&' | ';' | ',' | '"' | '\'' | '`')
}

/// Whether what follows a separator is nothing more of the value: the end, white space, or `name=`.
fn begins_field(rest: &str) -> bool {
    let name: usize = rest
        .chars()
        .take(64)
        .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        .map(char::len_utf8)
        .sum();
    let after = rest.get(name..).and_then(|after| after.chars().next());
    match after {
        None => name == 0,
        Some('=') => name > 0,
        Some(c) => name == 0 && (c.is_whitespace() || matches!(c, '"' | '\'' | '`')),
    }
}

pub(in super::super) fn is_marker(text: &str) -> bool {
    text.strip_prefix("[masked: ").and_then(|rest| rest.strip_suffix(']')).is_some_and(|class| !class.contains(']'))
}

/// Whether what follows a name for a secret can be one. It is none where it says nothing: no letter or digit, a word for
/// nothing, a reference to a variable or to one of our own stored secrets.
pub(super) fn is_value(found: &Candidate<'_>) -> bool {
    let secret = found.secret;
    let directory = found.name.to_lowercase().ends_with("pwd") && secret.starts_with(['/', '~']);
    let module_path = found.lead.ends_with(':') && secret.starts_with(':');
    let next_field = secret.starts_with(['&', ';', ',']) && begins_field(secret.get(1..).unwrap_or_default());
    !(is_nothing(secret) || directory || module_path || next_field || is_own_reference(found) || is_path_error(found))
}

/// Whether a text has letters and digits and is long enough for a password: neither a word, nor a number, nor a time.
pub(super) fn is_mixed(text: &str) -> bool {
    const CHARS_MIN: usize = 6;
    let has = |is: fn(char) -> bool| text.chars().any(is);
    text.chars().count() >= CHARS_MIN && has(char::is_alphabetic) && has(|c| c.is_ascii_digit())
}

/// As [`is_value`], with letters and digits, and not the name of a field.
pub(super) fn is_told_value(found: &Candidate<'_>) -> bool {
    let ends_as_name = found.secret.ends_with([':', '=']) || found.rest.starts_with([':', '=']);
    is_value(found) && is_mixed(found.secret) && !ends_as_name && !found.secret.starts_with(['/', '('])
}

/// Whether a value is the only thing on its line, but for quotes.
pub(super) fn stands_alone(found: &Candidate<'_>) -> bool {
    let end = found.rest.lines().next().unwrap_or_default();
    end.trim_matches(['"', '\'', '`', ',', ';', ')', '\r', ' ']).is_empty() && !found.secret.contains([':', '='])
}

/// Whether a text in the place of a secret says nothing: no letter or digit, a word for nothing, the name of a variable.
pub(in super::super) fn is_nothing(text: &str) -> bool {
    let nothing = ["null", "none", "nil", "true", "false", "yes", "no", "undefined", "unset"];
    let word = text.trim_end_matches([',', ';', '}', ')', ']']);
    !text.chars().any(char::is_alphanumeric)
        || nothing.iter().any(|nothing| word.eq_ignore_ascii_case(nothing))
        || is_variable(text)
}

/// What an error says of a file that is called like a secret: `/etc/passwd: cannot lock`, `/run/token: Permission denied`.
/// Stores of secrets name those by paths too (`/prod/db/password: x`), so that it must be an absolute path and the words of
/// an error, whole.
fn is_path_error(found: &Candidate<'_>) -> bool {
    // No longer than a path, so that a text without blanks is not gone over for each find.
    let from = found.before.floor_char_boundary(found.before.len().saturating_sub(PATH_BYTES_MAX));
    let before = found.before.get(from..).unwrap_or_default();
    let word = before.rsplit(|c: char| c.is_whitespace() || "\"'`".contains(c)).next().unwrap_or_default();
    let is_path = word.starts_with('/') && word.ends_with('/') && found.lead.strip_prefix(found.name) == Some(": ");
    let said: String = found.secret.chars().chain(found.rest.chars()).take(PATH_ERROR_CHARS_MAX).collect();
    let is_said = |error: &&str| said.strip_prefix(*error).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    is_path && PATH_ERRORS.iter().any(is_said)
}

/// `${NAME}` or `$NAME`, or an expression of a template.
fn is_variable(text: &str) -> bool {
    let templates = [("${{", "}}"), ("{{", "}}"), ("<%", "%>")];
    if templates.iter().any(|(open, close)| text.starts_with(open) && text.ends_with(close)) {
        return true;
    }
    let Some(name) = text.strip_prefix('$') else { return false };
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    is_upper_name(name)
}

/// `secret:NAME`, which is resolved only at execution (DESIGN.md section 4).
fn is_own_reference(found: &Candidate<'_>) -> bool {
    found.lead == "secret:" && is_upper_name(found.secret)
}

fn is_upper_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// As [`is_value`], and neither the next flag nor a word of prose about the flag.
pub(super) fn is_flag_value(found: &Candidate<'_>) -> bool {
    let prose = ["and", "argument", "flag", "flags", "is", "option", "or", "parameter", "to"];
    is_value(found)
        && !found.secret.starts_with('-')
        && !prose.contains(&found.secret.trim_end_matches([',', '.', ')']))
}

/// The digest of an image stands behind an `@` as well: `docker://nginx:1.25@sha256:...`.
pub(super) fn is_url_password(found: &Candidate<'_>) -> bool {
    !found.rest.starts_with("@sha256:")
}

/// What follows `Bearer` or `Basic` in a header, and not a word of prose or the next `name=value`.
pub(super) fn is_scheme_value(found: &Candidate<'_>) -> bool {
    looks_random(found.secret) && !found.rest.starts_with(char::is_alphanumeric)
}

/// Whether a word is no English: a digit, a `=` or a capital inside it, or longer than words are.
pub(in super::super) fn looks_random(text: &str) -> bool {
    text.len() >= 24 || text.chars().skip(1).any(|c| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '=')
}
