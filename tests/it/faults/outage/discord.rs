//! Discord is gone for so long that its session is, too: nothing of it is told again. What was said meanwhile is looked for
//! where work is open, or where the bot was needed since it was started, and nowhere else; a press cannot be made, because Discord says at once that it failed; a reaction is
//! made and told to nobody. The plan waits for another one.

use std::time::Duration;

use countersign_discord_fake::{Fault, Outcome};
use tokio::time::Instant;

use super::{BACK, HEARING, OUTAGE_S, TROUBLE};
use crate::faults::stored::unfinished;
use crate::faults::{config, desk, until};
use crate::kill::setting;
use crate::support::chat::{Chat, Shown};
use crate::support::database::rows;
use crate::support::discord::{ANN, BOB, CAROL, Script, Stage};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_loses_no_plan_no_answer_and_no_message_where_work_is_open() {
    let outage = Duration::from_secs(setting("OUTAGE_SECONDS", OUTAGE_S));
    let desk = desk();
    let config = config(desk.path());
    let mut stage = Stage::with(Script { config: &config, log: "info,countersign=debug", ..Script::default() }).await;
    stage.fake.set_patience(BACK + Duration::from_secs(30));
    let (fake, file) = (stage.fake.clone(), desk.path().join("served.txt"));
    let (private, known, other) = (fake.private_room(ANN), fake.room("known"), fake.room("other"));
    stage.ask(ANN, known, "ping earlier", "earlier").await;
    let card = stage.card(ANN, stage.ops, &format!("append to {}: one line", file.display())).await;

    // An answer that is due: Discord asks to wait with it, and is then gone.
    fake.fault(Fault::too_many(Duration::from_secs(2)).on("createMessage").in_channel(private));
    stage.say(ANN, private, "ping before");
    fake.wait_for_call(|call| matches!(call.outcome, Outcome::Refused { status: 429, .. })).await;
    fake.stop_listening().await;
    fake.forget_sessions();
    let begun = Instant::now();
    let heard_before = stage.logged().len();
    let pressed = fake.press_button(BOB, stage.ops, card.message, "Approve");
    fake.expire(&pressed);
    fake.add_reaction(CAROL, stage.ops, card.message, "👍");
    stage.say(ANN, private, "ping meanwhile");
    let root = stage.say(ANN, stage.ops, "ping root");
    let reply = fake.write(BOB, stage.ops, &fake.to_the_bot(stage.ops, "ping reply"), Some(root));
    let (somewhere, nowhere) = (stage.say(ANN, known, "ping somewhere"), stage.say(ANN, other, "ping nowhere"));
    let noticed = || stage.logged()[heard_before..].contains(TROUBLE);
    let missing = async || stage.logged()[heard_before..].to_owned();
    until(outage + BACK, missing, async || (begun.elapsed() >= outage && noticed()).then_some(())).await;

    let heard_before = stage.logged().len();
    fake.listen_again().await;
    let back = Instant::now();
    stage.answer(stage.ops, reply, "reply").await;
    let took = back.elapsed();
    stage.said(private, "meanwhile").await;
    // As long as it was not killed, it knows where it was needed before; where it never was, nothing is looked for.
    stage.answer(known, somewhere, "somewhere").await;
    stage.ask(ANN, other, "ping later", "later").await;
    assert!(stage.shown(other).iter().all(|message| message.reply_to != Some(nowhere)), "{}", fake.picture(other));
    assert!(stage.logged()[heard_before..].contains(HEARING), "it says that it hears again");
    stage.still_pending(&card).await;
    assert!(!file.exists(), "nobody could have told the bot to do it");
    stage.approve(BOB, &card).await;
    stage.said(stage.ops, "Done and verified: append to").await;
    let database = stage.database();
    let missing = async || format!("{:#?}", unfinished(&database).await);
    until(BACK, missing, async || unfinished(&database).await.is_empty().then_some(())).await;

    assert_eq!(
        threads_of(&stage, [root, reply]).await,
        1,
        "they were found together, and are one conversation all the same"
    );
    assert_eq!(std::fs::read_to_string(&file).expect("it was made"), "one line\n");
    assert_eq!(stage.state(&card).await, "verified");
    recorded_once(&stage, &card.plan).await;
    // Each once and in order, and what never left is not said to be a repeat.
    assert_eq!(pongs(&stage.shown(private)), ["before", "meanwhile"]);
    assert_eq!(pongs(&stage.shown(stage.ops)), ["root", "reply"]);
    let said = [stage.shown(private), stage.shown(stage.ops)].concat();
    assert!(said.iter().all(|message| !message.text.contains("repeat")), "{said:#?}");
    println!(
        "gone for {:.0} s; {:.1} s after its end what was said meanwhile was answered",
        outage.as_secs_f32(),
        took.as_secs_f32()
    );
    stage.end().await;
}

/// The plan was approved, carried out and verified, each once.
async fn recorded_once(stage: &Stage, plan: &str) {
    for row in ["approved", "executing", "verified"] {
        let about = |it: &serde_json::Value| it["what"] == row && it["plan"] == plan;
        assert_eq!(stage.recorded(about).await.len(), 1, "{row}");
    }
}

/// How many threads these messages are in.
async fn threads_of(stage: &Stage, messages: [i64; 2]) -> usize {
    let events = messages.map(|message| format!("'{}:{message}'", stage.ops.0)).join(", ");
    let threads = format!("SELECT DISTINCT thread FROM inbox WHERE event IN ({events})");
    rows(&stage.database(), &threads).await.len()
}

/// What the canned answers among these repeat.
fn pongs(shown: &[Shown]) -> Vec<&str> {
    // A late one says before that when it was written.
    shown.iter().filter_map(|message| Some(message.text.split_once("pong ")?.1)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_pressed_and_reacted_while_the_connection_is_cut_is_told_when_the_session_goes_on() {
    let stage = Stage::start().await;
    let file = stage.home.path().join("served.txt");
    let card = stage.card(ANN, stage.ops, &format!("append to {}: one line", file.display())).await;
    let mark = stage.fake.mark();
    stage.fake.cut_gateway();
    stage.fake.wait_until_disconnected().await;
    let meanwhile = stage.say(ANN, stage.ops, "who am i");
    stage.fake.add_reaction(BOB, stage.ops, card.message, "👍");
    stage.answer(stage.ops, meanwhile, "you are").await;
    stage.said(stage.ops, "Done and verified: append to").await;
    let calls: Vec<String> = stage.fake.log().into_iter().skip(mark).map(|call| call.method).collect();
    assert!(
        calls.iter().any(|method| method == "resume") && calls.iter().all(|method| method != "identify"),
        "{calls:?}"
    );
}

#[tokio::test]
async fn at_the_default_level_the_log_has_one_line_for_each_end_of_an_outage() {
    let mut stage = Stage::with(Script { log: "", ..Script::default() }).await;
    stage.fake.fault(Fault::status(502).on("getGatewayBot").next(3));
    stage.fake.forget_sessions();
    stage.fake.cut_gateway();
    let missing = async || stage.logged();
    until(BACK, missing, async || stage.logged().contains("a platform is heard again").then_some(())).await;
    let log = stage.logged();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(" platform=discord")).collect();
    let [lost, found] = lines.as_slice() else { panic!("one line for each change: {log}") };
    assert!(lost.contains(" WARN ") && lost.contains("trouble with a platform"), "{lost}");
    assert!(found.contains(" INFO ") && found.contains("a platform is heard again"), "{found}");
    stage.end().await;
}
