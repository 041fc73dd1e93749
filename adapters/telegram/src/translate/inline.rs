//! Inline queries: somebody types `@the_bot ngi` in any chat. Telegram does not say in which, and nobody but them sees what is
//! offered: it is as if they asked in their private chat with the bot.

use countersign_core::port::Asked;
use countersign_core::signal::{ConversationId, ConversationKind, SpaceId, ThreadKey};
use teloxide::types::InlineQuery;

use super::{Heard, Me, actor, platform};
use crate::ids::Root;

/// A query. A private chat has the number of whoever it is with.
pub(super) fn asked(query: &InlineQuery, me: &Me) -> Heard {
    let thread = ThreadKey {
        platform: platform(),
        account: me.account(),
        space: SpaceId::new(""),
        conversation: ConversationId::new(query.from.id.0.to_string()),
        root: Root::Private.stored(),
    };
    let asked = Asked {
        actor: actor::user(&query.from),
        platform_roles: Vec::new(),
        thread,
        room: ConversationKind::Direct,
        words: query.query.clone(),
    };
    Heard::Asked { asked, query: query.id.0.clone() }
}
