//! FM-17 with C-06: a change that nobody could verify, and a model that answers all the same, or reads stale data again and
//! again. The core looks itself, the request ends, and the thread goes on.

use countersign_model_fake::{Fake, Turn};
use serde_json::json;

use super::room::{Place, Room};
use crate::model::{QUESTION, told};
use crate::support::shop::Shop;

fn status() -> Turn {
    Turn::call("shop_pods__status", &json!({ "target": "pod:shop:till" }))
}

/// A room in which a pod was restarted and could not be read since.
async fn unverified(place: Place, model: &Fake, shop: &Shop, turns: u32) -> Room {
    let mut room = Room::with(place, model, &format!("{}[limits]\nturns = {turns}\n", shop.config())).await;
    shop.fails("status", "GET /api/v1/pods/till: 403 Forbidden");
    let said = room.change("restart pod till", "Not verified: restart pod till").await;
    assert!(said.contains("403 Forbidden"), "{said}");
    room
}

pub(super) async fn a_model_that_answers_before_a_change_is_verified_has_it_looked_at(place: Place) {
    let (model, shop) = (Fake::start(vec![Turn::says("Ask the team.")]), Shop::new());
    let mut room = unverified(place, &model, &shop, 20).await;
    shop.is_in_run(2);
    reads!(room.ask(QUESTION, "Ask the team.").await, @"
    Not verified yet: shop_pods.restart on pod:shop:till.
    This answer changed nothing. Nothing was read. The model says:
    Ask the team.
    ");
    reads!(room.hear("Done and verified: restart").await, @r"
    Done and verified: restart pod till. A fresh read shows what was expected.
    state: running (as expected)
    run: 2 (as expected)
    ");
    let read = "A change of this is not verified yet, and is to be read before anything else";
    assert!(told(&model.asked()[0]).contains(read), "{}", told(&model.asked()[0]));
    room.change("restart pod till", "Not as planned: restart").await;
}

pub(super) async fn a_model_that_reads_stale_data_again_and_again_is_made_to_end(place: Place) {
    let (model, shop) = (Fake::start(vec![status(); 9]), Shop::new());
    let mut room = unverified(place, &model, &shop, 5).await;
    shop.is_in_run(1);
    let before = shop.calls().len();
    reads!(room.ask(QUESTION, "turns of this request").await, @r"
    ⛔ Not verified yet: shop_pods.restart on pod:shop:till.
    The 5 turns of this request are used up.
    (BUDGET_EXCEEDED, gate allowance)
    This was read last:
    till is running, in its run 1.
    ");
    reads!(room.hear("Not as planned: restart").await, @r"
    ❌ Not as planned: restart pod till. A fresh read shows something else than was expected.
    state: running (as expected)
    run: 1, expected another than 1
    ");
    // Three times for the model, because nothing that is known stands in for a look; and once for the core.
    assert_eq!(shop.calls()[before..], ["status"; 4]);
    assert!(told(model.asked().last().expect("it was asked")).contains("LOOP_DETECTED"));
    room.change("restart pod till", "Not as planned: restart").await;
    room.ask("how is pod till", "till is running, in its run 1.").await;
}
