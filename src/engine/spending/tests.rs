//! When the store is asked what was used, on a real database: after each use, when a thread begins, and for a message only
//! where a budget is set.

use std::sync::Arc;

use countersign_core::signal::Wall;
use countersign_core::testkit::{signal, thread_key};
use countersign_core::usage::{Daily, Origin, Usage};

use super::super::tests::{Lab, world};
use super::super::worker::{Handle, Worker};
use super::super::{Engine, Parts};
use super::*;
use crate::clock::wall_now;
use crate::store::{Sealing, sqlite_url};

/// Long before any day on which this runs.
const LONG_AGO: Day = Day(1);

struct Bench {
    engine: Arc<Engine>,
    worker: Worker,
    _directory: tempfile::TempDir,
}

impl Bench {
    async fn new(tokens_per_person: Option<u64>) -> Self {
        let directory = tempfile::tempdir().expect("a folder for the test");
        let url = sqlite_url(&directory.path().join("engine.db")).expect("a plain path");
        let store = Store::open(&url, &Sealing::unguarded()).await.expect("a database");
        let mut world = world();
        world.budgets.person = Daily { tokens: tokens_per_person, cost_micros: None };
        let tools = Arc::new(Lab::default());
        let engine = Engine::new(Parts {
            store,
            world,
            tools,
            mind: None,
            adapters: Vec::new(),
            queue_max: 2,
            delivery: crate::engine::A_DAY,
            watch: None,
            tell: Box::new(|_| {}),
        });
        let (_, jobs) = Handle::new(2);
        let worker = Worker::new(Arc::clone(&engine), thread_key("main"), jobs);
        Self { engine, worker, _directory: directory }
    }

    /// Lets the engine believe that this was read a moment ago.
    fn know(&self, day: Day) {
        *self.engine.spending.lock() = Some(Known { book: Book::new(day), read_at: Instant::now() });
    }

    fn day_known(&self) -> Option<Day> {
        self.engine.spending.lock().as_ref().map(|known| known.book.day())
    }
}

#[tokio::test]
async fn a_message_asks_the_store_only_where_a_budget_is_set() {
    for (limit, asks) in [(None, false), (Some(100), true)] {
        let mut bench = Bench::new(limit).await;
        let before = Day::of(wall_now());
        assert!(bench.worker.load().await);
        assert!(bench.day_known() >= Some(before), "a thread begins: the store is asked");
        bench.know(LONG_AGO);
        assert!(bench.worker.has_ready(&signal("s-1", "ann", "help")).await);
        assert_eq!(bench.day_known() != Some(LONG_AGO), asks, "{limit:?}");
        bench.engine.store.close().await;
    }
}

#[tokio::test]
async fn what_is_used_is_stored_and_known_at_once() {
    let mut bench = Bench::new(Some(100)).await;
    let asked = signal("s-1", "ann", "?");
    bench.engine.store.accept(&asked).await.expect("it can be stored");
    assert!(bench.worker.load().await);
    let now = Now { wall: Wall(90_000_000), ..bench.engine.clock.now() };
    let usage = Usage { tokens_in: 70, tokens_out: 5, cost_micros: 9 };
    // Twice, and the second one with no request at work: what comes late is counted, too.
    bench.worker.current = Some(asked.clone());
    for times in 1..=2 {
        let input = Input::Used { signal: Box::new(asked.clone()), by: Origin::Model, usage };
        assert!(bench.worker.step_at(input, now).await.is_none());
        bench.worker.current = None;
        let stored = bench.engine.store.used_on(Day(1)).await.expect("it can be read");
        let all = payers(bench.engine.world.rights.as_ref(), &asked.actor, &asked.thread);
        let spent = stored.spent(&all, Day(1));
        assert_eq!((spent.person.total().tokens(), spent.team.total().cost_micros), (75 * times, 9 * times));
        assert_eq!(bench.engine.spending.spent(&all, Day(1)), Some(spent), "known without being asked for");
    }
    bench.engine.store.close().await;
}

#[tokio::test]
async fn what_cannot_be_read_is_not_taken_for_nothing() {
    let mut bench = Bench::new(Some(100)).await;
    assert!(bench.worker.load().await);
    let all = payers(bench.engine.world.rights.as_ref(), &signal("s", "ann", "?").actor, &thread_key("main"));
    let today = Day::of(wall_now());
    assert!(bench.engine.spending.spent(&all, today).is_some());
    bench.know(LONG_AGO);
    bench.engine.store.close().await;
    assert!(bench.worker.has_ready(&signal("s-1", "ann", "help")).await, "set commands go on");
    assert_eq!(bench.engine.spending.spent(&all, today), None);
}
