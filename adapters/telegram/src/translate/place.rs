//! Where something happened: the room's kind, and the thread by Telegram's own rule: the forum topic, else the chain of
//! replies, else the private chat (ADAPTERS.md 1.8).

use countersign_core::signal::{ConversationId, ConversationKind, EventId, SpaceId, ThreadKey};
use teloxide::types::{Chat, ChatKind, Message, PublicChatKind};

use super::{Me, platform};
use crate::ids::{MessageRef, Root};
use crate::moved;

/// What kind of room a chat is. A group that has a public name is read by whomever.
pub(super) fn kind(chat: &Chat) -> ConversationKind {
    match &chat.kind {
        ChatKind::Private(_) => ConversationKind::Direct,
        ChatKind::Public(public) => match &public.kind {
            PublicChatKind::Channel(_) => ConversationKind::Channel,
            PublicChatKind::Supergroup(group) if group.username.is_some() => ConversationKind::Channel,
            PublicChatKind::Supergroup(_) | PublicChatKind::Group => ConversationKind::Group,
        },
    }
}

/// The thread with this root in a chat, which has its first id. Telegram has no spaces.
pub(super) fn thread(chat: &Chat, root: Root, me: &Me) -> ThreadKey {
    let (chat, first) = (chat.id.0, moved::first(&me.first_ids, chat.id.0));
    let root = match root {
        Root::Chain(message) if chat != first => Root::MovedChain { chat, message },
        other => other,
    };
    ThreadKey {
        platform: platform(),
        account: me.account(),
        space: SpaceId::new(""),
        conversation: ConversationId::new(first.to_string()),
        root: root.stored(),
    }
}

/// What the thread of a message hangs from. In a chain of replies it is the message itself, and what it follows says to
/// which chain it belongs.
pub(super) fn root(message: &Message) -> Root {
    let is_forum = matches!(
        &message.chat.kind,
        ChatKind::Public(public) if matches!(&public.kind, PublicChatKind::Supergroup(group) if group.is_forum)
    );
    match message.thread_id {
        _ if message.chat.is_private() => Root::Private,
        Some(topic) if message.is_topic_message => Root::Topic(topic.0.0),
        Some(_) | None if is_forum => Root::General,
        Some(_) | None => Root::Chain(message.id.0),
    }
}

/// The message that this one answers. In a topic every message formally answers the one that opened it, which is no answer.
pub(super) fn answered(message: &Message) -> Option<&Message> {
    let opened = message.thread_id.filter(|_| message.is_topic_message).map(|topic| topic.0);
    message.reply_to_message().filter(|answered| Some(answered.id) != opened)
}

/// What a message follows, where threads are chains of replies.
pub(super) fn follows(message: &Message) -> Option<EventId> {
    match root(message) {
        Root::Chain(_) => answered(message).map(|answered| reference(answered).event()),
        Root::Private | Root::Topic(_) | Root::General | Root::MovedChain { .. } => None,
    }
}

pub(super) fn reference(message: &Message) -> MessageRef {
    MessageRef { chat: message.chat.id.0, message: message.id.0 }
}
