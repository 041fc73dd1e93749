//! A circuit breaker: after so many failures in a row nobody is asked for a while, so that a server that is down costs no
//! request its time. Then one question tries it again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How many failures in a row open it.
const FAILURES_MAX: u32 = 5;

/// How many failures one counts as that took a request's whole time: nobody waits so long often.
const LATE_COUNTS: u32 = 3;

/// How long nobody is asked then.
const OPEN_FOR: Duration = Duration::from_mins(1);

#[derive(Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
}

/// The breaker of one server.
#[derive(Default)]
pub(super) struct Breaker(Mutex<State>);

impl Breaker {
    /// Whether it may be asked now; else how long it is still left alone. Whoever comes first after that tries it, and the
    /// others wait for what comes of it.
    pub(super) fn may_ask(&self) -> Result<(), Duration> {
        let mut state = self.lock();
        let Some(until) = state.open_until else { return Ok(()) };
        let left = until.saturating_duration_since(Instant::now());
        if left > Duration::ZERO {
            return Err(left);
        }
        state.open_until = Some(Instant::now() + OPEN_FOR);
        Ok(())
    }

    /// It answered.
    pub(super) fn answered(&self) {
        *self.lock() = State::default();
    }

    /// It did not.
    pub(super) fn failed(&self) {
        self.count(1);
    }

    /// It did not within the time that a question has.
    pub(super) fn was_late(&self) {
        self.count(LATE_COUNTS);
    }

    fn count(&self, failures: u32) {
        let mut state = self.lock();
        state.failures = state.failures.saturating_add(failures);
        if state.failures >= FAILURES_MAX {
            state.open_until = Some(Instant::now() + OPEN_FOR);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_fails_again_and_again_is_left_alone_for_a_while() {
        let breaker = Breaker::default();
        for _ in 1..FAILURES_MAX {
            breaker.failed();
        }
        assert_eq!(breaker.may_ask(), Ok(()));
        breaker.failed();
        assert_eq!(breaker.may_ask(), Err(OPEN_FOR));
        tokio::time::advance(OPEN_FOR).await;
        assert_eq!(breaker.may_ask(), Ok(()), "one tries it");
        assert_eq!(breaker.may_ask(), Err(OPEN_FOR), "and the others wait for what comes of it");
        breaker.answered();
        assert_eq!(breaker.may_ask(), Ok(()));
        breaker.failed();
        assert_eq!(breaker.may_ask(), Ok(()), "it is counted anew");
        breaker.answered();
        breaker.was_late();
        assert_eq!(breaker.may_ask(), Ok(()));
        breaker.was_late();
        assert_eq!(breaker.may_ask(), Err(OPEN_FOR), "twice is enough of what takes so long");
    }
}
