//! The reactions that stand for buttons: which the bot gives to its own message, so that a tap gives one more, and what one
//! that somebody gave stands for. Whether it decides anything is the core's.

use countersign_core::approval::Risk;
use countersign_core::port::{Block, CardChoice, Sign};

/// What approves, and what denies: the first of each is the one that the bot gives.
const APPROVES: [&str; 2] = ["✅", "👍"];
const DENIES: [&str; 2] = ["❌", "👎"];

/// The reaction that shows the details of a card's plan.
pub(super) const DETAILS: &str = "🔎";

/// What picks a choice, by its position. There is none for a tenth: it is typed.
const PICKS: [&str; 9] = ["1️⃣", "2️⃣", "3️⃣", "4️⃣", "5️⃣", "6️⃣", "7️⃣", "8️⃣", "9️⃣"];

/// What a reaction stands for; none where it is nothing but a reaction. Clients send the same sign with and without the
/// invisible character that asks for its coloured form, and a hand in any colour.
pub(crate) fn sign(key: &str) -> Option<Sign> {
    let is = |seed: &&str| bare(seed) == bare(key);
    if APPROVES.iter().any(is) {
        return Some(Sign::Approve);
    }
    if DENIES.iter().any(is) {
        return Some(Sign::Deny);
    }
    if is(&DETAILS) {
        return Some(Sign::Details);
    }
    PICKS.iter().zip(0..).find(|(seed, _)| is(seed)).map(|(_, at)| Sign::Pick(at))
}

/// The reactions under a message: those of its last question or card, which stands nearest to it.
pub(super) fn of(blocks: &[Block]) -> Vec<&'static str> {
    let seeds = blocks.iter().rev().find_map(|block| match block {
        Block::Choices { choices, .. } => Some(PICKS.into_iter().take(choices.len()).collect()),
        Block::Card { choices, risk, .. } => Some(of_whole_card(choices, *risk)),
        Block::Text { .. } | Block::Quote { .. } | Block::Code { .. } | Block::Fields { .. } | Block::Table { .. } => {
            None
        }
    });
    seeds.unwrap_or_default()
}

/// The reactions under a card; none where nothing may be decided.
fn of_whole_card(choices: &[CardChoice], risk: Risk) -> Vec<&'static str> {
    let details = (!choices.is_empty()).then_some(DETAILS);
    decisions(choices, risk).into_iter().map(of_card).chain(details).collect()
}

/// What of a card's choices a reaction decides: high risk is not approved so.
pub(super) fn decisions(choices: &[CardChoice], risk: Risk) -> Vec<CardChoice> {
    let is_enough = |choice: &CardChoice| *choice == CardChoice::Deny || risk < Risk::High;
    choices.iter().copied().filter(is_enough).collect()
}

/// The reaction that picks the choice at this position.
pub(super) fn pick(at: usize) -> Option<&'static str> {
    PICKS.get(at).copied()
}

/// The reaction that decides so.
pub(super) const fn of_card(choice: CardChoice) -> &'static str {
    match choice {
        CardChoice::Approve => APPROVES[0],
        CardChoice::Deny => DENIES[0],
    }
}

/// A sign without the variation selectors and the colours of skin that clients add.
fn bare(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reaction_stands_for_what_it_shows_and_for_nothing_like_it() {
        let table = [
            ("✅", Some(Sign::Approve)),
            ("✅\u{fe0f}", Some(Sign::Approve)),
            ("👍", Some(Sign::Approve)),
            ("👍️", Some(Sign::Approve)),
            ("👍🏽", Some(Sign::Approve)),
            ("❌", Some(Sign::Deny)),
            ("👎", Some(Sign::Deny)),
            ("👎🏿", Some(Sign::Deny)),
            ("1️⃣", Some(Sign::Pick(0))),
            ("1\u{20e3}", Some(Sign::Pick(0))),
            ("9️⃣", Some(Sign::Pick(8))),
            ("0️⃣", None),
            ("🔟", None),
            ("1", None),
            ("✔️", None),
            ("✅✅", None),
            ("👍 yes", None),
            ("", None),
            ("\u{fe0f}", None),
            ("mxc://example.org/thumbsup", None),
        ];
        for (key, expected) in table {
            assert_eq!(sign(key), expected, "{key}");
        }
    }

    #[test]
    fn what_the_bot_seeds_is_read_as_what_it_stands_for() {
        for (seed, at) in PICKS.iter().zip(0..) {
            assert_eq!(sign(seed), Some(Sign::Pick(at)));
        }
        assert_eq!(sign(of_card(CardChoice::Approve)), Some(Sign::Approve));
        assert_eq!(sign(of_card(CardChoice::Deny)), Some(Sign::Deny));
        assert_eq!(sign(DETAILS), Some(Sign::Details));
    }
}
