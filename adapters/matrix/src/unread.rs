//! What could not be decrypted: it is remembered and tried again, because its key may still come, and said where it stays
//! so.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::ruma::{OwnedEventId, OwnedRoomId, OwnedUserId, UserId};
use matrix_sdk::{Client, Room};
use tokio::time::Instant;

use countersign_core::signal::ConversationKind;

use crate::outcome::{self, Trouble};
use crate::place::{Place, Unread};
use crate::{Matrix, busy, facts, rooms};

/// The messages themselves, as long as the bot runs, and since when they wait.
#[derive(Default)]
pub(crate) struct Waiting(Mutex<Known>);

#[derive(Default)]
struct Known {
    events: BTreeMap<OwnedEventId, (TimelineEvent, Instant)>,
    /// When something was said last, in which room and of whose messages.
    told: BTreeMap<(OwnedRoomId, OwnedUserId), Instant>,
}

impl Waiting {
    fn with<T>(&self, act: impl FnOnce(&mut Known) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn find(&self, event: &OwnedEventId) -> Option<(TimelineEvent, Instant)> {
        self.with(|known| known.events.get(event).cloned())
    }

    /// Whether something may be said there of this sender's messages now; then it was.
    fn may_tell(&self, room: &OwnedRoomId, sender: &OwnedUserId, quiet: Duration) -> bool {
        self.with(|known| {
            let now = Instant::now();
            known.told.retain(|_, when| now.duration_since(*when) < quiet);
            match known.told.entry((room.clone(), sender.clone())) {
                Entry::Occupied(_) => false,
                Entry::Vacant(vacant) => {
                    vacant.insert(now);
                    true
                }
            }
        })
    }
}

/// Remembers a message that cannot be read.
pub(crate) fn put_off(matrix: &Matrix, place: &Place, room: &Room, event: TimelineEvent) {
    let (Some(id), Some(sender)) = (event.event_id(), event.sender()) else { return };
    let room = room.room_id().to_owned();
    tracing::warn!(%room, event = %id, "a message cannot be decrypted");
    place.put_off(Unread { room, event: id.clone(), sender: Some(sender), said: false });
    matrix.waiting.with(|known| known.events.insert(id, (event, Instant::now())));
}

/// What can be read by now, the oldest first. What nobody has any more is forgotten.
pub(crate) async fn again(matrix: &Matrix, client: &Client, place: &Place) -> Vec<(OwnedRoomId, TimelineEvent)> {
    let mut readable = Vec::new();
    let unread = place.unread();
    matrix.waiting.with(|known| known.events.retain(|id, _| unread.iter().any(|unread| unread.event == *id)));
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
    matrix.waiting.with(|known| {
        known.events.entry(event.clone()).or_insert_with(|| (found, Instant::now()));
    });
    Ok(None)
}

/// Whether something waits of which nothing was said yet.
pub(crate) fn is_to_be_said(place: &Place) -> bool {
    place.unread().iter().any(|unread| !unread.said)
}

/// What is said at once: the messages of one sender in one thread. Those that are in no thread are together.
#[derive(Debug, PartialEq, Eq)]
struct Telling {
    room: OwnedRoomId,
    sender: OwnedUserId,
    thread: Option<OwnedEventId>,
    /// The oldest first.
    events: Vec<OwnedEventId>,
}

/// What stayed unreadable for long enough, the oldest first.
fn due(matrix: &Matrix, place: &Place) -> Vec<Telling> {
    let mut tellings: Vec<Telling> = Vec::new();
    for Unread { room, event, said, .. } in place.unread() {
        let Some((found, since)) = matrix.waiting.find(&event).filter(|_| !said) else { continue };
        let Some(sender) = found.sender().filter(|_| since.elapsed() >= matrix.timing.unread) else { continue };
        let thread = facts::root(&found).filter(|root| *root != event);
        let same = |other: &&mut Telling| (&other.room, &other.sender, &other.thread) == (&room, &sender, &thread);
        match tellings.iter_mut().find(same) {
            Some(telling) => telling.events.push(event),
            None => tellings.push(Telling { room, sender, thread, events: vec![event] }),
        }
    }
    tellings
}

/// Says what stayed unreadable for long enough, each in its thread. Of one sender's messages once in a while: who sends many
/// must neither fill a room with this nor keep others from being told. What could not be said is said later.
pub(crate) async fn say(matrix: &Matrix, client: &Client, place: &Place) {
    for Telling { room, sender, thread, events } in due(matrix, place) {
        let Some(room) = client.get_room(&room) else { continue };
        if !matrix.waiting.may_tell(&room.room_id().to_owned(), &sender, matrix.timing.quiet) {
            continue;
        }
        let is_direct = rooms::kind(&room).await == ConversationKind::Direct;
        let thread = thread.or_else(|| events.first().filter(|_| !is_direct).cloned());
        let place = place.clone();
        tokio::spawn(async move {
            if let Err(trouble) = busy::say(&room, thread, unreadable(&sender, events.len())).await {
                tracing::warn!(room = %room.room_id(), %trouble, "a room could not be told what is unreadable");
                if trouble.may_pass() {
                    return;
                }
            }
            for event in &events {
                place.said(event);
            }
        });
    }
}

fn unreadable(sender: &UserId, count: usize) -> String {
    if count == 1 {
        return format!(
            "I could not decrypt a message of {sender} here, so I do not know what it says. If its key still comes, I take \
             it up then; otherwise please send it again."
        );
    }
    format!(
        "I could not decrypt {count} messages of {sender} here, so I do not know what they say. If their keys still come, I \
         take them up then; otherwise please send them again."
    )
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::serde::Raw;
    use matrix_sdk::ruma::{event_id, room_id, user_id};
    use serde_json::json;

    use super::*;
    use crate::{Options, TIMING, Timing};

    #[test]
    fn many_messages_of_one_sender_are_told_at_once_and_others_are_beside_them() {
        let folder = tempfile::tempdir().expect("there is room");
        let place = Place::load(folder.path()).expect("it is empty");
        let options = Options::new("https://example.org", "@bot:example.org", "x", folder.path().into());
        let timing = Timing { unread: Duration::ZERO, ..TIMING };
        let matrix = Matrix::timed(options, timing).expect("the options are sound");
        let room = room_id!("!r:example.org").to_owned();
        let (ann, bob) = (user_id!("@ann:example.org").to_owned(), user_id!("@bob:example.org").to_owned());
        let said = |event: &str, sender: &OwnedUserId, thread: Option<&str>| {
            let id = OwnedEventId::try_from(event).expect("it is an id");
            let relation = thread.map(|root| json!({ "rel_type": "m.thread", "event_id": root }));
            let json = json!({
                "event_id": id, "sender": sender, "type": "m.room.encrypted", "content": { "m.relates_to": relation },
            });
            let raw = Raw::from_json(serde_json::value::to_raw_value(&json).expect("it is JSON"));
            let unread = Unread { room: room.clone(), event: id.clone(), sender: Some(sender.clone()), said: false };
            place.put_off(unread);
            let waiting = (TimelineEvent::from_plaintext(raw), Instant::now());
            matrix.waiting.with(|known| known.events.insert(id, waiting));
        };
        for (event, sender, thread) in
            [("$1", &ann, None), ("$2", &bob, None), ("$3", &ann, None), ("$4", &ann, Some("$1")), ("$5", &ann, None)]
        {
            said(event, sender, thread);
        }
        place.said(&event_id!("$5").to_owned());
        let told = due(&matrix, &place).into_iter().map(|telling| (telling.sender, telling.thread, telling.events));
        let id = |event: &str| OwnedEventId::try_from(event).expect("it is an id");
        let expected = [
            (ann.clone(), None, vec![id("$1"), id("$3")]),
            (bob.clone(), None, vec![id("$2")]),
            (ann.clone(), Some(id("$1")), vec![id("$4")]),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        let may_tell = |sender| matrix.waiting.may_tell(&room, sender, TIMING.quiet);
        assert!(may_tell(&ann) && !may_tell(&ann) && may_tell(&bob));
    }
}
