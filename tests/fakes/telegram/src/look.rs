//! Looking: what stands in a chat, what the bot answered, what it called; and waiting for any of it, woken by every
//! change. Nothing here changes anything.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::time::timeout;

use crate::chat::{ChatId, Message};
use crate::log::{Call, Count, counts};
use crate::server::Fake;
use crate::state::State;

/// What whoever pressed a button is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackAnswer {
    /// Empty where nothing is shown.
    pub text: String,
    /// In a window that must be closed, not in passing.
    pub show_alert: bool,
    /// A link that is opened.
    pub url: Option<String>,
}

/// What whoever asked inline can choose from.
#[derive(Debug, Clone, PartialEq)]
pub struct InlineAnswer {
    /// Each an `InlineQueryResult`, as it was sent.
    pub results: Vec<Value>,
    /// Seconds that others may be given the same results.
    pub cache_time_s: Option<i64>,
    /// For whoever asked only.
    pub personal: bool,
}

impl Fake {
    /// All messages of a chat, or of one topic, by id; those that were deleted as well, marked.
    pub fn messages(&self, chat: ChatId, topic: Option<i64>) -> Vec<Message> {
        let state = self.shared().look();
        let messages = state.chats.get(&chat).into_iter().flat_map(|chat| chat.messages.values());
        messages.filter(|message| topic.is_none() || message.topic == topic).cloned().collect()
    }

    /// One message, deleted or not.
    pub fn message(&self, chat: ChatId, message: i64) -> Option<Message> {
        self.shared().look().chats.get(&chat)?.messages.get(&message).cloned()
    }

    /// Waits until the chat shows a message of which `wanted` holds, and gives the first. Fails with a picture of the chat
    /// when the patience is over.
    pub async fn wait_for(&self, chat: ChatId, wanted: impl Fn(&Message) -> bool) -> Message {
        let find = |state: &State| {
            let shown = state.chats.get(&chat)?.messages.values().filter(|message| !message.deleted);
            shown.into_iter().find(|message| wanted(message)).cloned()
        };
        self.wait(find, || format!("no such message came:\n{}", self.draw(chat, None))).await
    }

    /// Waits until the log has a call of which `wanted` holds, and gives the first. Fails with the log.
    pub async fn wait_for_call(&self, wanted: impl Fn(&Call) -> bool) -> Call {
        let find = |state: &State| state.log.iter().find(|call| wanted(call)).cloned();
        self.wait(find, || format!("no such call came; the calls so far: {:#?}", self.calls())).await
    }

    /// Waits until the bot was handed every update and has confirmed it.
    pub async fn wait_until_read(&self) {
        let find = |state: &State| (state.queue.waiting() == 0).then_some(());
        self.wait(find, || format!("{} updates were not confirmed", self.unread())).await;
    }

    /// Updates that the bot has not confirmed.
    pub fn unread(&self) -> usize {
        self.shared().look().queue.waiting()
    }

    /// Waits for what the bot answers to a pressed button.
    pub async fn callback_answer(&self, callback: &str) -> CallbackAnswer {
        let find = |state: &State| state.callbacks.get(callback)?.answer.clone();
        self.wait(find, || format!("the callback {callback} was not answered")).await
    }

    /// Waits for what the bot answers to an inline query.
    pub async fn inline_answer(&self, query: &str) -> InlineAnswer {
        let find = |state: &State| state.inline.get(query)?.answer.clone();
        self.wait(find, || format!("the inline query {query} was not answered")).await
    }

    /// The commands that the bot registered last, with their descriptions.
    pub fn commands(&self) -> Vec<(String, String)> {
        self.shared().look().commands.clone()
    }

    /// How often each method was called, and how that ended.
    pub fn calls(&self) -> BTreeMap<String, Count> {
        counts(&self.shared().look().log)
    }

    /// Every call of the bot's in the order of arrival.
    pub fn log(&self) -> Vec<Call> {
        self.shared().look().log.clone()
    }

    /// How many calls there were.
    pub fn call_count(&self) -> usize {
        self.shared().look().log.len()
    }

    /// Looks after every change until something is found.
    async fn wait<T>(&self, find: impl Fn(&State) -> Option<T>, missing: impl Fn() -> String) -> T {
        let mut bell = self.shared().bell();
        let look = async {
            loop {
                bell.mark_unchanged();
                let found = find(&self.shared().look());
                if let Some(found) = found {
                    return found;
                }
                // The bell is gone only with the fake, which `self` keeps.
                drop(bell.changed().await);
            }
        };
        let patience = self.patience();
        let found = timeout(patience, look).await;
        found.unwrap_or_else(|_| panic!("waited for {patience:?}: {}", missing()))
    }
}
