//! What the fake answers when it does not do what was asked: Telegram's code and words. Which rule refuses, and when, is
//! not decided here.

use serde_json::{Value, json};

/// An error answer of the Bot API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The HTTP status, which Telegram repeats as `error_code`.
    pub(crate) code: u16,
    /// Telegram's `description`, with its prefix.
    pub(crate) description: String,
    /// Seconds, for 429 only.
    pub(crate) retry_after: Option<u64>,
    /// The supergroup that a group is by now.
    pub(crate) moved_to: Option<i64>,
}

/// What a method comes to: the `result`, or a refusal.
pub(crate) type Answer = Result<Value, Refusal>;

impl Refusal {
    pub(crate) fn new(code: u16, description: impl Into<String>) -> Self {
        Self { code, description: description.into(), retry_after: None, moved_to: None }
    }

    /// 400, with the prefix put before `why`.
    pub(crate) fn bad(why: impl AsRef<str>) -> Self {
        Self::new(400, format!("Bad Request: {}", why.as_ref()))
    }

    /// 403, with the prefix put before `why`.
    pub(crate) fn forbidden(why: impl AsRef<str>) -> Self {
        Self::new(403, format!("Forbidden: {}", why.as_ref()))
    }

    /// 400 for a group that is a supergroup by now.
    pub(crate) fn moved(to: i64) -> Self {
        let description = "Bad Request: group chat was upgraded to a supergroup chat".to_owned();
        Self { code: 400, description, retry_after: None, moved_to: Some(to) }
    }

    /// 429 with `retry_after` in whole seconds.
    pub(crate) fn too_many(seconds: u64) -> Self {
        let description = format!("Too Many Requests: retry after {seconds}");
        Self { code: 429, description, retry_after: Some(seconds), moved_to: None }
    }

    /// The body of the error answer.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({ "ok": false, "error_code": self.code, "description": self.description });
        if let Some(seconds) = self.retry_after {
            body["parameters"] = json!({ "retry_after": seconds });
        }
        if let Some(to) = self.moved_to {
            body["parameters"] = json!({ "migrate_to_chat_id": to });
        }
        body
    }
}
