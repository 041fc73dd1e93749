//! Tests of the engine with a scripted platform and scripted tools over a real database: order, back-pressure, delivery
//! outcomes, and what survives a panic.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use countersign_core::approval::Terms;
use countersign_core::envelope::{Envelope, Meta};
use countersign_core::gate::{Cleared, ToolCall};
use countersign_core::port::{
    Adapter, Admission, Asker, BoxFuture, Capabilities, Delivery, Ended, Ingress, Parcel, Right, Rights, TermsAbout,
    Tools,
};
use countersign_core::route::Intents;
use countersign_core::signal::{Actor, Addressed, EventId, Payload, Platform, Signal, SignalId, ThreadKey};
use countersign_core::testkit::{INTENTS, TOOLS, plain, resource, signal, thread_key};
use countersign_core::tool::Registry;
use serde_json::json;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::worker::{Handle, KEPT_IDLE, Worker};
use super::{Engine, Parts, Ran, World};
use crate::access::{Rates, Who, WhoIs};
use crate::store::{Sealing, Store, sqlite_url};

mod fairness;
mod late;
mod ledger;
mod set_aside;
mod shown;
mod stage;
mod stopped;
mod suggested;
mod supervised;
mod touched;

/// Nothing here takes longer, unless it hangs.
const HANGS: Duration = Duration::from_secs(30);

/// A platform that says what it is told to and records what it is given.
struct Scripted {
    lines: Mutex<Option<mpsc::Receiver<Signal>>>,
    admitted: mpsc::Sender<Admission>,
    outcomes: Mutex<VecDeque<Delivery>>,
    delivered: mpsc::Sender<(String, bool)>,
    answered: mpsc::Sender<SignalId>,
}

impl Adapter for Scripted {
    fn platform(&self) -> Platform {
        Platform::new("test")
    }

    fn capabilities(&self, _: &ThreadKey) -> Capabilities {
        Capabilities { text_chars_max: 1000, ..Capabilities::default() }
    }

    fn hear<'a>(&'a self, ingress: &'a dyn Ingress, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, Ended> {
        let lines = self.lines.lock().expect("no test panics here").take();
        Box::pin(async move {
            let mut lines = lines.expect("heard once");
            let mut stop = stop;
            loop {
                let line = tokio::select! {
                    line = lines.recv() => line,
                    () = &mut stop => return Ended::Stopped,
                };
                let Some(line) = line else { return Ended::InputOver };
                let admission = ingress.accept(line).await.expect("the database works");
                self.admitted.send(admission).await.expect("the test listens");
            }
        })
    }

    fn deliver<'a>(&'a self, parcel: Parcel<'a>) -> BoxFuture<'a, Delivery> {
        Box::pin(async move {
            let outcome = self.outcomes.lock().expect("no test panics here").pop_front();
            self.delivered.send((plain(parcel.message.get()), parcel.notes.repeat)).await.expect("the test listens");
            outcome.unwrap_or(Delivery::Sent(vec![EventId::new("1")]))
        })
    }

    fn answered(&self, signal: &SignalId) {
        self.answered.try_send(signal.clone()).expect("the test listens");
    }
}

/// Tools that find one host, read its load, hang on `file` until they are let go, and break on `run`.
#[derive(Default)]
pub(super) struct Lab {
    go: Arc<Notify>,
    /// Rung when a call hangs.
    hangs: Arc<Notify>,
}

impl Tools for Lab {
    fn call(&self, call: Cleared<ToolCall>) -> BoxFuture<'_, Envelope> {
        Box::pin(async move {
            let data = match call.get().name().as_str() {
                "lab_find.host" => json!({ "resources": [resource("host:web-1", "web-1")] }),
                "lab_find.service" => json!({ "resources": [resource("service:web-1:nginx", "nginx")] }),
                "lab_read.load" => json!({ "load": "0.5" }),
                "lab_read.file" => {
                    self.hangs.notify_one();
                    self.go.notified().await;
                    json!({})
                }
                other => panic!("a tool that breaks: {other}"),
            };
            Envelope::success(data, Meta { observed_at: 1, left_out: String::new() })
        })
    }
}

/// Everybody may everything, and the name `breaker` breaks the core; `breaker twice` also breaks the notice about that.
#[derive(Default)]
struct Anybody {
    expires_ms: Option<u64>,
}

impl Rights for Anybody {
    fn may(&self, asker: &Asker<'_>, _: &Right) -> bool {
        assert!(!asker.actor.id.as_str().starts_with("breaker"), "planted");
        true
    }

    fn name(&self, _: &Platform, actor: &Actor) -> Option<String> {
        assert_ne!(actor.id.as_str(), "breaker twice", "planted");
        None
    }

    fn may_decide_alone(&self, _: &Asker<'_>, _: countersign_core::approval::Risk) -> bool {
        true
    }

    fn roles(&self, _: &Asker<'_>) -> Vec<String> {
        Vec::new()
    }

    fn terms(&self, _: &TermsAbout<'_>) -> Terms {
        Terms { expires_ms: self.expires_ms, ..Terms::default() }
    }
}

/// Nobody is held to a limit.
impl WhoIs for Anybody {
    fn who(&self, _: &Asker<'_>) -> Who {
        Who::Service
    }
}

/// A running engine and the test's ends of its platform.
struct Bench {
    say: Option<mpsc::Sender<Signal>>,
    admitted: mpsc::Receiver<Admission>,
    delivered: mpsc::Receiver<(String, bool)>,
    answered: mpsc::Receiver<SignalId>,
    go: Arc<Notify>,
    hangs: Arc<Notify>,
    running: tokio::task::JoinHandle<anyhow::Result<Ran>>,
    /// The engine's own, so that all of it can be gone at once, as when a process is killed.
    process: Option<tokio::runtime::Runtime>,
    directory: tempfile::TempDir,
    said: u32,
}

impl Bench {
    fn start(outcomes: impl IntoIterator<Item = Delivery>) -> Self {
        let directory = tempfile::tempdir().expect("a folder for the test");
        Self::start_in(directory, outcomes)
    }

    fn start_in(directory: tempfile::TempDir, outcomes: impl IntoIterator<Item = Delivery>) -> Self {
        Self::start_with(directory, outcomes, world(), (2, 1000))
    }

    /// With a world of the test's own, queues of that length, and a platform that takes so many messages before the test
    /// looks at them.
    fn start_with(
        directory: tempfile::TempDir,
        outcomes: impl IntoIterator<Item = Delivery>,
        world: World,
        (queue_max, delivered_max): (usize, usize),
    ) -> Self {
        let (say, lines) = mpsc::channel(1000);
        let (admitting, admitted) = mpsc::channel(1000);
        let (delivering, delivered) = mpsc::channel(delivered_max);
        let (answering, answered) = mpsc::channel(1000);
        let adapter = Scripted {
            lines: Mutex::new(Some(lines)),
            admitted: admitting,
            outcomes: Mutex::new(outcomes.into_iter().collect()),
            delivered: delivering,
            answered: answering,
        };
        let (go, hangs) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let url = sqlite_url(&directory.path().join("engine.db")).expect("a plain path");
        let process = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let process = process.expect("a runtime");
        let tools = Arc::new(Lab { go: Arc::clone(&go), hangs: Arc::clone(&hangs) });
        let running = process.spawn(async move {
            let store = Store::open(&url, &Sealing::unguarded()).await.expect("a database");
            let parts = Parts {
                store,
                world,
                tools,
                mind: None,
                adapters: vec![Arc::new(adapter)],
                queue_max,
                delivery: crate::engine::A_DAY,
                watch: None,
                tell: Box::new(|_| {}),
            };
            Engine::new(parts).run(CancellationToken::new()).await
        });
        let process = Some(process);
        Self { say: Some(say), admitted, delivered, answered, go, hangs, running, process, directory, said: 0 }
    }

    /// Says something and waits until it was taken or refused.
    async fn say(&mut self, thread: &str, actor: &str, text: &str) -> Admission {
        self.said += 1;
        self.say_as(&format!("e{}", self.said), thread, actor, text).await
    }

    async fn say_as(&mut self, event: &str, thread: &str, actor: &str, text: &str) -> Admission {
        self.hear(Signal { thread: thread_key(thread), ..signal(event, actor, text) }).await
    }

    async fn hear(&mut self, line: Signal) -> Admission {
        self.say.as_ref().expect("not ended").send(line).await.expect("it runs");
        within(self.admitted.recv()).await.expect("it runs")
    }

    async fn next(&mut self) -> (String, bool) {
        within(self.delivered.recv()).await.expect("it runs")
    }

    /// Everything of the engine is gone, wherever it was; its database stays.
    async fn killed(mut self) -> tempfile::TempDir {
        self.process.take().expect("it runs").shutdown_background();
        let _gone = within(self.running).await;
        self.directory
    }

    /// Ends the input and waits for the end.
    async fn end(mut self) -> (BTreeMap<&'static str, u64>, tempfile::TempDir) {
        self.say = None;
        within(self.running).await.expect("it does not panic").expect("it ends well");
        self.process.take().expect("it ran").shutdown_background();
        let url = sqlite_url(&self.directory.path().join("engine.db")).expect("a plain path");
        let counts =
            Store::open(&url, &Sealing::unguarded()).await.expect("a database").counts().await.expect("it counts");
        let counts = [("open", counts.open), ("done", counts.done), ("sent", counts.sent), ("failed", counts.failed)];
        (counts.into_iter().collect(), self.directory)
    }
}

pub(super) fn world() -> World {
    world_of(Anybody::default())
}

fn world_of(people: Anybody) -> World {
    let registry = Registry::load([("tools.toml", TOOLS)]).expect("the fixture is sound");
    let intents = Intents::load([("intents.toml", INTENTS)], &registry).expect("the fixture is sound");
    let rates = Rates::new(&crate::config::Rates::default(), Box::new(Anybody::default()));
    World::new(Arc::new(registry), intents, Box::new(people), rates)
}

/// An engine without platforms.
fn at_rest(store: Store) -> Arc<Engine> {
    let tools = Arc::new(Lab::default());
    let (adapters, tell) = (Vec::new(), Box::new(|_: &str| {}));
    Engine::new(Parts {
        store,
        world: world(),
        tools,
        mind: None,
        adapters,
        queue_max: 2,
        delivery: crate::engine::A_DAY,
        watch: None,
        tell,
    })
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANGS, future).await.expect("it hangs")
}

#[tokio::test]
async fn a_duplicate_is_answered_once() {
    let mut bench = Bench::start([]);
    assert!(matches!(bench.say_as("same", "main", "ann", "load").await, Admission::Accepted(_)));
    assert_eq!(bench.say_as("same", "main", "ann", "load").await, Admission::Duplicate);
    assert_eq!(bench.next().await, ("The load is 0.5.\n".to_owned(), false));
    let (counts, _directory) = bench.end().await;
    assert_eq!(counts, BTreeMap::from([("open", 0), ("done", 1), ("sent", 1), ("failed", 0)]));
}

#[tokio::test]
async fn a_full_queue_refuses_stores_nothing_and_delays_nobody_else() {
    // CARD-09: the queue holds two; one more may be worked on by now.
    let mut bench = Bench::start([]);
    assert!(matches!(bench.say("slow", "ann", "show file /x").await, Admission::Accepted(_)));
    let mut taken = 1;
    let refused = loop {
        match bench.say("slow", "ann", "load").await {
            Admission::Accepted(_) => taken += 1,
            other => break other,
        }
    };
    assert_eq!(refused, Admission::Busy);
    assert!((2..=4).contains(&taken), "{taken} were taken");
    bench.say("other", "bob", "load").await;
    assert_eq!(bench.next().await.0, "The load is 0.5.\n", "another thread is not kept waiting");
    bench.go.notify_one();
    assert_eq!(bench.next().await.0, "There is nothing to show.\n", "in a thread the order holds");
    for _ in 1..taken {
        assert_eq!(bench.next().await.0, "The load is 0.5.\n");
    }
    let (counts, _directory) = bench.end().await;
    assert_eq!(counts["done"], taken + 1, "what was refused was not stored");
}

#[tokio::test]
async fn deliveries_end_as_the_platform_says() {
    let outcomes = [
        Delivery::RetryAfter(20),
        Delivery::Ambiguous("the line broke".to_owned()),
        Delivery::Sent(Vec::new()),
        Delivery::Permanent("the room is gone".to_owned()),
    ];
    let mut bench = Bench::start(outcomes);
    bench.say("main", "ann", "load").await;
    let load = "The load is 0.5.\n".to_owned();
    assert_eq!(bench.next().await, (load.clone(), false));
    assert_eq!(bench.next().await, (load.clone(), false), "a wait is no attempt that may have come through");
    assert_eq!(bench.next().await, (load.clone(), true), "what may have come through says that it is a repeat");
    bench.say("main", "ann", "load").await;
    assert_eq!(bench.next().await, (load, false));
    for _ in 0..2 {
        within(bench.answered.recv()).await.expect("both are over, the undeliverable one too");
    }
    let (counts, _directory) = bench.end().await;
    assert_eq!(counts, BTreeMap::from([("open", 0), ("done", 2), ("sent", 1), ("failed", 1)]));
}

#[tokio::test]
async fn what_panics_takes_nobody_else_with_it() {
    let mut bench = Bench::start([]);
    bench.say("main", "breaker", "load").await;
    let (notice, _) = bench.next().await;
    assert!(notice.starts_with("failed: I set aside a message (") && !notice.contains("load"), "{notice}");
    bench.say("main", "ann", "run uptime").await;
    let (broken, _) = bench.next().await;
    assert!(broken.contains("EXECUTION_FAILED"), "{broken}");
    bench.say("main", "ann", "load").await;
    assert_eq!(bench.next().await.0, "The load is 0.5.\n", "the thread goes on");
    let (counts, _directory) = bench.end().await;
    assert_eq!((counts["done"], counts["open"]), (3, 0));
}

#[tokio::test]
async fn what_was_accepted_is_answered_by_the_next_process() {
    // Invariant 7: the process stops while a request runs; the next one takes it up and says what it answers.
    let mut bench = Bench::start([]);
    bench.say("main", "ann", "show file /x").await;
    let mut bench = Bench::start_in(bench.killed().await, []);
    bench.go.notify_one();
    let (answer, _) = bench.next().await;
    assert_eq!(answer, "You asked “show file /x” before I was restarted.\nThere is nothing to show.\n");
    within(bench.answered.recv()).await.expect("it is answered");
    let (counts, _directory) = bench.end().await;
    assert_eq!((counts["done"], counts["open"], counts["sent"]), (1, 0, 1));
}

#[tokio::test]
async fn an_answer_that_was_stored_and_not_sent_is_ended_by_the_next_process() {
    let mut bench = Bench::start([Delivery::Retryable("the line is down".to_owned())]);
    bench.say("main", "ann", "load").await;
    bench.next().await;
    let mut bench = Bench::start_in(bench.killed().await, []);
    assert_eq!(bench.next().await.0, "The load is 0.5.\n");
    within(bench.answered.recv()).await.expect("the platform is told");
    let (counts, _directory) = bench.end().await;
    assert_eq!((counts["done"], counts["open"], counts["sent"]), (1, 0, 1));
}

#[tokio::test]
async fn a_thread_that_has_not_read_its_plans_does_not_leave() {
    let directory = tempfile::tempdir().expect("a folder for the test");
    let url = sqlite_url(&directory.path().join("engine.db")).expect("a plain path");
    let store = Store::open(&url, &Sealing::unguarded()).await.expect("a database");
    let engine = at_rest(store);
    let key = thread_key("main");
    let (handle, jobs) = Handle::new(2);
    engine.lock_threads().insert(key.clone(), handle);
    let mut worker = Worker::new(Arc::clone(&engine), key, jobs);
    assert!(!worker.leave(), "it may have plans that wait");
    assert!(worker.load().await);
    assert!(worker.leave(), "it has none");
    engine.store.close().await;
}

#[tokio::test]
async fn where_there_are_many_threads_an_idle_one_leaves() {
    let directory = tempfile::tempdir().expect("a folder for the test");
    let url = sqlite_url(&directory.path().join("engine.db")).expect("a plain path");
    let engine = at_rest(Store::open(&url, &Sealing::unguarded()).await.expect("a database"));
    let begin = |name: &str, idle: Duration| {
        let (handle, jobs) = Handle::new(2);
        engine.lock_threads().insert(thread_key(name), handle);
        let mut worker = Worker::new(Arc::clone(&engine), thread_key(name), jobs);
        worker.idle_since = tokio::time::Instant::now().checked_sub(idle);
        tokio::spawn(worker.run())
    };
    let (old, new) = (begin("old", KEPT_IDLE), begin("new", Duration::ZERO));
    let gone = async {
        while !old.is_finished() {
            engine.crowded.notify_waiters();
            tokio::task::yield_now().await;
        }
    };
    within(gone).await;
    assert_eq!(engine.lock_threads().keys().collect::<Vec<_>>(), [&thread_key("new")]);
    assert!(!new.is_finished(), "somebody talks there");
    engine.stopping.cancel();
    within(new).await.expect("it ends");
    engine.store.close().await;
}

#[tokio::test]
async fn a_plan_whose_card_is_never_delivered_is_taken_back_as_unreachable() {
    let mut bench = Bench::start([Delivery::Permanent("the room is gone".to_owned())]);
    bench.say("main", "ann", "restart nginx").await;
    assert!(bench.next().await.0.contains(" asks to restart nginx"));
    assert_eq!(
        bench.next().await.0,
        "Unreachable: restart nginx. Its card could not be delivered, so nobody could be asked. Nothing was changed. \
         Ask again if it is still wanted.\n"
    );
    let (counts, directory) = bench.end().await;
    assert_eq!((counts["failed"], counts["open"]), (1, 0));
    let url = sqlite_url(&directory.path().join("engine.db")).expect("a plain path");
    let left =
        Store::open(&url, &Sealing::unguarded()).await.expect("a database").plans_left().await.expect("it counts");
    assert_eq!((left.to_decide, left.not_known), (0, 0));
}

#[tokio::test]
async fn a_request_that_was_edited_or_deleted_is_taken_back_in_its_own_thread() {
    let mut bench = Bench::start([]);
    bench.say_as("e-1", "main", "ann", "restart nginx").await;
    assert!(bench.next().await.0.contains(" asks to "));
    let edit = |id: &str, payload: Payload| {
        let thread = thread_key("wherever the platform puts it");
        Signal { payload, thread, addressed: Addressed::No, ..signal(id, "ann", "") }
    };
    let unheard = edit("e-2", Payload::Edited { event: EventId::new("chatter") });
    assert_eq!(bench.hear(unheard).await, Admission::Duplicate, "it is not even stored");
    let deleted = edit("e-3", Payload::Deleted { event: EventId::new("e-1") });
    assert!(matches!(bench.hear(deleted).await, Admission::Accepted(_)));
    assert_eq!(
        bench.next().await.0,
        "Withdrawn: restart nginx. The message that asked for it was deleted. Nothing was changed. \
         Ask again if it is still wanted.\n"
    );
    let again = edit("e-4", Payload::Edited { event: EventId::new("e-1") });
    assert_eq!(bench.hear(again).await, Admission::Duplicate, "nothing waits that it could take back");
    let (counts, _directory) = bench.end().await;
    assert_eq!((counts["done"], counts["open"], counts["sent"]), (2, 0, 2));
}
