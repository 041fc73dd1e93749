//! What goes into a step and what comes out of it. Effects are performed by the shell, in order; what leaves the core to
//! act or to be read by people is `Cleared`.

use crate::approval::{Digest, Filed, Move, PlanId};
use crate::envelope::{Code, Envelope};
use crate::gate::{Cleared, ToolCall};
use crate::ledger::Change;
use crate::mind::{Ask, Thought, Unheard};
use crate::port::Outgoing;
use crate::route::Route;
use crate::signal::{Actor, CallId, Mono, Signal, SignalId, ThreadKey};
use crate::usage::{Origin, Spend, Usage};

/// What can happen to a thread.
#[derive(Clone, Debug)]
pub enum Input {
    /// An accepted signal.
    Signal(Box<Signal>),
    /// An accepted signal that an earlier process did not answer: everything about it is begun anew, and the answer says
    /// what it answers.
    Again(Box<Signal>),
    /// A signal that is set aside, because a panic or twice the end of the process interrupted its work: it ends in one
    /// notice.
    Interrupted(Box<Signal>),
    /// A tool answered.
    Answer {
        /// The call.
        call: CallId,
        /// The answer.
        envelope: Box<Envelope>,
    },
    /// A model answered, or did not.
    Thought {
        /// For which request.
        signal: Box<Signal>,
        /// Which question of it.
        n: u32,
        /// What it said.
        heard: Box<Result<Thought, Unheard>>,
    },
    /// The time of a request is over.
    Deadline(SignalId),
    /// A signal that is heard while another is worked on ([`crate::thread::is_heard_at_once`]): it is answered by itself, and
    /// what is worked on goes on. `Halt` follows it.
    Aside(Box<Signal>),
    /// What is worked on ends, where somebody has asked for that who may.
    Halt(SignalId),
    /// A turn of a model, or a rule that asked one, is over and has used this. Said also where its request has ended: it was
    /// used all the same.
    Used {
        /// What it was for.
        signal: Box<Signal>,
        /// Who thought of it.
        by: Origin,
        /// How much.
        usage: Usage,
    },
    /// What the store holds of this thread's plans: when the thread begins, and before a decision about a plan that it
    /// does not know.
    Filed(Vec<Filed>),
    /// The store did not take a step, because this plan had been moved by somebody else. Nothing of that step was done.
    Lost {
        /// What the step was about.
        signal: Box<Signal>,
        /// The plan as the store has it.
        filed: Box<Filed>,
    },
    /// The store did not take a step, because another plan's change of the same target is not verified yet. Nothing of
    /// that step was done.
    Held {
        /// What the step was about.
        signal: Box<Signal>,
        /// The plan that was to be carried out, as the store has it.
        filed: Box<Filed>,
        /// The plan that holds its target.
        by: PlanId,
    },
    /// The store did not take a step, because somebody else had changed a row of the ledger. Nothing of that step was
    /// done.
    Overtaken(Box<Signal>),
}

/// What has to be done. The order of a step's effects is the order of their doing.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Call a tool; its answer comes back as [`Input::Answer`].
    Call(Cleared<ToolCall>),
    /// Ask a model; what it says comes back as [`Input::Thought`].
    Think(Box<Cleared<Ask>>),
    /// Send a message. `n` counts the messages of a request, so that (signal, n) is unique.
    Post {
        /// The n-th message that answers its signal, from 0.
        n: u32,
        /// The message.
        message: Cleared<Outgoing>,
    },
    /// Show how far the work has come, where it takes long enough that somebody wonders. Comes before the call that it
    /// tells of. Only the latest of a request counts, nothing of it is stored, and what the platform cannot put right later
    /// is not shown at all.
    Progress(Cleared<Outgoing>),
    /// From now on the card of a plan shows this. It can be pressed only as long as this ends in a `Block::Card`. Only the
    /// latest of a plan counts.
    Redraw {
        /// Which plan's card.
        plan: PlanId,
        /// What it shows.
        message: Cleared<Outgoing>,
    },
    /// File a new plan. Committed FULL with the rest of the step, before anything is said of it.
    File(Box<Filed>),
    /// Move a plan: a compare-and-set in the step's transaction, committed FULL. Where it does not change exactly one row
    /// nothing of the step is done, and the thread hears [`Input::Lost`] or [`Input::Held`].
    Move(Box<Move>),
    /// Count what was used, in the step's transaction.
    Spend(Box<Spend>),
    /// Change a row of the ledger: a compare-and-set in the step's transaction. Where it cannot be made nothing of the
    /// step is done, and the thread hears [`Input::Overtaken`]. Never without an audit row in the same step.
    Keep(Box<Change>),
    /// Write an audit row.
    Audit(Audit),
    /// Raise a counter.
    Count(Count),
    /// Remember the route of a question.
    Remember {
        /// In which thread, for which roles, which words.
        key: (ThreadKey, String, String),
        /// The route.
        route: Route,
    },
    /// Nobody waits for these any longer: readings that were begun, and where it says so the question to a model. Their
    /// places are free for others. A change is never among them.
    GiveUp {
        /// The readings.
        calls: Vec<CallId>,
        /// Whether a model is asked. What that may have used is counted in the same step.
        asks: bool,
    },
    /// Come back with [`Input::Deadline`] at this time, unless the request has ended.
    Wake {
        /// When.
        at: Mono,
        /// For which request.
        signal: SignalId,
    },
    /// The request has ended.
    Finish {
        /// Which.
        signal: SignalId,
        /// How.
        ending: Ending,
    },
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an answer, a question or a refusal: with something that was said.
    Answered,
    /// With a notice that it was interrupted.
    Interrupted,
    /// Too deep, counted and logged; or a change of a message that nothing waits for. Nothing was said.
    Dropped,
}

impl Ending {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Interrupted => "interrupted",
            Self::Dropped => "dropped",
        }
    }
}

/// One audit row (invariant 9). No secrets: texts are masked before they come here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// `called`, `refused`, `recovered`, `dropped`, `reset`; of a plan, what became of it: `proposed`, `voted`, `reminded`, `escalated`,
    /// `approved`, `executing`, ...
    pub what: &'static str,
    /// Which signal.
    pub signal: SignalId,
    /// Where.
    pub thread: ThreadKey,
    /// Who: the platform and the immutable id, never a constant (AC-26).
    pub actor: Actor,
    /// The gate that refused; empty where none did.
    pub gate: &'static str,
    /// The code of the refusal.
    pub code: Option<Code>,
    /// `tool.action`, or empty.
    pub call: String,
    /// The target, as claimed.
    pub target: Option<String>,
    /// Which plan it is about, and the digest of it.
    pub plan: Option<(PlanId, Digest)>,
    /// A sentence.
    pub detail: String,
    /// The id of the recovery that a refusal begins or a success ends.
    pub recovery: Option<String>,
}

/// One step of a counter. The shell cleans the labels (TEL-09) and adds the prefix `countersign_` (TEL-08).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Without the prefix.
    pub name: &'static str,
    /// Never a user or a thread.
    pub labels: Vec<(&'static str, String)>,
}
