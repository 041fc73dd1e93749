//! The changes of a thread, and how they ended: from the plans that the thread still has.

use crate::answer;
use crate::approval::{self, Desk, Filed, PlanState};
use crate::port::Block;
use crate::secrets::Mask;
use crate::signal::Wall;
use crate::text;

use super::{card, sentence};

/// The most changes in one answer: the newest.
const CHANGES_MAX: usize = 15;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Points to the changes that this thread no longer holds.
const OLDER: &str =
    "Older ones, and those from before I was last started, are in the audit trail (`countersign audit export`).";

/// Lists the newest changes, the newest last, each on one line: all that the thread has, or those of so many hours. An age that is
/// no number of hours or days is said.
pub(in crate::thread) fn history(desk: &Desk, (now, within): (Wall, &str), mask: &Mask) -> Vec<Block> {
    let hours = hours(within);
    if hours.is_none() && !within.is_empty() {
        return sentence("How far back? Type it as hours or days: `history 24h`, `history 7d`.");
    }
    let since = hours.map_or(i64::MIN, |hours| now.0.saturating_sub(hours.saturating_mul(HOUR_MS)));
    let all: Vec<&Filed> = desk.all().into_iter().filter(|filed| at(filed).0 >= since).collect();
    if all.is_empty() {
        let when = if hours.is_some() { format!(" within {}", within.trim()) } else { String::new() };
        return sentence(format!("I know of no change in this thread{when}. {OLDER}"));
    }
    let left_out = all.len().saturating_sub(CHANGES_MAX);
    let newest = all.iter().skip(left_out).map(|filed| line(filed, mask));
    let more = (left_out > 0).then(|| format!("{left_out} more before these. {OLDER}"));
    sentence(newest.chain(more).collect::<Vec<_>>().join("\n"))
}

/// Returns the hours in `24h` or `7 days`; none where it is something else.
fn hours(within: &str) -> Option<i64> {
    let within = within.trim().to_ascii_lowercase();
    let unit = within.trim_start_matches(|c: char| c.is_ascii_digit());
    let count: i64 = within.strip_suffix(unit)?.parse().ok()?;
    match unit.trim() {
        "h" | "hour" | "hours" => Some(count),
        "d" | "day" | "days" => count.checked_mul(24),
        _ => None,
    }
}

/// When a change was decided, or else asked for.
fn at(filed: &Filed) -> Wall {
    filed.standing.decided.as_ref().map_or(filed.frozen.plan().requested_at, |decided| decided.at)
}

/// Says who asked for and who approved the newest change that was decided.
pub(in crate::thread) fn who_approved(desk: &Desk, mask: &Mask) -> Vec<Block> {
    let decided = |filed: &&&Filed| !filed.standing.votes.is_empty() || filed.standing.decided.is_some();
    match desk.all().iter().rev().find(decided) {
        Some(filed) => sentence(line(filed, mask)),
        None => sentence(format!("I know of no decided change in this thread. {OLDER}")),
    }
}

/// `22:15 UTC: ann asked; ✓ Done and verified; countersigned by bob · restart nginx on web-1 (bb4e)`.
fn line(filed: &Filed, mask: &Mask) -> String {
    let plan = filed.frozen.plan();
    let by = text::defuse_mentions(&text::one_line(&mask.apply(&plan.requester.display), 48));
    let heading = approval::heading(&filed.frozen).unwrap_or_default();
    let status = card::status(filed, filed.standing.decided.as_ref(), mask).map(|(_, status)| status);
    let status = match (filed.state(), status) {
        (PlanState::Pending, _) | (_, None) => text::capital(filed.state().as_str()),
        (_, Some(status)) => status,
    };
    format!(
        "{}: {by} asked · {}",
        answer::time(at(filed)),
        card::decided_card(&heading, Some(&status.replace('\n', " ")))
    )
}
