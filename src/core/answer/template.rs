//! Templates: a sentence with `{path}` and `{path|unit}` in it. `{{` and `}}` are braces. A path goes into the answer's
//! data, or into the call's arguments where it begins with `args.`.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use serde_json::{Map, Value};

use super::path::Path;
use super::units;
use crate::secrets::Mask;
use crate::tool::Unit;

/// What stands for a value that the answer lacks.
const MISSING: &str = "unknown";

/// A template that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Value(Path, Unit),
}

/// What templates take their values from, masked.
pub(super) struct Scope {
    /// The answer's data.
    pub(super) data: Value,
    args: Value,
}

impl Scope {
    /// Masks the data and the arguments.
    pub(super) fn new(mask: &Mask, data: &Value, args: Option<&Map<String, Value>>) -> Self {
        let args = args.map_or(Value::Null, |args| mask.mask_json(&Value::Object(args.clone())));
        Self { data: mask.mask_json(data), args }
    }

    /// The data and the arguments as they are.
    pub(super) fn unmasked(data: &Value, args: &Map<String, Value>) -> Self {
        Self { data: data.clone(), args: Value::Object(args.clone()) }
    }

    fn find(&self, path: &Path) -> Option<&Value> {
        match path.below("args") {
            Some(path) => path.find(&self.args),
            None => path.find(&self.data),
        }
    }
}

impl Template {
    /// Reads a template. The error says what is wrong and what would be right.
    pub fn parse(template: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut rest = template;
        while let Some(c) = rest.chars().next() {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                '{' | '}' if rest.starts_with(c) => {
                    text.push(c);
                    rest = rest.get(1..).unwrap_or_default();
                }
                '{' => {
                    let Some((inside, after)) = rest.split_once('}') else {
                        return Err("`{` without `}`; write `{{` for a brace".to_owned());
                    };
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    pieces.push(value_piece(inside)?);
                    rest = after;
                }
                '}' => return Err("`}` without `{`; write `}}` for a brace".to_owned()),
                _ => text.push(c),
            }
        }
        pieces.push(Piece::Text(text));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Ok(Self(pieces))
    }

    /// The arguments that it uses, by name.
    pub(super) fn args(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value(path, _) => path.arg(),
        })
    }

    /// The text, with `unknown` for what is missing. Values are not cleaned yet.
    pub(super) fn render(&self, scope: &Scope) -> String {
        self.0.iter().map(|piece| piece.render(scope).unwrap_or_else(|| MISSING.to_owned())).collect()
    }

    /// The text, or none where a value is missing. Values are not cleaned yet.
    pub(super) fn render_whole(&self, scope: &Scope) -> Option<String> {
        self.0.iter().map(|piece| piece.render(scope)).collect()
    }
}

impl Piece {
    fn render(&self, scope: &Scope) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            // A value never begins a line of its own: what somebody named a file must not look like a sentence of ours.
            Self::Value(path, unit) => scope.find(path).map(|value| units::write(value, *unit).replace('\n', "⏎")),
        }
    }
}

fn value_piece(inside: &str) -> Result<Piece, String> {
    let (path, unit) = match inside.split_once('|') {
        Some((path, unit)) => (path, unit_named(unit)?),
        None => (inside, Unit::Plain),
    };
    Ok(Piece::Value(Path::parse(path)?, unit))
}

fn unit_named(name: &str) -> Result<Unit, String> {
    let name: StrDeserializer<'_, Error> = name.into_deserializer();
    Unit::deserialize(name).map_err(|error| format!("no such unit: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn render(template: &str) -> (String, Option<String>) {
        let data = json!({"name": "nginx", "mem": {"rss": 1536}, "ports": [80, 443], "gone": null});
        let args = json!({"lines": 50, "token": "hunter2"});
        let scope = Scope::new(&Mask::default(), &data, args.as_object());
        let template = Template::parse(template).expect("the template is sound");
        (template.render(&scope), template.render_whole(&scope))
    }

    #[test]
    fn values_are_put_in() {
        let table = [
            ("", ""),
            ("nothing in it", "nothing in it"),
            ("{name} uses {mem.rss|bytes}.", "nginx uses 1.5 KiB."),
            ("{ports.1}{ports.0}", "44380"),
            ("{{{name}}} {{}}", "{nginx} {}"),
            ("the last {args.lines} lines", "the last 50 lines"),
            ("with {args.token}", "with [masked: token]"),
        ];
        for (template, expected) in table {
            assert_eq!(render(template), (expected.to_owned(), Some(expected.to_owned())), "{template}");
        }
    }

    #[test]
    fn what_is_missing_is_unknown_or_makes_it_absent() {
        for template in ["{nobody}", "{gone}", "{ports.7}", "{args.nobody}", "{mem.rss.x}", "{args}"] {
            assert_eq!(render(&format!("is {template}")), ("is unknown".to_owned(), None), "{template}");
        }
    }

    #[test]
    fn a_malformed_template_says_what_would_be_right() {
        let table = [
            ("{name", "`{` without `}`; write `{{` for a brace"),
            ("name}", "`}` without `{`; write `}}` for a brace"),
            ("{}", "`` is no path; write keys with dots between them, as in `disks.0.used`"),
            ("{a..b}", "`a..b` is no path; write keys with dots between them, as in `disks.0.used`"),
            ("{a b}", "`a b` is no path; write keys with dots between them, as in `disks.0.used`"),
            (
                "{a|byte}",
                "no such unit: unknown variant `byte`, expected one of `plain`, `bytes`, `percent`, `duration`, `time`, \
                 `yes_no`, `celsius`",
            ),
        ];
        for (template, expected) in table {
            assert_eq!(Template::parse(template), Err(expected.to_owned()), "{template}");
        }
    }
}
