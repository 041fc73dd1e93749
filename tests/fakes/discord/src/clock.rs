//! The fake's time: dates, ids and the ends of interactions are taken from it, so that a test can stop it and move it. This
//! is the only place of the fake that reads the wall clock; how long a wait lasts is measured with
//! `tokio::time::Instant` where it is needed.

use std::time::Duration;

/// Milliseconds since 1970 at the beginning of 2015, from which Discord's ids count (API reference, "Snowflakes").
const EPOCH_MS: u64 = 1_420_070_400_000;
/// Bits of an id below its time.
const BELOW_TIME: u32 = 22;

/// Milliseconds since 1970: the wall's, unless a test set them, and what a test added.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    fixed_ms: Option<u64>,
    ahead: Duration,
    last_id: u64,
}

impl Clock {
    /// Stops the clock at this second.
    pub(crate) fn set(&mut self, unix_s: u64) {
        self.fixed_ms = Some(unix_s * 1000);
        self.ahead = Duration::ZERO;
    }

    pub(crate) fn advance(&mut self, by: Duration) {
        self.ahead += by;
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.fixed_ms.unwrap_or_else(wall_ms) + ms(self.ahead)
    }

    /// A new id, as Discord makes them: the time above, a number below, and always higher than the last.
    pub(crate) fn id(&mut self) -> u64 {
        let now = self.now_ms().saturating_sub(EPOCH_MS) << BELOW_TIME;
        self.last_id = now.max(self.last_id + 1);
        self.last_id
    }
}

pub(crate) fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "the fake stands outside the bot: its dates are the world's")]
fn wall_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    ms(since.unwrap_or_default())
}

/// `2026-01-02T03:04:05.678000+00:00`, Discord's form of a date. The days are counted as in Howard Hinnant's
/// `civil_from_days`.
pub(crate) fn iso(unix_ms: u64) -> String {
    let (days, in_day) = (unix_ms / 86_400_000, unix_ms % 86_400_000);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (in_day / 3_600_000, in_day / 60_000 % 60, in_day / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}000+00:00", in_day % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_discord_writes_them() {
        assert_eq!(iso(1_735_689_599_123), "2024-12-31T23:59:59.123000+00:00");
        assert_eq!(iso(1_709_164_800_000), "2024-02-29T00:00:00.000000+00:00");
    }

    #[test]
    fn ids_rise_also_while_the_clock_stands() {
        let mut clock = Clock::default();
        clock.set(1_735_689_600);
        let (first, second) = (clock.id(), clock.id());
        clock.advance(Duration::from_secs(1));
        assert!(first < second && second < clock.id());
        assert_eq!((first >> 22) + 1_420_070_400_000, 1_735_689_600_000);
    }
}
