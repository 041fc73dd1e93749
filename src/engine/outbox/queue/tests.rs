//! What leaves next, on paper: no time passes but what a test says.

use std::collections::BTreeSet;

use countersign_core::signal::ConversationId;
use countersign_core::testkit::thread_key;
use proptest::prelude::*;

use super::*;

pub(in crate::engine::outbox) const FREE: Pace =
    Pace { per_second: 0, room_per_second: 0, room_per_minute: 0, edit_every_ms: 0 };
const CHATS: Pace = Pace { per_second: 30, room_per_second: 1, room_per_minute: 20, edit_every_ms: 0 };

/// A message called `room/thread/name`.
pub(in crate::engine::outbox) fn post(name: &str, lane: Lane) -> Post {
    let mut parts = name.split('/');
    let room = ConversationId::new(parts.next().unwrap_or_default());
    let to = ThreadKey { conversation: room, ..thread_key(parts.next().unwrap_or_default()) };
    let (id, signal) = (name.to_owned(), SignalId::new(name));
    Post {
        id,
        signal,
        anchor: None,
        to,
        lane,
        body: String::new(),
        plan: None,
        attempts: 0,
        tries: 0,
        repeat: false,
        since: Wall(0),
    }
}

#[derive(Default)]
struct Bed {
    queue: Queue,
    paces: Paces,
}

impl Bed {
    fn of(names: &[&str]) -> Self {
        let mut bed = Self::default();
        for name in names {
            bed.answer(name);
        }
        bed
    }

    fn answer(&mut self, name: &str) {
        self.queue.push(post(name, Lane::Answer), 0, 0);
    }

    fn take(&mut self, pace: Pace, free: usize, now: u64) -> Vec<Sending> {
        self.queue.take(&mut self.paces, |_| pace, (free, now))
    }

    /// Takes, and delivers at once.
    fn names(&mut self, pace: Pace, free: usize, now: u64) -> Vec<String> {
        let taken = self.take(pace, free, now);
        for sending in &taken {
            self.queue.done(&sending.post.to, now);
        }
        taken.into_iter().map(|sending| sending.post.id).collect()
    }
}

#[test]
fn what_is_on_its_way_is_known_until_it_is_out() {
    let mut bed = Bed::of(&["r/a/1", "r/b/1", "s/a/1"]);
    let near = |bed: &Bed, name: &str| bed.queue.unsettled_near(&post(name, Lane::Answer).to).next().is_some();
    assert!(!near(&bed, "r/a"), "it waits");
    let taken = bed.take(FREE, 1, 0);
    assert!(near(&bed, "r/b") && !near(&bed, "s/a"), "every thread of the room, and no other room");
    bed.queue.done(&taken[0].post.to, 0);
    assert!(!near(&bed, "r/a"));
    let again = bed.take(FREE, 1, 0).remove(0);
    let again = Sending { post: Post { attempts: 1, ..again.post }, ..again };
    bed.queue.again(again, 500, 0);
    assert!(near(&bed, "r/a"), "the first attempt may have brought it there");
}

#[test]
fn in_a_thread_one_leaves_after_the_other_and_threads_beside_each_other() {
    let mut bed = Bed::of(&["r/a/1", "r/a/2", "r/b/1"]);
    let taken = bed.take(FREE, 16, 0);
    assert_eq!(taken.iter().map(|sending| sending.post.id.as_str()).collect::<Vec<_>>(), ["r/a/1", "r/b/1"]);
    bed.answer("r/a/3");
    assert!(bed.take(FREE, 16, 0).is_empty(), "both threads have one on its way");
    bed.queue.done(&post("r/a", Lane::Answer).to, 0);
    assert_eq!(bed.names(FREE, 16, 0), ["r/a/2"]);
    assert_eq!(bed.names(FREE, 16, 0), ["r/a/3"]);
    assert_eq!(bed.queue.on_their_way(), 1);
}

#[test]
fn decisions_leave_before_answers_in_a_thread_and_over_all_of_them() {
    let mut bed = Bed::of(&["r/a/1", "r/b/1", "r/c/1"]);
    bed.queue.push(post("r/c/card", Lane::Decision), 0, 0);
    assert_eq!(bed.names(FREE, 2, 0), ["r/c/card", "r/a/1"]);
    assert_eq!(bed.names(FREE, 2, 0), ["r/b/1", "r/c/1"]);
}

#[test]
fn what_waits_holds_those_behind_it_and_keeps_its_place() {
    let mut bed = Bed::of(&["r/a/1", "r/a/2"]);
    let sending = bed.take(FREE, 16, 0).pop().expect("the first one");
    bed.queue.again(sending, 500, 0);
    assert!(bed.names(FREE, 16, 499).is_empty());
    assert_eq!(bed.queue.next_at(), Some(500));
    bed.queue.push(post("r/a/card", Lane::Decision), 0, 499);
    assert_eq!(bed.names(FREE, 16, 499), ["r/a/card"], "but no decision");
    assert_eq!(bed.names(FREE, 16, 500), ["r/a/1"]);
    assert_eq!(bed.names(FREE, 16, 500), ["r/a/2"]);
    assert_eq!((bed.queue.next_at(), bed.queue.lines.len()), (None, 0), "nothing is remembered");
}

#[test]
fn a_flood_does_not_keep_a_newcomer_waiting() {
    let mut bed = Bed::of(&["r/a/1", "r/b/1", "r/c/1", "r/a/2", "r/b/2", "r/c/2"]);
    assert_eq!(bed.names(FREE, 2, 0), ["r/a/1", "r/b/1"], "the oldest first");
    bed.answer("r/quiet/1");
    assert_eq!(bed.names(FREE, 2, 0), ["r/c/1", "r/quiet/1"], "who had no turn yet");
    assert_eq!(bed.names(FREE, 2, 0), ["r/a/2", "r/b/2"], "then around");
}

#[test]
fn a_room_that_is_held_holds_nobody_else_and_decisions_have_the_platforms_next_place() {
    let mut bed = Bed::of(&["busy/a/1", "busy/b/1", "busy/c/1", "busy/d/1", "busy/e/1", "other/a/1"]);
    assert_eq!(bed.names(CHATS, 16, 0), ["busy/a/1", "busy/b/1", "busy/c/1", "other/a/1"]);
    bed.queue.push(post("busy/f/card", Lane::Decision), 0, 0);
    assert!(bed.names(CHATS, 16, 0).is_empty());
    assert_eq!(bed.names(CHATS, 16, bed.queue.next_at().expect("it waits")), ["busy/f/card"]);
    // And where it is the platform that has had enough.
    let mut bed = Bed::default();
    for n in 0..40 {
        bed.answer(&format!("{n}/a/1"));
    }
    assert_eq!(bed.names(CHATS, 100, 0).len(), 30);
    bed.queue.push(post("last/a/card", Lane::Decision), 0, 0);
    assert_eq!(bed.names(CHATS, 100, bed.queue.next_at().expect("it waits")), ["last/a/card"]);
}

/// What happens to a queue: something comes, time passes, something that is on its way ends.
#[derive(Clone, Debug)]
enum Op {
    Push { room: u8, thread: u8, decision: bool },
    Take { free: usize, pause: u64 },
    End { which: usize, again: Option<u64> },
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (0_u8..3, 0_u8..3, prop::bool::weighted(0.2)).prop_map(|(room, thread, decision)| Op::Push {
            room,
            thread,
            decision
        }),
        (0_usize..4, 0_u64..900).prop_map(|(free, pause)| Op::Take { free, pause }),
        (any::<usize>(), prop::option::weighted(0.3, 0_u64..2_000)).prop_map(|(which, again)| Op::End { which, again }),
    ]
}

/// What the queue says, held against a plain list.
#[derive(Default)]
struct Ledger {
    bed: Bed,
    now: u64,
    /// (number, lane, thread, not before) of what waits.
    waiting: Vec<(usize, Lane, ThreadKey, u64)>,
    on_their_way: Vec<Sending>,
    pushed: usize,
    out: BTreeSet<usize>,
}

impl Ledger {
    fn run(&mut self, op: &Op) {
        match op {
            Op::Push { room, thread, decision } => {
                let lane = if *decision { Lane::Decision } else { Lane::Answer };
                let post = post(&format!("{room}/{thread}/{}", self.pushed), lane);
                self.waiting.push((self.pushed, lane, post.to.clone(), 0));
                self.bed.queue.push(post, 0, self.now);
                self.pushed += 1;
            }
            Op::Take { free, pause } => {
                self.now += pause;
                let taken = self.bed.take(CHATS, *free, self.now);
                assert!(taken.len() <= *free);
                for sending in taken {
                    self.on_taken(sending);
                }
            }
            Op::End { which, again } if !self.on_their_way.is_empty() => {
                let sending = self.on_their_way.swap_remove(which % self.on_their_way.len());
                let n = number(&sending);
                match again {
                    Some(ms) => {
                        let not_before = self.now + ms;
                        self.waiting.push((n, sending.post.lane, sending.post.to.clone(), not_before));
                        self.bed.queue.again(sending, not_before, self.now);
                    }
                    None => {
                        self.bed.queue.done(&sending.post.to, self.now);
                        assert!(self.out.insert(n), "{n} left twice");
                    }
                }
            }
            Op::End { .. } => {}
        }
    }

    fn on_taken(&mut self, sending: Sending) {
        let thread = &sending.post.to;
        assert!(self.on_their_way.iter().all(|other| other.post.to != *thread), "two of one thread");
        let mine = self.waiting.iter().filter(|(_, _, to, _)| to == thread);
        let first = mine.min_by_key(|(n, lane, _, _)| (*lane, *n)).cloned().expect("it waited");
        assert_eq!(first.0, number(&sending), "the better lane, and then the older");
        assert!(first.3 <= self.now, "it was to wait");
        self.waiting.retain(|(n, ..)| *n != first.0);
        self.on_their_way.push(sending);
    }
}

fn number(sending: &Sending) -> usize {
    sending.post.id.rsplit('/').next().and_then(|n| n.parse().ok()).expect("it has a number")
}

proptest! {
    #[test]
    fn order_holds_nothing_is_lost_and_everything_leaves(ops in prop::collection::vec(op(), 1..120)) {
        let mut ledger = Ledger::default();
        for op in &ops {
            ledger.run(op);
        }
        // From here on whatever is taken is out at once: each look takes something, or says when to look again.
        for _ in 0..2 * ops.len() + 10 {
            while !ledger.on_their_way.is_empty() {
                ledger.run(&Op::End { which: 0, again: None });
            }
            let pause = ledger.bed.queue.next_at().map_or(0, |at| at.saturating_sub(ledger.now));
            ledger.run(&Op::Take { free: 3, pause });
        }
        prop_assert_eq!(ledger.out.len(), ledger.pushed);
        prop_assert_eq!(ledger.bed.queue.lines.len(), 0);
    }
}
