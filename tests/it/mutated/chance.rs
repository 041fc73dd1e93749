//! Chance for the mutations: the numbers of `kill`, with a few words more.

use crate::kill;

/// Repeatable numbers.
pub(super) struct Chance(kill::Chance);

impl Chance {
    /// The same numbers for the same seed.
    pub(super) const fn new(seed: u64) -> Self {
        Self(kill::Chance::new(seed))
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    /// A place in something that long.
    pub(super) fn index(&mut self, end: usize) -> usize {
        self.0.index(end)
    }

    /// One of them.
    pub(super) fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.index(all.len())]
    }

    /// True once in so many times.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
