//! Reactions. What they decide is found out among the bot's own messages, and never here.

use countersign_core::port::{Touch, Touched};
use countersign_core::signal::Assurance;
use matrix_sdk::ruma::events::reaction::OriginalSyncReactionEvent;

use super::{Here, Known, actor, place};
use crate::{ids, render};

/// A reaction that stands for something. One that is taken back takes nothing back. Reactions are sent in the clear, so that
/// none is sealed, whatever else is known of who sent it.
pub(super) fn reacted(reaction: &OriginalSyncReactionEvent, known: &Known, here: Here<'_>) -> Option<Touch> {
    let on = &reaction.content.relates_to;
    let sign = render::sign(&on.key)?;
    Some(Touch {
        event: ids::reaction(&reaction.event_id),
        on: Touched::Message { event: ids::event(&on.event_id), sign },
        thread: place::thread(&here, &place::root(&here, &on.event_id, None)),
        room: here.place.kind,
        actor: actor::sender(&reaction.sender, known),
        platform_roles: actor::roles(known, &here),
        assurance: Assurance::Unsealed,
        reason: String::new(),
    })
}
