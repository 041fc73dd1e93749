//! What was said while the bot could not hear, where the gateway does not tell it any more: in the channels in which the bot
//! took something up, or in which work is open from before it was started, the messages after the last one that it heard
//! there. What is remembered of that is in memory only.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};

use countersign_core::port::Ingress;
use countersign_core::signal::{ActorKind, Addressed, EventId, Signal};
use futures::FutureExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serenity::all::{Message, MessageId, RoleId};

use crate::Discord;
use crate::api::Trouble;
use crate::ids::MessageRef;
use crate::patience::Patience;
use crate::places::{Channel, Place};
use crate::session;
use crate::translate::{self, Change, Heard, Here, Me};

/// The most channels in which something is looked for.
const CHANNELS_MAX: usize = 200;

/// The most messages of one answer, which is also the most that Discord gives.
const PAGE: usize = 100;

/// The most answers of one channel: who is gone for longer has said it to somebody else.
const PAGES_MAX: usize = 5;

/// What a message that is looked up is called where it cannot be read.
const WHAT: &str = "a message that was missed";

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

/// What a look found.
#[derive(Default)]
pub(crate) struct Found {
    /// In the order of each channel.
    pub(crate) heard: Vec<Heard>,
    /// What was said to the bot and changed before it was found, so that it does not count, and was not answered.
    pub(crate) changed: Vec<MessageRef>,
}

/// A look for what was missed.
struct Look<'a> {
    discord: &'a Discord,
    me: Me,
    patience: Patience<'a>,
    found: Found,
}

/// A message that is looked up, before it is known whether it can be read.
#[derive(Deserialize)]
struct Line {
    id: MessageId,
}

/// What was said after each of these, and after what the engine took where work is open. While Discord is away it waits.
pub(crate) async fn look(discord: &Discord, ingress: &dyn Ingress, me: Me, mut after: Vec<MessageRef>) -> Found {
    after.extend(open_elsewhere(discord, ingress, &after).await);
    let mut look = Look { discord, me, patience: Patience::new(discord, ingress), found: Found::default() };
    for last in after {
        if let Err(trouble) = look.look_in(last).await {
            tracing::warn!(channel = last.channel, %trouble, "what was said meanwhile could not be looked for");
        }
    }
    look.found
}

/// The starting points of two looks as those of one: of each channel the first.
pub(crate) fn earliest(mut first: Vec<MessageRef>, later: Vec<MessageRef>) -> Vec<MessageRef> {
    for at in later {
        if first.iter().all(|known| known.channel != at.channel) {
            first.push(at);
        }
    }
    first
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

impl Look<'_> {
    async fn look_in(&mut self, mut last: MessageRef) -> Result<(), Trouble> {
        let place = self.place(last.channel).await?;
        let own_threads = self.discord.has_own_threads(last.channel);
        for page in 0..=PAGES_MAX {
            let path = format!("/channels/{}/messages?after={}&limit={PAGE}", last.channel, last.message);
            let raw: Vec<Box<RawValue>> = self.ask(&path).await?;
            if page == PAGES_MAX && !raw.is_empty() {
                tracing::warn!(
                    channel = last.channel,
                    after = last.message,
                    "more was said meanwhile than is looked at"
                );
                break;
            }
            let id = |raw: &RawValue| session::read::<Line>(WHAT, raw).map(|line| line.id.get());
            let mut lines: Vec<_> = raw.iter().filter_map(|raw| Some((id(raw)?, &**raw))).collect();
            lines.sort_by_key(|(id, _)| *id);
            for (id, raw) in lines {
                last.message = id.max(last.message);
                // The look begins anew where it breaks, and would meet the same message again.
                if AssertUnwindSafe(self.take(place, own_threads, raw)).catch_unwind().await.is_err() {
                    tracing::error!(id, "a message of Discord broke its translation; it is passed over");
                }
            }
            self.discord.heard.heard(last);
            if raw.len() < PAGE {
                break;
            }
        }
        Ok(())
    }

    /// Takes a message that was found. One that was changed may have said something else to those who saw it first: its
    /// words do not count, and that it was changed is all that is handed over.
    async fn take(&mut self, place: Place, own_threads: bool, raw: &RawValue) {
        let Some(message) = session::read::<Message>(WHAT, raw) else { return };
        let me = self.me.clone();
        let here = Here { me: &me, place, own_threads };
        self.note_answer(&message);
        let said = translate::said(&message, here);
        if message.edited_timestamp.is_none() {
            if let Some(said) = said {
                let signal = self.with_roles(place, said).await;
                self.found.heard.push(Heard::Said { signal, call: None });
            }
            return;
        }
        let at = MessageRef { channel: message.channel_id.get(), message: message.id.get() };
        if let Some(signal) = session::read::<Change>(WHAT, raw).and_then(|change| translate::changed(&change, here)) {
            self.found.heard.push(Heard::Said { signal, call: None });
        }
        if said.is_some_and(|said| said.addressed != Addressed::No && said.actor.kind == ActorKind::Human) {
            self.found.changed.push(at);
        }
    }

    /// What the bot has answered needs no word that it was changed.
    fn note_answer(&mut self, message: &Message) {
        let answered = message.message_reference.as_ref().and_then(|answered| answered.message_id);
        if message.author.id.get() == self.me.id
            && let Some(answered) = answered
        {
            self.found.changed.retain(|at| at.message != answered.get());
        }
    }

    /// Adds what somebody is in the guild, which a message that is looked up does not say. Where Discord says that it does
    /// not know them, they are nothing.
    async fn with_roles(&mut self, place: Place, signal: Signal) -> Signal {
        let Some(guild) = place.guild else { return signal };
        if signal.addressed == Addressed::No || signal.actor.kind != ActorKind::Human {
            return signal;
        }
        let path = format!("/guilds/{guild}/members/{}", signal.actor.id);
        match self.ask::<Member>(&path).await {
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

    async fn place(&mut self, channel: u64) -> Result<Place, Trouble> {
        if let Some(place) = self.discord.places.find(channel) {
            return Ok(place);
        }
        let found: Channel = self.ask(&format!("/channels/{channel}")).await?;
        Ok(self.discord.places.learn(&found))
    }

    /// Asks until Discord answers.
    async fn ask<T: DeserializeOwned>(&mut self, path: &str) -> Result<T, Trouble> {
        loop {
            match self.discord.api.get(path).await {
                Ok(answer) => {
                    self.patience.over();
                    return Ok(answer);
                }
                Err(trouble) => self.patience.wait(trouble).await?,
            }
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
