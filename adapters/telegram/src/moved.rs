//! Groups that became supergroups: Telegram gives such a group another id, and numbers its messages anew. Everything else knows it
//! by its first id, for good; here one is told from the other. Learned from both chats, from refusals, and from the engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use teloxide::types::{Message, UpdateKind};

use countersign_core::port::Ingress;

/// The first ids of supergroups, by the ids that Telegram uses.
pub(crate) type FirstIds = BTreeMap<i64, i64>;

/// What is known of them.
#[derive(Clone, Default)]
pub(crate) struct MovedChats(Arc<Mutex<Arc<FirstIds>>>);

impl MovedChats {
    /// Everything that is known by now.
    pub(crate) fn known(&self) -> Arc<FirstIds> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The id that Telegram uses for the chat that was first known by this one.
    pub(crate) fn newest(&self, first: i64) -> i64 {
        newest(&self.known(), first)
    }

    /// Takes note of a group's newest id. `before` may be any earlier one.
    pub(crate) fn learn(&self, newest: i64, before: i64) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = first(&known, before);
        if newest != first && known.get(&newest) != Some(&first) {
            Arc::make_mut(&mut known).insert(newest, first);
        }
    }

    /// Takes note of what the engine has stored.
    pub(crate) fn follow(&self, ingress: &dyn Ingress) {
        for (newest, first) in ingress.moved_rooms() {
            if let (Ok(newest), Ok(first)) = (newest.as_str().parse(), first.as_str().parse()) {
                self.learn(newest, first);
            }
        }
    }

    /// Takes note of what an update says.
    pub(crate) fn note(&self, update: &UpdateKind) {
        let UpdateKind::Message(message) = update else { return };
        if let Some((newest, before)) = move_in(message) {
            self.learn(newest, before);
        }
    }
}

/// The first id of a chat.
pub(crate) fn first(known: &FirstIds, chat: i64) -> i64 {
    known.get(&chat).copied().unwrap_or(chat)
}

/// The newest id of a chat. It changes once at most: a supergroup stays one.
pub(crate) fn newest(known: &FirstIds, first: i64) -> i64 {
    known.iter().find(|(_, known)| **known == first).map_or(first, |(newest, _)| *newest)
}

/// The newest id and the one before, in the notice that Telegram puts into both chats.
pub(crate) fn move_in(message: &Message) -> Option<(i64, i64)> {
    let chat = message.chat.id.0;
    match (message.migrate_to_chat_id(), message.migrate_from_chat_id()) {
        (Some(to), _) => Some((to.0, chat)),
        (None, Some(from)) => Some((chat, from.0)),
        (None, None) => None,
    }
}
