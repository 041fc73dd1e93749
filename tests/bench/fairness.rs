//! How long one quiet person waits for an answer, alone and beside 50 noisy ones: `cargo bench --bench fairness`. The noisy
//! ones say 20 things a second each, far above their limits; then the same with the limits off. It prints medians, 95th
//! percentiles and their ratios, and judges nothing: what is right is tested in `src/engine/tests/fairness.rs`.

use std::time::Duration;

use countersign_core::signal::Signal;
use countersign_core::testkit::{TOOLS, signal, thread_key};
use countersign_core::tool::Registry;
use tokio::sync::mpsc;
use tokio::time::Instant;

#[path = "installation.rs"]
mod installation;

use installation::{Installation, world};

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
    let registry = Registry::load([("tools.toml", TOOLS)]).expect("the fixture is sound");
    let mut bot = Installation::start(world(registry, rates), None, thread_key(QUIET)).await;
    let shouting: Vec<_> = (0..noisy).map(|n| tokio::spawn(make_noise(n, bot.say.clone()))).collect();
    let mut waits = Vec::new();
    let mut pause = tokio::time::interval(PAUSE);
    pause.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for n in 0..questions {
        pause.tick().await;
        let begun = Instant::now();
        bot.ask(asks(QUIET, n)).await;
        waits.push(begun.elapsed());
    }
    shouting.iter().for_each(tokio::task::JoinHandle::abort);
    let answers_to_noise = bot.end().await.saturating_sub(questions);
    waits.sort();
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
