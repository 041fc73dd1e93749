//! How long one quiet person waits for an answer, alone and beside 50 noisy ones: `cargo bench --bench fairness`. The noisy
//! ones say 20 things a second each, far above their limits; then the same with the limits off. It prints medians, 95th
//! percentiles and their ratios, and judges nothing: what is right is tested in `src/engine/tests/fairness.rs`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use countersign::access::{Rates, Who, WhoIs};
use countersign::engine::{Engine, Parts, World};
use countersign::store::{Store, sqlite_url};
use countersign_core::approval::Risk;
use countersign_core::command::Tables;
use countersign_core::env::{Limits, OwnDeployment, Vault};
use countersign_core::envelope::{Envelope, Meta};
use countersign_core::gate::{Cleared, ToolCall};
use countersign_core::port::{
    Adapter, Asker, BoxFuture, Capabilities, Delivery, Ended, Ingress, Parcel, Right, Rights, Tools,
};
use countersign_core::route::{ExactRoutes, Intents};
use countersign_core::secrets::Mask;
use countersign_core::signal::{Platform, Signal, SignalId, ThreadKey};
use countersign_core::testkit::{INTENTS, TOOLS, resource, signal, thread_key};
use countersign_core::tool::Registry;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const NOISY: usize = 50;
const PAUSE: Duration = Duration::from_millis(20);
const NOISE_EVERY: Duration = Duration::from_millis(50);
/// How many questions the quiet one asks; fewer where each takes seconds.
const QUESTIONS: usize = 200;
const QUESTIONS_OFF: usize = 20;
const QUIET: &str = "quiet";

const LIMITS_ON: &str = "role.quiet.per_minute = 1000000\nrole.quiet.burst = 1000000\nroom.burst = 1000000\n\
    room.per_minute = 1000000\nteam.burst = 1000000\nteam.per_minute = 1000000\nresolve.burst = 1000000\n\
    read.burst = 1000000\n";
const LIMITS_OFF: &str = "person.per_minute = 1000000\nperson.burst = 1000000\nopen_per_person = 1000000\n";

/// One connection to a platform, on which everybody speaks.
struct Line {
    said: Mutex<Option<mpsc::Receiver<Signal>>>,
    to_quiet: mpsc::Sender<()>,
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
            if parcel.message.get().to == thread_key(QUIET) {
                self.to_quiet.send(()).await.expect("it listens");
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

/// Everybody is known and may everything; the quiet one has a role.
struct Everybody;

impl Rights for Everybody {
    fn may(&self, _: &Asker<'_>, _: &Right) -> bool {
        true
    }

    fn may_decide_alone(&self, _: &Asker<'_>, _: Risk) -> bool {
        true
    }

    fn roles(&self, _: &Asker<'_>) -> Vec<String> {
        Vec::new()
    }
}

impl WhoIs for Everybody {
    fn who(&self, asker: &Asker<'_>) -> Who {
        let name = asker.actor.id.to_string();
        Who::Person { roles: vec![name.clone()], name }
    }
}

fn world(rates: &str) -> World {
    let registry = Registry::load([("tools.toml", TOOLS)]).expect("the fixture is sound");
    let intents = Intents::load([("intents.toml", INTENTS)], &registry).expect("the fixture is sound");
    let rates: countersign::config::Rates = toml::from_str(rates).expect("sound limits");
    World {
        registry: Arc::new(registry),
        intents,
        rights: Box::new(Everybody),
        limits: Limits::default(),
        own: OwnDeployment::default(),
        vault: Vault::default(),
        mask: Arc::new(Mask::default()),
        commands: Tables::default(),
        spokes: Box::new(Vec::new),
        exact: RwLock::new(ExactRoutes::default()),
        ledger: RwLock::default(),
        budgets: countersign_core::usage::Budgets::default(),
        rates: Rates::new(&rates, Box::new(Everybody)),
        minds: countersign_core::mind::Minds::default(),
        claims: countersign_core::answer::Claims::default(),
        errors: countersign_core::answer::Errors::default(),
    }
}

/// What one run found.
struct Waits {
    median: Duration,
    p95: Duration,
    answers_to_noise: usize,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let alone = runtime.block_on(measure(LIMITS_ON, 0, QUESTIONS));
    println!(
        "{:<42}{:>11}{:>9}{:>9}{:>9}  answers to the noise",
        "one quiet person, ms", "median", "p95", "ratio", "ratio"
    );
    print("alone", &alone, &alone);
    print("50 noisy ones, above their limits", &runtime.block_on(measure(LIMITS_ON, NOISY, QUESTIONS)), &alone);
    let off = format!("{LIMITS_ON}{LIMITS_OFF}");
    print("50 noisy ones, limits off", &runtime.block_on(measure(&off, NOISY, QUESTIONS_OFF)), &alone);
}

fn print(name: &str, waits: &Waits, alone: &Waits) {
    let ms = |wait: Duration| wait.as_secs_f64() * 1e3;
    let (median, p95) = (ms(waits.median), ms(waits.p95));
    let (by_median, by_p95) = (median / ms(alone.median), p95 / ms(alone.p95));
    println!("{name:<42}{median:>11.2}{p95:>9.2}{by_median:>9.2}{by_p95:>9.2}  {}", waits.answers_to_noise);
}

async fn measure(rates: &str, noisy: usize, questions: usize) -> Waits {
    let directory = tempfile::tempdir().expect("a folder for the bench");
    let url = sqlite_url(&directory.path().join("bench.db")).expect("a plain path");
    let (say, said) = mpsc::channel(64);
    let (answering, mut answers) = mpsc::channel(1);
    let line = Arc::new(Line { said: Mutex::new(Some(said)), to_quiet: answering, answers: AtomicUsize::new(0) });
    let store = Store::open(&url).await.expect("a database");
    let adapters = vec![Arc::clone(&line) as Arc<dyn Adapter>];
    let engine = Engine::new(Parts {
        store,
        world: world(rates),
        tools: Arc::new(Lab),
        mind: None,
        adapters,
        queue_max: 64,
        watch: None,
        tell: Box::new(|_| {}),
    });
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let stop = stop.clone();
        async move { engine.run(stop).await }
    });
    let shouting: Vec<_> = (0..noisy).map(|n| tokio::spawn(make_noise(n, say.clone()))).collect();
    let mut waits = Vec::new();
    let mut pause = tokio::time::interval(PAUSE);
    pause.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for n in 0..questions {
        pause.tick().await;
        let begun = Instant::now();
        say.send(asks(QUIET, n)).await.expect("it hears");
        answers.recv().await.expect("it answers");
        waits.push(begun.elapsed());
    }
    shouting.iter().for_each(tokio::task::JoinHandle::abort);
    stop.cancel();
    running.await.expect("no panic").expect("it ends well");
    waits.sort();
    let answers_to_noise = line.answers.load(Ordering::Relaxed).saturating_sub(questions);
    Waits { median: waits[questions / 2], p95: waits[questions * 95 / 100], answers_to_noise }
}

/// Until nobody hears it any more.
async fn make_noise(n: usize, say: mpsc::Sender<Signal>) {
    let mut tick = tokio::time::interval(NOISE_EVERY);
    for event in 0.. {
        tick.tick().await;
        if say.send(asks(&format!("noisy {n}"), event)).await.is_err() {
            return;
        }
    }
}

fn asks(who: &str, event: usize) -> Signal {
    Signal { thread: thread_key(who), ..signal(&format!("{who}/{event}"), who, "load") }
}
