//! Who is there and where: about as many people, chats and topics as a small company has. Everybody may ask for changes and
//! decide those of the others.

use countersign_telegram_fake::{ChatId, Fake};

/// How many people there are; some have a private chat with the bot.
const PEOPLE: i64 = 20;

/// How many of each kind of chat there are.
const PRIVATE_CHATS: usize = 8;
const GROUPS: usize = 9;
const FORUMS: usize = 3;

/// Topics of each forum.
const TOPICS: usize = 2;

/// What a place is: who is addressed there by what, and what is one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One thread, and every message is for the bot.
    Private,
    /// Each chain of replies is a thread.
    Group,
    /// One thread.
    Topic(i64),
}

/// Where something can be said.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) chat: ChatId,
    pub(super) kind: Kind,
    /// Who is there.
    pub(super) people: Vec<i64>,
}

impl Room {
    pub(super) const fn topic(&self) -> Option<i64> {
        match self.kind {
            Kind::Topic(topic) => Some(topic),
            Kind::Private | Kind::Group => None,
        }
    }
}

/// Everybody and every place.
pub(super) struct Cast {
    pub(super) rooms: Vec<Room>,
}

impl Cast {
    /// Puts them into the fake.
    pub(super) fn assemble(fake: &Fake) -> Self {
        let people: Vec<i64> = (0..PEOPLE).map(|n| fake.user(101 + n, &format!("Person {n}"))).collect();
        let private = people.iter().take(PRIVATE_CHATS);
        let private = private.map(|user| Room { chat: fake.private(*user), kind: Kind::Private, people: vec![*user] });
        let groups = (0..GROUPS).map(|n| Room {
            chat: fake.group(&format!("group {n}")),
            kind: Kind::Group,
            people: people.clone(),
        });
        let topics = (0..FORUMS).flat_map(|n| {
            let forum = fake.forum(&format!("forum {n}"));
            (0..TOPICS).map(move |topic| (forum, topic))
        });
        let topics = topics.map(|(chat, topic)| Room {
            chat,
            kind: Kind::Topic(fake.topic(chat, &format!("topic {topic}"))),
            people: people.clone(),
        });
        let rooms = private.chain(groups).chain(topics).collect();
        Self { rooms }
    }

    /// The access file that knows them.
    pub(super) fn access() -> String {
        (0..PEOPLE).map(|n| person(&format!("person-{n}"), 101 + n)).collect()
    }
}

/// An entry of the access file: somebody who may ask for changes and decide those of others.
pub(super) fn person(name: &str, user: i64) -> String {
    format!("[[people]]\nname = \"{name}\"\naccounts = [\"telegram:{user}\"]\nroles = [\"operator\", \"approver\"]\n\n")
}
