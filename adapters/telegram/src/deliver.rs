//! Sending a message: its parts in their order, each once. Where it breaks off in the middle, what is out is remembered, so
//! that the next attempt goes on there.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use reqwest::multipart::{Form, Part as File};
use serde::Deserialize;
use teloxide::payloads::SendMessage;
use teloxide::types::{
    ChatId, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, MessageId, ParseMode, ReplyMarkup,
    ReplyParameters, ThreadId,
};

use countersign_core::port::{Delivery, DeliveryNotes, Lane, Outgoing, Visibility};
use countersign_core::signal::{EventId, ThreadKey};

use crate::api::{Refusal, Trouble};
use crate::callbacks::{TEXT_UNITS_MAX, answer};
use crate::ids::{self, MessageRef, Root};
use crate::moved::{MovedChats, first};
use crate::outcome;
use crate::render::{self, Keyboard, Part, Text};
use crate::{Telegram, chat_of};

/// The most deliveries that broke off and are remembered.
const UNFINISHED_MAX: usize = 256;

/// A message on its way, without its seal.
#[derive(Clone, Copy)]
pub(crate) struct Letter<'a> {
    /// The id of its outbox row.
    pub(crate) id: &'a str,
    pub(crate) message: &'a Outgoing,
    /// The notes of its delivery, shown first.
    pub(crate) notes: DeliveryNotes,
    /// The event that it answers.
    pub(crate) anchor: Option<&'a EventId>,
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) chat: i64,
    topic: Option<i32>,
    /// The message that the first part answers, where threads are chains of replies.
    reply_to: Option<i32>,
    /// Whether nobody's phone rings.
    silent: bool,
}

impl Target {
    /// None where the thread is none of Telegram's. What was said before a group became a supergroup cannot be answered there.
    pub(crate) fn of(to: &ThreadKey, anchor: Option<&EventId>, moved: &MovedChats) -> Option<Self> {
        let first = chat_of(to)?;
        let chat = moved.newest(first);
        let target = Self { chat, topic: None, reply_to: None, silent: false };
        Some(match Root::of(&to.root)? {
            Root::Private | Root::General => target,
            Root::Topic(topic) => Self { topic: Some(topic), ..target },
            Root::Chain(message) => target.answering(anchor, MessageRef { chat: first, message }),
            Root::MovedChain { chat, message } => target.answering(anchor, MessageRef { chat, message }),
        })
    }

    /// Answers the anchor or the message that began the thread, whichever is first in this chat.
    fn answering(self, anchor: Option<&EventId>, root: MessageRef) -> Self {
        let answered = anchor.and_then(MessageRef::of).into_iter().chain([root]).find(|one| one.chat == self.chat);
        Self { reply_to: answered.map(|answered| answered.message), ..self }
    }
}

/// What Telegram says of a message that it took.
#[derive(Deserialize)]
struct Taken {
    message_id: i32,
}

/// The deliveries that broke off, by their outbox row, with what is out of each.
#[derive(Default)]
pub(crate) struct Unfinished(Mutex<VecDeque<(String, Vec<EventId>)>>);

impl Unfinished {
    fn take(&self, id: &str) -> Vec<EventId> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(known, _)| known == id);
        at.and_then(|at| all.remove(at)).map(|(_, sent)| sent).unwrap_or_default()
    }

    fn keep(&self, id: &str, sent: Vec<EventId>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= UNFINISHED_MAX {
            all.pop_front();
        }
        all.push_back((id.to_owned(), sent));
    }
}

/// Sends a message.
pub(crate) async fn deliver(telegram: &Telegram, letter: Letter<'_>) -> Delivery {
    let parts = match render::message(letter.message, letter.id) {
        Ok(parts) => parts,
        Err(unfit) => return Delivery::Permanent(unfit.to_string()),
    };
    if let Some(done) = privately(telegram, letter, &parts).await {
        return done;
    }
    let Some(target) = Target::of(&letter.message.to, letter.anchor, &telegram.moved) else {
        return Delivery::Permanent("it goes to a thread that is none of Telegram's".to_owned());
    };
    let target = Target { silent: letter.message.lane == Lane::Progress, ..target };
    let mut sent = telegram.unfinished.take(letter.id);
    let mut notes = letter.notes;
    for part in parts.into_iter().skip(sent.len()) {
        let target = Target { reply_to: target.reply_to.filter(|_| sent.is_empty()), ..target };
        match send(telegram, target, part, notes).await {
            Ok(event) => sent.push(event),
            Err(trouble) => {
                if !sent.is_empty() {
                    telegram.unfinished.keep(letter.id, sent);
                }
                return not_sent(telegram, target.chat, &trouble);
            }
        }
        notes = DeliveryNotes::default();
    }
    Delivery::Sent(sent)
}

/// Returns the outcome of a failed call. A message to a group that has become a supergroup is sent again, as soon as that is known.
fn not_sent(telegram: &Telegram, chat: i64, trouble: &Trouble) -> Delivery {
    match trouble {
        Trouble::Refused(Refusal { moved_to: Some(newest), from_telegram: true, .. }) => {
            // Only the notice that Telegram puts into the chats is stored, with what it changes for the rights there.
            let is_known = telegram.moved.newest(first(&telegram.moved.known(), chat)) == *newest;
            let waits = "the group is a supergroup by now, and its notice of that did not come yet".to_owned();
            if is_known { Delivery::RetryAfter(1) } else { Delivery::Retryable(waits) }
        }
        other => outcome::delivery(other),
    }
}

/// Shows a message to nobody but whoever pressed the button that it answers, where that is still possible. None where it has
/// to be sent like any other.
async fn privately(telegram: &Telegram, letter: Letter<'_>, parts: &[Part]) -> Option<Delivery> {
    let callback = letter.anchor.and_then(ids::callback_of).filter(|callback| telegram.callbacks.is_open(callback))?;
    let (Visibility::Only(_), [Part::Message(text)]) = (&letter.message.visibility, parts) else { return None };
    if text.keyboard.is_some() {
        return None;
    }
    match answer(&telegram.api, callback, Some(in_a_window(&text.plain)), true).await {
        Ok(()) => {
            telegram.callbacks.close(callback);
            Some(Delivery::Sent(Vec::new()))
        }
        // Too old to be answered, or answered already: then by the attempt that may have come through, and what only one
        // person was to see must not go to all.
        Err(Trouble::Refused(Refusal { code: 400, from_telegram: true, .. })) => {
            telegram.callbacks.close(callback);
            letter.notes.repeat.then(|| Delivery::Sent(Vec::new()))
        }
        Err(trouble) => Some(outcome::delivery(&trouble)),
    }
}

/// As many whole lines of a text as Telegram shows in a window, the first cut where it alone is too long. What does not fit
/// is no reason to tell everybody.
fn in_a_window(text: &str) -> &str {
    let fits = |text: &str| text.encode_utf16().count() <= TEXT_UNITS_MAX;
    let lines = text.match_indices('\n').map(|(at, _)| at).chain([text.len()]);
    let whole = lines.filter_map(|at| text.get(..at)).take_while(|text| fits(text)).last();
    let cut = || text.char_indices().filter_map(|(at, _)| text.get(..at)).take_while(|text| fits(text)).last();
    whole.or_else(cut).unwrap_or_default()
}

/// Sends one part.
pub(crate) async fn send(
    telegram: &Telegram,
    to: Target,
    part: Part,
    notes: DeliveryNotes,
) -> Result<EventId, Trouble> {
    let taken = match part {
        Part::Message(text) => send_text(telegram, to, text.noting(notes)).await?,
        Part::Document { name, bytes } => {
            let form = file(to, name, bytes, notes)?;
            telegram.api.upload::<Taken>("SendDocument", form).await?
        }
    };
    Ok(MessageRef { chat: to.chat, message: taken.message_id }.event())
}

/// As HTML; without markup only where Telegram cannot read that.
async fn send_text(telegram: &Telegram, to: Target, text: Text) -> Result<Taken, Trouble> {
    let mut payload = SendMessage::new(ChatId(to.chat), text.html);
    payload.parse_mode = Some(ParseMode::Html);
    payload.message_thread_id = to.topic.map(|topic| ThreadId(MessageId(topic)));
    payload.reply_parameters = to.reply_to.map(reply);
    payload.disable_notification = to.silent.then_some(true);
    payload.link_preview_options = Some(no_preview());
    payload.reply_markup = text.keyboard.as_ref().map(|keyboard| ReplyMarkup::InlineKeyboard(markup(keyboard)));
    match telegram.api.call(&payload).await {
        Err(trouble) if outcome::is_unparsable(&trouble) => {
            tracing::error!(%trouble, "Telegram cannot read the markup of a message; it is sent without");
            payload.text = text.plain;
            payload.parse_mode = None;
            telegram.api.call(&payload).await
        }
        done => done,
    }
}

fn file(to: Target, name: String, bytes: Vec<u8>, notes: DeliveryNotes) -> Result<Form, Trouble> {
    let file = File::bytes(bytes).file_name(name).mime_str("text/plain");
    let file = file.map_err(|error| Trouble::Unsent(error.to_string()))?;
    let mut form = Form::new().text("chat_id", to.chat.to_string()).part("document", file);
    if let Some(topic) = to.topic {
        form = form.text("message_thread_id", topic.to_string());
    }
    if to.silent {
        form = form.text("disable_notification", "true");
    }
    if let Some(notes) = notes.text() {
        form = form.text("caption", notes);
    }
    Ok(form)
}

/// The message may be gone by now; then this one stands alone.
fn reply(message: i32) -> ReplyParameters {
    ReplyParameters::new(MessageId(message)).allow_sending_without_reply()
}

/// What a tool says must not make Telegram fetch an address.
pub(crate) const fn no_preview() -> LinkPreviewOptions {
    LinkPreviewOptions {
        is_disabled: true,
        url: None,
        prefer_small_media: false,
        prefer_large_media: false,
        show_above_text: false,
    }
}

pub(crate) fn markup(keyboard: &Keyboard) -> InlineKeyboardMarkup {
    let rows = keyboard
        .0
        .iter()
        .map(|row| row.iter().map(|button| InlineKeyboardButton::callback(button.label.clone(), button.data.clone())));
    InlineKeyboardMarkup::new(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_shows_whole_lines_and_never_more_than_it_may() {
        let (first, second) = ("a".repeat(150), "b".repeat(49));
        assert_eq!(in_a_window("short\nand whole"), "short\nand whole");
        assert_eq!(in_a_window(&format!("{first}\n{second}")).len(), 200);
        assert_eq!(in_a_window(&format!("{first}\n{second}b")), first);
        assert_eq!(in_a_window(&"x".repeat(201)), "x".repeat(200));
        assert_eq!(in_a_window(&"😀".repeat(101)), "😀".repeat(100), "it counts as Telegram does");
    }
}
