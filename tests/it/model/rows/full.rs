//! FM-18: more than a model's context holds. Its server says so, or so much was read that it would; people are answered, or
//! told so, and whoever asks next is answered.

use countersign_model_fake::{Fake, Turn};
use serde_json::json;

use super::room::{Place, Room};
use crate::model::{QUESTION, told};
use crate::support::shop::Shop;

/// As much as a question may be, in characters: 4,000 tokens, at three and a half characters each, and our rules.
const CHARS_MAX: usize = 14_000 + 2_500;

fn too_long() -> Turn {
    let says = "This model's maximum context length is 2048 tokens. However, your messages resulted in 4096 tokens.";
    Turn::SaysNo(400, says.to_owned())
}

pub(super) async fn where_a_question_is_too_long_for_one_model_the_larger_one_is_asked(place: Place) {
    let model = Fake::start(vec![too_long(), Turn::says("Ask the team.")]);
    let mut room = Room::with(place, &model, "fast = \"small\"\n").await;
    reads!(room.ask(QUESTION, "Ask the team.").await, @"
    This answer changed nothing. Nothing was read. The model says:
    Ask the team.
    ");
    let models: Vec<_> = model.asked().iter().map(|asked| asked["model"].clone()).collect();
    assert_eq!(models, ["small", "big"]);
}

pub(super) async fn where_it_is_too_long_for_every_model_that_is_said_and_the_next_is_answered(place: Place) {
    let model = Fake::start(vec![too_long(), Turn::says("Ask the team.")]);
    let mut room = Room::with(place, &model, "").await;
    reads!(room.ask(QUESTION, "context length").await, @"❌ I do not know a set command for that, and the model did not answer: its server answers 400: This model's maximum context length is 2048 tokens. However, your messages resulted in 4096 tokens. Set commands, approvals and rules need no model; help lists them.");
    assert_eq!(model.asked().len(), 1, "it is not asked the same again");
    room.ask(QUESTION, "Ask the team.").await;
}

pub(super) async fn what_was_read_is_told_in_short_so_that_a_question_never_grows_too_long(place: Place) {
    let shop = Shop::new();
    let lines: Vec<String> =
        (0..900).map(|n| format!("line {n} of what the till wrote while customers complained")).collect();
    shop.answers("log", &json!({ "lines": lines }));
    let log = |page: usize| Turn::call("shop_pods__log", &json!({ "target": "pod:shop:till", "page": page }));
    let find = Turn::call("shop_pods__find", &json!({ "query": "till" }));
    let turns = [find].into_iter().chain((1..=8).map(log)).chain([Turn::says("Look at the till.")]);
    let model = Fake::start(turns.collect());
    let mut room = Room::with(place, &model, &shop.config()).await;
    reads!(room.ask(QUESTION, "Look at the till.").await, @"
    This answer changed nothing. Read: 9 things (sources). The model says:
    Look at the till.
    ");
    let asked: Vec<String> = model.asked().iter().map(told).collect();
    let sizes: Vec<usize> = asked.iter().map(|told| told.chars().count()).collect();
    assert!(sizes.iter().all(|size| *size <= CHARS_MAX), "{sizes:?}");
    let last = asked.last().expect("it was asked");
    assert!(last.contains("[truncated]") && last.contains("\"page\":8"), "{last}");
}
