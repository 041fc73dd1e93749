//! Messages, their edits and their deletions as signals.

use countersign_core::signal::{
    Actor, Addressed, Assurance, EventId, Ground, Payload, Signal, SignalId, ThreadKey, Wall,
};
use serde::Deserialize;
use serenity::all::{ChannelId, Message, MessageId, MessageReferenceKind, MessageType, Timestamp, User, WebhookId};

use super::{Here, actor, address, place};
use crate::ids::{MessageRef, Root};

/// A change of a message, as far as it counts here: what it says now is not read.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Change {
    pub(crate) id: MessageId,
    pub(crate) channel_id: ChannelId,
    author: Option<User>,
    webhook_id: Option<WebhookId>,
    edited_timestamp: Option<Timestamp>,
}

/// A message that somebody wrote; none where it says nothing, as when somebody joins, and where the bot wrote it itself.
pub(crate) fn said(message: &Message, here: Here<'_>) -> Option<Signal> {
    let is_text = matches!(message.kind, MessageType::Regular | MessageType::InlineReply);
    if !is_text || message.author.id.get() == here.me.id {
        return None;
    }
    let (addressed, text) = address::read(message, &here)?;
    let at = MessageRef { channel: message.channel_id.get(), message: message.id.get() };
    let author = actor::author(&message.author, message.webhook_id.is_some());
    let thread = place::thread(&here, place::root(&here, at.message));
    let follows = follows(message, &here);
    let roles = actor::roles_of(message.member.as_deref());
    let said = signal((at.event(), thread, author), &here, addressed, Payload::Text { text });
    Some(Signal { follows, platform_roles: roles, ..said })
}

/// A change of a message. Discord tells of one, too, when it has looked at an address in it: then nothing was edited.
pub(crate) fn changed(change: &Change, here: Here<'_>) -> Option<Signal> {
    let at = MessageRef { channel: change.channel_id.get(), message: change.id.get() };
    let edited = change.edited_timestamp?;
    let author = match &change.author {
        Some(author) if author.id.get() == here.me.id => return None,
        Some(author) => actor::author(author, change.webhook_id.is_some()),
        None => actor::nobody(),
    };
    let millis = i64::try_from(edited.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX);
    let thread = place::thread(&here, place::root(&here, at.message));
    Some(signal((at.edited(millis), thread, author), &here, Addressed::No, Payload::Edited { event: at.event() }))
}

/// That a message was deleted. Discord does not say by whom.
pub(crate) fn deleted(at: MessageRef, here: Here<'_>) -> Signal {
    let thread = place::thread(&here, place::root(&here, at.message));
    signal((at.deleted(), thread, actor::nobody()), &here, Addressed::No, Payload::Deleted { event: at.event() })
}

/// Id and time are left empty: they come later.
pub(super) fn signal(
    (event, thread, actor): (EventId, ThreadKey, Actor),
    here: &Here<'_>,
    addressed: Addressed,
    payload: Payload,
) -> Signal {
    Signal {
        id: SignalId::new(""),
        event,
        thread,
        room: place::kind(here),
        actor,
        platform_roles: Vec::new(),
        assurance: Assurance::Platform,
        addressed,
        follows: None,
        payload,
        depth: 0,
        ground: Ground::Foreground,
        received_at: Wall(0),
    }
}

/// What a message follows, where threads are chains of replies.
fn follows(message: &Message, here: &Here<'_>) -> Option<EventId> {
    match place::root(here, message.id.get()) {
        Root::Direct => None,
        Root::Thread(thread) if thread == here.place.id => None,
        Root::Thread(_) | Root::Chain(_) | Root::Command(_) => {
            let answered = message.message_reference.as_ref()?;
            let channel = answered.channel_id.get();
            let message = answered.message_id.filter(|_| answered.kind == MessageReferenceKind::Default)?;
            Some(MessageRef { channel, message: message.get() }.event())
        }
    }
}
