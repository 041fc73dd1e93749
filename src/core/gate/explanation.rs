//! Gate `explanation`: every action says why (GAT-04).

use crate::envelope::Code;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "explanation", priority: 500, call, post: not_about_messages };

fn call(case: &CallCase<'_>, _: &Ctx<'_>) -> Verdict {
    if case.proposal.because.trim().is_empty() {
        return Verdict::refuse(Code::PolicyBlocked, format!("`{}` gives no reason", case.shown_name()));
    }
    Verdict::Pass
}
