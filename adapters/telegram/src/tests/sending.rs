//! Sending: where a message goes, what comes of it, and that no part of it is sent twice or not at all.

use countersign_telegram_fake::{Fault, Say};

use super::*;
use crate::moved::MovedChats;
use crate::render::{Part, Text};

/// So many lines, each with its number.
fn many(lines: usize, text: &str) -> String {
    (0..lines).map(|n| format!("{n} {text}")).collect::<Vec<_>>().join("\n")
}

async fn outcome_of(fake: &Fake, fault: Fault) -> String {
    fake.clear_faults();
    fake.fault(fault.on("sendMessage"));
    let mine = fake.private(11);
    let sent = send(&adapter(fake), &outgoing(thread(mine, ""), "hello")).await;
    let said = format!("{sent:?}");
    said.split("error sending").next().unwrap_or_default().trim_end().to_owned()
}

#[tokio::test]
async fn each_thread_gets_its_answer_where_it_was_asked() {
    let (fake, ann) = scene().await;
    let (ops, forum, mine) = (fake.group("ops"), fake.forum("deploys"), fake.private(ann));
    let topic = fake.topic(forum, "web");
    let asked = fake.say(Say::new(ann, ops, "first"));
    let again = fake.say(Say::new(ann, ops, "second"));
    let telegram = adapter(&fake);
    let chain = outgoing(thread(ops, &format!("m:{asked}")), "in the chain");
    let anchors = [None, Some(event(ops, again)), Some(EventId::new("cb:77")), Some(event(mine, again))];
    let mut replies = Vec::new();
    for anchor in &anchors {
        let sent = deliver::deliver(&telegram, Letter { anchor: anchor.as_ref(), ..to(&chain) }).await;
        let Delivery::Sent(ids) = sent else { panic!("{sent:?}") };
        let id: i64 = ids[0].as_str().split(':').next_back().and_then(|id| id.parse().ok()).expect("it is a message");
        replies.push(fake.message(ops, id).and_then(|message| message.reply_to));
    }
    assert_eq!(replies, [Some(asked), Some(again), Some(asked), Some(asked)]);
    for (root, expected) in [(format!("topic:{topic}"), Some(topic)), ("topic:general".to_owned(), None)] {
        send(&telegram, &outgoing(thread(forum, &root), &root)).await;
        let shown = fake.wait_for(forum, |message| message.text == root).await;
        assert_eq!((shown.topic, shown.reply_to.filter(|reply| Some(*reply) != expected)), (expected, None));
    }
    send(&telegram, &outgoing(thread(mine, ""), "mine")).await;
    assert_eq!(fake.wait_for(mine, |message| message.text == "mine").await.reply_to, None);
    let elsewhere = ThreadKey { conversation: ConversationId::new("console"), ..thread(mine, "") };
    let sent = send(&telegram, &outgoing(elsewhere, "x")).await;
    assert_eq!(sent, Delivery::Permanent("it goes to a thread that is none of Telegram's".to_owned()));
}

#[tokio::test]
async fn a_question_that_is_gone_is_answered_all_the_same() {
    let (fake, _) = scene().await;
    let ops = fake.group("ops");
    let sent = send(&adapter(&fake), &outgoing(thread(ops, "m:4711"), "hello")).await;
    assert!(matches!(sent, Delivery::Sent(ids) if ids.len() == 1));
}

#[tokio::test]
async fn what_came_of_a_call_is_told_by_its_code() {
    let (fake, ann) = scene().await;
    let ops = fake.group("ops");
    let all = [
        outcome_of(&fake, Fault::too_many(238)).await,
        outcome_of(&fake, Fault::status(502)).await,
        outcome_of(&fake, Fault::gateway(502)).await,
        outcome_of(&fake, Fault::gateway(403)).await,
        outcome_of(&fake, Fault::drop_before()).await,
        outcome_of(&fake, Fault::drop_after()).await,
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    RetryAfter(238000)
    Retryable("Telegram answers 502: Bad Gateway")
    Ambiguous("something before Telegram answers 502: Bad Gateway")
    Retryable("something before Telegram answers 403: Forbidden")
    Ambiguous("no answer from Telegram:
    Ambiguous("no answer from Telegram:
    "#);
    fake.clear_faults();
    let telegram = adapter(&fake);
    fake.block(ann);
    let blocked = send(&telegram, &outgoing(thread(fake.private(ann), ""), "x")).await;
    fake.kick(ops);
    let kicked = send(&telegram, &outgoing(thread(ops, ""), "x")).await;
    let unknown = send(&telegram, &outgoing(thread(ChatId(-4711), ""), "x")).await;
    fake.stop_listening().await;
    let down = send(&adapter(&fake), &outgoing(thread(ops, ""), "x")).await;
    insta::assert_snapshot!(format!("{blocked:?}\n{kicked:?}\n{unknown:?}"), @r#"
    Unauthorized("Telegram answers 403: Forbidden: bot was blocked by the user")
    Unauthorized("Telegram answers 403: Forbidden: bot was kicked from the supergroup chat")
    Permanent("Telegram answers 400: Bad Request: chat not found")
    "#);
    let Delivery::Retryable(why) = down else { panic!("{down:?}") };
    assert!(why.starts_with("Telegram cannot be reached: ") && !why.contains(fake.token()), "{why}");
}

#[tokio::test]
async fn a_delivery_that_broke_off_goes_on_where_it_was() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    let lines = many(500, "line");
    let message = outgoing(thread(mine, ""), &lines);
    let telegram = adapter(&fake);
    // The first part gets through, and the second does not.
    assert!(matches!(send_until_fault(&telegram, &fake, &message).await, Delivery::RetryAfter(7000)));
    let sent = send(&telegram, &message).await;
    let Delivery::Sent(ids) = sent else { panic!("{sent:?}") };
    let shown: Vec<String> = fake.messages(mine, None).iter().map(|message| message.text.clone()).collect();
    assert_eq!(shown.join("\n"), lines);
    let known: Vec<EventId> = fake.messages(mine, None).iter().map(|message| event(mine, message.id)).collect();
    assert_eq!(ids, known, "the ids of all parts, also of those that were sent before");
}

/// Sends with a fault that strikes the second call of `sendMessage`.
async fn send_until_fault(telegram: &Telegram, fake: &Fake, message: &Outgoing) -> Delivery {
    let first = fake.wait_for_call(|call| call.method == "sendMessage");
    let fault = async {
        first.await;
        fake.fault(Fault::too_many(7).on("sendMessage").next(1));
    };
    fake.fault(Fault::slow(Duration::from_millis(200)).on("sendMessage").next(1));
    let (delivery, ()) = futures::future::join(send(telegram, message), fault).await;
    delivery
}

#[tokio::test]
async fn what_may_be_a_repeat_says_so_once() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    let message = outgoing(thread(mine, ""), &"word ".repeat(1500));
    let sent = deliver::deliver(&adapter(&fake), Letter { notes: DeliveryNotes::REPEAT, ..to(&message) }).await;
    assert!(matches!(sent, Delivery::Sent(ids) if ids.len() == 2));
    let marked: Vec<bool> =
        fake.messages(mine, None).iter().map(|message| message.text.starts_with("(may be a repeat)\n")).collect();
    assert_eq!(marked, [true, false]);
}

#[tokio::test]
async fn what_is_too_long_goes_as_a_file() {
    let (fake, ann) = scene().await;
    let forum = fake.forum("deploys");
    let topic = fake.topic(forum, "web");
    fake.say(Say::new(ann, forum, "log").topic(topic));
    let log = many(900, "<served> & done in 12 ms");
    let mut message = outgoing(thread(forum, &format!("topic:{topic}")), "The log:");
    message.blocks.push(Block::Code { text: log.clone() });
    let sent = send(&adapter(&fake), &message).await;
    assert!(matches!(sent, Delivery::Sent(ref ids) if ids.len() == 2), "{sent:?}");
    let file = fake.wait_for(forum, |message| message.document.is_some()).await;
    let document = file.document.expect("it is there");
    assert_eq!((document.name.as_str(), file.topic), ("answer.txt", Some(topic)));
    assert_eq!(String::from_utf8_lossy(&document.bytes), format!("The log:\n{log}"));
}

#[tokio::test]
async fn markup_that_telegram_cannot_read_is_left_out_and_only_then() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    let telegram = adapter(&fake);
    let target = deliver::Target::of(&thread(mine, ""), None, &MovedChats::default()).expect("it is a thread");
    let part = |html: &str| Part::Message(Text { html: html.to_owned(), plain: "x".to_owned(), keyboard: None });
    assert!(deliver::send(&telegram, target, part("<b>x"), DeliveryNotes::default()).await.is_ok());
    assert_eq!(fake.messages(mine, None).len(), 1);
    fake.block(ann);
    let calls = || fake.calls().get("sendMessage").map_or(0, |count| count.calls);
    let before = calls();
    assert!(deliver::send(&telegram, target, part("<b>x</b>"), DeliveryNotes::default()).await.is_err());
    assert_eq!(calls() - before, 1, "no other refusal is tried again as plain text");
}

#[tokio::test]
async fn progress_rings_nobody() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    let message = Outgoing { lane: Lane::Progress, ..outgoing(thread(mine, ""), "reading host_disk") };
    send(&adapter(&fake), &message).await;
    let call = fake.wait_for_call(|call| call.method == "sendMessage").await;
    assert_eq!(call.params["disable_notification"], true);
    assert_eq!(call.params["link_preview_options"]["is_disabled"], true);
}
