//! The JSON lines of `--json`: what a script may write, and the events that it reads. `README.md` beside this crate
//! documents them, and a test holds the two together. No I/O.

use std::fmt::Write as _;

use countersign_core::approval::{Digest, PlanId};
use countersign_core::port::{Block, CardChoice, Claim, DeliveryNotes, Mark, Outgoing};
use countersign_core::signal::{Payload, QuestionId, SignalId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clean;

/// The most bytes of an event id that a script chooses.
const EVENT_BYTES_MAX: usize = 200;

/// The digits of a digest: SHA-256 in hexadecimal (`countersign_core::approval::Digest`).
const DIGEST_DIGITS: usize = 64;

const NEEDS: &str = "A line needs one of these: `text` that is not empty; `question` and `pick`; or `plan`, `digest` and \
                     `choice`.";

/// An input line that is an object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    event: Option<String>,
    text: Option<String>,
    question: Option<String>,
    pick: Option<u32>,
    // Whatever stands in these four, so that what is wrong can be said by the name of its field.
    plan: Option<Value>,
    digest: Option<Value>,
    choice: Option<Value>,
    reason: Option<Value>,
}

/// An input line, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// The script's own id, where it gave one.
    pub(crate) event: Option<String>,
    pub(crate) payload: Payload,
}

/// An input line that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misread {
    /// Of the line, where at least that much is known.
    pub(crate) event: Option<String>,
    /// A sentence.
    pub(crate) message: String,
}

/// Understands a line: an object where it begins with `{`, else plain text, untouched.
pub(crate) fn parse(line: &str) -> Result<Said, Misread> {
    if !line.trim_start().starts_with('{') {
        return Ok(Said { event: None, payload: Payload::Text { text: line.to_owned() } });
    }
    let object: Object = serde_json::from_str(line).map_err(|error| {
        let message = format!("This line was not understood: {error}.");
        Misread { event: event_of(line), message }
    })?;
    let event = object.event.clone();
    if event.as_ref().is_some_and(|event| event.is_empty() || event.len() > EVENT_BYTES_MAX) {
        let message = format!("`event` must have between 1 and {EVENT_BYTES_MAX} bytes.");
        return Err(Misread { event: None, message });
    }
    match payload(object) {
        Ok(payload) => Ok(Said { event, payload }),
        Err(message) => Err(Misread { event, message }),
    }
}

/// What an object says. An error is a sentence.
fn payload(object: Object) -> Result<Payload, String> {
    let Object { event: _, text, question, pick, plan, digest, choice, reason } = object;
    let decides = [&plan, &digest, &choice, &reason].into_iter().any(Option::is_some);
    match (text, question, pick) {
        (Some(text), None, None) if !decides && !text.trim().is_empty() => Ok(Payload::Text { text }),
        (None, Some(question), Some(pick)) if !decides => {
            Ok(Payload::Choice { question: QuestionId::new(question), pick })
        }
        (None, None, None) => match (plan, digest, choice) {
            (Some(plan), Some(digest), Some(choice)) => decision(&plan, &digest, &choice, reason.as_ref()),
            _ => Err(NEEDS.to_owned()),
        },
        _ => Err(NEEDS.to_owned()),
    }
}

/// A decision, with its ids checked for their form. Whether it counts is for the core to say.
fn decision(plan: &Value, digest: &Value, choice: &Value, reason: Option<&Value>) -> Result<Payload, String> {
    let plan = plan.as_str().and_then(PlanId::parse);
    let plan = plan.ok_or(
        "`plan` must be the full id of a plan, as the `card` block of the message holds it: 32 hexadecimal digits.",
    )?;
    let is_whole = |digest: &&str| digest.len() == DIGEST_DIGITS && digest.bytes().all(|b| b.is_ascii_hexdigit());
    let digest = digest.as_str().filter(is_whole).map(|digest| Digest::claimed(digest.to_ascii_lowercase()));
    let digest = digest.ok_or(
        "`digest` must be the whole digest, as the `card` block of the message holds it: 64 hexadecimal digits.",
    )?;
    let choice = match choice.as_str() {
        Some("approve") => CardChoice::Approve,
        Some("deny") => CardChoice::Deny,
        Some(_) | None => return Err("`choice` must be `approve` or `deny`.".to_owned()),
    };
    let reason = reason.map_or(Some(""), Value::as_str).ok_or("`reason` must be text.")?;
    Ok(Payload::Decision { plan, digest, choice, reason: reason.to_owned() })
}

/// The event id of an object that is wrong in another way, so that the script knows which of its lines it was.
fn event_of(line: &str) -> Option<String> {
    let object: Value = serde_json::from_str(line).ok()?;
    let event = object.get("event")?.as_str()?;
    (event.len() <= EVENT_BYTES_MAX).then(|| event.to_owned())
}

/// An output line. The names are stable: scripts rely on them.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event<'a> {
    Accepted {
        event: &'a str,
        signal: &'a SignalId,
    },
    Duplicate {
        event: &'a str,
    },
    Limited {
        event: &'a str,
        wait_ms: u64,
    },
    Message {
        id: &'a str,
        answers: &'a SignalId,
        repeat: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        late_minutes: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        lost: Option<u64>,
        mark: Mark,
        claim: &'a Claim,
        blocks: &'a [Block],
    },
    Answered {
        signal: &'a SignalId,
    },
    Error {
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<&'a str>,
        message: &'a str,
    },
}

/// The line was stored, and its answers will name this signal.
pub(crate) fn accepted(event: &str, signal: &SignalId) -> String {
    line(&Event::Accepted { event, signal })
}

/// A line with this event id was stored before.
pub(crate) fn duplicate(event: &str) -> String {
    line(&Event::Duplicate { event })
}

/// A line that came over a limit, after that was said.
pub(crate) fn limited(event: &str, wait_ms: u64) -> String {
    line(&Event::Limited { event, wait_ms })
}

/// A message from the bot.
pub(crate) fn message(id: &str, message: &Outgoing, notes: DeliveryNotes) -> String {
    let DeliveryNotes { repeat, late_minutes, lost } = notes;
    let lost = (lost > 0).then_some(lost);
    let Outgoing { to: _, answers, mark, lane: _, visibility: _, claim, blocks } = message;
    line(&Event::Message { id, answers, repeat, late_minutes, lost, mark: *mark, claim, blocks })
}

/// Every message that answers this signal is out.
pub(crate) fn answered(signal: &SignalId) -> String {
    line(&Event::Answered { signal })
}

/// A line that was not taken.
pub(crate) fn error(event: Option<&str>, message: &str) -> String {
    line(&Event::Error { event, message })
}

fn line(event: &Event<'_>) -> String {
    let mut text = serde_json::to_string(event).expect("invariant: an event has string keys and no floats");
    if text.chars().any(clean::acts) {
        text = escaped(&text);
    }
    text.push('\n');
    text
}

/// What JSON itself lets through, such as DEL, as escapes. It can only stand in a string, where an escape means the same;
/// all such characters lie in the first plane and need one escape each.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if clean::acts(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests;
