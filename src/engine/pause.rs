//! How long something that is tried in vain is left alone: a moment at first, and twice as long each time. What is tried is
//! no business of this file.

use std::time::Duration;

use tokio::time::Instant;

/// The first pause.
const FIRST: Duration = Duration::from_secs(1);

/// The longest: a database that has room again is noticed soon enough for a plan that waits for minutes.
const LONGEST: Duration = Duration::from_mins(5);

/// A pause that grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    next: Duration,
    until: Option<Instant>,
}

impl Pause {
    /// None yet.
    pub(super) const fn none() -> Self {
        Self { next: FIRST, until: None }
    }

    /// When it is over; none where there never was one.
    pub(super) const fn until(self) -> Option<Instant> {
        self.until
    }

    /// Whether nothing has to be waited for.
    pub(super) fn is_over(self) -> bool {
        self.until.is_none_or(|until| until <= Instant::now())
    }

    /// Something is tried, perhaps in vain: pauses from now on, and the next time twice as long.
    pub(super) fn grow(&mut self) {
        self.until = Some(Instant::now() + self.next);
        self.next = self.next.saturating_mul(2).min(LONGEST);
    }

    /// Nothing was tried: pauses for the shortest time, and forgets nothing.
    pub(super) fn for_a_moment(&mut self) {
        self.until = Some(Instant::now() + FIRST);
    }

    /// It was not in vain: starts anew, and what is left of a long pause becomes the shortest.
    pub(super) fn shrink(&mut self) {
        self.next = FIRST;
        self.until = self.until.map(|until| until.min(Instant::now() + FIRST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(pause: Pause) -> u64 {
        pause.until().map_or(0, |until| until.duration_since(Instant::now()).as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_doubles_up_to_five_minutes_and_starts_anew() {
        let mut pause = Pause::none();
        assert!(pause.is_over() && pause.until().is_none());
        let lengths: Vec<u64> = (0..11)
            .map(|_| {
                pause.grow();
                left(pause)
            })
            .collect();
        assert_eq!(lengths, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert!(!pause.is_over());
        pause.shrink();
        assert_eq!(left(pause), 1, "nobody waits for the rest of the long one");
        tokio::time::advance(FIRST).await;
        assert!(pause.is_over());
        pause.shrink();
        assert!(pause.is_over(), "no pause is made where there was none");
        pause.grow();
        pause.for_a_moment();
        assert_eq!(left(pause), 1);
        pause.grow();
        assert_eq!(left(pause), 2, "a moment changes nothing of what was learned");
    }
}
