//! What a turn of a model costs beside the model: `cargo bench --bench agent --features model`. The model here answers at
//! once, 200 tools are declared, and nothing of it is left out: the core, what is sent, the engine, the store. Beside it stand a
//! question that a rule answers and a parse of what is sent, in the same run. It prints a table and judges nothing: what is
//! counted, as bytes and calls, is tested in `src/model/prompt_size_tests.rs`.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use countersign::access::{Rates, Who, WhoIs};
use countersign::engine::{Engine, Parts, World};
use countersign::model::as_sent;
use countersign::store::{Store, sqlite_url};
use countersign_core::approval::Risk;
use countersign_core::command::Tables;
use countersign_core::env::{Limits, OwnDeployment, Vault};
use countersign_core::envelope::{Envelope, Meta};
use countersign_core::gate::{Cleared, ToolCall};
use countersign_core::mind::{Ask, Minds, RawCall, Thought, Unheard};
use countersign_core::port::{
    Adapter, Asker, BoxFuture, Capabilities, Delivery, Ended, Ingress, Mind, Parcel, Right, Rights, Tools,
};
use countersign_core::route::{ExactRoutes, Intents};
use countersign_core::secrets::Mask;
use countersign_core::signal::{Platform, Signal, SignalId, ThreadKey};
use countersign_core::testkit::{self, INTENTS, TOOLS, resource, signal, thread_key};
use countersign_core::tool::Registry;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const TURNS: usize = 300;
const QUESTION: &str = "why do customers complain about the shop";
const READS: &str = r#"{"target":"host:web-1"}"#;

const NO_LIMITS: &str = "person.per_minute = 1000000\nperson.burst = 1000000\nopen_per_person = 1000000\n\
    room.burst = 1000000\nroom.per_minute = 1000000\nteam.burst = 1000000\nteam.per_minute = 1000000\n\
    resolve.burst = 1000000\nresolve.per_minute = 1000000\nread.burst = 1000000\nread.per_minute = 1000000\n";

fn main() {
    println!("{:<58}{:>9}{:>9}{:>9}", "milliseconds", "median", "p95", "max");
    for tools in [10, 200, 1_000] {
        core(tools, 0);
    }
    for earlier in [50, 500] {
        core(200, earlier);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    for (name, words) in [
        ("engine and store: a question that a rule answers", "load"),
        ("engine and store: one question to a model", QUESTION),
        ("engine and store: a model that reads, and then answers", "look: why do customers complain"),
    ] {
        let mut took = runtime.block_on(through_the_engine(words));
        print(name, &mut took);
    }
}

fn print(name: &str, took: &mut [Duration]) {
    took.sort();
    let ms = |at: usize| took.get(at).map_or(0.0, |took| took.as_secs_f64() * 1e3);
    let last = took.len().saturating_sub(1);
    println!("{name:<58}{:>9.3}{:>9.3}{:>9.3}", ms(last / 2), ms(last * 95 / 100), ms(last));
}

/// A step of the core that asks a model, and the step that takes its answer; the wording of what is sent; a parse of that.
fn core(tools: usize, earlier: usize) {
    let mut world = testkit::World::with_fleet();
    world.registry = registry(tools);
    world.minds = Minds { fast: None, smart: Some("instant".to_owned()) };
    for n in 0..earlier {
        world.thoughts = vec![says("I cannot say.")].into();
        world.say(&format!("who knows more about order {n} of yesterday"));
    }
    let (mut steps, mut wording, mut parse) = (Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    // A thread with a past keeps its length: what is new here is little beside it.
    for _ in 0..if earlier == 0 { TURNS } else { 50 } {
        world.thoughts = vec![says("I cannot say.")].into();
        let begun = Instant::now();
        let told = world.say(QUESTION);
        steps.push(begun.elapsed());
        let ask = told.asks.first().expect("it is asked");
        let begun = Instant::now();
        let sent = as_sent(ask);
        wording.push(begun.elapsed());
        bytes = sent.len();
        let begun = Instant::now();
        let parsed: serde_json::Value = serde_json::from_str(&sent).expect("it is JSON");
        parse.push(begun.elapsed());
        assert!(parsed.is_object());
    }
    let past = if earlier == 0 { "a young thread".to_owned() } else { format!("{earlier} turns before") };
    print(&format!("core: both steps of a question, {tools} tools, {past}"), &mut steps);
    print(&format!("  wording it ({bytes} bytes)"), &mut wording);
    print("  limit: parsing that", &mut parse);
}

fn says(text: &str) -> Thought {
    Thought { text: text.to_owned(), ..Thought::default() }
}

/// So many tools beside those of the testkit.
fn registry(tools: usize) -> Registry {
    let kinds = ["queue", "bucket", "volume", "ingress", "ledger", "tenant", "cluster", "mailbox", "runner", "cache"];
    let mut file = "spoke = \"yard\"\n".to_owned();
    for n in 0..tools {
        let kind = kinds[n % kinds.len()];
        let _infallible = write!(
            file,
            "[[tool]]\nname = \"yard_{kind}{n}\"\nabout = \"looks at {kind} {n}\"\n[tool.action.show]\nkind = \"read\"\n\
             about = \"what the {kind} number {n} holds, and since when it does\"\nlimit_ms = 1000\ntarget = \"host\"\n\
             resolve = \"lab_find.host\"\nargs.since = {{ type = \"text\", about = \"from when on, as a time or an age\" }}\n\
             args.lines = {{ type = \"integer\", about = \"how many of them at most\", min = 1, max = 500 }}\n"
        );
    }
    Registry::load([("tools.toml", TOOLS), ("yard.toml", file.as_str())]).expect("the tools are sound")
}

/// One connection to a platform, on which one person speaks.
struct Line {
    said: Mutex<Option<mpsc::Receiver<Signal>>>,
    answered: mpsc::Sender<()>,
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

    fn deliver<'a>(&'a self, _: Parcel<'a>) -> BoxFuture<'a, Delivery> {
        Box::pin(async move {
            self.answered.send(()).await.expect("it listens");
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

/// A model that knows at once: it looks where it is told to, and then has no more to say. What is sent is worded all the same.
struct Instantly;

impl Mind for Instantly {
    fn think(&self, ask: Cleared<Ask>) -> BoxFuture<'_, Result<Thought, Unheard>> {
        let ask = ask.get();
        let sent = as_sent(ask);
        let called = |name: &str| RawCall { name: name.to_owned(), arguments: READS.to_owned() };
        let looks = ask.situation.question.starts_with("look:") && ask.situation.exchanges.is_empty();
        let calls = if looks { vec![called("lab_read__load")] } else { Vec::new() };
        let text = if sent.is_empty() { "Nothing was sent." } else { "I cannot say." };
        Box::pin(async move { Ok(Thought { text: text.to_owned(), calls, ..Thought::default() }) })
    }
}

/// Everybody is known and may everything.
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

fn world() -> World {
    let registry = registry(200);
    let intents = Intents::load([("intents.toml", INTENTS)], &registry).expect("the fixture is sound");
    let rates: countersign::config::Rates = toml::from_str(NO_LIMITS).expect("sound limits");
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
        minds: Minds { fast: None, smart: Some("instant".to_owned()) },
        claims: countersign_core::answer::Claims::default(),
        errors: countersign_core::answer::Errors::default(),
    }
}

/// From saying something to its answer's delivery, many times in one thread.
async fn through_the_engine(words: &str) -> Vec<Duration> {
    let directory = tempfile::tempdir().expect("a folder for the bench");
    let url = sqlite_url(&directory.path().join("bench.db")).expect("a plain path");
    let (say, said) = mpsc::channel(64);
    let (answering, mut answers) = mpsc::channel(64);
    let line = Arc::new(Line { said: Mutex::new(Some(said)), answered: answering });
    let engine = Engine::new(Parts {
        store: Store::open(&url).await.expect("a database"),
        world: world(),
        tools: Arc::new(Lab),
        mind: Some(Arc::new(Instantly)),
        adapters: vec![line as Arc<dyn Adapter>],
        queue_max: 64,
        watch: None,
        tell: Box::new(|_| {}),
    });
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let stop = stop.clone();
        async move { engine.run(stop).await }
    });
    let mut took = Vec::new();
    // The first finds out which machine there is.
    for (n, words) in std::iter::once("load").chain(std::iter::repeat_n(words, TURNS)).enumerate() {
        let asked = Signal { thread: thread_key("main"), ..signal(&format!("e{n}"), "ann", words) };
        let begun = Instant::now();
        say.send(asked).await.expect("it hears");
        answers.recv().await.expect("it answers");
        took.push(begun.elapsed());
    }
    stop.cancel();
    running.await.expect("no panic").expect("it ends well");
    took.split_off(1)
}
