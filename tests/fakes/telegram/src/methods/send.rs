//! Methods that put something new into a chat: messages, files, and that the bot is busy.

use serde_json::{Value, json};

use super::reply::{self, ReplyTo, Text};
use crate::chat::{ChatId, Document, Message};
use crate::entities::units;
use crate::keyboard::{self, Button};
use crate::params::Params;
use crate::refusal::{Answer, Refusal};
use crate::state::State;
use crate::{BOT, json};

/// UTF-16 units of a text and of a caption (Bot API, `sendMessage`, `sendDocument`).
pub(super) const TEXT_UNITS_MAX: usize = 4096;
const CAPTION_UNITS_MAX: usize = 1024;

/// What a bot can say that it does (Bot API, `sendChatAction`).
const ACTIONS: [&str; 11] = [
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
];

/// A message that is read and waits to be put somewhere.
struct Draft {
    chat: ChatId,
    text: Option<Text>,
    keyboard: Vec<Vec<Button>>,
    reply: Option<ReplyTo>,
    document: Option<Document>,
}

impl Draft {
    fn read(params: &Params, text: Option<Text>, document: Option<Document>) -> Result<Self, Refusal> {
        let (reply, markup) = (reply::reply_parameters(params)?, params.json("reply_markup")?);
        for flag in ["disable_notification", "protect_content", "disable_content_type_detection"] {
            params.flag(flag)?;
        }
        let keyboard = keyboard::parse(markup.as_ref())?;
        Ok(Self { chat: params.chat()?, text, keyboard, reply, document })
    }
}

pub(super) fn message(state: &mut State, params: &Params) -> Answer {
    let text = reply::text(params, "text", "entities")?.ok_or_else(|| Refusal::bad("message text is empty"))?;
    let too_long = units(&text.formatted.text) > TEXT_UNITS_MAX;
    let draft = Draft::read(params, Some(text), None)?;
    state.writable(draft.chat)?;
    if too_long {
        return Err(Refusal::bad("message is too long"));
    }
    put(state, params, draft)
}

pub(super) fn document(state: &mut State, params: &Params) -> Answer {
    let file = params.file("document").ok_or_else(|| Refusal::bad("there is no document in the request"))?.clone();
    if file.bytes.is_empty() {
        return Err(Refusal::bad("file must be non-empty"));
    }
    let caption = reply::text(params, "caption", "caption_entities")?;
    if caption.as_ref().is_some_and(|caption| units(&caption.formatted.text) > CAPTION_UNITS_MAX) {
        return Err(Refusal::bad("message caption is too long"));
    }
    let draft = Draft::read(params, caption, Some(file))?;
    put(state, params, draft)
}

fn put(state: &mut State, params: &Params, draft: Draft) -> Answer {
    let date = state.clock.now();
    let chat = state.writable(draft.chat)?;
    let topic = reply::topic(params, chat)?;
    let reply = match &draft.reply {
        Some(reply) => reply.find(chat)?,
        None => None,
    };
    let mut message = Message::new(draft.chat, chat.next_id(), date);
    message.from = Some(BOT);
    message.from_bot = true;
    // An answer stands in the topic of what it answers, wherever it was meant to go.
    let answered = reply.as_ref().and_then(|(id, _)| chat.shown(*id));
    message.topic = answered.and_then(|answered| answered.topic).or(topic);
    if let Some((id, quote)) = reply {
        message.reply_to = Some(id);
        message.quote = quote;
    }
    if let Some(text) = draft.text {
        message.text = text.formatted.text;
        message.entities = text.formatted.entities;
        message.html = text.html;
    }
    message.keyboard = draft.keyboard;
    message.document = draft.document;
    let id = message.id;
    chat.messages.insert(id, message);
    shown(state, draft.chat, id)
}

/// The message as the bot gets it in answer.
pub(super) fn shown(state: &State, chat: ChatId, id: i64) -> Answer {
    let chat = state.chat(chat)?;
    Ok(chat.shown(id).map_or(Value::Null, |message| json::message(state, chat, message)))
}

pub(super) fn chat_action(state: &mut State, params: &Params) -> Answer {
    let action = params.text("action")?.unwrap_or_default();
    if !ACTIONS.contains(&action) {
        return Err(Refusal::bad("wrong parameter action in request"));
    }
    let chat = state.writable(params.chat()?)?;
    reply::topic(params, chat)?;
    Ok(json!(true))
}
