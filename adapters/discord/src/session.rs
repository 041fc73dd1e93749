//! What the events of a session come to: the places that they tell of, what was heard, and who the bot is. What a
//! connection is and how it ends is in `hear`.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serenity::all::{ChannelId, GuildId, Interaction, Message, MessageId, PartialChannel};

use countersign_core::text::json_depth;

use crate::Discord;
use crate::ids::MessageRef;
use crate::places::{self, Channel, Guild, Kind, Place};
use crate::translate::{self, Change, Heard, Here, Me, Reaction};

/// What the gateway says when a session begins.
#[derive(Debug, Deserialize)]
pub(crate) struct Ready {
    pub(crate) user: Named,
    pub(crate) session_id: String,
    pub(crate) resume_gateway_url: String,
    pub(crate) application: Named,
}

/// An account or an application, by its number.
#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    id: serenity::all::GenericId,
}

impl Named {
    pub(crate) const fn number(&self) -> u64 {
        self.id.get()
    }
}

/// Messages that are gone.
#[derive(Deserialize)]
struct Deleted {
    id: Option<MessageId>,
    #[serde(default)]
    ids: Vec<MessageId>,
    channel_id: ChannelId,
    guild_id: Option<GuildId>,
}

/// Where something was written.
#[derive(Deserialize)]
struct Spot {
    guild_id: Option<GuildId>,
}

/// From what kind of place an interaction comes. serenity does not say it of a window that was filled in.
#[derive(Deserialize)]
struct Whence {
    context: Option<u8>,
}

impl Whence {
    /// Whether others talk there among themselves (Discord's "Interaction Context Types": 0 is a guild, 1 a direct
    /// conversation with the bot).
    const fn is_among_others(&self) -> bool {
        !matches!(self.context, None | Some(0 | 1))
    }
}

/// How deep an event may be. Discord's own go to 13; whoever reads one takes some stack for each level.
const DEPTH_MAX: usize = 24;

/// Reads an event; none where it has a form that is not known. Then it is passed over.
pub(crate) fn read<T: DeserializeOwned>(name: &str, data: &RawValue) -> Option<T> {
    if json_depth(data.get()) > DEPTH_MAX {
        tracing::warn!(event = name, "an event of Discord is deeper than any that is known; it is passed over");
        return None;
    }
    let read = serde_json::from_str(data.get());
    if let Err(error) = &read {
        tracing::warn!(event = name, %error, "an event of Discord has a form that is not known; it is passed over");
    }
    read.ok()
}

/// An event of a session, by its name.
pub(crate) struct Event<'e> {
    pub(crate) session: &'e str,
    pub(crate) sequence: u64,
    pub(crate) name: &'e str,
    pub(crate) data: &'e RawValue,
}

/// What an event comes to. Asks Discord for a place that is not known.
pub(crate) async fn heard(discord: &Discord, me: &Me, event: Event<'_>) -> Vec<Heard> {
    let Event { name, data, .. } = event;
    match name {
        "MESSAGE_CREATE" => one(said(discord, me, name, data).await),
        "MESSAGE_UPDATE" => one(changed(discord, me, name, data)),
        "MESSAGE_DELETE" | "MESSAGE_DELETE_BULK" => deleted(discord, me, name, data),
        "MESSAGE_REACTION_ADD" => one(reacted(discord, me, &event).await),
        "INTERACTION_CREATE" => one(called(discord, me, name, data).await),
        _ => {
            learn(discord, name, data);
            Vec::new()
        }
    }
}

fn one(heard: Option<Heard>) -> Vec<Heard> {
    heard.into_iter().collect()
}

/// Takes note of what an event says of places.
fn learn(discord: &Discord, name: &str, data: &RawValue) {
    match name {
        "GUILD_CREATE" | "GUILD_UPDATE" | "THREAD_LIST_SYNC" => {
            if let Some(guild) = read::<Guild>(name, data) {
                discord.places.learn_guild(&guild);
            }
        }
        "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
            if let Some(channel) = read::<Channel>(name, data) {
                discord.places.learn(&channel);
            }
        }
        "CHANNEL_DELETE" | "THREAD_DELETE" => {
            if let Some(channel) = read::<Channel>(name, data) {
                discord.places.forget(channel.id.get());
            }
        }
        _ => {}
    }
}

async fn said(discord: &Discord, me: &Me, name: &str, data: &RawValue) -> Option<Heard> {
    let message: Message = read(name, data)?;
    let at = MessageRef { channel: message.channel_id.get(), message: message.id.get() };
    discord.heard.heard(at);
    let place = find(discord, at.channel, message.guild_id).await;
    let signal = translate::said(&message, here(discord, me, place))?;
    Some(Heard::Said { signal, call: None })
}

fn changed(discord: &Discord, me: &Me, name: &str, data: &RawValue) -> Option<Heard> {
    let (change, spot): (Change, Spot) = (read(name, data)?, read(name, data)?);
    let place = known(discord, change.channel_id.get(), spot.guild_id);
    let signal = translate::changed(&change, here(discord, me, place))?;
    Some(Heard::Said { signal, call: None })
}

fn deleted(discord: &Discord, me: &Me, name: &str, data: &RawValue) -> Vec<Heard> {
    let Some(deleted) = read::<Deleted>(name, data) else { return Vec::new() };
    let channel = deleted.channel_id.get();
    let here = here(discord, me, known(discord, channel, deleted.guild_id));
    let gone = deleted.id.into_iter().chain(deleted.ids);
    let heard = gone.map(|id| {
        let signal = translate::deleted(MessageRef { channel, message: id.get() }, here);
        Heard::Said { signal, call: None }
    });
    heard.collect()
}

async fn reacted(discord: &Discord, me: &Me, event: &Event<'_>) -> Option<Heard> {
    let reaction: Reaction = read(event.name, event.data)?;
    if !reaction.may_decide() {
        return None;
    }
    let place = find(discord, reaction.channel_id.get(), reaction.guild_id).await;
    Some(translate::reacted(&reaction, (event.session, event.sequence), here(discord, me, place)))
}

async fn called(discord: &Discord, me: &Me, name: &str, data: &RawValue) -> Option<Heard> {
    let (interaction, whence): (Interaction, Whence) = (read(name, data)?, read(name, data)?);
    let (channel, id, guild) = match &interaction {
        Interaction::Command(given) | Interaction::Autocomplete(given) => {
            (given.channel.as_ref(), given.channel_id, given.guild_id)
        }
        Interaction::Component(pressed) => (pressed.channel.as_ref(), pressed.channel_id, pressed.guild_id),
        Interaction::Modal(filled) => (filled.channel.as_ref(), filled.channel_id, filled.guild_id),
        _ => return None,
    };
    let place = match channel {
        // It looks like a direct conversation, and must never be remembered as one.
        _ if whence.is_among_others() => Place { id: id.get(), guild: None, kind: Kind::Other, open: false },
        Some(channel) => discord.places.learn(&described(channel, guild)),
        None => find(discord, id.get(), guild).await,
    };
    Some(translate::interaction(&interaction, here(discord, me, place)))
}

/// An interaction says itself what kind of place it comes from.
fn described(channel: &PartialChannel, guild: Option<GuildId>) -> Channel {
    Channel { id: channel.id, kind: channel.kind, guild_id: guild, parent_id: channel.parent_id }
}

fn here<'m>(discord: &Discord, me: &'m Me, place: Place) -> Here<'m> {
    Here { me, place, own_threads: discord.has_own_threads(place.id) }
}

/// The place of something. Where Discord does not say, it counts as one that anybody may read.
async fn find(discord: &Discord, channel: u64, guild: Option<GuildId>) -> Place {
    if guild.is_none() {
        return known(discord, channel, guild);
    }
    match places::find(&discord.places, &discord.api, channel).await {
        Ok(place) => Place { guild: guild.map(GuildId::get), ..place },
        Err(trouble) => {
            tracing::warn!(channel, %trouble, "it is not known what kind of channel this is");
            known(discord, channel, guild)
        }
    }
}

/// The same without asking. What a bot hears outside of a guild is a direct conversation.
fn known(discord: &Discord, channel: u64, guild: Option<GuildId>) -> Place {
    let kind = if guild.is_none() { Kind::Direct } else { Kind::Other };
    let unknown = Place { id: channel, guild: guild.map(GuildId::get), kind, open: false };
    discord.places.find(channel).unwrap_or(unknown)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Options;

    /// An interaction in what looks like a direct conversation.
    fn interaction(kind: u8, context: u8, data: &Value) -> Box<RawValue> {
        let user = json!({"id": "11", "username": "ann", "discriminator": "0", "avatar": null});
        let interaction = json!({
            "id": "8001", "application_id": "99", "type": kind, "token": "secret", "version": 1, "data": data,
            "channel": {"id": "500", "type": 1, "permissions": "0"}, "channel_id": "500", "locale": "en-US", "user": user,
            "entitlements": [], "app_permissions": "0", "authorizing_integration_owners": {"1": "11"}, "context": context,
            "attachment_size_limit": 1000,
            "message": {
                "id": "30", "channel_id": "500", "author": user, "content": "x", "type": 0,
                "timestamp": "2026-11-22T10:00:00+00:00", "edited_timestamp": null, "tts": false,
                "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": [], "embeds": [],
                "pinned": false,
            },
        });
        serde_json::value::to_raw_value(&interaction).expect("it is JSON")
    }

    #[tokio::test]
    async fn a_conversation_of_others_is_no_direct_one() {
        let discord = Discord::new(Options::new("MTA.x")).expect("the options are sound");
        let hear = async |kind: u8, context: u8, data: Value| {
            let data = interaction(kind, context, &data);
            let event = Event { session: "s", sequence: 1, name: "INTERACTION_CREATE", data: &data };
            heard(&discord, &Me { id: 99 }, event).await
        };
        for context in [2, 9] {
            let command = hear(2, context, json!({"id": "4", "name": "help", "type": 1})).await;
            assert!(matches!(command[..], [Heard::Stray(_)]), "{command:?}");
            let press = hear(3, context, json!({"custom_id": "P:0", "component_type": 2})).await;
            assert!(matches!(press[..], [Heard::Stray(_)]), "{press:?}");
            let window = hear(5, context, json!({"custom_id": "P:1", "components": []})).await;
            assert!(matches!(window[..], [Heard::Stray(_)]), "{window:?}");
            assert_eq!(discord.places.find(500), None);
        }
        let window = hear(5, 1, json!({"custom_id": "P:1", "components": []})).await;
        assert!(matches!(window[..], [Heard::Touched { .. }]), "{window:?}");
        assert_eq!(discord.places.find(500).map(|place| place.kind), Some(Kind::Direct));
    }
}
