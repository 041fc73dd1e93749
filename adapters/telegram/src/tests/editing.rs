//! Putting right what was sent, and taking it back.

use countersign_telegram_fake::Fault;

use super::*;

/// A message in a private chat, with the ids of its parts.
async fn sent(telegram: &Telegram, message: &Outgoing) -> Vec<EventId> {
    match send(telegram, message).await {
        Delivery::Sent(ids) => ids,
        other => panic!("{other:?}"),
    }
}

fn shown(fake: &Fake, chat: ChatId) -> Vec<String> {
    fake.messages(chat, None).iter().filter(|message| !message.deleted).map(|message| message.text.clone()).collect()
}

#[tokio::test]
async fn a_message_is_shown_in_the_place_of_another() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    let telegram = adapter(&fake);
    let parts = sent(&telegram, &outgoing(thread(mine, ""), "reading host_disk")).await;
    let next = outgoing(thread(mine, ""), "verifying <now>");
    assert_eq!(edit::edit(&telegram, &parts, to(&next)).await, Delivery::Sent(parts.clone()));
    assert_eq!(
        edit::edit(&telegram, &parts, to(&next)).await,
        Delivery::Sent(parts.clone()),
        "what reads the same is done"
    );
    assert_eq!(shown(&fake, mine), ["verifying <now>"]);
    fake.fault(Fault::too_many(3).on("editMessageText"));
    let other = outgoing(thread(mine, ""), "other");
    assert_eq!(edit::edit(&telegram, &parts, to(&other)).await, Delivery::RetryAfter(3000));
}

#[tokio::test]
async fn what_shrinks_loses_its_end_and_what_has_no_room_stays_as_it_is() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    let telegram = adapter(&fake);
    let long = outgoing(thread(mine, ""), &"word ".repeat(1500));
    let short = outgoing(thread(mine, ""), "short");
    let parts = sent(&telegram, &long).await;
    assert_eq!(parts.len(), 2);
    assert_eq!(edit::edit(&telegram, &parts, to(&short)).await, Delivery::Sent(parts[..1].to_vec()));
    assert_eq!(shown(&fake, mine), ["short"]);
    let grown = edit::edit(&telegram, &parts[..1], to(&long)).await;
    insta::assert_snapshot!(format!("{grown:?}"), @r#"Permanent("it is longer than what it takes the place of, which has 1 parts")"#);
    assert_eq!(shown(&fake, mine), ["short"]);
}

#[tokio::test]
async fn what_is_gone_is_taken_back_already() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    let telegram = adapter(&fake);
    let parts = sent(&telegram, &outgoing(thread(mine, ""), "hello")).await;
    for _ in 0..2 {
        assert_eq!(edit::retract(&telegram, &parts).await, Delivery::Sent(Vec::new()));
        assert!(shown(&fake, mine).is_empty());
    }
    let next = outgoing(thread(mine, ""), "other");
    let edited = edit::edit(&telegram, &parts, to(&next)).await;
    assert!(matches!(edited, Delivery::Permanent(_)), "{edited:?}");
}
