//! Gate `schema`: tool and action exist and, of a model's proposal, were offered to it; the arguments are valid after lossless
//! casts, the target is an id of the kind that the action runs on. Of a message: it says something, is bounded, and claims no
//! reading that was not made.

use crate::approval::{Outcome, PlanId, PlanState};
use crate::envelope::{Code, Details, Suggestion};
use crate::port::{Block, Claim, Outgoing};
use crate::usage::Origin;

use super::{CallCase, Ctx, Gate, Standing, Verdict};

/// The most blocks of one message.
const BLOCKS_MAX: usize = 64;

pub(super) const GATE: Gate = Gate { name: "schema", priority: 1000, call, post };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let Some(spec) = case.spec else {
        return unknown(case, ctx);
    };
    if case.by == Origin::Model && !ctx.offered.contains(&case.proposed_name()) {
        return not_offered(case);
    }
    if let Err(error) = &case.args {
        let details = Details { argument: Some(error.argument().to_owned()), ..named(case) };
        return Verdict::refuse_with(Code::InvalidInput, error.to_string(), details);
    }
    match (&case.target, &spec.target) {
        (Some(Err(error)), _) => Verdict::refuse_with(Code::InvalidInput, error.to_string(), named(case)),
        (Some(Ok(_)), None) => {
            Verdict::refuse_with(Code::InvalidInput, format!("`{}` takes no target", case.shown_name()), named(case))
        }
        (Some(Ok(id)), Some(kind)) if id.kind() != kind => {
            let message = format!("`{}` runs on a {kind}, not on a {}", case.shown_name(), id.kind());
            Verdict::refuse_with(Code::InvalidInput, message, named(case))
        }
        (Some(Ok(_)) | None, _) => Verdict::Pass,
    }
}

fn unknown(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let known = ctx.env.registry.tool(&case.proposal.tool);
    let (message, names): (String, Vec<String>) = match known {
        Some(tool) => (format!("there is no action `{}`", case.shown_name()), tool.actions.keys().cloned().collect()),
        None => (
            format!("there is no tool for `{}`", case.shown_name()),
            ctx.env.registry.tools().map(|t| t.name.clone()).collect(),
        ),
    };
    let suggestions = names.into_iter().take(5).map(|name| Suggestion { id: name.clone(), name }).collect();
    Verdict::refuse_with(Code::NotFound, message, Details { suggestions, ..named(case) })
}

/// A model calls what it was offered in this turn and nothing else: what else there is was left out for a reason.
fn not_offered(case: &CallCase<'_>) -> Verdict {
    let hint = "call one of those that are offered, or answer in words";
    let details = Details { recovery_hint: Some(hint.to_owned()), ..named(case) };
    Verdict::refuse_with(Code::NotFound, format!("`{}` is not offered in this turn", case.shown_name()), details)
}

fn named(case: &CallCase<'_>) -> Details {
    Details { action: Some(case.shown_name()), ..Details::default() }
}

fn post(post: &Outgoing, standing: &Standing<'_>) -> Verdict {
    let says_something = post.blocks.iter().any(|block| match block {
        Block::Text { text } | Block::Quote { text } | Block::Code { text } => !text.trim().is_empty(),
        Block::Fields { fields } => !fields.is_empty(),
        Block::Table { rows, .. } => !rows.is_empty(),
        Block::Choices { choices, .. } => !choices.is_empty(),
        Block::Card { .. } => true,
    });
    if !says_something || post.blocks.len() > BLOCKS_MAX {
        return Verdict::refuse(Code::InvalidInput, "the message is empty or has too many parts");
    }
    let claimed = match &post.claim {
        Claim::Nothing => return Verdict::Pass,
        Claim::Readings { sources, .. } => sources,
        Claim::Change { plan, outcome, sources } => {
            if !was_verified(plan, *outcome, standing) {
                return Verdict::refuse(Code::PolicyBlocked, "the message claims a change that was not verified so");
            }
            sources
        }
    };
    let made = match standing {
        Standing::Fresh { readings, .. } => claimed.iter().all(|source| readings.contains(source)),
        Standing::Stored { .. } => true,
    };
    if claimed.is_empty() || !made {
        return Verdict::refuse(Code::PolicyBlocked, "the message claims a reading that this request did not make");
    }
    Verdict::Pass
}

/// A claimed change is a plan that this request carries, verified with just this outcome (invariant 11).
fn was_verified(plan: &PlanId, outcome: Outcome, standing: &Standing<'_>) -> bool {
    match standing {
        Standing::Fresh { ctx, .. } => {
            ctx.carrying == Some(plan)
                && ctx.carried().is_some_and(|filed| filed.state() == PlanState::Verified(outcome))
        }
        Standing::Stored { .. } => true,
    }
}
