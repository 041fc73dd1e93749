//! The homeserver is gone for a while, in the middle of what people say: it is stopped as by a power cut and started again on
//! the same data. What was accepted before is answered after it, once; a plan that waited before goes on waiting, and what
//! people did where the bot could not hear it, it hears from where it was.

use std::time::Duration;

use countersign_synapse::{Fault, Synapse};
use tokio::time::Instant;

use super::{BACK, HEARING, OUTAGE_S, TROUBLE};
use crate::faults::stored::unfinished;
use crate::faults::{config, desk, until};
use crate::kill::setting;
use crate::support::chat::{Chat, Shown};
use crate::support::matrix::Team;
use crate::support::stage::{ANN, BOB, Script, Stage};

/// Its rooms are encrypted, as they are in a team's life.
type Matrix = Stage<Team<true>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_homeserver_that_was_gone_loses_no_plan_no_answer_and_no_approval() {
    let outage = Duration::from_secs(setting("OUTAGE_SECONDS", OUTAGE_S));
    let desk = desk();
    let config = config(desk.path());
    let team = Team::<true>::on(Synapse::start(), "ops");
    let mut stage =
        Matrix::among(team, Script { config: &config, log: "info,countersign=debug", ..Script::default() }).await;
    let (fake, file) = (stage.fake.clone(), desk.path().join("served.txt"));
    let card = stage.card(ANN, stage.ops, &format!("append to {}: one line", file.display())).await;

    // The bot cannot reach its homeserver; people can, for a moment.
    fake.gate().fault(Fault::broken(502).times(u32::MAX));
    let approved = fake.press_button(BOB, stage.ops, card.message, "Approve");
    let meanwhile = stage.say(ANN, stage.ops, "ping meanwhile");
    let heard_before = stage.logged().len();
    fake.synapse().stop();
    let begun = Instant::now();
    let noticed = || stage.logged()[heard_before..].contains(TROUBLE);
    let missing = async || stage.logged()[heard_before..].to_owned();
    until(outage + BACK, missing, async || (begun.elapsed() >= outage && noticed()).then_some(())).await;
    assert!(!file.exists(), "nobody could have told the bot to do it");

    let heard_before = stage.logged().len();
    fake.gate().clear_faults();
    fake.synapse().start_again();
    let back = Instant::now();
    stage.said(stage.ops, "Done and verified: append to").await;
    let took = back.elapsed();
    stage.answer(stage.ops, meanwhile, "pong meanwhile").await;
    assert!(stage.logged()[heard_before..].contains(HEARING), "it says that it hears again");
    assert!(!approved.is_empty(), "it is an event");
    let database = stage.database();
    let missing = async || format!("{:#?}", unfinished(&database).await);
    until(BACK, missing, async || unfinished(&database).await.is_empty().then_some(())).await;

    assert_eq!(std::fs::read_to_string(&file).expect("it was made"), "one line\n");
    assert_eq!(stage.state(&card).await, "verified");
    for row in ["approved", "executing", "verified"] {
        let about = |it: &serde_json::Value| it["what"] == row && it["plan"] == card.plan.as_str();
        assert_eq!(stage.recorded(about).await.len(), 1, "{row}");
    }
    assert_eq!(pongs(&stage.shown(stage.ops)), ["meanwhile"], "once, and not said to be a repeat");
    println!(
        "gone for {:.0} s; {:.1} s after its start the plan was done and verified",
        outage.as_secs_f32(),
        took.as_secs_f32()
    );
    stage.end().await;
}

/// What the canned answers among these repeat.
fn pongs(shown: &[Shown]) -> Vec<&str> {
    // A late one says before that when it was written.
    shown.iter().filter_map(|message| Some(message.text.split_once("pong ")?.1)).collect()
}
