//! Cards in the sequences: whatever order things happen in, each move of a plan that has a card is followed by how the card
//! looks then, in the same step, and by that alone; it says nothing that the store does not say, and has buttons only while
//! the plan waits.

use std::collections::BTreeSet;

use crate::approval::{Filed, Move, PlanId, PlanState, Withdrawal};
use crate::effect::Effect;
use crate::port::{Block, Claim, Lane, Outgoing, Visibility};
use crate::sim::Files;
use crate::testkit::plain;

use super::ledger::{Ledger, Tally};

/// What must have happened in a run, or it shows nothing of cards.
pub(super) const REACHED: [&str; 4] = ["progress", "cards with buttons", "cards decided", "cards of a verified change"];

/// A step was stored: what it has to say of cards and of progress.
pub(super) fn shown(effects: &[Effect], files: &Files, ledger: &mut Ledger, tally: &mut Tally) {
    let mut drawn = BTreeSet::new();
    for (at, effect) in effects.iter().enumerate() {
        match effect {
            Effect::Progress(message) => {
                tally.one("progress");
                let before = effects.get(at + 1).is_some_and(|next| matches!(next, Effect::Call(_)));
                let sound = message.get().claim == Claim::Nothing && before;
                ledger.demand(sound && is_harmless(message.get()), || format!("progress as {message:?}"));
            }
            Effect::Redraw { plan, message } => {
                ledger.demand(drawn.insert(plan), || format!("the card of {plan} was drawn twice in one step"));
                let moved = moves(effects).any(|(of, moved)| of < at && moved.plan == *plan && has_card(moved));
                let row = files.rows.get(plan);
                let sound = moved && row.is_some_and(|row| is_true(message.get(), row, tally));
                ledger.demand(sound && is_harmless(message.get()), || format!("{row:?} is shown as {message:?}"));
            }
            Effect::Call(_)
            | Effect::Post { .. }
            | Effect::File(_)
            | Effect::Move(_)
            | Effect::Audit(_)
            | Effect::Spend(_)
            | Effect::Count(_)
            | Effect::Keep(_)
            | Effect::Remember { .. }
            | Effect::Wake { .. }
            | Effect::GiveUp { .. }
            | Effect::Think(_)
            | Effect::Finish { .. } => {}
        }
    }
    for (at, moved) in moves(effects).filter(|(_, moved)| has_card(moved)) {
        let follows = effects.iter().skip(at).any(|effect| is_card_of(effect, &moved.plan));
        ledger.demand(follows, || format!("moved, and its card was left as it was: {moved:?}"));
    }
}

/// The moves of a step, each with its place in it.
fn moves(effects: &[Effect]) -> impl Iterator<Item = (usize, &Move)> {
    effects.iter().enumerate().filter_map(|(at, effect)| match effect {
        Effect::Move(moved) => Some((at, moved.as_ref())),
        Effect::Call(_)
        | Effect::Post { .. }
        | Effect::Think(_)
        | Effect::Progress(_)
        | Effect::Redraw { .. }
        | Effect::File(_)
        | Effect::Audit(_)
        | Effect::Spend(_)
        | Effect::Count(_)
        | Effect::Keep(_)
        | Effect::Remember { .. }
        | Effect::Wake { .. }
        | Effect::GiveUp { .. }
        | Effect::Finish { .. } => None,
    })
}

fn has_card(moved: &Move) -> bool {
    let is_unasked = moved.to.decided.as_ref().is_some_and(|decided| decided.unasked.is_some());
    !is_unasked && moved.to.withdrawn != Some(Withdrawal::Unreachable)
}

fn is_card_of(effect: &Effect, plan: &PlanId) -> bool {
    matches!(effect, Effect::Redraw { plan: of, .. } if of == plan)
}

/// Whether a card says of its plan what the store says.
fn is_true(card: &Outgoing, row: &Filed, tally: &mut Tally) -> bool {
    let buttons = card.blocks.iter().filter(|block| matches!(block, Block::Card { .. })).count();
    let waits = row.state() == PlanState::Pending;
    tally.one(if waits { "cards with buttons" } else { "cards decided" });
    let claim = match &card.claim {
        Claim::Nothing => !plain(card).contains("Done and verified"),
        Claim::Readings { .. } => false,
        Claim::Change { plan, outcome, .. } => {
            tally.one("cards of a verified change");
            plan == row.id() && row.state() == PlanState::Verified(*outcome)
        }
    };
    claim && buttons == usize::from(waits) && card.to == row.frozen.plan().thread
}

fn is_harmless(message: &Outgoing) -> bool {
    let text = plain(message);
    message.lane == Lane::Progress
        && message.visibility == Visibility::Everybody
        && !crate::text::mentions_everyone(&text)
        && crate::text::escape(&text) == text
}
