//! Rooms to which their platform gave another id.

use serde::{Deserialize, Serialize};

use crate::signal::{ConversationId, Platform, Wall};

/// A room, by the id that its platform uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoomKey {
    /// The platform.
    pub platform: Platform,
    /// The id there.
    pub id: ConversationId,
}

/// A room whose id has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MovedRoom {
    /// The id that it was first known by. Its threads keep it.
    pub first: ConversationId,
    /// When the platform said so.
    pub at: Wall,
}
