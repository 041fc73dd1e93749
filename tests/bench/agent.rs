//! What a turn of a model costs beside the model: `cargo bench --bench agent --features model`. The model here answers at
//! once, 200 tools are declared, and nothing of it is left out: the core, what is sent, the engine, the store. Beside it stand a
//! question that a rule answers and a parse of what is sent, in the same run. It prints a table and judges nothing: what is
//! counted, as bytes and calls, is tested in `src/model/prompt_size_tests.rs`.

use std::sync::Arc;
use std::time::Duration;

use countersign::engine::World;
use countersign::model::as_sent;
use countersign_core::gate::Cleared;
use countersign_core::mind::{Ask, Minds, RawCall, Thought, Unheard};
use countersign_core::port::{BoxFuture, Mind};
use countersign_core::signal::Signal;
use countersign_core::testkit::{self, TOOLS, signal, thread_key};
use countersign_core::tool::Registry;
use tokio::time::Instant;

#[path = "installation.rs"]
mod installation;

use installation::Installation;

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
    let yard = testkit::yard(tools);
    Registry::load([("tools.toml", TOOLS), ("yard.toml", yard.as_str())]).expect("the tools are sound")
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

/// From saying something to its answer's delivery, many times in one thread.
async fn through_the_engine(words: &str) -> Vec<Duration> {
    let minds = Minds { fast: None, smart: Some("instant".to_owned()) };
    let world = World { minds, ..installation::world(registry(200), NO_LIMITS) };
    let mut bot = Installation::start(world, Some(Arc::new(Instantly)), thread_key("main")).await;
    let mut took = Vec::new();
    // The first finds out which machine there is.
    for (n, words) in std::iter::once("load").chain(std::iter::repeat_n(words, TURNS)).enumerate() {
        let asked = Signal { thread: thread_key("main"), ..signal(&format!("e{n}"), "ann", words) };
        let begun = Instant::now();
        bot.ask(asked).await;
        took.push(begun.elapsed());
    }
    bot.end().await;
    took.split_off(1)
}
