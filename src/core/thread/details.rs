//! The details of a plan: everything that its approval binds, for anyone in its thread. Nothing is decided here.

use crate::approval::{self, Filed, PlanId, PlanState};
use crate::effect::Ending;
use crate::port::{Block, Claim, Mark};
use crate::route::Route;

use super::request::Request;
use super::say;
use super::state::Turn;

/// Shows the plan whose card was pressed. The thread has seen its card, and a private answer is cut on some platforms.
pub(super) fn pressed(turn: &mut Turn<'_>, mut request: Request, plan: &PlanId) {
    let blocks = match turn.state.desk.get(plan) {
        Some(filed) => whole(turn, filed),
        None => say::plans::no_such_plan(),
    };
    turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
}

/// Shows the plan whose id begins with what was typed; without an id the only one that waits, else the newest.
pub(super) fn typed(turn: &mut Turn<'_>, mut request: Request, route: &Route) {
    let typed = route.args.get("plan").and_then(|value| value.as_str()).unwrap_or_default().to_lowercase();
    let found = turn.state.desk.shown(&typed);
    let blocks = match found.as_slice() {
        [] if typed.is_empty() => say::plans::no_plan(),
        [] => say::plans::no_such_plan(),
        [filed] => whole(turn, filed),
        several => say::plans::which_details(several),
    };
    turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
}

fn whole(turn: &Turn<'_>, filed: &Filed) -> Vec<Block> {
    let mut blocks = approval::details(&filed.frozen).unwrap_or_default();
    let decided = filed.standing.decided.as_ref();
    let status = say::card::status(filed, decided, turn.env.mask).map(|(_, status)| say::line(status));
    let is_over = status.is_some() && filed.state() != PlanState::Pending;
    blocks.extend(status);
    blocks.extend((!is_over).then(|| say::line(say::plans::in_words(filed))));
    blocks.extend(decided.and_then(|decided| say::grants::unasked(decided, turn.env.ledger)));
    blocks
}
