//! What a failed call means: by Telegram's `error_code` alone, for deliveries, with three exceptions that Telegram tells
//! apart by nothing but its words. They are all here, and what the same codes mean where they are not Telegram's.

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
        Trouble::Refused(Refusal { code: 429, retry_after, .. }) => {
            Delivery::RetryAfter(retry_after.map_or(WAIT_MS, |seconds| seconds.saturating_mul(1000)))
        }
        Trouble::Refused(Refusal { code, from_telegram: true, .. }) => match code {
            401 | 403 => Delivery::Unauthorized(said),
            500..=599 => Delivery::Retryable(said),
            _ => Delivery::Permanent(said),
        },
        Trouble::Refused(Refusal { code, from_telegram: false, .. }) => before_telegram(*code, said),
    }
}

/// The same where something before Telegram answers. That it leads elsewhere, lets nobody in or knows no such page may
/// pass, and nothing came through. Where it failed or gave up waiting, Telegram may have done what was asked.
fn before_telegram(code: u16, said: String) -> Delivery {
    match code {
        300..=399 | 401 | 403 | 404 => Delivery::Retryable(said),
        408 | 500..=599 => Delivery::Ambiguous(said),
        _ => Delivery::Permanent(said),
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

/// Returns whether the chat is a group that has become a supergroup: nobody sees its messages as they were, and none is changed.
pub(crate) const fn is_closed(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Refused(Refusal { moved_to: Some(_), from_telegram: true, .. }))
}

/// Telegram's 400 is one code for all of these. Its words begin the description; what a person wrote never does.
fn says(trouble: &Trouble, words: &str) -> bool {
    match trouble {
        Trouble::Refused(Refusal { code: 400, description, from_telegram: true, .. }) => {
            description.strip_prefix("Bad Request: ").is_some_and(|said| said.starts_with(words))
        }
        Trouble::Refused(_) | Trouble::Unsent(_) | Trouble::Lost(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16, description: &str) -> Trouble {
        let description = description.to_owned();
        Trouble::Refused(Refusal { code, description, retry_after: None, moved_to: None, from_telegram: true })
    }

    /// By something that stands before Telegram.
    fn refused_before(code: u16) -> Trouble {
        Trouble::Refused(Refusal {
            code,
            description: String::new(),
            retry_after: None,
            moved_to: None,
            from_telegram: false,
        })
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
        let long = Refusal {
            code: 429,
            description: String::new(),
            retry_after: Some(238),
            moved_to: None,
            from_telegram: true,
        };
        assert_eq!(delivery(&Trouble::Refused(long)), Delivery::RetryAfter(238_000));
    }

    #[test]
    fn what_stands_before_telegram_knows_nothing_of_the_effect() {
        let table = [
            (502, "Ambiguous"),
            (504, "Ambiguous"),
            (500, "Ambiguous"),
            (408, "Ambiguous"),
            (302, "Retryable"),
            (401, "Retryable"),
            (403, "Retryable"),
            (404, "Retryable"),
            (429, "RetryAfter(5000)"),
            (400, "Permanent"),
            (413, "Permanent"),
        ];
        for (code, expected) in table {
            let outcome = format!("{:?}", delivery(&refused_before(code)));
            assert!(outcome.starts_with(expected), "{code}: {outcome}");
        }
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
