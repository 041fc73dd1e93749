//! Messages, their edits and their deletions as signals.

use countersign_core::signal::{Addressed, EventId, Ground, Payload, Signal, SignalId, ThreadKey, Wall};
use matrix_sdk::ruma::UserId;
use matrix_sdk::ruma::events::room::message::{
    MessageType, OriginalSyncRoomMessageEvent, Relation, sanitize::remove_plain_reply_fallback,
};
use matrix_sdk::ruma::events::room::redaction::OriginalSyncRoomRedactionEvent;

use super::{Here, Known, actor, address, place};
use crate::ids;

/// A message that somebody wrote, or changed; none where it says nothing in words, and where it is a notice, which is what
/// bots write to people (the client-server API, `m.notice`).
pub(super) fn said(message: &OriginalSyncRoomMessageEvent, known: &Known, here: Here<'_>) -> Option<Signal> {
    let relation = message.content.relates_to.as_ref();
    if let Some(Relation::Replacement(replacement)) = relation {
        let is_own = known.related_sender.as_ref() == Some(&message.sender);
        return is_own.then(|| edited(message, &replacement.event_id, known, &here));
    }
    let MessageType::Text(text) = &message.content.msgtype else { return None };
    let answered = relation.and_then(place::answered);
    let answers_us = answered.is_some() && known.related_sender.as_ref() == Some(&here.me.user);
    let mut text = text.clone();
    if answered.is_some() {
        text.body = remove_plain_reply_fallback(&text.body).to_owned();
    }
    let (addressed, text) = address::read(&text, message.content.mentions.as_ref(), answers_us, &here);
    let root = place::root(&here, &message.event_id, relation);
    let thread = place::thread(&here, &root);
    let event = ids::event(&message.event_id);
    let said = signal((event, thread), (&message.sender, known), &here, (addressed, Payload::Text { text }));
    let follows = place::follows(&here, relation).map(ids::event);
    Some(Signal { follows, platform_roles: actor::roles(known, &here), ..said })
}

/// A change of a message. What it says now is not read. Only who wrote it can change it: of an event that says so of another's
/// message, or of one that is not in this room, every client shows nothing.
fn edited(
    message: &OriginalSyncRoomMessageEvent,
    of: &matrix_sdk::ruma::EventId,
    known: &Known,
    here: &Here<'_>,
) -> Signal {
    let thread = place::thread(here, &place::root(here, of, None));
    let payload = Payload::Edited { event: ids::event(of) };
    signal((ids::event(&message.event_id), thread), (&message.sender, known), here, (Addressed::No, payload))
}

/// That a message was deleted, or a reaction, which nothing is named by. Whether whoever did it may is the server's.
pub(super) fn deleted(redaction: &OriginalSyncRoomRedactionEvent, known: &Known, here: Here<'_>) -> Option<Signal> {
    let (inside, beside) = (redaction.content.redacts.as_deref(), redaction.redacts.as_deref());
    let of = if here.place.redaction.content_field_redacts { inside.or(beside) } else { beside.or(inside) }?;
    let thread = place::thread(&here, &place::root(&here, of, None));
    let event = ids::event(&redaction.event_id);
    let payload = Payload::Deleted { event: ids::event(of) };
    Some(signal((event, thread), (&redaction.sender, known), &here, (Addressed::No, payload)))
}

/// Id and time are left empty: they come later.
fn signal(
    (event, thread): (EventId, ThreadKey),
    (sender, known): (&UserId, &Known),
    here: &Here<'_>,
    (addressed, payload): (Addressed, Payload),
) -> Signal {
    Signal {
        id: SignalId::new(""),
        event,
        thread,
        room: here.place.kind,
        actor: actor::sender(sender, known),
        platform_roles: Vec::new(),
        assurance: known.assurance(),
        addressed,
        follows: None,
        payload,
        depth: 0,
        ground: Ground::Foreground,
        received_at: Wall(0),
    }
}
