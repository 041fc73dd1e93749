//! FM-13: a tool that says no more than `403`. People are told what happened, why, and what to do, with what to look at next on
//! a button; what no table knows is explained by a model, whose words are held to what it was told.

use countersign_model_fake::{Fake, Turn};
use serde_json::json;

use super::room::{Place, Room};
use crate::model::{QUESTION, told};
use crate::support::shop::Shop;

const FORBIDDEN: &str = "GET /api/v1/pods/till: 403 Forbidden";

/// What nobody has seen before.
const STRANGE: &str = "flux capacitor 88 misaligned";

async fn room(place: Place, model: &Fake, shop: &Shop) -> Room {
    Room::with(place, model, &shop.config()).await
}

pub(super) async fn a_raw_403_becomes_what_happened_and_why_and_what_to_do(place: Place) {
    let (model, shop) = (Fake::start(Vec::new()), Shop::new());
    shop.fails("status", FORBIDDEN);
    let mut room = room(place, &model, &shop).await;
    reads!(room.ask("how is pod till", "403").await, @r"
    ❌ What happened: shop_pods.status on till did not work.
    (EXECUTION_FAILED, forbidden)
    Why: the account that the tool uses is known there, and may not do this.
    What to do: give that account the right, or let somebody do it who has it.
    GET /api/v1/pods/till: 403 Forbidden
    ");
    assert!(model.asked().is_empty(), "what is known needs no model");
}

pub(super) async fn the_fix_of_a_failure_is_pressed_and_goes_through_the_gates(place: Place) {
    let (model, shop) = (Fake::start(Vec::new()), Shop::new());
    shop.fails("status", "GET /api/v1/pods/till: context deadline exceeded");
    let mut room = room(place, &model, &shop).await;
    reads!(room.ask("how is pod till", "To look further").await, @r"
    ❌ What happened: shop_pods.status on till did not work.
    (EXECUTION_FAILED, timed-out)
    Why: the other side did not answer in time: it is busy, or it is not reached.
    What to do: ask again in a moment; if it goes on, see how busy the machine is.
    GET /api/v1/pods/till: context deadline exceeded
    To look further:
    1) load - how busy this machine is
    [load]
    ");
    assert_eq!(room.calls().await, ["shop_pods.find", "shop_pods.status"], "the button has run nothing");
    room.press("load", "of its CPU").await;
    assert_eq!(room.calls().await, ["shop_pods.find", "shop_pods.status", "host_machine.find", "host_machine.load"]);
    let why = room.ask("why", "host_machine.load on host:").await;
    assert_eq!(why.matches("cleared by all ").count(), 2, "{why}");
}

pub(super) async fn a_failure_that_nobody_knows_is_explained_by_the_model(place: Place) {
    let says = Turn::says("The flux capacitor is out of line; 88 says how far. Realign it.");
    let (model, shop) = (Fake::start(vec![says]), Shop::new());
    shop.fails("status", STRANGE);
    let mut room = room(place, &model, &shop).await;
    reads!(room.ask("how is pod till", STRANGE).await, @r"
    ❌ flux capacitor 88 misaligned.
    (EXECUTION_FAILED)
    ");
    reads!(room.hear("The model says").await, @"
    This answer changed nothing. Read: 1 thing (sources). The model says:
    The flux capacitor is out of line; 88 says how far. Realign it.
    ");
    assert!(told(&model.asked()[0]).contains(STRANGE), "{}", told(&model.asked()[0]));
}

pub(super) async fn what_a_model_makes_up_about_a_failure_is_not_shown(place: Place) {
    let (model, shop) = (Fake::start(vec![Turn::says("I have restarted the pod.")]), Shop::new());
    shop.fails("status", STRANGE);
    let mut room = room(place, &model, &shop).await;
    room.ask("how is pod till", STRANGE).await;
    room.ask(QUESTION, "I cannot say.").await;
    assert_eq!(model.asked().len(), 2);
    let sent = room.sent();
    assert!(!sent.contains("I have restarted"), "{sent}");
}

pub(super) async fn a_model_is_told_of_a_raw_403_and_people_are_spared_it(place: Place) {
    let status = Turn::call("shop_pods__status", &json!({ "target": "pod:shop:till" }));
    let find = Turn::call("shop_pods__find", &json!({ "query": "till" }));
    let (model, shop) = (Fake::start(vec![find, status, Turn::says("I may not look at the till.")]), Shop::new());
    shop.fails("status", FORBIDDEN);
    let mut room = room(place, &model, &shop).await;
    reads!(room.ask(QUESTION, "may not look").await, @"
    This answer changed nothing. Read: 1 thing (sources). The model says:
    I may not look at the till.
    ");
    assert!(told(&model.asked()[2]).contains(FORBIDDEN), "{}", told(&model.asked()[2]));
    let sent = room.sent();
    assert!(!sent.contains(FORBIDDEN), "{sent}");
}
