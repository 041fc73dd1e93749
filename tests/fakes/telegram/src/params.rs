//! What a request asks for: its parameters, however they were sent (JSON, form, query or multipart), and reading them
//! strictly. Telegram takes a number in a string and ignores what it does not know; here both are refused and named,
//! because in a bot they are mistakes.

use std::collections::BTreeMap;
use std::convert::Infallible;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::chat::{ChatId, Document};
use crate::refusal::Refusal;

/// The parameters of one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params {
    values: BTreeMap<String, Value>,
    files: BTreeMap<String, Document>,
    /// Whether the values came with types (JSON), or all as text.
    typed: bool,
}

impl Params {
    /// Reads the body by its content type, after the query string.
    pub(crate) async fn read(query: &str, content_type: &str, body: Bytes) -> Result<Self, Refusal> {
        let mut params = Self::default();
        params.add_form(query.as_bytes());
        if content_type.starts_with("application/json") && !body.is_empty() {
            let read: Value = serde_json::from_slice(&body).map_err(|_| Refusal::bad("can't parse JSON object"))?;
            let Value::Object(fields) = read else { return Err(Refusal::bad("object expected as the request's body")) };
            params.typed = true;
            params.values.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
        } else if let Ok(boundary) = multer::parse_boundary(content_type) {
            params.add_parts(body, boundary).await?;
        } else if content_type.starts_with("application/x-www-form-urlencoded") {
            params.add_form(&body);
        }
        Ok(params)
    }

    /// The fields of an object inside a parameter, read as strictly.
    pub(crate) fn inside(fields: &Map<String, Value>) -> Self {
        let values = fields.iter().filter(|(_, value)| !value.is_null());
        let values = values.map(|(name, value)| (name.clone(), value.clone())).collect();
        Self { values, files: BTreeMap::new(), typed: true }
    }

    fn add_form(&mut self, form: &[u8]) {
        for (name, value) in form_urlencoded::parse(form) {
            self.values.insert(name.into_owned(), Value::String(value.into_owned()));
        }
    }

    async fn add_parts(&mut self, body: Bytes, boundary: String) -> Result<(), Refusal> {
        let broken = |why: multer::Error| Refusal::bad(format!("can't parse multipart body: {why}"));
        let whole = futures::stream::iter([Ok::<_, Infallible>(body)]);
        let mut parts = multer::Multipart::new(whole, boundary);
        while let Some(part) = parts.next_field().await.map_err(broken)? {
            let name = part.name().unwrap_or_default().to_owned();
            let mime = part.content_type().map(ToString::to_string);
            if let Some(file) = part.file_name().map(str::to_owned) {
                let bytes = part.bytes().await.map_err(broken)?;
                self.files.insert(name, Document { name: file, mime, bytes });
            } else {
                let text = part.text().await.map_err(broken)?;
                self.values.insert(name, Value::String(text));
            }
        }
        Ok(())
    }

    /// Everything but the files, for the log.
    pub(crate) fn shown(&self) -> Value {
        self.values.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Refuses what is not in `known`. Files are not asked after: each is named by a parameter.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.values.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Refusal::bad(format!("unknown parameter \"{name}\""))),
            None => Ok(()),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.values.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong_type(name, "String")),
        }
    }

    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let wrong = || wrong_type(name, "Integer");
        match self.values.get(name) {
            None => Ok(None),
            Some(Value::Number(number)) => number.as_i64().map(Some).ok_or_else(wrong),
            Some(Value::String(text)) if !self.typed => text.parse().map(Some).map_err(|_| wrong()),
            Some(_) => Err(wrong()),
        }
    }

    /// False where it is absent.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.values.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if !self.typed => Ok(["true", "True", "1", "yes"].contains(&text.as_str())),
            Some(_) => Err(wrong_type(name, "Boolean")),
        }
    }

    /// An object or an array; a text that holds one where the request bears no types.
    pub(crate) fn json(&self, name: &str) -> Result<Option<Value>, Refusal> {
        let wrong = || wrong_type(name, "Object or Array");
        match self.values.get(name) {
            None => Ok(None),
            Some(value @ (Value::Object(_) | Value::Array(_))) => Ok(Some(value.clone())),
            Some(Value::String(text)) if !self.typed && text.is_empty() => Ok(None),
            Some(Value::String(text)) if !self.typed => serde_json::from_str(text).map(Some).map_err(|_| wrong()),
            Some(_) => Err(wrong()),
        }
    }

    /// `chat_id`, which may be a number in a text; a public name is known to no chat of the fake.
    pub(crate) fn chat(&self) -> Result<ChatId, Refusal> {
        let id = match self.values.get("chat_id") {
            None => return Err(Refusal::bad("chat_id is empty")),
            Some(Value::Number(number)) => number.as_i64(),
            Some(Value::String(text)) => text.parse().ok(),
            Some(_) => return Err(wrong_type("chat_id", "Integer or String")),
        };
        id.map(ChatId).ok_or_else(|| Refusal::bad("chat not found"))
    }

    /// The file under this name: the part itself, or the part that `attach://` names.
    pub(crate) fn file(&self, name: &str) -> Option<&Document> {
        let attached = self.values.get(name).and_then(Value::as_str).and_then(|text| text.strip_prefix("attach://"));
        self.files.get(attached.unwrap_or(name))
    }
}

fn wrong_type(name: &str, expected: &str) -> Refusal {
    Refusal::bad(format!("field \"{name}\" must be of type {expected}"))
}
