//! How long to wait before a server is started again. Pure: the caller has the clock and the process.

use std::time::Duration;

/// The first wait.
const WAIT_MIN: Duration = Duration::from_millis(250);

/// The longest wait.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A server that lived this long was healthy: what was before it is forgotten.
const HEALTHY: Duration = Duration::from_mins(1);

/// Counts ends and failed starts in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    strikes: u32,
}

impl Backoff {
    /// A server that had started has ended after `lived`. The first time it is replaced at once, so that the other
    /// threads, and the calls that are repeated, do not notice.
    pub(super) fn ended(&mut self, lived: Duration) -> Duration {
        if lived >= HEALTHY {
            self.strikes = 0;
        }
        self.strike()
    }

    /// A server could not be started.
    pub(super) fn not_started(&mut self) -> Duration {
        self.strikes = self.strikes.max(1);
        self.strike()
    }

    fn strike(&mut self) -> Duration {
        let doublings = self.strikes.checked_sub(1);
        self.strikes = self.strikes.saturating_add(1);
        doublings
            .map_or(Duration::ZERO, |doublings| WAIT_MIN.saturating_mul(2_u32.saturating_pow(doublings)).min(WAIT_MAX))
    }
}

/// Adds up to a quarter, chosen by 32 random bits, so that servers that fell together do not rise together.
pub(super) fn jittered(wait: Duration, random: u32) -> Duration {
    wait + (wait / 4).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(waits: impl IntoIterator<Item = Duration>) -> Vec<u128> {
        waits.into_iter().map(|wait| wait.as_millis()).collect()
    }

    #[test]
    fn the_first_end_is_free_then_waits_double_up_to_half_a_minute() {
        let mut backoff = Backoff::default();
        let waits = millis((0..10).map(|_| backoff.ended(Duration::from_secs(1))));
        assert_eq!(waits, [0, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
        assert_eq!(millis([backoff.ended(Duration::from_mins(1))]), [0], "a minute of health is forgiven everything");
    }

    #[test]
    fn a_failed_start_always_waits() {
        let mut backoff = Backoff::default();
        assert_eq!(millis((0..3).map(|_| backoff.not_started())), [250, 500, 1_000]);
        let mut backoff = Backoff { strikes: u32::MAX };
        assert_eq!(millis([backoff.not_started()]), [30_000], "and never overflows");
    }

    #[test]
    fn jitter_adds_at_most_a_quarter() {
        let wait = Duration::from_secs(4);
        assert_eq!((jittered(wait, 0), jittered(wait, u32::MAX)), (wait, Duration::from_secs(5)));
    }
}
