//! What a script that changes files has asked for, line by line of these files, and what it heard of it. What it heard of
//! the signals is in `record.rs`; whether all of it is true is judged in `trail.rs`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::record::{Record, event};

/// What the bot says where nobody knows whether a change was made.
pub(super) const UNKNOWN: &str = "I do not know whether this was done";

/// What it says where a change is not approved because another one is not verified.
const BLOCKED: &str = "goes on waiting";

/// One line that is to be added to a file, once.
pub(super) struct Planned {
    pub(super) thread: usize,
    pub(super) file: PathBuf,
    /// Unlike every other, and part of none.
    pub(super) text: String,
    /// The plan's id and digest, once its card was seen.
    pub(super) card: Option<(String, String)>,
    /// Whether it was ever approved.
    pub(super) approved: bool,
    /// The file was changed by somebody else between the card and every decision.
    pub(super) drifted: bool,
    /// A decision is under way or made.
    pub(super) decided: bool,
    /// What a verification was said to have found.
    pub(super) told: Option<String>,
}

/// What a question of the script was about.
struct Asked {
    thread: usize,
    line: Value,
    /// The change that it decides.
    decides: Option<usize>,
}

/// Everything that the script knows.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) record: Record,
    pub(super) planned: Vec<Planned>,
    asked: Vec<Asked>,
    by_id: BTreeMap<String, usize>,
    /// Violations that show at once.
    pub(super) wrong: Vec<String>,
}

impl Ledger {
    /// A new line for the script to send, as JSON.
    fn ask(&mut self, thread: usize, decides: Option<usize>, mut line: Value) -> (usize, Value) {
        let number = self.record.next_question();
        line["event"] = json!(event(number));
        self.asked.push(Asked { thread, line: line.clone(), decides });
        (number, line)
    }

    /// Something that changes nothing.
    pub(super) fn question(&mut self, thread: usize, text: &str) -> (usize, Value) {
        self.ask(thread, None, json!({ "text": text }))
    }

    /// A new line for a file.
    pub(super) fn propose(&mut self, thread: usize, file: PathBuf) -> (usize, Value) {
        let text = format!("line-{:05}.", self.planned.len());
        let said = format!("append to {}: {text}", file.display());
        self.planned.push(Planned {
            thread,
            file,
            text,
            card: None,
            approved: false,
            drifted: false,
            decided: false,
            told: None,
        });
        self.ask(thread, None, json!({ "text": said }))
    }

    /// A decision, pressed at the card or typed with the full id.
    pub(super) fn decide(&mut self, plan: usize, approve: bool, typed: bool) -> (usize, Value) {
        let planned = &mut self.planned[plan];
        let (id, digest) = planned.card.clone().expect("invariant: only what was shown is decided");
        planned.decided = true;
        planned.approved |= approve;
        let choice = if approve { "approve" } else { "deny" };
        let thread = planned.thread;
        let pressed = json!({ "plan": id, "digest": digest, "choice": choice });
        self.ask(thread, Some(plan), if typed { json!({ "text": format!("{choice} {id}") }) } else { pressed })
    }

    /// What of this thread has to be sent again, in order.
    pub(super) fn unacknowledged(&self, thread: usize) -> Vec<Value> {
        let unacknowledged = self.record.unacknowledged();
        let asked = unacknowledged.into_iter().map(|number| &self.asked[number]);
        asked.filter(|asked| asked.thread == thread).map(|asked| asked.line.clone()).collect()
    }

    /// Changes of a thread that were shown and wait for a decision.
    pub(super) fn waiting(&self, thread: usize) -> Vec<usize> {
        let waits = |planned: &Planned| planned.thread == thread && planned.card.is_some() && !planned.decided;
        (0..self.planned.len()).filter(|plan| waits(&self.planned[*plan])).collect()
    }

    /// Whether no other change of the same file may be under way.
    pub(super) fn is_alone(&self, plan: usize) -> bool {
        let file = &self.planned[plan].file;
        let others = self.planned.iter().enumerate().filter(|(other, planned)| *other != plan && planned.file == *file);
        others.into_iter().all(|(_, planned)| !planned.approved || planned.told.is_some())
    }

    /// Whether a question that was acknowledged in so many words has its answer.
    pub(super) fn is_answered(&self, number: usize) -> bool {
        self.answer(number).is_some()
    }

    fn answer(&self, number: usize) -> Option<&Value> {
        self.record.said(self.record.signal(number)?)
    }

    /// Takes note of a line. Returns the thread whose changes are held up from now on, where it says so.
    pub(super) fn note(&mut self, line: &Value) -> Option<usize> {
        self.record.note(line);
        if line["type"] != "message" {
            return None;
        }
        self.note_card(line);
        self.note_change(&line["claim"]);
        let said = line["blocks"].to_string();
        let (unknown, blocked) = (said.contains(UNKNOWN), said.contains(BLOCKED));
        if !unknown && !blocked {
            return None;
        }
        let signal = line["answers"].as_str().unwrap_or_default();
        let number = (0..self.asked.len())
            .rev()
            .find(|number| self.record.signal(*number).is_some_and(|known| known == signal))?;
        if let Some(plan) = self.asked[number].decides.filter(|_| blocked) {
            self.planned[plan].decided = false;
        }
        Some(self.asked[number].thread)
    }

    /// The card of one of the changes whose card was not seen yet, or the same card again.
    fn note_card(&mut self, line: &Value) {
        let Some(card) = line["blocks"].as_array().and_then(|blocks| blocks.last()) else { return };
        if card["type"] != "card" {
            return;
        }
        let text = |key: &str| card[key].as_str().unwrap_or_default().to_owned();
        let (id, digest) = (text("plan"), text("digest"));
        if self.by_id.contains_key(&id) {
            return;
        }
        // The card may show older lines of the file, but those are of changes that have had their cards.
        let said = line["blocks"].to_string();
        let unseen = |planned: &Planned| planned.card.is_none() && said.contains(&planned.text);
        match self.planned.iter_mut().enumerate().find(|(_, planned)| unseen(planned)) {
            Some((plan, planned)) => {
                planned.card = Some((id.clone(), digest));
                self.by_id.insert(id, plan);
            }
            None => self.wrong.push(format!("a card that nobody asked for: {line}")),
        }
    }

    /// What was said of a change must be true when it is said.
    fn note_change(&mut self, claim: &Value) {
        if claim["type"] != "change" {
            return;
        }
        let (id, outcome) = (claim["plan"].as_str().unwrap_or_default(), claim["outcome"].as_str().unwrap_or_default());
        let Some(planned) = self.by_id.get(id).map(|plan| &mut self.planned[*plan]) else {
            self.wrong.push(format!("a change that nobody asked for: {claim}"));
            return;
        };
        let (times, expected) = (occurrences(&planned.file, &planned.text), usize::from(outcome == "as_expected"));
        if times != expected {
            self.wrong
                .push(format!("plan {id} was said to be {outcome}, and “{}” is there {times} times", planned.text));
        }
        if planned.told.replace(outcome.to_owned()).is_some_and(|before| before != outcome) {
            self.wrong.push(format!("plan {id} was said to be {outcome} after it was said to be something else"));
        }
    }
}

/// How often a line is in a file.
pub(super) fn occurrences(file: &Path, text: &str) -> usize {
    let content = std::fs::read_to_string(file).unwrap_or_default();
    content.lines().filter(|line| *line == text).count()
}
