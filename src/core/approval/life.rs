//! The life of a plan: its states and which may follow which. A table, total and without a way back. Who may move a plan,
//! and when, is decided elsewhere.

use serde::{Deserialize, Serialize};

use crate::envelope::Code;

/// What a verification found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A fresh read shows what was expected.
    AsExpected,
    /// A fresh read shows something else.
    Differs,
    /// The target is gone.
    Absent,
}

impl Outcome {
    /// Every outcome that ends a verification. The fourth, unreachable, does not end it.
    pub const ALL: [Self; 3] = [Self::AsExpected, Self::Differs, Self::Absent];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AsExpected => "as_expected",
            Self::Differs => "differs",
            Self::Absent => "absent",
        }
    }
}

/// Where a plan stands (DESIGN.md section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    /// Waits for a decision.
    Pending,
    /// Somebody with the right has countersigned it.
    Approved,
    /// It is being carried out, and no answer has come.
    Executing,
    /// It was carried out, and no fresh read of its target has succeeded since.
    Unverified,
    /// Nobody knows whether it was carried out.
    Unknown,
    /// A fresh read has been made.
    Verified(Outcome),
    /// Somebody with the right said no.
    Denied,
    /// Nobody decided in time.
    Expired,
    /// Taken back.
    Cancelled,
    /// Approved, and then a gate, the fresh look or the tool server refused it: nothing was done.
    Refused(Code),
    /// It certainly was not done.
    Failed,
}

impl PlanState {
    /// The stable name, without what comes with it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Executing => "executing",
            Self::Unverified => "unverified",
            Self::Unknown => "unknown",
            Self::Verified(_) => "verified",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Refused(_) => "refused",
            Self::Failed => "failed",
        }
    }

    /// Whether something may still come of it.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Approved) || self.holds_target()
    }

    /// Whether it was, or may have been, begun and is not verified: its thread is in VERIFYING for its target, and no
    /// other plan may touch that target.
    pub const fn holds_target(self) -> bool {
        matches!(self, Self::Executing | Self::Unverified | Self::Unknown)
    }
}

/// Whether a plan may go from one state to another. Staying in PENDING is one more vote, a reminder or an escalation; staying
/// in UNVERIFIED or UNKNOWN is a verification that was tried and could not be made.
pub const fn may_become(from: PlanState, to: PlanState) -> bool {
    use PlanState::{
        Approved, Cancelled, Denied, Executing, Expired, Failed, Pending, Refused, Unknown, Unverified, Verified,
    };
    match (from, to) {
        (Pending, Pending | Approved | Denied | Expired | Cancelled)
        | (Approved, Executing | Refused(_) | Expired | Cancelled)
        | (Executing, Unverified | Unknown | Refused(_) | Failed)
        | (Unverified, Unverified | Verified(_))
        | (Unknown, Unknown | Verified(_)) => true,
        (
            Pending | Approved | Executing | Unverified | Unknown | Verified(_) | Denied | Expired | Cancelled
            | Refused(_) | Failed,
            _,
        ) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    const ALL: [PlanState; 11] = [
        PlanState::Pending,
        PlanState::Approved,
        PlanState::Executing,
        PlanState::Unverified,
        PlanState::Unknown,
        PlanState::Verified(Outcome::AsExpected),
        PlanState::Denied,
        PlanState::Expired,
        PlanState::Cancelled,
        PlanState::Refused(Code::Drifted),
        PlanState::Failed,
    ];

    #[test]
    fn the_table_of_lives() {
        let mut table = String::new();
        for from in ALL {
            let next: Vec<&str> = ALL.iter().filter(|to| may_become(from, **to)).map(|to| to.as_str()).collect();
            let next = if next.is_empty() { "an end".to_owned() } else { next.join(" ") };
            writeln!(table, "{} -> {next}", from.as_str()).expect("a String takes any text");
        }
        insta::assert_snapshot!(table, @"
        pending -> pending approved denied expired cancelled
        approved -> executing expired cancelled refused
        executing -> unverified unknown refused failed
        unverified -> unverified verified
        unknown -> unknown verified
        verified -> an end
        denied -> an end
        expired -> an end
        cancelled -> an end
        refused -> an end
        failed -> an end
        ");
    }

    #[test]
    fn nothing_is_executed_twice_and_nothing_without_a_decision() {
        let into_executing: Vec<_> = ALL.iter().filter(|from| may_become(**from, PlanState::Executing)).collect();
        assert_eq!(into_executing, [&PlanState::Approved]);
        let into_approved: Vec<_> = ALL.iter().filter(|from| may_become(**from, PlanState::Approved)).collect();
        assert_eq!(into_approved, [&PlanState::Pending]);
        for from in ALL.iter().filter(|from| from.holds_target() && **from != PlanState::Executing) {
            // Only a fresh read leads out.
            for to in ALL.iter().filter(|to| !to.holds_target() && may_become(*from, **to)) {
                assert_eq!(to.as_str(), "verified");
            }
        }
        for from in ALL.iter().filter(|from| !from.is_open()) {
            assert!(ALL.iter().all(|to| !may_become(*from, *to)), "{from:?} is an end");
        }
    }
}
