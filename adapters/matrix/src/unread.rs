//! What could not be decrypted: it is remembered and tried again, because its key may still come, and said where it stays
//! so.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::ruma::{OwnedEventId, OwnedRoomId};
use matrix_sdk::{Client, Room};
use tokio::time::Instant;

use countersign_core::signal::ConversationKind;

use crate::busy::{self, Notice};
use crate::outcome::{self, Trouble};
use crate::place::{Place, Unread};
use crate::{Matrix, facts, rooms};

/// The messages themselves, as long as the bot runs, and since when they wait.
#[derive(Default)]
pub(crate) struct Waiting(Mutex<BTreeMap<OwnedEventId, (TimelineEvent, Instant)>>);

impl Waiting {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<OwnedEventId, (TimelineEvent, Instant)>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn find(&self, event: &OwnedEventId) -> Option<(TimelineEvent, Instant)> {
        self.with(|waiting| waiting.get(event).cloned())
    }
}

/// Remembers a message that cannot be read.
pub(crate) fn put_off(matrix: &Matrix, place: &Place, room: &Room, event: TimelineEvent) {
    let Some(id) = event.event_id() else { return };
    let room = room.room_id().to_owned();
    tracing::warn!(%room, event = %id, "a message cannot be decrypted");
    place.put_off(Unread { room, event: id.clone(), said: false });
    matrix.waiting.with(|waiting| waiting.insert(id, (event, Instant::now())));
}

/// What can be read by now, the oldest first. What nobody has any more is forgotten.
pub(crate) async fn again(matrix: &Matrix, client: &Client, place: &Place) -> Vec<(OwnedRoomId, TimelineEvent)> {
    let mut readable = Vec::new();
    let unread = place.unread();
    matrix.waiting.with(|waiting| waiting.retain(|id, _| unread.iter().any(|unread| unread.event == *id)));
    for Unread { room: id, event, .. } in unread {
        let Some(room) = client.get_room(&id).filter(rooms::is_joined) else {
            place.settle(&event);
            continue;
        };
        match read(matrix, &room, &event).await {
            Ok(Some(found)) => {
                tracing::info!(room = %id, %event, "a message can be decrypted after all");
                place.settle(&event);
                readable.push((id, found));
            }
            Err(trouble) if outcome::is_gone(&trouble) => place.settle(&event),
            Ok(None) | Err(_) => {}
        }
    }
    readable
}

/// Tries to read it; none where its key is not there.
async fn read(matrix: &Matrix, room: &Room, event: &OwnedEventId) -> Result<Option<TimelineEvent>, Trouble> {
    let found = match matrix.waiting.find(event) {
        Some((known, _)) => room.decrypt_event(known.raw().cast_ref_unchecked(), None).await?,
        // From before the bot was started.
        None => room.event(event, None).await?,
    };
    if !found.kind.is_utd() {
        return Ok(Some(found));
    }
    matrix.waiting.with(|waiting| {
        waiting.entry(event.clone()).or_insert_with(|| (found, Instant::now()));
    });
    Ok(None)
}

/// Whether something waits of which nothing was said yet.
pub(crate) fn is_to_be_said(place: &Place) -> bool {
    place.unread().iter().any(|unread| !unread.said)
}

/// Says what stayed unreadable for long enough, each in its thread.
pub(crate) async fn say(matrix: &Matrix, client: &Client, place: &Place) {
    for Unread { room, event, said } in place.unread() {
        let Some((found, since)) = matrix.waiting.find(&event).filter(|_| !said) else { continue };
        let Some(room) = client.get_room(&room) else { continue };
        if since.elapsed() < matrix.timing.unread {
            continue;
        }
        place.said(&event);
        let is_direct = rooms::kind(&room).await == ConversationKind::Direct;
        let root = facts::root(&found).filter(|root| !is_direct || *root != event);
        let sender = found.sender().map(|sender| format!(" of {sender}")).unwrap_or_default();
        busy::tell_with(matrix, &room, root, Notice::Unreadable, unreadable(&sender));
    }
}

fn unreadable(whose: &str) -> String {
    format!(
        "I could not decrypt a message{whose} here, so I do not know what it says. If its key still comes, I take it up \
         then; otherwise please send it again."
    )
}
