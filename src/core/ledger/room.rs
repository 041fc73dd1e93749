//! Rooms to which their platform gave another id: what is known of a room goes with it.

use serde::{Deserialize, Serialize};

use crate::signal::{ConversationId, Platform, Wall};

/// A room, by the id that its platform uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoomKey {
    /// Which platform.
    pub platform: Platform,
    /// The id there.
    pub id: ConversationId,
}

/// What is known of a room that has another id than at first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MovedRoom {
    /// The id that it was first known by. Its threads keep it.
    pub first: ConversationId,
    /// When the platform said so.
    pub at: Wall,
}
