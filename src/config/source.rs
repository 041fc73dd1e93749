//! One place that keys come from: the file, or one variable or flag. It is read and checked alone, so that an error can say
//! where it stands. Which source wins is `load.rs`.

use std::path::{Path, PathBuf};

use figment::Figment;
use figment::error::{Actual, Kind};
use figment::providers::Serialized;
use figment::util::nest;
use figment::value::{Dict, Value};

use super::error::{ConfigError, Line};
use super::keys;
use super::sections::Config;

/// Where a source stands in the order; a later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    File,
    DotEnv,
    Environment,
    CommandLine,
}

/// One place that keys come from.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) layer: Layer,
    /// As people know it: a file's name, a variable's, a flag's.
    name: String,
    /// What relative paths in it are relative to.
    pub(super) base: PathBuf,
    /// The file's text, to find a key's line; empty elsewhere.
    text: String,
    pub(super) table: Dict,
}

impl Source {
    /// Reads a TOML file. `name` is the path as people know it, relative to `cwd` or not.
    pub(super) fn file(name: &Path, cwd: &Path, known: &[String]) -> Result<Self, ConfigError> {
        let path = cwd.join(name);
        let text = std::fs::read_to_string(&path).map_err(|error| ConfigError::unreadable(name, &error))?;
        let table = parse(name, &text)?;
        let base = path.parent().unwrap_or(cwd).to_owned();
        let source = Self { layer: Layer::File, name: name.display().to_string(), base, text, table };
        source.check(known)?;
        Ok(source)
    }

    /// One variable or flag. Its text is taken as it is where the key takes text, so that a password of digits stays one;
    /// elsewhere as a number, a truth value or a `[list]`.
    pub(super) fn single(
        layer: Layer,
        name: &str,
        key: &str,
        value: &str,
        cwd: &Path,
        known: &[String],
    ) -> Result<Self, ConfigError> {
        let with = |value| Self {
            layer,
            name: name.to_owned(),
            base: cwd.to_owned(),
            text: String::new(),
            table: nest(key, value).into_dict().unwrap_or_default(),
        };
        let as_text = with(Value::from(value.to_owned()));
        if value.is_empty() {
            return Err(as_text.value_error(key, "is empty; give it a value or unset it"));
        }
        if as_text.check(known).is_ok() {
            return Ok(as_text);
        }
        let parsed: Value = value.parse().unwrap_or_else(|never: std::convert::Infallible| match never {});
        let as_value = with(parsed);
        as_value.check(known)?;
        Ok(as_value)
    }

    /// Whether it gives this key.
    pub(super) fn gives(&self, key: &str) -> bool {
        Value::from(self.table.clone()).find_ref(key).is_some()
    }

    /// A key of it whose value does not fit.
    pub(super) fn value_error(&self, key: &str, problem: impl Into<String>) -> ConfigError {
        let (origin, line) = (self.name.clone(), self.line(key));
        ConfigError::Value { origin, key: key.to_owned(), line, problem: problem.into() }
    }

    /// Refuses unknown keys and values of the wrong type.
    fn check(&self, known: &[String]) -> Result<(), ConfigError> {
        if let Some(key) = keys::first_unknown(&self.table, known) {
            return Err(Self::unknown(self.layer, &self.name, &key, self.line(&key), known));
        }
        let read = Figment::from(Serialized::defaults(&self.table)).extract::<Config>();
        read.map(drop).map_err(|error| self.value_error(&error.path.join("."), plain(&error.kind)))
    }

    /// A key that nothing reads, with the one that was probably meant.
    pub(super) fn unknown(layer: Layer, name: &str, key: &str, line: Line, known: &[String]) -> ConfigError {
        let fix = match keys::nearest(key, known) {
            None => "see config/reference.toml for every key".to_owned(),
            Some(near) if matches!(layer, Layer::DotEnv | Layer::Environment) => {
                format!("did you mean {}?", variable(&near))
            }
            Some(near) => format!("did you mean `{near}`?"),
        };
        ConfigError::Unknown { origin: name.to_owned(), key: key.to_owned(), line, fix }
    }

    fn line(&self, key: &str) -> Line {
        Line(if self.layer == Layer::File { line_of(&self.text, key) } else { None })
    }
}

/// The variable that gives a key.
pub(super) fn variable(key: &str) -> String {
    format!("COUNTERSIGN_{}", key.replace('.', "__").to_uppercase())
}

fn parse(name: &Path, text: &str) -> Result<Dict, ConfigError> {
    let table = text.parse::<toml::Table>().map_err(|error| ConfigError::File {
        origin: name.display().to_string(),
        line: Line(error.span().map(|span| line_at(text, span.start))),
        problem: format!("is not TOML: {}", error.message().replace('\n', ", ")),
    })?;
    let value = Value::serialize(&table).expect("invariant: a TOML table is plain data");
    Ok(value.into_dict().unwrap_or_default())
}

/// The line on which a key, or the nearest section above it, stands.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let document = toml::de::DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut found = None;
    for segment in key.split('.') {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == segment) else { break };
        found = Some(line_at(text, key.span().start));
        let toml::de::DeValue::Table(below) = value.get_ref() else { break };
        table = below;
    }
    found
}

fn line_at(text: &str, position: usize) -> usize {
    text.bytes().take(position).filter(|byte| *byte == b'\n').count() + 1
}

/// What is wrong with a value, to be read after the key. The value itself is left out, because it may be a secret.
fn plain(kind: &Kind) -> String {
    match kind {
        Kind::InvalidType(found, expected) | Kind::InvalidValue(found, expected) => {
            format!("must be {}, not {}", plain_expected(expected), plain_found(found))
        }
        Kind::UnknownVariant(_, variants) => {
            format!("must be one of {}", variants.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        }
        Kind::Message(message) if message.contains("socket address") => {
            "must be an address and a port, such as 127.0.0.1:9464".to_owned()
        }
        _ => "does not fit; see config/reference.toml for its form".to_owned(),
    }
}

fn plain_expected(expected: &str) -> &str {
    match expected {
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number",
        "u8" => "a whole number from 0 to 255",
        "a string" => "text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "path string" => "a path in quotes",
        "socket address" => "an address and a port in quotes",
        section if section.starts_with("struct ") || section == "a map" => "a section",
        other => other,
    }
}

fn plain_found(found: &Actual) -> &'static str {
    match found {
        Actual::Bool(_) => "true or false",
        Actual::Unsigned(_) | Actual::Signed(_) | Actual::Float(_) => "this number",
        Actual::Str(_) | Actual::Char(_) => "text",
        Actual::Seq => "a list",
        Actual::Map => "a section",
        _ => "this",
    }
}
