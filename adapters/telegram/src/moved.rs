//! Groups that became supergroups. Telegram gives such a group another id and numbers its messages anew. The rest of the bot keeps
//! the first id; this file translates. It learns the ids from both chats and from the engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use teloxide::types::{Message, UpdateKind};
use tokio::time::Instant;

use countersign_core::port::Ingress;
use countersign_core::signal::ConversationId;

/// How long the engine may take to store a new id: usually some milliseconds.
const STORED_WITHIN: Duration = Duration::from_millis(400);

/// The first ids of supergroups, by the ids that Telegram uses.
pub(crate) type FirstIds = BTreeMap<i64, i64>;

/// The ids of all such groups.
#[derive(Clone, Default)]
pub(crate) struct MovedChats(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    first_ids: Arc<FirstIds>,
    /// When each id was learned.
    learned: BTreeMap<i64, Instant>,
}

impl MovedChats {
    /// Returns the first ids that are known now.
    pub(crate) fn known(&self) -> Arc<FirstIds> {
        Arc::clone(&self.lock().first_ids)
    }

    /// Returns the id that Telegram uses for a chat, by its first id.
    pub(crate) fn newest(&self, first: i64) -> i64 {
        newest(&self.known(), first)
    }

    /// Stores a group's newest id. `before` is any earlier one.
    pub(crate) fn learn(&self, newest: i64, before: i64) {
        let mut known = self.lock();
        let first = first(&known.first_ids, before);
        if newest != first && known.first_ids.get(&newest) != Some(&first) {
            Arc::make_mut(&mut known.first_ids).insert(newest, first);
            known.learned.entry(newest).or_insert_with(Instant::now);
        }
    }

    /// Returns whether the engine has stored every id of a chat, or had time for it. Until it has, it does not know which rights
    /// hold there.
    pub(crate) fn is_stored(&self, first: &ConversationId, ingress: &dyn Ingress) -> bool {
        let (known, Ok(first)) = (self.known(), first.as_str().parse::<i64>()) else { return true };
        let mut newest =
            known.iter().filter(|(_, known)| **known == first).map(|(newest, _)| newest.to_string()).peekable();
        if newest.peek().is_none() {
            return true;
        }
        let stored = ingress.moved_rooms();
        newest.all(|newest| stored.iter().any(|(id, _)| id.as_str() == newest) || self.is_old(&newest))
    }

    /// Returns whether an id was learned a while ago.
    fn is_old(&self, newest: &str) -> bool {
        let at = newest.parse::<i64>().ok().and_then(|newest| self.lock().learned.get(&newest).copied());
        at.is_none_or(|at| at.elapsed() > STORED_WITHIN)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over the ids that the engine has stored.
    pub(crate) fn follow(&self, ingress: &dyn Ingress) {
        for (newest, first) in ingress.moved_rooms() {
            if let (Ok(newest), Ok(first)) = (newest.as_str().parse(), first.as_str().parse()) {
                self.learn(newest, first);
            }
        }
    }

    /// Stores the ids in an update, if it announces a move.
    pub(crate) fn note(&self, update: &UpdateKind) {
        let UpdateKind::Message(message) = update else { return };
        if let Some((newest, before)) = move_in(message) {
            self.learn(newest, before);
        }
    }
}

/// Returns the first id of a chat.
pub(crate) fn first(known: &FirstIds, chat: i64) -> i64 {
    known.get(&chat).copied().unwrap_or(chat)
}

/// Returns the newest id of a chat. It changes at most once: a supergroup stays one.
pub(crate) fn newest(known: &FirstIds, first: i64) -> i64 {
    known.iter().find(|(_, known)| **known == first).map_or(first, |(newest, _)| *newest)
}

/// Returns the newest id and the one before, if a message is the notice that Telegram puts into both chats.
pub(crate) fn move_in(message: &Message) -> Option<(i64, i64)> {
    let chat = message.chat.id.0;
    match (message.migrate_to_chat_id(), message.migrate_from_chat_id()) {
        (Some(to), _) => Some((to.0, chat)),
        (None, Some(from)) => Some((chat, from.0)),
        (None, None) => None,
    }
}
