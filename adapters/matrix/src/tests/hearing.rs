//! Hearing: what becomes a signal and in which thread, what is heard again after the bot was gone, and whose invitation is
//! taken.

use countersign_core::port::{Admission, Condition, Sign, Touched};
use countersign_core::signal::{Addressed, Assurance, ConversationKind};
use countersign_synapse::Fault;
use matrix_sdk::ruma::OwnedEventId;
use matrix_sdk::ruma::events::reaction::ReactionEventContent;
use matrix_sdk::ruma::events::relation::{Annotation, Thread};
use matrix_sdk::ruma::events::room::message::{Relation, ReplacementMetadata, RoomMessageEventContent};

use super::*;

fn in_thread(text: &str, root: &OwnedEventId) -> RoomMessageEventContent {
    let mut content = RoomMessageEventContent::text_plain(text);
    content.relates_to = Some(Relation::Thread(Thread::plain(root.clone(), root.clone())));
    content
}

#[tokio::test]
async fn what_is_said_to_the_bot_is_heard_in_its_thread_and_what_is_taken_back_too() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    let ann = scene.person("ann").await;
    let room = ann.group(&scene.bot, false).await;
    let first = ann.ask(&room, "one").await;
    let signal = desk.heard("one").await;
    assert_eq!(signal.thread, scene.thread(&room, first.as_str()));
    assert_eq!((signal.room, signal.addressed), (ConversationKind::Group, Addressed::Command));
    assert_eq!((signal.actor.id.as_str(), signal.assurance), (ann.id().as_str(), Assurance::Unsealed));
    assert_eq!(signal.platform_roles, ["power:100", "power:50"], "who makes a room runs it");
    ann.send(&room, in_thread("!cs two", &first)).await;
    assert_eq!(desk.heard("two").await.thread, scene.thread(&room, first.as_str()));
    ann.send(&room, RoomMessageEventContent::notice_plain("!cs a notice")).await;
    let better = RoomMessageEventContent::text_plain("!cs better")
        .make_replacement(ReplacementMetadata::new(first.clone(), None));
    ann.send(&room, better).await;
    ann.client.get_room(room.room_id()).expect("she is in it").redact(&first, None, None).await.expect("it is hers");
    desk.heard(&format!("deleted {first}")).await;
    let expected = ["one".to_owned(), "two".to_owned(), format!("edited {first}"), format!("deleted {first}")];
    assert_eq!(desk.texts(), expected);
    hearing.stop().await;
}

#[tokio::test]
async fn a_direct_conversation_is_one_thread_and_a_third_person_ends_that() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    let (ann, bob) = (scene.person("ann").await, scene.person("bob").await);
    let room = ann.direct(&scene.bot, false).await;
    ann.send(&room, RoomMessageEventContent::text_plain("hello")).await;
    let signal = desk.heard("hello").await;
    assert_eq!(signal.thread, scene.thread(&room, ""));
    assert_eq!((signal.room, signal.addressed), (ConversationKind::Direct, Addressed::Direct));
    room.invite_user_by_id(bob.id()).await.expect("she may invite");
    let second = ann.ask(&room, "and now").await;
    let signal = desk.heard("and now").await;
    assert_eq!((signal.room, signal.thread), (ConversationKind::Group, scene.thread(&room, second.as_str())));
    hearing.stop().await;
}

#[tokio::test]
async fn a_reply_to_the_bot_and_a_reaction_to_its_card_are_heard() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let matrix = scene.matrix(Encryption::Off);
    let hearing = Hearing::start(&matrix, &desk);
    let ann = scene.person("ann").await;
    let room = ann.group(&scene.bot, false).await;
    let asked = ann.ask(&room, "how are you").await;
    desk.heard("how are you").await;
    let sent = send(&matrix, &outgoing(scene.thread(&room, asked.as_str()), "fine, thank you")).await;
    let shown = ann.sees(&room, "fine, thank you").await;
    assert_eq!(shown["event_id"], sent[0].as_str());
    let answer: OwnedEventId = sent[0].as_str().try_into().expect("it is an event");
    let mut reply = RoomMessageEventContent::text_plain("and the disks?");
    reply.relates_to = Some(Relation::Thread(Thread::reply(asked.clone(), answer.clone())));
    ann.send(&room, reply).await;
    let signal = desk.heard("and the disks?").await;
    assert_eq!((signal.addressed, signal.thread), (Addressed::Reply, scene.thread(&room, asked.as_str())));
    room.send(ReactionEventContent::new(Annotation::new(answer.clone(), "✅".to_owned())))
        .await
        .expect("it can be sent");
    desk.until("the reaction", |desk| !desk.touches().is_empty()).await;
    let touch = desk.touches().remove(0);
    assert_eq!(touch.on, Touched::Message { event: sent[0].clone(), sign: Sign::Approve });
    assert_eq!((touch.actor.id.as_str(), touch.assurance), (ann.id().as_str(), Assurance::Unsealed));
    hearing.stop().await;
}

#[tokio::test]
async fn an_answer_to_the_bot_is_heard_also_where_nobody_says_whose_message_it_answers_for_a_while() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let matrix = scene.matrix(Encryption::Off);
    let hearing = Hearing::start(&matrix, &desk);
    let ann = scene.person("ann").await;
    let room = ann.group(&scene.bot, false).await;
    let asked = ann.ask(&room, "how are you").await;
    desk.heard("how are you").await;
    let sent = send(&matrix, &outgoing(scene.thread(&room, asked.as_str()), "fine, thank you")).await;
    let answer: OwnedEventId = sent[0].as_str().try_into().expect("it is an event");
    scene.gate.fault(Fault::lost_reply().on("/event/").times(20));
    let mut reply = RoomMessageEventContent::text_plain("and the disks?");
    reply.relates_to = Some(Relation::Thread(Thread::reply(asked, answer)));
    ann.send(&room, reply).await;
    assert_eq!(desk.heard("and the disks?").await.addressed, Addressed::Reply);
    assert!(desk.conditions().iter().any(|condition| matches!(condition, Condition::Trouble { .. })), "and it is told");
    hearing.stop().await;
}

#[tokio::test]
async fn what_was_said_while_the_bot_was_gone_is_heard_once_however_much_it_was() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    let ann = scene.person("ann").await;
    let room = ann.group(&scene.bot, false).await;
    ann.ask(&room, "before").await;
    desk.heard("before").await;
    hearing.stop().await;
    for n in 0..120 {
        room.send(RoomMessageEventContent::text_plain(format!("!cs {n}"))).await.expect("it can be sent");
    }
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    desk.heard("119").await;
    let expected: Vec<String> = (0..120).map(|n| n.to_string()).collect();
    let heard: Vec<String> = desk.texts().into_iter().filter(|text| text != "before").collect();
    assert_eq!(heard, expected, "more than one answer holds, in order");
    hearing.stop().await;
}

#[tokio::test]
async fn what_was_not_stored_is_heard_again_after_a_crash() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    let ann = scene.person("ann").await;
    let room = ann.group(&scene.bot, false).await;
    ann.ask(&room, "stored").await;
    desk.heard("stored").await;
    hearing.stop().await;
    // The store fails each time, and then the bot is killed: the SDK has moved on, the bot has not.
    let desk = Desk::saying(vec![Err("the disk is full".to_owned()); 10_000]);
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    ann.ask(&room, "not stored").await;
    let is_full = |condition: &Condition| format!("{condition:?}").contains("the disk is full");
    desk.until("it cannot be stored", |desk| desk.conditions().iter().any(is_full)).await;
    hearing.stop().await;
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    desk.heard("not stored").await;
    hearing.stop().await;
}

#[tokio::test]
async fn a_full_engine_is_asked_again_and_a_person_is_told() {
    let scene = Scene::new().await;
    let desk = Desk::saying(vec![Ok(Admission::Busy); 11]);
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    let ann = scene.person("ann").await;
    let room = ann.group(&scene.bot, false).await;
    let asked = ann.ask(&room, "too much").await;
    let told = ann.sees(&room, "I have more to do here than I can take on").await;
    assert_eq!(told["content"]["m.relates_to"]["event_id"], asked.as_str());
    ann.ask(&room, "again").await;
    desk.heard("again").await;
    assert_eq!(desk.texts(), ["again"]);
    hearing.stop().await;
}

#[tokio::test]
async fn a_full_engine_is_waited_out_once_for_all_that_was_said_in_a_room_meanwhile() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    let ann = scene.person("ann").await;
    let room = ann.group(&scene.bot, false).await;
    ann.ask(&room, "before").await;
    desk.heard("before").await;
    // It asks for more only when its place is written.
    scene.gate.wait_for_since(scene.gate.count(), |call| call.path.contains("/sync")).await;
    hearing.stop().await;
    // All of it is in the first answer that the bot gets.
    let words = ["waited for", "not waited for", "neither", "in time"];
    for words in words {
        ann.ask(&room, words).await;
    }
    let desk = Desk::saying(vec![Ok(Admission::Busy); 11 + 2]);
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    desk.heard("in time").await;
    assert_eq!(desk.texts(), ["in time"]);
    hearing.stop().await;
}

#[tokio::test]
async fn only_who_may_talk_may_invite_and_what_was_said_before_is_not_answered() {
    let scene = Scene::new().await;
    let (ann, eve) = (scene.person("ann").await, scene.person("stranger").await);
    let early = ann.invite(&scene.bot, false, false).await;
    ann.ask(&early, "too early").await;
    let theirs = eve.invite(&scene.bot, false, false).await;
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    let membership = |person: &Person, room: &Room, wanted: &str| {
        person
            .events(room)
            .iter()
            .any(|event| event["state_key"] == scene.bot.as_str() && event["content"]["membership"] == wanted)
    };
    eve.until("it is declined", |eve| membership(eve, &theirs, "leave")).await;
    ann.until("it is taken", |ann| membership(ann, &early, "join")).await;
    ann.ask(&early, "in time").await;
    desk.heard("in time").await;
    assert_eq!(desk.texts(), ["in time"]);
    assert!(!membership(&eve, &theirs, "join"));
    hearing.stop().await;
}

#[tokio::test]
async fn what_is_said_is_heard_while_an_invitation_is_taken_and_so_is_all_that_is_said_in_that_room() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    // Longer than anybody here waits for anything.
    let timing = Timing { call: PATIENCE * 2, ..QUICK };
    let matrix = Arc::new(Matrix::timed(scene.options(Encryption::Off), timing).expect("the options are sound"));
    let hearing = Hearing::start(&matrix, &desk);
    let (ann, bob) = (scene.person("ann").await, scene.person("bob").await);
    let room = ann.group(&scene.bot, false).await;
    // His homeserver is slow, as it looks from here.
    scene.gate.fault(Fault::held().on("/join"));
    let direct = bob.invite(&scene.bot, false, true).await;
    let has_joined = |bob: &Person| {
        let is_join = |event: &serde_json::Value| event["content"]["membership"] == "join";
        bob.events(&direct).iter().any(|event| is_join(event) && event["state_key"] == scene.bot.as_str())
    };
    scene.gate.wait_for(|call| call.path.contains("m.direct") && call.method == "PUT").await;
    ann.ask(&room, "meanwhile").await;
    desk.heard("meanwhile").await;
    assert!(!has_joined(&bob));
    scene.gate.clear_faults();
    bob.until("it is taken", has_joined).await;
    bob.send(&direct, RoomMessageEventContent::text_plain("hello")).await;
    let signal = desk.heard("hello").await;
    assert_eq!((signal.room, signal.thread), (ConversationKind::Direct, scene.thread(&direct, "")));
    hearing.stop().await;
}
