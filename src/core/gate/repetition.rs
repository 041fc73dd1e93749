//! Gate `repetition`: the fourth identical call of a request is a loop (LOOP-07, LOOP-08, FM-8).

use crate::envelope::Code;
use crate::thread::Budget;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

/// How often the same call may be made in one request.
pub const IDENTICAL_CALLS_MAX: u32 = 3;

pub(super) const GATE: Gate = Gate { name: "repetition", priority: 800, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let made = ctx.budget.made(&Budget::key(case.proposal));
    if made >= IDENTICAL_CALLS_MAX {
        let message = format!("`{}` was already called {made} times with the same arguments", case.shown_name());
        return Verdict::refuse(Code::LoopDetected, message);
    }
    Verdict::Pass
}
