//! Masking in JSON, where the structure says more than the text of one string: keys that name a secret, lists of
//! arguments, name and value side by side, lines of a file.

use std::iter;

use serde_json::{Map, Value};

use super::Mask;
use super::mask::marker;
use super::names::class_of_name;
use super::rules::is_marker;
use super::structure::{Cover, Object, Reach};

impl Mask {
    /// The value with secrets masked: inside every string and key, and whole where a key names a secret. `null`, `true`
    /// and `false` stay under any key, and so does what is masked already. A list of texts in which something is masked
    /// comes back as a list of lines, perhaps a shorter one, because a private key becomes one line.
    pub fn mask_json(&self, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => Value::String(self.apply(text).into_owned()),
            Value::Array(items) => Value::Array(self.mask_list(items)),
            Value::Object(fields) => Value::Object(self.mask_fields(fields)),
        }
    }

    fn mask_list(&self, items: &[Value]) -> Vec<Value> {
        let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        let Some(texts) = texts.filter(|texts| !texts.is_empty()) else {
            return items.iter().map(|item| self.mask_json(item)).collect();
        };
        // Together, because a private key goes over many lines and only the first says so.
        let joined = without_flag_values(&texts).join("\n");
        let masked = self.apply(&joined);
        if masked == texts.join("\n") {
            return items.to_vec();
        }
        let lines: Vec<&str> = masked.split('\n').collect();
        without_flag_values(&lines).into_iter().map(Value::from).collect()
    }

    fn mask_fields(&self, fields: &Map<String, Value>) -> Map<String, Value> {
        let mut object = Object::default();
        for (key, value) in fields {
            match value {
                Value::String(text) => object.note(key, text),
                Value::Bool(flag) => object.note(key, if *flag { "true" } else { "false" }),
                Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => {}
            }
        }
        let masked = |(key, value): (&String, &Value)| {
            let cover = object.cover(key, iter::once_with(|| texts(value)).flatten());
            let value = match cover {
                Some(Cover { class, reach: Reach::Everything | Reach::Values }) => whole(value, class),
                Some(cover @ Cover { reach: Reach::Random, .. }) => self.mask_json(&each(value, cover)),
                None => self.mask_json(value),
            };
            (self.apply(key).into_owned(), value)
        };
        fields.iter().map(masked).collect()
    }
}

/// Every text in a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Masks those texts in a value that are covered.
fn each(value: &Value, cover: Cover) -> Value {
    match value {
        Value::String(text) if cover.holds("", text) => Value::String(marker(cover.class)),
        Value::Array(items) => items.iter().map(|item| each(item, cover)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| (key.clone(), each(value, cover))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn whole(value: &Value, class: &str) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(text) if text.is_empty() || is_marker(text) => value.clone(),
        Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Value::String(marker(class)),
    }
}

/// Masks what follows a flag such as `--password` in a list of arguments.
fn without_flag_values(arguments: &[&str]) -> Vec<String> {
    let mut class = None;
    let mut masked = Vec::with_capacity(arguments.len());
    for argument in arguments {
        masked.push(match class {
            Some(class) if !argument.starts_with('-') => marker(class),
            Some(_) | None => (*argument).to_owned(),
        });
        class = if argument.starts_with('-') { class_of_name(argument) } else { None };
    }
    masked
}
