//! Who is there in a simulation: people with their accounts, and the rooms that they write in. What they may do is said by
//! the configuration's own policies; what they do is drawn in `op.rs`.

use crate::signal::{
    AccountId, Actor, ActorId, ActorKind, ConversationId, ConversationKind, Platform, SpaceId, ThreadKey, ThreadRoot,
};

/// The names of the two threads of each room.
const ROOTS: [&str; 2] = ["main", "other"];

/// One account of somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Where.
    pub platform: Platform,
    /// Immutable there.
    pub id: ActorId,
}

/// One room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Where.
    pub platform: Platform,
    /// Immutable there.
    pub id: ConversationId,
    /// As the platform says it.
    pub kind: ConversationKind,
}

/// Everybody and every room that a configuration names, and whom a simulation adds: a stranger on each platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    platforms: Vec<(Platform, Vec<ActorId>, Vec<Room>)>,
}

impl Cast {
    /// These accounts and rooms; a platform without a room of its own gets one. With no account at all there is only the
    /// stranger of the console.
    pub fn new(accounts: impl IntoIterator<Item = Account>, rooms: &[Room]) -> Self {
        let mut platforms: Vec<(Platform, Vec<ActorId>, Vec<Room>)> = Vec::new();
        for Account { platform, id } in accounts {
            match platforms.iter_mut().find(|(known, _, _)| *known == platform) {
                Some((_, people, _)) => people.push(id),
                None => {
                    let mut own: Vec<Room> = rooms.iter().filter(|room| room.platform == platform).cloned().collect();
                    let (id_of_room, kind) = (ConversationId::new("a room"), ConversationKind::Group);
                    own.push(Room { platform: platform.clone(), id: id_of_room, kind });
                    platforms.push((platform, vec![id], own));
                }
            }
        }
        if platforms.is_empty() {
            let room = Room {
                platform: Platform::new("console"),
                id: ConversationId::new("a room"),
                kind: ConversationKind::Group,
            };
            platforms.push((room.platform.clone(), Vec::new(), vec![room]));
        }
        Self { platforms }
    }

    /// How many platforms there are; at least one.
    pub(super) const fn platforms(&self) -> usize {
        self.platforms.len()
    }

    /// The people of one platform.
    pub(super) fn people(&self, platform: usize) -> &[ActorId] {
        self.platforms.get(platform).map(|(_, people, _)| people.as_slice()).unwrap_or_default()
    }

    /// The rooms of one platform; at least one.
    pub(super) fn rooms(&self, platform: usize) -> &[Room] {
        self.platforms.get(platform).map(|(_, _, rooms)| rooms.as_slice()).unwrap_or_default()
    }
}

/// The two threads of a room.
pub(super) fn threads(room: &Room) -> [ThreadKey; 2] {
    ROOTS.map(|root| ThreadKey {
        platform: room.platform.clone(),
        account: AccountId::new("bot"),
        space: SpaceId::new(""),
        conversation: room.id.clone(),
        root: ThreadRoot::new(root),
    })
}

/// Somebody whom no configuration knows.
pub(super) fn stranger() -> ActorId {
    ActorId::new("4242424242")
}

/// Somebody by their account.
pub(super) fn actor(id: &ActorId, kind: ActorKind) -> Actor {
    Actor { id: id.clone(), kind, display: format!("somebody ({id})") }
}
