//! The two parts of a card that other messages do not have: the diff in colour, and how it is decided here. What a card
//! says is the core's.

use countersign_core::approval::PlanId;
use countersign_core::port::CardChoice;

use super::{Style, prose};
use crate::{clean, decide};

const ADDED: &str = "\u{1b}[32m";
const REMOVED: &str = "\u{1b}[31m";
const PLAIN: &str = "\u{1b}[0m";

/// What a card will change, in colour. Every line by its sign alone: a removed `-- x` looks like a head, and is none.
pub(super) fn diff(text: &str) -> Vec<String> {
    let line = |line: &str| match line.as_bytes().first() {
        Some(b'+') => format!("  {ADDED}{line}{PLAIN}"),
        Some(b'-') => format!("  {REMOVED}{line}{PLAIN}"),
        Some(_) | None => format!("  {line}"),
    };
    clean::visible(text).lines().map(line).collect()
}

/// How a card is decided here: by a word alone where a person is at the keys, else by the id, which is whole and on one
/// line, so that it can be copied. Nothing where nothing may be decided.
pub(super) fn card(plan: &PlanId, choices: &[CardChoice], style: Style) -> Vec<String> {
    if choices.is_empty() {
        return Vec::new();
    }
    let typed = |&choice: &CardChoice| {
        let word = decide::word(choice);
        match (choice, style.keys) {
            (CardChoice::Approve, true) => word.to_owned(),
            (CardChoice::Deny, true) => format!("{word} (and why)"),
            (CardChoice::Approve, false) => format!("{word} {plan}"),
            (CardChoice::Deny, false) => format!("{word} {plan} and why"),
        }
    };
    let typed: Vec<String> = choices.iter().map(typed).collect();
    if style.keys {
        prose(&format!("Type {}, or details.", typed.join(", ")), style.width)
    } else {
        vec![format!("To decide it: {}", typed.join("   or: "))]
    }
}
