//! What the bot asked of the fake, call by call, and what came of it. Nothing is decided from it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::channel::ChannelId;

/// One call of the bot's, in the order in which the calls arrived.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Call {
    /// Counts from 1.
    pub sequence: u64,
    /// Since the fake was started.
    pub at: Duration,
    /// What Discord's reference calls it, `createMessage` say; of the gateway, `identify` and `resume`; verb and path for
    /// what does not exist.
    pub method: String,
    /// The channel it concerns, where its path names one.
    pub channel: Option<ChannelId>,
    /// The body, without files; the query where there is no body.
    pub params: Value,
    /// What came of it.
    pub outcome: Outcome,
}

/// An event of the gateway's, each time that it was sent to a bot. Whether that has read it, no gateway knows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SentEvent {
    /// How many calls of the bot's had come by then.
    pub calls: usize,
    /// `MESSAGE_CREATE`, say.
    pub name: String,
    /// The event itself.
    pub body: Value,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Not answered yet, or never, by a fault.
    Open,
    /// Done, with this body.
    Done(Value),
    /// Refused.
    Refused {
        /// The HTTP status, or the code with which the gateway closed.
        status: u16,
        /// Discord's own error code; none for a limit.
        code: Option<u32>,
        /// Discord's words.
        message: String,
    },
    /// The connection was closed before anything was done.
    DroppedBefore,
    /// It was done, with this body or refusal, and the answer lost.
    DroppedAfter(Box<Outcome>),
}

impl Outcome {
    /// Whether the effect took place, whether the bot was told or not.
    pub fn took_effect(&self) -> bool {
        match self {
            Self::Done(_) => true,
            Self::DroppedAfter(inner) => inner.took_effect(),
            Self::Open | Self::Refused { .. } | Self::DroppedBefore => false,
        }
    }
}

/// How often a method was called, and how that ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// All calls, also those still open.
    pub calls: usize,
    /// Those that took effect.
    pub done: usize,
    /// Those that were refused with 429.
    pub too_many: usize,
    /// Those that were refused otherwise.
    pub refused: usize,
    /// Those whose connection was closed without an answer.
    pub dropped: usize,
}

pub(crate) fn counts(calls: &[Call]) -> BTreeMap<String, Count> {
    let mut counts = BTreeMap::<String, Count>::new();
    for call in calls {
        let count = counts.entry(call.method.clone()).or_default();
        count.calls += 1;
        count.done += usize::from(call.outcome.took_effect());
        match &call.outcome {
            Outcome::Refused { status: 429, .. } => count.too_many += 1,
            Outcome::Refused { .. } => count.refused += 1,
            Outcome::DroppedBefore | Outcome::DroppedAfter(_) => count.dropped += 1,
            Outcome::Open | Outcome::Done(_) => {}
        }
    }
    counts
}
