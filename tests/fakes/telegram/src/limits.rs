//! Telegram's own limits on sending, as its bot FAQ gives them, each held by 429 with the seconds to wait: about one
//! message a second in a chat (three may come at once), 30 a second over all, 20 a minute in a group. Off unless switched
//! on. Which methods count is decided by the caller.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use crate::chat::ChatId;

/// One chat: one message in this time, and so many at once.
const CHAT: (u32, Duration) = (3, Duration::from_secs(1));
/// (how many, in how long) for everything, and for one group.
const ALL: (usize, Duration) = (30, Duration::from_secs(1));
const GROUP: (usize, Duration) = (20, Duration::from_mins(1));

#[derive(Debug, Default)]
pub(crate) struct Limits {
    pub(crate) on: bool,
    /// When each chat's allowance is whole again.
    whole: BTreeMap<ChatId, Instant>,
    sent: BTreeMap<ChatId, VecDeque<Instant>>,
}

impl Limits {
    /// Counts one message now, or says how many seconds too early it is.
    pub(crate) fn take(&mut self, chat: ChatId, is_group: bool, now: Instant) -> Result<(), u64> {
        if !self.on {
            return Ok(());
        }
        for times in self.sent.values_mut() {
            times.retain(|sent| now.duration_since(*sent) < GROUP.1);
        }
        let of_chat = self.sent.entry(chat).or_default().clone();
        let of_all: VecDeque<Instant> = self.sent.values().flatten().copied().collect();
        let group = if is_group { wait(&of_chat, GROUP, now) } else { Duration::ZERO };
        let whole = (*self.whole.get(&chat).unwrap_or(&now)).max(now) + CHAT.1;
        let single = whole.duration_since(now).saturating_sub(CHAT.1 * CHAT.0);
        let longest = single.max(wait(&of_all, ALL, now)).max(group);
        if longest > Duration::ZERO {
            return Err(longest.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX));
        }
        self.whole.insert(chat, whole);
        self.sent.entry(chat).or_default().push_back(now);
        Ok(())
    }
}

/// How long until fewer than the limit lie within its time.
fn wait(times: &VecDeque<Instant>, (most, within): (usize, Duration), now: Instant) -> Duration {
    let mut recent: Vec<Instant> = times.iter().copied().filter(|sent| now.duration_since(*sent) < within).collect();
    recent.sort_unstable();
    let Some(over) = recent.len().checked_sub(most) else { return Duration::ZERO };
    recent.get(over).map_or(Duration::ZERO, |oldest| within.saturating_sub(now.duration_since(*oldest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds at which `count` messages go out when each refusal is waited for, and how many refusals there were.
    fn send(count: usize, is_group: bool, chat_of: impl Fn(usize) -> ChatId) -> (u64, usize) {
        let (mut limits, start) = (Limits { on: true, ..Limits::default() }, Instant::now());
        let (mut now, mut refused) = (start, 0);
        for message in 0..count {
            while let Err(seconds) = limits.take(chat_of(message), is_group, now) {
                refused += 1;
                now += Duration::from_secs(seconds);
            }
        }
        (now.duration_since(start).as_secs(), refused)
    }

    #[tokio::test]
    async fn each_limit_holds() {
        let same = |_| ChatId(-1);
        let others = |at: usize| ChatId(i64::try_from(at).unwrap_or_default());
        assert_eq!(send(3, true, same), (0, 0), "three may come at once");
        assert_eq!(send(6, false, same), (3, 3), "one a second in a chat");
        assert_eq!(send(30, false, others), (0, 0), "thirty at once in as many chats");
        assert_eq!(send(31, false, others), (1, 1), "the thirty-first waits");
        let (seconds, _) = send(21, true, same);
        assert_eq!(seconds, 60, "twenty a minute in a group");
    }

    #[tokio::test]
    async fn off_is_off() {
        let mut limits = Limits::default();
        assert!((0..1000).all(|_| limits.take(ChatId(1), true, Instant::now()).is_ok()));
    }
}
