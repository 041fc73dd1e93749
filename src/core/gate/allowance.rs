//! Gate `allowance`: the request's own turns, what one person may have called within a minute, and of what a model
//! proposes the day's budgets of tokens and cost. A rule uses no tokens, so that no budget refuses one. Messages that come
//! too fast are refused earlier, where signals are perceived.

use crate::effect::Effect;
use crate::envelope::{Code, Details};
use crate::rate::{Allowance, Scope};
use crate::usage::{NoBudget, Origin};

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

/// What a person can do about a budget that is used up.
const HINT: &str = "set commands need no tokens and go on working (`help`); `budget` shows what is left";

pub(super) const GATE: Gate = Gate { name: "allowance", priority: 850, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    if let Some(used_up) = turns(ctx) {
        return used_up;
    }
    if let Some(over) = over_limit(case, ctx) {
        let message = format!("that was too fast: {over}; wait {} s and ask again", over.wait_s().max(1));
        return Verdict::refuse(Code::RateLimited, message);
    }
    match case.by {
        Origin::Rule => Verdict::Pass,
        Origin::Model => budgets(ctx),
    }
}

/// Whether a model may be asked once more.
pub(super) fn model_may_go_on(ctx: &Ctx<'_>) -> Verdict {
    turns(ctx).unwrap_or_else(|| budgets(ctx))
}

/// A refusal, where the request has no turns left.
fn turns(ctx: &Ctx<'_>) -> Option<Verdict> {
    let (used, turns_max) = (ctx.budget.turns(), ctx.env.limits.turns_max);
    // What a countersigned plan needs ends by itself, and its verification must not wait (invariant 3).
    let is_over = used > turns_max && ctx.carrying.is_none();
    is_over.then(|| Verdict::refuse(Code::BudgetExceeded, format!("the {turns_max} turns of this request are used up")))
}

fn budgets(ctx: &Ctx<'_>) -> Verdict {
    let allowed = ctx.env.budgets.allow(ctx.spent, ctx.signal.ground);
    allowed.map_or_else(|why| refuse(&why, ctx), |()| Verdict::Pass)
}

fn refuse(why: &NoBudget, ctx: &Ctx<'_>) -> Verdict {
    let details = Details { recovery_hint: Some(HINT.to_owned()), ..Details::default() };
    Verdict::refuse_with(Code::BudgetExceeded, ctx.env.budgets.sentence(why), details)
}

/// What belongs to a plan that is carried out or verified is held to no limit: it was countersigned, and it must be
/// verified (invariant 3).
fn over_limit<'a>(case: &CallCase<'_>, ctx: &Ctx<'a>) -> Option<&'a Allowance> {
    if ctx.carrying.is_some() {
        return None;
    }
    let scope = Scope::of_calls(case.kind)?;
    // What is left was counted before this step, and calls of one step leave together.
    let is_one =
        |effect: &&Effect| matches!(effect, Effect::Call(call) if Scope::of_calls(call.get().kind) == Some(scope));
    let made = u32::try_from(ctx.effects.iter().filter(is_one).count()).unwrap_or(u32::MAX);
    ctx.env.allowances.iter().find(|one| one.scope == scope && one.left <= made)
}
