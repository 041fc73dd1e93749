//! The order in each thread: of what was taken, and of what was answered. Threads do not wait for each other.

use std::collections::BTreeMap;

use super::Found;
use super::delivered::handed_out;
use super::said::{copies, is_unique};
use crate::faults::facts::{Facts, Post, Signal};

/// Of each thread, what was accepted is in the order in which it was handed out. What a life may have been handed as its last
/// and not have taken was handed out again: then either place may be the one that counts.
pub(super) fn taken(facts: &Facts) -> Found {
    let handed_out = handed_out(&facts.told);
    let mut wrong = Vec::new();
    for signals in threads(&facts.signals).values() {
        let mut before: (usize, &str) = (0, "");
        for signal in signals {
            let places = handed_out.get(signal.event.as_str()).map(Vec::as_slice).unwrap_or_default();
            match places.iter().find(|place| **place > before.0) {
                Some(place) => before = (*place, &signal.event),
                None => wrong.push(format!("{} was taken after {}, and came before it", signal.event, before.1)),
            }
        }
    }
    (facts.signals.len(), wrong)
}

/// By thread, in the order of acceptance.
fn threads(signals: &[Signal]) -> BTreeMap<&str, Vec<&Signal>> {
    let mut threads: BTreeMap<&str, Vec<&Signal>> = BTreeMap::new();
    for signal in signals {
        threads.entry(&signal.thread).or_default().push(signal);
    }
    for signals in threads.values_mut() {
        signals.sort_by_key(|signal| signal.received_at);
    }
    threads
}

/// Of each thread, answers have their places in the order of what they answer, and came out in the order of their places. A
/// card may overtake an answer, and nothing else.
pub(super) fn answered(facts: &Facts) -> Found {
    let received: BTreeMap<&str, i64> = facts.signals.iter().map(|it| (it.id.as_str(), it.received_at)).collect();
    let mut threads: BTreeMap<&str, Vec<&Post>> = BTreeMap::new();
    for post in facts.posts.iter().filter(|post| received.contains_key(post.signal.as_str())) {
        threads.entry(&post.thread).or_default().push(post);
    }
    let mut found: Found = (0, Vec::new());
    for posts in threads.values_mut() {
        posts.sort_by_key(|post| post.place);
        found.0 += posts.len();
        for pair in posts.windows(2) {
            if received[pair[0].signal.as_str()] > received[pair[1].signal.as_str()] {
                found.1.push(format!("{:?} was answered before {:?}, which came first", pair[0].says, pair[1].says));
            }
        }
        for lane in [0, 1] {
            let lane: Vec<&Post> = posts.iter().copied().filter(|post| post.lane == lane).collect();
            found.1.extend(out_of_order(facts, &lane));
        }
    }
    found
}

/// Messages of a lane of which a later one came out first. Only first copies count.
fn out_of_order(facts: &Facts, lane: &[&Post]) -> Vec<String> {
    let mut out: Vec<(i64, &[String])> = Vec::new();
    for post in lane.iter().filter(|post| is_unique(facts, post)) {
        out.extend(copies(facts, post).first().map(|sent| (sent.message, post.says.as_slice())));
    }
    let wrong = out.windows(2).filter(|pair| pair[0].0 > pair[1].0);
    wrong.map(|pair| format!("{:?} came out before {:?}", pair[1].1, pair[0].1)).collect()
}
