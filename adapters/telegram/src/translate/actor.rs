//! Who caused an update. Only an account's number says who somebody is; whoever speaks in the name of a chat is nobody.

use countersign_core::signal::{Actor, ActorId, ActorKind};
use teloxide::types::{Chat, Message, User};

/// The account that all administrators share who hide their name: `@GroupAnonymousBot` (the Bot API, `Message.sender_chat`).
const ANONYMOUS_ADMIN: u64 = 1_087_968_824;

/// Who wrote a message; none where it has no author at all.
pub(super) fn author(message: &Message) -> Option<Actor> {
    let from = message.from.as_ref()?;
    let kind = if from.id.0 == ANONYMOUS_ADMIN {
        ActorKind::AnonymousAdmin
    } else if message.sender_chat.is_some() || message.is_automatic_forward() {
        ActorKind::ChannelPost
    } else {
        of_user(from)
    };
    Some(Actor { kind, ..user(from) })
}

/// An account.
pub(super) fn user(user: &User) -> Actor {
    let kind = if user.id.0 == ANONYMOUS_ADMIN { ActorKind::AnonymousAdmin } else { of_user(user) };
    Actor { id: ActorId::new(user.id.0.to_string()), kind, display: user.full_name() }
}

/// Somebody who reacts in the name of a chat.
pub(super) fn chat(chat: &Chat) -> Actor {
    let display = chat.title().unwrap_or_default().to_owned();
    Actor { id: ActorId::new(chat.id.0.to_string()), kind: ActorKind::AnonymousAdmin, display }
}

const fn of_user(user: &User) -> ActorKind {
    if user.is_bot { ActorKind::Bot } else { ActorKind::Human }
}
