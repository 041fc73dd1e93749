//! What the engine makes of a database that does not take or give what it should: it waits longer each time, piles nothing
//! up, and goes on where it was once the database works again. A real database, broken from outside by SQL.

use std::sync::Arc;
use std::time::Duration;

use countersign::access::{Rates, Who, WhoIs};
use countersign::engine::{Engine, Parts, Watch, World};
use countersign::store::{Committed, Ending, Sealing, StepRecord, Store, sqlite_url};
use countersign_core::effect::{Effect, Input};
use countersign_core::envelope::{Envelope, Meta};
use countersign_core::gate::{Cleared, ToolCall};
use countersign_core::port::{Adapter, Asker, BoxFuture, Capabilities, Delivery, Ended, Ingress, Parcel, Tools};
use countersign_core::route::Intents;
use countersign_core::signal::{Now, Payload, Platform, SignalId, ThreadKey};
use countersign_core::testkit::{Anybody, INTENTS, TOOLS};
use countersign_core::tool::Registry;
use tempfile::TempDir;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::plans::{changing, file, plan};
use super::{Bed, accepted, counts, raw, signal, thread};

/// Nothing here takes longer, unless it hangs.
const HANGS: Duration = Duration::from_secs(30);

/// What the test is told of the running engine.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// The thread was told of plans.
    Filed,
    /// A plan is looked after, by this signal.
    Due(SignalId),
    /// A message has left.
    Delivered,
    /// Nobody waits for this signal any longer.
    Answered(SignalId),
}

/// A platform on which one person says one thing, if anything.
struct Terminal {
    says: bool,
    seen: Sender<Seen>,
}

impl Adapter for Terminal {
    fn platform(&self) -> Platform {
        Platform::new("console")
    }

    fn capabilities(&self, _: &ThreadKey) -> Capabilities {
        Capabilities { text_chars_max: 1000, ..Capabilities::default() }
    }

    fn hear<'a>(&'a self, ingress: &'a dyn Ingress, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, Ended> {
        Box::pin(async move {
            if self.says {
                ingress.accept(signal("s-9", thread("main"), 9)).await.expect("the inbox works");
            }
            stop.await;
            Ended::Stopped
        })
    }

    fn deliver<'a>(&'a self, _: Parcel<'a>) -> BoxFuture<'a, Delivery> {
        let _over = self.seen.try_send(Seen::Delivered);
        Box::pin(async { Delivery::Sent(Vec::new()) })
    }

    fn answered(&self, signal: &SignalId) {
        let _over = self.seen.try_send(Seen::Answered(signal.clone()));
    }
}

struct Watching(Sender<Seen>);

impl Watch for Watching {
    fn step(&self, _: &ThreadKey, _: Now, input: &Input, _: &[Effect]) {
        let _over = match input {
            Input::Filed(_) => self.0.try_send(Seen::Filed),
            Input::Signal(signal) if matches!(signal.payload, Payload::Due { .. }) => {
                self.0.try_send(Seen::Due(signal.id.clone()))
            }
            _ => return,
        };
    }
}

/// No tool is called here.
pub(super) struct NoTools;

impl Tools for NoTools {
    fn call(&self, _: Cleared<ToolCall>) -> BoxFuture<'_, Envelope> {
        let nothing = Meta { observed_at: 1, left_out: String::new() };
        Box::pin(async { Envelope::success(serde_json::json!({}), nothing) })
    }
}

/// Nobody is held to a limit.
struct Unlimited;

impl WhoIs for Unlimited {
    fn who(&self, _: &Asker<'_>) -> Who {
        Who::Service
    }
}

pub(super) fn world() -> World {
    let registry = Registry::load([("tools.toml", TOOLS)]).expect("the fixture is sound");
    let intents = Intents::load([("intents.toml", INTENTS)], &registry).expect("the fixture is sound");
    let rates = Rates::new(&countersign::config::Rates::default(), Box::new(Unlimited));
    World::new(Arc::new(registry), intents, Box::new(Anybody), rates)
}

/// An engine over a database in which a plan waits whose time is long over.
struct Running {
    bed: Bed,
    seen: Receiver<Seen>,
    stop: CancellationToken,
    engine: JoinHandle<()>,
    directory: TempDir,
}

impl Running {
    async fn start(breakage: &str, says: bool) -> Self {
        let directory = TempDir::new().expect("a directory");
        let url = sqlite_url(&directory.path().join("trouble.db")).expect("UTF-8");
        let bed = Bed { store: Store::open(&url, &Sealing::unguarded()).await.expect("it opens"), url };
        accepted(&bed, "s-1", "main", 1).await;
        let filing =
            StepRecord { ending: Some(Ending::Answered), ..changing("s-1", vec![file(&plan(1, "host:web-1"))]) };
        assert_eq!(bed.store.commit(&filing).await.expect("no error"), Committed::Done);
        let store = Store::open(&bed.url, &Sealing::unguarded()).await.expect("it opens");
        raw(&bed.url, breakage).await;
        let (seeing, seen) = channel(1000);
        let parts = Parts {
            store,
            world: world(),
            tools: Arc::new(NoTools),
            mind: None,
            adapters: vec![Arc::new(Terminal { says, seen: seeing.clone() })],
            queue_max: 2,
            delivery: countersign::engine::A_DAY,
            watch: Some(Arc::new(Watching(seeing))),
            tell: Box::new(|_| {}),
        };
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let engine = tokio::spawn(async move {
            Engine::new(parts).run(stopped).await.expect("it starts and stops");
        });
        Self { bed, seen, stop, engine, directory }
    }

    /// The next of these.
    async fn next(&mut self, wanted: impl Fn(&Seen) -> bool) -> Seen {
        let find = async {
            loop {
                let seen = self.seen.recv().await.expect("it runs");
                if wanted(&seen) {
                    return seen;
                }
            }
        };
        tokio::time::timeout(HANGS, find).await.expect("it hangs")
    }

    async fn end(self) -> (Bed, TempDir) {
        self.stop.cancel();
        tokio::time::timeout(HANGS, self.engine).await.expect("it stops").expect("no panic");
        (self.bed, self.directory)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_cannot_be_moved_is_looked_after_by_one_signal() {
    let breakage = "CREATE TRIGGER no_room BEFORE UPDATE ON plans BEGIN SELECT RAISE(ABORT, 'no room'); END";
    let mut running = Running::start(breakage, false).await;
    let is_due = |seen: &Seen| matches!(seen, Seen::Due(_));
    let first = running.next(is_due).await;
    for _ in 0..2 {
        assert_eq!(running.next(is_due).await, first, "the same signal once more");
    }
    assert_eq!(counts(&running.bed).await.open, 1, "no second one was accepted");
    raw(&running.bed.url, "DROP TRIGGER no_room").await;
    running.next(|seen| *seen == Seen::Delivered).await;
    let (bed, _directory) = running.end().await;
    let now = counts(&bed).await;
    assert_eq!((now.open, now.done), (0, 2));
    assert_eq!(bed.store.threads_with_open_plans().await.expect("readable"), [], "it has expired");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_that_could_not_be_read_are_read_later_though_nobody_speaks() {
    let mut running = Running::start("ALTER TABLE plans RENAME COLUMN code TO lost", true).await;
    running.next(|seen| matches!(seen, Seen::Answered(_))).await;
    raw(&running.bed.url, "ALTER TABLE plans RENAME COLUMN lost TO code").await;
    running.next(|seen| *seen == Seen::Filed).await;
    running.next(|seen| *seen == Seen::Delivered).await;
    let (bed, _directory) = running.end().await;
    assert_eq!(counts(&bed).await.open, 1, "what was given up waits for the next start");
}
