//! What the bot has to know of a room: what kind it is, whether what is said there is encrypted as it has to be, and what a
//! message answers. By the state that the homeserver tells.

use countersign_core::signal::ConversationKind;
use matrix_sdk::ruma::events::room::history_visibility::HistoryVisibility;
use matrix_sdk::ruma::events::room::join_rules::JoinRule;
use matrix_sdk::{Room, RoomState};

use crate::Encryption;
use crate::outcome::Trouble;

/// What kind of room it is. A direct one holds one person beside the bot, whatever it is called: where a third one is, or
/// anybody may come, it is private no more.
pub(crate) async fn kind(room: &Room) -> ConversationKind {
    let is_open = match room.join_rule() {
        Some(JoinRule::Invite | JoinRule::Private | JoinRule::Knock) => false,
        Some(JoinRule::Restricted(_) | JoinRule::KnockRestricted(_)) | Some(JoinRule::Public) => true,
        Some(_) | None => return ConversationKind::Unknown,
    };
    if is_open || room.history_visibility_or_default() == HistoryVisibility::WorldReadable {
        return ConversationKind::Channel;
    }
    let is_direct = room.is_direct().await.unwrap_or(false);
    if is_direct && room.active_members_count() <= 2 { ConversationKind::Direct } else { ConversationKind::Group }
}

/// Whether a room is encrypted. Asks the homeserver where that is not known.
pub(crate) async fn is_encrypted(room: &Room) -> Result<bool, Trouble> {
    Ok(room.latest_encryption_state().await?.is_encrypted())
}

/// Whether the bot talks in such a room, where it is.
pub(crate) fn fits(encryption: Encryption, is_encrypted: bool) -> bool {
    match encryption {
        Encryption::Off => !is_encrypted,
        Encryption::Required => is_encrypted,
    }
}

/// Whether the bot is in it.
pub(crate) fn is_joined(room: &Room) -> bool {
    room.state() == RoomState::Joined
}
