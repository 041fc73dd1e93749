//! `stop`: what is worked on ends, because somebody says so who may. It is the one thing that a thread hears while it works;
//! it is answered by itself, and then what was worked on ends with a word on who stopped it and what was read so far. A
//! change that is being carried out is not stopped: nobody would know what became of it (invariant 3).

use crate::approval::{self, Ask, PlanState, Risk, Verb};
use crate::effect::Ending;
use crate::envelope::{Code, Details};
use crate::gate::{DEPTH_MAX, Refusal};
use crate::port::{Block, Claim, Mark, Right};
use crate::route::Intents;
use crate::signal::{Addressed, Payload, Signal, SignalId};

use super::perceive::{drop_signal, refuse_talk};
use super::request::{Driver, Request};
use super::state::{AuditAbout, Turn};
use super::{carry, say};

/// Whether a thread hears this also while it works on something else.
pub fn is_heard_at_once(signal: &Signal, intents: &Intents) -> bool {
    match &signal.payload {
        Payload::Text { text } => intents.ask_to_stop(text),
        Payload::Choice { .. }
        | Payload::Decision { .. }
        | Payload::Details { .. }
        | Payload::Due { .. }
        | Payload::Unreachable { .. }
        | Payload::CardLate { .. }
        | Payload::Stray
        | Payload::OlderCopy
        | Payload::Limited { .. }
        | Payload::Edited { .. }
        | Payload::Deleted { .. }
        | Payload::RoomMoved { .. } => false,
    }
}

/// It came while something is worked on.
pub(crate) fn on_aside(turn: &mut Turn<'_>, signal: Signal) {
    turn.count("signals_total", &[("platform", signal.thread.platform.as_str()), ("outcome", "taken")]);
    if signal.depth > DEPTH_MAX || signal.addressed == Addressed::No {
        return drop_signal(turn, signal);
    }
    turn.state.turn = turn.state.turn.saturating_add(1);
    let request = Request::new(signal, turn.state.turn);
    if !turn.env.rights.may(&request.signal.asker(), &Right::Talk) {
        return refuse_talk(turn, request);
    }
    turn.count("requests_total", &[("layer", "pattern"), ("intent", "stop")]);
    asked(turn, request);
}

/// Somebody wants what is worked on to end. It ends by the `Halt` that follows.
pub(super) fn asked(turn: &mut Turn<'_>, mut request: Request) {
    // What was begun by a later message is not what was meant.
    let asked_at = request.signal.received_at;
    let meant = |at_work: &mut Request| at_work.signal.received_at <= asked_at;
    let Some(mut at_work) = turn.state.request.take_if(meant) else {
        turn.say(&mut request, Mark::Plain, Claim::Nothing, say::stop::nothing_at_work());
        return turn.finish(request, Ending::Answered);
    };
    match judge(turn, &request, &at_work) {
        Ok(()) => {
            at_work.stopped_by = Some(request.signal.actor.display.clone());
            let blocks = say::stop::stopping(&at_work.signal, turn.env.mask);
            turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks);
        }
        Err(refusal) => {
            turn.note_refusal(&request, &refusal, None);
            turn.say_no(&mut request, Mark::Refused, say::refused(&refusal, turn.env.mask));
        }
    }
    turn.state.request = Some(at_work);
    turn.finish(request, Ending::Answered);
}

/// Whoever asked for it may stop it, whoever may decide about what it looks at, and whoever administers; of a plan, whoever
/// may take that back.
fn judge(turn: &Turn<'_>, request: &Request, at_work: &Request) -> Result<(), Box<Refusal>> {
    let (signal, rights) = (&request.signal, turn.env.rights);
    let asker = signal.asker();
    if let Some(Driver::Carrying(carrying)) = &at_work.driver {
        let plan = at_work.carrying.as_ref().and_then(|plan| turn.state.desk.get(plan));
        let Some(filed) = plan.filter(|_| carry::may_be_stopped(carrying)) else {
            let message =
                "a change that is being carried out or verified is not stopped: it goes on until it is known \
                           what became of it"
                    .to_owned();
            return Err(refusal(Code::FsmBlocked, message));
        };
        let ask = Ask { plan: filed.id().clone(), digest: None, verb: Verb::Cancel, reason: String::new() };
        return approval::judge(&ask, filed, &asker, rights).map(|_| ());
    }
    let person = |signal: &Signal| rights.person(&signal.thread.platform, &signal.actor);
    let on = at_work.waiting.values().find_map(|call| call.target.clone());
    let on = on.or_else(|| at_work.sources.iter().rev().find_map(|source| source.target.clone()));
    let may_decide = on.is_some_and(|on| {
        let labels = turn.state.resolved.peek(&on).map(crate::resource::Resource::labels).unwrap_or_default();
        rights.may(&asker, &Right::Decide { risk: Risk::Low, on, is_requester: false, labels })
    });
    if person(signal) == person(&at_work.signal) || may_decide || rights.may(&asker, &Right::Administer) {
        return Ok(());
    }
    let message = "only whoever asked for it, who may decide about it, or an administrator stops this".to_owned();
    Err(refusal(Code::Forbidden, message))
}

/// What is worked on ends, where it was asked for.
pub(crate) fn on_halt(turn: &mut Turn<'_>, signal: &SignalId) {
    let is_stopped = |request: &mut Request| request.signal.id == *signal && request.stopped_by.is_some();
    let Some(mut request) = turn.state.request.take_if(is_stopped) else { return };
    let by = say::stop::name(request.stopped_by.as_deref().unwrap_or_default(), turn.env.mask);
    let detail = format!("stopped by {by}");
    turn.audit("stopped", &request.signal, AuditAbout { detail: &detail, ..AuditAbout::default() });
    let shown: Vec<Block> = match request.driver.take() {
        Some(Driver::Carrying(_)) => return never_begun(turn, request, &by),
        Some(Driver::Agent(agent)) => agent.last_reading().to_vec(),
        Some(Driver::Procedure(_) | Driver::Draft(_)) | None => Vec::new(),
    };
    let mut blocks = say::stop::stopped(&by, &request.sources);
    if !shown.is_empty() {
        blocks.push(say::agent::was_read());
        blocks.extend(shown);
    }
    let claim = request.readings();
    turn.say(&mut request, Mark::Plain, claim, blocks);
    turn.finish(request, Ending::Answered);
}

/// An approved plan, of which nothing was done yet.
fn never_begun(turn: &mut Turn<'_>, mut request: Request, by: &str) {
    if let Some(filed) = request.carrying.as_ref().and_then(|plan| turn.state.desk.get(plan)).cloned() {
        turn.shift(&request, filed.id(), PlanState::Cancelled, "stopped before it was begun", |_| {});
        turn.say(&mut request, Mark::Plain, Claim::Nothing, say::stop::never_begun(&filed, by));
    }
    turn.finish(request, Ending::Answered);
}

fn refusal(code: Code, message: String) -> Box<Refusal> {
    Box::new(Refusal { gate: "stop", code, message, details: Details::default() })
}

#[cfg(test)]
#[path = "stop_tests.rs"]
mod tests;
