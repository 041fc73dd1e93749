//! Who floods is told once and delays nobody: limits where signals are perceived, turns at work, and turns on the way out.
//! What comes before what is counted; no time is measured.

use super::*;

/// Everybody is known and has no roles.
struct Known;

impl WhoIs for Known {
    fn who(&self, asker: &Asker<'_>) -> Who {
        Who::Person { name: asker.actor.id.to_string(), roles: Vec::new() }
    }
}

/// What nobody reaches here.
const PLENTY: &str = "person.burst = 100000\nroom.burst = 100000\nteam.burst = 100000\nopen_per_person = 100000\n\
    resolve.burst = 100000\nread.burst = 100000\n";

fn limited(rates: &str) -> World {
    let rates: crate::config::Rates = toml::from_str(rates).expect("sound limits");
    World { rates: Rates::new(&rates, Box::new(Known)), ..world() }
}

fn start(rates: &str, sizes: (usize, usize)) -> Bench {
    Bench::start_with(tempfile::tempdir().expect("a folder for the test"), [], limited(rates), sizes)
}

#[tokio::test]
async fn a_flood_is_told_once_and_the_rest_is_not_even_stored() {
    let mut bench = start("person.burst = 2\nperson.per_minute = 1", (8, 1000));
    for _ in 0..3 {
        assert!(matches!(bench.say("main", "ann", "load").await, Admission::Accepted(_)));
    }
    for _ in 0..50 {
        let refused = bench.say("main", "ann", "load").await;
        assert!(matches!(refused, Admission::Limited { wait_ms: 1..=60_000 }), "{refused:?}");
    }
    assert!(matches!(bench.say("main", "bob", "load").await, Admission::Accepted(_)), "nobody else is held to it");
    let load = "The load is 0.5.\n";
    assert_eq!([bench.next().await.0, bench.next().await.0], [load, load]);
    let (told, _) = bench.next().await;
    assert!(told.starts_with("refused: That was too fast: 1 messages a minute for one person. Wait"), "{told}");
    assert!(told.ends_with("(RATE_LIMITED, gate `rate`)\n"), "{told}");
    assert_eq!(bench.next().await.0, load, "bob's");
    let (counts, _directory) = bench.end().await;
    assert_eq!((counts["done"], counts["sent"]), (4, 4), "two answers, one notice, and bob's");
}

#[tokio::test]
async fn what_a_platform_tells_again_uses_up_no_limit_and_is_not_told_to_anybody() {
    let mut bench = start("person.burst = 2\nperson.per_minute = 1", (8, 1000));
    for _ in 0..4 {
        bench.say_as("same", "main", "ann", "load").await;
    }
    assert!(matches!(bench.say("main", "ann", "load").await, Admission::Accepted(_)), "there is room for a second one");
    bench.say("main", "ann", "load").await;
    let load = "The load is 0.5.\n";
    assert_eq!([bench.next().await.0, bench.next().await.0], [load, load]);
    assert!(bench.next().await.0.contains("That was too fast"), "the third is told");
    bench.end().await;
}

#[tokio::test]
async fn what_was_refused_is_not_run_by_the_next_process() {
    let rates = "person.burst = 1\nperson.per_minute = 1";
    let mut bench = start(rates, (8, 1000));
    // The first one hangs, so that the notice waits behind it when the process is killed.
    bench.say("main", "ann", "show file /x").await;
    assert!(matches!(bench.say("main", "ann", "load").await, Admission::Accepted(_)));
    let mut bench = Bench::start_with(bench.killed().await, [], limited(rates), (8, 1000));
    bench.go.notify_one();
    bench.next().await;
    let (told, _) = bench.next().await;
    assert!(told.contains("That was too fast"), "{told}");
    assert!(!told.contains("The load is"), "{told}");
    let (counts, _directory) = bench.end().await;
    assert_eq!((counts["done"], counts["open"]), (2, 0));
}

#[tokio::test]
async fn one_person_has_so_many_questions_open_and_no_more() {
    let mut bench =
        start(&format!("{PLENTY}at_work = 2").replace("open_per_person = 100000", "open_per_person = 3"), (8, 1000));
    for thread in ["a", "b", "c"] {
        assert!(matches!(bench.say(thread, "ann", "show file /x").await, Admission::Accepted(_)));
    }
    bench.say("d", "ann", "load").await;
    assert!(bench.next().await.0.contains("3 open questions for one person"));
    assert_eq!(bench.say("d", "ann", "load").await, Admission::Limited { wait_ms: 0 });
    for _ in 0..3 {
        bench.go.notify_one();
        bench.next().await;
    }
    for _ in 0..4 {
        within(bench.answered.recv()).await.expect("it runs");
    }
    assert!(matches!(bench.say("d", "ann", "load").await, Admission::Accepted(_)), "they are answered");
    assert_eq!(bench.next().await.0, "The load is 0.5.\n");
    bench.end().await;
}

#[tokio::test]
async fn calls_are_counted_and_the_next_one_is_not_made() {
    let mut bench =
        start(&format!("{PLENTY}read.burst = 2\nread.per_minute = 1").replace("read.burst = 100000\n", ""), (8, 1000));
    for _ in 0..2 {
        bench.say("main", "ann", "load").await;
        assert_eq!(bench.next().await.0, "The load is 0.5.\n");
    }
    bench.say("main", "ann", "load").await;
    let (refused, _) = bench.next().await;
    assert!(refused.starts_with("refused: That was too fast: 1 readings a minute for one person; wait"), "{refused}");
    bench.say("main", "ann", "limits").await;
    let (shown, _) = bench.next().await;
    assert!(shown.contains("readings for you | 1 | 2 | 0\n"), "{shown}");
    bench.end().await;
}

/// Every answer up to the quiet one's, and how many there are.
async fn before_the_quiet_one(bench: &mut Bench) -> usize {
    let mut before = 0;
    while !bench.next().await.0.contains("quiet") {
        before += 1;
    }
    before
}

#[tokio::test]
async fn turns_at_work_go_around_the_threads() {
    // 50 noisy people with 8 questions each against one quiet one, and a single place at work.
    const NOISY: usize = 50;
    const EACH: usize = 8;
    let mut bench = start(&format!("{PLENTY}at_work = 1"), (EACH, 1000));
    bench.say("holds the place", "ann", "show file /x").await;
    // Only then is there somebody at work whom the others have to wait for.
    within(bench.hangs.notified()).await;
    for n in 0..NOISY * EACH {
        let noisy = format!("noisy {}", n % NOISY);
        assert!(matches!(bench.say(&noisy, &noisy, "load").await, Admission::Accepted(_)));
    }
    bench.say("quiet", "quiet", "the quiet one asks").await;
    bench.say("decides", "bob", "approve 0123456789abcdef0123456789abcdef").await;
    let (decided, _) = bench.next().await;
    assert!(decided.contains("NOT_FOUND"), "a decision does not wait in line: {decided}");
    bench.go.notify_one();
    let before = before_the_quiet_one(&mut bench).await;
    // The one that held the place and one of each, and what the outbox has on its way beside it.
    assert!(before <= 1 + NOISY + 16, "{before} of {} answers came before the quiet one's", NOISY * EACH);
    let (counts, _directory) = bench.end().await;
    assert_eq!(counts["done"], u64::try_from(NOISY * EACH + 3).expect("a small number"));
}

#[tokio::test]
async fn turns_on_the_way_out_go_around_the_threads() {
    const NOISY: usize = 50;
    const EACH: usize = 8;
    // A slow platform: it takes one message, and the next when the test has looked at that.
    let mut bench = start(PLENTY, (EACH, 1));
    for n in 0..NOISY * EACH {
        let noisy = format!("noisy {}", n % NOISY);
        assert!(matches!(bench.say(&noisy, &noisy, "load").await, Admission::Accepted(_)));
    }
    let url = sqlite_url(&bench.directory.path().join("engine.db")).expect("a plain path");
    let store = Store::open_for_reading(&url, Some(Sealing::unguarded().key)).await.expect("a database");
    let all_answered = async {
        while store.counts().await.expect("it counts").open > 0 {
            tokio::task::yield_now().await;
        }
    };
    within(all_answered).await;
    bench.say("quiet", "quiet", "the quiet one asks").await;
    let all_answered = async {
        while store.counts().await.expect("it counts").open > 0 {
            tokio::task::yield_now().await;
        }
    };
    within(all_answered).await;
    store.close().await;
    let before = before_the_quiet_one(&mut bench).await;
    // What is on its way already, one of each that had no turn, and as many again while they change.
    assert!(before <= NOISY + 2 * 16, "{before} of {} answers came before the quiet one's", NOISY * EACH);
    for _ in before..NOISY * EACH {
        bench.next().await;
    }
    bench.end().await;
}
