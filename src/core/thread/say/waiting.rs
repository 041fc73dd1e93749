//! What the bot says of a plan that waits, and of one that came to nothing: how many have countersigned it, who is asked,
//! and why nothing was changed. What is said of plans that were carried out is in `plans.rs`.

use crate::answer;
use crate::approval::{Desk, Filed, Hint, Plan, PlanId, PlanState, Told, Vote, told};
use crate::port::Block;
use crate::secrets::Mask;
use crate::signal::Actor;
use crate::text;

use super::plans::{NOTHING_CHANGED, title};
use super::{line, quote, sentence};

/// Nothing was changed, and why: in the words of [`told`], the same everywhere.
pub(in crate::thread) fn came_to_nothing(filed: &Filed, mask: &Mask) -> Vec<Block> {
    let Some(told) = told(filed) else { return Vec::new() };
    let reason = filed.standing.decided.as_ref().map(|decided| decided.reason.as_str()).unwrap_or_default();
    let why = match told.why() {
        Some(why) => format!(" {why}."),
        None if reason.is_empty() => String::new(),
        None => format!(" Reason: {}.", quote(reason, mask)),
    };
    let again = match told {
        Told::TimedOut | Told::BegunTooLate | Told::Withdrawn(_) => " Ask again if it is still wanted.",
        Told::Denied | Told::Cancelled | Told::Refused(_) | Told::Failed => "",
    };
    sentence(format!("{}: {}.{why} {NOTHING_CHANGED}{again}", text::capital(told.word()), title(filed.frozen.plan())))
}

/// What became of a proposal that had to be countersigned, for `why`.
pub(in crate::thread) fn became(plan: &PlanId, desk: &Desk) -> String {
    let Some(filed) = desk.get(plan) else {
        return format!("had to be countersigned: it became plan {plan}, which is closed");
    };
    if filed.state() == PlanState::Pending {
        return format!("has to be countersigned first: its card was made, and plan {plan} waits");
    }
    let is_unasked = filed.standing.decided.as_ref().is_some_and(|decided| decided.unasked.is_some());
    let card = if is_unasked { "nobody had to be asked" } else { "its card was made" };
    let word = told(filed).map_or_else(|| filed.state().as_str(), Told::word);
    format!("had to be countersigned: {card}, and plan {plan} is {word}")
}

/// One person has countersigned, and more have to.
pub(in crate::thread) fn voted(filed: &Filed, by: &Actor, missing: u32) -> Vec<Block> {
    let plan = filed.frozen.plan();
    let more = if missing == 1 { "One more person has".to_owned() } else { format!("{missing} more people have") };
    let by = text::defuse_mentions(&text::one_line(&by.display, 64));
    let until = answer::time(filed.decide_by());
    sentence(format!(
        "Countersigned by {by}: {}. {more} to countersign it until {until}. Nothing is done yet.",
        title(plan)
    ))
}

/// What the audit row of a vote says.
pub(in crate::thread) fn vote_record(vote: &Vote, plan: &Plan, missing: u32, reason: &str) -> String {
    let waiver = if vote.waiver { "; waiver: the requester counts, as policy allows here" } else { "" };
    let unsealed = if vote.unsealed { super::plans::UNSEALED } else { "" };
    let reason = if reason.is_empty() { String::new() } else { format!("; reason: {reason}") };
    format!(
        "countersigned by {} ({}): {}{waiver}{unsealed}; {missing} more needed{reason}",
        vote.by.id, vote.person, plan.title
    )
}

/// How many have countersigned, where a card is shown again.
pub(in crate::thread) fn so_far(filed: &Filed) -> Option<Block> {
    let votes = filed.standing.votes.len();
    let have = if votes == 1 { "person has" } else { "people have" };
    (votes > 0).then(|| line(format!("{votes} {have} countersigned this already.")))
}

/// The groups that an escalation brings in, as a list.
pub(in crate::thread) fn groups(filed: &Filed, after_ms: u64) -> String {
    let groups = filed.frozen.plan().terms.groups_from(after_ms);
    format!("group {}", groups.into_iter().collect::<Vec<_>>().join(" and "))
}

/// Who is asked once more, until when, and how they decide.
pub(in crate::thread) fn hint(filed: &Filed, hint: Hint) -> Vec<Block> {
    let plan = filed.frozen.plan();
    let lead = match hint {
        Hint::Remind => "Still waiting".to_owned(),
        Hint::Escalate(after_ms) => format!("Not decided yet; from now on {} may decide, too", groups(filed, after_ms)),
    };
    let who = plan.terms.who(plan.terms.reached_ms(filed.standing.level));
    let so_far = match filed.standing.votes.len() {
        0 => String::new(),
        votes => format!(" {votes} so far."),
    };
    let until = answer::time(filed.decide_by());
    sentence(format!(
        "{lead}: {}. It takes {who} to countersign it until {until}.{so_far} Its card is above; or type:\n  approve {}\n  deny {}",
        title(plan),
        plan.id,
        plan.id
    ))
}
