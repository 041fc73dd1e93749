//! Arguments: what an action takes, and the lossless casts and checks that turn what was proposed into what may be
//! called. An argument's kind also says what it can reach (a path, a destination, a command), which is what the gates
//! look at.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

/// The most characters of a text argument that declares no limit of its own.
const TEXT_CHARS_MAX: u64 = 256;

/// The most bytes of a content that declares no limit of its own: what a card can still show.
const CONTENT_BYTES_MAX: usize = 6 * 1024;

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgKind {
    /// Any text on one line.
    Text,
    /// A whole number.
    Integer,
    /// Yes or no.
    Boolean,
    /// One of `choices`.
    Choice,
    /// A path in the target's file system: absolute, without `..`. The gates `secrets` and `self` look at it.
    Path,
    /// A host name, an address or a URL that the call would talk to. The gate `egress` looks at it.
    Destination,
    /// A command line. The gate `intent` looks at it.
    Command,
    /// A credential by its name, `secret:NAME`; the tool client puts the value in its place when it sends the call. The gate
    /// `vault` looks at it.
    Credential,
    /// The content of a file: lines, tabs allowed, taken as it was typed; `max` is bytes.
    Content,
}

/// One argument of an action.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgSpec {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: ArgKind,
    /// For the model and for `help`.
    pub about: String,
    /// Whether it must be given.
    #[serde(default)]
    pub required: bool,
    /// Taken where it is not given.
    #[serde(default)]
    pub default: Option<toml::Value>,
    /// The least number.
    #[serde(default)]
    pub min: Option<i64>,
    /// The greatest number; for texts, the most characters.
    #[serde(default)]
    pub max: Option<i64>,
    /// What a choice chooses from; lower case.
    #[serde(default)]
    pub choices: Vec<String>,
}

/// Why arguments are not valid. Each names the argument and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArgError {
    /// Missing.
    #[error("`{name}` is missing: {about}")]
    Missing {
        /// Which argument.
        name: String,
        /// What it is.
        about: String,
    },
    /// Not declared.
    #[error("`{name}` is no argument of this action; it takes {known}")]
    Unknown {
        /// Which argument.
        name: String,
        /// What there is.
        known: String,
    },
    /// Of the wrong kind or out of range.
    #[error("`{name}` must be {wanted}, not {got}")]
    Wrong {
        /// Which argument.
        name: String,
        /// What would be right.
        wanted: String,
        /// What was given, escaped and cut.
        got: String,
    },
}

impl ArgError {
    /// The argument at fault.
    pub fn argument(&self) -> &str {
        match self {
            Self::Missing { name, .. } | Self::Unknown { name, .. } | Self::Wrong { name, .. } => name,
        }
    }
}

/// Casts and checks proposed arguments against their declaration and fills in defaults. Only lossless casts (VAL-05):
/// `"8080"` becomes 8080 and `"YES"` true, `"8 o'clock"` becomes an error.
pub fn cast(declared: &BTreeMap<String, ArgSpec>, given: &Map<String, Value>) -> Result<Map<String, Value>, ArgError> {
    if let Some(name) = given.keys().find(|name| !declared.contains_key(*name)) {
        return Err(ArgError::Unknown { name: shorten(name), known: known(declared) });
    }
    let mut cast = Map::new();
    for (name, spec) in declared {
        match given.get(name).filter(|value| !value.is_null()) {
            Some(value) => {
                cast.insert(name.clone(), spec.cast(name, value)?);
            }
            None if spec.required => {
                return Err(ArgError::Missing { name: name.clone(), about: spec.about.clone() });
            }
            None => {
                if let Some(default) = &spec.default {
                    cast.insert(name.clone(), plain(default));
                }
            }
        }
    }
    Ok(cast)
}

impl ArgSpec {
    /// Casts one value losslessly, or says what would be right.
    pub(super) fn cast(&self, name: &str, value: &Value) -> Result<Value, ArgError> {
        let cast = match self.kind {
            ArgKind::Integer => whole_number(value).filter(|n| self.in_range(*n)).map(Value::from),
            ArgKind::Boolean => yes_or_no(value).map(Value::from),
            ArgKind::Choice => {
                text(value).map(|t| t.to_lowercase()).filter(|t| self.choices.contains(t)).map(Value::from)
            }
            ArgKind::Path => text(value).filter(|t| self.fits(t) && is_plain_path(t)).map(Value::from),
            ArgKind::Text | ArgKind::Destination | ArgKind::Command => {
                text(value).filter(|t| self.fits(t)).map(Value::from)
            }
            ArgKind::Credential => text(value).filter(|t| credential_in(t).is_some()).map(Value::from),
            // Untrimmed: white space is content.
            ArgKind::Content => value.as_str().filter(|t| self.is_content(t)).map(Value::from),
        };
        cast.ok_or_else(|| ArgError::Wrong { name: name.to_owned(), wanted: self.wanted(), got: shown(value) })
    }

    fn in_range(&self, number: i64) -> bool {
        self.min.is_none_or(|min| number >= min) && self.max.is_none_or(|max| number <= max)
    }

    fn fits(&self, text: &str) -> bool {
        let chars_max = self.max.and_then(|max| u64::try_from(max).ok()).unwrap_or(TEXT_CHARS_MAX);
        let chars = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        !text.is_empty() && chars <= chars_max && !text.chars().any(char::is_control)
    }

    fn is_content(&self, text: &str) -> bool {
        let control = |c: char| c.is_control() && c != '\n' && c != '\t';
        text.len() <= self.bytes_max() && !text.chars().any(control)
    }

    fn bytes_max(&self) -> usize {
        self.max.and_then(|max| usize::try_from(max).ok()).unwrap_or(CONTENT_BYTES_MAX)
    }

    fn wanted(&self) -> String {
        match self.kind {
            ArgKind::Integer => match (self.min, self.max) {
                (Some(min), Some(max)) => format!("a whole number from {min} to {max}"),
                (Some(min), None) => format!("a whole number of at least {min}"),
                (None, Some(max)) => format!("a whole number of at most {max}"),
                (None, None) => "a whole number".to_owned(),
            },
            ArgKind::Boolean => "yes or no".to_owned(),
            ArgKind::Choice => format!("one of {}", self.choices.join(", ")),
            ArgKind::Path => "an absolute path without `..`".to_owned(),
            ArgKind::Credential => "`secret:NAME`".to_owned(),
            ArgKind::Content => {
                format!("text of at most {} bytes, without control characters but tabs and line ends", self.bytes_max())
            }
            ArgKind::Text | ArgKind::Destination | ArgKind::Command => {
                let chars_max = self.max.and_then(|max| u64::try_from(max).ok()).unwrap_or(TEXT_CHARS_MAX);
                format!("a text on one line of at most {chars_max} characters")
            }
        }
    }
}

/// Returns the name in `secret:NAME`.
pub fn credential_in(value: &str) -> Option<&str> {
    let name = value.strip_prefix("secret:")?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// A TOML scalar as JSON. Declarations hold no other values; dates and tables never pass `Registry::load`.
pub(super) fn plain(value: &toml::Value) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn yes_or_no(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(yes) => Some(*yes),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_plain_path(path: &str) -> bool {
    path.starts_with('/') && !path.split('/').any(|part| part == "..")
}

fn known(declared: &BTreeMap<String, ArgSpec>) -> String {
    if declared.is_empty() {
        return "none".to_owned();
    }
    declared.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A given value for an error message: a text in quotes, anything else as JSON.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| shorten(&value.to_string()), |text| format!("“{}”", shorten(text)))
}

/// Untrusted text for an error message: escaped, at most 60 characters.
fn shorten(text: &str) -> String {
    let escaped: String = text.escape_debug().collect();
    if escaped.chars().count() <= 60 {
        return escaped;
    }
    let mut short: String = escaped.chars().take(60).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared() -> BTreeMap<String, ArgSpec> {
        toml::from_str(
            r#"
            port = { type = "integer", about = "which port", required = true, min = 1, max = 65535 }
            wait = { type = "boolean", about = "wait for it", default = false }
            by = { type = "choice", about = "what to sort by", choices = ["cpu", "memory"], default = "cpu" }
            path = { type = "path", about = "which file" }
            word = { type = "text", about = "which word", max = 8 }
            "#,
        )
        .expect("the declaration is sound")
    }

    fn cast_json(given: &str) -> Result<String, String> {
        let given = serde_json::from_str(given).expect("a JSON object");
        cast(&declared(), &given).map(|args| Value::Object(args).to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn casts_are_lossless_and_errors_name_the_fix() {
        let table = [
            (r#"{"port": "8080", "wait": "Yes", "by": "MEMORY"}"#, Ok(r#"{"by":"memory","port":8080,"wait":true}"#)),
            (
                r#"{"port": 1, "path": "/var/log/x.log"}"#,
                Ok(r#"{"by":"cpu","path":"/var/log/x.log","port":1,"wait":false}"#),
            ),
            (r#"{"port": null}"#, Err("`port` is missing: which port")),
            (r#"{"port": "8080x"}"#, Err("`port` must be a whole number from 1 to 65535, not “8080x”")),
            (r#"{"port": 1.5}"#, Err("`port` must be a whole number from 1 to 65535, not 1.5")),
            (r#"{"port": 70000}"#, Err("`port` must be a whole number from 1 to 65535, not 70000")),
            (
                r#"{"port": 1, "path": "etc/passwd"}"#,
                Err("`path` must be an absolute path without `..`, not “etc/passwd”"),
            ),
            (
                r#"{"port": 1, "path": "/a/../etc"}"#,
                Err("`path` must be an absolute path without `..`, not “/a/../etc”"),
            ),
            (
                r#"{"port": 1, "word": "ninechars"}"#,
                Err("`word` must be a text on one line of at most 8 characters, not “ninechars”"),
            ),
            (
                r#"{"port": 1, "word": "a\nb"}"#,
                Err("`word` must be a text on one line of at most 8 characters, not “a\\nb”"),
            ),
            (
                r#"{"port": 1, "sudo": true}"#,
                Err("`sudo` is no argument of this action; it takes `by`, `path`, `port`, `wait`, `word`"),
            ),
        ];
        for (given, expected) in table {
            assert_eq!(cast_json(given), expected.map(str::to_owned).map_err(str::to_owned), "{given}");
        }
    }
}
