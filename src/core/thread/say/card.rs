//! What stands on a card in the place of its buttons, once its plan has moved: who decided it, how far it has come, and what
//! came of it. The card itself is drawn by `approval/card.rs`; what the thread is told beside it is in `plans.rs`.

use crate::answer;
use crate::approval::{Decided, Filed, Outcome, PlanState, Told, Unasked, is_success, told};
use crate::port::Mark;
use crate::secrets::Mask;
use crate::signal::Actor;
use crate::text;

use super::plans::NOTHING_CHANGED;
use super::quote;

/// The most characters of a name.
const NAME_CHARS_MAX: usize = 64;

/// In the place of whatever a gate refuses to have said there: true of every plan that waits no longer.
pub(in crate::thread) const OVER: &str = "This plan does not wait for a decision any more.";

/// How a plan stands, on one line; none where there is nothing to add to its card. `by` is who has just decided it.
pub(in crate::thread) fn status(filed: &Filed, by: Option<&Decided>, mask: &Mask) -> Option<(Mark, String)> {
    let allowed = || allowed(filed, mask);
    let status = match filed.state() {
        PlanState::Pending => {
            let lines: Vec<String> = so_far(filed, mask).into_iter().chain(late(filed)).collect();
            return (!lines.is_empty()).then(|| (Mark::Question, lines.join("\n")));
        }
        PlanState::Approved | PlanState::Executing => {
            (Mark::Plain, format!("✓ {}; being done.", text::capital(&allowed())))
        }
        PlanState::Unverified => (Mark::Plain, format!("✓ {}; not verified yet.", text::capital(&allowed()))),
        PlanState::Unknown => {
            (Mark::Failed, format!("✗ {}; it is not known yet whether it was done.", text::capital(&allowed())))
        }
        PlanState::Verified(outcome) => verified(filed, outcome, &allowed()),
        PlanState::Denied | PlanState::Expired | PlanState::Cancelled | PlanState::Refused(_) | PlanState::Failed => {
            told(filed).map(|told| came_to_nothing(told, by, mask))?
        }
    };
    Some(status)
}

/// A decided card: one line, the status first, because a pop-up cuts the end.
pub(in crate::thread) fn decided_card(heading: &str, status: Option<&str>) -> String {
    match status {
        Some(status) => format!("{} · {heading}", status.trim_end_matches('.')),
        None => heading.to_owned(),
    }
}

fn verified(filed: &Filed, outcome: Outcome, allowed: &str) -> (Mark, String) {
    if is_success(filed.frozen.plan(), outcome) {
        return (Mark::Plain, format!("✓ Done and verified; {allowed}."));
    }
    (Mark::Failed, format!("✗ Not as planned; {allowed}."))
}

/// In the words of [`told`], as everywhere.
fn came_to_nothing(told: Told, by: Option<&Decided>, mask: &Mask) -> (Mark, String) {
    let word = text::capital(told.word());
    match told {
        Told::Denied | Told::Cancelled => (Mark::Plain, format!("✗ {word}{}", decided(by, mask))),
        Told::TimedOut | Told::BegunTooLate | Told::Withdrawn(_) => {
            let why = told.why().map(|why| format!(": {}", small(why))).unwrap_or_default();
            (Mark::Plain, format!("{word}{why}."))
        }
        Told::Refused(code) => (Mark::Refused, format!("✗ Not done: it was refused ({code}). {NOTHING_CHANGED}")),
        Told::Failed => (Mark::Failed, format!("✗ Not done: it could not be begun. {NOTHING_CHANGED}")),
    }
}

/// Who decided it, and why; nothing of that where nobody did.
fn decided(by: Option<&Decided>, mask: &Mask) -> String {
    match by {
        None => ".".to_owned(),
        Some(by) if by.reason.is_empty() => format!(" by {}.", name(&by.by, mask)),
        Some(by) => format!(" by {}: {}", name(&by.by, mask), quote(&by.reason, mask)),
    }
}

/// How many have countersigned a plan that takes more of them. By the terms that stand on the card: where somebody's vote
/// counts no longer, or more people have to since, no number is promised.
fn so_far(filed: &Filed, mask: &Mask) -> Option<String> {
    let names = names(filed, mask);
    let quorum = usize::try_from(filed.frozen.plan().terms.quorum.get()).unwrap_or(usize::MAX);
    let list = names.join(" and ");
    match names.len() {
        0 => None,
        have if have < quorum => Some(format!("{have} of {quorum} have countersigned: {list}")),
        _ => Some(format!("Countersigned by {list}; it takes somebody else, too.")),
    }
}

/// Until when it can be decided, where that is not what its card says.
fn late(filed: &Filed) -> Option<String> {
    let end = filed.standing.decide_by?;
    Some(format!("This card came late: it can be decided until {}.", answer::time(end)))
}

/// Names the people who countersigned the plan, or who had granted it beforehand.
fn allowed(filed: &Filed, mask: &Mask) -> String {
    let decided = filed.standing.decided.as_ref();
    let unasked = decided.and_then(|decided| Some((decided, decided.unasked.as_ref()?)));
    let names = names(filed, mask);
    match unasked {
        Some((decided, Unasked::Grant(_))) => format!("allowed beforehand by {}", name(&decided.by, mask)),
        Some((_, Unasked::Level)) => "nobody had to be asked in this room".to_owned(),
        None if names.is_empty() => "countersigned".to_owned(),
        None => format!("countersigned by {}", names.join(" and ")),
    }
}

fn names(filed: &Filed, mask: &Mask) -> Vec<String> {
    filed.standing.votes.iter().map(|vote| name(&vote.by, mask)).collect()
}

fn name(actor: &Actor, mask: &Mask) -> String {
    text::defuse_mentions(&text::one_line(&mask.apply(&actor.display), NAME_CHARS_MAX))
}

/// What begins a sentence elsewhere, after a colon.
fn small(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{ActorId, ActorKind};

    #[test]
    fn names_on_a_card_are_masked_and_harmless() {
        let display = "plantedzebra\n✓ Done and verified @everyone".to_owned();
        let actor = Actor { id: ActorId::new("bob"), kind: ActorKind::Human, display };
        let mask = Mask::new(["plantedzebra".to_owned()]);
        assert_eq!(name(&actor, &mask), "[masked: secret]⏎✓ Done and verified @ everyone");
    }
}
