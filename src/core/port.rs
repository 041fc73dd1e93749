//! The seam: what the core asks of the shell and of the adapters. Outgoing blocks are neutral and the adapter renders
//! them; capabilities are data; what I/O a method may do stands in its comment. Nothing here decides.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::approval::{Digest, Outcome, PlanId, Risk, Terms};
use crate::gate::{Cleared, ToolCall};
use crate::ledger::Ledger;
use crate::people::{Nobody, People};
use crate::resource::ResourceId;
use crate::signal::{Actor, ConversationKind, Platform, QuestionId, Signal, SignalId, ThreadKey};
use crate::tool::ToolKind;

/// A boxed future, so that the traits below can be used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How a message stands to the world; adapters draw it as a colour or a mark (FMT-04).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// An answer.
    Plain,
    /// The bot needs something from a person.
    Question,
    /// Refused by a rule.
    Refused,
    /// Tried, and it did not work.
    Failed,
}

/// A choice in a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Short: it becomes a button.
    pub label: String,
    /// One line that tells it from the others; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
}

/// A part of a message, in the order it is shown. All text in it is already escaped and bounded; an adapter adds only its
/// platform's own markup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Block {
    /// Prose.
    Text {
        /// May have several lines.
        text: String,
    },
    /// Preformatted.
    Code {
        /// May have several lines.
        text: String,
    },
    /// Name and value, one a line.
    Fields {
        /// (name, value).
        fields: Vec<(String, String)>,
    },
    /// Rows and columns.
    Table {
        /// Headings.
        columns: Vec<TableColumn>,
        /// Cells, each row as long as `columns`.
        rows: Vec<Vec<String>>,
    },
    /// Choices: buttons, reactions or numbers, whatever the platform has.
    Choices {
        /// A pick carries it back.
        question: QuestionId,
        /// In order; a pick is a position.
        choices: Vec<Choice>,
    },
    /// The end of a plan's card: what may be decided about it. Everything before it in the message is the plan, whole.
    Card {
        /// Which plan. A decision carries it back.
        plan: PlanId,
        /// The digest of what was shown. A click carries it back, too.
        digest: Digest,
        /// What may be decided.
        choices: Vec<CardChoice>,
    },
}

/// What may be decided about a plan, at its card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardChoice {
    /// Countersign it.
    Approve,
    /// Say no.
    Deny,
}

/// A column's heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumn {
    /// What it says.
    pub title: String,
    /// Whether its cells are numbers and stand right.
    pub right: bool,
}

/// In which order messages leave: the smaller first. Progress may be skipped, the others never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// What a person has to decide.
    Decision,
    /// Final answers.
    Answer,
}

/// A message on its way out. Only a `Cleared<Outgoing>` leaves the core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// Where to.
    pub to: ThreadKey,
    /// What it answers.
    pub answers: SignalId,
    /// How it stands to the world.
    pub mark: Mark,
    /// When it leaves.
    pub lane: Lane,
    /// What it claims, and on which readings that rests (invariant 11).
    pub claim: Claim,
    /// What is shown.
    pub blocks: Vec<Block>,
}

/// What a message claims about the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Claim {
    /// Nothing: a question, a refusal, help, the bot's own state.
    Nothing,
    /// Readings. Each must be a call that succeeded in this request, or nothing is shown.
    Readings {
        /// What it rests on, at least one.
        sources: Vec<Source>,
        /// The target of a change of this thread that is not verified, where there is one: the message then says so
        /// before it says anything else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unverified: Option<ResourceId>,
    },
    /// A change: that it was carried out and what a fresh read found then.
    Change {
        /// Which plan.
        plan: PlanId,
        /// What its verification found.
        outcome: Outcome,
        /// The verifying read.
        sources: Vec<Source>,
    },
}

/// A reading that an answer rests on (UX-01).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// `tool.action`.
    pub call: String,
    /// What it looked at.
    pub target: Option<ResourceId>,
    /// Milliseconds since the Unix epoch at which it looked.
    pub observed_at: i64,
}

/// What happened to a delivery. Never guessed from the text of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It is out. The platform's ids of every part, in order; empty where the platform has none.
    Sent(Vec<String>),
    /// Not now: again after so many milliseconds.
    RetryAfter(u64),
    /// Not out, for a reason that may pass.
    Retryable(String),
    /// It may be out and it may not: never repeated without saying so.
    Ambiguous(String),
    /// Not out, and it never will be.
    Permanent(String),
    /// The platform does not let us in.
    Unauthorized(String),
}

/// What was done with a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Stored under this id: it will be answered, whatever happens to this process. `deliver` and `answered` name the
    /// same id, which is how an adapter knows whose answer came.
    Accepted(SignalId),
    /// Seen before: nothing to do, move the cursor on.
    Duplicate,
    /// The thread's queue is full. Nothing was stored: tell the person, or hold the cursor.
    Busy,
    /// It came over a limit, and that was said already. Nothing was stored, and the cursor may move on. The adapter may mark
    /// the message, and says nothing more.
    Limited {
        /// Milliseconds until one more may be taken; 0 where nobody can say.
        wait_ms: u64,
    },
    /// The bot is stopping. Nothing was stored.
    Stopping,
}

/// What a room can do, as data. The core picks buttons, then reactions, then text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// A choice can be pressed.
    pub buttons: bool,
    /// The most characters of one message; longer ones are split by the adapter.
    pub text_chars_max: usize,
}

/// What an adapter tells the shell. Implemented by the engine.
pub trait Ingress: Send + Sync {
    /// Takes a signal whose `id` is still empty and stores it. May do database I/O. Only after this returns may the
    /// platform's cursor move on. An error is a sentence for the log; the signal is then not stored.
    fn accept(&self, signal: Signal) -> BoxFuture<'_, Result<Admission, String>>;
}

/// Why an adapter ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its input is over: accepted requests are still answered, then the bot may stop.
    InputOver,
    /// It was asked to stop.
    Stopped,
    /// It cannot go on; a sentence for people.
    Failed(String),
}

/// One platform: translates, and nothing more.
pub trait Adapter: Send + Sync + 'static {
    /// Which platform. No I/O.
    fn platform(&self) -> Platform;

    /// What a room can do. No I/O.
    fn capabilities(&self, room: &ThreadKey) -> Capabilities;

    /// Hears until its input is over or `stop` resolves. Talks to its platform. Trouble on the way is a condition to
    /// report in the log and recover from, not an error to return (ADAPTERS.md section 1).
    fn hear<'a>(&'a self, ingress: &'a dyn Ingress, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, Ended>;

    /// Sends one message; talks to its platform. `repeat` is set where an earlier attempt may have come through, and the
    /// message must then say so.
    fn deliver<'a>(&'a self, id: &'a str, message: &'a Cleared<Outgoing>, repeat: bool) -> BoxFuture<'a, Delivery>;

    /// Every message that answers this signal has left. No I/O beyond the adapter's own platform.
    fn answered(&self, signal: &SignalId);
}

/// Who asks, and from where: everything of a signal that rights depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker<'a> {
    /// Who.
    pub actor: &'a Actor,
    /// The actor's roles on their platform, by immutable id, as the adapter fetched them with the signal.
    pub platform_roles: &'a [String],
    /// Where.
    pub thread: &'a ThreadKey,
    /// What kind of room that is.
    pub room: ConversationKind,
}

impl<'a> Asker<'a> {
    /// Somebody in a closed group, without any role of their platform.
    pub const fn at(actor: &'a Actor, thread: &'a ThreadKey) -> Self {
        Self { actor, platform_roles: &[], thread, room: ConversationKind::Group }
    }
}

/// What an actor wants to do. Seven different rights: none follows from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Right {
    /// To be answered at all.
    Talk,
    /// To have a call made.
    Request {
        /// What kind of call.
        kind: ToolKind,
        /// Which one, as `tool.action`; none asks about the kind in general.
        tool: Option<String>,
        /// On which resource; none is the thread's own place.
        on: Option<ResourceId>,
        /// What was found on the resource, as `name=value`. Untrusted: it may restrict, and never permit.
        labels: Vec<String>,
    },
    /// To decide a plan. Whoever may talk or request may not decide for that alone.
    Decide {
        /// Its risk.
        risk: Risk,
        /// Its target.
        on: ResourceId,
        /// Whether the same person asked for it.
        is_requester: bool,
        /// What was found on its target, as `name=value`. Untrusted: it may restrict, and never permit.
        labels: Vec<String>,
    },
    /// To take notice of an alert or an incident for everybody.
    Acknowledge,
    /// To declare an incident.
    Declare,
    /// To give somebody a standing permission.
    Grant,
    /// To change who may what.
    Administer,
}

impl Right {
    /// A call of this kind in general, here.
    pub const fn request(kind: ToolKind) -> Self {
        Self::Request { kind, tool: None, on: None, labels: Vec::new() }
    }
}

/// What the terms of a plan depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermsAbout<'a> {
    /// Its risk.
    pub risk: Risk,
    /// Its target.
    pub target: &'a ResourceId,
    /// What was found on the target, as `name=value`. Untrusted: it may only make the terms stricter.
    pub labels: &'a [String],
    /// What is called, as `tool.action`.
    pub tool: &'a str,
}

/// Who may what. Pure: a snapshot of policies and roles. Fails closed.
pub trait Rights: Send + Sync {
    /// Whether they may, here.
    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool;

    /// Whether policy lets them countersign alone what they asked for themselves. A waiver of four eyes, which is
    /// recorded each time.
    fn may_decide_alone(&self, asker: &Asker<'_>, risk: Risk) -> bool;

    /// Whether the control level of the room lets them do this without anybody's countersignature: a call as
    /// `tool.action`, a target with what was found on it as `name=value`, and its risk. Only the room's entry in the access
    /// file can say so; nothing that is said in a chat ever does.
    fn acts_alone(&self, _: &Asker<'_>, _call: &str, _on: (&ResourceId, &[String]), _: Risk) -> bool {
        false
    }

    /// Their roles, here, for `who`. An id alone says nothing: the same one may be somebody else elsewhere.
    fn roles(&self, asker: &Asker<'_>) -> Vec<String>;

    /// The name of the person or of the service that this account belongs to; none where nobody known has it.
    fn name(&self, _: &Platform, _: &Actor) -> Option<String> {
        None
    }

    /// Who an account belongs to: one text for all accounts of one person, so that a second account is no second pair of
    /// eyes. An account that nobody is known by is somebody of its own; no name has a colon in it.
    fn person(&self, platform: &Platform, actor: &Actor) -> String {
        self.name(platform, actor).unwrap_or_else(|| format!("{platform}:{}", actor.id))
    }

    /// What must come together before such a plan is approved, beside the right of each who countersigns.
    fn terms(&self, _about: &TermsAbout<'_>) -> Terms {
        Terms::default()
    }

    /// Whether somebody is in a group that terms name. Nobody is, where there are no groups.
    fn is_in(&self, _asker: &Asker<'_>, _group: &str) -> bool {
        false
    }

    /// The rights as they are at this moment, for one step: where they can change while it runs, all its questions must be
    /// asked of the same ones. None where they never change.
    fn at_this_moment(&self) -> Option<Arc<dyn Rights>> {
        None
    }

    /// Takes note of the accounts that were linked in chat. No I/O.
    fn follow(&self, _ledger: &Ledger) {}

    /// The people themselves. No I/O.
    fn people(&self) -> &dyn People {
        &Nobody
    }

    /// Answers `who can`, asked in this thread with the words after it: sentences and names, no words of the asker's.
    fn who_can(&self, _asked: &str, _: &Asker<'_>) -> String {
        "Nobody keeps a list here.".to_owned()
    }
}

/// How alike two texts are, from 0 to 1000. Pure. The thresholds belong to the implementation (C-26).
pub trait Similarity: Send + Sync {
    /// 1000 is equal.
    fn alike(&self, a: &str, b: &str) -> u16;

    /// From where on a suggestion is worth making.
    fn worth_suggesting(&self) -> u16;
}

/// Calls tools. Implemented by the shell's `tools/`; takes cleared calls only.
pub trait Tools: Send + Sync {
    /// Runs one call on its server within its time limit; may start the server. Always answers, with
    /// `EXECUTION_FAILED` or `TIMEOUT` where the server did not.
    fn call(&self, call: Cleared<ToolCall>) -> BoxFuture<'_, crate::envelope::Envelope>;
}
