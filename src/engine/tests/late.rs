//! A card that comes late: people have as long to decide as if it had come at once, and only the newest copy of it decides.

use countersign_core::approval::PlanId;
use countersign_core::port::{Block, Outgoing, Touched};

use super::stage::{Play, Script, Seen};
use super::touched::touch;
use super::*;

/// The time to decide, short enough that it is over before the card is out.
const EXPIRES_MS: u64 = 2_000;

fn plan_of(card: &Outgoing) -> PlanId {
    let plan = card.blocks.iter().find_map(|block| match block {
        Block::Card { plan, .. } => Some(plan.clone()),
        _ => None,
    });
    plan.expect("it is a card")
}

async fn denied(play: &mut Play, card: &str, on: &EventId) -> String {
    let button = Touched::Button { data: format!("{card}:1"), on: on.clone() };
    assert!(matches!(play.touch(touch("press", thread_key("main"), button)).await, Admission::Accepted(_)));
    let (_, message, _) = play.delivered().await;
    plain(&message)
}

#[tokio::test]
async fn a_plan_does_not_expire_before_its_card_is_out() {
    let deliveries = [Delivery::RetryAfter(EXPIRES_MS * 5 / 2)].into();
    let mut play = Play::start(Script { deliveries, expires_ms: Some(EXPIRES_MS), ..Script::default() }).await;
    play.say("main", "restart nginx").await;
    let (card, _, none) = play.delivered().await;
    assert!(none.is_empty(), "it is not out");
    let (again, message, parts) = play.delivered().await;
    assert!(again == card && plain(&message).contains(" asks to "), "{}", plain(&message));
    let said = denied(&mut play, &card, &parts[0]).await;
    assert!(said.starts_with("Denied: restart nginx"), "{said}");
    play.stopped().await;
}

#[tokio::test]
async fn a_card_that_came_late_says_until_when_it_can_be_decided() {
    let deliveries = [Delivery::RetryAfter(60_000)].into();
    let mut play = Play::start(Script { deliveries, ..Script::default() }).await;
    play.say("main", "restart nginx").await;
    play.delivered().await;
    let (_, directory) = play.stopped().await;
    let url = sqlite_url(&directory.path().join("engine.db")).expect("a plain path");
    let store = Store::open(&url, &Sealing::unguarded()).await.expect("a database");
    store.age_messages(60_000).await;
    store.close().await;
    let mut play = Play::start_in(directory, Script { edits: true, ..Script::default() }, Vec::new()).await;
    loop {
        if let Seen::Edited { message, .. } = play.next().await {
            let shown = plain(&message);
            assert!(shown.contains("This card came late: it can be decided until "), "{shown}");
            break;
        }
    }
    play.stopped().await;
}

#[tokio::test]
async fn of_a_card_that_was_sent_twice_only_the_newer_copy_decides() {
    let deliveries = [Delivery::Ambiguous("no answer".to_owned())].into();
    let mut play = Play::start(Script { deliveries, ..Script::default() }).await;
    play.say("main", "restart nginx").await;
    let (card, ..) = play.delivered().await;
    let (again, message, parts) = play.delivered().await;
    assert_eq!(again, card);
    let asked = plan_of(&message);
    let is_known = async {
        while play.engine.store.card_posts(&asked).await.expect("readable").iter().all(|card| card.parts.is_empty()) {
            tokio::task::yield_now().await;
        }
    };
    within(is_known).await;
    let older = Touched::Button { data: format!("{card}:1"), on: EventId::new("the first copy") };
    assert!(matches!(play.touch(touch("older", thread_key("main"), older)).await, Admission::Accepted(_)));
    let (_, message, _) = play.delivered().await;
    insta::assert_snapshot!(plain(&message), @r"
    refused: This card was sent twice, and this is the older copy.
    (NOT_FOUND, gate `decision`)
    What to do: use the newer copy of the card, further down.
    ");
    let said = denied(&mut play, &card, &parts[0]).await;
    assert!(said.starts_with("Denied: restart nginx"), "{said}");
    play.stopped().await;
}
