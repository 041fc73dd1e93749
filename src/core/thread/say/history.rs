//! The changes of a thread, and how they ended: from the plans that the thread still has.

use crate::answer;
use crate::approval::{self, Desk, Filed, PlanState};
use crate::port::Block;
use crate::secrets::Mask;
use crate::text;

use super::{card, sentence};

/// The most changes in one answer: the newest.
const CHANGES_MAX: usize = 15;

/// Lists the newest changes, the newest last, each on one line.
pub(in crate::thread) fn history(desk: &Desk, mask: &Mask) -> Vec<Block> {
    let all = desk.all();
    if all.is_empty() {
        return sentence("No change was asked for in this thread lately.");
    }
    let newest = all.iter().skip(all.len().saturating_sub(CHANGES_MAX));
    sentence(newest.map(|filed| line(filed, mask)).collect::<Vec<_>>().join("\n"))
}

/// Says who asked for and who approved the newest change that was decided.
pub(in crate::thread) fn who_approved(desk: &Desk, mask: &Mask) -> Vec<Block> {
    let decided = |filed: &&&Filed| !filed.standing.votes.is_empty() || filed.standing.decided.is_some();
    match desk.all().iter().rev().find(decided) {
        Some(filed) => sentence(line(filed, mask)),
        None => sentence("No change of this thread was decided lately."),
    }
}

/// `22:15 UTC: ann asked; ✓ Done and verified; countersigned by bob · restart nginx on web-1 (bb4e)`.
fn line(filed: &Filed, mask: &Mask) -> String {
    let plan = filed.frozen.plan();
    let at = filed.standing.decided.as_ref().map_or(plan.requested_at, |decided| decided.at);
    let by = text::defuse_mentions(&text::one_line(&mask.apply(&plan.requester.display), 48));
    let heading = approval::heading(&filed.frozen).unwrap_or_default();
    let status = card::status(filed, filed.standing.decided.as_ref(), mask).map(|(_, status)| status);
    let status = match (filed.state(), status) {
        (PlanState::Pending, _) | (_, None) => text::capital(filed.state().as_str()),
        (_, Some(status)) => status,
    };
    format!("{}: {by} asked · {}", answer::time(at), card::decided_card(&heading, Some(&status.replace('\n', " "))))
}
