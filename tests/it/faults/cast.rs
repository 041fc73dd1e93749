//! Who is there and where: about as many people, rooms and topics as a small company has. Everybody may ask for changes and
//! decide those of the others.

use super::unruly::Unruly;

/// How many people there are; some have a private room with the bot.
const PEOPLE: i64 = 20;

/// How many of each kind of room there are.
pub(super) const PRIVATE_ROOMS: usize = 8;
pub(super) const GROUPS: usize = 9;
pub(super) const FORUMS: usize = 3;

/// Topics of each forum.
pub(super) const TOPICS: usize = 2;

/// What a place is: who is addressed there by what, and what is one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One thread, and every message is for the bot.
    Private,
    /// Each chain of replies is a thread.
    Group,
    /// One thread.
    Topic,
}

/// Where something can be said.
#[derive(Clone, Debug)]
pub(super) struct Place<R> {
    pub(super) room: R,
    pub(super) kind: Kind,
    /// Its number in the room, where it is a part of one.
    pub(super) topic: Option<i64>,
    /// Who is there.
    pub(super) people: Vec<i64>,
}

/// Everybody and every place.
pub(super) struct Cast<C: Unruly> {
    pub(super) places: Vec<Place<C::Room>>,
}

impl<C: Unruly> Cast<C> {
    /// Puts them into the fake.
    pub(super) fn assemble(fake: &C) -> Self {
        let people: Vec<i64> = (0..PEOPLE).map(|n| fake.person(101 + n, &format!("Person {n}"))).collect();
        Self { places: fake.places(&people) }
    }
}

/// Whoever made the team's room, into which a bot may only be invited by somebody who may talk to it.
const HOST: &str = "[[people]]\nname = \"ann\"\naccounts = [\"PLATFORM:11\"]\nroles = [\"viewer\"]\n\n";

/// The access file that knows them.
pub(super) fn access() -> String {
    let person = |n| {
        format!(
            "[[people]]\nname = \"person-{n}\"\naccounts = [\"PLATFORM:{}\"]\nroles = [\"operator\", \"approver\"]\n\n",
            101 + n
        )
    };
    std::iter::once(HOST.to_owned()).chain((0..PEOPLE).map(person)).collect()
}
