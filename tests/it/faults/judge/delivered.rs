//! What Telegram handed out against what was taken. An offset is a promise: Telegram never tells again of what is below it.

use std::collections::{BTreeMap, BTreeSet};

use super::Found;
use crate::faults::facts::{Facts, Poll};

/// Whether the bot has told Telegram that it has all of a batch: the next question of the same life says so.
fn confirmed_up_to(polls: &[Poll], at: usize) -> i64 {
    match (polls.get(at), polls.get(at + 1)) {
        (Some(poll), Some(next)) if poll.life == next.life => next.offset,
        _ => 0,
    }
}

/// Where each event was handed out, as places in the order of all: the last is the one at which it must have been taken.
/// What comes after that is a copy.
pub(super) fn handed_out(polls: &[Poll]) -> BTreeMap<&str, Vec<usize>> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut certain = BTreeSet::new();
    let mut place = 0;
    for (at, poll) in polls.iter().enumerate() {
        let confirmed = confirmed_up_to(polls, at);
        for update in &poll.updates {
            place += 1;
            let Some(event) = update.event.as_deref() else { continue };
            if !certain.contains(event) {
                places.entry(event).or_default().push(place);
            }
            if update.id < confirmed {
                certain.insert(event);
            }
        }
    }
    places
}

/// Everything that was asked was handed out and is stored once, and nothing else is.
pub(super) fn taken(facts: &Facts) -> Found {
    let mut stored: BTreeMap<&str, usize> = BTreeMap::new();
    for signal in &facts.signals {
        *stored.entry(&signal.event).or_default() += 1;
    }
    let handed_out = handed_out(&facts.polls);
    let mut wrong = Vec::new();
    for asked in &facts.asked {
        let event = asked.event.as_str();
        match (stored.remove(event), handed_out.contains_key(event)) {
            (Some(1), true) => {}
            (Some(1), false) => wrong.push(format!("{event} is stored and was never handed out")),
            (Some(times), _) => wrong.push(format!("{event} is stored {times} times")),
            (None, true) => wrong.push(format!("{event} ({}) was handed out and is lost", asked.token)),
            (None, false) => wrong.push(format!("{event} ({}) was never handed out", asked.token)),
        }
    }
    wrong.extend(stored.keys().map(|event| format!("{event} is stored, and nobody asked it")));
    (facts.asked.len(), wrong)
}
