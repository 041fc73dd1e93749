//! What a request asks for: its path, its query, and its body (JSON, or multipart with `payload_json` and `files[n]`), read
//! strictly. Discord ignores a field that it does not know; here it is refused and named, because in a bot it is a mistake.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::channel::ChannelId;
use crate::refusal::{Problems, Refusal};

/// A file of a multipart body, by the number in its name.
#[derive(Debug, Clone)]
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) mime: Option<String>,
    pub(crate) bytes: Bytes,
}

/// One request, read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Form {
    /// What stood in the path, in order.
    pub(crate) path: Vec<String>,
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) body: Value,
    pub(crate) files: BTreeMap<u64, Upload>,
}

impl Form {
    pub(crate) async fn read(query: &str, content_type: &str, body: Bytes) -> Result<Self, Refusal> {
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let mut form = Self { query, ..Self::default() };
        if let Ok(boundary) = multer::parse_boundary(content_type) {
            form.add_parts(body, boundary).await?;
        } else if !body.is_empty() {
            if !content_type.starts_with("application/json") {
                return Err(Refusal::new(400, 50_109, "Expected \"Content-Type\" header to be \"application/json\"."));
            }
            form.body = json(&body)?;
        }
        Ok(form)
    }

    async fn add_parts(&mut self, body: Bytes, boundary: String) -> Result<(), Refusal> {
        let broken = |why: multer::Error| Refusal::field("", "FAKE_MULTIPART", &why.to_string());
        let whole = futures::stream::iter([Ok::<_, Infallible>(body)]);
        let mut parts = multer::Multipart::new(whole, boundary);
        while let Some(part) = parts.next_field().await.map_err(broken)? {
            let name = part.name().unwrap_or_default().to_owned();
            let (mime, file) = (part.content_type().map(ToString::to_string), part.file_name().map(str::to_owned));
            let bytes = part.bytes().await.map_err(broken)?;
            let number = name.strip_prefix("files[").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
            match (number, file) {
                (Some(number), Some(name)) => drop(self.files.insert(number, Upload { name, mime, bytes })),
                (None, None) if name == "payload_json" => self.body = json(&bytes)?,
                _ => return Err(unknown_field(&name)),
            }
        }
        Ok(())
    }

    /// What the log shows: the body, or the query where there is none.
    pub(crate) fn shown(&self) -> Value {
        match &self.body {
            Value::Null => self.query.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            body => body.clone(),
        }
    }

    pub(crate) fn part(&self, at: usize) -> &str {
        self.path.get(at).map_or("", String::as_str)
    }

    /// An id in the path; 0, which nothing bears, where it is none.
    pub(crate) fn id(&self, at: usize) -> u64 {
        self.part(at).parse().unwrap_or(0)
    }

    pub(crate) fn channel(&self) -> ChannelId {
        ChannelId(self.id(0))
    }

    /// A number in the query, within its bounds.
    pub(crate) fn count(&self, name: &str, default: usize, most: usize) -> Result<usize, Refusal> {
        let Some(text) = self.query.get(name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| {
            Refusal::field(name, "NUMBER_TYPE_MAX", &format!("int value should be between 1 and {most}."))
        })
    }

    /// Reads the body's fields; `read` sees only those that `known` names, and every problem is told at once.
    pub(crate) fn fields<T>(&self, known: &[&str], read: impl FnOnce(&Fields<'_>) -> T) -> Result<T, Refusal> {
        let empty = Map::new();
        let map = match &self.body {
            Value::Object(map) => map,
            Value::Null => &empty,
            _ => return Err(Refusal::field("", "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")),
        };
        let problems = RefCell::default();
        let fields = Fields { path: String::new(), map, problems: &problems };
        fields.only(known);
        let read = read(&fields);
        problems.into_inner().done().map(|()| read)
    }
}

fn json(bytes: &[u8]) -> Result<Value, Refusal> {
    let broken = |_| Refusal::new(400, 50_109, "The request body contains invalid JSON.");
    serde_json::from_slice(bytes).map_err(broken)
}

fn unknown_field(name: &str) -> Refusal {
    Refusal::field(name, "FAKE_UNKNOWN_FIELD", "Discord knows no such field; the fake does not ignore it.")
}

/// An object in a body, and where it stands. What is wrong with it is written down; reading goes on.
pub(crate) struct Fields<'a> {
    path: String,
    map: &'a Map<String, Value>,
    problems: &'a RefCell<Problems>,
}

impl<'a> Fields<'a> {
    pub(crate) fn wrong(&self, name: &str, code: &str, why: &str) {
        let path = if name.is_empty() { self.path.clone() } else { self.at(name) };
        self.problems.borrow_mut().add(&path, code, why);
    }

    fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(crate) fn only(&self, known: &[&str]) {
        for name in self.map.keys().filter(|name| !known.contains(&name.as_str())) {
            self.wrong(name, "FAKE_UNKNOWN_FIELD", "Discord knows no such field; the fake does not ignore it.");
        }
    }

    /// The value, unless it is absent or null.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// Whether it is there, be it null.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    pub(crate) fn text(&self, name: &str, most: usize) -> Option<&'a str> {
        let text = self.get(name)?.as_str();
        if text.is_none() {
            self.wrong(name, "STRING_TYPE_CONVERT", "Could not interpret value as string.");
        }
        if text.is_some_and(|text| text.chars().count() > most) {
            self.wrong(name, "BASE_TYPE_MAX_LENGTH", &format!("Must be {most} or fewer in length."));
        }
        text
    }

    /// A text that must be there and not be empty.
    pub(crate) fn required_text(&self, name: &str, most: usize) -> &'a str {
        let text = self.text(name, most).unwrap_or_default();
        if text.is_empty() {
            self.wrong(name, "BASE_TYPE_REQUIRED", "This field is required");
        }
        text
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        let number = self.get(name)?.as_u64();
        if number.is_none() {
            self.wrong(name, "NUMBER_TYPE_COERCE", &format!("Value \"{}\" is not int.", self.map[name]));
        }
        number
    }

    /// An id: a number in a text, or a number.
    pub(crate) fn id(&self, name: &str) -> Option<u64> {
        let value = self.get(name)?;
        let id = value.as_str().and_then(|text| text.parse().ok()).or_else(|| value.as_u64());
        if id.is_none() {
            self.wrong(name, "NUMBER_TYPE_COERCE", &format!("Value \"{value}\" is not snowflake."));
        }
        id
    }

    /// False where it is absent.
    pub(crate) fn flag(&self, name: &str) -> bool {
        let Some(value) = self.get(name) else { return false };
        if !value.is_boolean() {
            self.wrong(name, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.");
        }
        value.as_bool().unwrap_or(false)
    }

    pub(crate) fn list(&self, name: &str, most: usize) -> Option<&'a [Value]> {
        let list = self.get(name)?.as_array();
        if list.is_none() {
            self.wrong(name, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType");
        }
        if list.is_some_and(|list| list.len() > most) {
            self.wrong(name, "BASE_TYPE_BAD_LENGTH", &format!("Must be between 0 and {most} in length."));
        }
        list.map(Vec::as_slice)
    }

    /// The objects of a list; what is no object is a problem.
    pub(crate) fn objects(&self, name: &str, most: usize) -> Vec<Fields<'a>> {
        let listed = self.list(name, most).unwrap_or_default().iter().enumerate();
        listed.filter_map(|(at, value)| self.inner(&format!("{name}.{at}"), value)).collect()
    }

    pub(crate) fn object(&self, name: &str) -> Option<Fields<'a>> {
        self.inner(name, self.get(name)?)
    }

    fn inner(&self, name: &str, value: &'a Value) -> Option<Fields<'a>> {
        let map = value.as_object();
        if map.is_none() {
            self.wrong(name, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType");
        }
        map.map(|map| Fields { path: self.at(name), map, problems: self.problems })
    }

    /// As it was sent.
    pub(crate) fn raw(&self) -> Value {
        Value::Object(self.map.clone())
    }
}
