//! Servers that say nothing, or break off: what was claimed until then is never seen (C-19, FM-7), and what needs no model goes
//! on (invariant 10).

use countersign_model_fake::{End, Fake, Turn};

use super::room::{Place, Room};
use crate::model::{QUESTION, find_host};

pub(super) async fn a_claim_that_breaks_off_is_never_seen_whoever_answers_after_it(place: Place) {
    let claims = |end| Turn::begins("I have restarted the till", end);
    let model =
        Fake::start(vec![claims(End::Breaks), Turn::says("Ask the team."), claims(End::Closes), claims(End::Breaks)]);
    let mut room = Room::with(place, &model, "fast = \"small\"\n").await;
    room.ask(QUESTION, "Ask the team.").await;
    reads!(room.ask(QUESTION, "broke off").await, @"❌ I do not know a set command for that, and the model did not answer: its answer broke off in the middle. Set commands, approvals and rules need no model; help lists them.");
    let sent = room.sent();
    assert!(!sent.contains("restarted the till"), "{sent}");
}

pub(super) async fn with_the_server_down_rules_go_on_and_it_is_left_alone_for_a_while(place: Place) {
    let model = Fake::start(vec![Turn::Breaks; 5]);
    let mut room = Room::with(place, &model, "").await;
    for _ in 0..5 {
        room.ask(QUESTION, "the model did not answer: its server cannot be reached").await;
    }
    room.ask(QUESTION, "it did not answer several times, and is left alone for ").await;
    assert_eq!(model.asked().len(), 5);
    room.ask("load", "of its CPU").await;
    assert_eq!(room.calls().await, ["host_machine.find", "host_machine.load"]);
}

pub(super) async fn a_question_is_stopped_by_a_word_and_its_late_answer_is_not_shown(place: Place) {
    let late = Turn::Held(Box::new(Turn::says("It was the moon.")));
    let model = Fake::start(vec![find_host(), late, Turn::says("Ask the team.")]);
    let mut room = Room::with(place, &model, "").await;
    let (said, ended) = room.stop(QUESTION, || model.asked().len() == 2).await;
    reads!(said, @"I stop working on “why do my customers complain”.");
    assert!(ended.contains(" asked for that. Nothing was changed. Read so far:\n- host_machine.find at "), "{ended}");
    model.release();
    room.ask(QUESTION, "Ask the team.").await;
    let sent = room.sent();
    assert!(!sent.contains("the moon"), "{sent}");
}
