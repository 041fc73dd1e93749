//! Gate `allowance`: the request's own budget. Rates are refused earlier, where signals are perceived.

use crate::envelope::Code;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "allowance", priority: 850, call, post: not_about_messages };

fn call(_: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let (used, turns_max) = (ctx.budget.turns(), ctx.env.limits.turns_max);
    if used > turns_max {
        return Verdict::refuse(Code::BudgetExceeded, format!("the {turns_max} turns of this request are used up"));
    }
    Verdict::Pass
}
