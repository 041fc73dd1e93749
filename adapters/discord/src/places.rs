//! What kind of place a channel is, and which channel a thread belongs to: an event says neither. Learned from what Discord
//! tells of its guilds, and asked for where something happens in a place that is not known. In memory only.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serenity::all::{ChannelId, ChannelType, GuildId};

use crate::api::{Api, Trouble};

/// The most places that are remembered; any more are asked for each time.
const PLACES_MAX: usize = 50_000;

/// What kind of place a channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One person and the bot.
    Direct,
    /// A channel that the members of a guild read, or some of them.
    Room,
    /// A channel that is made to be read by many.
    News,
    /// A thread in a channel.
    Thread {
        /// The channel.
        parent: u64,
        /// Whether that is one for many.
        news: bool,
    },
    /// Something else, such as a group of friends.
    Other,
}

/// A place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) id: u64,
    /// The guild; none where it is in no guild.
    pub(crate) guild: Option<u64>,
    pub(crate) kind: Kind,
    /// Whether anybody may find and enter the guild.
    pub(crate) open: bool,
}

/// A channel as Discord describes it, as far as that counts here.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Channel {
    pub(crate) id: ChannelId,
    #[serde(rename = "type")]
    pub(crate) kind: ChannelType,
    pub(crate) guild_id: Option<GuildId>,
    pub(crate) parent_id: Option<ChannelId>,
}

/// A guild, when the bot comes to know it, when it changes, or when its threads are told anew.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Guild {
    #[serde(alias = "guild_id")]
    pub(crate) id: GuildId,
    #[serde(default)]
    pub(crate) features: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) channels: Vec<Channel>,
    #[serde(default)]
    pub(crate) threads: Vec<Channel>,
}

#[derive(Default)]
struct Known {
    places: BTreeMap<u64, Place>,
    open: BTreeSet<u64>,
}

/// The places that are known.
#[derive(Default)]
pub(crate) struct Places(Mutex<Known>);

impl Places {
    /// Takes note of a channel or a thread.
    pub(crate) fn learn(&self, channel: &Channel) -> Place {
        self.with(|known| known.put(channel, channel.guild_id.map(GuildId::get)))
    }

    /// Takes note of a guild with its channels and threads.
    pub(crate) fn learn_guild(&self, guild: &Guild) {
        let id = guild.id.get();
        self.with(|known| {
            if let Some(features) = &guild.features {
                let is_open = features.iter().any(|feature| feature == "DISCOVERABLE");
                let _changed = if is_open { known.open.insert(id) } else { known.open.remove(&id) };
            }
            for channel in guild.channels.iter().chain(&guild.threads) {
                known.put(channel, Some(id));
            }
        });
    }

    /// It is gone.
    pub(crate) fn forget(&self, channel: u64) {
        self.with(|known| known.places.remove(&channel));
    }

    /// What is known of a channel.
    pub(crate) fn find(&self, channel: u64) -> Option<Place> {
        self.with(|known| {
            let place = *known.places.get(&channel)?;
            Some(Place { open: place.guild.is_some_and(|guild| known.open.contains(&guild)), ..place })
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Known) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Known {
    fn put(&mut self, channel: &Channel, guild: Option<u64>) -> Place {
        let parent_is_news =
            |parent: u64| self.places.get(&parent).is_some_and(|parent| matches!(parent.kind, Kind::News));
        let kind = match (channel.kind, channel.parent_id.map(ChannelId::get)) {
            (ChannelType::Private, _) => Kind::Direct,
            (ChannelType::NewsThread, Some(parent)) => Kind::Thread { parent, news: true },
            (ChannelType::PublicThread | ChannelType::PrivateThread, Some(parent)) => {
                Kind::Thread { parent, news: parent_is_news(parent) }
            }
            (ChannelType::News, _) => Kind::News,
            _ if guild.is_some() => Kind::Room,
            _ => Kind::Other,
        };
        let id = channel.id.get();
        let place = Place { id, guild, kind, open: guild.is_some_and(|guild| self.open.contains(&guild)) };
        if self.places.len() < PLACES_MAX || self.places.contains_key(&id) {
            self.places.insert(id, place);
        }
        place
    }
}

/// The place of a channel; Discord is asked where it is not known.
pub(crate) async fn find(places: &Places, api: &Api, channel: u64) -> Result<Place, Trouble> {
    if let Some(place) = places.find(channel) {
        return Ok(place);
    }
    let found: Channel = api.get(&format!("/channels/{channel}")).await?;
    Ok(places.learn(&found))
}
