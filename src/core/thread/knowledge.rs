//! What one thread has learnt from tool answers: short facts, bounded, extracted without a model (KNO-06). Nothing here
//! counts as a reading: a fact never verifies a write and never stands in for a fresh look (C-08).

use crate::answer::FACT_CHARS_MAX;
use crate::resource::ResourceId;
use crate::text;

/// The most facts a thread keeps (KNO-04).
pub(super) const FACTS_MAX: usize = 60;
/// The most characters of all values together (KNO-04).
pub(super) const CHARS_MAX: usize = 2_000;

/// What a fact is about (KNO-02).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// A thing and its state.
    Resource,
    /// Disks, mounts, pools.
    Storage,
    /// Alerts.
    Alert,
    /// That something was found, or was not.
    Discovery,
    /// What a command printed.
    Exec,
    /// Numbers over time.
    Metrics,
    /// A conclusion.
    Finding,
}

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is about.
    pub category: Category,
    /// `kind:host:uid:attr` (KNO-03).
    pub key: String,
    /// At most [`FACT_CHARS_MAX`] characters.
    pub value: String,
    /// The call that told it, as `tool.action`; empty where it is no call's.
    pub call: String,
    /// When the tool looked, in milliseconds since the Unix epoch.
    pub observed_at: i64,
    /// In which request of the thread.
    pub turn: u64,
}

/// What one thread has learnt, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knowledge {
    facts: Vec<Fact>,
}

impl Knowledge {
    /// Keeps a fact; one with the same key is replaced. What is over the caps goes, the oldest first; facts of this turn
    /// and the one before go last (KNO-05), but they do go: the hard cap wins (C-14).
    pub fn learn(&mut self, mut fact: Fact) {
        fact.value = text::cut(&fact.value, FACT_CHARS_MAX);
        self.facts.retain(|known| known.key != fact.key);
        let turn = fact.turn;
        self.facts.push(fact);
        while self.facts.len() > FACTS_MAX || self.chars() > CHARS_MAX {
            let unpinned = self.facts.iter().position(|known| known.turn.saturating_add(1) < turn);
            self.facts.remove(unpinned.unwrap_or(0));
        }
    }

    /// Leaves a marker that something was asked for and not there, or could not be asked (KNO-09). It holds for this
    /// turn only: a person who asks again gets a fresh look, and a trouble that passed is not remembered.
    pub fn learn_missing(&mut self, what: &str, value: &str, observed_at: i64, turn: u64) {
        let key = format!("{what}:queried");
        let (value, call) = (value.to_owned(), String::new());
        self.learn(Fact { category: Category::Discovery, key, value, call, observed_at, turn });
    }

    /// What was noted this turn about something that was not there (FM-11).
    pub fn missing(&self, what: &str, turn: u64) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.turn == turn && fact.key.strip_suffix(":queried") == Some(what))
    }

    /// The facts about one thing, oldest first.
    pub fn about(&self, id: &ResourceId) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(move |fact| is_about(fact, id))
    }

    /// Drops everything about a thing that was written (KNO-13).
    pub fn forget(&mut self, id: &ResourceId) {
        self.facts.retain(|fact| !is_about(fact, id));
    }

    /// How many facts there are.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    fn chars(&self) -> usize {
        self.facts.iter().map(|fact| fact.value.chars().count()).sum()
    }
}

fn is_about(fact: &Fact, id: &ResourceId) -> bool {
    fact.key.strip_prefix(id.as_str()).is_some_and(|rest| rest.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(key: &str, value: &str, turn: u64) -> Fact {
        let (key, value, call) = (key.to_owned(), value.to_owned(), String::new());
        Fact { category: Category::Resource, key, value, call, observed_at: 0, turn }
    }

    fn keys(knowledge: &Knowledge) -> Vec<&str> {
        knowledge.facts.iter().map(|fact| fact.key.as_str()).collect()
    }

    #[test]
    fn the_caps_hold() {
        let mut knowledge = Knowledge::default();
        for n in 0..200 {
            knowledge.learn(fact(&format!("service:web-1:s{n}:status"), "running", 1));
        }
        assert_eq!(knowledge.len(), FACTS_MAX, "even where every fact is of this turn");
        for n in 0..50 {
            knowledge.learn(fact(&format!("host:web-1:x{n}"), &"ä".repeat(500), 1));
        }
        assert!(knowledge.chars() <= CHARS_MAX);
        assert!(knowledge.facts.iter().all(|fact| fact.value.chars().count() <= FACT_CHARS_MAX));
    }

    #[test]
    fn old_turns_go_before_this_one_and_the_one_before() {
        let mut knowledge = Knowledge::default();
        for (key, turn) in [("host:a:now", 7), ("host:a:old", 5), ("host:a:before", 6)] {
            knowledge.learn(fact(key, &"x".repeat(200), turn));
        }
        for n in 0..8 {
            knowledge.learn(fact(&format!("host:a:n{n}"), &"x".repeat(200), 7));
        }
        assert!(!keys(&knowledge).contains(&"host:a:old"));
        assert!(keys(&knowledge).contains(&"host:a:before"));
    }

    #[test]
    fn a_written_thing_is_forgotten_and_its_namesake_is_not() {
        let mut knowledge = Knowledge::default();
        knowledge.learn(fact("service:web-1:nginx:status", "running", 1));
        knowledge.learn(fact("service:web-1:nginx2:status", "running", 1));
        knowledge.forget(&"service:web-1:nginx".parse().expect("an id"));
        assert_eq!(keys(&knowledge), ["service:web-1:nginx2:status"]);
    }

    #[test]
    fn what_was_missing_is_asked_again_by_the_next_request() {
        let mut knowledge = Knowledge::default();
        knowledge.learn_missing("process:nginx", "not_found", 0, 3);
        assert!(knowledge.missing("process:nginx", 3).is_some());
        assert!(knowledge.missing("process:nginx", 4).is_none());
    }
}
