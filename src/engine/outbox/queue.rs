//! What waits to leave one platform, and which of it leaves next: in a thread one message after the other, decisions before
//! answers; threads beside each other, in turn. Pure; the time is an argument, in milliseconds of one clock.

use std::collections::BTreeMap;

use countersign_core::approval::PlanId;
use countersign_core::port::{Lane, Pace};
use countersign_core::signal::{EventId, SignalId, ThreadKey, Wall};

use super::pace::{Paces, Wait, room};
use crate::served::Served;

/// A message that waits. Not cleared: it leaves only through `gate::reissue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Post {
    /// Its row in the outbox.
    pub id: String,
    /// What it answers.
    pub signal: SignalId,
    /// The event that it answers, where it came from a platform.
    pub anchor: Option<EventId>,
    /// Where to.
    pub to: ThreadKey,
    /// When it leaves.
    pub lane: Lane,
    /// The `Outgoing`, as JSON.
    pub body: String,
    /// The plan whose card it holds.
    pub plan: Option<PlanId>,
    /// How often sending it was begun.
    pub attempts: u32,
    /// The number of attempts of this process. An earlier process may have stopped before its attempt.
    pub tries: u32,
    /// An earlier attempt may have come through.
    pub repeat: bool,
    /// When it was written.
    pub since: Wall,
}

/// A message on its way, and its place, which it takes again where it has to be sent once more.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) post: Post,
    place: u64,
}

/// What waits on one platform.
#[derive(Debug, Default)]
pub(super) struct Queue {
    lines: BTreeMap<ThreadKey, Line>,
    /// Threads whose first message may leave.
    ready: BTreeMap<Turn, ThreadKey>,
    /// Threads whose first message may not leave yet: when to look again, and a number that makes it unique.
    later: BTreeMap<(u64, u64), ThreadKey>,
    served: Served,
    /// Numbers given out.
    count: u64,
    on_their_way: usize,
    /// When the platform takes something again.
    dry_until: u64,
}

/// The order of what is ready: the better lane, then who was served least lately, then the oldest.
type Turn = (Lane, u64, u64);

/// The messages of one thread, first the first one.
#[derive(Debug)]
struct Line {
    posts: BTreeMap<(Lane, u64), Waiting>,
    stands: Stands,
    /// The message that is being sent.
    away: Option<String>,
}

#[derive(Debug)]
struct Waiting {
    post: Post,
    not_before: u64,
}

/// Where a thread stands.
#[derive(Clone, Copy, Debug)]
enum Stands {
    /// Its first message may leave.
    Ready(Turn),
    /// It is looked at again then.
    Later((u64, u64)),
    /// A message of it is being sent, or it has none.
    Apart,
}

impl Queue {
    /// One more message, which does not leave before that time.
    pub(super) fn push(&mut self, post: Post, not_before: u64, now: u64) {
        self.count += 1;
        let place = self.count;
        self.insert(Sending { post, place }, not_before, now, false);
    }

    /// A message that was on its way has to be sent again, in its old place.
    pub(super) fn again(&mut self, sending: Sending, not_before: u64, now: u64) {
        self.on_their_way = self.on_their_way.saturating_sub(1);
        self.insert(sending, not_before, now, true);
    }

    /// A message of this thread is out, or never will be.
    pub(super) fn done(&mut self, thread: &ThreadKey, now: u64) {
        self.on_their_way = self.on_their_way.saturating_sub(1);
        self.stand(thread, now);
    }

    /// Makes every waiting retry due now.
    pub(super) fn hurry(&mut self, now: u64) {
        let mut hurried = Vec::new();
        for (thread, line) in &mut self.lines {
            let Some(mut first) = line.posts.first_entry() else { continue };
            let waiting = first.get_mut();
            if waiting.post.attempts > 0 && waiting.not_before > now && matches!(line.stands, Stands::Later(_)) {
                waiting.not_before = now;
                hurried.push(thread.clone());
            }
        }
        for thread in hurried {
            self.stand(&thread, now);
        }
    }

    /// How many are on their way.
    pub(super) const fn on_their_way(&self) -> usize {
        self.on_their_way
    }

    /// Returns the messages that may be in the conversation of this thread and whose ids there are not known yet, each with when
    /// it is sent again: they are on their way, or were before.
    pub(super) fn unsettled_near(&self, near: &ThreadKey) -> impl Iterator<Item = (&str, u64)> {
        let here = room(near);
        let lines = self.lines.iter().filter(move |(thread, _)| room(thread) == here);
        lines.flat_map(|(_, line)| {
            let begun = line.posts.values().filter(|waiting| waiting.post.attempts > 0);
            let begun = begun.map(|waiting| (waiting.post.id.as_str(), waiting.not_before));
            line.away.as_deref().map(|away| (away, 0)).into_iter().chain(begun)
        })
    }

    /// Whether nothing waits for the platform as a whole: then there is time for what may wait.
    pub(super) fn is_calm(&self) -> bool {
        self.ready.is_empty()
    }

    /// Takes at most so many messages that may leave now, as the platform's pace allows.
    pub(super) fn take(
        &mut self,
        paces: &mut Paces,
        pace: impl Fn(&ThreadKey) -> Pace,
        (free, now): (usize, u64),
    ) -> Vec<Sending> {
        self.look_again(now);
        let mut taken = Vec::new();
        while taken.len() < free {
            let Some((_, thread)) = self.ready.first_key_value() else { break };
            match paces.take(&room(thread), &pace(thread), now) {
                Ok(()) => taken.extend(self.leave()),
                Err(Wait::Room(at)) => self.postpone(at),
                Err(Wait::Platform(at)) => {
                    self.dry_until = at;
                    break;
                }
            }
        }
        taken
    }

    /// When to take again, where that is not decided by what is on its way.
    pub(super) fn next_at(&self) -> Option<u64> {
        let later = self.later.first_key_value().map(|((at, _), _)| *at);
        let dry = (!self.ready.is_empty()).then_some(self.dry_until);
        later.into_iter().chain(dry).min()
    }

    fn insert(&mut self, sending: Sending, not_before: u64, now: u64, was_away: bool) {
        let Sending { post, place } = sending;
        let thread = post.to.clone();
        let new = || Line { posts: BTreeMap::new(), stands: Stands::Later((0, 0)), away: None };
        let line = self.lines.entry(thread.clone()).or_insert_with(new);
        line.posts.insert((post.lane, place), Waiting { post, not_before });
        if was_away || !matches!(line.stands, Stands::Apart) {
            self.stand(&thread, now);
        }
    }

    /// Puts a thread where its first message belongs.
    fn stand(&mut self, thread: &ThreadKey, now: u64) {
        let Some(waits) = self.lines.get_mut(thread) else { return };
        waits.away = None;
        match waits.stands {
            Stands::Ready(turn) => drop(self.ready.remove(&turn)),
            Stands::Later(at) => drop(self.later.remove(&at)),
            Stands::Apart => {}
        }
        let Some((&(lane, place), first)) = waits.posts.first_key_value() else {
            self.lines.remove(thread);
            return;
        };
        if first.not_before > now {
            waits.stands = Stands::Later((first.not_before, place));
            self.later.insert((first.not_before, place), thread.clone());
        } else {
            let turn = (lane, self.served.next(thread), place);
            waits.stands = Stands::Ready(turn);
            self.ready.insert(turn, thread.clone());
        }
    }

    fn look_again(&mut self, now: u64) {
        while let Some(((at, _), thread)) = self.later.first_key_value() {
            if *at > now {
                return;
            }
            let thread = thread.clone();
            self.stand(&thread, now);
        }
    }

    /// The first of what is ready leaves.
    fn leave(&mut self) -> Option<Sending> {
        let (_, thread) = self.ready.pop_first()?;
        let line = self.lines.get_mut(&thread)?;
        line.stands = Stands::Apart;
        let ((_, place), Waiting { post, .. }) = line.posts.pop_first()?;
        line.away = Some(post.id.clone());
        self.served.serve(&thread);
        self.on_their_way += 1;
        Some(Sending { post, place })
    }

    /// The first of what is ready waits for its room.
    fn postpone(&mut self, at: u64) {
        let Some((turn, thread)) = self.ready.pop_first() else { return };
        if let Some(line) = self.lines.get_mut(&thread) {
            line.stands = Stands::Later((at, turn.2));
            self.later.insert((at, turn.2), thread);
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
