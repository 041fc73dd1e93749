//! Who caused an event. Only an account's number says who somebody is; webhooks and other bots are told apart from people.

use countersign_core::signal::{Actor, ActorId, ActorKind};
use serenity::all::{Member, PartialMember, RoleId, User};

/// Whoever an event does not name: nobody, who may nothing.
pub(super) fn nobody() -> Actor {
    Actor { id: ActorId::new("0"), kind: ActorKind::AnonymousAdmin, display: String::new() }
}

/// Who wrote something. What comes by a webhook has an account that is none, whatever it is called.
pub(super) fn author(user: &User, is_webhook: bool) -> Actor {
    let kind = if is_webhook { ActorKind::Webhook } else { of_user(user) };
    Actor { kind, ..self::user(user) }
}

/// An account.
pub(super) fn user(user: &User) -> Actor {
    let display = user.global_name.clone().unwrap_or_else(|| user.name.clone());
    Actor { id: ActorId::new(user.id.get().to_string()), kind: of_user(user), display }
}

/// An account of which nothing but its number is known, as of one that reacts in a direct conversation. Bots are told apart
/// where Discord does that.
pub(super) fn numbered(id: u64) -> Actor {
    Actor { id: ActorId::new(id.to_string()), kind: ActorKind::Human, display: String::new() }
}

/// The roles of whoever wrote, by their numbers. Nobody has any in a direct conversation.
pub(super) fn roles_of(member: Option<&PartialMember>) -> Vec<String> {
    member.map(|member| roles(&member.roles)).unwrap_or_default()
}

/// The roles of a member.
pub(super) fn roles_of_member(member: Option<&Member>) -> Vec<String> {
    member.map(|member| roles(&member.roles)).unwrap_or_default()
}

fn roles(roles: &[RoleId]) -> Vec<String> {
    roles.iter().map(|role| role.get().to_string()).collect()
}

const fn of_user(user: &User) -> ActorKind {
    if user.bot || user.system { ActorKind::Bot } else { ActorKind::Human }
}
