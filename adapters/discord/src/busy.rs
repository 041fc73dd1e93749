//! What a person is told whose message or press found no room, or whose message was changed before it was found, in the
//! adapter's own words: the engine has not stored it, so that nothing else would ever answer it. Once a minute in a channel,
//! and once of each change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Method;
use tokio::time::Instant;

use countersign_core::signal::ThreadKey;

use crate::Discord;
use crate::answer::finish_soon;
use crate::body::Body;
use crate::ids::{self, MessageRef, Root};
use crate::translate::Heard;

/// How long a channel is not told again.
const QUIET: Duration = Duration::from_mins(1);

const TEXT: &str =
    "I have more to do here than I can take on, so I did not take that up. Please send it again in a minute.";
const CALLED: &str = "I have too much to do right now. Please try it again in a minute.";

const CHANGED: &str = "I was away when you wrote this, and it was changed since, so I did not take it up. \
     If it is not answered yet, please send it again.";

/// The most changes of which somebody is told at a time; the rest is in the log.
const CHANGED_MAX: usize = 5;

/// When each channel was told last, and whoever wrote a message, by its number.
#[derive(Default)]
pub(crate) struct Told(Mutex<BTreeMap<u64, Instant>>);

impl Told {
    /// Whether this channel or message may be told of now; then it was.
    fn may_tell(&self, channel: u64) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        told.retain(|_, when| now.duration_since(*when) < QUIET);
        told.insert(channel, now).is_none()
    }
}

/// Tells whoever caused it, in the background.
pub(crate) fn tell(discord: &Discord, heard: &Heard) {
    match heard {
        Heard::Touched { call: Some(call), .. } | Heard::Said { call: Some(call), .. } => {
            if let Some(closed) = discord.calls.close_unclaimed(call.id) {
                finish_soon(discord, closed, Some(CALLED));
            }
        }
        Heard::Touched { touch, call: None } => tell_channel(discord, &touch.thread),
        Heard::Said { signal, call: None } => tell_channel(discord, &signal.thread),
        Heard::Asks { .. } | Heard::Types(_) | Heard::Stray(_) | Heard::Nothing => {}
    }
}

fn tell_channel(discord: &Discord, thread: &ThreadKey) {
    let Some(room) = ids::number(thread.conversation.as_str()) else { return };
    let channel = match Root::of(&thread.root) {
        Some(Root::Thread(id)) if !discord.has_own_threads(room) => id,
        Some(_) | None => room,
    };
    if !discord.told.may_tell(channel) {
        return;
    }
    let api = Arc::clone(&discord.api);
    tokio::spawn(async move {
        let path = format!("/channels/{channel}/messages");
        if let Err(trouble) = api.tell(Method::POST, &path, &Body::plain(TEXT)).await {
            tracing::warn!(channel, %trouble, "nobody could be told that a message was not taken up");
        }
    });
}

/// Tells whoever wrote these that they do not count, in the background.
pub(crate) fn tell_changed(discord: &Discord, changed: Vec<MessageRef>) {
    for at in &changed {
        let MessageRef { channel, message } = *at;
        tracing::warn!(channel, message, "a message was changed before it was found; it is not taken up");
    }
    let told: Vec<MessageRef> =
        changed.into_iter().filter(|at| discord.told.may_tell(at.message)).take(CHANGED_MAX).collect();
    let api = Arc::clone(&discord.api);
    tokio::spawn(async move {
        for MessageRef { channel, message } in told {
            let path = format!("/channels/{channel}/messages");
            let body = Body::plain(CHANGED).answering(Some(message));
            if let Err(trouble) = api.tell(Method::POST, &path, &body).await {
                tracing::warn!(channel, %trouble, "nobody could be told that a changed message was not taken up");
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_channel_is_told_once_a_minute() {
        let told = Told::default();
        assert!(told.may_tell(1) && !told.may_tell(1) && told.may_tell(2));
        tokio::time::advance(QUIET).await;
        assert!(told.may_tell(1));
    }
}
