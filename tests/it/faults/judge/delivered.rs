//! What the platform handed out against what was taken. What was confirmed is a promise: no platform tells it again.

use std::collections::{BTreeMap, BTreeSet};

use super::Found;
use super::missed::may_be_missed;
use crate::faults::facts::{Facts, Told};

/// Where each event was handed out, as places in the order of all: the last is the one at which it must have been taken.
/// What comes after that is a copy.
pub(super) fn handed_out(told: &[Told]) -> BTreeMap<&str, Vec<usize>> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut certain = BTreeSet::new();
    for (place, told) in told.iter().enumerate() {
        let event = told.event.as_str();
        if !certain.contains(event) {
            places.entry(event).or_default().push(place + 1);
        }
        if told.is_taken {
            certain.insert(event);
        }
    }
    places
}

/// Everything that was asked was handed out and is stored once, but for what may have been missed; and nothing else is.
pub(super) fn taken(facts: &Facts) -> Found {
    let mut stored: BTreeMap<&str, usize> = BTreeMap::new();
    for signal in &facts.signals {
        *stored.entry(&signal.event).or_default() += 1;
    }
    let handed_out = handed_out(&facts.told);
    let mut wrong = Vec::new();
    for asked in &facts.asked {
        let event = asked.event.as_str();
        match (stored.remove(event), handed_out.contains_key(event)) {
            (Some(1), true) => {}
            (Some(1), false) => wrong.push(format!("{event} is stored and was never handed out")),
            (Some(times), _) => wrong.push(format!("{event} is stored {times} times")),
            (None, _) if may_be_missed(facts, asked) => {}
            (None, true) => wrong.push(format!("{event} ({}) was handed out and is lost", asked.token)),
            (None, false) => wrong.push(format!("{event} ({}) was never handed out", asked.token)),
        }
    }
    wrong.extend(stored.keys().map(|event| format!("{event} is stored, and nobody asked it")));
    (facts.asked.len(), wrong)
}
