//! Gate `routing`: not the parent when a child was explicitly meant (RTE-*, invariant 12, FM-5). Only the explicit stamp
//! counts, so that a bulk search never poisons work on the host (C-45, FM-6). Any call with a target is checked (C-46).

use crate::envelope::{Code, Details, Suggestion};
use crate::resource::{Resource, ResourceId};
use crate::thread::{Explicit, Sight};
use crate::tool::ToolKind;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "routing", priority: 650, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    if ctx.is_verification(case) {
        return Verdict::Pass;
    }
    let Some(target) = case.target_id() else {
        return Verdict::Pass;
    };
    let place = place_of(target, ctx);
    let mut children: Vec<&Resource> = ctx
        .resolved
        .recently_meant(ctx.env.limits.recently_ms, ctx.now.mono)
        .filter(|(child, explicit)| {
            is_inside(child, &place) && counts(explicit, case, ctx) && !changed_their_mind(target, explicit, ctx)
        })
        .map(|(child, _)| child)
        .collect();
    children.sort_by_key(|child| &child.id);
    children.dedup_by_key(|child| &child.id);
    if children.is_empty() {
        return Verdict::Pass;
    }
    let sight = Sight::new(ctx.env.rights, ctx.principal(), ctx.resolved);
    children.retain(|child| sight.sees(child));
    mismatch((target, host_of(target, &place, ctx)), &children)
}

/// Where a call on this target runs: in the target itself where it is a place, else in the nearest place around it.
fn place_of(target: &ResourceId, ctx: &Ctx<'_>) -> ResourceId {
    if target.is_place() {
        return target.clone();
    }
    let around = ctx.resolved.peek(target).and_then(|resource| resource.chain.iter().find(|id| id.is_place()));
    around.unwrap_or(target).clone()
}

fn is_inside(child: &Resource, place: &ResourceId) -> bool {
    child.id.is_place() && child.chain.contains(place)
}

/// Whoever meant the parent after the child has changed their mind, and is believed; and so is who it is done for. What somebody
/// else means since takes back nobody's word for them.
fn changed_their_mind(parent: &ResourceId, explicit: &Explicit<'_>, ctx: &Ctx<'_>) -> bool {
    let meant = [explicit.by, &ctx.principal().actor.id].map(|by| ctx.resolved.meant_at(parent, by));
    meant.into_iter().flatten().any(|at| at >= explicit.at)
}

/// Whose mark counts: for a read the actor's own, for a write anybody's (RTE-08).
fn counts(explicit: &Explicit<'_>, case: &CallCase<'_>, ctx: &Ctx<'_>) -> bool {
    match case.kind {
        ToolKind::Write => true,
        ToolKind::Resolve | ToolKind::Read | ToolKind::Record => *explicit.by == ctx.signal.actor.id,
    }
}

/// The name of the outermost host around a target: what it was aimed at, as people call the machine.
fn host_of(target: &ResourceId, place: &ResourceId, ctx: &Ctx<'_>) -> String {
    let around = ctx.resolved.peek(target).map(|resource| resource.chain.as_slice()).unwrap_or_default();
    let host = [target, place].into_iter().chain(around).find(|id| id.kind() == "host").unwrap_or(place);
    ctx.resolved.peek(host).map_or_else(|| host.uid().to_owned(), |known| known.name.clone())
}

/// Names those that whoever asks may see.
fn mismatch((target, host): (&ResourceId, String), children: &[&Resource]) -> Verdict {
    let names: Vec<&str> = children.iter().map(|child| child.name.as_str()).collect();
    let suggestions =
        children.iter().take(5).map(|c| Suggestion { name: c.name.clone(), id: c.id.to_string() }).collect();
    let details = Details {
        recovery_hint: Some("name the target by its own id".to_owned()),
        resource_id: Some(target.to_string()),
        suggestions,
        target_host: Some(host),
        more_specific_resources: names.iter().map(|name| (*name).to_owned()).collect(),
        more_specific_resource_ids: children.iter().map(|child| child.id.to_string()).collect(),
        ..Details::default()
    };
    let what = if names.is_empty() { "something".to_owned() } else { names.join(", ") };
    let message = format!("`{target}` is not what was meant: {what} lies inside it and was named");
    Verdict::refuse_with(Code::RoutingMismatch, message, details)
}
