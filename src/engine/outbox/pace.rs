//! How fast a platform lets us talk, kept before it has to say so: a bucket over all rooms, a bucket and a minute for each
//! room, and rooms that it asked to leave alone. Pure; the time is an argument, in milliseconds of one clock.

use std::collections::{BTreeMap, VecDeque};

use countersign_core::port::Pace;
use countersign_core::signal::{AccountId, ConversationId, SpaceId, ThreadKey};

/// How many messages may follow each other at once in a room that was quiet. Chat platforms let a short burst pass; what is
/// longer is told to wait, and then everybody waits longer.
const ROOM_BURST: u32 = 3;
/// Each step is longer than the platform's limit by a twentieth: what we send evenly arrives unevenly, and one message that
/// comes a moment early costs seconds.
const MARGIN_PERCENT: u64 = 105;
/// A minute, and a second for what is on its way.
const MINUTE_MS: u64 = 61_000;
/// So many different rooms were refused shortly one after the other: then it is not the rooms.
const REFUSED_MAX: usize = 3;
/// What is shortly.
const REFUSED_WITHIN_MS: u64 = 2_000;
/// The longest time for which all rooms are held because of some. If it really is all of them, the next refusals say so.
const ALL_HELD_MS: u64 = 30_000;
/// The most rooms that are remembered beside those that are not free.
const ROOMS_MAX: usize = 4_096;

/// A room, as a platform counts: its threads share it.
pub(super) type Room = (AccountId, SpaceId, ConversationId);

/// The room of a thread.
pub(super) fn room(thread: &ThreadKey) -> Room {
    (thread.account.clone(), thread.space.clone(), thread.conversation.clone())
}

/// Why something may not leave now, and when to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Its room is not free before.
    Room(u64),
    /// The platform takes nothing at all before.
    Platform(u64),
}

impl Wait {
    /// When to ask again.
    pub(super) const fn until(self) -> u64 {
        match self {
            Self::Room(at) | Self::Platform(at) => at,
        }
    }
}

/// What left a platform lately.
#[derive(Debug, Default)]
pub(super) struct Paces {
    all: Bucket,
    held_until: u64,
    rooms: BTreeMap<Room, Steps>,
    /// Rooms that were told to wait since something was taken, and when.
    refused: BTreeMap<Room, u64>,
}

/// What left a room lately.
#[derive(Debug, Default)]
struct Steps {
    bucket: Bucket,
    /// When something left, within the last minute.
    minute: VecDeque<u64>,
    held_until: u64,
}

/// A bucket, as the microsecond at which it will be full again.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    full_at: u64,
}

impl Paces {
    /// Takes leave to send one message now.
    pub(super) fn take(&mut self, room: &Room, pace: &Pace, now: u64) -> Result<(), Wait> {
        self.ask(room, pace, now, 0)?;
        self.note(room, pace, now);
        Ok(())
    }

    /// Takes leave only where one more message could leave right after it: for what may wait.
    pub(super) fn take_spare(&mut self, room: &Room, pace: &Pace, now: u64) -> Result<(), Wait> {
        self.ask(room, pace, now, 1)?;
        self.note(room, pace, now);
        Ok(())
    }

    /// Something was taken: whoever was told to wait was told so for a reason of its own.
    pub(super) fn was_taken(&mut self) {
        self.refused.clear();
    }

    /// The platform asked to leave this room alone for so many milliseconds. Where it says so of one room after the other
    /// it means all of them; for how long is then a guess, since each room may have had a reason of its own.
    pub(super) fn was_refused(&mut self, room: &Room, pace: &Pace, ms: u64, now: u64) {
        let until = now.saturating_add(ms);
        let steps = self.rooms.entry(room.clone()).or_default();
        steps.held_until = steps.held_until.max(until);
        // One message then, and no burst: the next refusal would be longer.
        steps.bucket.empty_but_one(until, pace.room_per_second, ROOM_BURST);
        self.refused.retain(|_, at| at.saturating_add(REFUSED_WITHIN_MS) > now);
        self.refused.insert(room.clone(), now);
        if self.refused.len() >= REFUSED_MAX {
            self.refused.clear();
            self.held_until = self.held_until.max(until.min(now.saturating_add(ALL_HELD_MS)));
        }
    }

    /// When a message may leave, with so many more after it.
    fn ask(&self, room: &Room, pace: &Pace, now: u64, more: u32) -> Result<(), Wait> {
        let all = self.all.free_at(pace.per_second, pace.per_second.saturating_sub(more)).max(self.held_until);
        let own = self.rooms.get(room).map_or(0, |steps| steps.free_at(pace, more));
        if all > now {
            return Err(Wait::Platform(all));
        }
        if own > now { Err(Wait::Room(own)) } else { Ok(()) }
    }

    fn note(&mut self, room: &Room, pace: &Pace, now: u64) {
        self.all.take(pace.per_second, now);
        if pace.room_per_second == 0 && pace.room_per_minute == 0 {
            return;
        }
        if self.rooms.len() >= ROOMS_MAX && !self.rooms.contains_key(room) {
            self.rooms.retain(|_, steps| !steps.is_free(now));
        }
        let steps = self.rooms.entry(room.clone()).or_default();
        steps.bucket.take(pace.room_per_second, now);
        if pace.room_per_minute > 0 {
            steps.forget(now);
            steps.minute.push_back(now);
        }
    }
}

impl Steps {
    fn free_at(&self, pace: &Pace, more: u32) -> u64 {
        let second = self.bucket.free_at(pace.room_per_second, ROOM_BURST.saturating_sub(more));
        let minute = match pace.room_per_minute {
            0 => 0,
            limit => self.minute_free_at(limit.saturating_sub(more).max(1)),
        };
        second.max(minute).max(self.held_until)
    }

    fn minute_free_at(&self, per_minute: u32) -> u64 {
        let per_minute = usize::try_from(per_minute).unwrap_or(usize::MAX);
        let frees = self.minute.len().checked_sub(per_minute).and_then(|place| self.minute.get(place));
        frees.map_or(0, |at| at.saturating_add(MINUTE_MS))
    }

    fn forget(&mut self, now: u64) {
        while self.minute.front().is_some_and(|at| at.saturating_add(MINUTE_MS) <= now) {
            self.minute.pop_front();
        }
    }

    fn is_free(&self, now: u64) -> bool {
        let over = self.minute.back().is_none_or(|at| at.saturating_add(MINUTE_MS) <= now);
        over && self.held_until <= now && self.bucket.full_at <= now.saturating_mul(1_000)
    }
}

impl Bucket {
    /// The millisecond from which one can be taken; always, where there is no limit.
    fn free_at(self, per_second: u32, burst: u32) -> u64 {
        let saved = step(per_second).saturating_mul(u64::from(burst.saturating_sub(1)));
        if per_second == 0 { 0 } else { self.full_at.saturating_sub(saved).div_ceil(1_000) }
    }

    fn take(&mut self, per_second: u32, now: u64) {
        if per_second > 0 {
            self.full_at = self.full_at.max(now.saturating_mul(1_000)).saturating_add(step(per_second));
        }
    }

    /// Exactly one can be taken at that millisecond, and the others after it in their time.
    fn empty_but_one(&mut self, at: u64, per_second: u32, burst: u32) {
        if per_second > 0 {
            let others = step(per_second).saturating_mul(u64::from(burst.saturating_sub(1)));
            self.full_at = self.full_at.max(at.saturating_mul(1_000).saturating_add(others));
        }
    }
}

/// Microseconds between two messages; 0 where there is no limit.
fn step(per_second: u32) -> u64 {
    match per_second {
        0 => 0,
        limit => (1_000_000 * MARGIN_PERCENT / 100).div_ceil(u64::from(limit)),
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::testkit::thread_key;
    use proptest::prelude::*;

    use super::*;

    const CHAT: Pace = Pace { per_second: 30, room_per_second: 1, room_per_minute: 20, edit_every_ms: 3_000 };

    fn place(n: u32) -> Room {
        let (account, space, _) = room(&thread_key("x"));
        (account, space, ConversationId::new(format!("room {n}")))
    }

    /// When so many messages leave one room that asks as early as it may.
    fn times(paces: &mut Paces, many: usize, pace: &Pace) -> Vec<u64> {
        let mut now = 0;
        let mut times = Vec::new();
        while times.len() < many {
            match paces.take(&place(1), pace, now) {
                Ok(()) => times.push(now),
                Err(wait) => now = wait.until(),
            }
        }
        times
    }

    #[test]
    fn ten_replies_in_a_room_take_seven_seconds_and_a_little() {
        assert_eq!(times(&mut Paces::default(), 10, &CHAT), [0, 0, 0, 1_050, 2_100, 3_150, 4_200, 5_250, 6_300, 7_350]);
    }

    #[test]
    fn a_minute_has_no_more_than_it_may_and_no_limit_is_none() {
        let times = times(&mut Paces::default(), 22, &CHAT);
        assert_eq!(times[20..], [MINUTE_MS, MINUTE_MS], "the twenty-first waits for the first to be a minute old");
        let mut free = Paces::default();
        assert!((0..10_000).all(|_| free.take(&place(1), &Pace::default(), 0).is_ok()));
        assert!(free.rooms.is_empty(), "what is not limited is not remembered");
    }

    #[test]
    fn a_refusal_holds_its_room_and_several_in_a_row_hold_the_platform() {
        let mut paces = Paces::default();
        paces.was_refused(&place(1), &CHAT, 5_000, 0);
        assert_eq!(paces.take(&place(1), &CHAT, 0), Err(Wait::Room(5_000)));
        assert_eq!(paces.take(&place(2), &CHAT, 0), Ok(()), "nobody else is held");
        assert_eq!(paces.take(&place(1), &CHAT, 5_000), Ok(()));
        assert_eq!(paces.take(&place(1), &CHAT, 5_000), Err(Wait::Room(6_050)), "and then no burst");
        paces.was_refused(&place(2), &CHAT, 5_000, 6_000);
        paces.was_taken();
        paces.was_refused(&place(3), &CHAT, 5_000, 6_000);
        paces.was_refused(&place(4), &CHAT, 5_000, 6_000);
        assert_eq!(paces.take(&place(5), &CHAT, 6_000), Ok(()));
        paces.was_refused(&place(5), &CHAT, 5_000, 6_000);
        assert_eq!(paces.take(&place(6), &CHAT, 6_000), Err(Wait::Platform(11_000)));
    }

    #[test]
    fn rooms_that_are_refused_for_hours_or_now_and_then_do_not_silence_the_others() {
        let mut paces = Paces::default();
        for n in 1..=3 {
            paces.was_refused(&place(n), &CHAT, 3_600_000, 100);
        }
        assert_eq!(paces.take(&place(9), &CHAT, 100), Err(Wait::Platform(30_100)));
        assert_eq!(paces.take(&place(9), &CHAT, 30_100), Ok(()));
        assert_eq!(
            paces.take(&place(1), &CHAT, 30_100),
            Err(Wait::Room(3_600_100)),
            "each room as long as it was told"
        );
        let mut paces = Paces::default();
        for n in 1..=5 {
            paces.was_refused(&place(n), &CHAT, 3_600_000, u64::from(n) * 2_000);
        }
        assert_eq!(paces.take(&place(9), &CHAT, 10_000), Ok(()));
    }

    #[test]
    fn what_may_wait_leaves_room_for_what_may_not() {
        let mut paces = Paces::default();
        assert_eq!(paces.take_spare(&place(1), &CHAT, 0), Ok(()));
        assert_eq!(paces.take_spare(&place(1), &CHAT, 0), Ok(()));
        assert_eq!(paces.take_spare(&place(1), &CHAT, 0), Err(Wait::Room(1_050)), "the third is for an answer");
        assert_eq!(paces.take(&place(1), &CHAT, 0), Ok(()));
    }

    proptest! {
        #[test]
        fn no_window_holds_more_than_the_platform_allows(
            asks in prop::collection::vec((0_u32..4, 0_u64..400, any::<bool>()), 1..400),
        ) {
            let mut paces = Paces::default();
            let (mut now, mut sent) = (0, Vec::new());
            for (n, pause, spare) in asks {
                now += pause;
                let leave = if spare { paces.take_spare(&place(n), &CHAT, now) } else { paces.take(&place(n), &CHAT, now) };
                match leave {
                    Ok(()) => sent.push((n, now)),
                    Err(wait) => prop_assert!(wait.until() > now, "it says when, and that is later"),
                }
            }
            // The platform's own buckets, full at the start: none of them ever runs dry.
            for n in 0..4 {
                let own: Vec<u64> = sent.iter().filter(|(room, _)| *room == n).map(|(_, at)| *at).collect();
                prop_assert!(never_dry(&own, 1, ROOM_BURST.into()), "room {n}: {own:?}");
                prop_assert!(own.windows(21).all(|few| few[20] - few[0] >= 60_000), "room {n}: {own:?}");
            }
            let all: Vec<u64> = sent.iter().map(|(_, at)| *at).collect();
            prop_assert!(never_dry(&all, 30, 30));
        }
    }

    /// A platform's bucket in thousandths of a message.
    fn never_dry(times: &[u64], per_second: u64, burst: u64) -> bool {
        let (mut left, mut last) = (burst * 1_000, 0);
        times.iter().all(|at| {
            left = (burst * 1_000).min(left + (at - last) * per_second);
            last = *at;
            let dry = left < 1_000;
            left = left.saturating_sub(1_000);
            !dry
        })
    }
}
