//! Events of a room's timeline, decrypted where they were encrypted, as signals and touches. Pure: what has to be found out
//! beside the event, such as by what kind of device it was sent, is handed in. What a signal asks for is not looked at.

mod actor;
mod address;
mod message;
mod place;
mod touch;

use countersign_core::port::Touch;
use countersign_core::signal::{AccountId, Assurance, ConversationKind, Platform, Signal};
use matrix_sdk::ruma::events::room::message::{MessageType, Relation};
use matrix_sdk::ruma::events::{AnySyncMessageLikeEvent, AnySyncTimelineEvent};
use matrix_sdk::ruma::room_version_rules::RedactionRules;
use matrix_sdk::ruma::{OwnedEventId, OwnedRoomId, OwnedUserId};

/// The platform's name in every key.
pub(crate) const PLATFORM: &str = "matrix";

/// Who the bot is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Me {
    /// Immutable, and compared as it is written: `@Bot:a.b` is somebody else than `@bot:a.b`.
    pub(crate) user: OwnedUserId,
    /// What it is called, where it has a name; people begin a message with it.
    pub(crate) name: Option<String>,
}

impl Me {
    /// The account that hears.
    pub(crate) fn account(&self) -> AccountId {
        AccountId::new(self.user.as_str())
    }
}

/// A room.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its own id, never an alias: an alias may be given to another room.
    pub(crate) room: OwnedRoomId,
    /// What kind of room it is. One that anybody may join or read is a `Channel`; `Direct` only while nobody but one person
    /// and the bot is in it, whatever anybody's client calls it.
    pub(crate) kind: ConversationKind,
    /// Where a redaction says what it redacts, by the version of the room.
    pub(crate) redaction: RedactionRules,
}

/// Where something happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'a> {
    pub(crate) me: &'a Me,
    pub(crate) place: &'a Place,
    /// What can be asked by a word behind a `!`, with `_` for a space: `disk_usage`.
    pub(crate) commands: &'a [String],
}

/// What was found out beside an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Whether it was encrypted by a device that is verified as the sender's own, so that no server can have made it up.
    pub(crate) sealed: bool,
    /// What the sender is called in the room; decoration.
    pub(crate) display: String,
    /// Whether the sender is a ghost that a bridge moves.
    pub(crate) is_bridged: bool,
    /// The sender's power in the room at this moment; `i64::MAX` for one who made a room in which that outranks every number,
    /// 0 where it is not known.
    pub(crate) power: i64,
    /// Who sent the message that [`related`] names; none where that is not known.
    pub(crate) related_sender: Option<OwnedUserId>,
}

impl Known {
    /// How far it is known that its sender sent it.
    const fn assurance(&self) -> Assurance {
        if self.sealed { Assurance::Sealed } else { Assurance::Unsealed }
    }
}

/// What an event comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Somebody wrote, changed or deleted something.
    Said(Signal),
    /// Somebody reacted.
    Touched(Touch),
    /// Nothing for us.
    Nothing,
}

/// What an event comes to.
pub(crate) fn event(event: &AnySyncTimelineEvent, known: &Known, here: Here<'_>) -> Heard {
    let AnySyncTimelineEvent::MessageLike(event) = event else { return Heard::Nothing };
    if event.sender() == here.me.user {
        return Heard::Nothing;
    }
    match event {
        AnySyncMessageLikeEvent::RoomMessage(message) => message
            .as_original()
            .and_then(|message| message::said(message, known, here))
            .map_or(Heard::Nothing, Heard::Said),
        AnySyncMessageLikeEvent::RoomRedaction(redaction) => redaction
            .as_original()
            .and_then(|redaction| message::deleted(redaction, known, here))
            .map_or(Heard::Nothing, Heard::Said),
        AnySyncMessageLikeEvent::Reaction(reaction) => reaction
            .as_original()
            .and_then(|reaction| touch::reacted(reaction, known, here))
            .map_or(Heard::Nothing, Heard::Touched),
        _ => Heard::Nothing,
    }
}

/// The message of which it has to be known who sent it before the event can be read: what it replies to, or what it edits.
/// None where nothing depends on that.
pub(crate) fn related(event: &AnySyncTimelineEvent) -> Option<OwnedEventId> {
    let AnySyncTimelineEvent::MessageLike(AnySyncMessageLikeEvent::RoomMessage(message)) = event else { return None };
    let content = &message.as_original()?.content;
    match content.relates_to.as_ref()? {
        // Whatever it says now: that it says something else is what counts.
        Relation::Replacement(replacement) => Some(replacement.event_id.clone()),
        relation if matches!(content.msgtype, MessageType::Text(_)) => place::answered(relation).map(ToOwned::to_owned),
        _ => None,
    }
}

fn platform() -> Platform {
    Platform::new(PLATFORM)
}

#[cfg(test)]
mod tests;
