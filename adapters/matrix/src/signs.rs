//! Small signs of life: that the bot has read something, and that it works on it. Best effort: none of it is waited for, and
//! none of it counts.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use countersign_core::signal::SignalId;
use matrix_sdk::Room;
use matrix_sdk::ruma::OwnedEventId;
use matrix_sdk::ruma::api::client::receipt::create_receipt::v3::ReceiptType;
use matrix_sdk::ruma::events::receipt::ReceiptThread;
use tokio::time::Instant;

use crate::Matrix;

/// How often typing is said again: the SDK says it for four seconds.
const EVERY: Duration = Duration::from_secs(3);

/// How long the bot types at most: what takes longer has said something by then, or waits for people.
const TYPING_MAX: Duration = Duration::from_mins(1);

/// The most signals that are worked on and remembered.
const WORKING_MAX: usize = 1_000;

/// What the bot works on, where, and since when.
#[derive(Default)]
pub(crate) struct Working(Mutex<BTreeMap<SignalId, (Room, Instant)>>);

impl Working {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<SignalId, (Room, Instant)>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The rooms in which it types.
    fn rooms(&self) -> Vec<Room> {
        self.with(|working| {
            let now = Instant::now();
            working.retain(|_, (_, since)| now.duration_since(*since) < TYPING_MAX);
            let rooms: BTreeMap<_, _> =
                working.values().map(|(room, _)| (room.room_id().to_owned(), room.clone())).collect();
            rooms.into_values().collect()
        })
    }
}

/// A message was taken up: the bot has read it, and works on it.
pub(crate) fn take_up(matrix: &Matrix, room: &Room, event: Option<OwnedEventId>, signal: &SignalId) {
    matrix.working.with(|working| {
        if working.len() < WORKING_MAX {
            working.insert(signal.clone(), (room.clone(), Instant::now()));
        }
    });
    let room = room.clone();
    tokio::spawn(async move {
        type_in(&room, true).await;
        if let Some(event) = event
            && let Err(error) = room.send_single_receipt(ReceiptType::Read, ReceiptThread::Unthreaded, event).await
        {
            tracing::debug!(%error, "a message could not be marked as read");
        }
    });
}

/// A signal is answered.
pub(crate) fn rest(matrix: &Matrix, signal: &SignalId) {
    let room = matrix.working.with(|working| {
        let (room, _) = working.remove(signal)?;
        let goes_on = working.values().any(|(other, _)| other.room_id() == room.room_id());
        (!goes_on).then_some(room)
    });
    if let Some(room) = room {
        tokio::spawn(async move { type_in(&room, false).await });
    }
}

/// Goes on typing where the bot works, for ever.
pub(crate) async fn go_on(matrix: &Matrix) {
    loop {
        tokio::time::sleep(EVERY).await;
        for room in matrix.working.rooms() {
            type_in(&room, true).await;
        }
    }
}

async fn type_in(room: &Room, typing: bool) {
    if let Err(error) = room.typing_notice(typing).await {
        tracing::debug!(%error, "it could not be said that the bot types");
    }
}
