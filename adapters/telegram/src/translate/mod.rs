//! Updates of Telegram as signals and touches. Pure: what has to be asked of Telegram, such as somebody's roles, is added
//! elsewhere. What a signal asks for is not looked at.

mod actor;
mod address;
mod inline;
mod message;
mod place;
mod touch;

use std::sync::Arc;

use countersign_core::port::{Asked, Touch};
use countersign_core::signal::{AccountId, Platform, Signal};
use teloxide::types::{Update, UpdateKind};

use crate::moved::FirstIds;

/// The platform's name in every key.
pub(crate) const PLATFORM: &str = "telegram";

/// Who the bot is, as `getMe` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Me {
    /// Immutable.
    pub(crate) id: u64,
    /// Without the `@`.
    pub(crate) username: String,
    /// The first ids of supergroups that were groups at first.
    pub(crate) first_ids: Arc<FirstIds>,
}

impl Me {
    /// The account that hears.
    pub(crate) fn account(&self) -> AccountId {
        AccountId::new(self.id.to_string())
    }
}

/// What an update comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Somebody wrote, or changed what they wrote.
    Said(Signal),
    /// Somebody pressed a button or reacted.
    Touched {
        /// What.
        touch: Touch,
        /// The press that Telegram waits to be answered, by its id.
        callback: Option<String>,
    },
    /// Somebody types in some chat, after the bot's name, and is offered what they may mean.
    Asked {
        /// What.
        asked: Asked,
        /// The query that Telegram waits to be answered, by its id.
        query: String,
    },
    /// A press that says nothing to us and must be answered all the same.
    Stray(String),
    /// Nothing for us.
    Nothing,
}

/// What an update comes to. `commands` are the names of the bot's own.
pub(crate) fn update(update: &Update, me: &Me, commands: &[String]) -> Heard {
    match &update.kind {
        UpdateKind::Message(message) => message::said(message, me, commands).map_or(Heard::Nothing, Heard::Said),
        UpdateKind::EditedMessage(message) => message::edited(message, me).map_or(Heard::Nothing, Heard::Said),
        UpdateKind::CallbackQuery(query) => touch::pressed(query, me),
        UpdateKind::InlineQuery(query) => inline::asked(query, me),
        UpdateKind::MessageReaction(reaction) => touch::reacted(update.id.0, reaction, me),
        _ => Heard::Nothing,
    }
}

fn platform() -> Platform {
    Platform::new(PLATFORM)
}

#[cfg(test)]
mod tests;
