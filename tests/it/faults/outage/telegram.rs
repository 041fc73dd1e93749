//! Telegram is gone for a while: nobody listens, and every connection is cut. What people do meanwhile waits at Telegram, what
//! the bot owes waits in its outbox, and a plan that waited before goes on waiting.

use std::time::Duration;

use countersign_telegram_fake::{Fault, Outcome, Say};
use tokio::time::Instant;

use super::{BACK, HEARING, OUTAGE_S, TROUBLE};
use crate::faults::stored::unfinished;
use crate::faults::{config, desk, until};
use crate::kill::setting;
use crate::support::chat::Chat;
use crate::support::database::{change, rows};
use crate::support::telegram::{ANN, BOB, Script, Stage};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_loses_no_approval_no_message_and_no_answer() {
    let outage = Duration::from_secs(setting("OUTAGE_SECONDS", OUTAGE_S));
    let desk = desk();
    let config = config(desk.path());
    let mut stage = Stage::with(Script { config: &config, log: "info,countersign=debug", ..Script::default() }).await;
    stage.fake.set_patience(BACK + Duration::from_secs(30));
    let (fake, file) = (stage.fake.clone(), desk.path().join("served.txt"));
    let private = fake.private(ANN);
    let card = stage.card(ANN, stage.ops, &format!("append to {}: one line", file.display())).await;

    // An answer that is due: Telegram asks to wait with it, and is then gone.
    fake.fault(Fault::too_many(2).on("sendMessage").in_chat(private));
    stage.say(ANN, private, "ping before");
    fake.wait_for_call(|call| matches!(call.outcome, Outcome::Refused { code: 429, .. })).await;
    fake.stop_listening().await;
    let begun = Instant::now();
    let heard_before = stage.logged().len();
    let pressed = fake.press(BOB, stage.ops, card.message, "Approve");
    stage.say(ANN, private, "ping meanwhile");
    let root = stage.say(ANN, stage.ops, "ping root");
    let reply = fake.say(Say::new(BOB, stage.ops, &fake.to_the_bot(stage.ops, "ping reply")).reply_to(root));
    // Telegram waits some seconds for the answer to a press, and then no more.
    fake.expire(&pressed);
    let noticed = || stage.logged()[heard_before..].contains(TROUBLE);
    let missing = async || stage.logged()[heard_before..].to_owned();
    until(outage + BACK, missing, async || (begun.elapsed() >= outage && noticed()).then_some(())).await;
    assert!(!file.exists(), "nobody could have told the bot to do it");

    let heard_before = stage.logged().len();
    fake.listen_again().await;
    let back = Instant::now();
    stage.said(stage.ops, "Done and verified: append to").await;
    let took = back.elapsed();
    stage.said(private, "before").await;
    stage.said(private, "meanwhile").await;
    let database = stage.database();
    let missing = async || format!("{:#?}", unfinished(&database).await);
    until(BACK, missing, async || unfinished(&database).await.is_empty().then_some(())).await;
    assert!(stage.logged()[heard_before..].contains(HEARING), "it says that it hears again");
    // They came in one batch, and are one conversation all the same.
    let events = [root, reply].map(|message| format!("'{}:{message}'", stage.ops.0)).join(", ");
    let threads = rows(&database, &format!("SELECT DISTINCT thread FROM inbox WHERE event IN ({events})")).await;
    assert_eq!(threads.len(), 1, "{threads:?}");

    assert_eq!(std::fs::read_to_string(&file).expect("it was made"), "one line\n");
    assert_eq!(stage.state(&card).await, "verified");
    for row in ["approved", "executing", "verified"] {
        let about = |it: &serde_json::Value| it["what"] == row && it["plan"] == card.plan.as_str();
        assert_eq!(stage.recorded(about).await.len(), 1, "{row}");
    }
    // Each once and in order, and what never left is not said to be a repeat.
    let answers = fake.messages(private, None).into_iter().filter(|message| message.from_bot && !message.deleted);
    let answers: Vec<String> = answers.map(|message| message.text).collect();
    let [before, meanwhile] = answers.as_slice() else { panic!("{answers:?}") };
    assert!(before.contains("before") && meanwhile.contains("meanwhile"), "{answers:?}");
    assert!(!answers.concat().contains("repeat"), "{answers:?}");
    println!(
        "gone for {:.0} s; {:.1} s after its end the plan was done and verified",
        outage.as_secs_f32(),
        took.as_secs_f32()
    );
    stage.end().await;
}

/// A proxy before Telegram answers with pages of its own, for longer than five attempts take.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_that_answers_for_telegram_loses_no_card_and_no_answer() {
    let desk = desk();
    let config = config(desk.path());
    let mut stage = Stage::with(Script { config: &config, ..Script::default() }).await;
    let (fake, file) = (stage.fake.clone(), desk.path().join("served.txt"));
    let private = fake.private(ANN);
    fake.fault(Fault::gateway(502).on("sendMessage").always());
    stage.say(ANN, private, "ping before");
    let asked = stage.say(ANN, stage.ops, &format!("append to {}: one line", file.display()));
    let attempts = |chat| {
        let is_attempt =
            |call: &&countersign_telegram_fake::Call| call.method == "sendMessage" && call.chat == Some(chat);
        fake.log().iter().filter(is_attempt).count()
    };
    let missing = async || format!("{} and {}", attempts(private), attempts(stage.ops));
    until(BACK, missing, async || (attempts(private) >= 1 && attempts(stage.ops) >= 1).then_some(())).await;
    fake.fault(Fault::gateway(502).on("getUpdates").always());
    until(BACK, missing, async || (attempts(private) >= 7 && attempts(stage.ops) >= 7).then_some(())).await;
    fake.clear_faults();
    stage.said(private, "before").await;
    let card = stage.card_of(stage.ops, asked).await;
    stage.press(BOB, (card.room, card.message), &card.approve).await;
    stage.said(stage.ops, "Done and verified: append to").await;
    assert_eq!(std::fs::read_to_string(&file).expect("it was made"), "one line\n");
    let log = stage.logged();
    assert!(!log.contains("a message will never be delivered"), "{log}");
    stage.end().await;
}

/// What waits is known by when it was written: a day is not waited for here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_comes_late_says_when_it_was_written() {
    let desk = desk();
    let config = config(desk.path());
    let mut stage = Stage::with(Script { config: &config, ..Script::default() }).await;
    let private = stage.fake.private(ANN);
    stage.fake.fault(Fault::status(502).on("sendMessage").always());
    stage.say(ANN, private, "ping early");
    stage.fake.wait_for_call(|call| call.method == "sendMessage").await;
    stage.kill().await;
    let older = "UPDATE outbox SET created_at = created_at - 1200000 WHERE state IN ('pending', 'sending')";
    change(&stage.database(), older).await;
    stage.fake.clear_faults();
    stage.go_on().await;
    let said = stage.said(private, "early").await;
    assert!(said.text.starts_with("(written 20 min ago"), "{}", said.text);
    stage.end().await;
}

#[tokio::test]
async fn at_the_default_level_the_log_has_one_line_for_each_end_of_an_outage() {
    let mut stage = Stage::with(Script { log: "", ..Script::default() }).await;
    stage.fake.fault(Fault::status(502).on("getUpdates").next(3));
    // Wakes the call that waits for updates, so that the next ones meet the fault.
    stage.say(ANN, stage.fake.private(ANN), "status");
    let missing = async || stage.logged();
    until(BACK, missing, async || stage.logged().contains("a platform is heard again").then_some(())).await;
    let log = stage.logged();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(" platform=telegram")).collect();
    let [lost, found] = lines.as_slice() else { panic!("one line for each change: {log}") };
    assert!(lost.contains(" WARN ") && lost.contains("trouble with a platform") && lost.contains("502"), "{lost}");
    assert!(found.contains(" INFO ") && found.contains("a platform is heard again"), "{found}");
    stage.end().await;
}

/// The card is out, and nobody hears of it: a press counts before it is out once more, though its message is not known by its id.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_that_may_be_out_is_decided_before_it_is_sent_again() {
    let desk = desk();
    let config = config(desk.path());
    let mut stage = Stage::with(Script { config: &config, ..Script::default() }).await;
    let (fake, file) = (stage.fake.clone(), desk.path().join("served.txt"));
    fake.fault(Fault::drop_after().on("sendMessage"));
    fake.fault(Fault::too_many(30).on("sendMessage").in_chat(stage.ops).always());
    let asked = stage.say(ANN, stage.ops, &format!("append to {}: one line", file.display()));
    let first = stage.card_of(stage.ops, asked).await;
    let again = |call: &countersign_telegram_fake::Call| matches!(call.outcome, Outcome::Refused { code: 429, .. });
    fake.wait_for_call(again).await;
    let pressed = fake.press(BOB, stage.ops, first.message, "Approve");
    let database = stage.database();
    let taken = format!("SELECT id FROM inbox WHERE event = 'cb:{pressed}'");
    let missing = async || stage.logged();
    until(Duration::from_secs(20), missing, async || (!rows(&database, &taken).await.is_empty()).then_some(())).await;
    until(BACK, missing, async || file.exists().then_some(())).await;
    fake.clear_faults();
    stage.end().await;
}

/// Both copies have buttons, and the bot knows the id of the second one alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_card_that_is_out_twice_the_older_copy_says_where_the_newer_one_is() {
    let desk = desk();
    let config = config(desk.path());
    let mut stage = Stage::with(Script { config: &config, ..Script::default() }).await;
    let (fake, file) = (stage.fake.clone(), desk.path().join("served.txt"));
    fake.fault(Fault::drop_after().on("sendMessage"));
    let asked = stage.say(ANN, stage.ops, &format!("append to {}: one line", file.display()));
    let older = stage.card_of(stage.ops, asked).await;
    let newer = stage.said(stage.ops, "(may be a repeat)").await;
    stage.settled().await;
    let told = stage.press(BOB, (stage.ops, older.message), &older.approve).await;
    assert!(told.text.contains("This card was sent twice, and this is the older copy."), "{told:?}");
    assert!(told.text.contains("use the newer copy of the card, further down"), "{told:?}");
    assert_eq!(stage.state(&older).await, "pending");
    stage.press(BOB, (stage.ops, newer.id), &older.approve).await;
    stage.said(stage.ops, "Done and verified: append to").await;
    stage.end().await;
}
