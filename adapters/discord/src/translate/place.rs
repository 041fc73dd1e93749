//! Where something happened: the room's kind, and the thread by Discord's own rule: the thread, else a thread of its own
//! where the room is configured so, else the chain of replies, else the direct conversation (ADAPTERS.md 1.8).

use countersign_core::signal::{ConversationId, ConversationKind, SpaceId, ThreadKey};

use super::{Here, platform};
use crate::ids::Root;
use crate::places::Kind;

/// What kind of room it is. A guild that anybody may enter, and a channel that announces, are read by whomever.
pub(super) const fn kind(here: &Here<'_>) -> ConversationKind {
    match here.place.kind {
        Kind::Direct => ConversationKind::Direct,
        Kind::News | Kind::Thread { news: true, .. } => ConversationKind::Channel,
        Kind::Room | Kind::Thread { news: false, .. } => {
            if here.place.open {
                ConversationKind::Channel
            } else {
                ConversationKind::Group
            }
        }
        Kind::Other => ConversationKind::Unknown,
    }
}

/// The thread with this root here. A thread of Discord's belongs to the channel that it is in, so that what the access file
/// says of the channel holds in it.
pub(super) fn thread(here: &Here<'_>, root: Root) -> ThreadKey {
    let conversation = match here.place.kind {
        Kind::Thread { parent, .. } => parent,
        Kind::Direct | Kind::Room | Kind::News | Kind::Other => here.place.id,
    };
    ThreadKey {
        platform: platform(),
        account: here.me.account(),
        space: SpaceId::new(here.place.guild.map(|guild| guild.to_string()).unwrap_or_default()),
        conversation: ConversationId::new(conversation.to_string()),
        root: root.stored(),
    }
}

/// What the thread of a message hangs from. In a chain of replies it is the message itself, and what it follows says to
/// which chain it belongs.
pub(super) const fn root(here: &Here<'_>, message: u64) -> Root {
    match here.place.kind {
        Kind::Direct => Root::Direct,
        Kind::Thread { .. } => Root::Thread(here.place.id),
        Kind::Room | Kind::News if here.own_threads => Root::Thread(message),
        Kind::Room | Kind::News | Kind::Other => Root::Chain(message),
    }
}

/// The root of what is said here by a command, which is no message.
pub(super) const fn root_of_command(here: &Here<'_>, interaction: u64) -> Root {
    match here.place.kind {
        Kind::Direct => Root::Direct,
        Kind::Thread { .. } => Root::Thread(here.place.id),
        Kind::Room | Kind::News | Kind::Other => Root::Command(interaction),
    }
}
