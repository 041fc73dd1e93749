//! Routes about threads: opening one, from a message or from nothing, and joining.

use serde_json::Value;

use super::channels::NAME_MAX;
use crate::channel::{Channel, ChannelId, ChannelKind, Message};
use crate::form::Form;
use crate::refusal::{Answer, Refusal};
use crate::state::State;
use crate::{BOT, json};

/// Discord's numbers for the notice of a new thread, and for a thread's first message.
const OPENED: u8 = 18;
const STARTER: u8 = 21;

const KNOWN: [&str; 5] = ["name", "auto_archive_duration", "rate_limit_per_user", "type", "invitable"];

struct Wanted {
    name: String,
    private: bool,
}

fn wanted(form: &Form, with_kind: bool) -> Result<Wanted, Refusal> {
    form.fields(&KNOWN, |fields| {
        let minutes = fields.number("auto_archive_duration").unwrap_or(1440);
        if ![60, 1440, 4320, 10_080].contains(&minutes) {
            fields.wrong("auto_archive_duration", "BASE_TYPE_CHOICES", "Value must be one of (60, 1440, 4320, 10080).");
        }
        // A thread from nothing is private where nothing is said: so the reference has it.
        let kind = fields.number("type").unwrap_or(if with_kind { 12 } else { 11 });
        if ![11, 12].contains(&kind) {
            fields.wrong("type", "BASE_TYPE_CHOICES", "Value must be one of (11, 12).");
        }
        fields.flag("invitable");
        Wanted { name: fields.required_text("name", NAME_MAX).to_owned(), private: with_kind && kind == 12 }
    })
}

/// The channel, if threads can be opened in it.
fn parent(state: &State, id: ChannelId) -> Result<&Channel, Refusal> {
    let channel = state.writable(id)?;
    match channel.kind {
        ChannelKind::Text => Ok(channel),
        _ => Err(Refusal::new(400, 50_024, "Cannot execute action on this channel type")),
    }
}

pub(super) fn from_message(state: &mut State, form: &Form) -> Answer {
    let wanted = wanted(form, false)?;
    let parent = parent(state, form.channel())?;
    let message =
        parent.shown(form.id(1)).filter(|message| message.is_public()).ok_or_else(Refusal::unknown_message)?;
    if message.thread.is_some() {
        return Err(Refusal::new(400, 160_004, "A thread has already been created for this message"));
    }
    let (parent, message) = (parent.id, message.id);
    let thread = open(state, BOT, parent, Some(message), &wanted.name, false);
    Ok(opened(state, thread))
}

pub(super) fn without_message(state: &mut State, form: &Form) -> Answer {
    let wanted = wanted(form, true)?;
    let parent = parent(state, form.channel())?.id;
    let thread = open(state, BOT, parent, None, &wanted.name, wanted.private);
    Ok(opened(state, thread))
}

fn opened(state: &State, thread: ChannelId) -> Value {
    state.channels.get(&thread).map_or(Value::Null, |channel| json::channel(state, channel))
}

/// Opens a thread, and tells the bot. A thread from a message bears that message's id.
pub(crate) fn open(
    state: &mut State,
    who: u64,
    parent: ChannelId,
    from: Option<u64>,
    name: &str,
    private: bool,
) -> ChannelId {
    let id = ChannelId(from.unwrap_or_else(|| state.clock.id()));
    let kind = if private { ChannelKind::PrivateThread } else { ChannelKind::Thread };
    let mut thread = Channel::new(id, kind, name);
    thread.parent = Some(parent);
    thread.guild = state.guild_of(parent);
    thread.owner = Some(who);
    thread.opened_ms = state.clock.now_ms();
    state.channels.insert(id, thread);
    state.tell_channel("THREAD_CREATE", id);
    let now = state.clock.now_ms();
    match from {
        Some(from) => {
            if let Some(message) = state.message_mut(parent, from) {
                message.thread = Some(id);
            }
            state.tell_message("MESSAGE_UPDATE", parent, from);
            let mut starter = Message::new(id, state.clock.id(), who, now);
            starter.kind = STARTER;
            state.post(starter);
        }
        None if !private => {
            let mut notice = Message::new(parent, state.clock.id(), who, now);
            notice.kind = OPENED;
            name.clone_into(&mut notice.text);
            notice.thread = Some(id);
            state.post(notice);
        }
        None => {}
    }
    id
}

/// Joining and leaving: whoever sees a thread is told of it anyway.
pub(super) fn join(state: &mut State, form: &Form) -> Answer {
    match state.visible(form.channel())? {
        channel if channel.kind.is_thread() => Ok(Value::Null),
        _ => Err(Refusal::new(400, 50_024, "Cannot execute action on this channel type")),
    }
}
