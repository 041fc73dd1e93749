//! FM-9 and FM-10: calls that were invented, and answers that are nearly calls. What is wrong is told to the model as data, it
//! may try twice more, and nothing is called that is not there.

use countersign_model_fake::{Fake, Turn};
use serde_json::{Value, json};

use super::room::{Place, Room};
use crate::model::{DISK_QUESTION, QUESTION, disks, find_host, this_host, told};

/// A small model first, and a larger one.
const TWO: &str = "fast = \"small\"\n";

fn invented(n: usize) -> Turn {
    Turn::call("k8s__delete_everything", &json!({ "n": n }))
}

/// Which model each question was put to.
fn models(model: &Fake) -> Vec<String> {
    model.asked().iter().map(|asked| asked["model"].as_str().unwrap_or_default().to_owned()).collect()
}

/// What the model is told after so many questions that it was not told before.
fn told_of(model: &Fake, question: usize, words: &str) {
    let asked: Vec<Value> = model.asked();
    assert!(told(&asked[question]).contains(words), "{words:?} is not in {}", told(&asked[question]));
    assert!(!told(&asked[question - 1]).contains(words), "{words:?} was told before");
}

pub(super) async fn a_call_that_was_invented_is_refused_as_data_and_the_model_mends_it(place: Place) {
    let wrong = Turn::call("host_disk__usage", &json!({ "target": this_host(), "depth": "very" }));
    let model = Fake::start(vec![invented(0), find_host(), wrong, disks(), Turn::says("The disks have room.")]);
    let mut room = Room::with(place, &model, "").await;
    reads!(room.ask(DISK_QUESTION, "have room").await, @"
    This answer changed nothing. Refused: a call that does not exist (NOT_FOUND; why tells more). Read: 2 things (sources). The model says:
    The disks have room.
    ");
    told_of(&model, 1, "refused by schema: NOT_FOUND: there is no tool for `k8s.delete_everything`");
    told_of(&model, 3, "refused by schema: INVALID_INPUT: `depth` is no argument of this action; it takes none");
    assert_eq!(room.calls().await, ["host_machine.find", "host_disk.usage"]);
}

pub(super) async fn a_model_that_goes_on_inventing_is_stopped_after_two_retries(place: Place) {
    let model = Fake::start((0..3).map(invented).chain([Turn::says("Ask the team.")]).collect());
    let mut room = Room::with(place, &model, TWO).await;
    reads!(room.ask(QUESTION, "k8s").await, @r"⛔ I stopped the model, because it goes on with calls that cannot be made: there is no tool for k8s.delete_everything (NOT_FOUND, gate schema). Ask again in other words, or type help for set commands.");
    assert_eq!(models(&model), ["small", "small", "big"]);
    assert!(room.calls().await.is_empty(), "{:?}", room.calls().await);
    room.ask(QUESTION, "Ask the team.").await;
}

pub(super) async fn a_call_in_prose_is_read_and_one_that_is_nearly_json_is_mended(place: Place) {
    let in_prose =
        Turn::says("Sure! Let me look:\n```json\n{\"name\": \"host_machine__find\", \"arguments\": {}}\n```");
    let nearly = format!("{{\"name\": \"host_disk__usage\", \"arguments\": {{\"target\": \"{}\",}}", this_host());
    let model = Fake::start(vec![in_prose, Turn::says(&nearly), Turn::says("The disks have room.")]);
    let mut room = Room::with(place, &model, "").await;
    reads!(room.ask(DISK_QUESTION, "have room").await, @"
    This answer changed nothing. Read: 2 things (sources). The model says:
    The disks have room.
    ");
    assert_eq!(room.calls().await, ["host_machine.find", "host_disk.usage"]);
    let sent = room.sent();
    assert!(!sent.contains("Let me look") && !sent.contains("host_disk__usage"), "{sent}");
}

/// No object, and then nothing at all.
fn senseless() -> Vec<Turn> {
    vec![Turn::Calls(vec![("host_machine__find".to_owned(), "this machine".to_owned())]), Turn::says("")]
}

pub(super) async fn what_nobody_can_mend_is_asked_again_and_then_of_the_larger_model(place: Place) {
    let model = Fake::start([senseless(), vec![Turn::says("Ask the team.")]].concat());
    let mut room = Room::with(place, &model, TWO).await;
    reads!(room.ask(QUESTION, "Ask the team").await, @"
    This answer changed nothing. Nothing was read. The model says:
    Ask the team.
    ");
    assert_eq!(models(&model), ["small", "small", "big"]);
    told_of(&model, 1, "not tried: the arguments are no JSON object");
    told_of(&model, 2, "Your last answer was neither a call nor words");
    assert!(room.calls().await.is_empty(), "{:?}", room.calls().await);
}

pub(super) async fn where_the_larger_model_makes_no_sense_either_that_is_said(place: Place) {
    let model = Fake::start([senseless(), vec![Turn::says("<think>"), Turn::says("Ask the team.")]].concat());
    let mut room = Room::with(place, &model, TWO).await;
    reads!(room.ask(QUESTION, "could not make sense").await, @"❌ I could not make sense of what the model answered. Ask again in other words, or type help for set commands.");
    assert_eq!(models(&model), ["small", "small", "big"]);
    room.ask(QUESTION, "Ask the team.").await;
}
