//! Who writes next, where several wait: first what has to be taken in, since a platform tells nothing more until that is
//! stored; then what is on its way out, since it keeps others from leaving; then the thread that wrote least lately. Without it the one connection that writes to `SQLite` would serve
//! them by age, and a flood would keep everybody waiting. In memory; knows nothing of SQL.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::signal::ThreadKey;
use tokio::sync::oneshot;

use crate::served::Served;

/// How soon something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// What a platform waits to have taken.
    Intake,
    /// What is on its way out.
    Delivery,
    /// Everything else.
    Work,
}

/// The line before the connections that write.
#[derive(Debug)]
pub(super) struct Line(Mutex<Standing>);

#[derive(Debug)]
struct Standing {
    /// How many may still write.
    free: usize,
    waiting: BTreeMap<Place, (Option<ThreadKey>, oneshot::Sender<Turn>)>,
    served: Served,
    /// Who ever stood in the line.
    count: u64,
    /// Turns given out.
    turns: u64,
}

/// Its rank, the round of its thread, and when it came.
type Place = (Rank, u64, u64);

/// Leave to write. The next one has it when this is dropped.
#[derive(Debug)]
pub(super) struct Turn(Option<Arc<Line>>);

impl Line {
    /// A line before so many connections.
    pub(super) fn new(free: usize) -> Arc<Self> {
        let standing = Standing { free, waiting: BTreeMap::new(), served: Served::default(), count: 0, turns: 0 };
        Arc::new(Self(Mutex::new(standing)))
    }

    /// Waits for a turn. Whoever stops waiting is passed over.
    pub(super) async fn turn(self: &Arc<Self>, rank: Rank, whose: Option<&ThreadKey>) -> Turn {
        let called = {
            let mut standing = self.lock();
            if standing.free > 0 {
                standing.free -= 1;
                standing.serve(whose);
                return Turn(Some(Arc::clone(self)));
            }
            standing.wait(rank, whose)
        };
        called.await.expect("invariant: a line that somebody stands in is not dropped, and calls everybody")
    }

    /// How many turns there were so far: where that stays the same, nothing was written.
    pub(super) fn turns(&self) -> u64 {
        self.lock().turns
    }

    /// Calls the next one; where nobody waits, whoever comes may write at once.
    fn next(self: Arc<Self>) {
        let mut line = self;
        loop {
            let Some(called) = line.lock().call() else { return };
            match called.send(Turn(Some(Arc::clone(&line)))) {
                Ok(()) => return,
                // Nobody waits there any more.
                Err(mut turn) => line = turn.0.take().expect("invariant: it was given a line"),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Standing {
    fn wait(&mut self, rank: Rank, whose: Option<&ThreadKey>) -> oneshot::Receiver<Turn> {
        let (call, called) = oneshot::channel();
        self.count = self.count.saturating_add(1);
        let last = whose.map_or(0, |thread| self.served.next(thread));
        self.waiting.insert((rank, last, self.count), (whose.cloned(), call));
        called
    }

    fn call(&mut self) -> Option<oneshot::Sender<Turn>> {
        let Some((_, (whose, call))) = self.waiting.pop_first() else {
            self.free = self.free.saturating_add(1);
            return None;
        };
        self.serve(whose.as_ref());
        Some(call)
    }

    fn serve(&mut self, whose: Option<&ThreadKey>) {
        self.turns = self.turns.saturating_add(1);
        if let Some(thread) = whose {
            self.served.serve(thread);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(line) = self.0.take() {
            line.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::testkit::thread_key;
    use futures::FutureExt;

    use super::*;

    /// Everybody who stands in the line, by name; `turns` of them one after the other.
    async fn order(line: &Arc<Line>, waiting: &[(Rank, &str)]) -> Vec<String> {
        let first = line.turn(Rank::Work, None).await;
        let done = Mutex::new(Vec::new());
        let one = async |(rank, name): (Rank, &str)| {
            let thread = thread_key(name.split('/').next().expect("a name"));
            let turn = line.turn(rank, Some(&thread)).await;
            done.lock().expect("nobody panics").push(name.to_owned());
            drop(turn);
        };
        let mut all = Box::pin(futures::future::join_all(waiting.iter().map(|one_of| one(*one_of))));
        assert!(all.as_mut().now_or_never().is_none(), "they stand in the line");
        drop(first);
        all.await;
        done.into_inner().expect("nobody panics")
    }

    #[tokio::test]
    async fn who_wrote_least_writes_first_and_what_comes_in_or_goes_out_before_that() {
        let line = Line::new(1);
        drop(line.turn(Rank::Work, Some(&thread_key("loud"))).await);
        let work = ["loud/1", "loud/2", "quiet"].map(|name| (Rank::Work, name));
        let waiting = [work.as_slice(), &[(Rank::Delivery, "loud/out"), (Rank::Intake, "loud/in")]].concat();
        assert_eq!(order(&line, &waiting).await, ["loud/in", "loud/out", "quiet", "loud/1", "loud/2"]);
    }

    #[tokio::test]
    async fn a_turn_is_lost_with_nobody() {
        let line = Line::new(2);
        let (one, two) = (line.turn(Rank::Work, None).await, line.turn(Rank::Work, None).await);
        let mut gone = Box::pin(line.turn(Rank::Intake, None));
        let mut called = Box::pin(line.turn(Rank::Intake, None));
        let mut stays = Box::pin(line.turn(Rank::Work, None));
        for waiting in [&mut gone, &mut called, &mut stays] {
            assert!(waiting.as_mut().now_or_never().is_none(), "both are taken");
        }
        // One stops waiting before it is called, one after that.
        drop(gone);
        drop(one);
        drop(called);
        let stayed = stays.now_or_never().expect("it is called instead");
        assert!(line.turn(Rank::Work, None).now_or_never().is_none(), "both are taken again");
        drop((stayed, two));
        let again = (line.turn(Rank::Work, None).now_or_never(), line.turn(Rank::Work, None).now_or_never());
        assert!(again.0.is_some() && again.1.is_some(), "and free again");
    }
}
