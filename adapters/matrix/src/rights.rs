//! Whether somebody may ask something of the bot's account itself, such as to come into a room. Judged by the engine.

use countersign_core::port::{Asker, Ingress, Right};
use countersign_core::signal::{
    AccountId, Actor, ActorId, ActorKind, Assurance, ConversationId, ConversationKind, Platform, SpaceId, ThreadKey,
    ThreadRoot,
};
use matrix_sdk::ruma::UserId;

use crate::{Matrix, ids, translate};

/// Whether this account may, in this room. What a homeserver says of who invites is taken for true: it could let the bot
/// into a room by itself.
pub(crate) fn may(
    matrix: &Matrix,
    ingress: &dyn Ingress,
    (who, room, kind): (&UserId, &str, ConversationKind),
    right: &Right,
) -> bool {
    let actor = Actor { id: ActorId::new(who.as_str()), kind: ActorKind::Human, display: String::new() };
    let thread = ThreadKey {
        platform: Platform::new(translate::PLATFORM),
        account: AccountId::new(matrix.user.as_str()),
        space: SpaceId::new(ids::homeserver(&matrix.user)),
        conversation: ConversationId::new(room),
        root: ThreadRoot::new(""),
    };
    let asker =
        Asker { actor: &actor, platform_roles: &[], assurance: Assurance::Unsealed, thread: &thread, room: kind };
    ingress.may(&asker, right)
}
