//! For tests only: a proposal of a model's, put through the very function that a procedure uses, with the call taken out
//! of its seal to be looked at. It mints nothing.

use crate::effect::Effect;
use crate::gate::{Refusal, ToolCall};
use crate::proposal::Proposal;
use crate::signal::Signal;
use crate::usage::Origin;

use super::request::Request;
use super::run::{Proposed, propose};
use super::state::Turn;

/// A request with no procedure behind it.
pub(crate) fn begin_request(turn: &mut Turn<'_>, signal: Signal) -> Request {
    turn.state.turn = turn.state.turn.saturating_add(1);
    Request::new(signal, turn.state.turn)
}

/// What the loop does with a proposal: the call that would be made, none where the answer is known
/// already, or the refusal.
pub(crate) fn judge_for_test(
    turn: &mut Turn<'_>,
    request: &mut Request,
    proposal: &Proposal,
) -> Result<Option<ToolCall>, Box<Refusal>> {
    request.budget.begin_turn();
    // It is offered everything, and may read whatever it names: what a model may reach is looked at by tests of its own.
    let tools =
        turn.env.registry.tools().flat_map(|tool| tool.actions.keys().map(|action| format!("{}.{action}", tool.name)));
    request.offered = tools.collect();
    for words in proposal.args.values().filter_map(serde_json::Value::as_str).chain(proposal.target.as_deref()) {
        turn.state.named.note(words);
    }
    match propose(turn, request, proposal, Origin::Model) {
        Proposed::Refused(refusal) => Err(refusal),
        Proposed::Known(_) => Ok(None),
        Proposed::Called(_) => Ok(turn.effects.iter().rev().find_map(|effect| match effect {
            Effect::Call(call) => Some(call.get().clone()),
            Effect::Post { .. }
            | Effect::Think(_)
            | Effect::Progress(_)
            | Effect::Redraw { .. }
            | Effect::Audit(_)
            | Effect::Spend(_)
            | Effect::File(_)
            | Effect::Move(_)
            | Effect::Count(_)
            | Effect::Keep(_)
            | Effect::Remember { .. }
            | Effect::Wake { .. }
            | Effect::GiveUp { .. }
            | Effect::Finish { .. } => None,
        })),
    }
}
