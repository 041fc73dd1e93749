//! The stack itself: the gates in their order, and the three ways through it. It keeps the trace, and it alone seals.

use crate::env::Env;
use crate::port::{Outgoing, Source};
use crate::proposal::Proposal;
use crate::signal::{CallId, Wall};
use crate::text;
use crate::tool::ToolKind;
use crate::usage::Origin;

use super::{CallCase, Cleared, Ctx, Judged, Passed, Refusal, Standing, ToolCall, Verdict, Warrant};
use super::{
    actor, allowance, approval, depth, egress, explanation, intent, own, repetition, resolution, routing, schema,
    secrets, vault, workflow,
};

/// One gate: a name, a priority and two pure questions.
pub struct Gate {
    /// Stable: traces, metrics and audit rows carry it.
    pub name: &'static str,
    /// The higher first; equal ones by name (C-24).
    pub priority: u16,
    /// May this call be made?
    pub call: fn(&CallCase<'_>, &Ctx<'_>) -> Verdict,
    /// May this message leave?
    pub post: fn(&Outgoing, &Standing<'_>) -> Verdict,
}

/// Every gate, in order (DESIGN.md section 3). None can be left out, added or switched off at run time.
pub const STACK: [Gate; 15] = [
    schema::GATE,
    depth::GATE,
    actor::GATE,
    allowance::GATE,
    repetition::GATE,
    workflow::GATE,
    resolution::GATE,
    routing::GATE,
    intent::GATE,
    vault::GATE,
    secrets::GATE,
    explanation::GATE,
    egress::GATE,
    own::GATE,
    approval::GATE,
];

/// For a gate that has nothing to ask about messages.
pub(super) fn not_about_messages(_: &Outgoing, _: &Standing<'_>) -> Verdict {
    Verdict::Pass
}

/// Judges a proposed call, by whomever it was thought of. What passes every gate is sealed under the given id.
pub fn judge_call(
    (proposal, by): (&Proposal, Origin),
    id: CallId,
    ctx: &Ctx<'_>,
) -> (Judged, Option<Cleared<ToolCall>>) {
    let case = CallCase::new(proposal, by, &ctx.env);
    let (passed, refusal) = walk(|gate| (gate.call)(&case, ctx));
    let judged = Judged {
        what: case.shown_name(),
        target: proposal.target.as_deref().map(|target| text::one_line(target, 100)),
        labels: case.target_id().map(|target| ctx.resolved.labels(target)).unwrap_or_default(),
        asked_by: ctx.principal().actor.id.clone(),
        because: text::one_line(&ctx.env.mask.apply(&proposal.because), 200),
        passed,
        refusal,
        plan: None,
    };
    let call = if judged.refusal.is_none() { checked_call(&case, id, ctx) } else { None };
    (judged, call.map(Cleared::seal))
}

/// Judges a message that leaves in answer to a request.
pub fn judge_post(post: Outgoing, ctx: &Ctx<'_>, readings: &[Source]) -> Result<Cleared<Outgoing>, Box<Refusal>> {
    seal_post(post, &Standing::Fresh { ctx: *ctx, readings })
}

/// Clears a message again that was read back from the outbox: the outgoing gates run once more.
pub fn reissue(post: Outgoing, env: Env<'_>) -> Result<Cleared<Outgoing>, Box<Refusal>> {
    seal_post(post, &Standing::Stored { env })
}

fn seal_post(post: Outgoing, standing: &Standing<'_>) -> Result<Cleared<Outgoing>, Box<Refusal>> {
    match walk(|gate| (gate.post)(&post, standing)) {
        (_, None) => Ok(Cleared::seal(post)),
        (_, Some(refusal)) => Err(Box::new(refusal)),
    }
}

fn walk(ask: impl Fn(&Gate) -> Verdict) -> (Vec<Passed>, Option<Refusal>) {
    let mut passed = Vec::with_capacity(STACK.len());
    for gate in &STACK {
        let verdict = ask(gate);
        #[cfg(test)]
        let verdict = crate::step::broken::gate(gate.name, verdict);
        match verdict {
            Verdict::Pass => passed.push(Passed { gate: gate.name, priority: gate.priority }),
            Verdict::Refuse(refusal) => return (passed, Some(Refusal { gate: gate.name, ..*refusal })),
        }
    }
    (passed, None)
}

/// The call as it will be made. Everything in it was checked by the gates; where one of these is missing after all, there
/// is no call.
fn checked_call(case: &CallCase<'_>, id: CallId, ctx: &Ctx<'_>) -> Option<ToolCall> {
    let spec = case.spec?;
    let tool = ctx.env.registry.tool(&case.proposal.tool)?;
    Some(ToolCall {
        id,
        spoke: ctx.env.registry.spoke_of(&tool.name)?.to_owned(),
        tool: tool.name.clone(),
        action: case.proposal.action.to_lowercase(),
        kind: case.kind,
        target: case.target_id().cloned(),
        args: case.args.as_ref().ok()?.clone(),
        by: case.by,
        limit_ms: spec.limit_ms,
        warrant: if case.kind == ToolKind::Write { Some(warrant(ctx)?) } else { None },
    })
}

/// What the approval gate has just let pass. Without it no write is sealed.
fn warrant(ctx: &Ctx<'_>) -> Option<Warrant> {
    let frozen = &ctx.carried()?.frozen;
    let (plan, bytes, digest) = (frozen.plan().id.clone(), frozen.bytes().to_owned(), frozen.digest().clone());
    let permit_ms = i64::try_from(ctx.env.limits.permit_ms).unwrap_or(0);
    let until = Wall(ctx.now.wall.0.saturating_add(permit_ms));
    Some(Warrant { plan, bytes, digest, until })
}
