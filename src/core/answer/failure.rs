//! The diagnostic form: what did not happen, why, and what to do (FMT-03). One form for every tool and every gate. The mark
//! (refused or failed) is the message's own and is not drawn here.

use super::clean;
use crate::envelope::{Details, Failure};
use crate::port::Block;
use crate::secrets::Mask;

/// The most characters of a failure's own words: a stack trace's beginning, not all of it.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// The most characters of a hint, a name or an id.
const LINE_CHARS_MAX: usize = 400;

/// The most suggestions (the contract of `Details`).
const SUGGESTIONS_MAX: usize = 5;

/// Shows why something did not happen, and what to do about it.
pub fn failure(failure: &Failure, mask: &Mask) -> Vec<Block> {
    let mut blocks = vec![Block::Text { text: sentences(failure, mask).join("\n") }];
    if let Some(rewrite) = &failure.details.suggested_rewrite {
        blocks.push(Block::Text { text: "This form would be allowed:".to_owned() });
        blocks.push(Block::Code { text: clean::prose(mask, rewrite, MESSAGE_CHARS_MAX) });
    }
    blocks.extend(suggestions(&failure.details, mask));
    blocks
}

fn sentences(failure: &Failure, mask: &Mask) -> Vec<String> {
    let what = match (failure.blocked, failure.failed) {
        (true, _) => "Refused, nothing was done",
        (false, true) => "It was tried and did not work",
        (false, false) => "It did not happen",
    };
    let why = match failure.message.trim() {
        "" => "no reason was given".to_owned(),
        message => clean::prose(mask, message, MESSAGE_CHARS_MAX),
    };
    let mut sentences = vec![format!("{what}: {} [{}]", ended(&why), failure.code)];
    sentences.extend(about(&failure.details, mask));
    if let Some(hint) = &failure.details.recovery_hint {
        sentences.push(format!("What to do: {}", ended(&clean::line(mask, hint, LINE_CHARS_MAX))));
    } else if failure.retryable {
        sentences.push("What to do: try the same again; it may work.".to_owned());
    }
    sentences
}

/// What it was about, as far as it is known.
fn about(details: &Details, mask: &Mask) -> Option<String> {
    let line = |text: &String| clean::line(mask, text, LINE_CHARS_MAX);
    let action = details.action.as_ref().map(line);
    let resource = details.resource_id.as_ref().map(|id| format!("on {}", line(id)));
    let argument = details.argument.as_ref().map(|name| format!("argument {}", line(name)));
    let parts: Vec<String> = [action, resource, argument].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("About: {}", parts.join(" ")))
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

/// With a full stop, where it does not end a sentence already. Its first letter stays: it may be a name.
fn ended(sentence: &str) -> String {
    if sentence.ends_with(['.', '!', '?', ':', '…']) { sentence.to_owned() } else { format!("{sentence}.") }
}
