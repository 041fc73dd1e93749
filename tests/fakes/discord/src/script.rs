//! What people do with messages: they write, edit, delete and react. Each is told to the bot as Discord would tell it, or
//! not at all where Discord would not. What they do with buttons and commands is in `interact`; setting the scene is in
//! `setup`, looking at it in `look`.

use crate::channel::{Access, ChannelId, ChannelKind, Document, Message};
use crate::mentions::{Allowed, Mark};
use crate::routes::{react, remove};
use crate::server::Fake;
use crate::state::State;

/// What cannot be done, as a sentence.
pub(crate) type Played<T> = Result<T, String>;

/// Discord's number for a message that answers another.
const REPLY: u8 = 19;

/// A message that somebody writes. `<@ID>`, `<@&ID>` and `@everyone` in the text call people, as they do at Discord.
#[derive(Debug, Clone)]
#[must_use]
pub struct Say {
    from: u64,
    channel: ChannelId,
    text: String,
    reply_to: Option<u64>,
    quiet_reply: bool,
    mentions: Vec<(u64, String)>,
    forwarded: Option<(ChannelId, u64)>,
    documents: Vec<(String, Vec<u8>)>,
}

impl Say {
    /// In a channel, a thread or direct messages.
    pub fn new(from: u64, channel: ChannelId, text: &str) -> Self {
        Self {
            from,
            channel,
            text: text.to_owned(),
            reply_to: None,
            quiet_reply: false,
            mentions: Vec::new(),
            forwarded: None,
            documents: Vec::new(),
        }
    }

    /// As an answer to this message, whose writer is called by that.
    pub fn reply_to(self, message: u64) -> Self {
        Self { reply_to: Some(message), ..self }
    }

    /// As an answer that calls nobody.
    pub fn quiet_reply_to(self, message: u64) -> Self {
        Self { reply_to: Some(message), quiet_reply: true, ..self }
    }

    /// Calls somebody, a bot as well, by `name`, which stands in the text: it becomes `<@ID>`.
    pub fn mention(mut self, user: u64, name: &str) -> Self {
        self.mentions.push((user, name.to_owned()));
        self
    }

    /// Forwards this message from elsewhere. The text is the forwarder's own, and Discord lets it be empty only.
    pub fn forwarded(self, channel: ChannelId, message: u64) -> Self {
        Self { forwarded: Some((channel, message)), ..self }
    }

    /// With a file.
    pub fn document(mut self, name: &str, bytes: &[u8]) -> Self {
        self.documents.push((name.to_owned(), bytes.to_vec()));
        self
    }
}

fn say(state: &mut State, said: Say) -> Played<u64> {
    if !state.users.contains_key(&said.from) {
        return Err(format!("there is no user {}: make one with Fake::user first", said.from));
    }
    let channel = state.channels.get(&said.channel).ok_or_else(|| format!("there is no channel {:?}", said.channel))?;
    let (name, guild) = (channel.name.clone(), channel.guild);
    if channel.kind == ChannelKind::Private && channel.recipient != Some(said.from) {
        return Err(format!("{} has no part in the direct messages of {name}", said.from));
    }
    let mut text = said.text;
    for (user, called) in &said.mentions {
        if !text.contains(called.as_str()) {
            return Err(format!("`{called}` does not stand in `{text}`"));
        }
        text = text.replacen(called.as_str(), &Mark::User(*user).written(), 1);
    }
    let answered = match said.reply_to {
        Some(id) => Some(channel.shown(id).ok_or_else(|| format!("{name} shows no message {id}"))?.from),
        None => None,
    };
    let (id, now) = (state.clock.id(), state.clock.now_ms());
    let mut message = Message::new(said.channel, id, said.from, now);
    message.reply_to = said.reply_to;
    message.kind = if said.reply_to.is_some() { REPLY } else { 0 };
    let answered = answered.filter(|author| !said.quiet_reply && *author != said.from);
    message.pings = Allowed::everything().pings(&text, answered).iter().map(Mark::written).collect();
    message.text = text;
    message.forwarded = said.forwarded;
    for (name, bytes) in said.documents {
        message.documents.push(Document { id: state.clock.id(), name, mime: None, bytes: bytes.into() });
    }
    let is_webhook = state.users.get(&said.from).is_some_and(|user| user.is_webhook);
    if let Some(guild) = guild.and_then(|guild| state.guilds.get_mut(&guild)).filter(|_| !is_webhook) {
        guild.members.entry(said.from).or_default();
    }
    state.post(message);
    Ok(id)
}

fn edit(state: &mut State, channel: ChannelId, id: u64, text: &str) -> Played<()> {
    let now = state.clock.now_ms();
    let message = shown(state, channel, id)?;
    if message.from_bot {
        return Err(format!("message {id} is the bot's; nobody else can edit it"));
    }
    text.clone_into(&mut message.text);
    message.edits += 1;
    message.edited_ms = Some(now);
    state.tell_message("MESSAGE_UPDATE", channel, id);
    Ok(())
}

pub(crate) fn shown(state: &mut State, channel: ChannelId, id: u64) -> Played<&mut Message> {
    let channel = state.channels.get_mut(&channel).ok_or_else(|| format!("there is no channel {channel:?}"))?;
    let name = channel.name.clone();
    channel.shown_mut(id).ok_or_else(|| format!("{name} shows no message {id}"))
}

/// What a script comes to, or the end of the test with the reason.
#[track_caller]
pub(crate) fn played<T>(done: Played<T>) -> T {
    done.unwrap_or_else(|why| panic!("this cannot be done in the fake: {why}"))
}

impl Fake {
    /// Somebody writes; the message's id.
    #[track_caller]
    pub fn say(&self, said: Say) -> u64 {
        played(self.try_say(said))
    }

    /// As [`Fake::say`], with the reason where it cannot be done.
    pub fn try_say(&self, said: Say) -> Result<u64, String> {
        self.shared().change(|state| say(state, said))
    }

    /// Whoever wrote a message changes it.
    #[track_caller]
    pub fn edit(&self, channel: ChannelId, message: u64, text: &str) {
        played(self.try_edit(channel, message, text));
    }

    /// As [`Fake::edit`], with the reason where it cannot be done.
    pub fn try_edit(&self, channel: ChannelId, message: u64, text: &str) -> Result<(), String> {
        self.shared().change(|state| edit(state, channel, message, text))
    }

    /// Discord unfolds a link in a message: the bot is told of an update in which nobody changed anything.
    #[track_caller]
    pub fn unfold(&self, channel: ChannelId, message: u64) {
        played(self.shared().change(|state| {
            let embed = serde_json::json!({ "type": "link", "url": "https://example.org/", "title": "A page" });
            shown(state, channel, message)?.embeds.push(embed);
            state.tell_message("MESSAGE_UPDATE", channel, message);
            Ok(())
        }));
    }

    /// Somebody takes a message away, also one of the bot's. The bot is told.
    #[track_caller]
    pub fn delete(&self, channel: ChannelId, message: u64) {
        played(self.shared().change(|state| {
            shown(state, channel, message)?;
            remove(state, channel, message);
            Ok(())
        }));
    }

    /// Somebody reacts, besides what they reacted before.
    #[track_caller]
    pub fn react(&self, user: u64, channel: ChannelId, message: u64, emoji: &str) {
        played(self.try_react(user, channel, message, emoji, true));
    }

    /// Somebody takes a reaction back.
    #[track_caller]
    pub fn unreact(&self, user: u64, channel: ChannelId, message: u64, emoji: &str) {
        played(self.try_react(user, channel, message, emoji, false));
    }

    /// As [`Fake::react`] and [`Fake::unreact`], with the reason where it cannot be done.
    pub fn try_react(&self, user: u64, channel: ChannelId, message: u64, emoji: &str, add: bool) -> Result<(), String> {
        self.shared().change(|state| {
            shown(state, channel, message)?;
            react(state, user, (channel, message), emoji, add)
                .map_err(|refusal| format!("{emoji}: {}", refusal.message))
        })
    }

    /// A channel is taken away for good. The bot is told.
    pub fn delete_channel(&self, channel: ChannelId) {
        self.shared().change(|state| {
            let name = if state.channels.get(&channel).is_some_and(|channel| channel.kind.is_thread()) {
                "THREAD_DELETE"
            } else {
                "CHANNEL_DELETE"
            };
            if state.channels.get(&channel).is_some_and(|channel| channel.bot != Access::None) {
                state.tell_channel(name, channel);
            }
            state.channels.remove(&channel);
        });
    }
}
