//! A platform that breaks is started again, and nobody else notices.

use countersign_core::port::Condition;

use super::stage::{Order, Play, Script, Seen, Stage};
use super::*;
use crate::engine::accept::Entrance;

#[tokio::test]
async fn a_platform_that_breaks_is_started_again_and_the_others_do_not_notice() {
    let directory = tempfile::tempdir().expect("a folder for the test");
    let (other, mut ends) = Stage::new("other", Script::default());
    let mut play = Play::start_in(directory, Script::default(), vec![other]).await;
    assert_eq!(within(ends.seen.recv()).await, Some(Seen::Heard));
    ends.orders.send(Order::Panic).await.expect("it hears");
    let broken = async {
        loop {
            match play.engine.health.statuses(play.engine.clock.mono()).pop() {
                Some(status) => return (status.name, status.state),
                None => tokio::task::yield_now().await,
            }
        }
    };
    let (name, state) = within(broken).await;
    assert!(
        name == "other" && state.contains("it panicked; the log says where; tried again in 1 s"),
        "{name}: {state}"
    );
    play.say("main", "load").await;
    let (_, answer, _) = play.delivered().await;
    assert_eq!(plain(&answer), "The load is 0.5.\n");
    assert_eq!(within(ends.seen.recv()).await, Some(Seen::Heard), "it hears again");
    let line = Signal {
        thread: ThreadKey { platform: Platform::new("other"), ..thread_key("x") },
        ..signal("o1", "ann", "load")
    };
    ends.orders.send(Order::Say(Box::new(line))).await.expect("it hears");
    assert!(matches!(within(ends.seen.recv()).await, Some(Seen::Delivered { .. })));
    let statuses = play.engine.health.statuses(play.engine.clock.mono());
    assert_eq!(statuses, [], "who says nothing of itself is not listed");
    let (ran, _directory) = play.stopped().await;
    assert!(ran.ends.iter().all(|(_, ended)| *ended == Ended::Stopped), "{:?}", ran.ends);
}

#[tokio::test]
async fn a_platform_that_has_to_be_mended_says_so_at_once_and_is_left() {
    let directory = tempfile::tempdir().expect("a folder for the test");
    let (other, mut ends) = Stage::new("other", Script::default());
    let mut play = Play::start_in(directory, Script::default(), vec![other]).await;
    let refused = Ended::Refused("its token is wrong; make a new one".to_owned());
    ends.orders.send(Order::End(refused.clone())).await.expect("it hears");
    let told = within(play.told.recv()).await.expect("it is told");
    assert_eq!(told, "other is off until the next start: its token is wrong; make a new one");
    play.say("main", "load").await;
    assert_eq!(plain(&play.delivered().await.1), "The load is 0.5.\n");
    let ran = play.ended().await;
    let mut ended = ran.ends;
    ended.sort_by_key(|(platform, _)| platform.clone());
    assert_eq!(ended, [(Platform::new("other"), refused), (Platform::new("test"), Ended::InputOver)]);
    assert_eq!(within(ends.seen.recv()).await, Some(Seen::Heard));
    assert_eq!(within(ends.seen.recv()).await, None, "it was not started again");
}

#[tokio::test]
async fn what_a_platform_reports_is_what_status_shows() {
    let mut play = Play::start(Script::default()).await;
    let again_in_ms = 8_000;
    play.order(Order::Report(Condition::Trouble { what: "the line is down".to_owned(), again_in_ms })).await;
    play.say("main", "status").await;
    let (_, status, _) = play.delivered().await;
    let status = plain(&status);
    assert!(status.contains("test: not reached for 0 s: the line is down; tried again in 8 s"), "{status}");
    play.order(Order::Report(Condition::Hearing)).await;
    play.say("main", "status").await;
    let (_, status, _) = play.delivered().await;
    assert!(plain(&status).contains("test: heard 0 s ago"), "{}", plain(&status));
    play.stopped().await;
}

#[tokio::test]
async fn the_pause_doubles_up_to_a_minute_and_starts_anew_after_a_sound_while() {
    let directory = tempfile::tempdir().expect("a folder for the test");
    let url = sqlite_url(&directory.path().join("engine.db")).expect("a plain path");
    let engine = at_rest(Store::open(&url, &Sealing::unguarded()).await.expect("a database"));
    engine.store.close().await;
    // From here on nothing but the pauses takes time.
    tokio::time::pause();
    let (stage, mut ends) = Stage::new("test", Script::default());
    let stop = CancellationToken::new();
    let hearing = tokio::spawn(Arc::clone(&engine).hear(stage, stop.clone()));
    let mut pauses = Vec::new();
    ends.seen.recv().await.expect("it hears");
    for n in 0..10 {
        if n == 8 {
            tokio::time::advance(Duration::from_mins(5)).await;
        }
        let broken = tokio::time::Instant::now();
        ends.orders.send(Order::End(Ended::Failed("the line broke".to_owned()))).await.expect("it hears");
        ends.seen.recv().await.expect("it hears again");
        pauses.push(broken.elapsed().as_secs());
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 1, 2]);
    stop.cancel();
    assert_eq!(hearing.await.expect("no panic").1, Ended::Stopped);
}

#[tokio::test]
async fn an_adapter_speaks_for_its_own_platform_only() {
    let play = Play::start(Script::default()).await;
    let entrance = Entrance { engine: Arc::clone(&play.engine), platform: Platform::new("other") };
    let refused = entrance.accept(signal("e1", "ann", "load")).await.expect_err("it is another platform's");
    assert_eq!(refused, "the adapter of other speaks for test");
    assert_eq!(play.engine.store.counts().await.expect("it counts").open, 0, "nothing is stored");
    play.stopped().await;
}
