//! What was delivered and what cards show, in the store: found again by the platform's ids and only in its own room; the
//! latest face of a card, until it was shown. On both engines.

use countersign::store::{CardPost, Face, NewPost, Redraw, Settled, StepRecord};
use countersign_core::approval::PlanId;
use countersign_core::port::Lane;
use countersign_core::signal::{ConversationId, EventId, ThreadKey, Wall};

use super::plans::{changing, file, plan};
use super::{Bed, Case, accepted, claimed, committed, on_postgres, on_sqlite, post, step, thread};

const CASES: &[(&str, Case)] = cases![
    what_was_delivered_is_found_by_every_part_and_only_in_its_room,
    what_waits_comes_back_in_the_order_of_each_thread,
    a_card_is_shown_its_latest_face,
    a_face_that_is_stored_again_is_the_same_face,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_messages_holds_on_sqlite() {
    on_sqlite(CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_messages_holds_on_postgres() {
    on_postgres(CASES).await;
}

fn elsewhere() -> ThreadKey {
    ThreadKey { conversation: ConversationId::new("elsewhere"), ..thread("main") }
}

async fn delivered(bed: &Bed, id: &str, parts: &[&str]) {
    claimed(bed, id).await;
    let platform_ids = parts.iter().map(ToString::to_string).collect();
    bed.store.settle(id, &Settled::Sent { platform_ids }, Wall(9)).await.expect("it is being sent");
}

async fn what_was_delivered_is_found_by_every_part_and_only_in_its_room(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    committed(&bed, &step("s-1", 5, vec![post("p-1", 0, thread("main"), Lane::Answer)])).await;
    delivered(&bed, "p-1", &["m-1", "m-2"]).await;
    let near = thread("wherever");
    for part in ["m-1", "m-2", "event of s-1"] {
        let event = EventId::new(part);
        let found = bed.store.thread_of_message(&near, &event).await.expect("readable");
        assert_eq!(found, Some(thread("main")), "{part}");
        assert_eq!(bed.store.thread_of_message(&elsewhere(), &event).await.expect("readable"), None, "{part}");
    }
    let unknown = EventId::new("m-3");
    assert_eq!(bed.store.thread_of_message(&near, &unknown).await.expect("readable"), None);
    let part = EventId::new("m-2");
    let found = bed.store.touched_message(&near, &part).await.expect("readable").expect("it is ours");
    assert_eq!((found.thread, found.body.as_str()), (thread("main"), "{\"post\":\"p-1\"}"));
    assert_eq!(bed.store.touched_message(&elsewhere(), &part).await.expect("readable"), None);
    assert!(bed.store.touched_post(&near, "p-1").await.expect("readable").is_some());
    assert_eq!(bed.store.touched_post(&elsewhere(), "p-1").await.expect("readable"), None);
    let first = EventId::new("m-1");
    assert_eq!(bed.store.touched_message(&near, &first).await.expect("readable"), None, "it is not all of the message");
    let heard = EventId::new("event of s-1");
    assert_eq!(bed.store.touched_message(&near, &heard).await.expect("readable"), None, "it is not ours");
}

async fn what_waits_comes_back_in_the_order_of_each_thread(bed: Bed) {
    accepted(&bed, "s-1", "one", 1).await;
    accepted(&bed, "s-2", "two", 1).await;
    let (one, two) = (thread("one"), thread("two"));
    let posts = vec![post("p-1", 0, one.clone(), Lane::Answer), post("p-2", 1, one.clone(), Lane::Answer)];
    committed(&bed, &step("s-1", 5, posts)).await;
    // The clock was set back.
    committed(&bed, &step("s-1", 3, vec![post("p-3", 2, one.clone(), Lane::Answer)])).await;
    committed(&bed, &step("s-2", 6, vec![post("card", 0, two, Lane::Decision)])).await;
    claimed(&bed, "p-1").await;
    let later = Settled::Again { not_before: Wall(100), repeat: true, error: "slow down".to_owned() };
    bed.store.settle("p-1", &later, Wall(6)).await.expect("it is being sent");
    let open = bed.store.open_posts().await.expect("readable").sound;
    let ids: Vec<&str> = open.iter().map(|post| post.id.as_str()).collect();
    assert_eq!(ids, ["card", "p-1", "p-2", "p-3"]);
    let first = &open[1];
    assert_eq!((first.not_before, first.attempts, first.repeat), (Wall(100), 1, true));
    assert_eq!((first.event.as_str(), &first.to), ("event of s-1", &one));
    delivered(&bed, "p-1", &[]).await;
    assert_eq!(bed.store.open_posts().await.expect("readable").sound.len(), 3, "what is out waits no more");
}

/// A step with a card, as it is proposed.
async fn proposed(bed: &Bed) -> PlanId {
    let filed = plan(1, "host:web-1");
    let id = filed.id().clone();
    accepted(bed, "s-1", "main", 1).await;
    let card = NewPost { plan: Some(id.clone()), ..post("card", 0, thread("main"), Lane::Decision) };
    let step = StepRecord { posts: vec![card], ..changing("s-1", vec![file(&filed)]) };
    committed(bed, &step).await;
    id
}

fn redrawing(plan: &PlanId, body: &str) -> StepRecord {
    let redraw = Redraw { plan: plan.clone(), body: body.to_owned() };
    StepRecord { redraws: vec![redraw], ..step("s-1", 7, Vec::new()) }
}

async fn face(bed: &Bed, plan: &PlanId) -> Option<Face> {
    bed.store.face_to_show(plan).await.expect("readable")
}

async fn a_card_is_shown_its_latest_face(bed: Bed) {
    let plan = proposed(&bed).await;
    let card = |open, parts: &[&str]| {
        let parts = parts.iter().map(|part| EventId::new(*part)).collect();
        vec![CardPost { id: "card".to_owned(), open, parts }]
    };
    assert_eq!(bed.store.card_posts(&plan).await.expect("readable"), card(true, &[]));
    delivered(&bed, "card", &["m-2", "m-1"]).await;
    assert_eq!(bed.store.card_posts(&plan).await.expect("readable"), card(false, &["m-2", "m-1"]), "in their order");
    assert_eq!(face(&bed, &plan).await, None);
    committed(&bed, &redrawing(&plan, "approved")).await;
    committed(&bed, &redrawing(&plan, "done")).await;
    assert_eq!(face(&bed, &plan).await, Some(Face { body: "done".to_owned(), version: 2 }));
    assert_eq!(bed.store.cards_to_show().await.expect("readable"), std::slice::from_ref(&plan));
    bed.store.face_shown(&plan, 1).await.expect("stored");
    assert!(face(&bed, &plan).await.is_some(), "that was the one before");
    bed.store.face_shown(&plan, 2).await.expect("stored");
    bed.store.face_shown(&plan, 1).await.expect("a late word changes nothing");
    assert_eq!(face(&bed, &plan).await, None);
    assert_eq!(bed.store.cards_to_show().await.expect("readable"), []);
}

async fn a_face_that_is_stored_again_is_the_same_face(bed: Bed) {
    let plan = proposed(&bed).await;
    let step = redrawing(&plan, "approved");
    committed(&bed, &step).await;
    bed.store.face_shown(&plan, 1).await.expect("stored");
    committed(&bed, &step).await;
    assert_eq!(face(&bed, &plan).await, None, "the same step again");
    committed(&bed, &redrawing(&plan, "done")).await;
    assert_eq!(face(&bed, &plan).await.map(|face| face.version), Some(2));
}
