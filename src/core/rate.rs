//! How much of the bot somebody may have at a time, as data: which limit, how much of it is left, how long to wait. The shell
//! counts, by its clock; what is decided and said of it is here in the core.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::route::hear;
use crate::signal::Payload;
use crate::tool::ToolKind;

/// What a limit holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// What one person says, by whatever account.
    Person,
    /// What one account says that belongs to nobody known.
    Stranger,
    /// What all such accounts say together.
    Strangers,
    /// What is said in one room.
    Room,
    /// What everybody who is known says together.
    Team,
    /// One person's questions that are not answered yet.
    Open,
    /// Discoveries for one person.
    Resolve,
    /// Readings for one person.
    Read,
    /// Changes that one person has planned.
    Write,
    /// One message by itself.
    Message,
}

impl Scope {
    /// The stable name, a label of metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Stranger => "stranger",
            Self::Strangers => "strangers",
            Self::Room => "room",
            Self::Team => "team",
            Self::Open => "open",
            Self::Resolve => "resolve",
            Self::Read => "read",
            Self::Write => "write",
            Self::Message => "message",
        }
    }

    /// The limit that holds calls of this kind; none for the bot's own bookkeeping.
    pub const fn of_calls(kind: ToolKind) -> Option<Self> {
        match kind {
            ToolKind::Resolve => Some(Self::Resolve),
            ToolKind::Read => Some(Self::Read),
            ToolKind::Write => Some(Self::Write),
            ToolKind::Record => None,
        }
    }
}

/// How much there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Most {
    /// In the long run so many a minute, and so many at once after a pause.
    PerMinute {
        /// In the long run.
        count: u32,
        /// After a pause.
        burst: u32,
    },
    /// So many at a time.
    AtOnce(u32),
    /// So many bytes of text.
    Bytes(usize),
}

/// The most bytes of one message: as much as the longest event of any platform that the bot talks on. What every step does
/// with a text takes a time that this bounds.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// The limit that a message is over by itself, however few there are; none where it is short enough.
pub fn too_long(payload: &Payload) -> Option<Allowance> {
    let (Payload::Text { text: typed } | Payload::Decision { reason: typed, .. }) = payload else { return None };
    let over = Allowance { scope: Scope::Message, most: Most::Bytes(MESSAGE_BYTES_MAX), left: 0, wait_ms: 0 };
    (typed.len() > MESSAGE_BYTES_MAX).then_some(over)
}

/// One limit as it stands for somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// Which limit.
    pub scope: Scope,
    /// How much it lets through.
    pub most: Most,
    /// How many more it lets through now.
    pub left: u32,
    /// Milliseconds until it lets one through: 0 where it does now, and where nobody can say.
    pub wait_ms: u64,
}

impl Allowance {
    /// Seconds to wait, never too few.
    pub(crate) const fn wait_s(&self) -> u64 {
        self.wait_ms.div_ceil(1000)
    }
}

/// The limit itself, in words: `20 messages a minute for one person`.
impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = match self.scope {
            Scope::Person | Scope::Stranger | Scope::Strangers | Scope::Room | Scope::Team => "messages",
            Scope::Message => "bytes of text",
            Scope::Open => "open questions",
            Scope::Resolve => "discoveries",
            Scope::Read => "readings",
            Scope::Write => "planned changes",
        };
        let whose = match self.scope {
            Scope::Person | Scope::Open | Scope::Resolve | Scope::Read | Scope::Write => "for one person",
            Scope::Stranger => "for an account that I do not know",
            Scope::Strangers => "for all accounts together that I do not know",
            Scope::Room => "for this room",
            Scope::Team => "for the whole team",
            Scope::Message => "in one message",
        };
        match self.most {
            Most::PerMinute { count, .. } => write!(f, "{count} {counted} a minute {whose}"),
            Most::AtOnce(most) => write!(f, "{most} {counted} {whose}"),
            Most::Bytes(most) => write!(f, "{most} {counted} {whose}"),
        }
    }
}

/// Whether it decides a plan, takes something back, has a change looked at or what is worked on stopped: pressed at a card, or
/// typed with a full id. Decisions are held to the person's own limit alone, so that a noisy room keeps no approver from saying
/// yes or no.
pub fn is_decision(payload: &Payload) -> bool {
    match payload {
        Payload::Decision { .. } => true,
        Payload::Text { text } => {
            let said = hear(text).lower;
            let verb = said.split(' ').next().unwrap_or_default();
            let decides = ["approve", "countersign", "deny", "reject", "cancel", "revoke"].contains(&verb);
            verb == "verify" || said == "stop" || (decides && payload.named_plan().is_some())
        }
        Payload::Choice { .. }
        | Payload::Details { .. }
        | Payload::Due { .. }
        | Payload::Unreachable { .. }
        | Payload::CardLate { .. }
        | Payload::Stray
        | Payload::OlderCopy
        | Payload::Limited { .. }
        | Payload::Edited { .. }
        | Payload::Deleted { .. }
        | Payload::RoomMoved { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_decision_is_one() {
        let table = [
            ("approve 0123456789abcdef0123456789abcdef", true),
            ("please deny plan 0123456789abcdef0123456789abcdef not now", true),
            ("approve", false),
            ("approve 0123", false),
            ("load 0123456789abcdef0123456789abcdef", false),
            ("cancel 0123456789abcdef0123456789abcdef", true),
            ("deny 0123456789abcdef0123456789abcdef: not now", true),
            ("verify", true),
            ("revoke", false),
            ("please stop", true),
            ("stop nginx", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_decision(&Payload::Text { text: text.to_owned() }), expected, "{text}");
        }
    }
}
