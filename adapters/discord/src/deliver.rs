//! Sending a message: its parts in their order, each once. Where it breaks off in the middle, what is out is remembered, so
//! that the next attempt goes on there.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use reqwest::Method;
use serde::de::IgnoredAny;
use serde_json::json;

use countersign_core::port::{Block, Delivery, DeliveryNotes, Lane, Outgoing, Visibility};
use countersign_core::signal::{EventId, ThreadKey};

use crate::Discord;
use crate::answer::{Manner, Taken, say};
use crate::api::Trouble;
use crate::body::Body;
use crate::calls::Stage;
use crate::ids::{self, MessageRef, Root};
use crate::outcome;
use crate::render::{self, Part};
use crate::translate::{Call, Waits};

/// The most deliveries that broke off and are remembered.
const UNFINISHED_MAX: usize = 256;

/// How much of the outbox row's id stands in a nonce, from its end: Discord takes 25 characters, and the part needs some.
const NONCE_CHARS: usize = 20;

/// How long a delivery waits while Discord is being told that it comes, in milliseconds.
const BUSY_MS: u64 = 250;

/// The most characters of a thread's name, of the 100 that Discord takes.
const NAME_CHARS_MAX: usize = 80;

/// After how many minutes without a word Discord hides a thread: a day.
const ARCHIVE_MINUTES: u32 = 1440;

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
struct Target {
    /// The channel of the room, or the direct conversation.
    room: u64,
    /// The thread in it.
    thread: Option<u64>,
    /// The message that the first part answers, where threads are chains of replies.
    reply_to: Option<u64>,
}

impl Target {
    /// None where the thread is none of Discord's.
    fn of(to: &ThreadKey, anchor: Option<&EventId>) -> Option<Self> {
        let room = ids::number(to.conversation.as_str())?;
        let target = Self { room, thread: None, reply_to: None };
        let anchor = anchor.and_then(MessageRef::of).filter(|anchor| anchor.channel == room);
        let anchor = anchor.map(|anchor| anchor.message);
        Some(match Root::of(&to.root)? {
            Root::Direct => target,
            Root::Thread(thread) => Self { thread: Some(thread), ..target },
            Root::Chain(first) => Self { reply_to: Some(anchor.unwrap_or(first)), ..target },
            Root::Command(_) => Self { reply_to: anchor, ..target },
        })
    }
}

/// The deliveries that broke off, by their outbox row, with what is out of each; a part that one person alone saw has no
/// name.
#[derive(Default)]
pub(crate) struct Unfinished(Mutex<VecDeque<(String, Vec<Option<MessageRef>>)>>);

impl Unfinished {
    fn take(&self, id: &str) -> Vec<Option<MessageRef>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(known, _)| known == id);
        at.and_then(|at| all.remove(at)).map(|(_, sent)| sent).unwrap_or_default()
    }

    fn keep(&self, id: &str, sent: Vec<Option<MessageRef>>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= UNFINISHED_MAX {
            all.pop_front();
        }
        all.push_back((id.to_owned(), sent));
    }
}

/// Sends a message.
pub(crate) async fn deliver(discord: &Discord, letter: Letter<'_>) -> Delivery {
    let parts = match render::message(letter.message, letter.id) {
        Ok(parts) => parts,
        Err(unfit) => return Delivery::Permanent(unfit.to_string()),
    };
    let mut sent = discord.unfinished.take(letter.id);
    let done = match by_call(discord, letter, &parts, &mut sent).await {
        Some(done) => done,
        None => by_post(discord, letter, &parts, &mut sent).await,
    };
    match done {
        Ok(()) => Delivery::Sent(sent.into_iter().flatten().map(MessageRef::event).collect()),
        Err(delivery) => {
            if !sent.is_empty() {
                discord.unfinished.keep(letter.id, sent);
            }
            delivery
        }
    }
}

/// Says it to the interaction that it answers, where that is still possible. None where it has to be sent like any other.
async fn by_call(
    discord: &Discord,
    letter: Letter<'_>,
    parts: &[Part],
    sent: &mut Vec<Option<MessageRef>>,
) -> Option<Result<(), Delivery>> {
    let id = letter.anchor.and_then(ids::interaction_of)?;
    let private = matches!(letter.message.visibility, Visibility::Only(_));
    let call = discord.calls.find(id)?;
    if call.waits == Waits::Press && !(private && is_only_said(parts)) {
        return None;
    }
    let stage = discord.calls.take(id)?;
    if stage == Stage::Busy {
        return Some(Err(Delivery::RetryAfter(BUSY_MS)));
    }
    let said = say_all(discord, (&call, stage), parts, sent, Manner { private, notes: letter.notes }).await;
    match said {
        Ok(()) => {
            discord.calls.told(id, Stage::Answered);
            Some(Ok(()))
        }
        Err((_, trouble)) if outcome::is_too_late(&trouble) => {
            discord.calls.close(id);
            None
        }
        Err((stage, trouble)) => {
            discord.calls.told(id, stage);
            Some(Err(outcome::delivery(&trouble)))
        }
    }
}

/// Whether nothing of it can be pressed, and none of it is a file.
fn is_only_said(parts: &[Part]) -> bool {
    parts.iter().all(|part| matches!(part, Part::Message(text) if text.keyboard.is_none()))
}

/// Says the parts that are not out yet. Where it breaks off, the interaction was told this much.
async fn say_all(
    discord: &Discord,
    (call, mut stage): (&Call, Stage),
    parts: &[Part],
    sent: &mut Vec<Option<MessageRef>>,
    mut manner: Manner,
) -> Result<(), (Stage, Trouble)> {
    for part in parts.iter().skip(sent.len()) {
        let said = say(&discord.api, call, stage, part.clone(), manner).await;
        sent.push(said.map_err(|trouble| (stage, trouble))?);
        stage = Stage::Answered;
        manner.notes = DeliveryNotes::default();
    }
    Ok(())
}

/// Sends it as messages.
async fn by_post(
    discord: &Discord,
    letter: Letter<'_>,
    parts: &[Part],
    sent: &mut Vec<Option<MessageRef>>,
) -> Result<(), Delivery> {
    let Some(target) = Target::of(&letter.message.to, letter.anchor) else {
        return Err(Delivery::Permanent("it goes to a thread that is none of Discord's".to_owned()));
    };
    let silent = letter.message.lane == Lane::Progress;
    let mut notes = letter.notes;
    for part in parts.iter().skip(sent.len()) {
        let reply_to = target.reply_to.filter(|_| sent.is_empty());
        let body = match part {
            Part::Message(text) => Body::new(&text.clone().noting(notes)),
            Part::Document { .. } => Body::of_file(notes),
        };
        let body = body.answering(reply_to).silent(silent).once(nonce(letter.id, sent.len()));
        let posted = post_in(discord, letter, target, part, &body).await;
        sent.push(Some(posted.map_err(|trouble| outcome::delivery(&trouble))?));
        notes = DeliveryNotes::default();
    }
    Ok(())
}

/// By which Discord knows a part that is sent again.
fn nonce(post: &str, part: usize) -> String {
    let start = post.len().saturating_sub(NONCE_CHARS);
    format!("{}.{part}", post.get(start..).unwrap_or(post))
}

/// Posts a part where it belongs. The thread of a question is made when the first answer needs it.
async fn post_in(
    discord: &Discord,
    letter: Letter<'_>,
    target: Target,
    part: &Part,
    body: &Body,
) -> Result<MessageRef, Trouble> {
    let Some(thread) = target.thread else { return post(discord, target.room, part, body).await };
    match post(discord, thread, part, body).await {
        Err(trouble) if outcome::is_no_channel(&trouble) && discord.has_own_threads(target.room) => {}
        done => return done,
    }
    match open_thread(discord, letter, target.room, thread).await {
        Ok(()) => post(discord, thread, part, body).await,
        // The question is gone: it is answered all the same.
        Err(trouble) if outcome::is_gone(&trouble) => post(discord, target.room, part, body).await,
        Err(trouble) => Err(trouble),
    }
}

/// Makes a thread from a message, whose number it then has.
async fn open_thread(discord: &Discord, letter: Letter<'_>, room: u64, message: u64) -> Result<(), Trouble> {
    let path = format!("/channels/{room}/messages/{message}/threads");
    let body = json!({"name": name_of(letter.message), "auto_archive_duration": ARCHIVE_MINUTES});
    match discord.api.call::<IgnoredAny>(Method::POST, &path, &body).await {
        Err(trouble) if !outcome::is_thread_already(&trouble) => Err(trouble),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// What a thread is called that begins with this answer.
fn name_of(message: &Outgoing) -> String {
    let first = message.blocks.iter().find_map(|block| match block {
        Block::Text { text } => text.lines().map(str::trim).find(|line| !line.is_empty()),
        Block::Quote { .. }
        | Block::Code { .. }
        | Block::Fields { .. }
        | Block::Table { .. }
        | Block::Choices { .. }
        | Block::Card { .. } => None,
    });
    countersign_core::text::cut(first.unwrap_or("Answer"), NAME_CHARS_MAX)
}

async fn post(discord: &Discord, channel: u64, part: &Part, body: &Body) -> Result<MessageRef, Trouble> {
    let path = format!("/channels/{channel}/messages");
    let taken: Taken = match part {
        Part::Message(_) => discord.api.call(Method::POST, &path, body).await?,
        Part::Document { name, bytes } => discord.api.upload(&path, body.form(name.clone(), bytes.clone())?).await?,
    };
    Ok(taken.at())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_the_parts_own_and_short_enough() {
        let post = "0198a7c2d4e57f3a9b1c2d3e4f506172";
        assert_eq!(nonce(post, 0), "7f3a9b1c2d3e4f506172.0");
        assert!(nonce(post, 9999).len() <= 25 && nonce(post, 1) != nonce(post, 0));
        assert_eq!(nonce("short", 2), "short.2");
    }
}
