//! Putting right what was sent: a message shown in the place of another, part for part, and messages
//! taken back. That it reads the same already, or is gone already, is success.

use serde::de::IgnoredAny;
use teloxide::payloads::{DeleteMessage, EditMessageText};
use teloxide::types::{ChatId, MessageId, ParseMode};

use countersign_core::port::{Block, Delivery, Outgoing};
use countersign_core::signal::EventId;

use crate::Telegram;
use crate::api::Trouble;
use crate::callbacks::{TEXT_UNITS_MAX, answer_soon};
use crate::deliver::{Letter, markup, no_preview};
use crate::ids::MessageRef;
use crate::outcome;
use crate::render::{self, Text};

/// Shows a message in the place of these parts; where it is shorter, the last ones go. Its buttons are those that it has
/// itself: none, unless it is a card that still waits. The press that it answers, if that is open, is answered by its last
/// line of prose: on a card that is how the plan stands.
pub(crate) async fn edit(telegram: &Telegram, parts: &[EventId], letter: Letter<'_>) -> Delivery {
    let texts = match render::in_place(letter.message, letter.id, parts.len()) {
        Ok(texts) => texts,
        Err(unfit) => return Delivery::Permanent(unfit.to_string()),
    };
    let (kept, left) = parts.split_at(texts.len().min(parts.len()));
    for (event, text) in kept.iter().zip(texts) {
        if let Err(trouble) = change(telegram, event, text).await {
            return outcome::delivery(&trouble);
        }
    }
    if let Err(trouble) = take_back(telegram, left).await {
        return outcome::delivery(&trouble);
    }
    if let Some(callback) = telegram.callbacks.close_of(&letter.message.answers) {
        answer_soon(&telegram.api, callback, last_line(letter.message));
    }
    Delivery::Sent(kept.to_vec())
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
            Err(trouble) if !outcome::is_gone(&trouble) && !outcome::is_closed(&trouble) => return Err(trouble),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Shows this text in the place of a message.
async fn change(telegram: &Telegram, event: &EventId, text: Text) -> Result<(), Trouble> {
    let Some(message) = MessageRef::of(event) else { return Ok(()) };
    let mut payload = EditMessageText::new(ChatId(message.chat), MessageId(message.message), text.html);
    payload.parse_mode = Some(ParseMode::Html);
    payload.link_preview_options = Some(no_preview());
    payload.reply_markup = text.keyboard.as_ref().map(markup);
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
        Err(trouble) if !outcome::is_unchanged(&trouble) && !outcome::is_closed(&trouble) => Err(trouble),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// What a press is answered with: the last line of prose, as far as it fits.
fn last_line(message: &Outgoing) -> Option<String> {
    let prose = message.blocks.iter().rev().find_map(|block| match block {
        Block::Text { text } => text.lines().next_back(),
        Block::Quote { .. }
        | Block::Code { .. }
        | Block::Fields { .. }
        | Block::Table { .. }
        | Block::Choices { .. }
        | Block::Card { .. } => None,
    });
    prose.map(|line| countersign_core::text::cut(line, TEXT_UNITS_MAX / 2))
}
