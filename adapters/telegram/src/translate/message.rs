//! Messages and their edits as signals. Telegram tells a bot nothing of messages that are deleted.

use countersign_core::signal::{
    Actor, Addressed, Assurance, ConversationId, EventId, Ground, Payload, Signal, SignalId, Wall,
};
use teloxide::types::Message;

use super::{Me, actor, address, place};
use crate::{ids, moved};

/// A message that somebody wrote; none where it says nothing, as when somebody joins.
pub(super) fn said(message: &Message, me: &Me, commands: &[String]) -> Option<Signal> {
    if let Some((newest, before)) = moved::move_in(message) {
        let event = ids::moved(moved::first(&me.first_ids, before), newest);
        let to = ConversationId::new(newest.to_string());
        let actor = actor::author(message).unwrap_or_else(|| actor::chat(&message.chat));
        return Some(signal(
            message,
            me,
            event,
            (actor, Addressed::Mention),
            Payload::RoomMoved { to, is_known: false },
        ));
    }
    let (addressed, text) = address::read(message, me, commands)?;
    let actor = actor::author(message)?;
    Some(signal(message, me, place::reference(message).event(), (actor, addressed), Payload::Text { text }))
}

/// A change of a message. What it says now is not read.
pub(super) fn edited(message: &Message, me: &Me) -> Option<Signal> {
    let reference = place::reference(message);
    let date = message.edit_date().copied().unwrap_or_default();
    let event = reference.edited(date.timestamp());
    let actor = actor::author(message)?;
    Some(signal(message, me, event, (actor, Addressed::No), Payload::Edited { event: reference.event() }))
}

/// Id, time and roles are left empty: they come later.
fn signal(
    message: &Message,
    me: &Me,
    event: EventId,
    (actor, addressed): (Actor, Addressed),
    payload: Payload,
) -> Signal {
    Signal {
        id: SignalId::new(""),
        event,
        thread: place::thread(&message.chat, place::root(message), me),
        room: place::kind(&message.chat),
        actor,
        platform_roles: Vec::new(),
        assurance: Assurance::Platform,
        addressed,
        follows: place::follows(message),
        payload,
        depth: 0,
        ground: Ground::Foreground,
        received_at: Wall(0),
    }
}
