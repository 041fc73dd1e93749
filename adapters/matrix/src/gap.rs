//! What was said in a room before the events that a sync tells of, and after the last one: where more was said than fits
//! into one answer, it is fetched page by page.

use matrix_sdk::Room;
use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::room::MessagesOptions;
use matrix_sdk::ruma::UInt;

use crate::Matrix;
use crate::facts;
use crate::outcome::Trouble;

/// The most events of one page.
const PAGE: u32 = 100;

/// The most pages of one room: who is gone for longer has said it to somebody else.
const PAGES_MAX: usize = 5;

/// How often a page is asked for where the homeserver does not answer.
const TRIES_MAX: u32 = 5;

/// The events between `since`, where the last sync ended, and `before`, the oldest first; none from before the bot came.
pub(crate) async fn behind(matrix: &Matrix, room: &Room, before: &str, since: &str) -> Vec<TimelineEvent> {
    let mut found = Vec::new();
    let mut from = before.to_owned();
    for _ in 0..PAGES_MAX {
        let page = match page(matrix, room, &from, since).await {
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

async fn page(matrix: &Matrix, room: &Room, from: &str, to: &str) -> Result<matrix_sdk::room::Messages, Trouble> {
    let mut pause = matrix.timing.pause_first;
    let mut tries = 1;
    loop {
        let mut options = MessagesOptions::backward().from(from);
        options.to = Some(to.to_owned());
        options.limit = UInt::from(PAGE);
        match room.messages(options).await.map_err(Trouble::from) {
            Err(trouble) if trouble.may_pass() && tries < TRIES_MAX => {
                tokio::time::sleep(pause.max(trouble.wait())).await;
                pause = (pause * 2).min(matrix.timing.pause_last);
                tries += 1;
            }
            done => return done,
        }
    }
}
