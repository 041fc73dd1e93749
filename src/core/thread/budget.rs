//! What one request has used up. One object bounds all its retries together (C-25); the gates `allowance` and
//! `repetition` read it and never change it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::canonical;
use crate::proposal::Proposal;
use crate::usage::Usage;

/// What one request has used up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    turns: u32,
    calls: BTreeMap<String, u32>,
    spent: Usage,
}

impl Budget {
    /// The key under which identical calls are counted (LOOP-07): names in lower case, arguments with sorted keys.
    pub fn key(proposal: &Proposal) -> String {
        let name = format!("{}.{}", proposal.tool, proposal.action).to_lowercase();
        let target = proposal.target.as_deref().unwrap_or_default();
        format!("{name}:{target}:{}", canonical::text(Value::Object(proposal.args.clone())))
    }

    /// How many rounds of proposals were made.
    pub const fn turns(&self) -> u32 {
        self.turns
    }

    /// How often this call was proposed.
    pub fn made(&self, key: &str) -> u32 {
        self.calls.get(key).copied().unwrap_or_default()
    }

    /// The tokens and the cost of all its turns.
    pub const fn spent(&self) -> Usage {
        self.spent
    }

    /// A turn has used this.
    pub const fn spend(&mut self, usage: Usage) {
        self.spent = self.spent.plus(usage);
    }

    /// A round of proposals begins.
    pub const fn begin_turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    /// A change was made: what was asked before it is worth asking again (LOOP-08, C-18).
    pub fn forget_calls(&mut self) {
        self.calls.clear();
    }

    /// A call was proposed and judged, with whatever outcome.
    pub fn note(&mut self, key: String) {
        let made = self.calls.entry(key).or_default();
        *made = made.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identical_calls_have_one_key_however_they_are_written() {
        let proposal = |tool: &str, args: &str| Proposal {
            tool: tool.to_owned(),
            action: "top".to_owned(),
            target: None,
            args: serde_json::from_str(args).expect("an object"),
            because: "a reason that does not count".to_owned(),
        };
        let key = Budget::key(&proposal("host_process", r#"{"by": "cpu", "limit": 5}"#));
        assert_eq!(key, Budget::key(&proposal("HOST_process", r#"{"limit": 5, "by": "cpu"}"#)));
        assert_ne!(key, Budget::key(&proposal("host_process", r#"{"limit": 6, "by": "cpu"}"#)));
    }
}
