//! The question or the card that a line typed here would answer. It knows no input and no output; the words that decide a
//! card are in `decide`.

use countersign_core::port::{Block, Outgoing};
use countersign_core::signal::{Payload, QuestionId};

use crate::decide::{self, Shown};

/// What was shown last that a line can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A number picks from it.
    Question { question: QuestionId, choices: u32 },
    /// A word decides it.
    Card(Shown),
}

/// The question or the card in a message; the last one where it has several, because that one stands nearest to the prompt.
pub(crate) fn asked_in(message: &Outgoing) -> Option<Asked> {
    message.blocks.iter().rev().find_map(|block| match block {
        Block::Choices { question, choices } => {
            let choices = u32::try_from(choices.len()).unwrap_or(u32::MAX);
            Some(Asked::Question { question: question.clone(), choices })
        }
        Block::Card { plan, digest, choices, .. } => {
            Some(Asked::Card(Shown { plan: plan.clone(), digest: digest.clone(), choices: choices.clone() }))
        }
        Block::Text { .. } | Block::Quote { .. } | Block::Code { .. } | Block::Fields { .. } | Block::Table { .. } => {
            None
        }
    })
}

/// What a line says: a pick where it is nothing but the number of a choice, a decision where it is one about the card that
/// is shown, else its own text, untouched.
pub(crate) fn payload(line: &str, asked: Option<&Asked>) -> Payload {
    let answer = match asked {
        Some(Asked::Question { question, choices }) => {
            position(line, *choices).map(|pick| Payload::Choice { question: question.clone(), pick })
        }
        Some(Asked::Card(shown)) => decide::decision(line, shown),
        None => None,
    };
    answer.unwrap_or_else(|| Payload::Text { text: line.to_owned() })
}

/// What a person hears whose line was likely meant for the card that is shown and does not decide it.
pub(crate) fn near_miss(line: &str, asked: Option<&Asked>) -> Option<String> {
    match asked {
        Some(Asked::Card(shown)) => decide::near_miss(line, shown),
        Some(Asked::Question { .. }) | None => None,
    }
}

/// The position, from 0, of a number from 1 to `choices`. Digits only: `+1` and `1.` are text.
fn position(line: &str, choices: u32) -> Option<u32> {
    let digits = line.trim();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: u32 = digits.parse().ok()?;
    (1..=choices).contains(&number).then(|| number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bare_number_in_range_is_a_pick() {
        let asked = Asked::Question { question: QuestionId::new("q"), choices: 3 };
        for (line, pick) in [("1", 0), (" 3 ", 2), ("02", 1)] {
            assert_eq!(payload(line, Some(&asked)), Payload::Choice { question: QuestionId::new("q"), pick }, "{line}");
        }
        for line in ["0", "4", "+1", "1.", "1 2", "one", "-1", "99999999999", "approve", "a", "deny"] {
            assert_eq!(payload(line, Some(&asked)), Payload::Text { text: line.to_owned() }, "{line}");
        }
        assert_eq!(payload("1", None), Payload::Text { text: "1".to_owned() });
        assert_eq!(payload("approve", None), Payload::Text { text: "approve".to_owned() });
    }
}
