//! What the fake answers when it does not do what was asked: Discord's status, code and words. Which rule refuses, and
//! when, is not decided here.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// An error answer of the API.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// Discord's own error code; none for a limit.
    pub(crate) code: Option<u32>,
    pub(crate) message: String,
    /// The tree that names each wrong field.
    errors: Option<Box<Value>>,
    pub(crate) retry: Option<Retry>,
}

/// When to come again after a 429.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Retry {
    pub(crate) after: Duration,
    /// Whether every route is closed, not only this one.
    pub(crate) global: bool,
}

/// What a request comes to: the body of a 200 (`Null` is a 204), or a refusal.
pub(crate) type Answer = Result<Value, Refusal>;

impl Refusal {
    pub(crate) fn new(status: u16, code: u32, message: impl Into<String>) -> Self {
        Self { status, code: Some(code), message: message.into(), errors: None, retry: None }
    }

    pub(crate) fn unknown(code: u32, what: &str) -> Self {
        Self::new(404, code, format!("Unknown {what}"))
    }

    pub(crate) fn unknown_channel() -> Self {
        Self::unknown(10_003, "Channel")
    }

    pub(crate) fn unknown_message() -> Self {
        Self::unknown(10_008, "Message")
    }

    /// 400 with one wrong field, named by its dotted path.
    pub(crate) fn field(path: &str, code: &str, why: &str) -> Self {
        let mut problems = Problems::default();
        problems.add(path, code, why);
        problems.refusal()
    }

    pub(crate) fn too_many(after: Duration, global: bool) -> Self {
        let message = "You are being rate limited.".to_owned();
        Self { status: 429, code: None, message, errors: None, retry: Some(Retry { after, global }) }
    }

    /// The body of the error answer.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({ "message": self.message });
        if let Some(code) = self.code {
            body["code"] = json!(code);
        }
        if let Some(errors) = &self.errors {
            body["errors"] = Value::clone(errors);
        }
        if let Some(retry) = self.retry {
            body["retry_after"] = json!(retry.after.as_secs_f64());
            body["global"] = json!(retry.global);
        }
        body
    }
}

/// What is wrong with a form, field by field.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<(String, String, String)>);

impl Problems {
    pub(crate) fn add(&mut self, path: &str, code: &str, why: &str) {
        self.0.push((path.to_owned(), code.to_owned(), why.to_owned()));
    }

    /// Passes a form that has none.
    pub(crate) fn done(self) -> Result<(), Refusal> {
        if self.0.is_empty() { Ok(()) } else { Err(self.refusal()) }
    }

    fn refusal(self) -> Refusal {
        let mut errors = Value::Object(Map::new());
        for (path, code, why) in self.0 {
            let mut at = &mut errors;
            for step in path.split('.').filter(|step| !step.is_empty()) {
                at = &mut at[step];
            }
            let listed = &mut at["_errors"];
            if listed.is_null() {
                *listed = json!([]);
            }
            if let Some(listed) = listed.as_array_mut() {
                listed.push(json!({ "code": code, "message": why }));
            }
        }
        Refusal { errors: Some(Box::new(errors)), ..Refusal::new(400, 50_035, "Invalid Form Body") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_fields_are_a_tree() {
        let mut problems = Problems::default();
        problems.add("content", "A", "a");
        problems.add("components.0.components.1.label", "B", "b");
        let body = problems.done().expect_err("two are wrong").body();
        assert_eq!(body["errors"]["content"]["_errors"][0]["code"], "A");
        assert_eq!(body["errors"]["components"]["0"]["components"]["1"]["label"]["_errors"][0]["message"], "b");
    }
}
