//! What was said in a room before the events that a sync tells of, and after the last one: where more was said than fits
//! into one answer, it is fetched page by page.

use countersign_core::port::Ingress;
use matrix_sdk::Room;
use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::room::{Messages, MessagesOptions};
use matrix_sdk::ruma::UInt;

use crate::outcome::Trouble;
use crate::patience::Patience;
use crate::{Matrix, facts};

/// The most events of one page.
const PAGE: u32 = 100;

/// The most pages of one room: who is gone for longer has said it to somebody else.
const PAGES_MAX: usize = 5;

/// The events between `since`, where the last sync ended, and `before`, the oldest first; none from before the bot came.
pub(crate) async fn behind(
    matrix: &Matrix,
    ingress: &dyn Ingress,
    room: &Room,
    (before, since): (&str, &str),
) -> Vec<TimelineEvent> {
    let mut found = Vec::new();
    let mut from = before.to_owned();
    for _ in 0..PAGES_MAX {
        let page = match page(room, &from, since, Patience::new(matrix, ingress)).await {
            Ok(page) => page,
            Err(trouble) => {
                tracing::error!(room = %room.room_id(), %trouble, "what was said meanwhile could not be fetched");
                break;
            }
        };
        for event in page.chunk {
            let came = facts::is_own_join(&event, &matrix.user);
            found.push(event);
            if came {
                found.reverse();
                return found;
            }
        }
        match page.end.filter(|end| *end != from) {
            Some(end) => from = end,
            None => {
                found.reverse();
                return found;
            }
        }
    }
    tracing::warn!(
        room = %room.room_id(),
        fetched = found.len(),
        "more was said meanwhile than is looked through; what is older is passed over"
    );
    found.reverse();
    found
}

async fn page(room: &Room, from: &str, to: &str, mut patience: Patience<'_>) -> Result<Messages, Trouble> {
    loop {
        let mut options = MessagesOptions::backward().from(from);
        options.to = Some(to.to_owned());
        options.limit = UInt::from(PAGE);
        match room.messages(options).await {
            Ok(page) => return Ok(page),
            Err(error) => patience.wait(error.into()).await?,
        }
    }
}
