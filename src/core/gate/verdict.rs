//! What a gate says, and the trace of what all of them said (GAT-09, GAT-11, REJ-01).

use crate::approval::PlanId;
use crate::envelope::{Code, Details, Failure};
use crate::signal::ActorId;

/// What one gate says. A third outcome beside these two, "somebody must countersign", is a refusal with the code
/// `APPROVAL_REQUIRED`: nothing runs on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Unchanged, on to the next gate.
    Pass,
    /// Not like this.
    Refuse(Box<Refusal>),
}

impl Verdict {
    /// Refuses with a code and a sentence.
    pub fn refuse(code: Code, message: impl Into<String>) -> Self {
        Self::refuse_with(code, message, Details::default())
    }

    /// Refuses with a code, a sentence and structured details. Whether the proposer can recover by itself follows from
    /// the code, or from a rewrite being at hand.
    pub fn refuse_with(code: Code, message: impl Into<String>, mut details: Details) -> Self {
        let by_itself = code.recovery() == crate::envelope::Recovery::Automatic;
        details.auto_recoverable = by_itself || details.suggested_rewrite.is_some();
        Self::Refuse(Box::new(Refusal { gate: "", code, message: message.into(), details }))
    }
}

/// Why something was refused: which gate, why, how to recover. Never holds a secret that a gate found, only its class
/// (REJ-04).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The gate's name; the stack fills it in.
    pub gate: &'static str,
    /// Stable.
    pub code: Code,
    /// A sentence for people.
    pub message: String,
    /// For the proposer.
    pub details: Details,
}

impl Refusal {
    /// The refusal as the data that goes back to the proposer (REJ-01): nothing was tried.
    pub fn failure(&self) -> Failure {
        let (message, details) = (self.message.clone(), self.details.clone());
        Failure { code: self.code, message, blocked: true, failed: false, retryable: false, details }
    }
}

/// A gate that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Its name.
    pub gate: &'static str,
    /// Its priority.
    pub priority: u16,
}

/// The trace of one judgement: what was proposed, which gates it passed, and which one stopped it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// `tool.action`, escaped and cut; or `message`.
    pub what: String,
    /// On which target, as claimed, escaped and cut.
    pub target: Option<String>,
    /// What that was labelled with then.
    pub labels: Vec<String>,
    /// Whom the call was to be made for.
    pub asked_by: ActorId,
    /// The reason given.
    pub because: String,
    /// In order.
    pub passed: Vec<Passed>,
    /// The end, where it was refused.
    pub refusal: Option<Refusal>,
    /// The plan that was made of it, where it has to be countersigned first.
    pub plan: Option<PlanId>,
}
