//! A thread's plans as the store knows them: taken over when the thread begins, moved on in step with it, and taken over
//! again where somebody else was faster. What a plan is and which moves there are is in `approval/`.

use crate::approval::{Filed, PlanId, PlanState, Standing};
use crate::effect::{Effect, Ending};
use crate::envelope::{Code, Details, Failure};
use crate::gate::Refusal;
use crate::port::{Claim, Mark};
use crate::signal::Signal;

use super::perceive::go_through;
use super::request::Request;
use super::state::{AuditAbout, Turn};
use super::{OpenWrite, carry, draft, grants, say};

/// What the store holds of this thread's plans. A change that was begun and is not verified puts the thread into
/// VERIFYING at once, before it hears anything (DESIGN.md section 4).
pub(crate) fn on_filed(turn: &mut Turn<'_>, filed: Vec<Filed>) {
    for one in filed {
        turn.state.desk.put(one, turn.now);
    }
    open_what_is_open(turn);
}

/// Somebody else moved the plan first: nothing of the step was done, and what they did stands. Where the plan still waits,
/// or a request was taken back, the signal is heard again by what stands now.
pub(crate) fn on_lost(turn: &mut Turn<'_>, signal: Signal, filed: &Filed) {
    let is_heard_again = filed.state() == PlanState::Pending || signal.payload.taken_back().is_some();
    let mut request = begun_again(turn, signal, filed);
    turn.count("plans_lost_total", &[]);
    if is_heard_again {
        return go_through(turn, request);
    }
    let message = "somebody else was faster".to_owned();
    let refusal = Refusal { gate: "decision", code: Code::FsmBlocked, message, details: Details::default() };
    turn.note_refusal(&request, &refusal, Some(filed));
    turn.say_no(&mut request, Mark::Refused, say::plans::moved_meanwhile(filed));
    turn.finish(request, Ending::Answered);
}

/// Another plan holds the target: this one is not carried out.
pub(crate) fn on_held(turn: &mut Turn<'_>, signal: Signal, filed: &Filed, by: &PlanId) {
    let mut request = begun_again(turn, signal, filed);
    let message = format!("another change of the same target is not verified yet: plan {by}");
    let refusal = Refusal { gate: "in_flight", code: Code::FsmBlocked, message, details: Details::default() };
    turn.note_refusal(&request, &refusal, Some(filed));
    turn.shift(&request, filed.id(), PlanState::Refused(refusal.code), &refusal.message, |_| {});
    let blocks = say::plans::not_carried_out(filed, &refusal, turn.env.mask);
    turn.say(&mut request, Mark::Refused, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
}

/// Somebody else wrote into the ledger first: nothing of the step was done. A plan that this signal carries goes on from
/// where it stands.
pub(crate) fn on_overtaken(turn: &mut Turn<'_>, signal: Signal) {
    let request = begun_anew(turn, signal);
    turn.count("ledger_overtaken_total", &[]);
    open_what_is_open(turn);
    if request.signal.actor.is_ourselves() {
        return go_through(turn, request);
    }
    if let Some(filed) = draft::under_way(turn, &request) {
        return carry::resume(turn, request, &filed);
    }
    // The request is for something else than the announcement.
    if turn.state.link_news.was_told_by(&request.signal.id) {
        return go_through(turn, request);
    }
    let Some(mut request) = draft::ask_after_all(turn, request) else { return };
    let message = "somebody else changed that just now".to_owned();
    let refusal = Refusal { gate: "ledger", code: Code::FsmBlocked, message, details: Details::default() };
    turn.note_refusal(&request, &refusal, None);
    turn.say(&mut request, Mark::Refused, Claim::Nothing, say::overtaken());
    turn.finish(request, Ending::Answered);
}

/// The request once more, after a step that was not stored: the workflow is put back to what is true of the plans.
fn begun_again(turn: &mut Turn<'_>, signal: Signal, filed: &Filed) -> Request {
    turn.state.desk.put(filed.clone(), turn.now);
    open_what_is_open(turn);
    begun_anew(turn, signal)
}

fn begun_anew(turn: &mut Turn<'_>, signal: Signal) -> Request {
    let at_work = turn.state.request.take().filter(|request| request.signal.id == signal.id);
    let ended = turn.state.ended.as_ref().filter(|ended| ended.signal == signal.id);
    // What it has called and said already keeps its numbers, also where it had come to its end.
    let numbers = at_work.map(|before| (before.again, before.next_call, before.next_post));
    let numbers = numbers.or(ended.map(|ended| (ended.again, ended.next_call, ended.next_post)));
    let fresh = Request::new(signal, turn.state.turn);
    let Some((again, next_call, next_post)) = numbers else { return fresh };
    Request { again, next_call, next_post, ..fresh }
}

fn open_what_is_open(turn: &mut Turn<'_>) {
    let holding = turn.state.desk.holding().map(|filed| filed.frozen.plan());
    let open = holding.map(|plan| OpenWrite { call: plan.call(), target: plan.target.clone() });
    turn.state.fsm.agree_with_store(open);
}

impl Turn<'_> {
    /// Moves a plan: on the desk, in the store by compare-and-set, in the record, in the counters and on its card. False,
    /// and nothing happens, where the plan may not be moved like this.
    pub(super) fn shift(
        &mut self,
        request: &Request,
        plan: &PlanId,
        to: PlanState,
        detail: &str,
        change: impl FnOnce(&mut Standing),
    ) -> bool {
        self.shift_as(request, (plan, to, to.as_str()), detail, change)
    }

    /// The same, where the record says something else than the state that it comes to.
    pub(super) fn shift_as(
        &mut self,
        request: &Request,
        (plan, to, what): (&PlanId, PlanState, &'static str),
        detail: &str,
        change: impl FnOnce(&mut Standing),
    ) -> bool {
        let before = self.state.desk.get(plan).map(|filed| (filed.frozen.clone(), filed.standing.decided.clone()));
        let Some((moved, (frozen, was_decided))) = self.state.desk.shift(plan, to, self.now, change).zip(before) else {
            return false;
        };
        let filed = Filed { frozen, standing: moved.to.clone() };
        self.effects.push(Effect::Move(Box::new(moved)));
        let planned = filed.frozen.plan();
        self.count("plans_total", &[("became", what), ("risk", planned.risk.as_str())]);
        let (call, target) = (planned.call(), planned.target.to_string());
        let about =
            AuditAbout { call: &call, target: Some(&target), detail, plan: Some(&filed), ..AuditAbout::default() };
        self.audit(what, &request.signal, about);
        grants::fall_with(self, request, &filed);
        let by = filed.standing.decided.as_ref().filter(|decided| Some(*decided) != was_decided.as_ref());
        self.redraw(request, &filed, by);
        true
    }

    /// Counts and records a refusal that no gate of the stack made, before it is said (invariant 9).
    pub(super) fn note_refusal(&mut self, request: &Request, refusal: &Refusal, plan: Option<&Filed>) {
        #[cfg(test)]
        if crate::step::broken::is(crate::step::broken::Break::Record) {
            return;
        }
        let code = refusal.code.as_str();
        self.count("gate_block_total", &[("gate", refusal.gate), ("code", code), ("tool", "plan")]);
        let call = plan.map(|filed| filed.frozen.plan().call()).unwrap_or_default();
        let target = plan.map(|filed| filed.frozen.plan().target.to_string());
        let about = AuditAbout {
            call: &call,
            target: target.as_deref(),
            detail: &refusal.message,
            refusal: Some(refusal),
            plan,
            ..AuditAbout::default()
        };
        self.audit("refused", &request.signal, about);
    }

    /// A tool server has its own last check beside the executor (SEC-02); what it refuses is recorded like a gate's.
    pub(super) fn note_spoke_refusal(&mut self, request: &mut Request, failure: &Failure) -> &'static str {
        let gate = "spoke";
        let tool = request.judged.last().map(|judged| judged.what.clone()).unwrap_or_default();
        let known = self.env.registry.named(&tool).map_or("unknown", |(tool, _, _)| tool);
        self.count("gate_block_total", &[("gate", gate), ("code", failure.code.as_str()), ("tool", known)]);
        let refusal =
            Refusal { gate, code: failure.code, message: failure.message.clone(), details: failure.details.clone() };
        let (detail, target) = (&failure.message, None);
        let about = AuditAbout { call: &tool, target, detail, refusal: Some(&refusal), ..AuditAbout::default() };
        self.audit("refused", &request.signal, about);
        if let Some(judged) = request.judged.last_mut() {
            judged.refusal = Some(refusal);
        }
        gate
    }
}
