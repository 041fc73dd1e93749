//! A model behind the bot on Telegram: what of its words stands in the chat, also for a moment, and how its plan is pressed.

use countersign_model_fake::{End, Fake, Turn, Ways};
use serde_json::json;

use super::{DISK_QUESTION, PROCESS_QUESTION, QUESTION, disks, find_host, process};
use crate::support::chat::Chat as _;
use crate::support::telegram::{ANN, BOB, Script, Stage};

async fn stage(model: &Fake) -> Stage {
    let config = format!("[model]\nbase_url = \"{}\"\nsmart = \"big\"\n", model.base_url());
    Stage::with(Script { config: &config, ..Script::default() }).await
}

/// Everything that the bot has sent to Telegram so far, also what was changed or taken back since.
fn sent(stage: &Stage) -> String {
    format!("{:?}", stage.fake.log())
}

/// The same in a chat: the answer stands in the thread, and the card of a change is pressed there.
#[tokio::test(flavor = "multi_thread")]
async fn in_a_chat_a_model_answers_and_its_plan_is_pressed() {
    let model = Fake::start(vec![find_host(), disks(), Turn::says("The disks have room.")]);
    let stage = stage(&model).await;
    stage.ask(ANN, stage.ops, DISK_QUESTION, "The disks have room.").await;
    let sleeper = stage.home.process("shopkeeper", &[]);
    model.then(vec![Turn::call("host_process__find", &json!({ "query": "shopkeeper" })), Turn::says("I found it.")]);
    let found = stage.ask(ANN, stage.ops, PROCESS_QUESTION, "I found it.").await;
    model.then(vec![Turn::call("host_process__stop", &json!({ "target": process(&model, sleeper.pid()) }))]);
    // In the same thread: what another one has discovered is no target here.
    let card = stage.card_of(stage.ops, stage.fake.write(ANN, stage.ops, PROCESS_QUESTION, Some(found.id))).await;
    assert!(card.text.contains("Proposed by a model that read untrusted text."), "{}", card.text);
    stage.approve(BOB, &card).await;
    stage.said(stage.ops, "Done and verified: stop process shopkeeper").await;
}

/// C-19, STM-06: not in a message, and not in an edit of one either.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_makes_up_is_never_seen_though_it_comes_in_pieces() {
    let claim = "I have restarted the shop, and it is running again, as everybody can see.";
    let model = Fake::start(vec![Turn::says(claim), Turn::begins("I have restarted the till", End::Breaks)]);
    let stage = stage(&model).await;
    stage.ask(ANN, stage.ops, QUESTION, "What the model wrote is not shown").await;
    stage.ask(ANN, stage.ops, QUESTION, "the model did not answer: its answer broke off in the middle").await;
    assert!(model.asked().iter().all(|asked| asked["stream"] == true), "{:?}", model.asked());
    let sent = sent(&stage);
    assert!(sent.contains("is not shown") && !sent.contains("restarted the"), "{sent}");
}

/// A model without function calls, on a server that refuses them: it finds a process, and its plan is a card.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_makes_no_calls_drives_a_change_to_a_card_that_is_pressed() {
    let ways = Ways { refuses: vec![("tools", 500)], ..Ways::default() };
    let model = Fake::with(ways, Vec::new());
    let stage = stage(&model).await;
    let sleeper = stage.home.process("shopkeeper", &[]);
    let find = Turn::call("host_process__find", &json!({ "query": "shopkeeper" }));
    model.then(vec![find_host(), find, Turn::says("I found it.")]);
    let found = stage.ask(ANN, stage.ops, PROCESS_QUESTION, "I found it.").await;
    let target = process(&model, sleeper.pid());
    model.then(vec![Turn::call("host_process__stop", &json!({ "target": target }))]);
    let card = stage.card_of(stage.ops, stage.fake.write(ANN, stage.ops, PROCESS_QUESTION, Some(found.id))).await;
    assert!(card.text.contains("Proposed by a model that read untrusted text."), "{}", card.text);
    stage.approve(BOB, &card).await;
    stage.said(stage.ops, "Done and verified: stop process shopkeeper").await;
    let asked = model.asked();
    let by_functions = asked.iter().filter(|asked| asked.get("tools").is_some()).count();
    assert_eq!(by_functions, 1, "what a server does not know is asked of it once: {asked:?}");
    let held_to = &asked.last().expect("it was asked")["response_format"]["json_schema"];
    assert_eq!(held_to["name"], "host_process__stop");
    let offered = held_to["schema"]["properties"]["target"]["enum"].as_array().map(Vec::as_slice).unwrap_or_default();
    assert!(
        offered.contains(&json!(target))
            && offered.iter().all(|id| id.as_str().is_some_and(|id| id.starts_with("process:"))),
        "{held_to}"
    );
}
