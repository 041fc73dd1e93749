//! What a person is told whose message or press found no room, in the adapter's own words: the engine has not stored it, so
//! that nothing else would ever answer it. Once a minute in a chat.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::de::IgnoredAny;
use teloxide::payloads::SendMessage;
use teloxide::types::{ChatId, MessageId, ThreadId};
use tokio::time::Instant;

use countersign_core::signal::ThreadKey;

use crate::callbacks::answer_soon;
use crate::ids::Root;
use crate::translate::Heard;
use crate::{Telegram, chat_of};

/// How long a chat is not told again.
const QUIET: Duration = Duration::from_mins(1);

const TEXT: &str =
    "I have more to do here than I can take on, so I did not take that up. Please send it again in a minute.";
const PRESSED: &str = "I have too much to do right now. Please press it again in a minute.";

/// When each chat was told last.
#[derive(Default)]
pub(crate) struct Told(Mutex<BTreeMap<i64, Instant>>);

impl Told {
    /// Whether this chat may be told now; then it was.
    fn may_tell(&self, chat: i64) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        told.retain(|_, when| now.duration_since(*when) < QUIET);
        told.insert(chat, now).is_none()
    }
}

/// Tells whoever caused it, in the background.
pub(crate) fn tell(telegram: &Telegram, heard: &Heard) {
    match heard {
        Heard::Touched { callback: Some(callback), .. } => {
            if telegram.callbacks.close_unclaimed(callback) {
                answer_soon(&telegram.api, callback.clone(), Some(PRESSED.to_owned()));
            }
        }
        Heard::Touched { touch, callback: None } => tell_chat(telegram, &touch.thread),
        Heard::Said(signal) => tell_chat(telegram, &signal.thread),
        Heard::Asked { .. } | Heard::Stray(_) | Heard::Nothing => {}
    }
}

fn tell_chat(telegram: &Telegram, thread: &ThreadKey) {
    let chat = chat_of(thread).map(|first| telegram.moved.newest(first));
    let Some(chat) = chat.filter(|chat| telegram.told.may_tell(*chat)) else { return };
    let mut payload = SendMessage::new(ChatId(chat), TEXT);
    if let Some(Root::Topic(topic)) = Root::of(&thread.root) {
        payload.message_thread_id = Some(ThreadId(MessageId(topic)));
    }
    let api = Arc::clone(&telegram.api);
    tokio::spawn(async move {
        if let Err(trouble) = api.call::<_, IgnoredAny>(&payload).await {
            tracing::warn!(chat, %trouble, "nobody could be told that a message was not taken up");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_chat_is_told_once_a_minute() {
        let told = Told::default();
        assert!(told.may_tell(1) && !told.may_tell(1) && told.may_tell(2));
        tokio::time::advance(QUIET).await;
        assert!(told.may_tell(1));
    }
}
