//! The forms of Discord's ids in ours: events, messages and the roots of threads. They are stored, so that changing one is
//! a migration. Nobody else takes them apart.

use countersign_core::signal::{EventId, ThreadRoot};

/// The root of the one thread of a direct conversation.
const DIRECT: &str = "";

/// A message, by the channel or the thread in which it stands, and its own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageRef {
    pub(crate) channel: u64,
    pub(crate) message: u64,
}

impl MessageRef {
    /// The event that the message came with: `CHANNEL:MESSAGE`. Our own messages are named so, too.
    pub(crate) fn event(self) -> EventId {
        EventId::new(format!("{}:{}", self.channel, self.message))
    }

    /// The message that such an event came with; none where the event is no message.
    pub(crate) fn of(event: &EventId) -> Option<Self> {
        let (channel, message) = event.as_str().split_once(':')?;
        Some(Self { channel: number(channel)?, message: number(message)? })
    }

    /// An edit of it, by its time in milliseconds.
    pub(crate) fn edited(self, at: i64) -> EventId {
        EventId::new(format!("edit:{}:{}:{at}", self.channel, self.message))
    }

    /// That it was deleted. There is one such event.
    pub(crate) fn deleted(self) -> EventId {
        EventId::new(format!("del:{}:{}", self.channel, self.message))
    }
}

/// An interaction: a press of a button, a pick from a menu or a command.
pub(crate) fn interaction(id: u64) -> EventId {
    EventId::new(format!("in:{id}"))
}

/// Discord's id of the interaction that an event is; none where it is none.
pub(crate) fn interaction_of(event: &EventId) -> Option<u64> {
    number(event.as_str().strip_prefix("in:")?)
}

/// A reaction, which Discord gives no id: by the session of the gateway that told of it, and its place in that.
pub(crate) fn reaction(session: &str, sequence: u64) -> EventId {
    EventId::new(format!("re:{session}:{sequence}"))
}

/// What a thread hangs from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A direct conversation is one thread.
    Direct,
    /// A thread of Discord's. One that is made from a message has the number of that message.
    Thread(u64),
    /// A chain of replies, by the message that began it.
    Chain(u64),
    /// A chain that began with a command, which is no message, by its interaction.
    Command(u64),
}

impl Root {
    /// As it is stored.
    pub(crate) fn stored(self) -> ThreadRoot {
        match self {
            Self::Direct => ThreadRoot::new(DIRECT),
            Self::Thread(id) => ThreadRoot::new(format!("thread:{id}")),
            Self::Chain(message) => ThreadRoot::new(format!("m:{message}")),
            Self::Command(id) => ThreadRoot::new(format!("in:{id}")),
        }
    }

    /// From what was stored; none where this is no root of ours.
    pub(crate) fn of(root: &ThreadRoot) -> Option<Self> {
        match root.as_str() {
            DIRECT => Some(Self::Direct),
            root => match root.split_once(':')? {
                ("thread", id) => number(id).map(Self::Thread),
                ("m", message) => number(message).map(Self::Chain),
                ("in", id) => number(id).map(Self::Command),
                _ => None,
            },
        }
    }
}

/// A number of Discord's; none is 0.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_found_again_by_its_event_and_nothing_else_is_one() {
        let message = MessageRef { channel: 1_100_000_000_000_000_001, message: 17 };
        assert_eq!(message.event().as_str(), "1100000000000000001:17");
        assert_eq!(MessageRef::of(&message.event()), Some(message));
        let others = [interaction(77), reaction("ab", 5), message.edited(1), message.deleted(), EventId::new("1:0")];
        for other in others {
            assert_eq!(MessageRef::of(&other), None, "{other}");
        }
        assert_eq!(interaction_of(&interaction(77)), Some(77));
        assert_eq!(interaction_of(&message.event()), None);
    }

    #[test]
    fn each_root_is_read_as_it_was_stored() {
        for root in [Root::Direct, Root::Thread(1), Root::Chain(4), Root::Command(9)] {
            assert_eq!(Root::of(&root.stored()), Some(root));
        }
        for foreign in ["x", "thread:", "m:x", "main", "topic:4", "m:0"] {
            assert_eq!(Root::of(&ThreadRoot::new(foreign)), None, "{foreign}");
        }
    }
}
