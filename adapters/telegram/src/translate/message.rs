//! Messages and their edits as signals. Telegram tells a bot nothing of messages that are deleted.

use countersign_core::signal::{Addressed, Assurance, EventId, Ground, Payload, Signal, SignalId, Wall};
use teloxide::types::Message;

use super::{Me, actor, address, place};

/// A message that somebody wrote; none where it says nothing, as when somebody joins.
pub(super) fn said(message: &Message, me: &Me, commands: &[String]) -> Option<Signal> {
    let (addressed, text) = address::read(message, me, commands)?;
    signal(message, me, place::reference(message).event(), addressed, Payload::Text { text })
}

/// A change of a message. What it says now is not read.
pub(super) fn edited(message: &Message, me: &Me) -> Option<Signal> {
    let reference = place::reference(message);
    let date = message.edit_date().copied().unwrap_or_default();
    let event = reference.edited(date.timestamp());
    signal(message, me, event, Addressed::No, Payload::Edited { event: reference.event() })
}

/// Id, time and roles are left empty: they come later.
fn signal(message: &Message, me: &Me, event: EventId, addressed: Addressed, payload: Payload) -> Option<Signal> {
    Some(Signal {
        id: SignalId::new(""),
        event,
        thread: place::thread(&message.chat, place::root(message), me),
        room: place::kind(&message.chat),
        actor: actor::author(message)?,
        platform_roles: Vec::new(),
        assurance: Assurance::Platform,
        addressed,
        follows: place::follows(message),
        payload,
        depth: 0,
        ground: Ground::Foreground,
        received_at: Wall(0),
    })
}
