//! Putting right what was sent: a message shown in the place of another, part for part and without buttons, and messages
//! taken back. That it reads the same already, or is gone already, is success.

use serde::de::IgnoredAny;
use teloxide::payloads::{DeleteMessage, EditMessageText};
use teloxide::types::{ChatId, MessageId, ParseMode};

use countersign_core::port::Delivery;
use countersign_core::signal::EventId;

use crate::Telegram;
use crate::api::Trouble;
use crate::callbacks::{TEXT_UNITS_MAX, answer_soon};
use crate::deliver::{Letter, Target, no_preview, send};
use crate::ids::{self, MessageRef};
use crate::outcome;
use crate::render::{self, Part, Text};

/// Shows a message in the place of these parts. What has become longer goes on in new messages, what has become shorter
/// loses its last ones. The press that it answers, if it is still open, is answered by its first line.
pub(crate) async fn edit(telegram: &Telegram, parts: &[EventId], letter: Letter<'_>) -> Delivery {
    let rendered = match render::message(letter.message, letter.id) {
        Ok(rendered) => rendered,
        Err(unfit) => return Delivery::Permanent(unfit.to_string()),
    };
    let toast = rendered.first().and_then(first_line);
    let mut shown = Vec::new();
    let mut before = parts.iter();
    for part in rendered {
        let done = match (before.next(), part) {
            (Some(event), Part::Message(text)) => change(telegram, event, text).await.map(|()| event.clone()),
            (Some(_) | None, part) => match Target::of(&letter.message.to, letter.anchor) {
                Some(target) => send(telegram, target, part, false).await,
                None => return Delivery::Permanent("it goes to a thread that is none of Telegram's".to_owned()),
            },
        };
        match done {
            Ok(event) => shown.push(event),
            Err(trouble) => return outcome::delivery(&trouble),
        }
    }
    if let Err(trouble) = take_back(telegram, before.as_slice()).await {
        return outcome::delivery(&trouble);
    }
    if let Some(callback) = letter.anchor.and_then(ids::callback_of).filter(|id| telegram.callbacks.close(id)) {
        answer_soon(&telegram.api, callback.to_owned(), toast);
    }
    Delivery::Sent(shown)
}

/// Takes messages back.
pub(crate) async fn retract(telegram: &Telegram, parts: &[EventId]) -> Delivery {
    match take_back(telegram, parts).await {
        Ok(()) => Delivery::Sent(Vec::new()),
        Err(trouble) => outcome::delivery(&trouble),
    }
}

async fn take_back(telegram: &Telegram, parts: &[EventId]) -> Result<(), Trouble> {
    for message in parts.iter().filter_map(MessageRef::of) {
        let payload = DeleteMessage::new(ChatId(message.chat), MessageId(message.message));
        match telegram.api.call::<_, IgnoredAny>(&payload).await {
            Err(trouble) if !outcome::is_gone(&trouble) => return Err(trouble),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Shows this text in the place of a message, without buttons.
async fn change(telegram: &Telegram, event: &EventId, text: Text) -> Result<(), Trouble> {
    let Some(message) = MessageRef::of(event) else { return Ok(()) };
    let mut payload = EditMessageText::new(ChatId(message.chat), MessageId(message.message), text.html);
    payload.parse_mode = Some(ParseMode::Html);
    payload.link_preview_options = Some(no_preview());
    let done = match telegram.api.call::<_, IgnoredAny>(&payload).await {
        Err(trouble) if outcome::is_unparsable(&trouble) => {
            tracing::error!(%trouble, "Telegram cannot read the markup of an edit; it is made without");
            payload.text = text.plain;
            payload.parse_mode = None;
            telegram.api.call::<_, IgnoredAny>(&payload).await
        }
        done => done,
    };
    match done {
        Err(trouble) if !outcome::is_unchanged(&trouble) => Err(trouble),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// What a press is answered with: the first line, as far as it fits.
fn first_line(part: &Part) -> Option<String> {
    match part {
        Part::Message(text) => {
            text.plain.lines().next().map(|line| countersign_core::text::cut(line, TEXT_UNITS_MAX / 2))
        }
        Part::Document { .. } => None,
    }
}
