//! What happens to a plan while it waits and nobody decides it: its people are reminded, more of them are asked, or it
//! falls away, because the message that asked for it did or because its card never came. Nothing of it approves anything,
//! and only a card that came late gives a plan more time. Decisions are in `decision.rs`, expiry is in `carry.rs`.

use crate::answer;
use crate::approval::{CARD_LATE_MS_MAX, Filed, Hint, PlanId, PlanState, Withdrawal};
use crate::effect::Ending;
use crate::port::{Claim, Mark};
use crate::signal::{EventId, Wall};

use super::request::Request;
use super::state::Turn;
use super::{carry, say};

/// The engine's own signal: time has come for this plan. What is to be told is told, one message a signal.
pub(super) fn due(turn: &mut Turn<'_>, request: Request, plan: &PlanId) {
    let is_over = turn.state.desk.is_expired(plan, turn.now);
    match turn.state.desk.hint(plan, turn.now).filter(|_| !is_over) {
        Some(hint) => tell(turn, request, plan, hint),
        None => carry::due(turn, request, plan),
    }
}

/// Counted in the plan's standing before it is said, so that a restart repeats nothing.
fn tell(turn: &mut Turn<'_>, mut request: Request, plan: &PlanId, hint: Hint) {
    let told = match hint {
        Hint::Remind => {
            let reminded = (plan, PlanState::Pending, "reminded");
            turn.shift_as(&request, reminded, "its people were reminded", |standing| standing.reminded = true)
        }
        Hint::Escalate(after_ms) => {
            let groups = turn.state.desk.get(plan).map(|filed| say::waiting::groups(filed, after_ms));
            let detail = format!("from now on {} may decide, too", groups.unwrap_or_default());
            let up = |standing: &mut crate::approval::Standing| standing.level = standing.level.saturating_add(1);
            turn.shift_as(&request, (plan, PlanState::Pending, "escalated"), &detail, up)
        }
    };
    if let Some(filed) = turn.state.desk.get(plan).filter(|_| told).cloned() {
        turn.say(&mut request, Mark::Question, Claim::Nothing, say::waiting::hint(&filed, hint));
    }
    turn.finish(request, Ending::Answered);
}

/// Gives a plan its whole time from now on, because its card came out late or is not out yet. Called for the engine's own signal.
pub(super) fn begin_anew(turn: &mut Turn<'_>, request: Request, plan: &PlanId) {
    let may_be_late = |filed: &&Filed| {
        let age_ms = turn.now.wall.0.saturating_sub(filed.frozen.plan().requested_at.0);
        filed.state() == PlanState::Pending && age_ms < CARD_LATE_MS_MAX
    };
    if let Some(filed) = turn.state.desk.get(plan).filter(may_be_late) {
        let end = Wall(turn.now.wall.0.saturating_add(filed.frozen.plan().lifetime_ms()));
        let detail = format!("its card came late: it can be decided until {}", answer::time(end));
        let late = (plan, PlanState::Pending, "card_late");
        turn.shift_as(&request, late, &detail, |standing| {
            standing.decide_by = Some(end);
            if standing.votes.is_empty() {
                // Reminders of a card that was not out were of no use.
                (standing.reminded, standing.level) = (false, 0);
            }
        });
    }
    turn.finish(request, Ending::Answered);
}

/// A message was edited or deleted: what was asked for with it and is not begun falls away. Nobody needs a right to that,
/// because nothing is given by it. Where nothing waits for that message, nothing is said.
pub(super) fn take_back(turn: &mut Turn<'_>, mut request: Request, event: &EventId, why: Withdrawal) {
    turn.state.talk.forget(event);
    let asked_with_it = |filed: &&&Filed| {
        let waits = matches!(filed.state(), PlanState::Pending | PlanState::Approved);
        waits && filed.frozen.plan().event.as_ref() == Some(event)
    };
    let plans: Vec<PlanId> =
        turn.state.desk.open().iter().filter(asked_with_it).map(|filed| filed.id().clone()).collect();
    if plans.is_empty() {
        return turn.finish(request, Ending::Dropped);
    }
    for plan in plans {
        withdraw(turn, &mut request, &plan, why);
    }
    turn.finish(request, Ending::Answered);
}

/// The engine's own signal: the card of this plan will never be delivered. Whoever has countersigned it has seen another
/// copy of it.
pub(super) fn unreachable(turn: &mut Turn<'_>, mut request: Request, plan: &PlanId) {
    let unseen = |filed: &Filed| filed.state() == PlanState::Pending && filed.standing.votes.is_empty();
    if turn.state.desk.get(plan).is_some_and(unseen) {
        withdraw(turn, &mut request, plan, Withdrawal::Unreachable);
    }
    turn.finish(request, Ending::Answered);
}

fn withdraw(turn: &mut Turn<'_>, request: &mut Request, plan: &PlanId, why: Withdrawal) {
    if !turn.shift(request, plan, PlanState::Cancelled, why.why(), |standing| standing.withdrawn = Some(why)) {
        return;
    }
    if let Some(filed) = turn.state.desk.get(plan).cloned() {
        turn.say(request, Mark::Plain, Claim::Nothing, say::waiting::came_to_nothing(&filed, turn.env.mask));
    }
}
