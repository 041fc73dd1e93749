//! The updates that wait for the bot, with Telegram's bookkeeping: an update is handed out again and again until an
//! offset above its id confirms it, and only kinds that the bot asked for are kept. Also the two faults that concern
//! updates: some are handed out once more after they were confirmed, and some change places with the next one.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::chat::ChatId;

/// What a bot gets that never said what it wants (Bot API, `allowed_updates`).
const BY_DEFAULT: [&str; 7] = [
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "inline_query",
    "my_chat_member",
];

/// How long an update that is to come late waits for another to overtake it.
const HELD_FOR: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub(crate) struct Update {
    pub(crate) id: i64,
    pub(crate) chat: Option<ChatId>,
    body: Value,
    /// Until when it waits to be overtaken.
    held: Option<Instant>,
}

/// What a poll gets.
#[derive(Debug, PartialEq)]
pub(crate) enum Batch {
    Ready(Vec<Value>),
    /// Nothing yet; look again by then at the latest, if there is a then.
    Nothing(Option<Instant>),
}

#[derive(Debug)]
pub(crate) struct Queue {
    next_id: i64,
    pending: VecDeque<Update>,
    /// Confirmed, and to be handed out once more all the same.
    again: VecDeque<Value>,
    allowed: BTreeSet<String>,
    /// Counts the polls: only the newest may wait.
    pub(crate) polls: u64,
}

impl Queue {
    pub(crate) fn new() -> Self {
        let allowed = BY_DEFAULT.map(str::to_owned).into();
        Self { next_id: 700_000_001, pending: VecDeque::new(), again: VecDeque::new(), allowed, polls: 0 }
    }

    /// Keeps the update if the bot wants its kind; whether it did.
    pub(crate) fn push(&mut self, kind: &str, chat: Option<ChatId>, body: Value, held: bool) -> bool {
        if !self.allowed.contains(kind) {
            return false;
        }
        let id = self.next_id;
        self.next_id += 1;
        let held = held.then(|| Instant::now() + HELD_FOR);
        let mut update = json!({ "update_id": id });
        update[kind] = body;
        self.pending.push_back(Update { id, chat, body: update, held });
        true
    }

    /// Keeps an update as it is, whether the bot wants its kind or not, under the next number.
    pub(crate) fn push_as_it_is(&mut self, mut update: Value) {
        let id = self.next_id;
        self.next_id += 1;
        update["update_id"] = id.into();
        self.pending.push_back(Update { id, chat: None, body: update, held: None });
    }

    /// What the bot wants from now on; an empty list is Telegram's own choice.
    pub(crate) fn allow(&mut self, kinds: &[&str]) {
        let kinds = if kinds.is_empty() { &BY_DEFAULT } else { kinds };
        self.allowed = kinds.iter().map(|kind| (*kind).to_owned()).collect();
    }

    /// Takes away what the offset confirms. An offset below zero keeps as many of the newest and forgets the rest.
    pub(crate) fn confirm(&mut self, offset: i64) -> Vec<Update> {
        let keep_from = match offset {
            ..0 => {
                let back = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
                let first = self.pending.len().saturating_sub(back);
                self.pending.get(first).map_or(self.next_id, |update| update.id)
            }
            _ => offset,
        };
        let (gone, kept) = self.pending.drain(..).partition(|update| update.id < keep_from);
        self.pending = kept;
        Vec::from(gone)
    }

    /// Hands the confirmed update out once more, `copies` times, in as many batches.
    pub(crate) fn repeat(&mut self, update: &Update, copies: u32) {
        for _ in 0..copies {
            self.again.push_back(update.body.clone());
        }
    }

    pub(crate) fn forget(&mut self) {
        self.pending.clear();
        self.again.clear();
    }

    pub(crate) fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// The next batch. An update that is held changes places with the one after it, and waits while there is none.
    pub(crate) fn batch(&mut self, limit: usize, now: Instant) -> Batch {
        let mut chosen: Vec<&Update> = self.pending.iter().take(limit).collect();
        let alone = chosen.len() == self.pending.len();
        let late = chosen.last().and_then(|last| last.held).filter(|until| alone && *until > now);
        if late.is_some() {
            chosen.pop();
        }
        let mut at = 0;
        while at + 1 < chosen.len() {
            if chosen[at].held.is_some() {
                chosen.swap(at, at + 1);
                at += 1;
            }
            at += 1;
        }
        let mut bodies: Vec<Value> = chosen.into_iter().map(|update| update.body.clone()).collect();
        bodies.extend(self.again.pop_front());
        if bodies.is_empty() { Batch::Nothing(late) } else { Batch::Ready(bodies) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(held: &[bool]) -> Queue {
        let mut queue = Queue::new();
        for held in held {
            queue.push("message", None, Value::Null, *held);
        }
        queue
    }

    fn ids(batch: Batch) -> Vec<i64> {
        let Batch::Ready(bodies) = batch else { return Vec::new() };
        bodies.iter().filter_map(|body| body["update_id"].as_i64()).map(|id| id - 700_000_000).collect()
    }

    #[tokio::test]
    async fn an_update_is_handed_out_until_it_is_confirmed() {
        let mut queue = queue(&[false; 4]);
        let now = Instant::now();
        assert_eq!(ids(queue.batch(2, now)), [1, 2]);
        assert_eq!(ids(queue.batch(100, now)), [1, 2, 3, 4]);
        assert_eq!(queue.confirm(700_000_003).len(), 2);
        assert_eq!(ids(queue.batch(100, now)), [3, 4]);
        queue.confirm(-1);
        assert_eq!(ids(queue.batch(100, now)), [4]);
    }

    #[tokio::test]
    async fn a_late_update_comes_after_the_next_one_or_alone_when_none_comes() {
        let now = Instant::now();
        assert_eq!(ids(queue(&[false, true, false, false]).batch(100, now)), [1, 3, 2, 4]);
        let mut alone = queue(&[false, true]);
        assert_eq!(ids(alone.batch(100, now)), [1]);
        alone.confirm(700_000_002);
        assert!(matches!(alone.batch(100, now), Batch::Nothing(Some(_))));
        assert_eq!(ids(alone.batch(100, now + HELD_FOR * 2)), [2]);
    }

    #[tokio::test]
    async fn only_kinds_that_were_asked_for_are_kept() {
        let mut queue = Queue::new();
        assert!(!queue.push("message_reaction", None, Value::Null, false));
        queue.allow(&["message_reaction"]);
        assert!(queue.push("message_reaction", None, Value::Null, false));
        assert!(!queue.push("message", None, Value::Null, false));
    }
}
