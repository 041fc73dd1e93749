//! What was sent is put right later: cards keep up with their plans, progress comes and goes, and neither keeps anything
//! back that people wait for.

use countersign_core::approval::PlanId;
use countersign_core::effect::Effect;
use countersign_core::port::{Block, Claim, Lane, Mark, Outgoing, Visibility};
use countersign_core::signal::Wall;

use super::stage::{Play, Script, Seen};
use super::*;

fn says(signal: &SignalId, text: &str) -> Outgoing {
    Outgoing {
        to: thread_key("main"),
        answers: signal.clone(),
        mark: Mark::Plain,
        lane: Lane::Progress,
        visibility: Visibility::Everybody,
        claim: Claim::Nothing,
        blocks: vec![Block::Text { text: text.to_owned() }],
    }
}

/// Asks for a change and returns the asking signal, the plan, the card's id and its parts.
async fn with_card(bed: &mut Play) -> (SignalId, PlanId, String, Vec<EventId>) {
    let signal = bed.say("main", "restart nginx").await;
    let (id, card, parts) = bed.delivered().await;
    let plan = card.blocks.iter().find_map(|block| match block {
        Block::Card { plan, .. } => Some(plan.clone()),
        _ => None,
    });
    (signal, plan.expect("it is a card"), id, parts)
}

/// What the core would say: from now on the card shows this.
async fn redraw(bed: &Play, asked: &SignalId, plan: &PlanId, faces: &[&str]) {
    let (_, jobs) = Handle::new(1);
    let mut worker = Worker::new(Arc::clone(&bed.engine), thread_key("main"), jobs);
    worker.current = Some(Signal { id: asked.clone(), ..signal("e1", "ann", "restart nginx") });
    for face in faces {
        let message = bed.engine.world.reissue(says(asked, face)).expect("it may leave");
        let effects = vec![Effect::Redraw { plan: plan.clone(), message }];
        assert!(worker.perform(effects, bed.engine.clock.now()).await.is_none());
    }
}

async fn edited(bed: &mut Play) -> (String, String, Vec<EventId>) {
    loop {
        match bed.next().await {
            Seen::Edited { id, message, parts } => return (id, plain(&message), parts),
            Seen::Answered(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn until_shown(bed: &Play) {
    let shown = async {
        while !bed.engine.store.cards_to_show().await.expect("readable").is_empty() {
            tokio::task::yield_now().await;
        }
    };
    within(shown).await;
}

fn editing() -> Script {
    Script { edits: true, ..Script::default() }
}

#[tokio::test]
async fn a_card_shows_what_became_of_its_plan_and_is_tried_until_it_does() {
    let mut bed = Play::start(editing()).await;
    let (asked, plan, id, parts) = with_card(&mut bed).await;
    let trouble = [Delivery::Retryable("down".to_owned()), Delivery::RetryAfter(10)];
    bed.ends.script.lock().expect("no panic").edited.extend(trouble);
    redraw(&bed, &asked, &plan, &["decided"]).await;
    for _ in 0..3 {
        assert_eq!(edited(&mut bed).await, (id.clone(), "decided\n".to_owned(), parts.clone()));
    }
    until_shown(&bed).await;
    redraw(&bed, &asked, &plan, &["decided"]).await;
    until_shown(&bed).await;
    redraw(&bed, &asked, &plan, &["done"]).await;
    assert_eq!(edited(&mut bed).await.1, "done\n", "what it shows already is not shown again");
    bed.stopped().await;
}

#[tokio::test]
async fn of_many_faces_only_the_latest_is_shown_and_a_restart_takes_it_up() {
    let mut bed = Play::start(editing()).await;
    let (asked, plan, id, parts) = with_card(&mut bed).await;
    // The first is refused for long; what comes meanwhile is not shown one by one.
    bed.ends.script.lock().expect("no panic").edited.push_back(Delivery::RetryAfter(60_000));
    redraw(&bed, &asked, &plan, &["approved"]).await;
    assert_eq!(edited(&mut bed).await.1, "approved\n");
    redraw(&bed, &asked, &plan, &["executing", "unverified", "verified"]).await;
    let (_, directory) = bed.stopped().await;
    let mut bed = Play::start_in(directory, editing(), Vec::new()).await;
    assert_eq!(edited(&mut bed).await, (id, "verified\n".to_owned(), parts));
    until_shown(&bed).await;
    bed.stopped().await;
}

#[tokio::test]
async fn a_card_that_is_not_out_is_redrawn_once_it_is_and_without_an_editor_never() {
    let mut bed = Play::start(editing()).await;
    // Not out for a while, and the next one never.
    bed.ends.script.lock().expect("no panic").deliveries.push_back(Delivery::RetryAfter(300));
    let (asked, plan, id, none) = with_card(&mut bed).await;
    assert!(none.is_empty());
    redraw(&bed, &asked, &plan, &["withdrawn"]).await;
    let (again, _, parts) = bed.delivered().await;
    assert_eq!(again, id);
    assert_eq!(edited(&mut bed).await, (id, "withdrawn\n".to_owned(), parts));
    until_shown(&bed).await;
    bed.stopped().await;

    let mut bed = Play::start(Script::default()).await;
    let (asked, plan, ..) = with_card(&mut bed).await;
    redraw(&bed, &asked, &plan, &["decided"]).await;
    until_shown(&bed).await;
    let ran = bed.stopped().await;
    drop(ran);
}

/// A question that hangs until it is let go, and that was asked so long ago that somebody wonders.
async fn hanging(bed: &mut Play) -> Signal {
    let id = bed.say("main", "show file /x").await;
    // The engine's own line comes first, and not in between.
    while !bed.engine.outbox.has_progress(&id) {
        tokio::task::yield_now().await;
    }
    let asked = signal("e1", "ann", "show file /x");
    Signal { id, received_at: Wall(0), ..asked }
}

fn progress(bed: &Play, asked: &Signal, text: &str) {
    let message = bed.engine.world.reissue(says(&asked.id, text)).expect("it may leave");
    bed.engine.show_progress(asked, &message);
}

#[tokio::test]
async fn progress_is_one_message_that_changes_and_goes_when_the_answer_is_out() {
    let mut bed = Play::start(editing()).await;
    let asked = hanging(&mut bed).await;
    progress(&bed, &asked, "reading /x");
    let (id, shown, parts) = bed.delivered().await;
    assert_eq!((plain(&shown).as_str(), id.len()), ("reading /x\n", 32));
    progress(&bed, &asked, "reading /x");
    progress(&bed, &asked, "verifying");
    assert_eq!(
        edited(&mut bed).await,
        (id, "verifying\n".to_owned(), parts.clone()),
        "the same text is not sent again"
    );
    bed.go.notify_one();
    let (_, answer, _) = bed.delivered().await;
    assert_eq!(plain(&answer), "There is nothing to show.\n", "the answer is a message of its own");
    bed.answered(&asked.id).await;
    assert_eq!(bed.next().await, Seen::TakenBack(parts));
    bed.stopped().await;
}

#[tokio::test]
async fn progress_is_not_shown_of_what_is_answered_soon_nor_where_nothing_can_be_put_right() {
    let mut bed = Play::start(editing()).await;
    let soon = Signal { received_at: crate::clock::wall_now(), ..hanging(&mut bed).await };
    progress(&bed, &soon, "reading /x");
    bed.go.notify_one();
    let (_, answer, _) = bed.delivered().await;
    assert_eq!(plain(&answer), "There is nothing to show.\n");
    bed.answered(&soon.id).await;
    let (_, directory) = bed.stopped().await;

    let mut bed = Play::start_in(directory, Script::default(), Vec::new()).await;
    let id = bed.say("other", "show file /x").await;
    let asked = Signal { id, received_at: Wall(0), thread: thread_key("other"), ..signal("e1", "ann", "") };
    progress(&bed, &asked, "reading /x");
    bed.go.notify_one();
    let (_, answer, _) = bed.delivered().await;
    assert_eq!(plain(&answer), "There is nothing to show.\n");
    bed.stopped().await;
}

#[tokio::test]
async fn progress_that_the_platform_does_not_take_keeps_no_answer_back() {
    let mut bed = Play::start(editing()).await;
    let asked = hanging(&mut bed).await;
    bed.ends.script.lock().expect("no panic").deliveries.push_back(Delivery::Permanent("no".to_owned()));
    progress(&bed, &asked, "reading /x");
    bed.delivered().await;
    progress(&bed, &asked, "verifying");
    bed.go.notify_one();
    let (_, answer, _) = bed.delivered().await;
    assert_eq!(plain(&answer), "There is nothing to show.\n");
    bed.answered(&asked.id).await;
    let (_, directory) = bed.stopped().await;
    drop(directory);
}
