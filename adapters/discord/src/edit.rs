//! Putting right what was sent: a message shown in the place of another, part for part, and messages taken back. That one is
//! gone already is success.

use reqwest::Method;

use countersign_core::port::Delivery;
use countersign_core::signal::EventId;

use crate::Discord;
use crate::answer::acknowledge_soon;
use crate::api::Trouble;
use crate::body::Body;
use crate::calls::Stage;
use crate::deliver::Letter;
use crate::ids::{self, MessageRef};
use crate::outcome;
use crate::render;
use crate::translate::Waits;

/// Shows a message in the place of these parts; where it is shorter, the last ones go. Its buttons are those that it has
/// itself: none, unless it is a card that still waits. The press that it answers stops spinning.
pub(crate) async fn edit(discord: &Discord, parts: &[EventId], letter: Letter<'_>) -> Delivery {
    let texts = match render::in_place(letter.message, letter.id, parts.len()) {
        Ok(texts) => texts,
        Err(unfit) => return Delivery::Permanent(unfit.to_string()),
    };
    let (kept, left) = parts.split_at(texts.len().min(parts.len()));
    for (event, text) in kept.iter().zip(texts) {
        let Some(at) = MessageRef::of(event) else { continue };
        if let Err(trouble) = discord.api.tell(Method::PATCH, &path(at), &Body::new(&text)).await {
            return outcome::delivery(&trouble);
        }
    }
    if let Err(trouble) = take_back(discord, left).await {
        return outcome::delivery(&trouble);
    }
    stop_spinning(discord, letter.anchor);
    Delivery::Sent(kept.to_vec())
}

/// Takes messages back.
pub(crate) async fn retract(discord: &Discord, parts: &[EventId]) -> Delivery {
    match take_back(discord, parts).await {
        Ok(()) => Delivery::Sent(Vec::new()),
        Err(trouble) => outcome::delivery(&trouble),
    }
}

async fn take_back(discord: &Discord, parts: &[EventId]) -> Result<(), Trouble> {
    for at in parts.iter().filter_map(MessageRef::of) {
        match discord.api.delete(&path(at)).await {
            Err(trouble) if !outcome::is_gone(&trouble) => return Err(trouble),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// A press whose card says by now what became of it is answered. What else is said to it still finds its way.
fn stop_spinning(discord: &Discord, anchor: Option<&EventId>) {
    let Some(call) = anchor.and_then(ids::interaction_of).and_then(|id| discord.calls.take_waiting(id)) else { return };
    match call.waits {
        Waits::Press => acknowledge_soon(discord, call),
        Waits::Command => discord.calls.told(call.id, Stage::Waiting),
    }
}

fn path(at: MessageRef) -> String {
    format!("/channels/{}/messages/{}", at.channel, at.message)
}
