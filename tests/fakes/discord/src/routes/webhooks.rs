//! What an interaction's token opens for fifteen minutes: further messages, and changing the ones that answered it.

use serde_json::Value;

use super::messages::{change, remove};
use crate::BOT;
use crate::channel::{ChannelId, Message};
use crate::draft::{Draft, PARTS};
use crate::form::Form;
use crate::refusal::{Answer, Refusal};
use crate::state::State;

/// Discord's number for a message that answers another.
const REPLY: u8 = 19;

/// The interaction of the token in the path: its id, channel, user, and what `@original` means.
fn opened(state: &State, form: &Form) -> Result<(String, ChannelId, u64, Option<u64>), Refusal> {
    let unknown = || Refusal::unknown(10_015, "Webhook");
    if form.id(0) != BOT {
        return Err(unknown());
    }
    let found = state.interactions.values().find(|one| one.token == form.part(1)).ok_or_else(unknown)?;
    found.check_token(state.clock.now_ms())?;
    Ok((found.id.clone(), found.channel, found.user, found.original))
}

/// The message in the path, or the original; only what answered this interaction, or bore its button, can be had.
fn answering(state: &State, form: &Form) -> Result<Message, Refusal> {
    let (interaction, channel, _, original) = opened(state, form)?;
    let id = if form.path.len() > 2 { Some(form.id(2)) } else { original };
    let message = id.and_then(|id| state.message(channel, id)).ok_or_else(Refusal::unknown_message)?;
    let own = message.interaction.as_ref() == Some(&interaction) || Some(message.id) == original;
    if own { Ok(message.clone()) } else { Err(Refusal::unknown_message()) }
}

pub(super) fn get(state: &mut State, form: &Form) -> Answer {
    answering(state, form).map(|message| state.shown(message.channel, message.id))
}

pub(super) fn edit(state: &mut State, form: &Form) -> Answer {
    let draft = form.fields(&PARTS, |fields| Draft::read(form, fields))?;
    let message = answering(state, form)?;
    change(state, message, draft)
}

pub(super) fn delete(state: &mut State, form: &Form) -> Answer {
    let message = answering(state, form)?;
    remove(state, message.channel, message.id);
    Ok(Value::Null)
}

/// The first one after a promise keeps the promise: it takes that message's place, and stays as private as that was.
pub(super) fn follow_up(state: &mut State, form: &Form) -> Answer {
    let known = [&PARTS[..], &["thread_name"]].concat();
    let draft = form.fields(&known, |fields| Draft::read(form, fields))?;
    let (interaction, channel, user, original) = opened(state, form)?;
    draft.not_empty()?;
    let promised = original.and_then(|id| state.message(channel, id)).filter(|message| message.thinking).cloned();
    if let Some(promised) = promised {
        return change(state, promised, draft);
    }
    let (id, now) = (state.clock.id(), state.clock.now_ms());
    let mut message = Message::new(channel, id, BOT, now);
    message.interaction = Some(interaction);
    message.ephemeral_for = draft.is_ephemeral().then_some(user);
    message.reply_to = original.filter(|original| state.message(channel, *original).is_some());
    message.kind = if message.reply_to.is_some() { REPLY } else { 0 };
    draft.put(state, &mut message, true);
    Ok(state.post(message))
}
