//! What the fake's log says: what the bot was handed and confirmed, and which of its messages came out. Nothing is judged.

use countersign_telegram_fake::{Call, Fake, Outcome};
use serde_json::Value;

use super::facts::{Poll, Sent, Update, letters};

/// How a message begins that may be a repeat.
const REPEAT: &str = "(may be a repeat)";

/// What became of the calls that send a message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Refused with 429.
    pub(super) too_many: usize,
    /// Done, and the answer lost.
    pub(super) lost: usize,
    /// All calls of all methods.
    pub(super) calls: usize,
}

/// Everything that the log says.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) polls: Vec<Poll>,
    pub(super) sent: Vec<Sent>,
    pub(super) tally: Tally,
}

impl Seen {
    /// Reads the log. `kills` has, for each kill, how many calls came before it.
    pub(super) fn read(fake: &Fake, kills: &[u64]) -> Self {
        let mut seen = Self::default();
        for call in fake.log() {
            let life = 1 + kills.partition_point(|before| *before < call.sequence);
            seen.note(life, &call);
        }
        seen
    }

    fn note(&mut self, life: usize, call: &Call) {
        self.tally.calls += 1;
        match call.method.as_str() {
            "getUpdates" => self.polls.extend(poll(life, call)),
            "sendMessage" => self.note_sending(life, call),
            _ => {}
        }
    }

    fn note_sending(&mut self, life: usize, call: &Call) {
        let is_lost = match &call.outcome {
            Outcome::Done(_) => false,
            Outcome::DroppedAfter(_) => true,
            Outcome::Refused { code: 429, .. } => return self.tally.too_many += 1,
            Outcome::Open | Outcome::Refused { .. } | Outcome::DroppedBefore => return,
        };
        self.tally.lost += usize::from(is_lost);
        // Progress rings nobody's phone, and is taken back: it is no answer.
        let is_progress = call.params["disable_notification"] == Value::Bool(true);
        if let (Some(message), false) = (result(&call.outcome), is_progress) {
            self.sent.extend(sent(life, message, is_lost));
        }
    }
}

fn result(outcome: &Outcome) -> Option<&Value> {
    match outcome {
        Outcome::Done(result) => Some(result),
        Outcome::DroppedAfter(inner) => result(inner),
        Outcome::Open | Outcome::Refused { .. } | Outcome::DroppedBefore => None,
    }
}

fn poll(life: usize, call: &Call) -> Option<Poll> {
    let updates = result(&call.outcome)?.as_array()?.iter().map(update).collect::<Option<_>>()?;
    Some(Poll { life, offset: call.params["offset"].as_i64().unwrap_or_default(), updates })
}

/// The events are named as the adapter stores them.
fn update(update: &Value) -> Option<Update> {
    let message = &update["message"];
    let named = message["message_id"].as_i64().map(|id| format!("{}:{id}", message["chat"]["id"]));
    let pressed = || update["callback_query"]["id"].as_str().map(|id| format!("cb:{id}"));
    Some(Update { id: update["update_id"].as_i64()?, event: named.or_else(pressed) })
}

fn sent(life: usize, message: &Value, is_lost: bool) -> Option<Sent> {
    let text = message["text"].as_str()?;
    let (is_marked, text) = match text.strip_prefix(REPEAT) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (chat, message) = (message["chat"]["id"].as_i64()?, message["message_id"].as_i64()?);
    Some(Sent { life, chat, message, says: letters(text), is_marked, is_lost })
}
