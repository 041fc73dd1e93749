//! The forms of Matrix's ids in ours: events, messages and the roots of threads. They are stored, so that changing one is a
//! migration. Nobody else takes them apart.

use countersign_core::signal::{EventId, ThreadRoot};
use matrix_sdk::ruma::{OwnedEventId, UserId};

/// The root of the one thread of a direct conversation.
const DIRECT: &str = "";

/// What a reaction's event is named by.
const REACTION: &str = "re:";

/// A message, an edit or a redaction, by Matrix's own id of it: unchanged. Our own messages are named so, too.
pub(crate) fn event(id: &matrix_sdk::ruma::EventId) -> EventId {
    EventId::new(id.as_str())
}

/// A reaction. It is not named like a message, so that one which is taken back takes nothing back.
pub(crate) fn reaction(id: &matrix_sdk::ruma::EventId) -> EventId {
    EventId::new(format!("{REACTION}{id}"))
}

/// Matrix's id of the message that such an event came with; none where the event is no message.
pub(crate) fn message_of(event: &EventId) -> Option<OwnedEventId> {
    matrix_sdk::ruma::EventId::parse(event.as_str()).ok()
}

/// What a thread hangs from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A direct conversation is one thread.
    Direct,
    /// A thread of Matrix's, by the message that it hangs from. A message that is in no thread may begin one.
    Thread(OwnedEventId),
}

impl Root {
    /// As it is stored.
    pub(crate) fn stored(&self) -> ThreadRoot {
        match self {
            Self::Direct => ThreadRoot::new(DIRECT),
            Self::Thread(event) => ThreadRoot::new(event.as_str()),
        }
    }

    /// From what was stored; none where this is no root of ours.
    pub(crate) fn of(root: &ThreadRoot) -> Option<Self> {
        match root.as_str() {
            DIRECT => Some(Self::Direct),
            root => matrix_sdk::ruma::EventId::parse(root).ok().map(Self::Thread),
        }
    }
}

/// The homeserver of an account, which is the space of every room that it hears: a room's own id names none that could be
/// relied on, and none at all since version 12.
pub(crate) fn homeserver(account: &UserId) -> &str {
    account.server_name().as_str()
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::{event_id, user_id};

    use super::*;

    #[test]
    fn a_message_is_found_again_by_its_event_and_a_reaction_is_none() {
        for id in [event_id!("$abc:example.org"), event_id!("$Rqnc-F-dvnEYJTyHq_iKxU2bZ1CI92-kuZq3a5lr5Zg")] {
            assert_eq!(event(id).as_str(), id.as_str());
            assert_eq!(message_of(&event(id)).as_deref(), Some(id));
            assert_eq!(message_of(&reaction(id)), None);
        }
        for other in ["", "re:$x", "1:2", "abc"] {
            assert_eq!(message_of(&EventId::new(other)), None, "{other}");
        }
    }

    #[test]
    fn each_root_is_read_as_it_was_stored() {
        for root in [Root::Direct, Root::Thread(event_id!("$abc").to_owned())] {
            assert_eq!(Root::of(&root.stored()), Some(root));
        }
        for foreign in ["x", "m:4", "main", "re:$x"] {
            assert_eq!(Root::of(&ThreadRoot::new(foreign)), None, "{foreign}");
        }
    }

    #[test]
    fn the_space_is_the_accounts_homeserver_and_its_case_stays() {
        assert_eq!(homeserver(user_id!("@bot:Example.org:8448")), "Example.org:8448");
    }
}
