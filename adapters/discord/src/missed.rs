//! What was said while the bot could not hear, where the gateway does not tell it any more: in the channels in which the bot
//! took something up, or in which work is open from before it was started, the messages after the last one that it heard
//! there. What is remembered of that is in memory only.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use countersign_core::port::Ingress;
use countersign_core::signal::{ActorKind, Addressed, EventId, Signal};
use serde::Deserialize;
use serenity::all::{Message, RoleId};

use crate::Discord;
use crate::api::Trouble;
use crate::ids::MessageRef;
use crate::places;
use crate::translate::{self, Heard, Here, Me};

/// The most channels in which something is looked for.
const CHANNELS_MAX: usize = 200;

/// The most messages of one answer, which is also the most that Discord gives.
const PAGE: usize = 100;

/// The most answers of one channel: who is gone for longer has said it to somebody else.
const PAGES_MAX: usize = 5;

/// The last message that was heard in each channel in which something was taken up.
#[derive(Default)]
pub(crate) struct LastHeard(Mutex<BTreeMap<u64, u64>>);

/// All that is read of a member.
#[derive(Deserialize)]
struct Member {
    roles: Vec<RoleId>,
}

impl LastHeard {
    /// Something that was said was taken up.
    pub(crate) fn accepted(&self, event: &EventId) {
        let Some(at) = MessageRef::of(event) else { return };
        self.with(|last| {
            let heard = last.entry(at.channel).or_insert(at.message);
            *heard = at.message.max(*heard);
            // Numbers rise with time, so that the smallest is the oldest.
            if last.len() > CHANNELS_MAX
                && let Some(oldest) = last.iter().min_by_key(|(_, message)| **message).map(|(channel, _)| *channel)
            {
                last.remove(&oldest);
            }
        });
    }

    /// Something was said, whether it counts or not.
    pub(crate) fn heard(&self, at: MessageRef) {
        self.with(|last| {
            if let Some(heard) = last.get_mut(&at.channel) {
                *heard = at.message.max(*heard);
            }
        });
    }

    /// The channels, each with the last message.
    pub(crate) fn all(&self) -> Vec<MessageRef> {
        self.with(|last| last.iter().map(|(&channel, &message)| MessageRef { channel, message }).collect())
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<u64, u64>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What was said after each of these, and after what the engine took where work is open, in the order of each channel.
pub(crate) async fn look(discord: &Discord, ingress: &dyn Ingress, me: Me, mut after: Vec<MessageRef>) -> Vec<Heard> {
    let mut found = Vec::new();
    after.extend(open_elsewhere(discord, ingress, &after).await);
    for last in after {
        match look_in(discord, &me, last).await {
            Ok(heard) => found.extend(heard),
            Err(trouble) => {
                tracing::warn!(channel = last.channel, %trouble, "what was said meanwhile could not be looked for");
            }
        }
    }
    found
}

/// The last messages of the channels in which work is open and of which nothing is remembered.
async fn open_elsewhere(discord: &Discord, ingress: &dyn Ingress, known: &[MessageRef]) -> Vec<MessageRef> {
    let events = ingress.open_work().await.unwrap_or_else(|error| {
        tracing::warn!(error, "where work is open is not known; what was said there meanwhile is not looked for");
        Vec::new()
    });
    let mut last = BTreeMap::new();
    for at in events.iter().filter_map(MessageRef::of) {
        if known.iter().all(|known| known.channel != at.channel) {
            discord.heard.accepted(&at.event());
            let message = last.entry(at.channel).or_insert(at.message);
            *message = at.message.max(*message);
        }
    }
    last.into_iter().map(|(channel, message)| MessageRef { channel, message }).collect()
}

async fn look_in(discord: &Discord, me: &Me, mut last: MessageRef) -> Result<Vec<Heard>, Trouble> {
    let place = places::find(&discord.places, &discord.api, last.channel).await?;
    let here = Here { me, place, own_threads: discord.has_own_threads(last.channel) };
    let mut found = Vec::new();
    for _ in 0..PAGES_MAX {
        let path = format!("/channels/{}/messages?after={}&limit={PAGE}", last.channel, last.message);
        let mut page: Vec<Message> = discord.api.get(&path).await?;
        page.sort_by_key(|message| message.id);
        for message in &page {
            last.message = message.id.get().max(last.message);
            if let Some(signal) = translate::said(message, here) {
                let signal = with_roles(discord, here, signal).await;
                found.push(Heard::Said { signal, call: None });
            }
        }
        discord.heard.heard(last);
        if page.len() < PAGE {
            break;
        }
    }
    Ok(found)
}

/// Adds what somebody is in the guild, which a message that is looked up does not say. Where Discord does not say it either,
/// they are nothing.
async fn with_roles(discord: &Discord, here: Here<'_>, signal: Signal) -> Signal {
    let Some(guild) = here.place.guild else { return signal };
    if signal.addressed == Addressed::No || signal.actor.kind != ActorKind::Human {
        return signal;
    }
    let path = format!("/guilds/{guild}/members/{}", signal.actor.id);
    match discord.api.get::<Member>(&path).await {
        Ok(member) => {
            let platform_roles = member.roles.iter().map(|role| role.get().to_string()).collect();
            Signal { platform_roles, ..signal }
        }
        Err(trouble) => {
            tracing::warn!(%trouble, "the roles of a member are not known, so that none counts");
            signal
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_something_was_taken_up_is_looked_and_not_everywhere() {
        let last = LastHeard::default();
        last.heard(MessageRef { channel: 1, message: 5 });
        assert!(last.all().is_empty());
        last.accepted(&MessageRef { channel: 1, message: 6 }.event());
        last.heard(MessageRef { channel: 1, message: 9 });
        last.heard(MessageRef { channel: 1, message: 8 });
        assert_eq!(last.all(), [MessageRef { channel: 1, message: 9 }]);
        (1..=CHANNELS_MAX as u64).for_each(|n| last.accepted(&MessageRef { channel: n + 1, message: n + 9 }.event()));
        assert_eq!(last.all().len(), CHANNELS_MAX);
        assert!(last.all().iter().all(|at| at.channel != 1), "the oldest gives way");
    }
}
