//! The forms of Telegram's ids in ours: events, messages and the roots of threads. They are stored, so that changing one is
//! a migration. Nobody else takes them apart.

use countersign_core::signal::{EventId, ThreadRoot};

/// The root of the one thread of a private chat.
const PRIVATE: &str = "";

/// The topic of a forum that every forum has, and that Telegram gives no id.
const GENERAL: &str = "topic:general";

/// A message, by its chat and its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageRef {
    pub(crate) chat: i64,
    pub(crate) message: i32,
}

impl MessageRef {
    /// The event that the message came with: `CHAT:MESSAGE`. Our own messages are named so, too.
    pub(crate) fn event(self) -> EventId {
        EventId::new(format!("{}:{}", self.chat, self.message))
    }

    /// The message that such an event came with; none where the event is no message.
    pub(crate) fn of(event: &EventId) -> Option<Self> {
        let (chat, message) = event.as_str().split_once(':')?;
        Some(Self { chat: chat.parse().ok()?, message: message.parse().ok()? })
    }

    /// An edit of it. Two within one second are one, which takes nothing back that the first did not.
    pub(crate) fn edited(self, date: i64) -> EventId {
        EventId::new(format!("edit:{}:{}:{date}", self.chat, self.message))
    }
}

/// A group that became a supergroup. Both chats tell of it, and it is one event.
pub(crate) fn moved(first: i64, newest: i64) -> EventId {
    EventId::new(format!("moved:{first}:{newest}"))
}

/// A press of a button.
pub(crate) fn callback(id: &str) -> EventId {
    EventId::new(format!("cb:{id}"))
}

/// Telegram's id of the press that an event is; none where it is none.
pub(crate) fn callback_of(event: &EventId) -> Option<&str> {
    event.as_str().strip_prefix("cb:")
}

/// A reaction, by the update that told of it.
pub(crate) fn reaction(update: u32) -> EventId {
    EventId::new(format!("re:{update}"))
}

/// What a thread hangs from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A private chat is one thread.
    Private,
    /// A topic of a forum.
    Topic(i32),
    /// The topic of a forum that has no id.
    General,
    /// A chain of replies, by the message that began it.
    Chain(i32),
    /// The same in a supergroup that was a group at first: its messages are numbered anew, and its threads keep the group's id.
    MovedChain {
        /// The supergroup.
        chat: i64,
        /// The message there.
        message: i32,
    },
}

impl Root {
    /// As it is stored.
    pub(crate) fn stored(self) -> ThreadRoot {
        match self {
            Self::Private => ThreadRoot::new(PRIVATE),
            Self::General => ThreadRoot::new(GENERAL),
            Self::Topic(id) => ThreadRoot::new(format!("topic:{id}")),
            Self::Chain(message) => ThreadRoot::new(format!("m:{message}")),
            Self::MovedChain { chat, message } => ThreadRoot::new(format!("m:{message}:{chat}")),
        }
    }

    /// From what was stored; none where this is no root of ours.
    pub(crate) fn of(root: &ThreadRoot) -> Option<Self> {
        match root.as_str() {
            PRIVATE => Some(Self::Private),
            GENERAL => Some(Self::General),
            root => match root.split_once(':')? {
                ("topic", id) => id.parse().ok().map(Self::Topic),
                ("m", message) => match message.split_once(':') {
                    Some((message, chat)) => {
                        Some(Self::MovedChain { chat: chat.parse().ok()?, message: message.parse().ok()? })
                    }
                    None => message.parse().ok().map(Self::Chain),
                },
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_found_again_by_its_event_and_nothing_else_is_one() {
        let message = MessageRef { chat: -1_001_234, message: 17 };
        assert_eq!(message.event().as_str(), "-1001234:17");
        assert_eq!(MessageRef::of(&message.event()), Some(message));
        assert_eq!(message.edited(1_700_000_000).as_str(), "edit:-1001234:17:1700000000");
        for other in [callback("77"), reaction(5), message.edited(1), EventId::new(""), EventId::new("1:x")] {
            assert_eq!(MessageRef::of(&other), None, "{other}");
        }
        assert_eq!(callback_of(&callback("77")), Some("77"));
        assert_eq!(callback_of(&message.event()), None);
    }

    #[test]
    fn each_root_is_read_as_it_was_stored() {
        let moved = Root::MovedChain { chat: -1_001_234, message: 4 };
        for root in [Root::Private, Root::General, Root::Topic(1), Root::Topic(77), Root::Chain(4), moved] {
            assert_eq!(Root::of(&root.stored()), Some(root));
        }
        for foreign in ["x", "topic:", "m:x", "m:1:", "m::1", "main"] {
            assert_eq!(Root::of(&ThreadRoot::new(foreign)), None, "{foreign}");
        }
    }
}
