//! The question that a number typed here would answer. It knows no input and no output.

use countersign_core::port::{Block, Outgoing};
use countersign_core::signal::{Payload, QuestionId};

/// The last question that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    question: QuestionId,
    choices: u32,
}

/// The question in a message; the last one where it has several, because that one stands nearest to the prompt.
pub(crate) fn asked_in(message: &Outgoing) -> Option<Asked> {
    message.blocks.iter().rev().find_map(|block| match block {
        Block::Choices { question, choices } => {
            let choices = u32::try_from(choices.len()).unwrap_or(u32::MAX);
            Some(Asked { question: question.clone(), choices })
        }
        Block::Text { .. } | Block::Code { .. } | Block::Fields { .. } | Block::Table { .. } => None,
    })
}

/// What a line says: a pick where it is nothing but the number of a choice, else its own text, untouched.
pub(crate) fn payload(line: &str, asked: Option<&Asked>) -> Payload {
    match asked.and_then(|asked| Some((asked, position(line, asked.choices)?))) {
        Some((asked, pick)) => Payload::Choice { question: asked.question.clone(), pick },
        None => Payload::Text { text: line.to_owned() },
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
        let asked = Asked { question: QuestionId::new("q"), choices: 3 };
        for (line, pick) in [("1", 0), (" 3 ", 2), ("02", 1)] {
            assert_eq!(payload(line, Some(&asked)), Payload::Choice { question: QuestionId::new("q"), pick }, "{line}");
        }
        for line in ["0", "4", "+1", "1.", "1 2", "one", "-1", "99999999999"] {
            assert_eq!(payload(line, Some(&asked)), Payload::Text { text: line.to_owned() }, "{line}");
        }
        assert_eq!(payload("1", None), Payload::Text { text: "1".to_owned() });
    }
}
