//! Gate `resolution`: a call names a thing that this thread discovered and has not lost, and the action is allowed on it
//! (STR-*, RES-18); what its provider calls protected is not changed. Always on: there is no switch (C-23). Names that look
//! alike are suggested, to who may see them, and never picked (STR-11).

use crate::envelope::{Code, Details, Suggestion};
use crate::resource::{PROTECTED, ResourceId};
use crate::thread::Sight;
use crate::tool::ToolKind;
use crate::usage::Origin;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

/// How many names are suggested (STR-08).
const SUGGESTIONS_MAX: usize = 5;

pub(super) const GATE: Gate = Gate { name: "resolution", priority: 700, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    match case.kind {
        ToolKind::Resolve => return Verdict::Pass,
        ToolKind::Read | ToolKind::Record | ToolKind::Write => {}
    }
    if ctx.is_verification(case) {
        return Verdict::Pass;
    }
    let Some(id) = case.target_id() else {
        return undiscovered(case, ctx, "say on which discovered resource".to_owned());
    };
    let Some(resource) = ctx.resolved.peek(id) else {
        if case.kind != ToolKind::Write && case.by == Origin::Rule && host_is_known(id, ctx) {
            return Verdict::Pass;
        }
        return undiscovered(case, ctx, format!("`{id}` was not discovered in this thread"));
    };
    if let Some(why) = resource.attrs.get(PROTECTED).filter(|_| case.kind == ToolKind::Write) {
        let details = Details { resource_id: Some(id.to_string()), ..Details::default() };
        let message = format!("`{}` is {why}; it is never changed from a chat", resource.name);
        return Verdict::refuse_with(Code::ActionNotAllowed, message, details);
    }
    let action = format!("{}.{}", case.proposal.tool, case.proposal.action).to_lowercase();
    if resource.allowed.is_empty() || resource.allowed.contains(&action) {
        return Verdict::Pass;
    }
    let details = Details { resource_id: Some(id.to_string()), action: Some(action.clone()), ..Details::default() };
    Verdict::refuse_with(Code::ActionNotAllowed, format!("`{action}` is not allowed on `{id}`"), details)
}

/// The limited bypass for reads (STR-03), narrower than the sources have it: not "something was discovered" but "the
/// thing's own host was" (C-51), and never for a model: what nobody discovered is judged without the labels that policies
/// restrict by, and a model picks the name.
fn host_is_known(id: &ResourceId, ctx: &Ctx<'_>) -> bool {
    let host = id.scope().map(|scope| format!("host:{scope}"));
    host.and_then(|host| host.parse().ok()).is_some_and(|host| ctx.resolved.peek(&host).is_some())
}

fn undiscovered(case: &CallCase<'_>, ctx: &Ctx<'_>, message: String) -> Verdict {
    let resolver = case.spec.and_then(|spec| spec.resolve.clone());
    let details = Details {
        recovery_hint: Some(
            resolver.map_or_else(|| "discover it first".to_owned(), |r| format!("discover it first with `{r}`")),
        ),
        resource_id: case.target_id().map(ToString::to_string),
        action: Some(case.shown_name()),
        suggestions: alike(case, ctx),
        ..Details::default()
    };
    Verdict::refuse_with(Code::StrictResolution, message, details)
}

fn alike(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Vec<Suggestion> {
    let Some(wanted) = case.target_id() else {
        return Vec::new();
    };
    let similarity = ctx.env.similarity;
    let sight = Sight::new(ctx.env.rights, ctx.principal(), ctx.resolved);
    let mut near: Vec<(u16, Suggestion)> = ctx
        .resolved
        .iter()
        .filter(|known| sight.sees(known))
        .map(|known| {
            let alike = similarity.alike(wanted.uid(), &known.name).max(similarity.alike(wanted.uid(), known.id.uid()));
            (alike, Suggestion { name: known.name.clone(), id: known.id.to_string() })
        })
        .filter(|(alike, _)| *alike >= similarity.worth_suggesting())
        .collect();
    near.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.id.cmp(&y.id)));
    near.into_iter().take(SUGGESTIONS_MAX).map(|(_, suggestion)| suggestion).collect()
}
