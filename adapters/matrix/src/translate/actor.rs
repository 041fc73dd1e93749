//! Who caused an event. Only the whole id says who somebody is, letter for letter: what comes before its colon is free on
//! every other homeserver, and a display name is free everywhere.

use countersign_core::signal::{Actor, ActorId, ActorKind, ConversationKind};
use matrix_sdk::ruma::UserId;

use super::{Here, Known};

/// The powers that count as roles, and what they are called in the access file. Who has one has the smaller ones, too. These
/// are what clients call administrator and moderator.
const ROLES: [(i64, &str); 2] = [(100, "power:100"), (50, "power:50")];

/// An account. Matrix does not tell bots from people: a bot is known by its notices, which are never heard.
pub(super) fn sender(id: &UserId, known: &Known) -> Actor {
    let kind = if known.is_bridged { ActorKind::Bridge } else { ActorKind::Human };
    Actor { id: ActorId::new(id.as_str()), kind, display: known.display.clone() }
}

/// The sender's roles in the room. Nobody has any in a direct conversation, where everybody has all power.
pub(super) fn roles(known: &Known, here: &Here<'_>) -> Vec<String> {
    if here.place.kind == ConversationKind::Direct {
        return Vec::new();
    }
    ROLES.iter().filter(|(power, _)| known.power >= *power).map(|(_, role)| (*role).to_owned()).collect()
}
