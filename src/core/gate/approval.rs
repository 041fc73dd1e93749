//! Gate `approval`: what changes something needs somebody's countersignature on exactly that plan. It lets a write pass
//! only as the plan that the request carries out: approved, unchanged to the byte, within its time, and the same call.

use crate::approval::{Filed, Frozen, PlanState, still_unasked};
use crate::envelope::{Code, Details};
use crate::tool::ToolKind;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "approval", priority: 100, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    match case.kind {
        ToolKind::Resolve | ToolKind::Read | ToolKind::Record => Verdict::Pass,
        ToolKind::Write => match ctx.carried() {
            None => ask(case),
            Some(filed) => carry_out(case, filed, ctx),
        },
    }
}

fn ask(case: &CallCase<'_>) -> Verdict {
    let details = Details { action: Some(case.shown_name()), ..Details::default() };
    Verdict::refuse_with(
        Code::ApprovalRequired,
        format!("`{}` must be countersigned first", case.shown_name()),
        details,
    )
}

fn carry_out(case: &CallCase<'_>, filed: &Filed, ctx: &Ctx<'_>) -> Verdict {
    let decided = filed.standing.decided.as_ref().filter(|_| filed.state() == PlanState::Approved);
    let Some(decided) = decided else {
        return Verdict::refuse(Code::ApprovalRequired, format!("this plan is {}", filed.state().as_str()));
    };
    if ctx.desk.is_expired(filed.id(), ctx.now) {
        return Verdict::refuse(Code::ApprovalRequired, "the approval of this plan has expired");
    }
    if let Err(error) = Frozen::read(filed.frozen.bytes().to_owned(), filed.frozen.digest()) {
        return Verdict::refuse(Code::PolicyBlocked, error.to_string());
    }
    let labels = ctx.resolved.labels(&filed.frozen.plan().target);
    if !decided.unasked.iter().all(|unasked| still_unasked(filed, unasked, &labels, &ctx.env, ctx.now)) {
        return Verdict::refuse(
            Code::ApprovalRequired,
            "what allowed this beforehand does not hold any more; ask again",
        );
    }
    if is_the_planned_call(case, filed) {
        return Verdict::Pass;
    }
    Verdict::refuse(Code::PolicyBlocked, "this is not the call that was countersigned")
}

/// AC-11: a call that differs in anything from its plan was never approved.
fn is_the_planned_call(case: &CallCase<'_>, filed: &Filed) -> bool {
    let plan = filed.frozen.plan();
    let names = case.proposal.tool.to_lowercase() == plan.tool && case.proposal.action.to_lowercase() == plan.action;
    names && case.target_id() == Some(&plan.target) && case.args.as_ref().is_ok_and(|args| *args == plan.args)
}
