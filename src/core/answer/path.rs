//! A dotted path into JSON: `disks.0.used`. Keys and list positions, nothing else: no filters and no wildcards.

use serde_json::Value;

/// A path; `.` alone is the value itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path(Vec<String>);

impl Path {
    /// Reads a path, or says what is wrong with it.
    pub(super) fn parse(path: &str) -> Result<Self, String> {
        if path == "." {
            return Ok(Self(Vec::new()));
        }
        let parts: Vec<String> = path.split('.').map(str::to_owned).collect();
        let sound =
            |part: &String| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "{}|".contains(c));
        if parts.iter().all(sound) {
            Ok(Self(parts))
        } else {
            Err(format!("`{path}` is no path; write keys with dots between them, as in `disks.0.used`"))
        }
    }

    /// What stands there; none where nothing does, or `null`.
    pub(super) fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, part| step(value, part)).filter(|value| !value.is_null())
    }

    /// The rest of the path, where it begins with `first` and goes on.
    pub(super) fn below(&self, first: &str) -> Option<Self> {
        let (head, rest) = self.0.split_first()?;
        (head == first && !rest.is_empty()).then(|| Self(rest.to_vec()))
    }

    /// The argument it names, where it begins with `args`; an empty name where nothing follows.
    pub(super) fn arg(&self) -> Option<&str> {
        let (head, rest) = self.0.split_first()?;
        (head == "args").then(|| rest.first().map_or("", String::as_str))
    }
}

fn step<'v>(value: &'v Value, part: &str) -> Option<&'v Value> {
    match value {
        Value::Object(fields) => fields.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_finds_what_is_there() {
        let data = json!({"a": {"b": [10, {"c": "x"}]}, "n": null, "0": "zero"});
        let table = [
            ("a.b.0", Some(json!(10))),
            ("a.b.1.c", Some(json!("x"))),
            ("0", Some(json!("zero"))),
            (".", Some(data.clone())),
            ("a.b.2", None),
            ("a.b.-1", None),
            ("a.b.c", None),
            ("n", None),
            ("a.b.0.x", None),
        ];
        for (path, expected) in table {
            assert_eq!(Path::parse(path).expect("a path").find(&data), expected.as_ref(), "{path}");
        }
        for bad in ["", "a..b", ".a", "a.", "a b", "a|b", "{a}"] {
            assert!(Path::parse(bad).is_err(), "{bad:?} must be refused");
        }
    }
}
