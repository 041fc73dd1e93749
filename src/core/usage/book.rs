//! What was used on one day, by whom: the store's rows as a step sees them.

use std::collections::BTreeMap;

use crate::signal::Ground;

use super::{Day, Payer, Usage};

/// What one payer has used on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// While somebody waited.
    pub foreground: Usage,
    /// While nobody did.
    pub background: Usage,
}

impl Tally {
    /// Counts a use.
    pub const fn add(&mut self, ground: Ground, usage: Usage) {
        match ground {
            Ground::Foreground => self.foreground = self.foreground.plus(usage),
            Ground::Background => self.background = self.background.plus(usage),
        }
    }

    /// Both together.
    pub const fn total(&self) -> Usage {
        self.foreground.plus(self.background)
    }
}

/// What the three payers of a request have used today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Which day it is.
    pub day: Day,
    /// The person who asks.
    pub person: Tally,
    /// The room.
    pub room: Tally,
    /// The team.
    pub team: Tally,
}

impl Spent {
    /// Counts a use of the same request.
    pub const fn add(&mut self, ground: Ground, usage: Usage) {
        self.person.add(ground, usage);
        self.room.add(ground, usage);
        self.team.add(ground, usage);
    }
}

/// What everybody has used on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    day: Day,
    tallies: BTreeMap<Payer, Tally>,
}

impl Book {
    /// A day on which nothing was used yet.
    pub const fn new(day: Day) -> Self {
        Self { day, tallies: BTreeMap::new() }
    }

    /// Which day.
    pub const fn day(&self) -> Day {
        self.day
    }

    /// Counts a use for one payer.
    pub fn add(&mut self, payer: Payer, ground: Ground, usage: Usage) {
        self.tallies.entry(payer).or_default().add(ground, usage);
    }

    /// What these have used on this day. Of a later one nothing is known yet, which is nothing.
    pub fn spent(&self, [person, room, team]: &[Payer; 3], day: Day) -> Spent {
        let of = |payer: &Payer| self.tallies.get(payer).filter(|_| day == self.day).copied().unwrap_or_default();
        Spent { day, person: of(person), room: of(room), team: of(team) }
    }
}
