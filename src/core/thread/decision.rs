//! Decisions about plans: pressed at a card or typed with the plan's full id. Who may decide what is judged by
//! `approval::judge`; here the plan is moved and everybody is told. Nothing a model says ever comes here.

use crate::approval::{self, Allowed, Ask, Decided, Digest, Filed, PlanId, PlanState, Verb, Vote};
use crate::effect::Ending;
use crate::envelope::{Code, Details};
use crate::gate::Refusal;
use crate::port::{CardChoice, Claim, Mark, Standing};
use crate::route::Route;
use crate::signal::ActorId;

use super::request::Request;
use super::state::Turn;
use super::{carry, draft, say};

/// A card was pressed.
pub(super) fn pressed(
    turn: &mut Turn<'_>,
    request: Request,
    plan: PlanId,
    digest: Digest,
    choice: CardChoice,
    reason: String,
) {
    let verb = match choice {
        CardChoice::Approve => Verb::Approve,
        CardChoice::Deny => Verb::Deny,
    };
    decide(turn, request, &Ask { plan, digest: Some(digest), verb, reason });
}

/// The card of the only plan that waited was shown once more, to a person who wanted to decide it without its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownAgain {
    plan: PlanId,
    to: ActorId,
    /// In which request of the thread.
    turn: u64,
}

/// A decision was typed. Only a full id names a plan: no prefix, no position, and not "the only one there is", which may
/// be another one by the time it is read (AC-05, AC-24). The short id confirms a plan that was shown just before.
pub(super) fn typed(turn: &mut Turn<'_>, request: Request, verb: Verb, route: &Route) {
    let said = |name: &str| route.args.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
    // Whose reason names another plan may mean either of them.
    let names_two = |verb| verb == Verb::Approve && said("reason").split_whitespace().any(is_an_id);
    match PlanId::parse(&said("plan")).filter(|_| !names_two(verb)) {
        Some(plan) => decide(turn, request, &Ask { plan, digest: None, verb, reason: said("reason") }),
        None if said("plan").is_empty() => without_id(turn, request, verb),
        None => match only_pending(turn).filter(|filed| approval::short(filed.id()) == said("plan").to_lowercase()) {
            Some(filed) if was_shown_just_before(turn, &request, filed.id()) => {
                decide(turn, request, &Ask { plan: filed.id().clone(), digest: None, verb, reason: said("reason") });
            }
            Some(_) => without_id(turn, request, verb),
            None => say_the_id(turn, request, verb),
        },
    }
}

/// Returns true if the previous request of this thread showed this person the plan again.
fn was_shown_just_before(turn: &Turn<'_>, request: &Request, plan: &PlanId) -> bool {
    let is_just_before = |shown: &ShownAgain| shown.turn.checked_add(1) == Some(request.turn);
    let shown = turn.state.shown_again.as_ref().filter(|shown| is_just_before(shown));
    shown.is_some_and(|shown| shown.plan == *plan && shown.to == request.signal.actor.id)
}

/// A decision without an id: shows the only plan that waits once more, to a person who may decide it.
pub(super) fn without_id(turn: &mut Turn<'_>, mut request: Request, verb: Verb) {
    let may_decide = |filed: &Filed| {
        let ask = Ask { plan: filed.id().clone(), digest: None, verb, reason: String::new() };
        approval::judge(&ask, filed, &request.signal.asker(), turn.env.rights).is_ok()
    };
    match only_pending(turn).filter(|filed| verb != Verb::Cancel && may_decide(filed)) {
        // The approver sees the whole plan again, and its buttons.
        Some(filed) => {
            if draft::show(turn, &mut request, &filed, Some(say::plans::waits_here(verb, filed.id()))) {
                let to = request.signal.actor.id.clone();
                turn.state.shown_again = Some(ShownAgain { plan: filed.id().clone(), to, turn: request.turn });
            }
            turn.finish(request, Ending::Answered);
        }
        None => say_the_id(turn, request, verb),
    }
}

fn say_the_id(turn: &mut Turn<'_>, mut request: Request, verb: Verb) {
    let blocks = say::plans::say_the_id(verb, &turn.state.desk);
    turn.say(&mut request, Mark::Question, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
}

/// Returns the plan that waits for a decision in this thread, if it is the only one.
pub(super) fn only_pending(turn: &Turn<'_>) -> Option<Filed> {
    let open = turn.state.desk.open();
    let mut pending = open.into_iter().filter(|filed| filed.state() == PlanState::Pending);
    pending.next().filter(|_| pending.next().is_none()).cloned()
}

fn is_an_id(word: &str) -> bool {
    PlanId::parse(word.trim_matches(|c: char| !c.is_ascii_alphanumeric())).is_some()
}

fn decide(turn: &mut Turn<'_>, mut request: Request, ask: &Ask) {
    carry::expire(turn, &request, &ask.plan);
    let Some(filed) = turn.state.desk.get(&ask.plan).cloned() else {
        let message = "no plan of this thread has this id; a plan is decided in the thread of its card".to_owned();
        let refusal = Refusal { gate: "decision", code: Code::NotFound, message, details: Details::default() };
        turn.note_refusal(&request, &refusal, None);
        turn.say_no(&mut request, Mark::Refused, say::refused(&refusal, turn.env.mask));
        return turn.finish(request, Ending::Answered);
    };
    if ask.verb == Verb::Approve && was_decided_by(&filed, &request) {
        // The very signal that approved it, taken up again after a crash.
        return carry::resume(turn, request, &filed);
    }
    let judged = approval::judge(ask, &filed, &request.signal.asker(), turn.env.rights);
    #[cfg(test)]
    let judged = crate::step::broken::judged(judged);
    match judged.and_then(|allowed| unhindered(turn, ask, allowed)) {
        Ok(allowed) if allowed.missing > 0 => count(turn, request, ask, &filed, allowed),
        Ok(allowed) => make(turn, request, ask, &filed, allowed),
        Err(refusal) => {
            turn.note_refusal(&request, &refusal, Some(&filed));
            let blocks = say::plans::not_decided(&refusal, &filed, turn.env.mask);
            turn.say_no(&mut request, Mark::Refused, blocks);
            turn.finish(request, Ending::Answered);
        }
    }
}

/// A button that no message of ours has: a card of somebody else's making. It decides nothing, and is recorded (AC-07).
pub(super) fn stray(turn: &mut Turn<'_>, request: Request) {
    decides_nothing(turn, request, "no message of mine has this button", Details::default());
}

/// A button of a card that was sent twice, on the copy that was sent first: only the newest card of a plan decides.
pub(super) fn older_copy(turn: &mut Turn<'_>, request: Request) {
    let hint = Some("use the newer copy of the card, further down".to_owned());
    let details = Details { recovery_hint: hint, ..Details::default() };
    decides_nothing(turn, request, "this card was sent twice, and this is the older copy", details);
}

fn decides_nothing(turn: &mut Turn<'_>, mut request: Request, message: &str, details: Details) {
    let refusal = Refusal { gate: "decision", code: Code::NotFound, message: message.to_owned(), details };
    turn.note_refusal(&request, &refusal, None);
    turn.say_no(&mut request, Mark::Refused, say::refused(&refusal, turn.env.mask));
    turn.finish(request, Ending::Answered);
}

/// Whether this very signal decided it, in an earlier process.
pub(super) fn was_decided_by(filed: &Filed, request: &Request) -> bool {
    filed.state().is_open()
        && filed.standing.decided.as_ref().is_some_and(|decided| decided.signal == request.signal.id)
}

/// A change that could not begin now is not approved now: the click is not used up, and the plan goes on waiting.
pub(super) fn unhindered(turn: &Turn<'_>, ask: &Ask, allowed: Allowed) -> Result<Allowed, Box<Refusal>> {
    refuse_unsettled(turn.env.standing)?;
    match turn.state.fsm.open_write() {
        Some(open) if ask.verb == Verb::Approve && allowed.missing == 0 => {
            let message =
                format!("`{}` on `{}` is not verified yet; this plan goes on waiting", open.call, open.target);
            let hint = Some("type `verify`, then approve again".to_owned());
            let details = Details { recovery_hint: hint, ..Details::default() };
            Err(Box::new(Refusal { gate: "decision", code: Code::FsmBlocked, message, details }))
        }
        Some(_) | None => Ok(allowed),
    }
}

/// Somebody who has just lost a right must not decide by the old one.
pub(super) fn refuse_unsettled(standing: Standing) -> Result<(), Box<Refusal>> {
    let (message, hint) = match standing {
        Standing::Current => return Ok(()),
        Standing::Changing => ("who may decide is being changed at this moment", "decide again in a few seconds"),
        Standing::Unsound => (
            "who may decide was changed, and what it was changed to is not sound, so that nothing is decided",
            "an administrator runs `countersign policy check`, which says what is wrong; then decide again",
        ),
    };
    let details = Details { recovery_hint: Some(hint.to_owned()), ..Details::default() };
    Err(Box::new(Refusal { gate: "decision", code: Code::PolicyBlocked, message: message.to_owned(), details }))
}

pub(super) fn vote(turn: &Turn<'_>, request: &Request, allowed: Allowed) -> Vote {
    let signal = &request.signal;
    Vote {
        platform: signal.thread.platform.clone(),
        by: signal.actor.clone(),
        person: turn.env.rights.person(&signal.thread.platform, &signal.actor),
        roles: signal.platform_roles.clone(),
        assurance: signal.assurance,
        room: signal.room,
        signal: signal.id.clone(),
        at: turn.now.wall,
        waiver: allowed.waiver,
        unsealed: allowed.unsealed,
    }
}

/// One person has countersigned, and more have to: the plan goes on waiting.
fn count(turn: &mut Turn<'_>, mut request: Request, ask: &Ask, filed: &Filed, allowed: Allowed) {
    let vote = vote(turn, &request, allowed);
    let detail = say::waiting::vote_record(&vote, filed.frozen.plan(), allowed.missing, &reason(turn, ask));
    let voted = (filed.id(), PlanState::Pending, "voted");
    if turn.shift_as(&request, voted, &detail, |standing| standing.votes.push(vote)) {
        let blocks = say::waiting::voted(filed, &request.signal.actor, allowed.missing);
        turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks);
    }
    turn.finish(request, Ending::Answered);
}

/// The words of who decides, fit to be kept.
fn reason(turn: &Turn<'_>, ask: &Ask) -> String {
    crate::text::cut(&turn.env.mask.apply(ask.reason.trim()), 500)
}

fn make(turn: &mut Turn<'_>, mut request: Request, ask: &Ask, filed: &Filed, allowed: Allowed) {
    let vote = (ask.verb == Verb::Approve).then(|| vote(turn, &request, allowed));
    let decided = Decided {
        platform: request.signal.thread.platform.clone(),
        by: request.signal.actor.clone(),
        signal: request.signal.id.clone(),
        at: turn.now.wall,
        waiver: allowed.waiver || filed.standing.votes.iter().any(|vote| vote.waiver),
        unsealed: allowed.unsealed || filed.standing.votes.iter().any(|vote| vote.unsealed),
        unasked: None,
        reason: reason(turn, ask),
    };
    let detail = say::plans::decision_record(ask.verb, &decided, filed.frozen.plan());
    let to = match ask.verb {
        Verb::Approve => PlanState::Approved,
        Verb::Deny => PlanState::Denied,
        Verb::Cancel => PlanState::Cancelled,
    };
    let moved = turn.shift(&request, &ask.plan, to, &detail, |standing| {
        standing.votes.extend(vote);
        standing.decided = Some(decided);
    });
    if !moved {
        return turn.finish(request, Ending::Answered);
    }
    if ask.verb == Verb::Approve {
        return carry::begin(turn, request, &ask.plan);
    }
    if let Some(filed) = turn.state.desk.get(&ask.plan).cloned() {
        turn.say(&mut request, Mark::Plain, Claim::Nothing, say::waiting::came_to_nothing(&filed, turn.env.mask));
    }
    turn.finish(request, Ending::Answered);
}
