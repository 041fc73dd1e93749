//! What a statement inside a command can do: SQL, a client's own commands, Redis, the shell of `MongoDB`. Each judge proves
//! that a text only reads, or says what stands against it. Which command carries which text is found elsewhere; nothing
//! here runs anything. Every judge is total: whatever the text is, it answers, in a time bounded by the text's length.

pub(super) mod client;
pub(super) mod mongo;
pub(super) mod redis;
pub(super) mod sql;

use super::judgement::Risk;

/// The longest text that is looked at, in bytes.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Why a text is not proven to only read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Danger {
    /// What it does, with the construct in brackets: "deletes rows (DELETE)".
    pub(super) reason: String,
    /// How bad that would be; never [`Risk::ReadOnly`], so that nobody takes a refusal for a proof.
    pub(super) risk: Risk,
}

impl Danger {
    fn low(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), risk: Risk::LowWrite }
    }

    fn medium(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), risk: Risk::MediumWrite }
    }

    fn high(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), risk: Risk::HighWrite }
    }
}

/// Only texts of a length that people type are looked at.
fn check_length(text: &str) -> Result<(), Danger> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Danger::medium(format!("is longer than {TEXT_BYTES_MAX} bytes, so it was not looked at")));
    }
    Ok(())
}
