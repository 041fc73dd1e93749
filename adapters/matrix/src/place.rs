//! Up to where everything that was heard is the engine's, and what of it could not be read yet. Kept in a file of its own:
//! the SDK moves its own token on before anybody has taken what it brought.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use matrix_sdk::ruma::{OwnedEventId, OwnedRoomId};
use serde::{Deserialize, Serialize};

use crate::files;

/// Where it is kept, in the bot's folder.
const PLACE: &str = "place.json";

/// The most messages that are remembered until they can be read; then the oldest gives way.
pub(crate) const UNREAD_MAX: usize = 256;

/// A message that could not be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unread {
    pub(crate) room: OwnedRoomId,
    pub(crate) event: OwnedEventId,
    /// Whether somebody was told.
    pub(crate) said: bool,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct State {
    /// The homeserver's token.
    since: Option<String>,
    #[serde(default)]
    unread: VecDeque<Unread>,
}

/// The place.
pub(crate) struct Place {
    path: PathBuf,
    state: Mutex<State>,
}

impl Place {
    /// As it is kept in this folder; at the beginning where nothing is. Does file I/O.
    pub(crate) fn load(folder: &Path) -> io::Result<Self> {
        let path = folder.join(PLACE);
        let state = files::read(&path)?.unwrap_or_default();
        Ok(Self { path, state: Mutex::new(state) })
    }

    /// From where to hear; none where nothing was ever heard.
    pub(crate) fn since(&self) -> Option<String> {
        self.with(|state| state.since.clone())
    }

    /// Everything up to here is taken, or among what could not be read. Does file I/O.
    pub(crate) fn reach(&self, since: String) -> io::Result<()> {
        let state = self.with(|state| {
            state.since = Some(since);
            state.clone()
        });
        files::write(&self.path, &state)
    }

    /// What could not be read, the oldest first.
    pub(crate) fn unread(&self) -> Vec<Unread> {
        self.with(|state| state.unread.iter().cloned().collect())
    }

    /// Remembers it until it can be read. It is written when the place is reached that it is before.
    pub(crate) fn put_off(&self, unread: Unread) {
        self.with(|state| {
            if state.unread.iter().any(|known| known.event == unread.event) {
                return;
            }
            if state.unread.len() >= UNREAD_MAX {
                state.unread.pop_front();
            }
            state.unread.push_back(unread);
        });
    }

    /// Somebody was told of it.
    pub(crate) fn said(&self, event: &OwnedEventId) {
        self.with(|state| {
            state.unread.iter_mut().filter(|unread| unread.event == *event).for_each(|unread| unread.said = true);
        });
    }

    /// It can be read now, or never will be. Written with the next place that is reached: until then it may be taken twice.
    pub(crate) fn settle(&self, event: &OwnedEventId) {
        self.with(|state| state.unread.retain(|unread| unread.event != *event));
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::{event_id, room_id};

    use super::*;

    #[test]
    fn the_place_is_found_again_and_what_could_not_be_read_is_with_it() {
        let folder = tempfile::tempdir().expect("there is room");
        let place = Place::load(folder.path()).expect("it is empty");
        assert_eq!((place.since(), place.unread()), (None, Vec::new()));
        let unread = |event| Unread { room: room_id!("!r:example.org").to_owned(), event, said: false };
        let (one, two) = (event_id!("$one").to_owned(), event_id!("$two").to_owned());
        for event in [&one, &two, &one] {
            place.put_off(unread(event.clone()));
        }
        assert_eq!(place.unread().len(), 2);
        place.settle(&one);
        place.reach("s1".to_owned()).expect("there is room");
        let again = Place::load(folder.path()).expect("it can be read");
        assert_eq!((again.since().as_deref(), again.unread()), (Some("s1"), vec![unread(two)]));
    }

    #[test]
    fn only_so_many_are_remembered() {
        let folder = tempfile::tempdir().expect("there is room");
        let place = Place::load(folder.path()).expect("it is empty");
        let event = |n: usize| OwnedEventId::try_from(format!("$e{n}")).expect("it is an id");
        for n in 0..=UNREAD_MAX {
            place.put_off(Unread { room: room_id!("!r:example.org").to_owned(), event: event(n), said: false });
        }
        let unread = place.unread();
        assert_eq!((unread.len(), unread.first().map(|unread| unread.event.clone())), (UNREAD_MAX, Some(event(1))));
    }
}
