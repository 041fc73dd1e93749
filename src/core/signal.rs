//! The one inbound type and the opaque ids. Everything a platform can say becomes a [`Signal`] before anything else
//! looks at it. No platform type, no parsing of text and no decision lives here.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::approval::{Digest, PlanId};
use crate::port::{Asker, CardChoice};
use crate::rate::{Allowance, Scope};

/// Declares string newtypes that only the one who knows the platform creates, and everyone else treats as opaque.
/// Because they are stored, changing their form is a migration.
macro_rules! opaque_ids {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the id as the platform gives it, unchanged.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The id as the platform gave it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

opaque_ids! {
    /// A kind of chat platform: `console`, later `telegram`, `discord`, `matrix`.
    Platform;
    /// Which of our own accounts on that platform heard the event.
    AccountId;
    /// A guild, a homeserver or whatever groups conversations; empty where the platform has none.
    SpaceId;
    /// A room, a channel or a chat. Never an actor: the two are different types on purpose (ADAPTERS.md 1.2).
    ConversationId;
    /// What a thread hangs from inside its conversation, by the platform's own rule.
    ThreadRoot;
    /// The platform's id of the event, unique for (platform, account).
    EventId;
    /// The immutable id of whoever caused the event. A display name is never one.
    ActorId;
    /// Our own id of an accepted signal; sorts by the time of acceptance.
    SignalId;
    /// Our own id of a question with choices.
    QuestionId;
    /// Our own id of one tool call within a request.
    CallId;
}

/// Wall-clock time in milliseconds since the Unix epoch. What is stored and shown; never used to measure an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Wall(pub i64);

/// Monotonic time in milliseconds since an arbitrary start. What every time to live is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mono(pub u64);

impl Mono {
    /// Milliseconds from `earlier` to here; zero where `earlier` is later.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Time and chance, as arguments: the core has neither a clock nor a random source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// What a clock on the wall says.
    pub wall: Wall,
    /// What a stopwatch says.
    pub mono: Mono,
    /// 128 bits from the operating system's randomness, fresh for each step: the id of a plan that is made in it, and what
    /// every other id of the step derives from.
    pub seed: u128,
}

/// What kind of being caused an event. Only a human requests, decides or administers (ADAPTERS.md section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A person with an account of their own.
    Human,
    /// Another bot.
    Bot,
    /// An incoming webhook.
    Webhook,
    /// An account shared by all administrators who hide their name.
    AnonymousAdmin,
    /// A post made in a channel's own name.
    ChannelPost,
    /// A ghost that a bridge moves.
    Bridge,
    /// A named service principal of ours: schedules and alerts run as one.
    Service,
}

/// Who caused an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// Immutable on its platform.
    pub id: ActorId,
    /// What kind of being it is.
    pub kind: ActorKind,
    /// Decoration only, untrusted, never compared.
    pub display: String,
}

impl Actor {
    /// Whether it is the engine itself: its name and its kind, because anybody may be called so.
    pub fn is_ourselves(&self) -> bool {
        self.kind == ActorKind::Service && self.id.as_str() == OURSELVES
    }
}

/// What kind of room an event came from. `Unknown` is treated as the most public one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversationKind {
    /// One person and the bot.
    Direct,
    /// A closed group.
    Group,
    /// A room that many read.
    Channel,
    /// The adapter cannot tell.
    #[default]
    Unknown,
}

impl ConversationKind {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Group => "group",
            Self::Channel => "channel",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether and how an event addressed the bot. What does not address it is neither stored nor answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Addressed {
    /// In a direct conversation.
    Direct,
    /// By mention of the bot's account.
    Mention,
    /// By a reply to one of its messages.
    Reply,
    /// By a registered command.
    Command,
    /// Not at all.
    No,
}

/// How far it is known that the actor of an event is who it says. What people told a server to keep is one thing, and what that
/// server could make up is another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// The platform vouches for it, and the team has no closer witness: Telegram, Discord, the console.
    #[default]
    Platform,
    /// Whoever runs the server could have made it up: a reaction, or what was not encrypted by a verified device, where
    /// events can be encrypted (DESIGN.md section 4).
    Unsealed,
    /// Encrypted, by a device that is verified as the actor's own.
    Sealed,
}

impl Assurance {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Unsealed => "unsealed",
            Self::Sealed => "sealed",
        }
    }

    /// For serde: what most platforms say is not written down.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in a reference")]
    pub(crate) fn is_the_platforms(&self) -> bool {
        *self == Self::Platform
    }
}

/// The key of a thread: a tuple, stored as columns and never joined into one string (ADAPTERS.md 1.8).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ThreadKey {
    /// Which platform.
    pub platform: Platform,
    /// Which of our accounts there.
    pub account: AccountId,
    /// Which space; empty where there is none.
    pub space: SpaceId,
    /// Which room.
    pub conversation: ConversationId,
    /// Which thread in the room.
    pub root: ThreadRoot,
}

/// What was said or pressed. Clicks are not text: they are their own variant and never reach a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Payload {
    /// A message, exactly as it was typed.
    Text {
        /// Untouched: paths, ids and SQL are case-sensitive (SIG-15).
        text: String,
    },
    /// A choice offered by the bot was picked.
    Choice {
        /// The question it belongs to.
        question: QuestionId,
        /// The position of the choice, from 0.
        pick: u32,
    },
    /// A plan's card was decided by a button, a reaction or a key. Never reaches a model, and is judged before anything
    /// else looks at it.
    Decision {
        /// Which plan, by its full id.
        plan: PlanId,
        /// What the card showed.
        digest: Digest,
        /// What was pressed.
        choice: CardChoice,
        /// Why not, where the platform asked; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// The details of a plan were asked for at its card. Decides nothing.
    Details {
        /// The plan, by its full id.
        plan: PlanId,
    },
    /// The engine's own: time has come for a plan to expire or to be looked at again. No adapter makes one.
    Due {
        /// Which plan.
        plan: PlanId,
    },
    /// The engine's own: the card of a plan will never be delivered. No adapter makes one.
    Unreachable {
        /// Which plan.
        plan: PlanId,
    },
    /// The engine's own: the card of a plan came out late, or is not out yet, so that the time to decide begins now. No adapter
    /// makes one.
    CardLate {
        /// The plan.
        plan: PlanId,
    },
    /// A message was edited, by whomever. What it says now is not read: it can only take back what was asked for with it,
    /// whether the signal addresses the bot or not.
    Edited {
        /// The message, by the platform's id of the event that it came with.
        event: EventId,
    },
    /// A message was deleted, by whomever. It can only take back what was asked for with it, like an edit.
    Deleted {
        /// The message, by the platform's id of the event that it came with.
        event: EventId,
    },
    /// The platform gave the room another id. The thread has the first id that the room was known by, and keeps it.
    RoomMoved {
        /// The id that the platform uses from now on.
        to: ConversationId,
        /// True if another thread of the room records the move: this one only shows its waiting cards again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_known: bool,
    },
    /// The engine's own, in the place of a press: no message of ours has such a button. No adapter makes one.
    Stray,
    /// The engine's own, in the place of a press: the card was sent twice, and this is the copy that was sent first. No adapter
    /// makes one.
    OlderCopy,
    /// The engine's own, in the place of what was said: that came over a limit. What was said is not kept, so that nothing
    /// can ever run it. No adapter makes one.
    Limited {
        /// Which limit.
        over: Allowance,
    },
}

/// The actor of the engine's own signals: nobody on any platform, and no right comes with it.
pub const OURSELVES: &str = "countersign";

impl Payload {
    /// The plan that it names by a full id, if it names one: the engine has it ready before the thread hears this.
    pub fn named_plan(&self) -> Option<PlanId> {
        match self {
            Self::Text { text } => {
                text.split_whitespace().map(|word| word.trim_end_matches([':', ',', '.'])).find_map(PlanId::parse)
            }
            Self::Decision { plan, .. }
            | Self::Details { plan }
            | Self::Due { plan }
            | Self::Unreachable { plan }
            | Self::CardLate { plan } => Some(plan.clone()),
            Self::Choice { .. }
            | Self::Limited { .. }
            | Self::Stray
            | Self::OlderCopy
            | Self::Edited { .. }
            | Self::Deleted { .. }
            | Self::RoomMoved { .. } => None,
        }
    }

    /// Whether something was pressed, or reacted to, and nothing was said: whoever else is in the thread has seen nothing
    /// of it.
    pub const fn is_press(&self) -> bool {
        match self {
            Self::Choice { .. } | Self::Decision { .. } | Self::Details { .. } | Self::Stray | Self::OlderCopy => true,
            Self::Text { .. }
            | Self::Due { .. }
            | Self::Unreachable { .. }
            | Self::CardLate { .. }
            | Self::Edited { .. }
            | Self::Deleted { .. }
            | Self::RoomMoved { .. }
            | Self::Limited { .. } => false,
        }
    }

    /// The message that was edited or deleted, where it is about one.
    pub const fn taken_back(&self) -> Option<&EventId> {
        match self {
            Self::Edited { event } | Self::Deleted { event } => Some(event),
            Self::Text { .. }
            | Self::Choice { .. }
            | Self::Decision { .. }
            | Self::Details { .. }
            | Self::Due { .. }
            | Self::Unreachable { .. }
            | Self::CardLate { .. }
            | Self::RoomMoved { .. }
            | Self::Stray
            | Self::OlderCopy
            | Self::Limited { .. } => None,
        }
    }

    /// Drops what a person typed. What was pressed stays: it is the bot's own.
    pub fn forget_words(&mut self) {
        match self {
            Self::Text { text: typed } | Self::Decision { reason: typed, .. } => typed.clear(),
            Self::Choice { .. }
            | Self::Details { .. }
            | Self::Due { .. }
            | Self::Unreachable { .. }
            | Self::CardLate { .. }
            | Self::Edited { .. }
            | Self::Deleted { .. }
            | Self::RoomMoved { .. }
            | Self::Stray
            | Self::OlderCopy
            | Self::Limited { .. } => {}
        }
    }

    /// What it says, in words, as typed.
    pub fn words(&self) -> String {
        match self {
            Self::Text { text } => text.clone(),
            Self::Choice { pick, .. } => format!("choice {}", pick.saturating_add(1)),
            Self::Decision { plan, choice: CardChoice::Approve, .. } => format!("approve {plan}"),
            Self::Decision { plan, choice: CardChoice::Deny, .. } => format!("deny {plan}"),
            Self::Details { plan } => format!("details {plan}"),
            Self::Due { plan } | Self::Unreachable { plan } | Self::CardLate { plan } => {
                format!("look after plan {plan}")
            }
            Self::Edited { .. } => "a message was edited".to_owned(),
            Self::Deleted { .. } => "a message was deleted".to_owned(),
            Self::RoomMoved { to, .. } => format!("this room has the id {to} now"),
            Self::Stray => "a button that is nobody's".to_owned(),
            Self::OlderCopy => "a button of an older copy".to_owned(),
            Self::Limited { over } if over.scope == Scope::Message => "a message that was too long".to_owned(),
            Self::Limited { .. } => "a message that came too fast".to_owned(),
        }
    }
}

/// Whether somebody waits for the answer. Budgets, rate classes and metrics use it (SIG-11, SIG-12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// Somebody waits.
    Foreground,
    /// A job, a schedule, an alert.
    Background,
}

/// One event from outside, in the only form that the core knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// Ours, given at acceptance.
    pub id: SignalId,
    /// Theirs; with platform and account it is unique.
    pub event: EventId,
    /// Where it belongs.
    pub thread: ThreadKey,
    /// What kind of room that is.
    pub room: ConversationKind,
    /// Who caused it.
    pub actor: Actor,
    /// The roles that the actor has there on the platform, by immutable id, fetched with this event and never kept from
    /// an earlier one. What they mean to us is in the access file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub platform_roles: Vec<String>,
    /// How far it is known that it was the actor.
    #[serde(default, skip_serializing_if = "Assurance::is_the_platforms")]
    pub assurance: Assurance,
    /// How it addressed the bot.
    pub addressed: Addressed,
    /// The message that it replies to, where threads are chains of replies: if that is one of a thread, this belongs to it,
    /// whatever `thread.root` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<EventId>,
    /// What it says.
    pub payload: Payload,
    /// How many effects lie between this and a person: 0 for a person's own message. Rises only when an effect starts
    /// a new request (SIG-10).
    pub depth: u8,
    /// Whether somebody waits for it.
    pub ground: Ground,
    /// When it was accepted.
    pub received_at: Wall,
}

impl Signal {
    /// Who asks, and from where.
    pub fn asker(&self) -> Asker<'_> {
        let Self { actor, platform_roles, assurance, thread, room, .. } = self;
        Asker { actor, platform_roles, assurance: *assurance, thread, room: *room }
    }
}
