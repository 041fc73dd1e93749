//! Gate `approval`: what changes something needs somebody's countersignature on exactly that plan. It lets a write pass
//! only as the plan that the request carries out: approved, unchanged to the byte, within its time, and the same call. A model
//! reads by itself only files that people of the thread have named.

use crate::approval::{Filed, Frozen, PlanState, Risk, still_unasked};
use crate::envelope::{Code, Details};
use crate::signal::ActorKind;
use crate::text;
use crate::thread::{Named, paths_in};
use crate::tool::{ArgKind, ToolKind};
use crate::usage::Origin;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "approval", priority: 100, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    match case.kind {
        ToolKind::Resolve | ToolKind::Read | ToolKind::Record => unasked(case, ctx),
        ToolKind::Write => match ctx.carried() {
            None => ask(case),
            Some(filed) => carry_out(case, filed, ctx),
        },
    }
}

/// What a model wants to read where nobody in this thread has named it is asked for first: text that it has read may have led it
/// there (SEC-05).
fn unasked(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    if case.by == Origin::Rule || ctx.is_verification(case) {
        return Verdict::Pass;
    }
    let mut own = Named::default();
    if ctx.signal.actor.kind == ActorKind::Human {
        own.note(&ctx.signal.payload.words());
    }
    let is_named = |path: &str| own.covers(path) || ctx.named.covers(path);
    let lines = case
        .args_of(ArgKind::Command)
        .flat_map(|(name, line)| paths_in(&line).map(|path| (name, path.to_owned())).collect::<Vec<_>>());
    let mut paths = case.paths().map(|(name, path)| (name, path.into_owned())).chain(lines);
    let Some((argument, path)) = paths.find(|(_, path)| !is_named(path)) else {
        return Verdict::Pass;
    };
    let details = Details {
        argument: Some(argument.to_owned()),
        action: Some(case.shown_name()),
        recovery_hint: Some("the person is asked by a button; go on without it".to_owned()),
        ..Details::default()
    };
    let path = text::one_line(&ctx.env.mask.apply(&path), 100);
    Verdict::refuse_with(Code::ApprovalRequired, format!("nobody has named `{path}` in this thread"), details)
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
    if let Some(why) = riskier_by_now(case, filed, ctx) {
        let message = format!("its risk is high by now: {why}; ask again");
        return Verdict::refuse(Code::ApprovalRequired, message);
    }
    if is_the_planned_call(case, filed) {
        return Verdict::Pass;
    }
    Verdict::refuse(Code::PolicyBlocked, "this is not the call that was countersigned")
}

/// Why the place that is written to is of high risk, where that was not so when the plan was frozen.
fn riskier_by_now<'a>(case: &CallCase<'_>, filed: &Filed, ctx: &Ctx<'a>) -> Option<&'a str> {
    let was_known = filed.frozen.plan().risk == Risk::High;
    case.paths().filter(|_| !was_known).find_map(|(_, path)| ctx.env.places.why(&path))
}

/// AC-11: a call that differs in anything from its plan was never approved.
fn is_the_planned_call(case: &CallCase<'_>, filed: &Filed) -> bool {
    let plan = filed.frozen.plan();
    let names = case.proposal.tool.to_lowercase() == plan.tool && case.proposal.action.to_lowercase() == plan.action;
    names && case.target_id() == Some(&plan.target) && case.args.as_ref().is_ok_and(|args| *args == plan.args)
}
