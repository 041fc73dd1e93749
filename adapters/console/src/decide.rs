//! The words that decide the card that is shown on a terminal, and nothing else: which card that is, is kept elsewhere,
//! and whether the decision counts is for the core to say. No I/O.

use countersign_core::approval::{Digest, PlanId, short};
use countersign_core::port::CardChoice;
use countersign_core::signal::Payload;
use countersign_core::text;

/// The most characters of a line that are repeated.
const SAID_CHARS_MAX: usize = 24;

/// A card that a person can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) plan: PlanId,
    pub(crate) digest: Digest,
    /// What may be decided about it.
    pub(crate) choices: Vec<CardChoice>,
}

/// The word that shows the whole plan of a card.
const DETAILS: &str = "details";

/// The word that a choice is typed as, in full.
pub(crate) const fn word(choice: CardChoice) -> &'static str {
    match choice {
        CardChoice::Approve => "approve",
        CardChoice::Deny => "deny",
    }
}

/// Reads a line for this card: `approve` or `a` alone and `deny` or `d` with any reason decide it, `details` alone
/// shows it whole.
pub(crate) fn decision(line: &str, shown: &Shown) -> Option<Payload> {
    let line = line.trim();
    if line.eq_ignore_ascii_case(DETAILS) && !shown.choices.is_empty() {
        return Some(Payload::Details { plan: shown.plan.clone() });
    }
    let (typed, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = without_short_id(rest.trim(), &shown.plan)?;
    let choice = if is_word(typed, "approve") && rest.is_empty() {
        CardChoice::Approve
    } else if is_word(typed, "deny") && !names_a_plan(rest) {
        CardChoice::Deny
    } else {
        return None;
    };
    let (plan, digest, reason) = (shown.plan.clone(), shown.digest.clone(), rest.trim().to_owned());
    shown.choices.contains(&choice).then_some(Payload::Decision { plan, digest, choice, reason })
}

/// Returns what follows a decision without the short id of the card that is shown; none if another plan's short id stands there.
/// A word such as `dead` counts as one only where it stands alone.
fn without_short_id<'t>(rest: &'t str, plan: &PlanId) -> Option<&'t str> {
    let (first, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let word = first.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if word.eq_ignore_ascii_case(short(plan)) {
        return Some(behind.trim_start());
    }
    let is_hex = word.len() == short(plan).len() && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_short_id = is_hex && (behind.is_empty() || word.bytes().any(|byte| byte.is_ascii_digit()));
    (!is_short_id).then_some(rest)
}

/// Whether this is the word, or its first letter.
fn is_word(typed: &str, word: &str) -> bool {
    typed.eq_ignore_ascii_case(word) || typed.eq_ignore_ascii_case(&word[..1])
}

/// Whether a full id stands in it. Such a line says itself which plan it means, which may be another than the one that is
/// shown, so that only the core may read it.
fn names_a_plan(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| PlanId::parse(word).is_some())
}

/// What a person hears whose line was likely meant to decide this card and does not: a misspelt word, a word too many, or
/// `yes`. Taken as text it would close the card, and nobody would know why the next `approve` decides nothing.
pub(crate) fn near_miss(line: &str, shown: &Shown) -> Option<String> {
    let line = line.trim();
    let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    let is_meant = misspells(&first) || ["yes", "y", "no", "n", "ok"].contains(&line.to_lowercase().as_str());
    let behind = line.split_once(char::is_whitespace).map_or("", |(_, behind)| behind.trim());
    let names_another = names_a_plan(line) || without_short_id(behind, &shown.plan).is_none();
    if !is_meant || names_another || shown.choices.is_empty() || decision(line, shown).is_some() {
        return None;
    }
    let typed = |&choice: &CardChoice| match choice {
        CardChoice::Approve => word(choice).to_owned(),
        CardChoice::Deny => format!("{} (and why)", word(choice)),
    };
    let words: Vec<String> = shown.choices.iter().map(typed).collect();
    let said = text::one_line(line, SAID_CHARS_MAX);
    Some(format!("“{said}” decides nothing. The card still waits. Type only {}.", words.join(" or ")))
}

/// Whether this is one of the words that decide, or looks like one and not like `approvals`.
fn misspells(typed: &str) -> bool {
    let approve = text::mistakes(typed, "approve") <= 2 && text::mistakes(typed, "approvals") > 1;
    approve || text::mistakes(typed, "deny") <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(choices: &[CardChoice]) -> Shown {
        Shown { plan: PlanId::from_random(7), digest: Digest::of(b"7"), choices: choices.to_vec() }
    }

    #[test]
    fn the_words_that_decide() {
        let card = shown(&[CardChoice::Approve, CardChoice::Deny]);
        let table = [
            ("approve", CardChoice::Approve, ""),
            ("  Approve ", CardChoice::Approve, ""),
            ("a", CardChoice::Approve, ""),
            ("A", CardChoice::Approve, ""),
            ("deny", CardChoice::Deny, ""),
            ("D", CardChoice::Deny, ""),
            ("deny not during the backup", CardChoice::Deny, "not during the backup"),
            ("d\t Not now: see OPS-7 ", CardChoice::Deny, "Not now: see OPS-7"),
            ("deny approve", CardChoice::Deny, "approve"),
            ("approve 0000", CardChoice::Approve, ""),
            ("deny 0000", CardChoice::Deny, ""),
            ("deny (0000) too early", CardChoice::Deny, "too early"),
            ("deny dead slow", CardChoice::Deny, "dead slow"),
        ];
        for (line, choice, reason) in table {
            let (plan, digest) = (card.plan.clone(), card.digest.clone());
            let expected = Payload::Decision { plan, digest, choice, reason: reason.to_owned() };
            assert_eq!(decision(line, &card), Some(expected), "{line}");
        }
    }

    #[test]
    fn everything_else_leaves_it_waiting() {
        let card = shown(&[CardChoice::Approve, CardChoice::Deny]);
        let id = "0123456789abcdef0123456789ABCDEF";
        let with_id =
            ["approve", "a", "deny", "d", "deny the plan", "deny not it, but"].map(|said| format!("{said} {id}"));
        let punctuated = [format!("deny {id}: too early"), format!("deny ({id})")];
        for other in ["approve 0b69", "deny 0b69", "deny 0B69 too early", "deny dead", "d 0b69"] {
            assert_eq!((decision(other, &card), near_miss(other, &card)), (None, None), "{other} names another plan");
        }
        let others =
            ["", "yes", "no", "1", "approve it", "a b", "approved", "den", "deny, please", "denied", "ä", "cancel"];
        for line in with_id.iter().chain(&punctuated).map(String::as_str).chain(others) {
            assert_eq!(decision(line, &card), None, "{line}");
        }
    }

    #[test]
    fn a_line_that_was_meant_to_decide_is_told_what_to_type() {
        let card = shown(&[CardChoice::Approve, CardChoice::Deny]);
        for line in ["aprove", "Approev", "approved", "approve it", "dney", "den", "deny, please", "yes", " OK ", "n"] {
            let told = near_miss(line, &card).unwrap_or_default();
            let expected = "decides nothing. The card still waits. Type only approve or deny (and why).";
            assert!(told.ends_with(expected) && told.contains(line.trim()), "{line}: {told}");
        }
        let id = "0123456789abcdef0123456789ABCDEF";
        let others =
            ["approve", "a", "deny not now", "approvals", "approval", "who am i", "verify", "send hup", "1", ""];
        for line in others.into_iter().map(str::to_owned).chain([format!("aprove {id}"), format!("approve {id}")]) {
            assert_eq!(near_miss(&line, &card), None, "{line}");
        }
        assert_eq!(near_miss("aprove", &shown(&[])), None);
        let told = near_miss("approve", &shown(&[CardChoice::Deny]));
        assert_eq!(told.as_deref(), Some("“approve” decides nothing. The card still waits. Type only deny (and why)."));
    }

    #[test]
    fn only_what_the_card_offers_can_be_decided() {
        assert_eq!(decision("approve", &shown(&[CardChoice::Deny])), None);
        assert_eq!(decision("deny", &shown(&[CardChoice::Approve])), None);
        assert!(decision("approve", &shown(&[CardChoice::Approve])).is_some());
    }
}
