//! No single message of any kind ends the process or holds another thread up: the real binary, with little memory, is fed
//! mutated updates of Telegram from a fresh seed, while somebody else asks a question over and over in a room of their own.
//! The host's tool server is played, so that no mutated command can touch the machine. `MUTATED_MESSAGES` says how many
//! updates (a few thousand where nothing is set), `MUTATED_SEED` which.

mod chance;
mod seeds;
mod updates;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_telegram_fake::{ChatId, Fake};
use tokio::time::{Instant, sleep, timeout};

use crate::kill::setting;
use crate::support::bot::lives;
use crate::support::database;
use crate::support::metrics::{free_address, scrape};
use crate::support::telegram::{Script, Stage, TOM};
use chance::Chance;
use seeds::Seeds;
use updates::{PEOPLE, Updates};

/// How many updates, where nothing else is set.
const MESSAGES: u64 = 3_000;

/// How many of them are handed out before the bot has taken the ones before.
const BATCH: u64 = 50;

/// In how many groups people write; each message that answers none is a thread of its own there.
const GROUPS: usize = 8;

/// How much memory the bot may write to.
const MEMORY_KIB: u32 = 512 * 1024;

/// How long one answer may take that somebody else waits for. The bound of the project is a second; a busy machine and a
/// build without optimization get more.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// How long after an answer the next question is asked.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// How long the bot may take until everything that it took is answered, after the last update.
const REST_MAX: Duration = Duration::from_mins(5);

/// What was asked beside the flood.
#[derive(Default)]
struct Asked {
    answers: Vec<Duration>,
}

impl Asked {
    fn worst(&self) -> Duration {
        self.answers.iter().copied().max().unwrap_or_default()
    }

    fn median(&self) -> Duration {
        let mut sorted = self.answers.clone();
        sorted.sort();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

fn config(metrics: &str) -> String {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/host/server.py");
    let server = server.display().to_string();
    format!(
        "[limits]\nqueue = 1000\n[metrics]\nlisten = \"{metrics}\"\n\
         [spokes.host]\ncommand = \"python3\"\nargs = [{server:?}]\n"
    )
}

/// A line of `/proc/PID/status`, in KiB.
fn memory(pid: i32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

/// How many steps took longer than so many seconds, for each bound up to the last that any took longer than.
fn slow_steps(metrics: &str) -> String {
    let counted = scrape(metrics);
    let bucket = |line: &str| -> Option<(String, u64)> {
        let (bound, count) = line.strip_prefix("countersign_step_seconds_bucket{le=\"")?.split_once("\"} ")?;
        Some((bound.to_owned(), count.trim().parse().ok()?))
    };
    let buckets: Vec<(String, u64)> = counted.lines().filter_map(bucket).collect();
    let all = buckets.iter().map(|(_, count)| *count).max().unwrap_or_default();
    let over = buckets.iter().map(|(bound, count)| (bound, all - count)).filter(|(_, over)| *over > 0);
    let over: Vec<String> = over.map(|(bound, over)| format!("{over} over {bound} s")).collect();
    format!("{all} steps, {}", over.join(", "))
}

/// Asks until it is told to stop. Each answer has the number of its question in it.
async fn ask_meanwhile(stage: &Stage, room: ChatId, is_over: &AtomicBool) -> Asked {
    let mut asked = Asked::default();
    while !is_over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        stage.ask(TOM, room, "load", "of its CPU").await;
        asked.answers.push(begun.elapsed());
        sleep(ASK_EVERY).await;
    }
    asked
}

/// The longest waits of that room, as the bot stored them: from hearing to the answer, and from the answer until it was sent.
async fn slowest(stage: &Stage, room: ChatId) -> String {
    let sql = format!(
        "SELECT i.ended_at - i.received_at, o.settled_at - o.created_at FROM outbox AS o JOIN inbox AS i ON i.id = o.signal \
         JOIN threads AS t ON t.id = i.thread WHERE t.conversation = '{}' AND o.state = 'sent' \
         ORDER BY o.settled_at - i.received_at DESC LIMIT 8",
        room.0
    );
    let rows = database::rows(&stage.database(), &sql).await.into_iter();
    rows.map(|row| format!("{} ms and {} ms", row[0], row[1])).collect::<Vec<_>>().join("; ")
}

/// Waits until a process has ended.
async fn has_ended(pid: i32) {
    let pid = u32::try_from(pid).expect("it is positive");
    while lives(pid) {
        sleep(ASK_EVERY).await;
    }
}

/// The signals that a bot that has ended was at work on: one of them did it.
async fn at_work(stage: &Stage) -> String {
    let sql = "SELECT length(body) || ' ' || substr(body, 1, 2000) FROM inbox WHERE state = 'begun'";
    database::rows(&stage.database(), sql).await.concat().join("\n")
}

/// Hands out so many updates, and waits until the bot has taken all of them.
async fn feed(fake: Fake, count: u64, mut chance: Chance) {
    let (seeds, bot) = (Seeds::new(), fake.bot_username().to_owned());
    let groups: Vec<i64> = (0..GROUPS).map(|n| fake.group(&format!("group {n}")).0).collect();
    for who in PEOPLE {
        fake.private(who);
    }
    let mut updates = Updates::new(&seeds, &bot, &groups);
    let mut left = count;
    while left > 0 {
        for _ in 0..left.min(BATCH) {
            fake.hand_out(updates.next(&mut chance));
        }
        left = left.saturating_sub(BATCH);
        fake.wait_until_read().await;
        updates.buttons = buttons(&fake, groups[chance.index(groups.len())]);
    }
}

/// The buttons that stand in a room.
fn buttons(fake: &Fake, room: i64) -> Vec<(i64, i64, String)> {
    let messages = fake.messages(ChatId(room), None).into_iter();
    let buttons = messages.flat_map(|message| {
        let of = message.id;
        message.keyboard.concat().into_iter().filter_map(move |button| Some((room, of, button.data?)))
    });
    buttons.collect()
}

/// How many rows of this there are.
async fn count_of(stage: &Stage, what: &str) -> u64 {
    let rows = database::rows(&stage.database(), &format!("SELECT COUNT(*) FROM {what}")).await;
    rows.concat().concat().parse().expect("it is a number")
}

/// Waits until nothing that was accepted is unanswered.
async fn everything_is_answered(stage: &Stage) {
    let sql = "SELECT id FROM inbox WHERE state <> 'done'";
    let answered = async {
        while !database::rows(&stage.database(), sql).await.is_empty() {
            sleep(ASK_EVERY).await;
        }
    };
    timeout(REST_MAX, answered).await.unwrap_or_else(|_| panic!("something is not answered: {}", stage.logged()));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_message_ends_the_process_or_holds_another_thread_up() {
    let count = setting("MUTATED_MESSAGES", MESSAGES);
    let seed = setting("MUTATED_SEED", u64::from(std::process::id()));
    println!("MUTATED_SEED={seed}");
    let metrics = free_address();
    let config = config(&metrics);
    let script = Script { config: &config, log: "warn", memory_kib: Some(MEMORY_KIB), ..Script::default() };
    let mut stage = Stage::with(script).await;
    let (pid, room) = (stage.pid(), stage.fake.private(TOM));
    stage.ask(TOM, room, "load", "of its CPU").await;
    let idle = memory(pid, "VmRSS");
    let (begun, is_over) = (Instant::now(), AtomicBool::new(false));
    // In a task of its own: making updates takes time, in which nothing else of the same task goes on.
    let fed = tokio::spawn(feed(stage.fake.clone(), count, Chance::new(seed)));
    let flood = async {
        fed.await.expect("every update is taken");
        everything_is_answered(&stage).await;
        is_over.store(true, Ordering::Relaxed);
    };
    let asked = tokio::select! {
        ((), asked) = async { tokio::join!(flood, ask_meanwhile(&stage, room, &is_over)) } => asked,
        () = has_ended(pid) => panic!("the process has ended; it was at work on {}", at_work(&stage).await),
    };
    let took = begun.elapsed();
    println!("longest: {}", slowest(&stage, room).await);
    let (peak, data) = (memory(pid, "VmHWM"), memory(pid, "VmData"));
    let (accepted, plans) = (count_of(&stage, "inbox").await, count_of(&stage, "plans").await);
    println!(
        "{count} updates in {:.1} s, {accepted} messages accepted and answered, {plans} plans; {} questions of another thread, each answered: {:.3} s at the median, {:.3} s at \
         worst; {}; memory {} MiB when idle, {} MiB at its peak, {} MiB of data of {} MiB allowed",
        took.as_secs_f32(),
        asked.answers.len(),
        asked.median().as_secs_f32(),
        asked.worst().as_secs_f32(),
        slow_steps(&metrics),
        idle / 1024,
        peak / 1024,
        data / 1024,
        MEMORY_KIB / 1024,
    );
    let logged = stage.logged();
    for trouble in ["panicked", "a platform broke", "set aside", "could not be stored", "cannot be stored"] {
        let line = logged.lines().find(|line| line.contains(trouble));
        assert_eq!(line, None, "the log tells of trouble");
    }
    assert!(accepted > count / 4, "most of it was passed over, so that nothing was tried");
    assert!(asked.worst() < ANSWER_MAX, "somebody waited for {:?}", asked.worst());
    stage.end().await;
}
