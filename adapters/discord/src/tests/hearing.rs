//! Hearing: what is handed over and in which order, and what cannot be.

use std::sync::Arc;

use countersign_core::port::{Admission, Condition, Sign, Touched};
use countersign_core::signal::{Addressed, Payload, Signal, SignalId};
use countersign_discord_fake::{Fault, Outcome, Say};

use super::desk::Hearing;
use super::*;

/// An adapter that hears.
async fn listening(fake: &Fake, desk: &Desk) -> (Arc<Discord>, Hearing) {
    let discord = Arc::new(adapter(fake));
    let hearing = Hearing::start(&discord, desk);
    desk.until("it hears", |desk| !desk.conditions().is_empty()).await;
    (discord, hearing)
}

#[tokio::test]
async fn what_people_write_is_heard_in_its_order() {
    let (fake, ops) = scene().await;
    let mine = fake.private(ANN);
    let desk = Desk::new();
    let (_discord, hearing) = listening(&fake, &desk).await;
    for n in 0..250 {
        fake.say(Say::new(ANN, if n % 2 == 0 { ops } else { mine }, &format!("line {n}")));
    }
    desk.until("all are heard", |desk| desk.signals().len() == 250).await;
    for (channel, first) in [(ops, 0), (mine, 1)] {
        let of_channel = (first..250).step_by(2).map(|n| format!("line {n}"));
        assert_eq!(desk.texts_in(channel), of_channel.collect::<Vec<_>>());
    }
    assert!(desk.conditions().iter().all(|condition| *condition == Condition::Hearing));
    let refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused { .. });
    assert!(!fake.log().iter().any(|call| refused(&call.outcome)), "{:#?}", fake.log());
    assert_eq!(hearing.stop().await, Ended::Stopped);
}

#[tokio::test]
async fn where_something_is_said_is_known_also_of_what_came_later() {
    let (fake, ops) = scene().await;
    let web = fake.thread(ANN, ops, "web");
    let role = fake.role("sre");
    fake.set_roles(ANN, &[role]);
    let desk = Desk::new();
    let (_discord, hearing) = listening(&fake, &desk).await;
    let later = fake.thread(ANN, ops, "later");
    let new = fake.channel("new");
    for channel in [ops, web, later, new, fake.private(ANN)] {
        fake.say(Say::new(ANN, channel, "Ops here?").mention(BOT, "Ops"));
    }
    desk.until("all are heard", |desk| desk.signals().len() == 5).await;
    let ids = [(ops, "OPS"), (web, "WEB"), (later, "LATER"), (new, "NEW"), (fake.private(ANN), "MINE")];
    let row = |signal: &Signal| {
        let key = &signal.thread;
        let place = format!("{} {} {}", key.conversation, key.root.as_str(), signal.room.as_str());
        let place = ids.iter().fold(place, |place, (id, name)| place.replace(&id.0.to_string(), name));
        let root = signal.event.as_str().rsplit(':').next().unwrap_or_default().to_owned();
        format!("{} {} {:?}", place.replace(&root, "ITSELF"), signal.platform_roles.len(), signal.addressed)
    };
    let mut rows: Vec<String> = desk.signals().iter().map(row).collect();
    rows.sort();
    insta::assert_snapshot!(rows.join("\n"), @r"
    MINE  direct 0 Direct
    NEW m:ITSELF group 1 Mention
    OPS m:ITSELF group 1 Mention
    OPS thread:LATER group 1 Mention
    OPS thread:WEB group 1 Mention
    ");
    assert!(
        desk.signals()
            .iter()
            .all(|signal| signal.thread.space.as_str().is_empty() || signal.platform_roles == [role.to_string()])
    );
    hearing.stop().await;
}

#[tokio::test]
async fn edits_deletions_and_reactions_are_heard() {
    let (fake, ops) = scene().await;
    let desk = Desk::new();
    let (discord, hearing) = listening(&fake, &desk).await;
    let said = fake.say(Say::new(ANN, ops, "one"));
    fake.unfold(ops, said);
    fake.edit(ops, said, "two");
    fake.delete(ops, said);
    let Delivery::Sent(ids) = send(&discord, &outgoing(thread(ops, "m:1"), "Countersign this?")).await else {
        panic!("it is not sent")
    };
    fake.react(ANN, ops, message_of(&ids[0]), "👍");
    fake.unreact(ANN, ops, message_of(&ids[0]), "👍");
    fake.react(ANN, ops, message_of(&ids[0]), "🎉");
    fake.react(ANN, ops, message_of(&ids[0]), "❌");
    desk.until("both reactions are heard", |desk| desk.touches().len() == 2).await;
    let payloads: Vec<Payload> = desk.signals().into_iter().map(|signal| signal.payload).collect();
    let event = event(ops, said);
    let expected = [
        Payload::Text { text: "one".to_owned() },
        Payload::Edited { event: event.clone() },
        Payload::Deleted { event },
    ];
    assert_eq!(payloads, expected, "that an address was looked at is no edit, and the bot does not hear itself");
    let signs: Vec<Touched> = desk.touches().into_iter().map(|touch| touch.on).collect();
    let on = |sign| Touched::Message { event: ids[0].clone(), sign };
    assert_eq!(signs, [on(Sign::Approve), on(Sign::Deny)]);
    hearing.stop().await;
}

#[tokio::test]
async fn what_could_not_be_stored_is_kept_and_nothing_overtakes_it() {
    let (fake, ops) = scene().await;
    let mine = fake.private(ANN);
    let desk = Desk::saying(vec![Err("the disk is full".to_owned()), Err("the disk is full".to_owned())]);
    let (_discord, hearing) = listening(&fake, &desk).await;
    for text in ["one", "two", "three"] {
        fake.say(Say::new(ANN, mine, text));
    }
    desk.until("all are taken", |desk| desk.signals().len() == 5).await;
    assert_eq!(desk.texts(), ["one", "one", "one", "two", "three"]);
    fake.say(Say::new(ANN, ops, "elsewhere"));
    desk.until("it goes on", |desk| desk.texts_in(ops) == ["elsewhere"]).await;
    let troubles = desk.conditions().into_iter().filter(|condition| matches!(condition, Condition::Trouble { .. }));
    let what = "a message could not be stored: the disk is full".to_owned();
    let trouble = |again_in_ms| Condition::Trouble { what: what.clone(), again_in_ms };
    assert_eq!(troubles.collect::<Vec<_>>(), [trouble(10), trouble(20)]);
    hearing.stop().await;
}

#[tokio::test]
async fn a_bot_that_stops_hears_nothing_more() {
    let (fake, ops) = scene().await;
    let desk = Desk::saying(vec![Ok(Admission::Stopping)]);
    let (_discord, hearing) = listening(&fake, &desk).await;
    fake.say(Say::new(ANN, ops, "one"));
    assert_eq!(hearing.end().await, Ended::Stopped);
}

#[tokio::test]
async fn who_finds_no_room_is_told_once_and_the_others_go_on() {
    let (fake, ops) = scene().await;
    let mine = fake.private(ANN);
    // Each is tried ten times more.
    let desk = Desk::saying(vec![Ok(Admission::Busy); 22]);
    let (_discord, hearing) = listening(&fake, &desk).await;
    fake.say(Say::new(ANN, mine, "one"));
    fake.say(Say::new(ANN, mine, "two"));
    let told = fake.wait_for(mine, |message| message.from_bot).await;
    insta::assert_snapshot!(told.text, @"I have more to do here than I can take on, so I did not take that up. Please send it again in a minute.");
    fake.say(Say::new(ANN, mine, "three"));
    fake.say(Say::new(ANN, ops, "four"));
    desk.until("the last are heard", |desk| {
        ["three", "four"].iter().all(|text| desk.texts().iter().any(|heard| heard == text))
    })
    .await;
    hearing.stop().await;
    assert_eq!(fake.messages(mine).iter().filter(|message| message.from_bot).count(), 1);
}

#[tokio::test]
async fn what_the_gateway_tells_twice_is_the_same_event() {
    let (fake, ops) = scene().await;
    let desk = Desk::saying(vec![Ok(Admission::Accepted(SignalId::new("s"))), Ok(Admission::Duplicate)]);
    let (discord, hearing) = listening(&fake, &desk).await;
    fake.fault(Fault::duplicate(1));
    let asked = fake.say(Say::new(ANN, ops, "Ops one").mention(BOT, "Ops"));
    desk.until("it is heard twice", |desk| desk.signals().len() == 2).await;
    let events: Vec<EventId> = desk.signals().into_iter().map(|signal| signal.event).collect();
    assert_eq!(events, [event(ops, asked), event(ops, asked)]);
    let Delivery::Sent(ids) = send(&discord, &outgoing(thread(ops, &format!("m:{asked}")), "yes?")).await else {
        panic!("it is not sent")
    };
    fake.say(Say::new(ANN, ops, "two").quiet_reply_to(message_of(&ids[0])));
    desk.until("the reply is heard", |desk| desk.signals().len() == 3).await;
    let reply = desk.signals().remove(2);
    assert_eq!((reply.addressed, reply.follows), (Addressed::Reply, Some(ids[0].clone())));
    hearing.stop().await;
}
