//! What of an event its own text does not say: who sent it as far as the room knows, how sure that is, and whether it answers
//! the bot. With that it is translated.

use countersign_core::port::Ingress;
use matrix_sdk::Room;
use matrix_sdk::deserialized_responses::{
    AlgorithmInfo, EncryptionInfo, TimelineEvent, TimelineEventKind, VerificationLevel, VerificationState,
};
use matrix_sdk::ruma::events::room::member::MembershipState;
use matrix_sdk::ruma::events::room::power_levels::UserPowerLevel;
use matrix_sdk::ruma::events::{AnySyncStateEvent, AnySyncTimelineEvent};
use matrix_sdk::ruma::{OwnedEventId, OwnedUserId, UserId};
use serde::Deserialize;

use crate::outcome::Trouble;
use crate::patience::Patience;
use crate::translate::{self, Heard, Here, Known, Place};
use crate::{Matrix, rooms};

/// Turns an event into what it asks for.
pub(crate) async fn translate(matrix: &Matrix, ingress: &dyn Ingress, room: &Room, event: &TimelineEvent) -> Heard {
    let (Some(sender), Ok(read)) = (event.sender(), event.raw().deserialize()) else {
        tracing::warn!(room = %room.room_id(), "an event has a form that is not known; it is passed over");
        return Heard::Nothing;
    };
    let member = room.get_member_no_sync(&sender).await.ok().flatten();
    let known = Known {
        sealed: is_sealed(room, &sender, event).await,
        display: member.as_ref().and_then(|member| member.display_name()).unwrap_or_default().to_owned(),
        is_bridged: matrix.options.ghosts.iter().any(|ghosts| names(ghosts, sender.as_str())),
        power: member.as_ref().map_or(0, |member| power(member.power_level())),
        related_sender: related_sender(matrix, ingress, room, &read).await,
    };
    let place = Place {
        room: room.room_id().to_owned(),
        kind: rooms::kind(room).await,
        redaction: room.clone_info().room_version_rules_or_default().redaction,
    };
    let me = matrix.me();
    translate::event(&read, &known, Here { me: &me, place: &place, commands: &matrix.options.commands })
}

fn power(level: UserPowerLevel) -> i64 {
    match level {
        UserPowerLevel::Infinite => i64::MAX,
        UserPowerLevel::Int(level) => level.into(),
        _ => 0,
    }
}

/// Whether a name is meant by another one, in which a `*` stands for any letters.
fn names(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
    }
}

/// Who sent the message that this one answers or edits. Asks the homeserver: what is taken for an answer to somebody else is
/// passed over, so that it has to be known.
async fn related_sender(
    matrix: &Matrix,
    ingress: &dyn Ingress,
    room: &Room,
    event: &AnySyncTimelineEvent,
) -> Option<OwnedUserId> {
    let related = translate::related(event)?;
    let mut patience = Patience::new(matrix, ingress);
    loop {
        let trouble = match room.event(&related, None).await {
            Ok(related) => return related.sender(),
            Err(error) => Trouble::from(error),
        };
        if let Err(trouble) = patience.wait(trouble).await {
            tracing::warn!(%trouble, "it is not known whose message another one answers or edits");
            return None;
        }
    }
}

/// How sure it is who sent an event. Encrypted is not enough: the device must be one whose keys were compared with the
/// bot's, or belong to an identity whose were.
async fn is_sealed(room: &Room, sender: &UserId, event: &TimelineEvent) -> bool {
    let TimelineEventKind::Decrypted(decrypted) = &event.kind else { return false };
    let info = &decrypted.encryption_info;
    let is_known = match &info.verification_state {
        VerificationState::Verified => true,
        // As it was when the key came: the comparison may have been after that. Everything else that makes a message
        // doubtful stays so.
        VerificationState::Unverified(VerificationLevel::UnverifiedIdentity | VerificationLevel::UnsignedDevice) => {
            is_from_verified_device(room, info).await
        }
        VerificationState::Unverified(_) => false,
    };
    is_known && info.sender == *sender
}

/// Whether the key of a message is one of a device that is verified by now.
async fn is_from_verified_device(room: &Room, info: &EncryptionInfo) -> bool {
    let (Some(id), AlgorithmInfo::MegolmV1AesSha2 { curve25519_key, .. }) = (&info.sender_device, &info.algorithm_info)
    else {
        return false;
    };
    let Ok(Some(device)) = room.client().encryption().get_device(&info.sender, id).await else { return false };
    device.is_verified() && device.curve25519_key().is_some_and(|key| key.to_base64() == *curve25519_key)
}

/// The relation of a message to another.
#[derive(Deserialize)]
struct Content {
    #[serde(rename = "m.relates_to")]
    relation: Option<Relation>,
}

#[derive(Deserialize)]
struct Relation {
    rel_type: Option<String>,
    event_id: Option<OwnedEventId>,
}

fn relation(event: &TimelineEvent) -> Option<Relation> {
    event.raw().get_field::<Content>("content").ok().flatten()?.relation
}

/// The message that the thread of an event hangs from, also where it cannot be read: that is never encrypted. An event that
/// is in no thread may begin one.
pub(crate) fn root(event: &TimelineEvent) -> Option<OwnedEventId> {
    let thread = relation(event).filter(|relation| relation.rel_type.as_deref() == Some("m.thread"));
    thread.and_then(|relation| relation.event_id).or_else(|| event.event_id())
}

/// Whether the bot itself came into the room with this event.
pub(crate) fn is_own_join(event: &TimelineEvent, me: &UserId) -> bool {
    let Ok(AnySyncTimelineEvent::State(AnySyncStateEvent::RoomMember(member))) = event.raw().deserialize() else {
        return false;
    };
    let Some(original) = member.as_original() else { return false };
    let was_in = original.prev_content().is_some_and(|before| before.membership == MembershipState::Join);
    original.state_key == me && original.content.membership == MembershipState::Join && !was_in
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters_and_nothing_else_does() {
        let pattern = "@telegram_*:example.org";
        assert!(names(pattern, "@telegram_17:example.org") && names(pattern, "@telegram_:example.org"));
        assert!(!names(pattern, "@telegram_17:example.com") && !names(pattern, "@Telegram_17:example.org"));
        assert!(names("@ann:example.org", "@ann:example.org") && !names("@ann:example.org", "@ann:example.org.evil"));
        assert!(!names("@aa*aa", "@aaa"), "the ends do not overlap");
    }
}
