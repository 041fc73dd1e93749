//! Everything the fake knows, behind one lock: channels, people, the gateway, interactions that wait for the bot's answer,
//! faults, the log. Small steps that several rooms need stand here; what the bot may do is in `routes`, what people do in
//! `script` and `interact`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::channel::{Access, Channel, ChannelId, ChannelKind, Message};
use crate::clock::Clock;
use crate::commands::Commands;
use crate::fault::Faults;
use crate::gateway::{self, Event, Gateway};
use crate::interactions::Interaction;
use crate::limits::Limits;
use crate::log::{Call, Outcome, SentEvent};
use crate::people::{self, Guild, User};
use crate::refusal::Refusal;
use crate::{BOT, GUILD, json};

/// The state, and a bell that rings whenever it may have changed.
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<u64>,
}

impl Shared {
    pub(crate) fn new(gateway_url: String) -> Self {
        Self { state: Mutex::new(State::new(gateway_url)), changed: watch::Sender::new(0) }
    }

    pub(crate) fn look(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("invariant: nobody panics while holding the state")
    }

    /// Does it under the lock, and rings.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let done = change(&mut self.look());
        self.changed.send_modify(|count| *count += 1);
        done
    }

    /// Rings for everything that changes after this call.
    pub(crate) fn bell(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) channels: BTreeMap<ChannelId, Channel>,
    pub(crate) users: BTreeMap<u64, User>,
    pub(crate) guilds: BTreeMap<u64, Guild>,
    pub(crate) gateway: Gateway,
    pub(crate) gateway_url: String,
    pub(crate) interactions: BTreeMap<String, Interaction>,
    pub(crate) commands: Commands,
    /// Where somebody sees the bot typing: until its next message there.
    pub(crate) typing: BTreeSet<ChannelId>,
    pub(crate) faults: Faults,
    pub(crate) limits: Limits,
    pub(crate) log: Vec<Call>,
    /// What the gateway sent.
    pub(crate) events: Vec<SentEvent>,
    pub(crate) clock: Clock,
    pub(crate) started: Instant,
}

impl State {
    fn new(gateway_url: String) -> Self {
        Self {
            channels: BTreeMap::new(),
            users: people::everybody(),
            guilds: BTreeMap::from([(GUILD, Guild::new(GUILD, "Team"))]),
            gateway: Gateway::default(),
            gateway_url,
            interactions: BTreeMap::new(),
            commands: Commands::default(),
            typing: BTreeSet::new(),
            faults: Faults::default(),
            limits: Limits::default(),
            log: Vec::new(),
            events: Vec::new(),
            clock: Clock::default(),
            started: Instant::now(),
        }
    }

    /// A message that is shown.
    pub(crate) fn message(&self, channel: ChannelId, id: u64) -> Option<&Message> {
        self.channels.get(&channel)?.shown(id)
    }

    pub(crate) fn message_mut(&mut self, channel: ChannelId, id: u64) -> Option<&mut Message> {
        self.channels.get_mut(&channel)?.shown_mut(id)
    }

    pub(crate) fn guild_of(&self, channel: ChannelId) -> Option<u64> {
        self.channels.get(&channel)?.guild
    }

    /// The channel, if the bot may see it. A thread is seen by whoever sees the channel above it.
    pub(crate) fn visible(&self, id: ChannelId) -> Result<&Channel, Refusal> {
        let channel = self.channels.get(&id).ok_or_else(Refusal::unknown_channel)?;
        match self.access(channel) {
            Access::None => Err(Refusal::new(403, 50_001, "Missing Access")),
            Access::Full | Access::ReadOnly => Ok(channel),
        }
    }

    /// The channel, if the bot may write there.
    pub(crate) fn writable(&self, id: ChannelId) -> Result<&Channel, Refusal> {
        let channel = self.visible(id)?;
        if self.access(channel) == Access::ReadOnly {
            return Err(Refusal::new(403, 50_013, "Missing Permissions"));
        }
        let recipient = channel.recipient.and_then(|recipient| self.users.get(&recipient));
        if recipient.is_some_and(|recipient| recipient.blocked) {
            return Err(Refusal::new(403, 50_007, "Cannot send messages to this user"));
        }
        if channel.archived && channel.locked {
            return Err(Refusal::new(400, 50_083, "Thread is archived"));
        }
        Ok(channel)
    }

    pub(crate) fn access(&self, channel: &Channel) -> Access {
        let above = channel.parent.and_then(|parent| self.channels.get(&parent));
        above.map_or(channel.bot, |above| if above.bot == Access::Full { channel.bot } else { above.bot })
    }

    /// Keeps a new message, tells the bot of it, and gives it as the API answers it.
    pub(crate) fn post(&mut self, message: Message) -> Value {
        let (channel, id) = (message.channel, message.id);
        if message.from == BOT {
            self.typing.remove(&channel);
        }
        if let Some(channel) = self.channels.get_mut(&channel) {
            // Whoever writes in a thread that was put away brings it back.
            channel.archived = false;
            channel.messages.insert(id, message);
        }
        self.tell_message("MESSAGE_CREATE", channel, id);
        self.shown(channel, id)
    }

    /// The message as the API answers it; null where there is none.
    pub(crate) fn shown(&self, channel: ChannelId, id: u64) -> Value {
        self.message(channel, id).map_or(Value::Null, |message| json::message(self, message))
    }

    /// Tells the bot of an event, late or several times if a fault says so.
    pub(crate) fn tell(&mut self, channel: Option<ChannelId>, event: &Event) {
        let late = self.faults.reorders(channel);
        let copies = self.faults.copies(channel);
        self.gateway.tell(event, copies, late);
    }

    /// Tells the bot of a message, unless it is not to see it. Without the intent for it, the bot gets the content of what
    /// is said to it only.
    pub(crate) fn tell_message(&mut self, name: &'static str, channel: ChannelId, id: u64) {
        let Ok(found) = self.visible(channel) else { return };
        let Some(message) = found.shown(id).filter(|message| message.is_public()) else { return };
        let (guild, from) = (found.guild, message.from);
        let to_bot = guild.is_none() || message.from == BOT || message.pings.contains(&format!("<@{BOT}>"));
        let mut body = json::message(self, message);
        if let Some(guild) = guild {
            body["guild_id"] = json::id(guild);
            let own = self.guilds.get(&guild).filter(|guild| guild.members.contains_key(&from));
            if let Some(guild) = own {
                body["member"] = json::member(guild, from);
            }
        }
        let veiled = (!to_bot).then(|| veil(&body));
        let intent = if guild.is_some() { gateway::GUILD_MESSAGES } else { gateway::DIRECT_MESSAGES };
        self.tell(Some(channel), &Event { name, intent, body, veiled });
    }

    /// Tells the bot of something about a channel: that it is there, gone, or changed.
    pub(crate) fn tell_channel(&mut self, name: &'static str, id: ChannelId) {
        let Some(channel) = self.channels.get(&id).filter(|channel| channel.kind != ChannelKind::Private) else {
            return;
        };
        let mut body = json::channel(self, channel);
        if name == "THREAD_CREATE" {
            body["newly_created"] = json!(true);
        }
        self.tell(Some(id), &Event { name, intent: gateway::GUILDS, body, veiled: None });
    }

    /// The bits that say which privileged intents are granted (API reference, "Application Flags", those of a bot that is
    /// in fewer than a hundred servers).
    pub(crate) fn application_flags(&self) -> u64 {
        let bits = [
            (gateway::GUILD_PRESENCES, 1 << 13),
            (gateway::GUILD_MEMBERS, 1 << 15),
            (gateway::MESSAGE_CONTENT, 1 << 19),
        ];
        bits.iter().filter(|(intent, _)| self.gateway.granted & intent != 0).map(|(_, bit)| bit).sum()
    }

    /// Writes a call down as open.
    pub(crate) fn note(&mut self, method: &str, channel: Option<ChannelId>, params: Value) -> u64 {
        let sequence = u64::try_from(self.log.len()).unwrap_or(u64::MAX) + 1;
        let at = self.started.elapsed();
        self.log.push(Call { sequence, at, method: method.to_owned(), channel, params, outcome: Outcome::Open });
        sequence
    }

    /// Writes down what the gateway has sent, if it is an event.
    pub(crate) fn note_event(&mut self, text: &str) {
        let mut sent: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        if let Some(name) = sent["t"].as_str().map(str::to_owned) {
            let body = sent["d"].take();
            self.events.push(SentEvent { calls: self.log.len(), name, body });
        }
    }

    /// Writes down what came of a call.
    pub(crate) fn note_outcome(&mut self, sequence: u64, outcome: Outcome) {
        let at = usize::try_from(sequence - 1).unwrap_or(usize::MAX);
        if let Some(call) = self.log.get_mut(at) {
            call.outcome = outcome;
        }
    }
}

/// A message for a bot that may not read what people write to each other.
pub(crate) fn veil(body: &Value) -> Value {
    let mut veiled = body.clone();
    veiled["content"] = json!("");
    for part in ["embeds", "attachments", "components"] {
        veiled[part] = json!([]);
    }
    veiled
}
