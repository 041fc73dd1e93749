//! What is told of a plan that came to nothing: why nothing was changed. That nobody decided is never told as if somebody
//! had said no, and neither is that nobody could be asked (AC-14).

use serde::{Deserialize, Serialize};

use super::{Filed, PlanState};
use crate::envelope::Code;

/// Why a plan was taken back without anybody's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawal {
    /// The message that asked for it was edited.
    Edited,
    /// The message that asked for it was deleted.
    Deleted,
    /// Its card could not be delivered.
    Unreachable,
}

impl Withdrawal {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Edited, Self::Deleted, Self::Unreachable];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Deleted => "deleted",
            Self::Unreachable => "unreachable",
        }
    }

    /// The beginning of a sentence.
    pub const fn why(self) -> &'static str {
        match self {
            Self::Edited => "The message that asked for it was edited",
            Self::Deleted => "The message that asked for it was deleted",
            Self::Unreachable => "Its card could not be delivered, so nobody could be asked",
        }
    }
}

/// How a plan came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Somebody who may decide said no.
    Denied,
    /// Nobody decided in time.
    TimedOut,
    /// It was approved, and not begun in time.
    BegunTooLate,
    /// Somebody took it back.
    Cancelled,
    /// It fell away by itself.
    Withdrawn(Withdrawal),
    /// It was approved, and refused when it was to be carried out.
    Refused(Code),
    /// It was tried, and certainly not done.
    Failed,
}

/// Why nothing was changed; none where something may have been, or may still be.
pub const fn told(filed: &Filed) -> Option<Told> {
    let standing = &filed.standing;
    match (standing.state, standing.withdrawn) {
        (PlanState::Denied, _) => Some(Told::Denied),
        (PlanState::Expired, _) if standing.decided.is_some() => Some(Told::BegunTooLate),
        (PlanState::Expired, _) => Some(Told::TimedOut),
        (PlanState::Cancelled, Some(why)) => Some(Told::Withdrawn(why)),
        (PlanState::Cancelled, None) => Some(Told::Cancelled),
        (PlanState::Refused(code), _) => Some(Told::Refused(code)),
        (PlanState::Failed, _) => Some(Told::Failed),
        (
            PlanState::Pending
            | PlanState::Approved
            | PlanState::Executing
            | PlanState::Unverified
            | PlanState::Unknown
            | PlanState::Verified(_),
            _,
        ) => None,
    }
}

impl Told {
    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::TimedOut | Self::BegunTooLate => "expired",
            Self::Cancelled => "cancelled",
            Self::Withdrawn(Withdrawal::Edited | Withdrawal::Deleted) => "withdrawn",
            Self::Withdrawn(Withdrawal::Unreachable) => "unreachable",
            Self::Refused(_) => "refused",
            Self::Failed => "failed",
        }
    }

    /// The reason, as the beginning of a sentence; none where whoever decided may have given one.
    pub const fn why(self) -> Option<&'static str> {
        match self {
            Self::Denied | Self::Cancelled | Self::Refused(_) | Self::Failed => None,
            Self::TimedOut => Some("Nobody decided in time"),
            Self::BegunTooLate => Some("It was approved and not begun in time"),
            Self::Withdrawn(why) => Some(why.why()),
        }
    }
}
