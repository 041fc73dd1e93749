//! Routes about messages: sending, looking, changing, taking away.

use serde_json::Value;

use crate::BOT;
use crate::channel::{ChannelKind, Message};
use crate::draft::{Draft, PARTS};
use crate::form::Form;
use crate::gateway::MESSAGE_CONTENT;
use crate::json;
use crate::refusal::{Answer, Refusal};
use crate::state::{State, veil};

/// How long the same `nonce` means the same message, if that is asked for. Discord says: "the past few minutes".
const NONCE_MS: u64 = 5 * 60 * 1000;
/// Messages of one listing: without a `limit`, and at most.
const LISTED: usize = 50;
const LISTED_MAX: usize = 100;
/// Discord's number for a message that answers another.
const REPLY: u8 = 19;

pub(super) fn create(state: &mut State, form: &Form) -> Answer {
    let known = [&PARTS[..], &["nonce", "enforce_nonce", "message_reference", "sticker_ids"]].concat();
    let draft = form.fields(&known, |fields| {
        if !fields.list("sticker_ids", 3).unwrap_or_default().is_empty() {
            fields.wrong("sticker_ids", "FAKE_STICKERS", "The fake has no stickers.");
        }
        Draft::read(form, fields)
    })?;
    let channel = state.writable(form.channel())?;
    draft.not_empty()?;
    if draft.is_ephemeral() {
        return Err(Refusal::field("flags", "FAKE_EPHEMERAL", "Only the answer to an interaction can be ephemeral."));
    }
    let now = state.clock.now_ms();
    let same = |message: &&Message| {
        message.from == BOT
            && message.nonce.is_some()
            && message.nonce == draft.nonce
            && now < message.date_ms + NONCE_MS
    };
    if let Some(message) = channel.messages.values().find(same).filter(|_| draft.enforce_nonce) {
        return Ok(json::message(state, message));
    }
    let (id, mut answered) = (channel.id, None);
    if let Some((reply, strict)) = draft.reply {
        answered = channel.shown(reply).map(|message| message.id);
        if answered.is_none() && strict {
            return Err(Refusal::field("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message"));
        }
    }
    let mut message = Message::new(id, state.clock.id(), BOT, now);
    message.reply_to = answered;
    message.kind = if answered.is_some() { REPLY } else { 0 };
    draft.put(state, &mut message, true);
    Ok(state.post(message))
}

/// The message in the path, if the API shows it.
fn listed<'a>(state: &'a State, form: &Form) -> Result<&'a Message, Refusal> {
    let message = state.visible(form.channel())?.shown(form.id(1)).filter(|message| message.is_public());
    message.ok_or_else(Refusal::unknown_message)
}

/// As a bot reads it that may not read everything.
fn read(state: &State, message: &Message) -> Value {
    let whole = json::message(state, message);
    let to_bot = state.guild_of(message.channel).is_none()
        || message.from == BOT
        || message.pings.contains(&format!("<@{BOT}>"))
        || state.gateway.granted & MESSAGE_CONTENT != 0;
    if to_bot { whole } else { veil(&whole) }
}

pub(super) fn get(state: &mut State, form: &Form) -> Answer {
    listed(state, form).map(|message| read(state, message))
}

/// Newest first. With `after`, those that follow it directly; at most one of `after`, `before` and `around` counts.
pub(super) fn list(state: &mut State, form: &Form) -> Answer {
    let limit = form.count("limit", LISTED, LISTED_MAX)?;
    let at = |name: &str| form.query.get(name).and_then(|id| id.parse::<u64>().ok());
    let channel = state.visible(form.channel())?;
    let shown = channel.messages.values().filter(|message| !message.deleted && message.is_public());
    let shown: Vec<&Message> = shown.collect();
    let chosen: Vec<&Message> = if let Some(after) = at("after") {
        shown.into_iter().filter(|message| message.id > after).take(limit).collect()
    } else {
        let before = match (at("before"), at("around")) {
            (Some(before), _) => before,
            (None, Some(around)) => {
                shown.iter().filter(|message| message.id > around).nth(limit / 2).map_or(u64::MAX, |message| message.id)
            }
            (None, None) => u64::MAX,
        };
        let older: Vec<&Message> = shown.into_iter().filter(|message| message.id < before).collect();
        older.iter().skip(older.len().saturating_sub(limit)).copied().collect()
    };
    Ok(chosen.into_iter().rev().map(|message| read(state, message)).collect())
}

pub(super) fn edit(state: &mut State, form: &Form) -> Answer {
    let draft = form.fields(&PARTS, |fields| Draft::read(form, fields))?;
    let message = listed(state, form)?;
    if message.from != BOT {
        return Err(Refusal::new(403, 50_005, "Cannot edit a message authored by another user"));
    }
    state.writable(form.channel())?;
    let changed = listed(state, form)?.clone();
    change(state, changed, draft)
}

/// Changes a message, refuses if nothing is left of it, and tells the bot. The first text of a promise is no edit.
pub(super) fn change(state: &mut State, mut message: Message, draft: Draft) -> Answer {
    draft.put(state, &mut message, false);
    if message.text.is_empty()
        && message.embeds.is_empty()
        && message.keyboard.is_empty()
        && message.documents.is_empty()
    {
        return Err(Refusal::new(400, 50_006, "Cannot send an empty message"));
    }
    if message.thinking {
        message.thinking = false;
    } else {
        message.edits += 1;
    }
    message.edited_ms = Some(state.clock.now_ms());
    let (channel, id) = (message.channel, message.id);
    if let Some(kept) = state.message_mut(channel, id) {
        *kept = message;
    }
    state.tell_message("MESSAGE_UPDATE", channel, id);
    Ok(state.shown(channel, id))
}

pub(super) fn delete(state: &mut State, form: &Form) -> Answer {
    let (from, id, channel) = listed(state, form).map(|message| (message.from, message.id, message.channel))?;
    let kind = state.visible(channel)?.kind;
    if from != BOT && kind == ChannelKind::Private {
        return Err(Refusal::new(403, 50_003, "Cannot execute action on a DM channel"));
    }
    if from != BOT {
        state.writable(channel)?;
    }
    remove(state, channel, id);
    Ok(Value::Null)
}

/// Takes a message away, and tells the bot.
pub(crate) fn remove(state: &mut State, channel: crate::ChannelId, id: u64) {
    let public = state.message_mut(channel, id).is_some_and(|message| {
        message.deleted = true;
        message.is_public()
    });
    let guild = state.guild_of(channel);
    if !public || state.visible(channel).is_err() {
        return;
    }
    let mut body = serde_json::json!({ "id": json::id(id), "channel_id": json::id(channel.0) });
    let mut intent = crate::gateway::DIRECT_MESSAGES;
    if let Some(guild) = guild {
        body["guild_id"] = json::id(guild);
        intent = crate::gateway::GUILD_MESSAGES;
    }
    state.tell(Some(channel), &crate::gateway::Event { name: "MESSAGE_DELETE", intent, body, veiled: None });
}
