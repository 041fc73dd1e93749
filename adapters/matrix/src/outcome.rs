//! What a failed call to the homeserver means: by its HTTP status and Matrix's own error codes, never by its words.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use countersign_core::port::Delivery;
use matrix_sdk::ruma::api::error::{Error as ServerError, ErrorBody, ErrorKind, RetryAfter};
use matrix_sdk::{Error, HttpError};

/// How long to wait where the homeserver asks to wait and does not say how long, in milliseconds.
const WAIT_MS: u64 = 5_000;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It did not leave.
    Unsent(String),
    /// It left, and no answer came: it may have been done.
    Lost(String),
    /// The homeserver, or something before it, refused.
    Refused(Refusal),
    /// The bot is not in that room.
    Outside,
    /// It broke on our side, in the store or in the encryption.
    Ours(String),
}

/// What was answered instead of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The HTTP status.
    pub(crate) status: u16,
    /// `M_FORBIDDEN` and so on; empty where something else than a homeserver answered.
    pub(crate) code: String,
    /// What it says about it. Untrusted.
    pub(crate) message: String,
    /// How long it asks to wait, in milliseconds.
    pub(crate) wait_ms: Option<u64>,
    /// Whether the device may log in again and stay the same.
    pub(crate) soft_logout: bool,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsent(why) => write!(f, "the homeserver cannot be reached: {why}"),
            Self::Lost(why) => write!(f, "no answer from the homeserver: {why}"),
            Self::Refused(Refusal { status, code, message, .. }) => {
                write!(f, "the homeserver answers {status}")?;
                let said = [code, message.trim_end_matches('.')];
                let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
                if said.is_empty() { Ok(()) } else { write!(f, ": {}", said.join(", ")) }
            }
            Self::Outside => f.write_str("the bot is not in that room"),
            Self::Ours(why) => f.write_str(why),
        }
    }
}

impl Trouble {
    /// `M_FORBIDDEN` and so on; empty where no homeserver refused.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Refused(refusal) => &refusal.code,
            Self::Unsent(_) | Self::Lost(_) | Self::Outside | Self::Ours(_) => "",
        }
    }

    /// How long the homeserver asks to wait, at least.
    pub(crate) fn wait(&self) -> Duration {
        match self {
            Self::Refused(Refusal { wait_ms, .. }) => Duration::from_millis(wait_ms.unwrap_or(0)),
            Self::Unsent(_) | Self::Lost(_) | Self::Outside | Self::Ours(_) => Duration::ZERO,
        }
    }

    /// Whether trying again later may help.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(delivery(self), Delivery::Retryable(_) | Delivery::RetryAfter(_))
    }

    /// Whether the homeserver is away, or asks to wait: that says nothing about what was asked.
    pub(crate) fn is_absence(&self) -> bool {
        match self {
            Self::Unsent(_) | Self::Lost(_) => true,
            // What is no homeserver stands before it.
            Self::Refused(Refusal { status, code, .. }) => *status == 429 || *status >= 500 && code.is_empty(),
            Self::Outside | Self::Ours(_) => false,
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Http(error) => Self::of(&error),
            Error::WrongRoomState(_) => Self::Outside,
            error => Self::Ours(whole(&error)),
        }
    }
}

impl From<HttpError> for Trouble {
    fn from(error: HttpError) -> Self {
        Self::of(&error)
    }
}

impl Trouble {
    fn of(error: &HttpError) -> Self {
        if let HttpError::Cached(error) = error {
            return Self::of(error);
        }
        if let Some(refused) = error.as_client_api_error() {
            return Self::Refused(refusal(refused));
        }
        match error {
            HttpError::Reqwest(error) if error.is_connect() => Self::Unsent(root(error)),
            HttpError::Reqwest(error) => Self::Lost(root(error)),
            // What asks for more proof of who one is, where nobody expects that, is a refusal.
            error if error.as_uiaa_response().is_some() => Self::Refused(Refusal {
                status: 401,
                code: String::new(),
                message: "it asks for another proof of who this is".to_owned(),
                wait_ms: None,
                soft_logout: false,
            }),
            // An answer that cannot be read is no answer: what was asked for may be done.
            HttpError::Api(error) => Self::Lost(root(error.as_ref())),
            error => Self::Ours(root(error)),
        }
    }
}

fn refusal(error: &ServerError) -> Refusal {
    let status = error.status_code.as_u16();
    let ErrorBody::Standard(body) = &error.body else {
        return Refusal { status, code: String::new(), message: String::new(), wait_ms: None, soft_logout: false };
    };
    let wait_ms = match &body.kind {
        ErrorKind::LimitExceeded(limit) => limit.retry_after.as_ref().and_then(|after| match after {
            RetryAfter::Delay(delay) => u64::try_from(delay.as_millis()).ok(),
            // An hour of the homeserver's clock says nothing by ours.
            RetryAfter::DateTime(_) => None,
        }),
        _ => None,
    };
    let soft_logout = matches!(&body.kind, ErrorKind::UnknownToken(data) if data.soft_logout);
    Refusal { status, code: body.kind.errcode().to_string(), message: body.message.clone(), wait_ms, soft_logout }
}

/// The innermost cause: the outer ones name only the address that was asked.
fn root(error: &(dyn std::error::Error + 'static)) -> String {
    let mut root = error;
    while let Some(cause) = root.source() {
        root = cause;
    }
    root.to_string()
}

/// An error with its causes.
fn whole(error: &Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", root(cause)),
        None => error.to_string(),
    }
}

/// What a failed call means for a delivery. What may be out already may be sent again all the same: it goes under the same
/// transaction id, and the homeserver makes no second one of it.
pub(crate) fn delivery(trouble: &Trouble) -> Delivery {
    let said = trouble.to_string();
    match trouble {
        Trouble::Unsent(_) | Trouble::Lost(_) | Trouble::Ours(_) => Delivery::Retryable(said),
        Trouble::Outside => Delivery::Unauthorized(said),
        // Hearing logs the same device in again, or ends and says what is to be done. What waits to be sent outlives both.
        Trouble::Refused(_) if is_about_token(trouble) => Delivery::Retryable(said),
        Trouble::Refused(Refusal { status, wait_ms, .. }) => match status {
            429 => Delivery::RetryAfter(wait_ms.unwrap_or(WAIT_MS)),
            401 | 403 => Delivery::Unauthorized(said),
            500..=599 => Delivery::Retryable(said),
            _ => Delivery::Permanent(said),
        },
    }
}

/// Whether it is the bot's own access token that the homeserver does not take, whatever was asked with it.
pub(crate) fn is_about_token(trouble: &Trouble) -> bool {
    matches!(trouble.code(), "M_UNKNOWN_TOKEN" | "M_MISSING_TOKEN")
}

/// Whether the same reaction is there already.
pub(crate) fn is_there_already(trouble: &Trouble) -> bool {
    trouble.code() == "M_DUPLICATE_ANNOTATION"
}

/// Whether there is no such message any more.
pub(crate) fn is_gone(trouble: &Trouble) -> bool {
    trouble.code() == "M_NOT_FOUND"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, code: &str, wait_ms: Option<u64>) -> Trouble {
        let (code, message) = (code.to_owned(), "M_FORBIDDEN 429".to_owned());
        Trouble::Refused(Refusal { status, code, message, wait_ms, soft_logout: false })
    }

    #[test]
    fn each_code_has_its_outcome() {
        let table = [
            (refused(400, "M_BAD_JSON", None), "Permanent"),
            (refused(404, "M_NOT_FOUND", None), "Permanent"),
            (refused(413, "M_TOO_LARGE", None), "Permanent"),
            (refused(401, "M_UNKNOWN_TOKEN", None), "Retryable"),
            (refused(401, "M_MISSING_TOKEN", None), "Retryable"),
            (refused(401, "M_USER_DEACTIVATED", None), "Unauthorized"),
            (refused(401, "", None), "Unauthorized"),
            (refused(403, "M_FORBIDDEN", None), "Unauthorized"),
            (Trouble::Outside, "Unauthorized"),
            (refused(500, "M_UNKNOWN", None), "Retryable"),
            (refused(502, "", None), "Retryable"),
            (refused(429, "M_LIMIT_EXCEEDED", None), "RetryAfter(5000)"),
            (refused(429, "M_LIMIT_EXCEEDED", Some(238)), "RetryAfter(238)"),
            (Trouble::Unsent("refused".to_owned()), "Retryable"),
            (Trouble::Lost("timed out".to_owned()), "Retryable"),
            (Trouble::Ours("the disk is full".to_owned()), "Retryable"),
        ];
        for (trouble, expected) in table {
            let outcome = format!("{:?}", delivery(&trouble));
            assert!(outcome.starts_with(expected), "{trouble}: {outcome}");
        }
    }

    #[test]
    fn who_is_away_has_said_nothing_and_who_answers_has() {
        let away = [
            Trouble::Unsent("refused".to_owned()),
            Trouble::Lost("timed out".to_owned()),
            refused(429, "M_LIMIT_EXCEEDED", None),
            refused(502, "", None),
        ];
        assert!(away.iter().all(Trouble::is_absence), "{away:?}");
        let there = [
            refused(404, "M_NOT_FOUND", None),
            refused(403, "M_FORBIDDEN", None),
            refused(500, "M_UNKNOWN", None),
            Trouble::Outside,
            Trouble::Ours("the disk is full".to_owned()),
        ];
        assert!(!there.iter().any(Trouble::is_absence), "{there:?}");
    }

    #[test]
    fn what_is_gone_or_there_already_is_told_by_its_code() {
        assert!(is_gone(&refused(404, "M_NOT_FOUND", None)) && !is_gone(&refused(404, "", None)));
        assert!(is_there_already(&refused(400, "M_DUPLICATE_ANNOTATION", None)));
        assert!(!is_there_already(&Trouble::Lost("M_DUPLICATE_ANNOTATION".to_owned())));
    }
}
