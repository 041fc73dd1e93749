//! What was used today, as the store last said: read when a thread begins, after each use, and where a budget is set once
//! a minute, because other instances use tokens, too. A message alone reads nothing. What may be used is decided in the
//! core.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_core::effect::Input;
use countersign_core::signal::{Ground, Now};
use countersign_core::usage::{Book, Day, Payer, Spend, Spent, payers};
use tokio::time::Instant;

use super::worker::Worker;
use crate::store::Store;
use crate::telemetry;

/// How late the use of another instance may be known.
const LATE_MAX: Duration = Duration::from_mins(1);

/// What was used today.
#[derive(Debug, Default)]
pub(super) struct Spending {
    known: Mutex<Option<Known>>,
    /// One reads at a time, so that what is older never replaces what is newer.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Known {
    book: Book,
    read_at: Instant,
}

/// Why somebody wants to know what was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Something was used just now.
    Used,
    /// A thread begins.
    Begins,
    /// A message came, and a budget is set.
    Limited,
}

impl Spending {
    /// Reads what was used on this day, where what is known is too old for this. Does database I/O. Where the store cannot say it,
    /// nothing is known any more.
    pub(super) async fn look(&self, store: &Store, why: Why, now: Now) {
        let day = Day::of(now.wall);
        if !self.is_due(why, day) {
            return;
        }
        let _alone = self.reading.lock().await;
        // Whoever waited here for somebody else's reading has it now.
        if !self.is_due(why, day) {
            return;
        }
        let read_at = Instant::now();
        let read = store.used_on(day).await;
        let read = read.inspect_err(|error| tracing::error!(%error, "what was used today cannot be read"));
        *self.lock() = read.ok().map(|book| Known { book, read_at });
    }

    /// What these have used today; none where it is not known. A day of which nothing was read yet begins with nothing.
    pub(super) fn spent(&self, payers: &[Payer; 3], day: Day) -> Option<Spent> {
        self.lock().as_ref().map(|known| known.book.spent(payers, day))
    }

    fn is_due(&self, why: Why, day: Day) -> bool {
        let known = self.lock();
        let Some(known) = &*known else { return true };
        match why {
            Why::Used => true,
            Why::Begins | Why::Limited => known.book.day() != day || known.read_at.elapsed() >= LATE_MAX,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    /// Has ready what was used today.
    pub(super) async fn look_what_was_used(&self, why: Why, now: Now) {
        self.engine.spending.look(&self.engine.store, why, now).await;
    }

    /// What those have used today who pay for what this input is about.
    pub(super) fn spent(&self, input: &Input, now: Now) -> Option<Spent> {
        let signal = match input {
            Input::Used { signal, .. } | Input::Thought { signal, .. } | Input::Aside(signal) => Some(&**signal),
            Input::Signal(_)
            | Input::Again(_)
            | Input::Interrupted(_)
            | Input::Answer { .. }
            | Input::Deadline(_)
            | Input::Halt(_)
            | Input::Filed(_)
            | Input::Lost { .. }
            | Input::Held { .. }
            | Input::Overtaken(_) => self.current.as_ref(),
        }?;
        let payers = payers(self.engine.world.rights.as_ref(), &signal.actor, &signal.thread);
        self.engine.spending.spent(&payers, Day::of(now.wall))
    }
}

/// Raises the counters of what was used. No I/O.
pub(super) fn count(spend: &Spend) {
    let ground = match spend.ground {
        Ground::Foreground => "foreground",
        Ground::Background => "background",
    };
    let labels = |direction: &str| {
        [("direction", direction.to_owned()), ("ground", ground.to_owned()), ("by", spend.by.as_str().to_owned())]
    };
    telemetry::add("tokens_total", &labels("in"), spend.usage.tokens_in);
    telemetry::add("tokens_total", &labels("out"), spend.usage.tokens_out);
    let [_, ground, by] = labels("");
    telemetry::add("cost_micros_total", &[ground, by], spend.usage.cost_micros);
}

#[cfg(test)]
mod tests;
