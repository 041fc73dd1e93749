//! What a fake's log says: what the bot was handed, and which of its messages came out. How it is read off is each platform's.

use super::facts::{Sent, Told};

/// What went wrong, counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Updates that were handed out once more although they were taken.
    pub(super) duplicates: usize,
    /// Updates that were handed out after a later one.
    pub(super) late: usize,
    /// Messages that were refused with 429.
    pub(super) too_many: usize,
    /// Messages that came out, and the answer was lost.
    pub(super) lost: usize,
    /// All calls of all methods.
    pub(super) calls: usize,
}

/// Everything that the log says.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// In the order in which it was to be taken.
    pub(super) told: Vec<Told>,
    pub(super) sent: Vec<Sent>,
    pub(super) tally: Tally,
}

/// The life in which something happened after so many calls. `kills` has, for each kill, how many came before it.
pub(super) fn life_of(kills: &[usize], calls: usize) -> usize {
    1 + kills.partition_point(|before| *before < calls)
}
