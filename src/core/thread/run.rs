//! The loop of one request: propose, judge, call, take the answer, go on. A procedure drives it here and a model in
//! `agent/`; every proposal, whoever makes it, goes through `propose`.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::answer;
use crate::command;
use crate::effect::{Effect, Ending};
use crate::envelope::{Code, Details, Envelope, Failure};
use crate::gate::{Refusal, ToolCall, judge_call};
use crate::port::{Claim, Mark, Source};
use crate::proposal::Proposal;
use crate::resource::{Resource, ResourceId};
use crate::signal::{CallId, Mono, SignalId};
use crate::tool::ToolKind;
use crate::usage::Origin;

use super::conclude::conclude;
use super::procedure::{CHOICES_MAX, Choice, Procedure, Stage, Wanted};
use super::request::{Driver, Request};
use super::sight::Sight;
use super::state::{AuditAbout, Resume, Turn};
use super::{Budget, Category, Entity, Fact, agent, carry, draft, say, trouble};

/// What became of a proposal.
#[derive(Debug)]
pub(crate) enum Proposed {
    /// It was cleared, and the call is under way under this id.
    Called(CallId),
    /// It was asked in this request already, and there was nothing (FM-11) or what a model asks for is known from it (KNO-10).
    Known(Box<Envelope>),
    /// It was refused; counted and recorded before this is returned (invariant 9).
    Refused(Box<Refusal>),
}

/// Judges one proposal, by whomever it was thought of, and, where it is cleared, makes the call. The only place where a call leaves a thread.
pub(crate) fn propose(turn: &mut Turn<'_>, request: &mut Request, proposal: &Proposal, by: Origin) -> Proposed {
    let id = request.call_id();
    let (mut judged, cleared) = judge_call((proposal, by), id, &turn.ctx(request));
    request.budget.note(Budget::key(proposal));
    if let Some(refusal) = &mut judged.refusal {
        track(turn, proposal, refusal);
    }
    let (what, target, refusal) = (judged.what.clone(), judged.target.clone(), judged.refusal.clone());
    let because = judged.because.clone();
    request.judged.push(judged);
    let Some(call) = cleared else {
        // A proposal that is not cleared was refused; were the refusal missing, it still does not run.
        let refusal = refusal.unwrap_or_else(|| Refusal {
            gate: "schema",
            code: Code::InvalidInput,
            message: format!("`{what}` cannot be called"),
            details: Details::default(),
        });
        record_refusal(turn, request, proposal, (&what, target.as_deref(), &refusal));
        return Proposed::Refused(Box::new(refusal));
    };
    if let Some(known) = known_missing(turn, request, call.get()) {
        return Proposed::Known(Box::new(known));
    }
    if by == Origin::Model
        && let Some(known) = known_facts(turn, request, call.get())
    {
        return Proposed::Known(Box::new(known));
    }
    if call.get().kind == ToolKind::Write && !carry::start(turn, request, call.get()) {
        let mut refusal = Refusal {
            gate: "workflow",
            code: Code::FsmBlocked,
            message: format!("`{what}` cannot be begun now"),
            details: Details::default(),
        };
        track(turn, proposal, &mut refusal);
        record_refusal(turn, request, proposal, (&what, target.as_deref(), &refusal));
        return Proposed::Refused(Box::new(refusal));
    }
    set_deadline(turn, request);
    let plan = request.carrying.as_ref().and_then(|plan| turn.state.desk.get(plan)).cloned();
    let (target, plan) = (target.as_deref(), plan.as_ref());
    let about = AuditAbout { call: &what, target, detail: &because, plan, ..AuditAbout::default() };
    turn.audit("called", &request.signal, about);
    let id = call.get().id.clone();
    request.waiting.insert(id.clone(), call.get().clone());
    turn.show_progress(request, call.get());
    turn.effects.push(Effect::Call(call));
    Proposed::Called(id)
}

/// From a request's first call or question on its time is measured.
pub(super) fn set_deadline(turn: &mut Turn<'_>, request: &mut Request) {
    if !std::mem::replace(&mut request.deadline_set, true) {
        let at = Mono(turn.now.mono.0.saturating_add(turn.env.limits.request_ms_max));
        turn.effects.push(Effect::Wake { at, signal: request.signal.id.clone() });
    }
}

/// Runs a procedure's next step and puts the request back, or ends it.
pub(super) fn advance(turn: &mut Turn<'_>, mut request: Request, procedure: Procedure) {
    let by = crate::text::one_line(&request.signal.actor.display, 64);
    let because = format!("asked by {by}: {}", request.words());
    request.budget.begin_turn();
    let proposal = procedure.proposal(&turn.env, &because);
    match propose(turn, &mut request, &proposal, Origin::Rule) {
        Proposed::Called(_) => {
            request.driver = Some(Driver::Procedure(procedure));
            turn.state.request = Some(request);
        }
        Proposed::Known(envelope) => on_result(turn, request, procedure, None, &envelope),
        Proposed::Refused(refusal) if refusal.code == Code::ApprovalRequired => {
            draft::begin(turn, request, proposal, draft::By::Rule { said_it: procedure.said_it });
        }
        Proposed::Refused(refusal) => {
            turn.say(&mut request, Mark::Refused, Claim::Nothing, say::refused(&refusal, turn.env.mask));
            turn.finish(request, Ending::Answered);
        }
    }
}

/// A tool answered. An answer to nothing that is waited for is counted and dropped.
pub(crate) fn on_answer(turn: &mut Turn<'_>, call: &CallId, envelope: &Envelope) {
    let waited = turn.state.request.take_if(|request| request.waiting.contains_key(call));
    let Some(mut request) = waited else {
        turn.count("stray_answers_total", &[]);
        return;
    };
    let Some(call) = request.waiting.remove(call) else {
        return;
    };
    let ok = if envelope.ok { "true" } else { "false" };
    turn.count("tool_calls_total", &[("tool", &call.tool), ("action", &call.action), ("ok", ok)]);
    if let Some(failure) = &envelope.error {
        turn.count("tool_errors_total", &[("tool", &call.tool), ("code", failure.code.as_str())]);
    }
    let envelope = &of_its_kind(turn, &call, envelope);
    register(turn, &call, envelope);
    let seen = as_seen(turn, &request, &call, envelope);
    if call.kind != ToolKind::Write {
        let labels = call.target.as_ref().map(|target| turn.state.resolved.labels(target)).unwrap_or_default();
        request.outputs.keep(&call, &seen, labels, turn.env.mask);
    }
    match request.driver.take() {
        // What somebody was shown by its name already is theirs to be told about, and a gate judges what they may do with it.
        Some(Driver::Procedure(procedure)) if procedure.is_found_in(&found_by(Some(&call), envelope)) => {
            on_result(turn, request, procedure, Some(&call), envelope);
        }
        Some(Driver::Procedure(procedure)) => on_result(turn, request, procedure, Some(&call), &seen),
        Some(Driver::Agent(agent)) => agent::on_answer(turn, request, *agent, &call, &seen),
        Some(Driver::Draft(draft)) => draft::on_answer(turn, request, draft, Some(&call), envelope),
        Some(Driver::Carrying(carrying)) => carry::on_answer(turn, request, &carrying, Some(&call), envelope),
        None => turn.state.request = Some(request),
    }
}

/// The time of a request is over: it ends with a sentence, and what still comes in for it is dropped.
pub(crate) fn on_deadline(turn: &mut Turn<'_>, signal: &SignalId) {
    let Some(mut request) = turn.state.request.take_if(|request| request.signal.id == *signal) else {
        return;
    };
    if let Some(Driver::Carrying(carrying)) = request.driver.take() {
        return carry::on_deadline(turn, request, &carrying);
    }
    let blocks = say::took_too_long(turn.env.limits.request_ms_max);
    turn.say(&mut request, Mark::Failed, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
}

fn on_result(
    turn: &mut Turn<'_>,
    mut request: Request,
    procedure: Procedure,
    call: Option<&ToolCall>,
    envelope: &Envelope,
) {
    if let Some(failure) = &envelope.error {
        return trouble::tell(turn, request, call, failure);
    }
    let found = found_by(call, envelope);
    if let Some(call) = call {
        on_success(turn, &mut request, call, envelope, &found);
    }
    match procedure.stage {
        Stage::Find => on_found(turn, request, procedure, &found, (call, envelope)),
        Stage::Act(_) => conclude(turn, request, &procedure, call, envelope),
    }
}

/// What a failed call leads to. Returns the gate's name where it was no failure but a refusal, by the tool server itself.
pub(super) fn on_failure(
    turn: &mut Turn<'_>,
    request: &mut Request,
    target: Option<&ResourceId>,
    failure: &Failure,
) -> Option<&'static str> {
    if let (Code::NotFound, Some(target)) = (failure.code, target) {
        // It was there and is gone: the thread has lost it (invariant 1).
        turn.state.resolved.lose(target);
        turn.state.knowledge.forget(target);
    }
    failure.blocked.then(|| turn.note_spoke_refusal(request, failure))
}

/// An answer, of a discovery without the things that it is not there for: what it said of them, and left unsaid, would
/// restrict nobody any more as the things' own server does.
fn of_its_kind<'a>(turn: &mut Turn<'_>, call: &ToolCall, envelope: &'a Envelope) -> Cow<'a, Envelope> {
    let is_kind = |id: &ResourceId| turn.env.registry.may_find(&call.tool, &call.action, id.kind());
    if call.kind != ToolKind::Resolve || envelope.resources().iter().all(|found| is_kind(&found.id)) {
        return Cow::Borrowed(envelope);
    }
    turn.count("foreign_things_total", &[("tool", &call.tool), ("action", &call.action)]);
    let mut envelope = envelope.clone();
    if let Some(Value::Array(listed)) = envelope.data.get_mut("resources") {
        let id = |record: &Value| record.get("id")?.as_str()?.parse().ok();
        listed.retain(|record| id(record).is_some_and(|id| is_kind(&id)));
    }
    Cow::Owned(envelope)
}

/// Takes what a discovery found into the context. Only discoveries add to it (RES-02); a record that is not sound is left
/// out. All of it, whoever asked: how a thing is labelled now restricts everybody, and what was learnt of it while it was
/// labelled otherwise is told to nobody any more.
fn register(turn: &mut Turn<'_>, call: &ToolCall, envelope: &Envelope) {
    for resource in found_by(Some(call), envelope) {
        if turn.state.resolved.peek(&resource.id).is_some_and(|known| known.attrs != resource.attrs) {
            turn.state.knowledge.forget(&resource.id);
        }
        turn.state.resolved.register(resource, turn.now.mono);
    }
}

/// What a discovery found.
pub(super) fn found_by(call: Option<&ToolCall>, envelope: &Envelope) -> Vec<Resource> {
    let is_discovery = call.is_some_and(|call| call.kind == ToolKind::Resolve);
    if is_discovery { envelope.resources() } else { Vec::new() }
}

/// An answer as whoever asked may be told of it: of a discovery, the things that they may see (PRE-01).
fn as_seen<'a>(turn: &Turn<'_>, request: &Request, call: &ToolCall, envelope: &'a Envelope) -> Cow<'a, Envelope> {
    #[cfg(test)]
    if crate::step::broken::is(crate::step::broken::Break::Discovery) {
        return Cow::Borrowed(envelope);
    }
    if call.kind == ToolKind::Resolve {
        Cow::Owned(Sight::of(turn, request.signal.asker()).of_discovery(envelope))
    } else {
        Cow::Borrowed(envelope)
    }
}

pub(super) fn on_success(
    turn: &mut Turn<'_>,
    request: &mut Request,
    call: &ToolCall,
    envelope: &Envelope,
    found: &[Resource],
) {
    let single = match found {
        [only] => Some(&only.id),
        _ => None,
    };
    // While a plan holds its target only the plan's own verification verifies: it knows what to look for (`carry.rs`).
    let looked_at = call.target.as_ref().or(single).filter(|_| turn.state.desk.holding().is_none());
    turn.state.fsm.on_tool_success(call.kind, looked_at);
    for recovered in turn.state.fsm.check_recovery(&call.tool) {
        turn.count("auto_recovery_success_total", &[("error_code", recovered.code.as_str()), ("tool", &call.tool)]);
        let (name, target) = (call.name(), call.target.as_ref().map(ResourceId::as_str));
        let detail = format!("from {}, refused {} times", recovered.code, recovered.attempts);
        let recovery = Some(recovered.id.as_str());
        let about = AuditAbout { call: &name, target, detail: &detail, recovery, ..AuditAbout::default() };
        turn.audit("recovered", &request.signal, about);
    }
    if let Some(target) = &call.target {
        turn.state.resolved.touch(target, turn.now.mono);
    }
    request.sources.push(source_of(call, envelope));
    request.found.extend(found.iter().map(|resource| resource.id.clone()));
    learn(turn, request.turn, call, envelope);
}

/// The reading that an answer can rest on.
pub(super) fn source_of(call: &ToolCall, envelope: &Envelope) -> Source {
    Source { call: call.name(), target: call.target.clone(), observed_at: envelope.meta.observed_at }
}

pub(super) fn learn(turn: &mut Turn<'_>, now_turn: u64, call: &ToolCall, envelope: &Envelope) {
    let (Some(spec), Some(target)) = (turn.env.registry.action(&call.tool, &call.action), &call.target) else {
        return;
    };
    let category = if target.kind() == "mount" { Category::Storage } else { Category::Resource };
    for (attr, value) in answer::facts(&spec.facts, envelope, turn.env.mask) {
        let key = format!("{target}:{attr}");
        let observed_at = envelope.meta.observed_at;
        turn.state.knowledge.learn(Fact { category, key, value, call: call.name(), observed_at, turn: now_turn });
    }
}

fn on_found(
    turn: &mut Turn<'_>,
    request: Request,
    procedure: Procedure,
    found: &[Resource],
    (call, answer): (Option<&ToolCall>, &Envelope),
) {
    let changes = turn.env.registry.kind(&procedure.tool, &procedure.action) == ToolKind::Write;
    let is_named = |id: &ResourceId| found.iter().any(|thing| thing.id == *id && procedure.names(thing));
    match procedure.choose(found) {
        // What a description happens to hold is no name: nothing is changed by it before a person has picked it.
        Choice::One(id) if changes && !is_named(&id) => {
            let question = say::is_it_this(procedure.wanted_name());
            let thing = found.iter().find(|thing| thing.id == id).cloned();
            let choices = thing.into_iter().map(|thing| resume_on(&procedure, thing)).collect();
            turn.ask(request, &question, choices);
        }
        Choice::One(id) => {
            // Getting one single thing that somebody named is intent (RES-13).
            turn.state.resolved.mark_explicit(&id, &request.signal.actor.id, turn.now.mono);
            let said_it = procedure.said_it.clone().or_else(|| became(&procedure, found, &id).filter(|_| changes));
            advance(turn, request, Procedure { stage: Stage::Act(Some(id)), said_it, ..procedure });
        }
        Choice::Ask(several) => {
            let question = say::which_of(procedure.wanted_name(), several.len());
            let choices = several.into_iter().take(CHOICES_MAX).map(|resource| resume_on(&procedure, resource));
            let choices = choices.collect();
            turn.ask(request, &question, choices);
        }
        Choice::Missing => {
            if let Some(call) = call {
                learn_missing(turn, &request, call, answer);
            }
            let gone = matches!(procedure.wanted, Wanted::Known(_));
            let blocks = say::nothing_found(procedure.wanted_name(), gone, answer, turn.env.mask);
            let spec = turn.env.registry.action(&procedure.tool, &procedure.action);
            let kind = spec.and_then(|spec| spec.target.clone());
            trouble::missing(turn, request, kind.as_deref(), blocks);
        }
    }
}

/// Notes that a discovery found nothing, so that this request does not ask for it again (KNO-09). One that failed is not noted:
/// a trouble that passes is nothing to be known.
pub(super) fn learn_missing(turn: &mut Turn<'_>, request: &Request, call: &ToolCall, answer: &Envelope) {
    if let Some(what) = asked_for(call) {
        turn.state.knowledge.learn_missing(&what, "not_found", answer.meta.observed_at, request.turn);
    }
}

/// Returns what a part of a name became, to be said before a card: only a whole name is changed by a standing permission.
fn became(procedure: &Procedure, found: &[Resource], id: &ResourceId) -> Option<String> {
    let thing = found.iter().find(|thing| thing.id == *id).filter(|thing| !procedure.names_exactly(thing))?;
    let entity = Entity { id: thing.id.clone(), name: thing.name.clone() };
    Some(say::it_became(procedure.wanted_name(), &entity))
}

fn resume_on(procedure: &Procedure, resource: Resource) -> (crate::port::Choice, Resume) {
    let shown = say::resource_choice(&resource);
    let wanted = Wanted::Known(Entity { id: resource.id, name: resource.name });
    let again = Procedure { wanted, stage: Stage::Find, ..procedure.clone() };
    (shown, Resume::Procedure(Box::new(again)))
}

fn known_missing(turn: &Turn<'_>, request: &Request, call: &ToolCall) -> Option<Envelope> {
    let fact = turn.state.knowledge.missing(&asked_for(call)?, request.turn)?;
    let mut envelope = Envelope::success(json!({ "resources": [] }), crate::envelope::Meta::default());
    envelope.meta.observed_at = fact.observed_at;
    Some(envelope)
}

/// Under which name facts stand in an answer that was not asked for again.
pub(super) const KNOWN: &str = "known";

/// Everything that this reading would tell, where this very request has read it already. What an earlier request read may be
/// otherwise by now, and while a change is not verified everything is read afresh (C-08, C-29).
fn known_facts(turn: &Turn<'_>, request: &Request, call: &ToolCall) -> Option<Envelope> {
    let spec = turn.env.registry.action(&call.tool, &call.action).filter(|spec| !spec.facts.is_empty())?;
    let target = call.target.as_ref().filter(|_| call.kind == ToolKind::Read && call.args.is_empty())?;
    if turn.state.fsm.open_write().is_some() {
        return None;
    }
    let facts: Vec<&Fact> = turn.state.knowledge.about(target).filter(|fact| fact.turn == request.turn).collect();
    let known = |attr: &String| facts.iter().find(|fact| fact.key == format!("{target}:{attr}"));
    let told: Option<Vec<String>> =
        spec.facts.iter().map(|spec| Some(format!("{}: {}", spec.attr, known(&spec.attr)?.value))).collect();
    let mut envelope = Envelope::success(json!({ KNOWN: told?.join("; ") }), crate::envelope::Meta::default());
    envelope.meta.observed_at = facts.iter().map(|fact| fact.observed_at).min().unwrap_or_default();
    Some(envelope)
}

/// What a discovery asked for: the key of the marker that it was not there.
fn asked_for(call: &ToolCall) -> Option<String> {
    let query = call.args.get("query")?.as_str()?;
    (call.kind == ToolKind::Resolve).then(|| format!("{}:{query}", call.name()))
}

/// Begins a recovery, where the proposer can recover from a refusal by itself (FSM-25). Each is counted once, however often it is
/// tried, so that of those that were begun the share can be told that came to something (TEL-05, TEL-11).
fn track(turn: &mut Turn<'_>, proposal: &Proposal, refusal: &mut Refusal) {
    let known = turn.env.registry.tool(&proposal.tool).map_or("unknown", |tool| tool.name.as_str());
    let Some(pending) = turn.state.fsm.track_recovery(refusal.code, known, turn.now) else { return };
    let is_new = pending.attempts == 1;
    refusal.details.recovery_id = Some(pending.id.clone());
    if is_new {
        turn.count("auto_recovery_attempt_total", &[("error_code", refusal.code.as_str()), ("tool", known)]);
    }
}

fn record_refusal(
    turn: &mut Turn<'_>,
    request: &Request,
    proposal: &Proposal,
    (what, target, refusal): (&str, Option<&str>, &Refusal),
) {
    #[cfg(test)]
    if crate::step::broken::is(crate::step::broken::Break::Record) {
        return;
    }
    let known = turn.env.registry.tool(&proposal.tool).map_or("unknown", |tool| tool.name.as_str());
    let code = refusal.code.as_str();
    turn.count("gate_block_total", &[("gate", refusal.gate), ("code", code), ("tool", known)]);
    let action = if turn.env.registry.action(&proposal.tool, &proposal.action).is_some() {
        proposal.action.to_lowercase()
    } else {
        "unknown".to_owned()
    };
    let kind = turn.env.registry.kind(&proposal.tool, &proposal.action).as_str();
    match refusal.code {
        Code::FsmBlocked => {
            let state = turn.state.fsm.state().as_str();
            turn.count("fsm_tool_block_total", &[("state", state), ("tool", known), ("kind", kind)]);
        }
        Code::StrictResolution => {
            turn.count("strict_resolution_block_total", &[("tool", known), ("action", &action)]);
        }
        Code::RoutingMismatch => {
            let target_kind = refusal.details.resource_id.as_deref().and_then(|id| id.split(':').next()).unwrap_or("");
            let child = refusal.details.suggestions.first().and_then(|child| child.id.split(':').next()).unwrap_or("");
            let labels = [("tool", known), ("target_kind", target_kind), ("child_kind", child)];
            turn.count("routing_mismatch_block_total", &labels);
        }
        Code::ReadOnlyViolation => {
            let category = refusal.details.category.map_or("none", command::Category::name);
            turn.count("read_only_violation_total", &[("tool", known), ("category", category)]);
        }
        Code::ApprovalRequired
        | Code::NotFound
        | Code::ActionNotAllowed
        | Code::PolicyBlocked
        | Code::InvalidInput
        | Code::ExecutionFailed
        | Code::LoopDetected
        | Code::RateLimited
        | Code::Forbidden
        | Code::BudgetExceeded
        | Code::Timeout
        | Code::Drifted => {}
    }
    let recovery = refusal.details.recovery_id.as_deref();
    let about =
        AuditAbout { call: what, target, detail: &refusal.message, recovery, refusal: Some(refusal), plan: None };
    turn.audit("refused", &request.signal, about);
}
