//! Putting right what was sent: a message shown in the place of another, part for part, and messages taken back. That one is
//! gone already is success.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use countersign_core::port::Delivery;
use countersign_core::signal::{EventId, ThreadKey};
use matrix_sdk::Room;
use matrix_sdk::room::{IncludeRelations, RelationsOptions};
use matrix_sdk::ruma::OwnedEventId;
use matrix_sdk::ruma::events::relation::RelationType;
use matrix_sdk::ruma::events::room::message::ReplacementMetadata;
use matrix_sdk::ruma::uint;

use crate::Matrix;
use crate::deliver::{Letter, said, target};
use crate::ids;
use crate::outcome::{self, Trouble};
use crate::render::{self, Text};

/// The most messages of which it is remembered which reactions the bot gave to them. Of others the homeserver is asked.
const SEEDED_MAX: usize = 1_000;

/// Which reactions the bot gave to its messages.
#[derive(Default)]
pub(crate) struct Seeds(Mutex<VecDeque<(OwnedEventId, Vec<OwnedEventId>)>>);

impl Seeds {
    /// These are all that it gave to a message.
    pub(crate) fn are(&self, on: &OwnedEventId, reactions: Vec<OwnedEventId>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(known, _)| known != on);
        if all.len() >= SEEDED_MAX {
            all.pop_front();
        }
        all.push_back((on.clone(), reactions));
    }

    /// What it gave; none where that is not known.
    fn of(&self, on: &OwnedEventId) -> Option<Vec<OwnedEventId>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(known, _)| known == on).map(|(_, reactions)| reactions.clone())
    }
}

/// Shows a message in the place of these parts; where it is shorter, the last ones go. Where it has no buttons, the reactions
/// that stood for them go, too.
pub(crate) async fn edit(matrix: &Matrix, parts: &[EventId], letter: Letter<'_>) -> Delivery {
    let target = match target(matrix, &letter.message.to, letter.anchor).await {
        Ok(target) => target,
        Err(delivery) => return delivery,
    };
    let texts = match render::in_place(letter.message, parts.len()) {
        Ok(texts) => texts,
        Err(unfit) => return Delivery::Permanent(unfit.to_string()),
    };
    let (kept, left) = parts.split_at(texts.len().min(parts.len()));
    match change(matrix, &target.room, kept, texts, left).await {
        Ok(()) => Delivery::Sent(kept.to_vec()),
        Err(trouble) => outcome::delivery(&trouble),
    }
}

/// Takes messages back.
pub(crate) async fn retract(matrix: &Matrix, thread: &ThreadKey, parts: &[EventId]) -> Delivery {
    let target = match target(matrix, thread, None).await {
        Ok(target) => target,
        Err(delivery) => return delivery,
    };
    match take_back(&target.room, parts.iter().filter_map(ids::message_of)).await {
        Ok(()) => Delivery::Sent(Vec::new()),
        Err(trouble) => outcome::delivery(&trouble),
    }
}

async fn change(
    matrix: &Matrix,
    room: &Room,
    kept: &[EventId],
    texts: Vec<Text>,
    left: &[EventId],
) -> Result<(), Trouble> {
    for (event, text) in kept.iter().zip(texts) {
        let Some(event) = ids::message_of(event) else { continue };
        let has_buttons = !text.reactions.is_empty();
        let content = said(text).make_replacement(ReplacementMetadata::new(event.clone(), None));
        // Without a transaction id of its own: the same card is edited often, and an edit that is made twice is one.
        room.send(content).await?;
        if !has_buttons {
            clear(matrix, room, &event).await?;
        }
    }
    take_back(room, left.iter().filter_map(ids::message_of)).await
}

/// Takes the bot's own reactions from a message.
async fn clear(matrix: &Matrix, room: &Room, on: &OwnedEventId) -> Result<(), Trouble> {
    let seeds = match matrix.seeds.of(on) {
        Some(seeds) => seeds,
        None => asked(matrix, room, on).await?,
    };
    take_back(room, seeds.into_iter()).await?;
    matrix.seeds.are(on, Vec::new());
    Ok(())
}

/// The bot's own reactions to a message, as the homeserver knows them.
async fn asked(matrix: &Matrix, room: &Room, on: &OwnedEventId) -> Result<Vec<OwnedEventId>, Trouble> {
    let options = RelationsOptions {
        include_relations: IncludeRelations::RelationsOfType(RelationType::Annotation),
        limit: Some(uint!(100)),
        ..RelationsOptions::default()
    };
    let relations = room.relations(on.clone(), options).await?;
    let ours = relations.chunk.iter().filter(|event| event.sender().as_ref() == Some(&matrix.user));
    Ok(ours.filter_map(|event| event.event_id()).collect())
}

async fn take_back(room: &Room, events: impl Iterator<Item = OwnedEventId>) -> Result<(), Trouble> {
    for event in events {
        match room.redact(&event, None, None).await.map_err(Trouble::from) {
            Err(trouble) if !outcome::is_gone(&trouble) => return Err(trouble),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}
