//! Presses of buttons and reactions. What they decide is found out among the bot's own messages, and never here.

use countersign_core::port::{Sign, Touch, Touched};
use countersign_core::signal::Assurance;
use teloxide::types::{
    CallbackQuery, Chat, MaybeAnonymousUser, MaybeInaccessibleMessage, MessageId, MessageReactionUpdated, ReactionType,
};

use super::{Heard, Me, actor, place};
use crate::ids::{self, MessageRef, Root};

/// The reactions that decide. Telegram lets people give only those of a fixed list, in which there is no tick and no cross.
const APPROVES: &str = "👍";
const DENIES: &str = "👎";

/// A press. One without its message, or without data, is no press of a button of ours.
pub(super) fn pressed(query: &CallbackQuery, me: &Me) -> Heard {
    let (Some(data), Some(message)) = (&query.data, &query.message) else { return Heard::Stray(query.id.0.clone()) };
    let (chat, root, message) = match message {
        MaybeInaccessibleMessage::Regular(message) => (&message.chat, place::root(message), message.id.0),
        MaybeInaccessibleMessage::Inaccessible(message) => {
            (&message.chat, unseen(&message.chat, message.message_id), message.message_id.0)
        }
    };
    let touch = Touch {
        event: ids::callback(&query.id.0),
        on: Touched::Button { data: data.clone(), on: MessageRef { chat: chat.id.0, message }.event() },
        thread: place::thread(chat, root, me),
        room: place::kind(chat),
        actor: actor::user(&query.from),
        platform_roles: Vec::new(),
        assurance: Assurance::Platform,
        reason: String::new(),
    };
    Heard::Touched { touch, callback: Some(query.id.0.clone()) }
}

/// A reaction, where it now says yes or no and did not before. One that is taken back takes nothing back.
pub(super) fn reacted(update: u32, reaction: &MessageReactionUpdated, me: &Me) -> Heard {
    let new = |emoji| has(&reaction.new_reaction, emoji) && !has(&reaction.old_reaction, emoji);
    let sign = match (new(APPROVES), new(DENIES)) {
        (true, false) => Sign::Approve,
        (false, true) => Sign::Deny,
        (true, true) | (false, false) => return Heard::Nothing,
    };
    let event = MessageRef { chat: reaction.chat.id.0, message: reaction.message_id.0 }.event();
    let touch = Touch {
        event: ids::reaction(update),
        on: Touched::Message { event, sign },
        thread: place::thread(&reaction.chat, unseen(&reaction.chat, reaction.message_id), me),
        room: place::kind(&reaction.chat),
        actor: match &reaction.actor {
            MaybeAnonymousUser::User(user) => actor::user(user),
            MaybeAnonymousUser::Chat(chat) => actor::chat(chat),
        },
        platform_roles: Vec::new(),
        assurance: Assurance::Platform,
        reason: String::new(),
    };
    Heard::Touched { touch, callback: None }
}

fn has(reactions: &[ReactionType], wanted: &str) -> bool {
    reactions.iter().any(|reaction| reaction.emoji().is_some_and(|emoji| emoji == wanted))
}

/// The root where Telegram does not say in which topic the message stands.
fn unseen(chat: &Chat, message: MessageId) -> Root {
    if chat.is_private() { Root::Private } else { Root::Chain(message.0) }
}
