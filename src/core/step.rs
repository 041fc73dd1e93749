//! The one way in: `step(&Env, state, input, Now) -> (state, effects)`. The same function runs in production, in a table
//! test and under a hostile proposer with a seeded clock.

use crate::effect::{Effect, Input};
use crate::env::Env;
use crate::signal::{ActorKind, Now, Signal};
use crate::thread::{
    ThreadState, Turn, interrupted, on_answer, on_aside, on_deadline, on_filed, on_halt, on_held, on_lost,
    on_overtaken, on_thought, on_used, perceive,
};

/// Moves one thread by one input. Pure: what it decides follows from its arguments alone.
pub fn step(env: Env<'_>, state: ThreadState, input: Input, now: Now) -> (ThreadState, Vec<Effect>) {
    let mut turn = Turn::new(env, now, state);
    turn.state.resolved.begin_step(now.mono);
    match input {
        // The step before was not stored.
        Input::Lost { .. } | Input::Held { .. } | Input::Overtaken(_) => turn.state.desk.undo_step(),
        Input::Signal(_)
        | Input::Again(_)
        | Input::Interrupted(_)
        | Input::Answer { .. }
        | Input::Thought { .. }
        | Input::Used { .. }
        | Input::Filed(_)
        | Input::Aside(_)
        | Input::Halt(_)
        | Input::Deadline(_) => turn.state.desk.begin_step(),
    }
    match input {
        Input::Signal(signal) => perceive(&mut turn, named(&env, *signal), false),
        Input::Again(signal) => perceive(&mut turn, named(&env, *signal), true),
        Input::Interrupted(signal) => interrupted(&mut turn, named(&env, *signal)),
        Input::Answer { call, envelope } => on_answer(&mut turn, &call, &envelope),
        Input::Thought { signal, n, heard } => on_thought(&mut turn, &signal, n, *heard),
        Input::Filed(filed) => on_filed(&mut turn, filed),
        Input::Lost { signal, filed } => on_lost(&mut turn, *signal, &filed),
        Input::Held { signal, filed, by } => on_held(&mut turn, *signal, &filed, &by),
        Input::Used { signal, by, usage } => on_used(&mut turn, &signal, by, usage),
        Input::Overtaken(signal) => on_overtaken(&mut turn, *signal),
        Input::Deadline(signal) => on_deadline(&mut turn, &signal),
        Input::Aside(signal) => on_aside(&mut turn, named(&env, *signal)),
        Input::Halt(signal) => on_halt(&mut turn, &signal),
    }
    (turn.state, turn.effects)
}

/// The platform whose accounts are those of this machine: there, nobody chooses their own name.
const OWN_MACHINE: &str = "console";

/// The signal with its actor called as the access file calls them. Anybody may choose the name that a platform shows, also
/// somebody else's: it stands only beside an account that nobody is known by, and says so.
fn named(env: &Env<'_>, mut signal: Signal) -> Signal {
    let (platform, actor) = (&signal.thread.platform, &signal.actor);
    let (account, person) = (format!("{platform}:{}", actor.id), env.rights.person(platform, actor));
    if person != account {
        signal.actor.display = person;
    } else if actor.kind != ActorKind::Service && platform.as_str() != OWN_MACHINE {
        signal.actor.display = format!("{account} (“{}” by their own account)", actor.display);
    }
    signal
}

#[cfg(test)]
#[path = "understood_tests.rs"]
mod understood;

#[cfg(test)]
#[path = "questions_tests.rs"]
mod questions;

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "hostile_tests.rs"]
mod hostile;

#[cfg(test)]
#[path = "plan_tests.rs"]
mod plans;

#[cfg(test)]
#[path = "grant_tests.rs"]
mod grants;

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod waits;

#[cfg(test)]
#[path = "identity_tests.rs"]
mod identity;

#[cfg(test)]
#[path = "conformance_tests.rs"]
mod conformance;

#[cfg(test)]
#[path = "limit_tests.rs"]
mod limits;

#[cfg(test)]
#[path = "reply_tests.rs"]
mod replies;

#[cfg(test)]
#[path = "sequence_tests.rs"]
mod sequences;

#[cfg(test)]
#[path = "bite_tests.rs"]
mod bites;

#[cfg(test)]
#[path = "broken.rs"]
pub(crate) mod broken;
