//! Tokens and cost: what was used, who pays for it, and what of a day's budgets is left. Pure sums: the shell stores them
//! (its `store/usage`), the gate `allowance` refuses by them. Rules use nothing, and no budget ever refuses one.

mod book;
mod budgets;
mod payer;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::signal::Wall;

pub use book::{Book, Spent, Tally};
pub use budgets::{Budgets, Daily, Line, Measure, NoBudget, Share, Whose};
pub use payer::{Payer, Spend, payers};

const DAY_MS: i64 = 86_400_000;

/// The most of each that is taken for one turn's use. A claim of more is nonsense, and sums of nonsense must fit into the
/// store's BIGINT.
const OF_ONE_TURN_MAX: u64 = 1_000_000_000_000;

/// Tokens and cost. Sums stop at the largest number instead of beginning anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens that were read.
    pub tokens_in: u64,
    /// Tokens that were written.
    pub tokens_out: u64,
    /// Millionths of the configured currency.
    pub cost_micros: u64,
}

impl Usage {
    /// Read and written together.
    pub const fn tokens(self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, more: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_add(more.tokens_in),
            tokens_out: self.tokens_out.saturating_add(more.tokens_out),
            cost_micros: self.cost_micros.saturating_add(more.cost_micros),
        }
    }

    /// What one turn is believed to have used.
    #[must_use]
    pub fn believed(self) -> Self {
        Self {
            tokens_in: self.tokens_in.min(OF_ONE_TURN_MAX),
            tokens_out: self.tokens_out.min(OF_ONE_TURN_MAX),
            cost_micros: self.cost_micros.min(OF_ONE_TURN_MAX),
        }
    }
}

/// Who thought of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A route, a plan, a schedule: code of ours.
    Rule,
    /// A language model.
    Model,
}

impl Origin {
    /// The stable name: stored, and a label of metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Model => "model",
        }
    }
}

/// A day of the calendar in UTC, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub i64);

impl Day {
    /// The day of this moment.
    pub const fn of(at: Wall) -> Self {
        Self(at.0.div_euclid(DAY_MS))
    }

    /// When it is over and the next one begins.
    pub const fn over_at(self) -> Wall {
        Wall(self.0.saturating_add(1).saturating_mul(DAY_MS))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begins = Wall(self.0.saturating_mul(DAY_MS));
        f.write_str(crate::answer::time(begins).split(' ').next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
