//! In which groups the bot is an administrator: only there does Telegram tell it of reactions. Learned when a group is first
//! heard of, and whenever Telegram says that it changed. In memory only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use teloxide::types::{ChatMemberUpdated, Update, UpdateKind};

use crate::Telegram;
use crate::roles;
use crate::translate::Me;

/// The most groups that are remembered; of any more nothing is known, and nothing declared.
const ROOMS_MAX: usize = 10_000;

/// What is known of each group: whether the bot is an administrator there.
#[derive(Clone, Default)]
pub(crate) struct Rooms(Arc<Mutex<BTreeMap<i64, bool>>>);

impl Rooms {
    /// Whether Telegram tells the bot of reactions in this room.
    pub(crate) fn tells_reactions(&self, chat: i64) -> bool {
        chat > 0 || self.with(|known| known.get(&chat).copied().unwrap_or(false))
    }

    fn learn(&self, chat: i64, is_admin: bool) {
        self.with(|known| {
            if known.len() < ROOMS_MAX || known.contains_key(&chat) {
                known.insert(chat, is_admin);
            }
        });
    }

    /// Whether nothing was known of this group until now. It is then taken for one without rights.
    fn is_new(&self, chat: i64) -> bool {
        self.with(|known| known.len() < ROOMS_MAX && !known.contains_key(&chat) && known.insert(chat, false).is_none())
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<i64, bool>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Takes note of what an update says of its group; where the group is new, Telegram is asked in the background.
pub(crate) fn note(telegram: &Telegram, me: &Me, update: &Update) {
    let Some(chat) = update.chat().map(|chat| chat.id.0).filter(|chat| *chat < 0) else { return };
    let is_new = telegram.rooms.is_new(chat);
    if let UpdateKind::MyChatMember(ChatMemberUpdated { new_chat_member, .. }) = &update.kind {
        return telegram.rooms.learn(chat, new_chat_member.kind.is_privileged());
    }
    if is_new {
        let (rooms, api, bot) = (telegram.rooms.clone(), Arc::clone(&telegram.api), me.id);
        tokio::spawn(async move {
            let roles = roles::of(&api, chat, bot).await;
            rooms.learn(chat, roles.iter().any(|role| role == "administrator"));
        });
    }
}
