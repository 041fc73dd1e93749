//! A limit on sending as Discord has it: so many messages in a channel in so many seconds, told in the headers of every
//! answer and held by 429. Discord publishes no numbers; these are what its answers commonly say. Off unless switched on.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use crate::channel::ChannelId;

#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) on: bool,
    /// So many in so long.
    pub(crate) bucket: (usize, Duration),
    sent: BTreeMap<ChannelId, VecDeque<Instant>>,
}

/// What the headers say of a channel's bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) limit: usize,
    pub(crate) remaining: usize,
    pub(crate) reset_after: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { on: false, bucket: (5, Duration::from_secs(5)), sent: BTreeMap::new() }
    }
}

impl Limits {
    /// Counts one message now, or says how much too early it is.
    pub(crate) fn take(&mut self, channel: ChannelId, now: Instant) -> Result<(), Duration> {
        if !self.on {
            return Ok(());
        }
        let level = self.level(channel, now);
        if level.is_some_and(|level| level.remaining == 0) {
            return Err(level.map_or(Duration::ZERO, |level| level.reset_after));
        }
        self.sent.entry(channel).or_default().push_back(now);
        Ok(())
    }

    /// How full the bucket is; none while limits are off. It is emptied at once when its time is over, as Discord's is.
    pub(crate) fn level(&mut self, channel: ChannelId, now: Instant) -> Option<Level> {
        if !self.on {
            return None;
        }
        let (limit, within) = self.bucket;
        let sent = self.sent.entry(channel).or_default();
        if sent.front().is_some_and(|first| now.duration_since(*first) >= within) {
            sent.clear();
        }
        let reset_after = sent.front().map_or(within, |first| within.saturating_sub(now.duration_since(*first)));
        Some(Level { limit, remaining: limit.saturating_sub(sent.len()), reset_after })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn five_in_five_seconds_in_each_channel() {
        let (mut limits, start) = (Limits { on: true, ..Limits::default() }, Instant::now());
        let (one, other) = (ChannelId(1), ChannelId(2));
        assert!((0..5).all(|_| limits.take(one, start).is_ok()));
        let later = start + Duration::from_secs(2);
        assert_eq!(limits.take(one, later), Err(Duration::from_secs(3)));
        assert!(limits.take(other, later).is_ok());
        assert!(limits.take(one, start + Duration::from_secs(5)).is_ok());
    }

    #[tokio::test]
    async fn off_is_off() {
        let mut limits = Limits::default();
        assert!((0..1000).all(|_| limits.take(ChannelId(1), Instant::now()).is_ok()));
    }
}
