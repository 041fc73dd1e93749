//! What the bot says of its own accord, in the adapter's words: that it could not take something up, that it does not talk
//! in a room like this one. Each once in a while in a room.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use matrix_sdk::Room;
use matrix_sdk::ruma::events::Mentions;
use matrix_sdk::ruma::events::relation::Thread;
use matrix_sdk::ruma::events::room::message::{Relation, RoomMessageEventContent};
use matrix_sdk::ruma::{OwnedEventId, OwnedRoomId};
use tokio::time::Instant;

use crate::Matrix;
use crate::outcome::Trouble;

/// The most rooms that are remembered; the one that was told first is forgotten first.
const ROOMS_MAX: usize = 1_000;

/// What there is to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Notice {
    /// The engine has no room.
    Busy,
    /// The room is not encrypted, and has to be.
    NotEncrypted,
    /// The message is not encrypted, and the room is.
    Plain,
    /// The room is encrypted, and must not be.
    Encrypted,
}

impl Notice {
    /// How long a room is not told again.
    const fn quiet(self) -> Duration {
        match self {
            Self::Busy => Duration::from_mins(1),
            // Whoever asks again meanwhile has read it; whoever asks later may not have been there.
            Self::NotEncrypted | Self::Plain | Self::Encrypted => Duration::from_mins(10),
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Busy => {
                "I have more to do here than I can take on, so I did not take that up. Please send it again in a minute."
            }
            Self::NotEncrypted => {
                "I listen only in encrypted rooms, and this one is not, so I did not take that up. Whoever runs the room can \
                 turn encryption on in its settings, under Security (it cannot be turned off again); then please ask again."
            }
            Self::Plain => {
                "That message was not encrypted, although this room is, so I did not take it up. Please send it with a \
                 client that encrypts."
            }
            Self::Encrypted => {
                "I was set up without encryption, so I take up nothing in this room, which is encrypted. Please ask me in one \
                 that is not, or have whoever runs me set `matrix.encryption` to `required`."
            }
        }
    }
}

/// When each room was told what.
#[derive(Default)]
pub(crate) struct Told(Mutex<BTreeMap<(OwnedRoomId, Notice), Instant>>);

impl Told {
    /// Whether this may be said there now; then it was.
    fn may_tell(&self, room: &OwnedRoomId, notice: Notice) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        told.retain(|(_, notice), when| now.duration_since(*when) < notice.quiet());
        if told.len() >= ROOMS_MAX
            && let Some(oldest) = told.iter().min_by_key(|(_, when)| **when).map(|(key, _)| key.clone())
        {
            told.remove(&oldest);
        }
        match told.entry((room.clone(), notice)) {
            std::collections::btree_map::Entry::Occupied(_) => false,
            std::collections::btree_map::Entry::Vacant(vacant) => {
                vacant.insert(now);
                true
            }
        }
    }
}

/// Says it in the background, unless it was said lately, in this thread if there is one, by the message that it hangs from.
pub(crate) fn tell(matrix: &Matrix, room: &Room, thread: Option<OwnedEventId>, notice: Notice) {
    if !matrix.told.may_tell(&room.room_id().to_owned(), notice) {
        return;
    }
    let room = room.clone();
    tokio::spawn(async move {
        let mut said = say(&room, thread.clone(), notice.text().to_owned()).await;
        // A reaction to a message inside a thread: Matrix starts no thread there.
        if said.is_err() && thread.is_some() {
            said = say(&room, None, notice.text().to_owned()).await;
        }
        if let Err(trouble) = said {
            tracing::warn!(room = %room.room_id(), %trouble, ?notice, "a room could not be told");
        }
    });
}

/// Says something that is none of the engine's.
pub(crate) async fn say(room: &Room, thread: Option<OwnedEventId>, text: String) -> Result<(), Trouble> {
    let mut content = RoomMessageEventContent::notice_plain(text);
    content.mentions = Some(Mentions::new());
    content.relates_to = thread.map(|root| Relation::Thread(Thread::plain(root.clone(), root)));
    room.send(content).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::room_id;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_room_is_told_each_thing_once_in_a_while() {
        let told = Told::default();
        let (one, two) = (room_id!("!one:example.org").to_owned(), room_id!("!two:example.org").to_owned());
        assert!(told.may_tell(&one, Notice::Busy) && !told.may_tell(&one, Notice::Busy));
        assert!(told.may_tell(&two, Notice::Busy) && told.may_tell(&one, Notice::NotEncrypted));
        tokio::time::advance(Notice::Busy.quiet()).await;
        assert!(told.may_tell(&one, Notice::Busy) && !told.may_tell(&one, Notice::NotEncrypted));
    }
}
