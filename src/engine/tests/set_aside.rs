//! A message during whose work the process ended is begun once more, and after the second time set aside.

use countersign_core::signal::Wall;

use super::stage::{Play, Script};
use super::*;

/// What is said in the place of an answer.
const NOTICE: &str = "failed: I set aside a message (";

async fn store_in(directory: &tempfile::TempDir) -> Store {
    let url = sqlite_url(&directory.path().join("engine.db")).expect("a plain path");
    Store::open(&url, &Sealing::unguarded()).await.expect("a database")
}

/// The next answers of a bench, sorted, because threads do not wait for each other.
async fn answers(bench: &mut Bench, count: usize) -> Vec<String> {
    let mut answers = Vec::new();
    for _ in 0..count {
        answers.push(bench.next().await.0);
    }
    answers.sort();
    answers
}

#[tokio::test]
async fn a_message_that_ended_the_process_twice_is_set_aside_alone() {
    let mut bench = Bench::start([]);
    bench.say("main", "ann", "show file /poison").await;
    within(bench.hangs.notified()).await;
    bench.say("other", "bob", "show file /innocent").await;
    within(bench.hangs.notified()).await;
    // It waits for its thread, so that it cannot be what ends the process.
    bench.say("main", "ann", "load").await;
    let bench = Bench::start_in(bench.killed().await, []);
    within(bench.hangs.notified()).await;
    let directory = bench.killed().await;
    let store = store_in(&directory).await;
    let left = store.unfinished().await.expect("it is readable").sound;
    let left: Vec<_> =
        left.iter().map(|left| (left.signal.event.as_str(), left.interruptions, left.attempts)).collect();
    let (begun, waited): (Vec<_>, Vec<_>) = left.iter().partition(|(_, _, attempts)| *attempts == 1);
    assert!(matches!(begun[..], [("e1" | "e2", 1, 1)]), "one waits until the other has ended: {left:?}");
    assert!(matches!(waited[..], [("e1" | "e2", 1, 0), ("e3", 0, 0)]), "{left:?}");
    // Which of the two threads goes first is not said; what was at work is what is blamed.
    let (blamed, other) = if begun[0].0 == "e1" { ("poison", "innocent") } else { ("innocent", "poison") };
    store.close().await;
    let mut bench = Bench::start_in(directory, []);
    within(bench.hangs.notified()).await;
    bench.go.notify_one();
    let said = answers(&mut bench, 3).await;
    assert!(said[0].starts_with("You asked “load” before I was restarted."), "{said:?}");
    assert!(said[1].starts_with(&format!("You asked “show file /{other}” before I was restarted.")), "{said:?}");
    assert!(said[2].starts_with(NOTICE) && !said[2].contains(blamed), "{said:?}");
    let (counts, directory) = bench.end().await;
    assert_eq!((counts["done"], counts["open"], counts["failed"]), (3, 0, 0));
    let store = store_in(&directory).await;
    assert_eq!(store.set_aside_since(Wall(0)).await.expect("it is readable").len(), 1);
    store.close().await;
}

/// Else whoever restarts the bot often would find their long requests set aside.
#[tokio::test]
async fn a_bot_that_is_asked_to_stop_counts_nothing() {
    let mut play = Play::start(Script::default()).await;
    let asked = play.say("main", "show file /x").await;
    for _ in 0..3 {
        let (_, directory) = play.stopped().await;
        let store = store_in(&directory).await;
        let left = store.unfinished().await.expect("it is readable").sound;
        assert_eq!((left.len(), left[0].interruptions, left[0].is_set_aside), (1, 0, false));
        store.close().await;
        play = Play::start_in(directory, Script::default(), Vec::new()).await;
    }
    play.go.notify_one();
    assert!(plain(&play.delivered().await.1).starts_with("You asked “show file /x” before I was restarted."));
    play.answered(&asked).await;
    play.stopped().await;
}

#[tokio::test]
async fn a_notice_that_panics_leaves_the_thread_and_the_message_to_the_next_start() {
    let mut bench = Bench::start([]);
    // Their right to talk is looked at first, and breaks the core; so does their name.
    bench.say("main", "breaker twice", "load").await;
    bench.say("main", "ann", "load").await;
    assert_eq!(bench.next().await.0, "The load is 0.5.\n", "the thread goes on");
    let (counts, _directory) = bench.end().await;
    assert_eq!((counts["done"], counts["open"]), (1, 1));
}

#[tokio::test]
async fn an_event_whose_id_no_database_takes_is_passed_over() {
    let mut bench = Bench::start([]);
    for event in ["x".repeat(600), "a\0b".to_owned()] {
        assert_eq!(bench.say_as(&event, "main", "ann", "load").await, Admission::Unknown);
    }
    assert_eq!(bench.say_as("e", "main", &"a".repeat(600), "load").await, Admission::Unknown);
    assert_eq!(bench.say_as("e", &"m".repeat(600), "ann", "load").await, Admission::Unknown);
    let (counts, _directory) = bench.end().await;
    assert_eq!((counts["done"], counts["open"]), (0, 0));
}

#[tokio::test]
async fn a_message_that_is_too_long_is_told_so_and_not_kept() {
    let mut bench = Bench::start([]);
    let long = "load ".repeat(20_000);
    bench.say("main", "ann", &long).await;
    let said = bench.next().await.0;
    assert!(said.starts_with("refused: That was too long: I read at most 64 KB of text in one message."), "{said}");
    let name = "a name of one's own choice ".repeat(20_000);
    let mut named = signal("named", "ann", "load");
    named.actor.display = name;
    bench.hear(named).await;
    assert_eq!(bench.next().await.0, "The load is 0.5.\n");
    let (_, directory) = bench.end().await;
    let size = std::fs::metadata(directory.path().join("engine.db")).expect("it is there").len();
    assert!(size < 500_000, "{size} bytes for two short answers");
}
