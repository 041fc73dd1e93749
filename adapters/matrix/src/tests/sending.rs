//! Sending: where a message goes, that it is there once however often it is sent, and what becomes of what stood for buttons.

use countersign_core::approval::{Digest, PlanId, Risk};
use countersign_core::port::{CardChoice, Delivery};
use countersign_synapse::Fault;
use matrix_sdk::ruma::{OwnedEventId, RoomId};

use super::*;

const PLAN: &str = "4a3f00c19be2d7756018f2ab9c44e01d";

/// A bot in a group that asked it something.
async fn asked(encryption: Encryption) -> (Scene, Arc<Matrix>, Hearing, Person, Room, OwnedEventId) {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let matrix = scene.matrix(encryption);
    let hearing = Hearing::start(&matrix, &desk);
    let ann = scene.person("ann").await;
    let room = ann.group(&scene.bot, encryption == Encryption::Required).await;
    let asked = ann.ask(&room, "a question").await;
    desk.heard("a question").await;
    (scene, matrix, hearing, ann, room, asked)
}

#[tokio::test]
async fn an_answer_is_there_once_and_in_the_thread_of_its_question() {
    let (scene, matrix, hearing, ann, room, asked) = asked(Encryption::Off).await;
    let message = outgoing(scene.thread(&room, asked.as_str()), "an <b>answer</b> for @room");
    let sent = send(&matrix, &message).await;
    // It may have come through, for all that is known, so that it is sent again.
    assert_eq!(send(&matrix, &message).await, sent);
    // Another one is lost on its way back for sure.
    let next = Letter { id: "0198a7c2d4e57f3a9b1c2d3e4f506173", ..to(&message) };
    scene.gate.fault(Fault::lost_reply().in_room(room.room_id().as_str()).times(1));
    let lost = deliver::deliver(&matrix, next).await;
    assert!(matches!(&lost, Delivery::Retryable(why) if why.starts_with("no answer")), "{lost:?}");
    let other = deliver::deliver(&matrix, next).await;
    assert!(matches!(&other, Delivery::Sent(other) if *other != sent), "{other:?}");
    ann.until("both are there", |ann| ann.bodies(&room).iter().filter(|body| body.contains("an <b>")).count() > 1)
        .await;
    let said = ann.sees(&room, "an <b>answer").await;
    insta::assert_snapshot!(format!("{:#}", said["content"]).replace(asked.as_str(), "ASKED"), @r#"
    {
      "body": "an <b>answer</b> for @room",
      "format": "org.matrix.custom.html",
      "formatted_body": "an &lt;b&gt;answer&lt;/b&gt; for @room",
      "m.mentions": {},
      "m.relates_to": {
        "event_id": "ASKED",
        "is_falling_back": true,
        "m.in_reply_to": {
          "event_id": "ASKED"
        },
        "rel_type": "m.thread"
      },
      "msgtype": "m.text"
    }
    "#);
    assert_eq!(ann.bodies(&room).iter().filter(|body| body.contains("an <b>")).count(), 2);
    hearing.stop().await;
}

#[tokio::test]
async fn a_card_bears_its_reactions_until_it_is_decided() {
    let (scene, matrix, hearing, ann, room, asked) = asked(Encryption::Off).await;
    let mut card = outgoing(scene.thread(&room, asked.as_str()), "restart nginx");
    let (plan, digest) = (PlanId::parse(PLAN).expect("it is an id"), Digest::of(b"x"));
    card.blocks.push(Block::Card {
        plan,
        digest,
        choices: vec![CardChoice::Approve, CardChoice::Deny],
        risk: Risk::Low,
    });
    let sent = send(&matrix, &card).await;
    let seeds = |ann: &Person| -> Vec<String> {
        let events = ann.events(&room);
        let on_it = events.iter().filter(|event| event["content"]["m.relates_to"]["event_id"] == sent[0].as_str());
        on_it.filter_map(|event| event["content"]["m.relates_to"]["key"].as_str().map(ToOwned::to_owned)).collect()
    };
    ann.until("its reactions", |ann| seeds(ann).len() == 3).await;
    assert_eq!(seeds(&ann), ["✅", "❌", "🔎"]);
    let done = outgoing(scene.thread(&room, asked.as_str()), "restart nginx: approved");
    assert_eq!(edit::edit(&matrix, &sent, to(&done)).await, Delivery::Sent(sent.clone()));
    let redactions =
        |ann: &Person| ann.events(&room).iter().filter(|event| event["type"] == "m.room.redaction").count();
    ann.until("they are gone", |ann| redactions(ann) == 3).await;
    let edited = ann.sees(&room, "* restart nginx: approved").await;
    assert_eq!(edited["content"]["m.new_content"]["body"], "restart nginx: approved");
    assert_eq!(edited["content"]["m.relates_to"]["event_id"], sent[0].as_str());
    assert_eq!(edit::retract(&matrix, &card.to, &sent).await, Delivery::Sent(Vec::new()));
    ann.until("it is gone", |ann| redactions(ann) == 4).await;
    hearing.stop().await;
}

#[tokio::test]
async fn the_reactions_of_a_card_from_before_a_restart_go_too() {
    let (scene, matrix, hearing, ann, room, asked) = asked(Encryption::Off).await;
    let mut question = outgoing(scene.thread(&room, asked.as_str()), "which one?");
    let choice = |label: &str| countersign_core::port::Choice { label: label.to_owned(), about: String::new() };
    let id = countersign_core::signal::QuestionId::new("q");
    question.blocks.push(Block::Choices { question: id, choices: vec![choice("one"), choice("two")] });
    let sent = send(&matrix, &question).await;
    hearing.stop().await;
    let (matrix, desk) = (scene.matrix(Encryption::Off), Desk::new());
    let hearing = Hearing::start(&matrix, &desk);
    hears(&desk).await;
    let done = outgoing(scene.thread(&room, asked.as_str()), "one");
    assert_eq!(edit::edit(&matrix, &sent, to(&done)).await, Delivery::Sent(sent.clone()));
    let redactions =
        |ann: &Person| ann.events(&room).iter().filter(|event| event["type"] == "m.room.redaction").count();
    ann.until("they are gone", |ann| redactions(ann) == 2).await;
    hearing.stop().await;
}

#[tokio::test]
async fn what_is_too_long_goes_as_a_file_that_only_the_room_can_read() {
    let (scene, matrix, hearing, ann, room, asked) = asked(Encryption::Required).await;
    let log = (0..4000).map(|n| format!("{n} <served> & done in 12 ms")).collect::<Vec<_>>().join("\n");
    let mut message = outgoing(scene.thread(&room, asked.as_str()), "The log:");
    message.blocks.push(Block::Code { text: log.clone() });
    send(&matrix, &message).await;
    let shown = ann.sees(&room, "answer.txt").await;
    assert!(shown["content"]["url"].is_null() && shown["content"]["file"]["url"].is_string(), "{shown}");
    assert_eq!(shown["content"]["m.relates_to"]["event_id"], asked.as_str());
    let content = serde_json::from_value(shown["content"].clone()).expect("it is a file");
    let matrix_sdk::ruma::events::room::message::MessageType::File(file) = content else { panic!("it is a file") };
    let request =
        matrix_sdk::media::MediaRequestParameters { source: file.source, format: matrix_sdk::media::MediaFormat::File };
    let bytes = ann.client.media().get_media_content(&request, false).await.expect("she may read it");
    assert!(String::from_utf8_lossy(&bytes).contains(&log));
    hearing.stop().await;
}

/// Waits until the bot knows that it is in a room: others see its joining before the answer to it has reached the bot.
async fn knows(matrix: &Matrix, room: &RoomId) {
    let joined = async {
        while !matrix.client().and_then(|client| client.get_room(room)).is_some_and(|room| rooms::is_joined(&room)) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, joined).await.expect("the bot joins");
}

#[tokio::test]
async fn what_cannot_be_delivered_is_told_by_its_kind() {
    let (scene, matrix, hearing, ann, room, asked) = asked(Encryption::Off).await;
    let deliver = async |to: ThreadKey| format!("{:?}", deliver::deliver(&matrix, self::to(&outgoing(to, "x"))).await);
    let here = scene.thread(&room, asked.as_str());
    let foreign = deliver(ThreadKey { conversation: ConversationId::new("-100:4"), ..here.clone() }).await;
    let unknown = deliver(ThreadKey { conversation: ConversationId::new("!nowhere:localhost"), ..here.clone() }).await;
    scene.gate.fault(Fault::too_many(1234).in_room(room.room_id().as_str()).times(1));
    let limited = deliver(here.clone()).await;
    scene.gate.fault(Fault::broken(502).in_room(room.room_id().as_str()).times(1));
    let broken = deliver(here.clone()).await;
    let sealed = ann.group(&scene.bot, true).await;
    knows(&matrix, sealed.room_id()).await;
    let sealed = deliver(scene.thread(&sealed, asked.as_str())).await;
    ann.client.get_room(room.room_id()).expect("it is hers").kick_user(&scene.bot, None).await.expect("she may");
    let kicked = deliver(here.clone()).await;
    let fresh = Matrix::timed(scene.options(Encryption::Off), QUICK).expect("the options are sound");
    let early = format!("{:?}", deliver::deliver(&fresh, to(&outgoing(here, "x"))).await);
    let all = [foreign, unknown, limited, broken, sealed, kicked, early].join("\n");
    insta::assert_snapshot!(all.replace(scene.bot.as_str(), "BOT").replace(room.room_id().as_str(), "ROOM"), @r#"
    Permanent("it goes to a thread that is none of Matrix's")
    Unauthorized("the bot is not in that room")
    RetryAfter(1234)
    Retryable("the homeserver answers 502: M_UNKNOWN, Internal server error")
    Permanent("the room is encrypted, and `matrix.encryption` is `off`")
    Unauthorized("the homeserver answers 403: M_FORBIDDEN, User BOT not in room ROOM")
    Retryable("the bot is not logged in at its homeserver yet")
    "#);
    hearing.stop().await;
}

/// Sends until it is out. Everything before that has to be trouble that passes.
async fn delivered(matrix: &Matrix, message: &Outgoing) -> Vec<String> {
    let mut troubles = Vec::new();
    let tries = async {
        loop {
            match deliver::deliver(matrix, to(message)).await {
                Delivery::Sent(_) => return,
                Delivery::Retryable(trouble) => troubles.push(trouble),
                other => panic!("{other:?}"),
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, tries).await.expect("it goes out");
    troubles
}

#[tokio::test]
async fn what_is_to_be_sent_while_the_token_has_ended_goes_out_when_the_device_is_logged_in_again() {
    let (scene, matrix, hearing, ann, room, asked) = asked(Encryption::Off).await;
    let before = scene.gate.count();
    // A message is the first to find out, and the next sync is the second.
    scene.gate.fault(Fault::logged_out().in_room(room.room_id().as_str()).times(1));
    scene.gate.fault(Fault::logged_out().on("/sync").times(1));
    let troubles = delivered(&matrix, &outgoing(scene.thread(&room, asked.as_str()), "an answer")).await;
    assert_eq!(troubles[0], "the homeserver answers 401: M_UNKNOWN_TOKEN, Access token has expired");
    scene.gate.wait_for_since(before, |call| call.path.contains("/login") && call.status == Some(200)).await;
    ann.sees(&room, "an answer").await;
    let again = outgoing(scene.thread(&room, asked.as_str()), "another answer");
    let again = Letter { id: "0198a7c2d4e57f3a9b1c2d3e4f506173", ..to(&again) };
    // The old token has ended for good by now.
    let sent = async {
        while !matches!(deliver::deliver(&matrix, again).await, Delivery::Sent(_)) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, sent).await.expect("it goes out");
    ann.sees(&room, "another answer").await;
    hearing.stop().await;
}

#[tokio::test]
async fn a_room_is_unknown_only_when_the_homeserver_has_said_in_which_ones_the_bot_is() {
    let (scene, _, hearing, ann, room, asked) = asked(Encryption::Off).await;
    hearing.stop().await;
    // A new folder, as after a move to another machine: nothing of the rooms lies in it.
    scene.gate.fault(Fault::broken(502).on("/sync"));
    let options = Options { store: scene.folder.path().join("another"), ..scene.options(Encryption::Off) };
    let (matrix, desk) = (made(options), Desk::new());
    let hearing = Hearing::start(&matrix, &desk);
    let in_vain = |desk: &Desk| desk.conditions().len() > 1;
    desk.until("it cannot hear", |desk| matrix.client().is_some() && in_vain(desk)).await;
    let answer = outgoing(scene.thread(&room, asked.as_str()), "an answer");
    let nowhere = ThreadKey { conversation: ConversationId::new("!nowhere:localhost"), ..answer.to.clone() };
    let nowhere = outgoing(nowhere, "x");
    let yet = "Retryable(\"the homeserver has not said yet in which rooms the bot is\")";
    assert_eq!(format!("{:?}", deliver::deliver(&matrix, to(&answer)).await), yet);
    assert_eq!(format!("{:?}", deliver::deliver(&matrix, to(&nowhere)).await), yet);
    assert_eq!(format!("{:?}", edit::retract(&matrix, &answer.to, &[]).await), yet);
    scene.gate.clear_faults();
    hears(&desk).await;
    assert!(matches!(deliver::deliver(&matrix, to(&nowhere)).await, Delivery::Unauthorized(_)));
    delivered(&matrix, &answer).await;
    ann.sees(&room, "an answer").await;
    hearing.stop().await;
}
