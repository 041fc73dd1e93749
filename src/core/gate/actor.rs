//! Gate `actor`: a known human, or a named service principal, with the right, here, on this resource. Names are never
//! looked at; whoever is not known holds no right.

use crate::envelope::Code;
use crate::port::Right;
use crate::signal::ActorKind;
use crate::tool::ToolKind;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "actor", priority: 900, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    if ctx.is_verification(case) {
        return Verdict::Pass;
    }
    let asker = ctx.principal();
    match asker.actor.kind {
        ActorKind::Human | ActorKind::Service => {}
        ActorKind::Bot
        | ActorKind::Webhook
        | ActorKind::AnonymousAdmin
        | ActorKind::ChannelPost
        | ActorKind::Bridge => {
            return Verdict::refuse(Code::Forbidden, "only a person with an account of their own may ask for this");
        }
    }
    let right = Right::Request {
        kind: case.kind,
        tool: Some(case.proposed_name()),
        on: case.target_id().cloned(),
        labels: case.target_id().map(|id| ctx.resolved.labels(id)).unwrap_or_default(),
    };
    if ctx.env.rights.may(&asker, &right) {
        return Verdict::Pass;
    }
    let on = case.target_id().map_or_else(|| "here".to_owned(), |id| format!("on `{id}`"));
    let what = match case.kind {
        ToolKind::Write => "a change",
        ToolKind::Record => "a note",
        ToolKind::Resolve | ToolKind::Read => "a look",
    };
    Verdict::refuse(Code::Forbidden, format!("you may not ask for {what} {on}"))
}
