//! The simulation that `countersign simulate` ships: a hostile model, faulty tools, people who click at random and clocks
//! that jump, over a configuration's own tools, intents and policies, from a seed. After each step a witness checks every
//! invariant of DESIGN.md section 1. It decides nothing that ships: it drives [`crate::step()`] as the engine does.
//!
//! A run is a row of episodes, each in a world of its own with a seed of its own. An operation draws everything from its own
//! seed, so that a failing episode is shrunk by leaving operations out.

mod cast;
pub(crate) mod dice;
mod fleet;
pub(crate) mod flight;
mod hostile;
mod moods;
mod op;
mod script;
pub(crate) mod server;
pub(crate) mod store;
mod town;
mod witness;
pub(crate) mod works;

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::env::Env;
use crate::mind::Minds;

pub use cast::{Account, Cast, Room};
pub use script::{Line, Script};
pub use store::Files;
pub use witness::Breach;

use dice::Dice;
use town::Town;
use works::Installation as _;

/// How many operations an episode has.
const EPISODE_OPS: u64 = 120;

/// How often a shrunk episode is run at most to make it smaller.
const SHRINKING_MAX: u32 = 2_000;

/// What happened, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Steps of the core.
    pub steps: u64,
    /// Worlds that were begun.
    pub episodes: u64,
    /// Requests that came to their end.
    pub requests: u64,
    /// Answers of the hostile model.
    pub thoughts: u64,
    /// Calls that left.
    pub calls: u64,
    /// Plans that were filed.
    pub plans: u64,
    /// Writes that took effect.
    pub writes: u64,
    /// Processes that ended in the middle.
    pub crashes: u64,
    /// How often each gate refused a call.
    pub refusals: BTreeMap<&'static str, u64>,
}

impl Tally {
    fn refuse(&mut self, gate: &'static str) {
        let times = self.refusals.entry(gate).or_default();
        *times = times.saturating_add(1);
    }

    fn refused(&self, gate: &str) -> u64 {
        self.refusals.get(gate).copied().unwrap_or_default()
    }
}

/// A run that found something.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What did not hold.
    pub breach: Breach,
    /// A seed with which the first episode of a run finds the same.
    pub seed: u64,
    /// How many operations it takes, of how many.
    pub operations: (usize, usize),
    /// What the threads were told in the shrunk episode.
    pub script: Script,
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// What happened.
    pub tally: Tally,
    /// What did not hold, where something did not.
    pub failure: Option<Box<Failure>>,
}

/// Runs at least so many steps, or until something does not hold. `env` is a configuration as the engine has it; its models,
/// ledger and budgets are the simulation's own. `watch` is told after each episode how far it has come.
pub fn run(env: Env<'_>, cast: &Cast, seed: u64, steps: u64, mut watch: impl FnMut(&Tally)) -> Report {
    let (routed, resets) = (op::routed(env.intents), op::resets(env.intents));
    let mut tally = Tally::default();
    while tally.steps < steps {
        let episode =
            Episode { env, cast, routed: &routed, resets: &resets, seed: Dice::seed_of(seed, tally.episodes) };
        tally.episodes = tally.episodes.saturating_add(1);
        let ops: Vec<u64> = (0..EPISODE_OPS).collect();
        if let (Some(breach), _) = episode.run(&ops, &mut tally, false) {
            let failure = Some(Box::new(episode.shrunk(breach, ops, &tally)));
            return Report { tally, failure };
        }
        watch(&tally);
    }
    Report { tally, failure: None }
}

/// The models that are asked: both of them are hostile.
pub fn models() -> Minds {
    Minds { fast: Some("hostile-small".to_owned()), smart: Some("hostile-large".to_owned()) }
}

/// One world from its beginning to its end.
struct Episode<'a> {
    env: Env<'a>,
    cast: &'a Cast,
    routed: &'a BTreeSet<String>,
    resets: &'a BTreeSet<String>,
    seed: u64,
}

impl Episode<'_> {
    /// Runs these of its operations.
    fn run(&self, ops: &[u64], tally: &mut Tally, is_recorded: bool) -> (Option<Breach>, Script) {
        let mut dice = Dice::new(self.seed);
        let platform = dice.at(self.cast.platforms());
        let Some(room) = dice.any(self.cast.rooms(platform)) else { return (None, Script::default()) };
        let people = self.cast.people(platform);
        let mut town = Town::new(self.env, room, tally, is_recorded);
        town.witness.routed.clone_from(self.routed);
        town.witness.resets.clone_from(self.resets);
        // Thrown, and not counted on from the episode's own: else the operations of the next one would be these, shifted.
        let own = dice.next();
        for n in ops {
            op::happen(&mut town, people, Dice::seed_of(own, n.saturating_add(1)));
            if town.is_over() {
                break;
            }
        }
        if !town.is_over() {
            op::settle(&mut town, own);
        }
        (town.witness.breach.take(), town.script.take().unwrap_or_default())
    }

    /// The same failure with as few operations as can be found: halves, then quarters, down to single ones, are left out
    /// for as long as something still does not hold.
    fn shrunk(&self, breach: Breach, all: Vec<u64>, tally: &Tally) -> Failure {
        let of = all.len();
        let (mut ops, mut found) = (all, breach);
        let mut size = ops.len().div_ceil(2);
        let mut runs = 0_u32;
        while size > 0 && runs < SHRINKING_MAX {
            let mut at = 0;
            while at < ops.len() && runs < SHRINKING_MAX {
                let left: Vec<u64> = ops
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| *n < at || *n >= at.saturating_add(size))
                    .map(|(_, op)| *op)
                    .collect();
                runs = runs.saturating_add(1);
                match self.run(&left, &mut tally.clone(), false).0 {
                    Some(breach) => (ops, found) = (left, breach),
                    None => at = at.saturating_add(size),
                }
            }
            size /= 2;
        }
        let script = self.run(&ops, &mut tally.clone(), true).1;
        Failure { breach: found, seed: self.seed, operations: (ops.len(), of), script }
    }
}
