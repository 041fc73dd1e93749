//! The one place where the shell looks at a clock or asks for randomness. Everything else is given the time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_core::signal::{Mono, Now, Wall};
use tokio::time::Instant;

/// Wall and monotonic time, and seeds.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Begins to measure.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// The time now, and a fresh seed from the operating system.
    pub fn now(&self) -> Now {
        Now { wall: wall_now(), mono: self.mono(), seed: u128::from_le_bytes(random_bytes()) }
    }

    /// The monotonic time now.
    pub fn mono(&self) -> Mono {
        Mono(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// When the monotonic time will be `at`.
    pub fn instant(&self, at: Mono) -> Instant {
        self.start + Duration::from_millis(at.0)
    }
}

/// The wall-clock time.
pub fn wall_now() -> Wall {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else is given")]
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Wall(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// A fresh id that sorts by time: 12 hexadecimal digits of milliseconds, 20 of randomness.
pub fn fresh_id() -> String {
    let random: [u8; 10] = random_bytes();
    random.iter().fold(format!("{:012x}", wall_now().0), |id, byte| id + format!("{byte:02x}").as_str())
}

/// Bytes from the operating system's randomness. Without it no id is safe, so that the process ends instead.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    #[expect(clippy::disallowed_methods, reason = "this is the random source that everybody else is given")]
    let filled = getrandom::fill(&mut bytes);
    filled.expect("invariant: the operating system has a random source");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_sort_by_time() {
        let ids: Vec<String> = (0..1000).map(|_| fresh_id()).collect();
        let unique: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len());
        assert!(ids.iter().all(|id| id.len() == 32));
        assert!(ids.first().map(|id| &id[..12]) <= ids.last().map(|id| &id[..12]));
    }
}
