//! What the benches of the engine run beside it, all of it in memory but the database: a platform on which signals are said,
//! a machine that answers at once, and people who may everything. What is measured is in the bench that uses it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use countersign::access::{Rates, Who, WhoIs};
use countersign::engine::{Engine, Parts, World};
use countersign::store::{Sealing, Store, sqlite_url};
use countersign_core::envelope::{Envelope, Meta};
use countersign_core::gate::{Cleared, ToolCall};
use countersign_core::port::{Adapter, Asker, BoxFuture, Capabilities, Delivery, Ended, Ingress, Mind, Parcel, Tools};
use countersign_core::route::Intents;
use countersign_core::signal::{Platform, Signal, SignalId, ThreadKey};
use countersign_core::testkit::{Anybody, INTENTS, resource};
use countersign_core::tool::Registry;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// An engine at work.
pub(crate) struct Installation {
    pub(crate) say: mpsc::Sender<Signal>,
    line: Arc<Line>,
    heard: mpsc::Receiver<()>,
    stop: CancellationToken,
    running: JoinHandle<()>,
    _database: tempfile::TempDir,
}

impl Installation {
    /// Starts one over a fresh database; whoever waits for answers listens in this thread.
    pub(crate) async fn start(world: World, mind: Option<Arc<dyn Mind>>, listens: ThreadKey) -> Self {
        let database = tempfile::tempdir().expect("a folder for the bench");
        let url = sqlite_url(&database.path().join("bench.db")).expect("a plain path");
        let (say, said) = mpsc::channel(64);
        let (telling, heard) = mpsc::channel(64);
        let said = Mutex::new(Some(said));
        let line = Arc::new(Line { said, listens, telling, answers: AtomicUsize::new(0) });
        let engine = Engine::new(Parts {
            store: Store::open(&url, &Sealing::unguarded()).await.expect("a database"),
            world,
            tools: Arc::new(Lab),
            mind,
            adapters: vec![Arc::clone(&line) as Arc<dyn Adapter>],
            queue_max: 64,
            delivery: countersign::engine::A_DAY,
            watch: None,
            tell: Box::new(|_| {}),
        });
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let running = tokio::spawn(async move {
            engine.run(stopped).await.expect("it ends well");
        });
        Self { say, line, heard, stop, running, _database: database }
    }

    /// Says something and waits for the answer.
    pub(crate) async fn ask(&mut self, signal: Signal) {
        self.say.send(signal).await.expect("it hears");
        self.heard.recv().await.expect("it answers");
    }

    /// Ends it; how many messages it delivered, in every thread.
    pub(crate) async fn end(self) -> usize {
        self.stop.cancel();
        self.running.await.expect("no panic");
        self.line.answers.load(Ordering::Relaxed)
    }
}

/// The tools and people of the bench, with these limits on how much each may ask for.
pub(crate) fn world(registry: Registry, rates: &str) -> World {
    let intents = Intents::load([("intents.toml", INTENTS)], &registry).expect("the fixture is sound");
    let rates: countersign::config::Rates = toml::from_str(rates).expect("sound limits");
    World::new(Arc::new(registry), intents, Box::new(Anybody), Rates::new(&rates, Box::new(Everybody)))
}

/// One connection to a platform, on which everybody speaks.
struct Line {
    said: Mutex<Option<mpsc::Receiver<Signal>>>,
    listens: ThreadKey,
    telling: mpsc::Sender<()>,
    answers: AtomicUsize,
}

impl Adapter for Line {
    fn platform(&self) -> Platform {
        Platform::new("test")
    }

    fn capabilities(&self, _: &ThreadKey) -> Capabilities {
        Capabilities { text_chars_max: 1000, ..Capabilities::default() }
    }

    fn hear<'a>(&'a self, ingress: &'a dyn Ingress, mut stop: BoxFuture<'a, ()>) -> BoxFuture<'a, Ended> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let mut said = said.expect("heard once");
            loop {
                let next = tokio::select! {
                    next = said.recv() => next,
                    () = &mut stop => return Ended::Stopped,
                };
                let Some(signal) = next else { return Ended::InputOver };
                ingress.accept(signal).await.expect("the database works");
            }
        })
    }

    fn deliver<'a>(&'a self, parcel: Parcel<'a>) -> BoxFuture<'a, Delivery> {
        Box::pin(async move {
            self.answers.fetch_add(1, Ordering::Relaxed);
            if parcel.message.get().to == self.listens {
                self.telling.send(()).await.expect("somebody listens");
            }
            Delivery::Sent(Vec::new())
        })
    }

    fn answered(&self, _: &SignalId) {}
}

/// A machine that is always there and never busy.
struct Lab;

impl Tools for Lab {
    fn call(&self, call: Cleared<ToolCall>) -> BoxFuture<'_, Envelope> {
        let data = match call.get().name().as_str() {
            "lab_find.host" => serde_json::json!({ "resources": [resource("host:web-1", "web-1")] }),
            _ => serde_json::json!({ "load": "0.5" }),
        };
        Box::pin(async { Envelope::success(data, Meta { observed_at: 1, left_out: String::new() }) })
    }
}

/// Everybody is known, and has a role that is called like them.
struct Everybody;

impl WhoIs for Everybody {
    fn who(&self, asker: &Asker<'_>) -> Who {
        let name = asker.actor.id.to_string();
        Who::Person { roles: vec![name.clone()], name }
    }
}
