//! A thread that is told to stop while it works: heard at once, whatever waits, and what nobody waits for has no place.

use super::*;

const STOPPING: &str = "I stop working on “show file /x”.\n";
const STOPPED: &str = "Stopped: test:ann (“ann” by their own account) asked for that. Nothing was changed. Read so far:\n\
     - lab_find.host at 1970-01-01 00:00:00 UTC\n";

#[tokio::test]
async fn it_is_heard_where_the_queue_is_full_and_the_rest_goes_on() {
    let mut bench = Bench::start([]);
    bench.say("main", "ann", "show file /x").await;
    within(bench.hangs.notified()).await;
    let mut taken = 0;
    while matches!(bench.say("main", "ann", "load").await, Admission::Accepted(_)) {
        taken += 1;
    }
    assert!(matches!(bench.say("main", "ann", "stop").await, Admission::Accepted(_)));
    let mut said = [bench.next().await.0, bench.next().await.0];
    said.sort();
    assert_eq!(said, [STOPPING, STOPPED]);
    for _ in 0..taken {
        assert_eq!(bench.next().await.0, "The load is 0.5.\n");
    }
    let (counts, _directory) = bench.end().await;
    assert_eq!((counts["done"], counts["open"], counts["failed"]), (taken + 2, 0, 0));
}

/// A thread has four places for its calls.
#[tokio::test]
async fn readings_that_nobody_waits_for_hold_no_places() {
    let mut bench = Bench::start([]);
    for _ in 0..6 {
        bench.say("main", "ann", "show file /x").await;
        within(bench.hangs.notified()).await;
        bench.say("main", "ann", "stop").await;
        let mut said = [bench.next().await.0, bench.next().await.0];
        said.sort();
        assert!(said[0].starts_with("I stop") && said[1].starts_with("Stopped: test:ann"), "{said:?}");
    }
    bench.say("main", "ann", "load").await;
    assert_eq!(bench.next().await.0, "The load is 0.5.\n");
    bench.end().await;
}

#[tokio::test]
async fn what_was_to_be_stopped_when_the_process_ended_is_stopped_by_the_next() {
    let directory = tempfile::tempdir().expect("a folder for the test");
    let url = sqlite_url(&directory.path().join("engine.db")).expect("a plain path");
    let store = Store::open(&url, &Sealing::unguarded()).await.expect("a database");
    assert!(store.accept(&signal("s1", "ann", "show file /x")).await.expect("it takes it"));
    assert!(store.accept(&signal("s2", "ann", "stop")).await.expect("it takes it"));
    store.close().await;
    let mut bench = Bench::start_in(directory, []);
    let mut said = [bench.next().await.0, bench.next().await.0];
    said.sort();
    assert!(said[0].starts_with("I stop working on “show file /x”"), "{said:?}");
    assert!(said[1].starts_with("You asked “show file /x” before I was restarted.\nStopped: test:ann"), "{said:?}");
    let (counts, _directory) = bench.end().await;
    assert_eq!((counts["done"], counts["open"]), (2, 0));
}
