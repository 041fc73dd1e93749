//! What is put in the place of what was shown before: how far a request has come, and what a card shows by now. Both pass
//! the outgoing gates like every message, neither is an answer, and the thread waits for neither. The words are in
//! `say/progress.rs` and `say/card.rs`.

use crate::approval::{self, Decided, Filed, PlanState, Withdrawal};
use crate::effect::Effect;
use crate::gate::{ToolCall, judge_post};
use crate::port::{Block, Claim, Lane, Mark, Outgoing};
use crate::signal::Ground;

use super::request::Request;
use super::state::{Turn, outgoing};
use super::{link_news, say};

impl Turn<'_> {
    /// Shows which call leaves now, where somebody waits for what comes of it. A line that the gates refuse is recorded as
    /// a refusal, and the request shows no other: one row, and not one for each call.
    pub(super) fn show_progress(&mut self, request: &mut Request, call: &ToolCall) {
        if !is_waited_for(request) {
            return;
        }
        let spec = self.env.registry.action(&call.tool, &call.action);
        let about = say::progress::About {
            call,
            discovers: spec.and_then(|spec| spec.resolves.as_deref()),
            plan: request.carrying.as_ref().and_then(|plan| self.state.desk.get(plan)).map(|filed| filed.frozen.plan()),
            resolved: &self.state.resolved,
        };
        self.show_line(request, say::progress::line(&about, self.env.mask));
    }

    /// Shows that a model is being asked, if a person waits for the answer; never its reasoning (SPB-07).
    pub(super) fn show_thinking(&mut self, request: &mut Request) {
        if is_waited_for(request) {
            self.show_line(request, say::progress::thinking());
        }
    }

    fn show_line(&mut self, request: &mut Request, line: String) {
        let line = say::line(line);
        match judge_post(replacing(request, Mark::Plain, Claim::Nothing, vec![line]), &self.ctx(request), &[]) {
            Ok(message) => self.effects.push(Effect::Progress(message)),
            Err(refusal) => {
                request.is_progress_refused = true;
                self.on_post_refused(request, &refusal);
            }
        }
    }

    /// Puts the card of a plan that has just moved right, where it has one. `by` is who has just decided it. Of several
    /// moves in one step only the last is shown.
    pub(super) fn redraw(&mut self, request: &Request, filed: &Filed, by: Option<&Decided>) {
        if !has_card(filed) {
            return;
        }
        let plan = filed.id();
        let mut recorded = false;
        for post in ways_to_show(&self.state_on_card(request, filed, by), request, filed) {
            match judge_post(post, &self.ctx(request), &request.sources) {
                Ok(message) => {
                    self.effects.retain(|effect| !matches!(effect, Effect::Redraw { plan: of, .. } if of == plan));
                    return self.effects.push(Effect::Redraw { plan: plan.clone(), message });
                }
                Err(refusal) => {
                    if !std::mem::replace(&mut recorded, true) {
                        self.on_post_refused(request, &refusal);
                    }
                }
            }
        }
    }

    /// What is to be said of the plan, and what that claims: a verified change is claimed on the reading that verified it,
    /// like the answer's (invariant 11).
    fn state_on_card(&self, request: &Request, filed: &Filed, by: Option<&Decided>) -> Status {
        let (mark, line) = match say::card::status(filed, by, self.env.mask) {
            Some((mark, line)) => (mark, Some(line)),
            None => (Mark::Question, None),
        };
        let is_pending = filed.state() == PlanState::Pending;
        let not_counted = is_pending.then(|| link_news::not_counted(self, filed)).flatten();
        let lines: Vec<String> = not_counted.into_iter().chain(line).collect();
        let line = (!lines.is_empty()).then(|| lines.join("\n"));
        let PlanState::Verified(outcome) = filed.state() else {
            return Status { mark, claim: Claim::Nothing, line };
        };
        let plan = filed.frozen.plan();
        let reading = request.sources.iter().rev().find(|source| source.target.as_ref() == Some(&plan.target));
        let sources = reading.cloned().into_iter().collect();
        Status { mark, claim: Claim::Change { plan: plan.id.clone(), outcome, sources }, line }
    }
}

/// How a plan stands, to be shown on its card.
struct Status {
    mark: Mark,
    claim: Claim,
    line: Option<String>,
}

/// Whether a card of the plan was shown, as far as anybody knows: none was where nobody had to be asked, and none arrived
/// where the plan was taken back for that.
fn has_card(filed: &Filed) -> bool {
    let standing = &filed.standing;
    let is_unasked = standing.decided.as_ref().is_some_and(|decided| decided.unasked.is_some());
    !is_unasked && standing.withdrawn != Some(Withdrawal::Unreachable)
}

/// The card with how the plan stands below it. As long as the plan waits, the card asks, and its buttons stay; then it only
/// says what was decided. What comes after the first is for where a gate refuses that: it claims nothing, and at last shows
/// nothing of the plan.
fn ways_to_show(status: &Status, request: &Request, filed: &Filed) -> Vec<Outgoing> {
    if filed.state() == PlanState::Pending {
        let drawn = approval::card(&filed.frozen).unwrap_or_default();
        let (buttons, plan): (Vec<Block>, Vec<Block>) =
            drawn.into_iter().partition(|block| matches!(block, Block::Card { .. }));
        // A card that cannot be shown whole stays as it is: it must not be decided by half of it.
        let is_drawn = !buttons.is_empty();
        let line = status.line.clone().map(say::line);
        let blocks = plan.into_iter().chain(line).chain(buttons).collect();
        return is_drawn.then(|| replacing(request, status.mark, Claim::Nothing, blocks)).into_iter().collect();
    }
    let heading = approval::heading(&filed.frozen).unwrap_or_default();
    let over = || say::line(say::card::OVER.to_owned());
    let whole = vec![say::line(say::card::decided_card(&heading, status.line.as_deref()))];
    let modest = vec![say::line(say::card::decided_card(&heading, Some(say::card::OVER)))];
    vec![
        replacing(request, status.mark, status.claim.clone(), whole),
        replacing(request, Mark::Plain, Claim::Nothing, modest),
        replacing(request, Mark::Plain, Claim::Nothing, vec![over()]),
    ]
}

/// A message that takes the place of what was shown before.
fn replacing(request: &Request, mark: Mark, claim: Claim, blocks: Vec<Block>) -> Outgoing {
    Outgoing { lane: Lane::Progress, ..outgoing(request, mark, claim, blocks) }
}

/// Returns true if a person waits for this request and progress may be shown.
fn is_waited_for(request: &Request) -> bool {
    let waits = request.signal.ground == Ground::Foreground && !request.signal.actor.is_ourselves();
    waits && !request.is_progress_refused
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
