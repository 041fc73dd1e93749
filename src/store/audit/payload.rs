//! What a row of the audit trail says, as canonical JSON apart from the chain, so that it can be deleted without breaking
//! it. No SQL.

use countersign_core::canonical;
use serde::{Deserialize, Serialize};

use super::AuditRow;
use crate::clock::random_bytes;
use crate::store::outbox::storable;

/// The content of a row. Empty text stands for "there is none".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Payload {
    pub(super) signal: String,
    pub(super) thread: String,
    pub(super) platform: String,
    pub(super) actor: String,
    pub(super) what: String,
    pub(super) gate: String,
    pub(super) code: String,
    pub(super) tool: String,
    pub(super) action: String,
    pub(super) target: String,
    pub(super) plan: String,
    pub(super) digest: String,
    pub(super) detail: String,
    /// Without it, who knows most of a deleted payload could guess the rest and prove it by the hash that stays.
    pub(super) salt: String,
}

impl Payload {
    /// Of a step's row.
    pub(super) fn of(row: &AuditRow, signal: &str, thread: &str) -> Self {
        let (what, gate, code) = row.what.columns();
        let (plan, digest) = row.plan.as_ref().map_or(("", ""), |(plan, digest)| (plan.as_str(), digest.as_str()));
        Self {
            signal: storable(signal),
            thread: storable(thread),
            platform: storable(row.platform.as_str()),
            actor: storable(row.actor.as_str()),
            what: storable(what),
            gate: storable(gate),
            code: code.to_owned(),
            tool: storable(&row.tool),
            action: storable(&row.action),
            target: storable(&row.target),
            plan: plan.to_owned(),
            digest: storable(digest),
            detail: storable(&row.detail),
            salt: salt(),
        }
    }

    /// JSON without white space and with sorted keys.
    pub(super) fn canonical(&self) -> String {
        canonical::text(serde_json::to_value(self).expect("invariant: a payload is texts only"))
    }
}

/// 16 bytes, as 32 hexadecimal digits.
pub(super) fn salt() -> String {
    let random: [u8; 16] = random_bytes();
    random.iter().fold(String::with_capacity(32), |text, byte| text + format!("{byte:02x}").as_str())
}
