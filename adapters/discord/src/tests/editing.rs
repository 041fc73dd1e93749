//! Putting right what was sent.

use countersign_discord_fake::{Fault, Outcome};

use super::*;

#[tokio::test]
async fn a_message_takes_the_place_of_another_part_for_part() {
    let (fake, ops) = scene().await;
    let discord = adapter(&fake);
    let long = outgoing(thread(ops, "m:1"), &many(250, "line"));
    let Delivery::Sent(parts) = send(&discord, &long).await else { panic!("it is not sent") };
    assert!(parts.len() > 1);
    let short = outgoing(thread(ops, "m:1"), "done");
    let edited = edit::edit(&discord, &parts, to(&short)).await;
    assert_eq!(edited, Delivery::Sent(parts[..1].to_vec()));
    let shown: Vec<String> = fake.seen_by(ANN, ops).into_iter().map(|message| message.text).collect();
    assert_eq!(shown, ["done"]);
    assert_eq!(edit::edit(&discord, &parts[..1], to(&short)).await, Delivery::Sent(parts[..1].to_vec()));
    let too_long = edit::edit(&discord, &parts[..1], to(&long)).await;
    assert!(matches!(too_long, Delivery::Permanent(_)), "{too_long:?}");
}

#[tokio::test]
async fn what_is_taken_back_is_gone_and_what_is_gone_is_taken_back() {
    let (fake, ops) = scene().await;
    let discord = adapter(&fake);
    let Delivery::Sent(parts) = send(&discord, &outgoing(thread(ops, "m:1"), "working")).await else {
        panic!("it is not sent")
    };
    assert_eq!(edit::retract(&discord, &parts).await, Delivery::Sent(Vec::new()));
    assert!(fake.seen_by(ANN, ops).is_empty());
    assert_eq!(edit::retract(&discord, &parts).await, Delivery::Sent(Vec::new()));
    let gone = edit::edit(&discord, &parts, to(&outgoing(thread(ops, "m:1"), "x"))).await;
    assert!(matches!(gone, Delivery::Permanent(_)), "{gone:?}");
    fake.fault(Fault::status(500).on("deleteMessage").next(1));
    assert!(matches!(edit::retract(&discord, &parts).await, Delivery::Retryable(_)));
    let refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused { status: 400, .. });
    assert!(!fake.log().iter().any(|call| refused(&call.outcome)), "no call has a wrong form");
}
