//! What a failed call means: by its HTTP status and Discord's own codes alone, never by its words.

use countersign_core::port::Delivery;

use crate::api::{Refusal, Trouble};

/// How long to wait where Discord asks to wait and does not say how long, in milliseconds.
const WAIT_MS: u64 = 5_000;

/// Discord's codes that are read here ("JSON Error Codes" of its reference).
const UNKNOWN_CHANNEL: u32 = 10_003;
const UNKNOWN_MESSAGE: u32 = 10_008;
const UNKNOWN_WEBHOOK: u32 = 10_015;
const UNKNOWN_INTERACTION: u32 = 10_062;
const ALREADY_ACKNOWLEDGED: u32 = 40_060;
const INVALID_WEBHOOK_TOKEN: u32 = 50_027;
const ALREADY_A_THREAD: u32 = 160_004;

/// What a failed call means for a delivery.
pub(crate) fn delivery(trouble: &Trouble) -> Delivery {
    let said = trouble.to_string();
    match trouble {
        Trouble::Unsent(_) => Delivery::Retryable(said),
        Trouble::Lost(_) => Delivery::Ambiguous(said),
        Trouble::Refused(Refusal { status, wait_ms, .. }) => match status {
            429 => Delivery::RetryAfter(wait_ms.unwrap_or(WAIT_MS)),
            401 | 403 => Delivery::Unauthorized(said),
            500..=599 => Delivery::Retryable(said),
            _ => Delivery::Permanent(said),
        },
    }
}

/// Whether there is no such message any more, or no channel in which it could stand.
pub(crate) const fn is_gone(trouble: &Trouble) -> bool {
    matches!(trouble.code(), UNKNOWN_MESSAGE | UNKNOWN_CHANNEL)
}

/// Whether there is no such thread.
pub(crate) const fn is_no_channel(trouble: &Trouble) -> bool {
    trouble.code() == UNKNOWN_CHANNEL
}

/// Whether a message has its thread already.
pub(crate) const fn is_thread_already(trouble: &Trouble) -> bool {
    trouble.code() == ALREADY_A_THREAD
}

/// Whether an interaction can no longer be answered.
pub(crate) const fn is_too_late(trouble: &Trouble) -> bool {
    matches!(trouble.code(), UNKNOWN_INTERACTION | UNKNOWN_WEBHOOK | INVALID_WEBHOOK_TOKEN)
}

/// Whether an interaction was answered before.
pub(crate) const fn is_answered_already(trouble: &Trouble) -> bool {
    trouble.code() == ALREADY_ACKNOWLEDGED
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, code: u32, wait_ms: Option<u64>) -> Trouble {
        Trouble::Refused(Refusal { status, code, message: "429 Unknown Message".to_owned(), wait_ms })
    }

    #[test]
    fn each_code_has_its_outcome() {
        let table = [
            (refused(400, 50_006, None), "Permanent"),
            (refused(404, 10_003, None), "Permanent"),
            (refused(401, 0, None), "Unauthorized"),
            (refused(403, 50_001, None), "Unauthorized"),
            (refused(403, 50_013, None), "Unauthorized"),
            (refused(403, 50_007, None), "Unauthorized"),
            (refused(500, 0, None), "Retryable"),
            (refused(429, 0, None), "RetryAfter(5000)"),
            (refused(429, 20_028, Some(238)), "RetryAfter(238)"),
            (Trouble::Unsent("refused".to_owned()), "Retryable"),
            (Trouble::Lost("timed out".to_owned()), "Ambiguous"),
        ];
        for (trouble, expected) in table {
            let outcome = format!("{:?}", delivery(&trouble));
            assert!(outcome.starts_with(expected), "{trouble}: {outcome}");
        }
    }

    #[test]
    fn what_is_gone_or_too_late_is_told_by_its_code() {
        assert!(is_gone(&refused(404, 10_008, None)) && !is_gone(&refused(404, 0, None)));
        assert!(is_too_late(&refused(404, 10_062, None)) && is_too_late(&refused(401, 50_027, None)));
        assert!(is_answered_already(&refused(400, 40_060, None)));
        assert!(!is_too_late(&Trouble::Lost("10062".to_owned())));
    }
}
