//! What was changed: the plans, the trail of what was begun, the lines in the files, and what was said of them.

use std::collections::BTreeMap;

use super::Found;
use crate::faults::facts::{Asked, Facts, Plan, What};

/// The call that adds a line.
const APPEND: &str = "host_file.append";

/// A request for a change has at most one plan, and exactly one where a card was shown.
pub(super) fn one_plan(facts: &Facts) -> Found {
    let mut wrong = Vec::new();
    for (asked, _) in changes(facts) {
        let plans: Vec<&Plan> = facts.plans.iter().filter(|plan| plan.token == asked.token).collect();
        let signal = facts.signals.iter().find(|signal| signal.event == asked.event);
        let cards = facts.posts.iter().filter(|post| signal.is_some_and(|it| it.id == post.signal));
        let cards: Vec<&str> = cards.filter_map(|post| post.card.as_deref()).collect();
        let ids: Vec<&str> = plans.iter().map(|plan| plan.id.as_str()).collect();
        if ids.len() > 1 || cards.len() > 1 || (!cards.is_empty() && cards != ids) {
            wrong.push(format!("{} has the plans {ids:?} and the cards {cards:?}", asked.token));
        }
    }
    (changes(facts).count(), wrong)
}

fn changes(facts: &Facts) -> impl Iterator<Item = (&Asked, usize)> {
    facts.asked.iter().filter_map(|asked| match asked.what {
        What::Change { times } => Some((asked, times)),
        What::Ping | What::Read | What::Press { .. } => None,
    })
}

/// A line stands in its file once where its plan was carried out, and else not at all.
pub(super) fn at_most_once(facts: &Facts) -> Found {
    let begun = tally(facts, |row| row.what == "executing");
    let mut wrong = Vec::new();
    for (asked, times) in changes(facts) {
        let plan = facts.plans.iter().find(|plan| plan.token == asked.token);
        wrong.extend(judge_change(facts, asked, times, plan).err());
        let begun = plan.and_then(|plan| begun.get(plan.id.as_str())).copied().unwrap_or_default();
        if begun < times {
            wrong.push(format!("{} is written {times} times, and was begun {begun} times", asked.token));
        }
    }
    for what in ["proposed", "approved", "denied", "executing", "verified"] {
        let twice = tally(facts, |row| row.what == what).into_iter().filter(|(_, times)| *times > 1);
        wrong.extend(twice.map(|(plan, times)| format!("plan {plan} is {what} {times} times")));
    }
    let called = facts.trail.iter().filter(|row| row.what == "called" && row.call == APPEND).count();
    let all: usize = begun.values().sum();
    if all != called {
        wrong.push(format!("{all} changes were begun, and {called} were called"));
    }
    (changes(facts).count(), wrong)
}

fn judge_change(facts: &Facts, asked: &Asked, times: usize, plan: Option<&Plan>) -> Result<(), String> {
    let (about, state) = (&asked.token, plan.map_or("no plan", |plan| plan.state.as_str()));
    let expected = match state {
        "verified as_expected" => 1,
        // A file that was to be made is not there.
        "verified absent" | "verified differs" | "no plan" | "pending" | "denied" | "expired" | "cancelled"
        | "failed" => 0,
        refused if refused.starts_with("refused ") => 0,
        other => return Err(format!("{about} is left {other}")),
    };
    if times != expected {
        return Err(format!("{about} is {state}, and is written {times} times"));
    }
    let Some(plan) = plan else { return Ok(()) };
    let is_claimed = facts.posts.iter().any(|post| post.claims.as_deref() == Some(&plan.id));
    if is_claimed != (times == 1) {
        return Err(format!("{about} is written {times} times, and whether that was said is {is_claimed}"));
    }
    let is_taken = |press: &Asked| facts.signals.iter().any(|signal| signal.event == press.event);
    let mut presses = facts.asked.iter().filter(|press| press.token == *about && is_taken(press));
    let is_approved = presses.any(|press| press.what == What::Press { approves: true });
    if times == 1 && !is_approved {
        return Err(format!("{about} is written, and nobody approved it"));
    }
    // While it is not known what became of the change before it in its thread, a plan goes on waiting, and says so.
    let is_put_off =
        facts.trail.iter().any(|row| row.what == "refused" && row.code == "FSM_BLOCKED" && row.plan == plan.id);
    // A press that was interrupted twice ends in a notice, and decides nothing; nor does one on an older copy of the card.
    let counts = |press: &Asked| facts.signals.iter().find(|it| it.event == press.event && !it.is_on_older_copy);
    let ending = |press: &Asked| counts(press).map(|it| &*it.ending);
    let approving =
        facts.asked.iter().filter(|press| press.token == *about && press.what == What::Press { approves: true });
    let endings: Vec<&str> = approving.filter_map(ending).filter(|ending| *ending != "interrupted").collect();
    if !endings.is_empty() && state == "pending" && !is_put_off {
        return Err(format!("{about} was approved ({}) and still waits", endings.join(", ")));
    }
    Ok(())
}

/// How many such rows each plan has.
fn tally(facts: &Facts, wanted: impl Fn(&crate::faults::facts::Row) -> bool) -> BTreeMap<&str, usize> {
    let mut tally = BTreeMap::new();
    for row in facts.trail.iter().filter(|row| wanted(row)) {
        *tally.entry(row.plan.as_str()).or_default() += 1;
    }
    tally
}
