//! What can go wrong between the bot and a model's server, in a few words that a person is shown, and what each of it says
//! about the server: whether it is down, and whether asking again may help. Nothing is done about it here.

use std::time::Duration;

use countersign_core::text;

/// The most characters of what a server says of itself.
const SAID_CHARS_MAX: usize = 160;

/// What a server said no with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub(super) status: u16,
    /// Its own words, on one line.
    pub(super) said: String,
    /// How long it asks to be left alone.
    pub(super) retry_after: Option<Duration>,
}

impl Refusal {
    /// From a status and what came with it: JSON in one of the forms that servers have, or anything.
    pub(super) fn new(status: u16, body: &[u8], retry_after: Option<Duration>) -> Self {
        let body = String::from_utf8_lossy(body);
        let said = serde_json::from_str(&body).ok().and_then(|json| words(&json)).unwrap_or_else(|| body.into_owned());
        Self { status, said: text::one_line(said.trim(), SAID_CHARS_MAX), retry_after }
    }

    /// Whether it says no to this part of the question: a server that knows it not, or a model that cannot do it.
    pub(super) fn is_about(&self, names: &[&str]) -> bool {
        let said = self.said.to_lowercase();
        matches!(self.status, 400 | 404 | 422 | 500 | 501) && names.iter().any(|name| said.contains(name))
    }
}

/// What an error object says: `{"error":{"message":..}}`, `{"error":".."}`, `{"message":".."}` or `{"detail":..}`.
pub(super) fn words(json: &serde_json::Value) -> Option<String> {
    let error = json.get("error").unwrap_or(json);
    let said = error.get("message").or_else(|| error.get("detail")).unwrap_or(error);
    match said.as_str() {
        Some(said) => Some(said.to_owned()),
        None => (!said.is_null() && error != json).then(|| said.to_string()),
    }
}

/// Why a model said nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Nobody took the question.
    #[error("its server cannot be reached: {0}")]
    Unreachable(String),
    /// The server said no.
    #[error("its server answers {}: {}", .0.status, .0.said)]
    Refused(Refusal),
    /// The server names another address. A key and what people wrote go only where the configuration says.
    #[error(
        "its server answers {0} and names another address, which is not followed; `model.base_url` names the right one"
    )]
    Elsewhere(u16),
    /// The connection ended in the middle.
    #[error("its answer broke off in the middle")]
    Broken,
    /// The server said in the middle that it cannot go on.
    #[error("its server gave up in the middle: {0}")]
    GaveUp(String),
    /// It is in no form that an answer has.
    #[error("its server answers something that is no answer: {0}")]
    Senseless(String),
    /// More than any answer has.
    #[error("its answer did not end, and was cut off at {0} KiB")]
    Endless(usize),
    /// The model wrote as much as it may, and was in the middle of it.
    #[error("its answer was not finished within {0} tokens (`model.answer_tokens`)")]
    Unfinished(u32),
    /// The time is over.
    #[error("no answer within {0} s")]
    Late(u64),
    /// It was down just now.
    #[error("it did not answer several times, and is left alone for {0} s")]
    LeftAlone(u64),
    /// There is no such model.
    #[error("no {0} model is configured")]
    NotConfigured(&'static str),
}

impl Trouble {
    /// In a few words, with who tells more where it is how the server is set up.
    pub(super) fn told(&self) -> String {
        let is_set_up_wrong = match self {
            Self::Unreachable(_) | Self::Elsewhere(_) | Self::Senseless(_) => true,
            Self::Refused(refusal) => matches!(refusal.status, 401 | 403 | 404),
            Self::Broken
            | Self::GaveUp(_)
            | Self::Endless(_)
            | Self::Unfinished(_)
            | Self::Late(_)
            | Self::LeftAlone(_)
            | Self::NotConfigured(_) => false,
        };
        let more = if is_set_up_wrong { " (`countersign doctor` says what to do)" } else { "" };
        format!("{self}{more}")
    }

    /// Whether it says something about the server, and not about what was asked.
    pub(super) fn is_down(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::Broken
            | Self::GaveUp(_)
            | Self::Senseless(_)
            | Self::Endless(_)
            | Self::Late(_) => true,
            Self::Refused(refusal) => refusal.status == 429 || refusal.status >= 500,
            Self::Elsewhere(_) | Self::Unfinished(_) | Self::LeftAlone(_) | Self::NotConfigured(_) => false,
        }
    }

    /// How long to wait before it is asked again, where that may help: as long as the server says, else `otherwise`.
    pub(super) fn wait(&self, otherwise: Duration) -> Option<Duration> {
        let Self::Refused(Refusal { status, said, retry_after }) = self else { return None };
        // A quota that is used up is answered with the same status, and does not come back by waiting.
        let is_busy = matches!(status, 429 | 500 | 502 | 503 | 504 | 529) && !said.contains("quota");
        is_busy.then(|| retry_after.unwrap_or(otherwise))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_of_itself_is_found_in_each_of_their_forms() {
        let table = [
            (r#"{"error":{"message":"no such model","type":"x"}}"#, "no such model"),
            (r#"{"error":"model \"m\" not found"}"#, r#"model "m" not found"#),
            (r#"{"object":"error","message":"too long"}"#, "too long"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"detail":[{"loc":["body"]}]}"#, r#"{"detail":[{"loc":["body"]}]}"#),
            (r#"{"error":{"code":7}}"#, r#"{"code":7}"#),
            ("Bad\nGateway\u{7}", r"Bad⏎Gateway\u{7}"),
            ("", ""),
        ];
        for (body, expected) in table {
            assert_eq!(Refusal::new(500, body.as_bytes(), None).said, expected);
        }
        assert_eq!(Refusal::new(500, &[b'x'; 9_000], None).said.chars().count(), SAID_CHARS_MAX);
    }

    #[test]
    fn only_a_busy_server_is_asked_again() {
        let (short, long) = (Duration::from_millis(500), Duration::from_secs(7));
        let refused = |status, said: &str, retry_after| {
            Trouble::Refused(Refusal { status, said: said.to_owned(), retry_after }).wait(short)
        };
        assert_eq!(refused(429, "slow down", None), Some(short));
        assert_eq!(refused(503, "loading", Some(long)), Some(long));
        assert_eq!(refused(429, "you exceeded your current quota", Some(long)), None);
        assert_eq!(refused(401, "no", None), None);
        assert_eq!(refused(400, "no", Some(long)), None);
        assert_eq!(Trouble::Broken.wait(short), None);
    }
}
