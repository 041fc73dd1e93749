//! From an answer of the homeserver to what the engine stored of it: the order of each room is kept, the rooms side by side.
//! What cannot be stored is kept and tried again until it is. Where the engine has no room, the person is told.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;

use countersign_core::port::{Admission, Condition, Ingress};
use countersign_core::signal::{Addressed, Payload, Signal};
use futures::FutureExt;
use futures::future::join_all;
use matrix_sdk::deserialized_responses::{TimelineEvent, TimelineEventKind};
use matrix_sdk::ruma::{OwnedEventId, OwnedRoomId};
use matrix_sdk::sync::{JoinedRoomUpdate, SyncResponse};
use matrix_sdk::{Client, Room};

use crate::busy::{self, Notice};
use crate::ids::{self, Root};
use crate::patience::Patience;
use crate::place::Place;
use crate::translate::Heard;
use crate::{Encryption, Matrix, facts, gap, rooms, signs, unread, verify};

/// How often what was said is tried again where the engine has no room.
const AGAIN_MAX: u32 = 10;

/// How often a reaction is tried again where the engine does not know yet what it is on. All buttons are reactions here, and
/// the homeserver may let a card through and have its other half wait for seconds.
const AGAIN_TOUCH_MAX: u32 = 50;

/// How often something may still be tried again in one room, over one answer of the homeserver. Once a full engine was
/// waited out, the rest of what was said there is told at once: all that is heard waits for one answer.
struct Again {
    said: u32,
    touched: u32,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is the engine's, or nobody's.
    Done,
    /// The bot is stopping.
    Stopping,
}

type Admitted = Result<Admission, String>;

/// Hands over what an answer brings. The first answer of all brings only what was said before the bot was there.
pub(crate) async fn take(
    matrix: &Matrix,
    ingress: &dyn Ingress,
    (client, place): (&Client, &Place),
    response: SyncResponse,
) -> Taken {
    verify::look(matrix, ingress, client, &response.to_device).await;
    let since = place.since();
    let mut rooms: BTreeMap<OwnedRoomId, Vec<TimelineEvent>> = BTreeMap::new();
    // What can be read by now was said before what is new.
    for (room, event) in unread::again(matrix, client, place).await {
        rooms.entry(room).or_default().push(event);
    }
    if let Some(since) = &since {
        for (id, update) in response.rooms.joined {
            let Some(room) = client.get_room(&id) else { continue };
            rooms.entry(id).or_default().extend(timeline(matrix, ingress, &room, (since, update)).await);
        }
    }
    let taken = rooms.into_iter().filter_map(|(id, events)| Some((client.get_room(&id)?, events)));
    let taken = join_all(taken.map(|(room, events)| take_room(matrix, ingress, place, room, events))).await;
    if taken.contains(&Taken::Stopping) { Taken::Stopping } else { Taken::Done }
}

/// What was said in a room since then, and since the bot is in it.
async fn timeline(
    matrix: &Matrix,
    ingress: &dyn Ingress,
    room: &Room,
    (since, update): (&str, JoinedRoomUpdate),
) -> Vec<TimelineEvent> {
    let timeline = update.timeline;
    if let Some(at) = timeline.events.iter().rposition(|event| facts::is_own_join(event, &matrix.user)) {
        return timeline.events.into_iter().skip(at).collect();
    }
    let mut events = match timeline.prev_batch.as_deref().filter(|_| timeline.limited) {
        Some(before) => gap::behind(matrix, ingress, room, (before, since)).await,
        None => Vec::new(),
    };
    events.extend(timeline.events);
    events
}

/// The events of one room, one after the other.
async fn take_room(
    matrix: &Matrix,
    ingress: &dyn Ingress,
    place: &Place,
    room: Room,
    events: Vec<TimelineEvent>,
) -> Taken {
    let mut again = Again { said: AGAIN_MAX, touched: AGAIN_TOUCH_MAX };
    for event in events {
        // One that breaks its translation must not hold up those behind it, again and again.
        let taking = take_event(matrix, ingress, place, (&room, &mut again), event);
        let taken = AssertUnwindSafe(taking).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(room = %room.room_id(), "an event of Matrix broke its translation; it is passed over");
            Taken::Done
        });
        if taken == Taken::Stopping {
            return Taken::Stopping;
        }
    }
    Taken::Done
}

async fn take_event(
    matrix: &Matrix,
    ingress: &dyn Ingress,
    place: &Place,
    (room, again): (&Room, &mut Again),
    event: TimelineEvent,
) -> Taken {
    if event.sender().as_ref() == Some(&matrix.user) {
        return Taken::Done;
    }
    if event.kind.is_utd() {
        match matrix.options.encryption {
            Encryption::Required => unread::put_off(matrix, place, room, event),
            Encryption::Off => busy::tell(matrix, room, None, Notice::Encrypted),
        }
        return Taken::Done;
    }
    if verify::is_request(matrix, ingress, room, &event).await || verify::is_answer(matrix, room, &event) {
        return Taken::Done;
    }
    let heard = facts::translate(matrix, ingress, room, &event).await;
    if heard == Heard::Nothing {
        return Taken::Done;
    }
    if let Some(notice) = unfit(matrix, ingress, room, (&event, &heard)).await {
        if is_to_us(&heard) {
            busy::tell(matrix, room, root(&heard), notice);
        }
        return Taken::Done;
    }
    hand_over(matrix, ingress, (room, again), heard).await
}

/// Why nothing is taken up here, or not this.
async fn unfit(
    matrix: &Matrix,
    ingress: &dyn Ingress,
    room: &Room,
    (event, heard): (&TimelineEvent, &Heard),
) -> Option<Notice> {
    let is_encrypted = encryption(matrix, ingress, room).await;
    if !rooms::fits(matrix.options.encryption, is_encrypted) {
        return Some(if is_encrypted { Notice::Encrypted } else { Notice::NotEncrypted });
    }
    // Reactions and redactions are never encrypted. What is said has to be, or a homeserver could say it.
    let is_words = matches!(heard, Heard::Said(Signal { payload: Payload::Text { .. }, .. }));
    let is_plain = matches!(event.kind, TimelineEventKind::PlainText { .. });
    (is_encrypted && is_words && is_plain).then_some(Notice::Plain)
}

/// Whether a room is encrypted: what is said in it counts only then, or only else.
async fn encryption(matrix: &Matrix, ingress: &dyn Ingress, room: &Room) -> bool {
    let mut patience = Patience::new(matrix, ingress);
    loop {
        let trouble = match rooms::is_encrypted(room).await {
            Ok(is_encrypted) => return is_encrypted,
            Err(trouble) => trouble,
        };
        if let Err(trouble) = patience.wait(trouble).await {
            tracing::warn!(room = %room.room_id(), %trouble, "it is not known whether a room is encrypted");
            // The answer that lets nothing through.
            return matrix.options.encryption == Encryption::Off;
        }
    }
}

/// Whether somebody waits for what comes of it.
fn is_to_us(heard: &Heard) -> bool {
    matches!(heard, Heard::Said(signal) if signal.addressed != Addressed::No)
}

/// The message that its thread hangs from.
fn root(heard: &Heard) -> Option<OwnedEventId> {
    let thread = match heard {
        Heard::Said(signal) => &signal.thread,
        Heard::Touched(touch) => &touch.thread,
        Heard::Nothing => return None,
    };
    match Root::of(&thread.root)? {
        Root::Direct => None,
        Root::Thread(root) => Some(root),
    }
}

/// Shows the person what became of it, where they wait for that.
fn settle(matrix: &Matrix, room: &Room, heard: &Heard, admission: &Admission) {
    match (heard, admission) {
        (Heard::Said(signal), Admission::Accepted(id)) if is_to_us(heard) => {
            signs::take_up(matrix, room, ids::message_of(&signal.event), id);
        }
        (_, Admission::Busy) => busy::tell(matrix, room, root(heard), Notice::Busy),
        _ => {}
    }
}

/// Hands it to the engine, until that has it.
async fn hand_over(matrix: &Matrix, ingress: &dyn Ingress, (room, again): (&Room, &mut Again), heard: Heard) -> Taken {
    let mut pause = matrix.timing.pause_first;
    loop {
        match admit_patiently(matrix, ingress, again, &heard).await {
            Ok(Admission::Stopping) => return Taken::Stopping,
            Ok(admission) => {
                settle(matrix, room, &heard, &admission);
                return Taken::Done;
            }
            Err(error) => {
                tracing::error!(error, "an event could not be stored; it is kept and tried again");
                let what = format!("a message could not be stored: {error}");
                let again_in_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
                ingress.report(Condition::Trouble { what, again_in_ms });
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(matrix.timing.pause_last);
            }
        }
    }
}

/// Tries again where there is no room, as often as that may be done.
async fn admit_patiently(matrix: &Matrix, ingress: &dyn Ingress, again: &mut Again, heard: &Heard) -> Admitted {
    let again = if matches!(heard, Heard::Touched(_)) { &mut again.touched } else { &mut again.said };
    let mut admitted = admit(ingress, heard).await;
    while admitted == Ok(Admission::Busy) && *again > 0 {
        *again -= 1;
        tokio::time::sleep(matrix.timing.room).await;
        admitted = admit(ingress, heard).await;
    }
    admitted
}

async fn admit(ingress: &dyn Ingress, heard: &Heard) -> Admitted {
    match heard {
        Heard::Said(signal) => ingress.accept(signal.clone()).await,
        Heard::Touched(touch) => ingress.touch(touch.clone()).await,
        Heard::Nothing => Ok(Admission::Unknown),
    }
}
