//! Where something happened: the thread by Matrix's own rule: the `m.thread` that a message is in, else one that hangs from
//! the message itself, else the direct conversation (ADAPTERS.md 1.8).

use countersign_core::signal::{ConversationId, ConversationKind, SpaceId, ThreadKey};
use matrix_sdk::ruma::EventId;
use matrix_sdk::ruma::events::room::message::{Relation, RoomMessageEventContentWithoutRelation};

use super::{Here, platform};
use crate::ids::{self, Root};

/// How a message stands to another one.
type Related = Relation<RoomMessageEventContentWithoutRelation>;

/// The thread with this root here.
pub(super) fn thread(here: &Here<'_>, root: &Root) -> ThreadKey {
    ThreadKey {
        platform: platform(),
        account: here.me.account(),
        space: SpaceId::new(ids::homeserver(&here.me.user)),
        conversation: ConversationId::new(here.place.room.as_str()),
        root: root.stored(),
    }
}

/// What the thread of this message hangs from. One that is in no thread begins one; what it replies to says whether it
/// belongs to another all the same.
pub(super) fn root(here: &Here<'_>, message: &EventId, relation: Option<&Related>) -> Root {
    match relation {
        _ if here.place.kind == ConversationKind::Direct => Root::Direct,
        Some(Relation::Thread(thread)) => Root::Thread(thread.event_id.clone()),
        Some(_) | None => Root::Thread(message.to_owned()),
    }
}

/// The message that this one answers. In a thread, every message names the one before it for clients that know no threads,
/// which is no answer.
pub(super) fn answered(relation: &Related) -> Option<&EventId> {
    match relation {
        Relation::Reply(reply) => Some(&reply.in_reply_to.event_id),
        Relation::Thread(thread) if !thread.is_falling_back => {
            thread.in_reply_to.as_ref().map(|answered| &*answered.event_id)
        }
        _ => None,
    }
}

/// What a message follows, where that may say to which thread it belongs.
pub(super) fn follows<'r>(here: &Here<'_>, relation: Option<&'r Related>) -> Option<&'r EventId> {
    match relation? {
        _ if here.place.kind == ConversationKind::Direct => None,
        // A client puts a reply to something in a thread into that thread.
        Relation::Thread(_) => None,
        relation => answered(relation),
    }
}
