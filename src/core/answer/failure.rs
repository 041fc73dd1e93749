//! The diagnostic form: what did not happen, why, and what to do (FMT-03). One form for every tool and every gate. The mark
//! (refused or failed) is the message's own and is not drawn here. What is known of a failure is in `errors.rs`.

use super::Rule;
use super::clean::{self, as_sentence, ended};
use crate::envelope::{Details, Failure};
use crate::port::Block;
use crate::secrets::Mask;

/// The most characters of a failure's own words: a stack trace's beginning, not all of it.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// The most characters of a hint, a name or an id.
const LINE_CHARS_MAX: usize = 400;

/// The most suggestions (the contract of `Details`).
const SUGGESTIONS_MAX: usize = 5;

/// Shows why something did not happen, and what to do about it. `gate` names the gate that refused it, where one did.
pub fn failure(failure: &Failure, gate: Option<&str>, mask: &Mask) -> Vec<Block> {
    let mut blocks = vec![Block::Text { text: sentences(failure, gate, mask).join("\n") }];
    if let Some(rewrite) = &failure.details.suggested_rewrite {
        blocks.push(Block::Text { text: "This form would be allowed:".to_owned() });
        blocks.push(Block::Code { text: clean::prose(mask, rewrite, MESSAGE_CHARS_MAX) });
    }
    blocks.extend(suggestions(&failure.details, mask));
    blocks
}

/// The most characters of a known failure's own words: enough to know it by. All of them are in the audit.
const RAW_CHARS_MAX: usize = 400;

/// Shows a failure that is known, in three short parts: what happened, why, and what to do; then its own words (ERR-02,
/// C-33). `what` is the call and what it was made on. What the tool itself says to do comes first: it knows more.
pub(crate) fn explained(failure: &Failure, rule: &Rule, what: &str, mask: &Mask) -> Vec<Block> {
    let what_to_do = match &failure.details.recovery_hint {
        Some(hint) => ended(&clean::line(mask, hint, LINE_CHARS_MAX)),
        None => rule.what_to_do.clone(),
    };
    let what = clean::line(mask, what, LINE_CHARS_MAX);
    let parts = [
        format!("What happened: {what} did not work."),
        format!("({}, `{}`)", failure.code, rule.name),
        format!("Why: {}", rule.why),
        format!("What to do: {what_to_do}"),
    ];
    let mut blocks = vec![Block::Text { text: parts.join("\n") }];
    blocks.extend(suggestions(&failure.details, mask));
    blocks.push(Block::Code { text: clean::prose(mask, failure.message.trim(), RAW_CHARS_MAX) });
    blocks
}

/// What a program's own words mean that ran and did not work: shown below them.
pub(crate) fn meaning(rule: &Rule) -> Block {
    Block::Text { text: format!("Why (`{}`): {}\nWhat to do: {}", rule.name, rule.why, rule.what_to_do) }
}

fn sentences(failure: &Failure, gate: Option<&str>, mask: &Mask) -> Vec<String> {
    let why = match failure.message.trim() {
        "" => "no reason was given".to_owned(),
        // On one line: names of files and processes stand in it, and must not look like sentences of ours.
        message => clean::line(mask, message, MESSAGE_CHARS_MAX),
    };
    let code = gate.map_or_else(|| format!("({})", failure.code), |gate| format!("({}, gate `{gate}`)", failure.code));
    let why = if gate.is_some() { as_sentence(&why) } else { ended(&why) };
    let mut sentences = vec![why, code];
    if let Some(hint) = &failure.details.recovery_hint {
        sentences.push(format!("What to do: {}", ended(&clean::line(mask, hint, LINE_CHARS_MAX))));
    } else if failure.retryable {
        sentences.push("What to do: try the same again; it may work.".to_owned());
    }
    sentences
}

fn suggestions(details: &Details, mask: &Mask) -> Option<Block> {
    let line = |text: &str| clean::line(mask, text, LINE_CHARS_MAX);
    let names: Vec<String> = details
        .suggestions
        .iter()
        .take(SUGGESTIONS_MAX)
        .map(|suggestion| match (line(&suggestion.name), line(&suggestion.id)) {
            (name, id) if id.is_empty() || id == name => format!("- {name}"),
            (name, id) => format!("- {name} ({id})"),
        })
        .collect();
    (!names.is_empty()).then(|| Block::Text { text: format!("Did you mean:\n{}", names.join("\n")) })
}
