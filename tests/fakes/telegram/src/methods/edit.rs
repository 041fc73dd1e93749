//! Methods that change what stands in a chat: texts, keyboards, reactions, and taking a message away.

use serde_json::{Value, json};

use super::reply;
use super::send::{TEXT_UNITS_MAX, shown};
use crate::BOT;
use crate::chat::{Chat, ChatKind, Message, Role};
use crate::entities::units;
use crate::keyboard;
use crate::params::Params;
use crate::reactions;
use crate::refusal::{Answer, Refusal};
use crate::state::State;

const NOT_MODIFIED: &str = "message is not modified: specified new message content and reply markup are exactly the same \
    as a current content and reply markup of the message";

/// The message that is asked for, if the bot may change it.
fn own<'a>(chat: &'a mut Chat, params: &Params) -> Result<&'a mut Message, Refusal> {
    let id = message_id(params)?;
    let message = chat.shown_mut(id).ok_or_else(|| Refusal::bad("message to edit not found"))?;
    if message.from_bot { Ok(message) } else { Err(Refusal::bad("message can't be edited")) }
}

fn message_id(params: &Params) -> Result<i64, Refusal> {
    params.integer("message_id")?.ok_or_else(|| Refusal::bad("message identifier is not specified"))
}

pub(super) fn text(state: &mut State, params: &Params) -> Answer {
    let text = reply::text(params, "text", "entities")?.ok_or_else(|| Refusal::bad("message text is empty"))?;
    let keyboard = keyboard::parse(params.json("reply_markup")?.as_ref())?;
    let (id, date) = (params.chat()?, state.clock.now());
    let message = own(state.writable(id)?, params)?;
    // Sending says it in words, editing in capitals.
    if units(&text.formatted.text) > TEXT_UNITS_MAX {
        return Err(Refusal::bad("MESSAGE_TOO_LONG"));
    }
    if message.document.is_some() {
        return Err(Refusal::bad("there is no text in the message to edit"));
    }
    let same = message.text == text.formatted.text && message.entities == text.formatted.entities;
    if same && message.keyboard == keyboard {
        return Err(Refusal::bad(NOT_MODIFIED));
    }
    message.text = text.formatted.text;
    message.entities = text.formatted.entities;
    message.html = text.html;
    message.keyboard = keyboard;
    message.edits += 1;
    message.edit_date = Some(date);
    let message = message.id;
    shown(state, id, message)
}

pub(super) fn reply_markup(state: &mut State, params: &Params) -> Answer {
    let keyboard = keyboard::parse(params.json("reply_markup")?.as_ref())?;
    let (id, date) = (params.chat()?, state.clock.now());
    let message = own(state.writable(id)?, params)?;
    if message.keyboard == keyboard {
        return Err(Refusal::bad(NOT_MODIFIED));
    }
    message.keyboard = keyboard;
    message.edit_date = Some(date);
    let message = message.id;
    shown(state, id, message)
}

pub(super) fn delete(state: &mut State, params: &Params) -> Answer {
    let chat = state.writable(params.chat()?)?;
    let (kind, role) = (chat.kind, chat.bot);
    let message = chat.shown_mut(message_id(params)?).ok_or_else(|| Refusal::bad("message to delete not found"))?;
    if !message.from_bot && kind != ChatKind::Private && role != Role::Administrator {
        return Err(Refusal::bad("message can't be deleted"));
    }
    message.deleted = true;
    Ok(json!(true))
}

pub(super) fn reaction(state: &mut State, params: &Params) -> Answer {
    let wanted = emoji(params.json("reaction")?.as_ref())?;
    params.flag("is_big")?;
    let chat = state.writable(params.chat()?)?;
    let message = chat.shown_mut(message_id(params)?).ok_or_else(|| Refusal::bad("message to react not found"))?;
    // A bot is no premium user: one reaction, and one that everybody can give.
    if wanted.len() > 1 {
        return Err(Refusal::bad("REACTIONS_TOO_MANY"));
    }
    if !wanted.iter().all(|emoji| reactions::allowed(emoji)) {
        return Err(Refusal::bad("REACTION_INVALID"));
    }
    if wanted.is_empty() {
        message.reactions.remove(&BOT);
    } else {
        message.reactions.insert(BOT, wanted);
    }
    Ok(json!(true))
}

fn emoji(reaction: Option<&Value>) -> Result<Vec<String>, Refusal> {
    let Some(reaction) = reaction else { return Ok(Vec::new()) };
    let given = reaction.as_array().ok_or_else(|| Refusal::bad("expected an Array of ReactionType"))?;
    let emoji = |given: &Value| match (given["type"].as_str(), given["emoji"].as_str()) {
        (Some("emoji"), Some(emoji)) => Ok(emoji.to_owned()),
        _ => Err(Refusal::bad("invalid reaction type specified")),
    };
    given.iter().map(emoji).collect()
}
