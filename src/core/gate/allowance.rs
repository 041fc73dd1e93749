//! Gate `allowance`: the request's own budget, and what one person may have called within a minute. Messages that come too
//! fast are refused earlier, where signals are perceived.

use crate::envelope::Code;
use crate::rate::{Allowance, Scope};

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "allowance", priority: 850, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let (used, turns_max) = (ctx.budget.turns(), ctx.env.limits.turns_max);
    if used > turns_max {
        return Verdict::refuse(Code::BudgetExceeded, format!("the {turns_max} turns of this request are used up"));
    }
    match over_limit(case, ctx) {
        Some(over) => Verdict::refuse(
            Code::RateLimited,
            format!("that was too fast: {over}; wait {} s and ask again", over.wait_s()),
        ),
        None => Verdict::Pass,
    }
}

/// What belongs to a plan that is carried out or verified is held to no limit: it was countersigned, and it must be
/// verified (invariant 3).
fn over_limit<'a>(case: &CallCase<'_>, ctx: &Ctx<'a>) -> Option<&'a Allowance> {
    if ctx.carrying.is_some() {
        return None;
    }
    let scope = Scope::of_calls(case.kind)?;
    ctx.env.allowances.iter().find(|one| one.scope == scope && one.left == 0)
}
