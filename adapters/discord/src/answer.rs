//! Answering interactions: by a message of their own within three seconds, in the place of what was promised, or behind it.
//! The token of an interaction is good for fifteen minutes; what comes later goes like any other message.

use std::sync::Arc;

use reqwest::Method;
use serde::Deserialize;
use serenity::all::{ChannelId, MessageId};

use countersign_core::port::DeliveryNotes;

use crate::Discord;
use crate::api::{Api, Trouble};
use crate::body::{self, Body};
use crate::calls::{Calls, Stage};
use crate::ids::MessageRef;
use crate::outcome;
use crate::render::Part;
use crate::translate::{Call, Waits};

/// What a command is told of which nothing is heard in its place.
const ELSEWHERE: &str = "Done. What there is to say stands elsewhere.";

/// A message that Discord took.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Taken {
    id: MessageId,
    channel_id: ChannelId,
}

impl Taken {
    pub(crate) fn at(&self) -> MessageRef {
        MessageRef { channel: self.channel_id.get(), message: self.id.get() }
    }
}

/// What comes of an answer, where Discord tells.
#[derive(Deserialize)]
struct Response {
    resource: Option<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    message: Option<Taken>,
}

/// How a part is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// To one person alone.
    pub(crate) private: bool,
    /// The notes of its delivery, shown first.
    pub(crate) notes: DeliveryNotes,
}

/// Says one part to an interaction that was told this much; where it stands then, if it can be found there.
pub(crate) async fn say(
    api: &Api,
    call: &Call,
    stage: Stage,
    part: Part,
    manner: Manner,
) -> Result<Option<MessageRef>, Trouble> {
    let taken = match part {
        Part::Message(text) => {
            let body = Body::new(&text.noting(manner.notes));
            say_text(api, call, stage, if manner.private { body.private() } else { body }, manner).await?
        }
        Part::Document { name, bytes } => {
            let body = Body::of_file(manner.notes);
            let form = if manner.private { body.private() } else { body }.form(name, bytes)?;
            api.upload::<Taken>(&webhook(call), form).await?
        }
    };
    Ok((!manner.private).then(|| taken.at()))
}

async fn say_text(api: &Api, call: &Call, stage: Stage, body: Body, manner: Manner) -> Result<Taken, Trouble> {
    match (stage, &call.waits) {
        (Stage::Waiting, _) => match say_at_once(api, call, &body).await {
            // It came through before, or somebody said that an answer comes.
            Err(trouble) if outcome::is_answered_already(&trouble) => say_behind(api, call, &body, manner).await,
            done => done,
        },
        (Stage::Deferred, Waits::Command) => say_behind(api, call, &body, manner).await,
        (Stage::Deferred, Waits::Press) | (Stage::Busy | Stage::Answered, _) => {
            api.call(Method::POST, &webhook(call), &body).await
        }
    }
}

/// As the answer itself.
async fn say_at_once(api: &Api, call: &Call, body: &Body) -> Result<Taken, Trouble> {
    let path = format!("{}?with_response=true", callback(call));
    let response: Response = api.call(Method::POST, &path, &body::answer(body)).await?;
    match response.resource.and_then(|resource| resource.message) {
        Some(taken) => Ok(taken),
        None => api.get(&original(call)).await,
    }
}

/// In the place of what was promised; to one person alone only behind it, for what everybody has seen stays.
async fn say_behind(api: &Api, call: &Call, body: &Body, manner: Manner) -> Result<Taken, Trouble> {
    match call.waits {
        Waits::Command if !manner.private => api.call(Method::PATCH, &original(call), body).await,
        Waits::Command => {
            match api.delete(&original(call)).await {
                Err(trouble) if !outcome::is_gone(&trouble) => return Err(trouble),
                Ok(()) | Err(_) => {}
            }
            api.call(Method::POST, &webhook(call), body).await
        }
        Waits::Press => api.call(Method::POST, &webhook(call), body).await,
    }
}

/// Tells Discord in the background that an interaction is over: with some words for whoever caused it, or without.
pub(crate) fn finish_soon(discord: &Discord, (call, stage): (Call, Stage), words: Option<&'static str>) {
    let api = Arc::clone(&discord.api);
    tokio::spawn(async move {
        if let Err(trouble) = finish(&api, &call, stage, words).await {
            tracing::debug!(%trouble, "an interaction was not answered");
        }
    });
}

async fn finish(api: &Api, call: &Call, stage: Stage, words: Option<&str>) -> Result<(), Trouble> {
    let words = words.map(|words| Body::plain(words).private());
    match (stage, &call.waits, words) {
        (Stage::Waiting, _, Some(words)) => api.tell(Method::POST, &callback(call), &body::answer(&words)).await,
        (Stage::Waiting, Waits::Press, None) => api.tell(Method::POST, &callback(call), &body::acknowledged()).await,
        (Stage::Waiting, Waits::Command, None) => {
            let words = Body::plain(ELSEWHERE).private();
            api.tell(Method::POST, &callback(call), &body::answer(&words)).await
        }
        (Stage::Deferred, Waits::Command, words) => {
            api.delete(&original(call)).await?;
            match words {
                Some(words) => api.tell(Method::POST, &webhook(call), &words).await,
                None => Ok(()),
            }
        }
        (Stage::Deferred, Waits::Press, Some(words)) | (Stage::Answered | Stage::Busy, _, Some(words)) => {
            api.tell(Method::POST, &webhook(call), &words).await
        }
        (Stage::Deferred | Stage::Answered | Stage::Busy, _, None) => Ok(()),
    }
}

/// Sees to it that an interaction is answered in time, whatever else happens: once the time is nearly over, Discord is told
/// that an answer comes, which says nothing of what that is.
pub(crate) fn watch(discord: &Discord, call: &Call) {
    let (api, calls) = (Arc::clone(&discord.api), Arc::clone(&discord.calls));
    let (id, patience) = (call.id, discord.timing.patience);
    tokio::spawn(async move {
        tokio::time::sleep(patience).await;
        if let Some(call) = calls.take_waiting(id) {
            acknowledge(&api, &calls, &call).await;
        }
    });
}

/// The same at once, for an interaction that nobody else tells anything.
pub(crate) fn acknowledge_soon(discord: &Discord, call: Call) {
    let (api, calls) = (Arc::clone(&discord.api), Arc::clone(&discord.calls));
    tokio::spawn(async move { acknowledge(&api, &calls, &call).await });
}

async fn acknowledge(api: &Api, calls: &Calls, call: &Call) {
    let done = api.tell(Method::POST, &callback(call), &first_sign(call)).await;
    let stage = match done {
        Ok(()) => Stage::Deferred,
        Err(trouble) if outcome::is_answered_already(&trouble) => Stage::Deferred,
        Err(trouble) => {
            tracing::debug!(%trouble, "Discord was not told that an interaction was heard");
            Stage::Waiting
        }
    };
    calls.told(call.id, stage);
}

/// Asks whoever presses what says no for the reason, in the background. What they say comes as a press of its own; who says
/// nothing has pressed nothing.
pub(crate) fn ask_why_soon(discord: &Discord, call: &Call, data: &str) {
    let (api, path, body) = (Arc::clone(&discord.api), callback(call), body::why(data));
    tokio::spawn(async move {
        match api.tell(Method::POST, &path, &body).await {
            Err(trouble) if !outcome::is_answered_already(&trouble) => {
                tracing::warn!(%trouble, "nobody could be asked why they say no; they have to press again");
            }
            Ok(()) | Err(_) => {}
        }
    });
}

/// What says that an answer comes.
fn first_sign(call: &Call) -> serde_json::Value {
    match call.waits {
        Waits::Press => body::acknowledged(),
        Waits::Command => body::deferred(),
    }
}

/// Where the first answer goes.
pub(crate) fn callback(call: &Call) -> String {
    format!("/interactions/{}/{}/callback", call.id, call.token)
}

fn webhook(call: &Call) -> String {
    format!("/webhooks/{}/{}", call.application, call.token)
}

fn original(call: &Call) -> String {
    format!("{}/messages/@original", webhook(call))
}
