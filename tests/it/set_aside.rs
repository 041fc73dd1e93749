//! A message that ended the process twice, with the real binary: it is not begun a third time, its thread is told, and
//! whoever runs the bot finds it. That it ends the process is played by a kill while it is worked on; the other messages of
//! that moment are answered.

use std::time::Duration;

use tokio::time::timeout;

use crate::support::bot::finish;
use crate::support::database;
use crate::support::metrics::{free_address, scrape};
use crate::support::telegram::{ANN, Script, Stage, TOM};

/// How long something may take that nothing announces.
const LIMIT: Duration = Duration::from_mins(1);

/// A request that is worked on until a process ends, or a minute is over.
fn wait_for(process: u32) -> String {
    format!("wait 60 seconds until process {process} is gone")
}

/// Waits until the inbox stands in one of these ways: each message that is not answered, as its state and how often it was
/// interrupted. Returns which one it is.
async fn inbox_is_one_of(stage: &Stage, wanted: &[&[&str]]) -> usize {
    let sql = "SELECT state || ' ' || interruptions FROM inbox WHERE state <> 'done' ORDER BY received_at";
    let seen = async {
        loop {
            let rows = database::rows(&stage.database(), sql).await.concat();
            if let Some(found) = wanted.iter().position(|wanted| rows == *wanted) {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, seen).await.unwrap_or_else(|_| panic!("the inbox is not {wanted:?}: {}", stage.logged()))
}

async fn inbox_is(stage: &Stage, wanted: &[&str]) {
    inbox_is_one_of(stage, &[wanted]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_ended_the_process_twice_is_told_and_not_begun_again() {
    let metrics = free_address();
    let config = format!("[metrics]\nlisten = \"{metrics}\"\n");
    let mut stage = Stage::with(Script { config: &config, ..Script::default() }).await;
    let (first, second) = (stage.home.process("first", &[]), stage.home.process("second", &[]));
    let (ann, tom) = (stage.fake.private(ANN), stage.fake.private(TOM));
    stage.say(ANN, ann, &wait_for(first.pid()));
    inbox_is(&stage, &["begun 0"]).await;
    stage.say(TOM, tom, &wait_for(second.pid()));
    inbox_is(&stage, &["begun 0", "begun 0"]).await;
    let queued = stage.say(ANN, ann, "load");
    inbox_is(&stage, &["begun 0", "begun 0", "accepted 0"]).await;
    stage.restart().await;
    // What was interrupted is begun alone; whose turn is first is not said.
    let first_ways: [&[&str]; 2] = [&["begun 1", "accepted 1", "accepted 0"], &["accepted 1", "begun 1", "accepted 0"]];
    let is_anns = inbox_is_one_of(&stage, &first_ways).await == 0;
    stage.restart().await;
    let (blamed, by, other) = if is_anns { (ann, ANN, tom) } else { (tom, TOM, ann) };
    let notice = stage.said(blamed, "I set aside a message from ").await;
    assert!(notice.text.contains("Ask again in other words or in smaller parts"), "{}", notice.text);
    assert!(!notice.text.contains("process"), "what may have done it is not said again: {}", notice.text);
    let (ends, stays) = if is_anns { (second, first) } else { (first, second) };
    drop(ends);
    stage.said(other, "is gone").await;
    stage.answer(ann, queued, "of its CPU").await;
    let status = stage.ask(ANN, ann, "status", "messages set aside").await;
    assert!(status.text.contains("1 in the last 7 days"), "{}", status.text);
    let counted = scrape(&metrics);
    assert!(counted.contains("countersign_signals_set_aside_total{platform=\"telegram\"} 1"), "{counted}");
    let logged = stage.logged();
    let line = logged.lines().find(|line| line.contains("a message is set aside")).unwrap_or_default();
    assert!(line.contains("ERROR") && line.contains(&format!("by={by}")), "{line:?} in {logged}");
    let doctor = finish(stage.home.bot().arg("doctor"), b"");
    assert!(doctor.out.contains("✗ inbox: messages set aside in the last 7 days: 1"), "{doctor:?}");
    let parked = finish(stage.home.bot().args(["inbox", "parked"]), b"");
    let said = format!("  telegram:{by} in {}: wait 60 seconds until process ", blamed.0);
    assert!(parked.out.contains(&said), "{parked:?}");
    assert!(parked.out.ends_with("\n  The bot ended 2 times while it worked on this.\n"), "{parked:?}");
    let json = finish(stage.home.bot().args(["inbox", "parked", "--json"]), b"");
    let object: serde_json::Value = serde_json::from_str(&json.out).expect("one object");
    assert_eq!((&object["interruptions"], object["actor"].as_str()), (&2.into(), Some(by.to_string().as_str())));
    drop(stays);
    stage.end().await;
}
