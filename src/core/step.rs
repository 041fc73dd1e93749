//! The one way in: `step(&Env, state, input, Now) -> (state, effects)`. The same function runs in production, in a table
//! test and under a hostile proposer with a seeded clock.

use crate::effect::{Effect, Input};
use crate::env::Env;
use crate::signal::Now;
use crate::thread::{ThreadState, Turn, interrupted, on_answer, on_deadline, perceive};

/// Moves one thread by one input. Pure: what it decides follows from its arguments alone.
pub fn step(env: Env<'_>, state: ThreadState, input: Input, now: Now) -> (ThreadState, Vec<Effect>) {
    let mut turn = Turn::new(env, now, state);
    turn.state.resolved.expire(now.mono);
    match input {
        Input::Signal(signal) => perceive(&mut turn, *signal, false),
        Input::Again(signal) => perceive(&mut turn, *signal, true),
        Input::Interrupted(signal) => interrupted(&mut turn, *signal),
        Input::Answer { call, envelope } => on_answer(&mut turn, &call, &envelope),
        Input::Deadline(signal) => on_deadline(&mut turn, &signal),
    }
    (turn.state, turn.effects)
}

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "hostile_tests.rs"]
mod hostile;
