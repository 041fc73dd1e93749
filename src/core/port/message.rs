//! What is said: messages of neutral blocks, how they stand to the world, who sees them and what they claim. How they look
//! is the adapter's; which may leave is the gates'.

use serde::{Deserialize, Serialize};

use crate::approval::{Digest, Outcome, PlanId, Risk};
use crate::resource::ResourceId;
use crate::signal::{ActorId, QuestionId, SignalId, ThreadKey};

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
    /// A model's words, in the platform's style of a quotation: nothing in it looks like the bot's own.
    Quote {
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
        /// The plan's risk: where events are not all equally trusted, it says how the plan can be approved. One that was stored
        /// without it counts as the highest.
        #[serde(default = "highest")]
        risk: Risk,
        /// What may be decided.
        choices: Vec<CardChoice>,
    },
}

const fn highest() -> Risk {
    Risk::High
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
    /// How far the work has come, and what a card shows by now: put in the place of what was shown before. Only the
    /// latest counts, and one that was skipped is missed by nobody.
    Progress,
}

/// Who sees a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Everybody in the thread.
    #[default]
    Everybody,
    /// Meant for one person, where the room can do that (`Capabilities::private`); else everybody sees it. Nothing secret
    /// is ever said on the strength of it: it only spares the others what is none of their business.
    Only(ActorId),
}

impl Visibility {
    /// Whether everybody sees it.
    pub fn is_everybody(&self) -> bool {
        *self == Self::Everybody
    }
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
    /// Who sees it.
    #[serde(default, skip_serializing_if = "Visibility::is_everybody")]
    pub visibility: Visibility,
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
