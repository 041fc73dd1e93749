//! How many questions each person has open. A place is given back when it is dropped, whatever became of the question.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Questions that are open, by whose they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Open(Arc<Mutex<BTreeMap<String, u32>>>);

/// One open question of somebody's, until it is dropped.
#[derive(Debug)]
pub struct Place {
    open: Open,
    person: String,
}

impl Open {
    /// How many a person has.
    pub(super) fn of(&self, person: &str) -> u32 {
        self.lock().get(person).copied().unwrap_or_default()
    }

    /// One more.
    pub(super) fn one_more(&self, person: &str) -> Place {
        let mut open = self.lock();
        let count = open.entry(person.to_owned()).or_default();
        *count = count.saturating_add(1);
        drop(open);
        Place { open: self.clone(), person: person.to_owned() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.open.lock();
        if let Some(count) = open.get_mut(&self.person) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(&self.person);
            }
        }
    }
}
