//! What a failed call means: by Telegram's `error_code` alone, for deliveries, with three exceptions that Telegram tells
//! apart by nothing but its words. They are all here.

use countersign_core::port::Delivery;

use crate::api::{Refusal, Trouble};

/// How long to wait where Telegram asks to wait and does not say how long, in milliseconds.
const WAIT_MS: u64 = 5_000;

/// What a failed call means for a delivery.
pub(crate) fn delivery(trouble: &Trouble) -> Delivery {
    let said = trouble.to_string();
    match trouble {
        Trouble::Unsent(_) => Delivery::Retryable(said),
        Trouble::Lost(_) => Delivery::Ambiguous(said),
        Trouble::Refused(refusal) => match refusal.code {
            429 => Delivery::RetryAfter(refusal.retry_after.map_or(WAIT_MS, |seconds| seconds.saturating_mul(1000))),
            401 | 403 => Delivery::Unauthorized(said),
            500..=599 => Delivery::Retryable(said),
            _ => Delivery::Permanent(said),
        },
    }
}

/// Whether Telegram could not read the markup of a message.
pub(crate) fn is_unparsable(trouble: &Trouble) -> bool {
    says(trouble, "can't parse entities")
}

/// Whether an edit would have changed nothing.
pub(crate) fn is_unchanged(trouble: &Trouble) -> bool {
    says(trouble, "message is not modified")
}

/// Whether a message that is to be deleted is gone already.
pub(crate) fn is_gone(trouble: &Trouble) -> bool {
    says(trouble, "message to delete not found")
}

/// Telegram's 400 is one code for all of these. Its words begin the description; what a person wrote never does.
fn says(trouble: &Trouble, words: &str) -> bool {
    match trouble {
        Trouble::Refused(Refusal { code: 400, description, .. }) => {
            description.strip_prefix("Bad Request: ").is_some_and(|said| said.starts_with(words))
        }
        Trouble::Refused(_) | Trouble::Unsent(_) | Trouble::Lost(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16, description: &str) -> Trouble {
        Trouble::Refused(Refusal { code, description: description.to_owned(), retry_after: None })
    }

    #[test]
    fn each_code_has_its_outcome() {
        let table = [
            (refused(400, "Bad Request: chat not found"), "Permanent"),
            (refused(404, "Not Found"), "Permanent"),
            (refused(413, "Request Entity Too Large"), "Permanent"),
            (refused(401, "Unauthorized"), "Unauthorized"),
            (refused(403, "Forbidden: bot was blocked by the user"), "Unauthorized"),
            (refused(500, "Internal Server Error"), "Retryable"),
            (refused(502, "Bad Gateway"), "Retryable"),
            (refused(429, "Too Many Requests"), "RetryAfter(5000)"),
            (Trouble::Unsent("refused".to_owned()), "Retryable"),
            (Trouble::Lost("timed out".to_owned()), "Ambiguous"),
        ];
        for (trouble, expected) in table {
            let outcome = format!("{:?}", delivery(&trouble));
            assert!(outcome.starts_with(expected), "{trouble}: {outcome}");
        }
        let long = Trouble::Refused(Refusal { code: 429, description: String::new(), retry_after: Some(238) });
        assert_eq!(delivery(&long), Delivery::RetryAfter(238_000));
    }

    #[test]
    fn words_count_only_where_telegram_says_them() {
        assert!(is_unparsable(&refused(400, "Bad Request: can't parse entities: Unsupported start tag \"x\"")));
        assert!(is_unchanged(&refused(400, "Bad Request: message is not modified: specified new message content")));
        assert!(is_gone(&refused(400, "Bad Request: message to delete not found")));
        assert!(!is_unparsable(&refused(403, "Bad Request: can't parse entities")));
        assert!(!is_unparsable(&refused(400, "Bad Request: chat \"can't parse entities\" not found")));
        assert!(!is_unparsable(&Trouble::Lost("Bad Request: can't parse entities".to_owned())));
    }
}
