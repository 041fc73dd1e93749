//! Tool answers and the stable error codes: the one shape in which anything comes back, from a tool or from a gate. Which
//! gate refuses with which code is in `gate/`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command::Category;
use crate::resource::Resource;

/// Every reason for which something did not happen. The strings are stable: models, dashboards and people rely on them
/// (TPR-03, C-02).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// The target was never discovered in this thread, or was lost.
    StrictResolution,
    /// The workflow does not allow this kind of action now.
    FsmBlocked,
    /// Aimed at a parent when one of its children was explicitly meant.
    RoutingMismatch,
    /// Somebody with the right must countersign first.
    ApprovalRequired,
    /// No such tool, action or thing.
    NotFound,
    /// The target does not allow this action.
    ActionNotAllowed,
    /// A safety rule forbids it.
    PolicyBlocked,
    /// An argument is missing, of the wrong kind or out of range.
    InvalidInput,
    /// It was tried and did not work.
    ExecutionFailed,
    /// The same call too often in one request.
    LoopDetected,
    /// A read tool was given something that is not proven read-only and bounded.
    ReadOnlyViolation,
    /// Too many in too short a time.
    RateLimited,
    /// The actor may not.
    Forbidden,
    /// Tokens, cost or turns are used up.
    BudgetExceeded,
    /// It took longer than it may.
    Timeout,
    /// The target is not what it was when the plan was made.
    Drifted,
}

/// Whether the proposer can mend a refusal without a person (TPR-04).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// By doing something else first, then the same again.
    Automatic,
    /// Not by itself.
    None,
    /// The error says, case by case.
    CaseByCase,
}

impl Code {
    /// Every code, in the order of the documentation.
    pub const ALL: [Self; 16] = [
        Self::StrictResolution,
        Self::FsmBlocked,
        Self::RoutingMismatch,
        Self::ApprovalRequired,
        Self::NotFound,
        Self::ActionNotAllowed,
        Self::PolicyBlocked,
        Self::InvalidInput,
        Self::ExecutionFailed,
        Self::LoopDetected,
        Self::ReadOnlyViolation,
        Self::RateLimited,
        Self::Forbidden,
        Self::BudgetExceeded,
        Self::Timeout,
        Self::Drifted,
    ];

    /// The stable string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StrictResolution => "STRICT_RESOLUTION",
            Self::FsmBlocked => "FSM_BLOCKED",
            Self::RoutingMismatch => "ROUTING_MISMATCH",
            Self::ApprovalRequired => "APPROVAL_REQUIRED",
            Self::NotFound => "NOT_FOUND",
            Self::ActionNotAllowed => "ACTION_NOT_ALLOWED",
            Self::PolicyBlocked => "POLICY_BLOCKED",
            Self::InvalidInput => "INVALID_INPUT",
            Self::ExecutionFailed => "EXECUTION_FAILED",
            Self::LoopDetected => "LOOP_DETECTED",
            Self::ReadOnlyViolation => "READ_ONLY_VIOLATION",
            Self::RateLimited => "RATE_LIMITED",
            Self::Forbidden => "FORBIDDEN",
            Self::BudgetExceeded => "BUDGET_EXCEEDED",
            Self::Timeout => "TIMEOUT",
            Self::Drifted => "DRIFTED",
        }
    }

    /// Whether a refusal with this code can be recovered from without a person (TPR-04).
    pub const fn recovery(self) -> Recovery {
        match self {
            Self::StrictResolution | Self::FsmBlocked | Self::RoutingMismatch | Self::ApprovalRequired => {
                Recovery::Automatic
            }
            Self::ReadOnlyViolation | Self::ExecutionFailed | Self::Timeout | Self::RateLimited => Recovery::CaseByCase,
            Self::NotFound
            | Self::ActionNotAllowed
            | Self::PolicyBlocked
            | Self::InvalidInput
            | Self::LoopDetected
            | Self::Drifted
            | Self::Forbidden
            | Self::BudgetExceeded => Recovery::None,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that was found and might have been meant. Offered, never picked (STR-11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// What people call it.
    pub name: String,
    /// The canonical id, or the command to type.
    pub id: String,
}

/// What a refusal knows beyond its code and message (TPR-06): structured, so that recovery needs no prose (TPR-07).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// One sentence: what to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_hint: Option<String>,
    /// Whether the proposer can recover by itself.
    pub auto_recoverable: bool,
    /// A safe form of what was proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_rewrite: Option<String>,
    /// What it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<String>,
    /// Which action of which tool, as `tool.action`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Which argument is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// Why the command at fault does not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// The name of the host that a call was aimed at where something inside it was meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_host: Option<String>,
    /// What was meant instead, by name; the ids are in `more_specific_resource_ids`, in the same order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more_specific_resources: Vec<String>,
    /// What was meant instead, by canonical id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more_specific_resource_ids: Vec<String>,
    /// Correlates a refusal with the later success that recovers from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_id: Option<String>,
    /// Of a write that failed: nobody knows whether it was done, and it may even still be done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outcome_unknown: bool,
    /// Names that might have been meant, nearest first, at most 5.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
}

/// Why something did not happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Stable.
    pub code: Code,
    /// A sentence for people.
    pub message: String,
    /// Refused by a rule: nothing was tried.
    pub blocked: bool,
    /// Tried, and it did not work.
    pub failed: bool,
    /// Whether the same again may work.
    pub retryable: bool,
    /// The rest.
    #[serde(default)]
    pub details: Details,
}

/// Where an answer comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Milliseconds since the Unix epoch at which the tool looked; 0 where nothing was looked at.
    pub observed_at: i64,
    /// What the tool left out, in words that say how to see more; empty where it left out nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub left_out: String,
}

/// What every tool answers with (TPR-01).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// Whether it worked.
    pub ok: bool,
    /// What was found; `null` on failure.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// Why not; absent on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Where it comes from.
    #[serde(default)]
    pub meta: Meta,
}

impl Envelope {
    /// It worked.
    pub fn success(data: Value, meta: Meta) -> Self {
        Self { ok: true, data, error: None, meta }
    }

    /// What a discovery answered with, in a list under `data.resources`; a record that is not sound is left out.
    pub fn resources(&self) -> Vec<Resource> {
        let listed = self.data.get("resources").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        listed.iter().filter_map(|one| serde_json::from_value(one.clone()).ok()).collect()
    }

    /// The names that a discovery answered with and that might have been meant, each an `id` and a `name`, in a list under
    /// `data.nearest`.
    pub fn nearest(&self) -> &[Value] {
        self.data.get("nearest").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// A rule refused it: nothing was tried.
    pub fn blocked(code: Code, message: impl Into<String>, details: Details) -> Self {
        let error = Failure { code, message: message.into(), blocked: true, failed: false, retryable: false, details };
        Self { ok: false, data: Value::Null, error: Some(error), meta: Meta::default() }
    }

    /// It was tried and did not work.
    pub fn failed(code: Code, message: impl Into<String>, retryable: bool, details: Details) -> Self {
        let error = Failure { code, message: message.into(), blocked: false, failed: true, retryable, details };
        Self { ok: false, data: Value::Null, error: Some(error), meta: Meta::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_written_as_it_is_named() {
        for code in Code::ALL {
            let written = serde_json::to_value(code).expect("a code is a string");
            assert_eq!(written, Value::String(code.as_str().to_owned()));
        }
    }

    #[test]
    fn recovery_is_as_the_requirements_say() {
        use Recovery::{Automatic, CaseByCase, None};
        let table: Vec<(&str, Recovery)> = Code::ALL.iter().map(|code| (code.as_str(), code.recovery())).collect();
        let expected = [
            ("STRICT_RESOLUTION", Automatic),
            ("FSM_BLOCKED", Automatic),
            ("ROUTING_MISMATCH", Automatic),
            ("APPROVAL_REQUIRED", Automatic),
            ("NOT_FOUND", None),
            ("ACTION_NOT_ALLOWED", None),
            ("POLICY_BLOCKED", None),
            ("INVALID_INPUT", None),
            ("EXECUTION_FAILED", CaseByCase),
            ("LOOP_DETECTED", None),
            ("READ_ONLY_VIOLATION", CaseByCase),
            ("RATE_LIMITED", CaseByCase),
            ("FORBIDDEN", None),
            ("BUDGET_EXCEEDED", None),
            ("TIMEOUT", CaseByCase),
            ("DRIFTED", None),
        ];
        assert_eq!(table, expected);
    }

    #[test]
    fn the_three_constructors_keep_blocked_and_failed_apart() {
        let refused = Envelope::blocked(Code::FsmBlocked, "not now", Details::default()).error.expect("an error");
        assert!(refused.blocked && !refused.failed && !refused.retryable);
        let broken = Envelope::failed(Code::Timeout, "too slow", true, Details::default()).error.expect("an error");
        assert!(!broken.blocked && broken.failed && broken.retryable);
        assert!(Envelope::success(Value::Null, Meta::default()).error.is_none());
    }
}
