//! How an approved plan is carried out: a fresh look at its target, all gates again, the write, and a fresh read that
//! verifies it. Every stage is a proposal like any other; each move of the plan is stored before what follows from it is
//! done, so that a crash leaves it where it can be taken up.

use serde_json::Value;

use crate::answer;
use crate::approval::{self, Filed, PlanId, PlanState, Verified};
use crate::effect::Ending;
use crate::envelope::{Code, Details, Envelope, Failure};
use crate::gate::{Refusal, ToolCall};
use crate::port::{Claim, Mark};
use crate::proposal::Proposal;
use crate::signal::Wall;
use crate::tool::ToolKind;
use crate::usage::Origin;

use super::drift::drift;
use super::outputs::Outputs;
use super::request::{Driver, Request};
use super::run::{Proposed, found_by, learn, propose, source_of};
use super::state::Turn;
use super::{OpenWrite, say};

/// The first pause before a verification is tried again, doubling up to the longest: soon enough for a service that is
/// just starting, seldom enough for a machine that is down.
const LOOK_AGAIN_FIRST_MS: i64 = 10_000;
const LOOK_AGAIN_LAST_MS: i64 = 300_000;

/// The first pause before a change that takes its time is looked at again, doubling.
const SETTLE_FIRST_MS: i64 = 2_000;

/// What is allowed for after a permit and a time limit are over, before anybody relies on it: two processes read the
/// clock, and a program that is being ended takes a moment.
const SLACK_MS: u64 = 1_000;

/// How far a plan has come in the request that carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its target is looked up afresh.
    Look,
    /// It is being done.
    Write,
    /// Its target is read.
    Verify,
}

/// A plan under way.
#[derive(Clone, Debug)]
pub(crate) struct Carrying {
    stage: Stage,
    /// What the tool server said went wrong, where it did.
    trouble: Option<Failure>,
}

impl Carrying {
    const fn at(stage: Stage) -> Self {
        Self { stage, trouble: None }
    }
}

/// An approved plan begins: with a fresh resolve of exactly its target.
pub(super) fn begin(turn: &mut Turn<'_>, mut request: Request, plan: &PlanId) {
    let Some(filed) = turn.state.desk.get(plan).cloned() else {
        return turn.finish(request, Ending::Answered);
    };
    request.carrying = Some(plan.clone());
    let planned = filed.frozen.plan();
    let spec = turn.env.registry.action(&planned.tool, &planned.action);
    let resolver = spec.and_then(|spec| spec.resolve.as_deref()).and_then(|call| call.split_once('.'));
    let Some((tool, action)) = resolver else {
        let message = format!("`{}` is not declared any more", planned.call());
        return not_carried_out(turn, request, &refusal(Code::NotFound, message));
    };
    let look = Proposal {
        tool: tool.to_owned(),
        action: action.to_owned(),
        target: None,
        args: [("query".to_owned(), Value::from(planned.target.as_str()))].into_iter().collect(),
        because: planned.because.clone(),
    };
    call(turn, request, Carrying::at(Stage::Look), &look);
}

/// The signal that approved a plan is taken up again after a crash.
pub(super) fn resume(turn: &mut Turn<'_>, request: Request, filed: &Filed) {
    match filed.state() {
        PlanState::Approved => begin(turn, request, filed.id()),
        PlanState::Executing | PlanState::Unknown => unknown(turn, request, filed.id()),
        PlanState::Unverified => look_at(turn, request, filed.id(), None),
        PlanState::Pending
        | PlanState::Verified(_)
        | PlanState::Denied
        | PlanState::Expired
        | PlanState::Cancelled
        | PlanState::Refused(_)
        | PlanState::Failed => turn.finish(request, Ending::Answered),
    }
}

/// The engine's own signal: time has come for this plan.
pub(super) fn due(turn: &mut Turn<'_>, mut request: Request, plan: &PlanId) {
    if let Some(filed) = expire(turn, &request, plan) {
        turn.say(&mut request, Mark::Plain, Claim::Nothing, say::waiting::came_to_nothing(&filed, turn.env.mask));
        return turn.finish(request, Ending::Answered);
    }
    let Some(filed) = turn.state.desk.get(plan).cloned() else {
        return turn.finish(request, Ending::Answered);
    };
    if !may_be_looked_at(turn, &filed) {
        return turn.finish(request, Ending::Answered);
    }
    if filed.state() == PlanState::Executing {
        // Left by a process that ended. From here on its outcome is unknown, and its time to act is over.
        turn.shift(&request, plan, PlanState::Unknown, "the process that carried it out ended", |_| {});
    }
    look_at(turn, request, plan, None);
}

/// Somebody asks for the verification of what is open.
pub(super) fn verify(turn: &mut Turn<'_>, mut request: Request) {
    let Some(filed) = turn.state.desk.holding().cloned() else {
        turn.say(&mut request, Mark::Plain, Claim::Nothing, say::plans::nothing_to_verify());
        return turn.finish(request, Ending::Answered);
    };
    if !may_be_looked_at(turn, &filed) {
        turn.say(&mut request, Mark::Plain, Claim::Nothing, say::plans::too_early(&filed));
        return turn.finish(request, Ending::Answered);
    }
    if filed.state() == PlanState::Executing {
        turn.shift(&request, filed.id(), PlanState::Unknown, "the process that carried it out ended", |_| {});
    }
    look_at(turn, request, filed.id(), None);
}

/// A request that a model drove is over: what it left unverified is looked at, where that may be done by now.
pub(super) fn verify_after_all(turn: &mut Turn<'_>, mut request: Request) {
    if turn.state.desk.holding().is_some_and(|filed| may_be_looked_at(turn, filed)) {
        // What a model was still reading is no look at what was changed.
        turn.give_up_what_waits(&mut request);
        return verify(turn, request);
    }
    turn.finish(request, Ending::Answered);
}

/// Moves a plan whose time to be decided, or to be begun, is over. Returns it where it was moved.
pub(super) fn expire(turn: &mut Turn<'_>, request: &Request, plan: &PlanId) -> Option<Filed> {
    let filed = turn.state.desk.get(plan)?;
    let waits = matches!(filed.state(), PlanState::Pending | PlanState::Approved);
    // An approved plan is taken up by its own signal first, and is then refused by the gate if it comes too late.
    let is_own = filed.standing.decided.as_ref().is_some_and(|decided| decided.signal == request.signal.id);
    if !waits || is_own || !turn.state.desk.is_expired(plan, turn.now) {
        return None;
    }
    turn.shift(request, plan, PlanState::Expired, "nobody decided in time", |_| {});
    turn.state.desk.get(plan).cloned()
}

/// A write is cleared and about to leave: the plan is moved to EXECUTING and the workflow to WRITING, or it does not leave.
pub(super) fn start(turn: &mut Turn<'_>, request: &Request, call: &ToolCall) -> bool {
    let Some((warrant, target)) = call.warrant.as_ref().zip(call.target.clone()) else {
        return false;
    };
    if !turn.state.fsm.can_execute(ToolKind::Write) {
        return false;
    }
    let ms = call.limit_ms.saturating_add(SLACK_MS);
    let over_at = later(warrant.until, i64::try_from(ms).unwrap_or(i64::MAX));
    let detail = format!("over at the latest at {}", answer::time(over_at));
    let begun = turn.shift(request, &warrant.plan, PlanState::Executing, &detail, |s| s.over_at = Some(over_at));
    begun && turn.state.fsm.on_write_started(OpenWrite { call: call.name(), target })
}

/// A stage has answered.
pub(super) fn on_answer(
    turn: &mut Turn<'_>,
    request: Request,
    carrying: &Carrying,
    call: Option<&ToolCall>,
    envelope: &Envelope,
) {
    match carrying.stage {
        Stage::Look => on_look(turn, request, call, envelope),
        Stage::Write => on_written(turn, request, envelope),
        Stage::Verify => on_read(turn, request, carrying.trouble.as_ref(), call, envelope),
    }
}

/// Whether what it does can still be stopped: nothing of the change is done yet.
pub(super) const fn may_be_stopped(carrying: &Carrying) -> bool {
    matches!(carrying.stage, Stage::Look)
}

/// The time of the request is over while a plan is under way.
pub(super) fn on_deadline(turn: &mut Turn<'_>, request: Request, carrying: &Carrying) {
    let message = "it took longer than a request may".to_owned();
    match carrying.stage {
        Stage::Look => not_carried_out(turn, request, &refusal(Code::Timeout, message)),
        Stage::Write => {
            let Some(plan) = request.carrying.clone() else { return turn.finish(request, Ending::Answered) };
            unknown(turn, request, &plan);
        }
        Stage::Verify => unreachable(turn, request, carrying.trouble.as_ref(), &message),
    }
}

/// The signal that approved a plan was interrupted for the last time: what is said must be true of the plan.
pub(super) fn was_carried_by(turn: &mut Turn<'_>, request: &mut Request) -> bool {
    let own = |filed: &&&Filed| filed.standing.decided.as_ref().is_some_and(|d| d.signal == request.signal.id);
    let Some(filed) = turn.state.desk.open().iter().find(own).map(|filed| (*filed).clone()) else {
        return false;
    };
    let plan = filed.id().clone();
    match filed.state() {
        PlanState::Approved => {
            turn.shift(request, &plan, PlanState::Cancelled, "interrupted before it was begun", |_| {});
            turn.say(request, Mark::Failed, Claim::Nothing, say::plans::never_begun(&filed));
        }
        PlanState::Executing => {
            turn.shift(request, &plan, PlanState::Unknown, "interrupted while it was carried out", |_| {});
            turn.say(request, Mark::Failed, Claim::Nothing, say::plans::outcome_unknown(&filed, turn.now.wall));
        }
        PlanState::Unverified | PlanState::Unknown => {
            turn.say(request, Mark::Failed, Claim::Nothing, say::plans::outcome_unknown(&filed, turn.now.wall));
        }
        PlanState::Pending
        | PlanState::Verified(_)
        | PlanState::Denied
        | PlanState::Expired
        | PlanState::Cancelled
        | PlanState::Refused(_)
        | PlanState::Failed => return false,
    }
    true
}

fn call(turn: &mut Turn<'_>, mut request: Request, carrying: Carrying, proposal: &Proposal) {
    request.budget.begin_turn();
    match propose(turn, &mut request, proposal, Origin::Rule) {
        Proposed::Called(_) => {
            request.driver = Some(Driver::Carrying(carrying));
            turn.state.request = Some(request);
        }
        Proposed::Known(envelope) => on_answer(turn, request, &carrying, None, &envelope),
        Proposed::Refused(refusal) => match carrying.stage {
            Stage::Look | Stage::Write => not_carried_out(turn, request, &refusal),
            Stage::Verify => unreachable(turn, request, carrying.trouble.as_ref(), &refusal.message),
        },
    }
}

fn on_look(turn: &mut Turn<'_>, request: Request, call: Option<&ToolCall>, envelope: &Envelope) {
    let Some(filed) = carried(turn, &request) else {
        return turn.finish(request, Ending::Answered);
    };
    if let Some(failure) = &envelope.error {
        return not_carried_out(turn, request, &refusal(failure.code, failure.message.clone()));
    }
    let plan = filed.frozen.plan();
    let found = found_by(call, envelope);
    let Some(target) = found.iter().find(|resource| resource.id == plan.target) else {
        let message = format!("`{}` is not there any more, or is another one now", plan.target_name);
        return not_carried_out(turn, request, &refusal(Code::Drifted, message));
    };
    if let Some(drift) = drift(turn, &filed, target) {
        return not_carried_out(turn, request, &refusal(Code::Drifted, drift));
    }
    turn.state.resolved.mark_explicit(&plan.target, &plan.requester.id, turn.now.mono);
    turn.state.fsm.on_tool_success(ToolKind::Resolve, Some(&plan.target));
    let write = Proposal {
        tool: plan.tool.clone(),
        action: plan.action.clone(),
        target: Some(plan.target.to_string()),
        args: plan.args.clone(),
        because: plan.because.clone(),
    };
    self::call(turn, request, Carrying::at(Stage::Write), &write);
}

fn on_written(turn: &mut Turn<'_>, mut request: Request, envelope: &Envelope) {
    let Some(filed) = carried(turn, &request) else {
        return turn.finish(request, Ending::Answered);
    };
    let plan = filed.id().clone();
    // Whatever was known of it may be wrong from here on (KNO-13, C-08).
    let target = &filed.frozen.plan().target;
    turn.state.knowledge.forget(target);
    turn.state.outputs.forget(target);
    request.outputs = Outputs::default();
    match &envelope.error {
        Some(failure) if failure.blocked => refused_by_spoke(turn, request, &plan, failure),
        Some(failure) if failure.details.outcome_unknown => unknown(turn, request, &plan),
        trouble => {
            let detail = trouble.as_ref().map_or("done", |failure| failure.message.as_str()).to_owned();
            match trouble {
                None => turn.state.fsm.on_tool_success(ToolKind::Write, None),
                Some(_) => turn.state.fsm.on_write_unknown(),
            }
            turn.shift(&request, &plan, PlanState::Unverified, &detail, |_| {});
            look_at(turn, request, &plan, trouble.clone());
        }
    }
}

/// The tool server's own last check refused: nothing was done.
fn refused_by_spoke(turn: &mut Turn<'_>, mut request: Request, plan: &PlanId, failure: &Failure) {
    let gate = turn.note_spoke_refusal(&mut request, failure);
    turn.state.fsm.on_write_failed();
    // What could not even be begun has failed; what a rule forbade was refused.
    let could_not = failure.code == Code::ExecutionFailed;
    let state = if could_not { PlanState::Failed } else { PlanState::Refused(failure.code) };
    turn.shift(&request, plan, state, &failure.message, |_| {});
    let mut blocks = answer::failure(failure, Some(gate), turn.env.mask);
    blocks.push(say::line(say::plans::NOTHING_CHANGED.to_owned()));
    turn.say(&mut request, Mark::Refused, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
}

/// Nobody knows whether it was done. The thread says so, and looks once it can certainly not be done any more.
fn unknown(turn: &mut Turn<'_>, mut request: Request, plan: &PlanId) {
    turn.state.fsm.on_write_unknown();
    turn.shift(&request, plan, PlanState::Unknown, "it is not known whether it was done", |s| s.next_look = s.over_at);
    if let Some(filed) = turn.state.desk.get(plan).cloned() {
        turn.say(&mut request, Mark::Failed, Claim::Nothing, say::plans::outcome_unknown(&filed, turn.now.wall));
    }
    turn.finish(request, Ending::Answered);
}

/// The verifying read, fresh, of the plan's target.
fn look_at(turn: &mut Turn<'_>, mut request: Request, plan: &PlanId, trouble: Option<Failure>) {
    let Some(filed) = turn.state.desk.get(plan).cloned() else {
        return turn.finish(request, Ending::Answered);
    };
    request.carrying = Some(plan.clone());
    // What was asked before the write is worth asking again after it (LOOP-08, C-18).
    request.budget.forget_calls();
    let planned = filed.frozen.plan();
    let spec = turn.env.registry.action(&planned.tool, &planned.action);
    let verify = spec.and_then(|spec| spec.change.as_ref()).and_then(|change| change.verify.split_once('.'));
    let Some((tool, action)) = verify else {
        let why = format!("`{}` is not declared any more", planned.call());
        return unreachable(turn, request, trouble.as_ref(), &why);
    };
    let read = Proposal {
        tool: tool.to_owned(),
        action: action.to_owned(),
        target: Some(planned.target.to_string()),
        args: serde_json::Map::new(),
        because: format!("to verify: {}", planned.title),
    };
    call(turn, request, Carrying { stage: Stage::Verify, trouble }, &read);
}

fn on_read(
    turn: &mut Turn<'_>,
    mut request: Request,
    trouble: Option<&Failure>,
    call: Option<&ToolCall>,
    envelope: &Envelope,
) {
    let Some((filed, call)) = carried(turn, &request).zip(call) else {
        return unreachable(turn, request, trouble, "nothing was read");
    };
    let plan = filed.frozen.plan();
    let (outcome, findings) = match approval::verify(plan, envelope) {
        Verified::Found(outcome, findings) => (outcome, findings),
        Verified::Unreachable(why) => return unreachable(turn, request, trouble, &why),
    };
    let success = approval::is_success(plan, outcome);
    // What the tool server called a failure is over; what it only began may take its time.
    if !success && trouble.is_none() && may_settle(turn, &filed) {
        return not_yet(turn, request, &filed, outcome, &findings);
    }
    turn.state.fsm.on_tool_success(ToolKind::Read, Some(&plan.target));
    let source = source_of(call, envelope);
    request.sources.push(source.clone());
    learn(turn, request.turn, call, envelope);
    if outcome == approval::Outcome::Absent {
        turn.state.resolved.lose(&plan.target);
    }
    let detail = say::plans::found(plan, outcome, &findings);
    turn.shift(&request, filed.id(), PlanState::Verified(outcome), &detail, |s| s.next_look = None);
    turn.count("verifications_total", &[("outcome", outcome.as_str())]);
    let blocks = say::plans::verified(&filed, outcome, &findings, trouble, turn.env.mask);
    let claim = Claim::Change { plan: plan.id.clone(), outcome, sources: vec![source] };
    turn.say(&mut request, if success { Mark::Plain } else { Mark::Failed }, claim, blocks);
    turn.finish(request, Ending::Answered);
}

/// Whether a change that does not show yet is looked at again: while the pauses so far do not reach its declared time.
fn may_settle(turn: &Turn<'_>, filed: &Filed) -> bool {
    let plan = filed.frozen.plan();
    let spec = turn.env.registry.action(&plan.tool, &plan.action).and_then(|spec| spec.change.as_ref());
    let settles_ms = spec.map_or(0, |change| i64::from(change.settles_ms));
    SETTLE_FIRST_MS.saturating_mul((1 << filed.standing.looks.min(8)) - 1) < settles_ms
}

/// A fresh read does not show it yet: the thread stays in VERIFYING, says so once, and looks again by itself.
fn not_yet(
    turn: &mut Turn<'_>,
    mut request: Request,
    filed: &Filed,
    outcome: approval::Outcome,
    findings: &[approval::Finding],
) {
    let looks = filed.standing.looks;
    // Who asks in between is told, and uses up none of the looks. The engine's own look always counts: else a clock that
    // was set back would have it look again at once, for ever.
    let planned = filed.standing.next_look.filter(|next| is_asked(&request) && looks > 0 && *next > turn.now.wall);
    let next = planned.unwrap_or_else(|| later(turn.now.wall, SETTLE_FIRST_MS.saturating_mul(1 << looks.min(8))));
    if planned.is_none() {
        let again = |standing: &mut approval::Standing| {
            standing.looks = looks.saturating_add(1);
            standing.next_look = Some(next);
        };
        let detail = format!("not yet: {}", say::plans::found(filed.frozen.plan(), outcome, findings));
        turn.shift(&request, filed.id(), filed.state(), &detail, again);
        turn.count("verifications_total", &[("outcome", "not_yet")]);
    }
    if is_asked(&request) || looks == 0 {
        let blocks = say::plans::not_yet(filed, outcome, findings, next, turn.env.mask);
        turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks);
    }
    turn.finish(request, Ending::Answered);
}

/// Whether a person waits for an answer, and it is not only the time that has come.
fn is_asked(request: &Request) -> bool {
    !request.signal.actor.is_ourselves()
}

/// The verifying read could not be made: the thread stays in VERIFYING, says so once, and tries again later.
fn unreachable(turn: &mut Turn<'_>, mut request: Request, trouble: Option<&Failure>, why: &str) {
    let Some(filed) = carried(turn, &request) else {
        return turn.finish(request, Ending::Answered);
    };
    let looks = filed.standing.looks;
    let pause = LOOK_AGAIN_FIRST_MS.saturating_mul(1 << looks.min(8)).min(LOOK_AGAIN_LAST_MS);
    let next = later(turn.now.wall, pause);
    let again = |standing: &mut approval::Standing| {
        standing.looks = looks.saturating_add(1);
        standing.next_look = Some(next);
    };
    turn.shift(&request, filed.id(), filed.state(), &format!("not verified: {why}"), again);
    turn.count("verifications_total", &[("outcome", "unreachable")]);
    if is_asked(&request) || looks == 0 {
        let blocks = say::plans::not_verified(&filed, trouble, why, next, turn.env.mask);
        turn.say(&mut request, Mark::Failed, Claim::Nothing, blocks);
    }
    turn.finish(request, Ending::Answered);
}

/// An approved plan is not carried out after all: nothing was done.
fn not_carried_out(turn: &mut Turn<'_>, mut request: Request, refusal: &Refusal) {
    let Some(filed) = carried(turn, &request) else {
        return turn.finish(request, Ending::Answered);
    };
    if refusal.gate == GATE {
        // What a gate of the stack refused was recorded where it refused.
        turn.note_refusal(&request, refusal, Some(&filed));
        if let Some(judged) = request.judged.last_mut() {
            // For `why`: what was looked at is what stopped it.
            judged.refusal = Some(refusal.clone());
        }
    }
    turn.shift(&request, filed.id(), PlanState::Refused(refusal.code), &refusal.message, |_| {});
    let blocks = say::plans::not_carried_out(&filed, refusal, turn.env.mask);
    turn.say(&mut request, Mark::Refused, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
}

fn carried(turn: &Turn<'_>, request: &Request) -> Option<Filed> {
    turn.state.desk.get(request.carrying.as_ref()?).cloned()
}

/// Whether there is something to look at, and it can certainly not act any more, so that what is read then is what stays
/// (DESIGN.md section 2).
fn may_be_looked_at(turn: &Turn<'_>, filed: &Filed) -> bool {
    #[cfg(test)]
    if crate::step::broken::is(crate::step::broken::Break::EarlyLook) {
        return filed.state().holds_target();
    }
    filed.state().holds_target() && !turn.state.desk.may_still_act(filed.id(), turn.now)
}

/// Where the core itself refuses to carry a plan out.
const GATE: &str = "carry";

fn refusal(code: Code, message: String) -> Refusal {
    Refusal { gate: GATE, code, message, details: Details::default() }
}

const fn later(now: Wall, ms: i64) -> Wall {
    Wall(now.0.saturating_add(ms))
}
