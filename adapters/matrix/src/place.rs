//! Up to where everything that was heard is the engine's, and what of it could not be read yet. Kept in a file of its own:
//! the SDK moves its own token on before anybody has taken what it brought.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use matrix_sdk::ruma::{OwnedEventId, OwnedRoomId, OwnedUserId};
use serde::{Deserialize, Serialize};

use crate::files;

/// Where it is kept, in the bot's folder.
const PLACE: &str = "place.json";

/// The most messages that are remembered until they can be read; then the oldest gives way of whoever has most of them.
const UNREAD_MAX: usize = 256;

/// The most of one sender in a room; then the oldest of these gives way.
const UNREAD_OF_ONE_MAX: usize = 32;

/// A message that could not be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unread {
    pub(crate) room: OwnedRoomId,
    pub(crate) event: OwnedEventId,
    /// Who sent it, as the homeserver has it; none in a file of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sender: Option<OwnedUserId>,
    /// Whether somebody was told, or nobody can be.
    pub(crate) said: bool,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct State {
    /// The homeserver's token.
    since: Option<String>,
    #[serde(default)]
    unread: VecDeque<Unread>,
}

impl State {
    /// Makes room for one more message. Who sends many that nobody can read must not push out everybody else's.
    fn give_way(&mut self, to: &Unread) {
        let is_same = |other: &Unread| other.sender == to.sender && other.room == to.room;
        if self.unread.iter().filter(|other| is_same(other)).count() >= UNREAD_OF_ONE_MAX {
            let oldest = self.unread.iter().position(is_same);
            oldest.and_then(|at| self.unread.remove(at));
        }
        if self.unread.len() >= UNREAD_MAX {
            let count = |one: &Unread| self.unread.iter().filter(|other| other.sender == one.sender).count();
            let most = self.unread.iter().map(count).max();
            let oldest = self.unread.iter().position(|one| Some(count(one)) == most);
            oldest.and_then(|at| self.unread.remove(at));
        }
    }
}

/// The place. A clone is the same one.
#[derive(Clone)]
pub(crate) struct Place {
    path: PathBuf,
    state: Arc<Mutex<State>>,
}

impl Place {
    /// As it is kept in this folder; at the beginning where nothing is. Does file I/O.
    pub(crate) fn load(folder: &Path) -> io::Result<Self> {
        let path = folder.join(PLACE);
        let state = files::read(&path)?.unwrap_or_default();
        Ok(Self { path, state: Arc::new(Mutex::new(state)) })
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
            state.give_way(&unread);
            state.unread.push_back(unread);
        });
    }

    /// Somebody was told of it, or nobody can be. Written with the next place that is reached.
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
        let unread = |event| Unread { room: room_id!("!r:example.org").to_owned(), event, sender: None, said: false };
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

    /// What is remembered of so many messages, each by its sender, room and number.
    fn remembered(messages: impl Iterator<Item = (&'static str, usize, usize)>) -> Vec<(String, usize, usize)> {
        let folder = tempfile::tempdir().expect("there is room");
        let place = Place::load(folder.path()).expect("it is empty");
        for (sender, room, n) in messages {
            place.put_off(Unread {
                room: OwnedRoomId::try_from(format!("!{room}:example.org")).expect("it is an id"),
                event: OwnedEventId::try_from(format!("${sender}-{room}-{n}")).expect("it is an id"),
                sender: Some(OwnedUserId::try_from(format!("@{sender}:example.org")).expect("it is an account")),
                said: false,
            });
        }
        let parts = |unread: Unread| {
            let event = unread.event.as_str().trim_start_matches('$').to_owned();
            let mut parts = event.split('-');
            let mut next = || parts.next().unwrap_or_default().to_owned();
            (next(), next().parse().unwrap_or_default(), next().parse().unwrap_or_default())
        };
        place.unread().into_iter().map(parts).collect()
    }

    #[test]
    fn of_one_sender_in_a_room_the_newest_are_remembered() {
        let all = remembered((0..300).map(|n| ("eve", 0, n)).chain([("ann", 0, 0)]));
        assert_eq!(all.len(), UNREAD_OF_ONE_MAX + 1);
        assert_eq!(all.first(), Some(&("eve".to_owned(), 0, 300 - UNREAD_OF_ONE_MAX)));
    }

    #[test]
    fn who_fills_many_rooms_pushes_out_nobody_elses() {
        let eves = || (0..20).flat_map(|room| (0..UNREAD_OF_ONE_MAX).map(move |n| ("eve", room, n)));
        let all = remembered([("ann", 0, 0)].into_iter().chain(eves()).chain([("bob", 0, 0)]));
        assert_eq!(all.len(), UNREAD_MAX);
        assert_eq!(all.first(), Some(&("ann".to_owned(), 0, 0)));
        assert_eq!(all.last(), Some(&("bob".to_owned(), 0, 0)));
        assert_eq!(all.get(1).map(|(_, room, _)| *room), Some(12), "the oldest of hers gave way");
    }

    #[test]
    fn what_an_older_version_wrote_is_read() {
        let folder = tempfile::tempdir().expect("there is room");
        let text = r#"{"since":"s1","unread":[{"room":"!r:example.org","event":"$one","said":true}]}"#;
        std::fs::write(folder.path().join(PLACE), text).expect("there is room");
        let unread = Place::load(folder.path()).expect("it can be read").unread();
        assert_eq!(unread.first().map(|unread| (unread.sender.clone(), unread.said)), Some((None, true)));
    }
}
