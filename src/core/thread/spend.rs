//! What a request uses: counted once, for everybody who pays for it, and the end of a request whose model may not go on.
//! What a budget allows is in `usage/`; the model itself is the shell's.

use crate::effect::Effect;
use crate::envelope::{Code, Details};
use crate::gate::Refusal;
use crate::port::Mark;
use crate::signal::Signal;
use crate::usage::{Day, NoBudget, Origin, Spend, Usage, payers};

use super::request::{Driver, Request};
use super::state::Turn;
use super::{carry, say};

/// Somebody has used this. A request that a model drives ends here where a budget is used up (LOOP-23); one that a rule
/// drives goes on, because it needs nothing more.
pub(crate) fn on_used(turn: &mut Turn<'_>, signal: &Signal, by: Origin, usage: Usage) {
    let at_work = turn.state.request.take_if(|request| request.signal.id == signal.id);
    let Some(mut request) = at_work else {
        turn.count_use(signal, by, usage);
        return;
    };
    match (spend(turn, &mut request, by, usage), &request.driver) {
        (Err(why), None | Some(Driver::Agent(_))) => end_for_budget(turn, request, &why),
        (Ok(()), _) | (Err(_), Some(Driver::Procedure(_) | Driver::Draft(_) | Driver::Carrying(_))) => {
            turn.state.request = Some(request);
        }
    }
}

/// Counts what a turn of this request has used, and says whether a model may go on for it.
pub(super) fn spend(turn: &mut Turn<'_>, request: &mut Request, by: Origin, usage: Usage) -> Result<(), NoBudget> {
    turn.count_use(&request.signal, by, usage);
    request.budget.spend(usage.believed());
    turn.env.budgets.allow(turn.spent.as_ref(), request.signal.ground)
}

/// Ends a request with what there is of it, and says why there is no more.
pub(super) fn end_for_budget(turn: &mut Turn<'_>, mut request: Request, why: &NoBudget) {
    let message = turn.env.budgets.sentence(why);
    let refusal = Refusal { gate: "allowance", code: Code::BudgetExceeded, message, details: Details::default() };
    turn.note_refusal(&request, &refusal, None);
    let claim = request.readings();
    let blocks = say::budget::stopped(turn, &request, &refusal);
    turn.say(&mut request, Mark::Refused, claim, blocks);
    // A rule needs no budget: what is not verified is looked at all the same.
    carry::verify_after_all(turn, request);
}

impl Turn<'_> {
    /// Counts a use for everybody who pays for what this signal asks, from this step on.
    pub(super) fn count_use(&mut self, signal: &Signal, by: Origin, usage: Usage) {
        let usage = usage.believed();
        let payers = payers(self.env.rights, &signal.actor, &signal.thread);
        let (ground, day) = (signal.ground, Day::of(self.now.wall));
        if let Some(spent) = &mut self.spent {
            spent.add(ground, usage);
        }
        let spend = Spend { signal: signal.id.clone(), day, payers, ground, by, usage };
        self.effects.push(Effect::Spend(Box::new(spend)));
    }
}

#[cfg(test)]
#[path = "spend_tests.rs"]
mod tests;
