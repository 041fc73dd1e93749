//! Who pays: a person by name, whatever account they use; the room; the team. What they may use is not decided here.

use crate::port::Rights;
use crate::signal::{Actor, ActorId, ConversationId, Ground, Platform, SignalId, SpaceId, ThreadKey};

use super::{Day, Origin, Usage};

/// Whom a use is counted for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Payer {
    /// A person or a service of the access file, by name.
    Person(String),
    /// An account that belongs to nobody known.
    Account(Platform, ActorId),
    /// A room with all its threads, whichever of our accounts heard it.
    Room(Platform, SpaceId, ConversationId),
    /// Everybody together.
    Team,
}

/// Who pays for what this actor asks here: the person, the room and the team, in this order.
pub fn payers(rights: &dyn Rights, actor: &Actor, thread: &ThreadKey) -> [Payer; 3] {
    let person = rights.name(&thread.platform, actor).map(Payer::Person);
    let person = person.unwrap_or_else(|| Payer::Account(thread.platform.clone(), actor.id.clone()));
    let room = Payer::Room(thread.platform.clone(), thread.space.clone(), thread.conversation.clone());
    [person, room, Payer::Team]
}

/// One use, to be counted once for each payer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spend {
    /// What it was for.
    pub signal: SignalId,
    /// On which day.
    pub day: Day,
    /// The person, the room and the team.
    pub payers: [Payer; 3],
    /// Whether somebody waited.
    pub ground: Ground,
    /// Who thought of it.
    pub by: Origin,
    /// How much.
    pub usage: Usage,
}
