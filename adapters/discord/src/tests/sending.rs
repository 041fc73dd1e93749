//! Sending: where a message goes, what comes of it, and that no part of it is sent twice or not at all.

use std::collections::BTreeSet;

use countersign_discord_fake::{Access, Fault, Say};

use super::*;

async fn outcome_of(fake: &Fake, ops: ChannelId, fault: Fault) -> String {
    fake.clear_faults();
    fake.fault(fault.on("createMessage"));
    let said = format!("{:?}", send(&adapter(fake), &outgoing(thread(ops, "m:1"), "hello")).await);
    said.split("error sending").next().unwrap_or_default().trim_end().to_owned()
}

#[tokio::test]
async fn each_thread_gets_its_answer_where_it_was_asked() {
    let (fake, ops) = scene().await;
    let web = fake.thread(ANN, ops, "web");
    let mine = fake.private(ANN);
    let asked = fake.say(Say::new(ANN, ops, "first"));
    let again = fake.say(Say::new(ANN, ops, "second"));
    let discord = adapter(&fake);
    let chain = outgoing(thread(ops, &format!("m:{asked}")), "in the chain");
    let anchors = [None, Some(event(ops, again)), Some(EventId::new("in:77")), Some(event(mine, again))];
    let mut replies = Vec::new();
    for (n, anchor) in anchors.iter().enumerate() {
        let id = format!("{POST}{n}");
        let letter = Letter { id: &id, anchor: anchor.as_ref(), ..to(&chain) };
        let Delivery::Sent(ids) = deliver::deliver(&discord, letter).await else { panic!("it is not sent") };
        replies.push(fake.message(ops, message_of(&ids[0])).and_then(|message| message.reply_to));
    }
    assert_eq!(replies, [Some(asked), Some(again), Some(asked), Some(asked)]);
    let in_thread = send(&discord, &outgoing(thread(ops, &format!("thread:{}", web.0)), "in the thread")).await;
    let Delivery::Sent(ids) = in_thread else { panic!("{in_thread:?}") };
    assert_eq!(ids, [event(web, message_of(&ids[0]))], "a message is named by the thread in which it stands");
    assert_eq!(fake.wait_for(web, |message| message.text == "in the thread").await.reply_to, None);
    send(&discord, &outgoing(thread(mine, ""), "mine")).await;
    assert_eq!(fake.wait_for(mine, |message| message.text == "mine").await.reply_to, None);
    let elsewhere = ThreadKey { conversation: ConversationId::new("console"), ..thread(mine, "") };
    let sent = send(&discord, &outgoing(elsewhere, "x")).await;
    assert_eq!(sent, Delivery::Permanent("it goes to a thread that is none of Discord's".to_owned()));
}

#[tokio::test]
async fn a_question_gets_its_thread_when_it_is_answered_and_only_where_it_is_to() {
    let (fake, ops) = scene().await;
    let own_threads = BTreeSet::from([ops.0]);
    let discord = Discord::timed(Options { own_threads, ..options(&fake) }, QUICK).expect("sound");
    let asked = fake.say(Say::new(ANN, ops, "disk usage?"));
    let root = format!("thread:{asked}");
    let mut answer = outgoing(thread(ops, &root), "/ is 36% full\nand more");
    let sent = send(&discord, &answer).await;
    let made = fake.wait_for_thread(ops, "/ is 36% full").await;
    assert_eq!(made.0, asked, "a thread has the number of its message");
    let Delivery::Sent(ids) = sent else { panic!("{sent:?}") };
    assert_eq!(
        fake.message(made, message_of(&ids[0])).map(|message| message.text),
        Some("/ is 36% full\nand more".to_owned())
    );
    answer.blocks.push(Block::Text { text: "again".to_owned() });
    assert!(matches!(deliver::deliver(&discord, Letter { id: "other", ..to(&answer) }).await, Delivery::Sent(_)));
    assert_eq!(fake.threads(ops).len(), 1);
    let gone = fake.say(Say::new(ANN, ops, "never mind"));
    fake.delete(ops, gone);
    let sent = send(&discord, &outgoing(thread(ops, &format!("thread:{gone}")), "still")).await;
    assert!(matches!(sent, Delivery::Sent(_)), "{sent:?}");
    fake.wait_for(ops, |message| message.text == "still").await;
    let plain = send(&adapter(&fake), &outgoing(thread(ops, "thread:4711"), "x")).await;
    assert!(matches!(plain, Delivery::Permanent(_)), "{plain:?}");
}

#[tokio::test]
async fn what_came_of_a_call_is_told_by_its_code() {
    let (fake, ops) = scene().await;
    let all = [
        outcome_of(&fake, ops, Fault::too_many(Duration::from_millis(2_380))).await,
        outcome_of(&fake, ops, Fault::status(502)).await,
        outcome_of(&fake, ops, Fault::drop_before()).await,
        outcome_of(&fake, ops, Fault::drop_after()).await,
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    RetryAfter(2380)
    Retryable("Discord answers 502: Bad Gateway")
    Ambiguous("no answer from Discord:
    Ambiguous("no answer from Discord:
    "#);
    fake.clear_faults();
    let discord = adapter(&fake);
    fake.block(ANN);
    let blocked = send(&discord, &outgoing(thread(fake.private(ANN), ""), "x")).await;
    fake.set_access(ops, Access::ReadOnly);
    let silenced = send(&discord, &outgoing(thread(ops, "m:1"), "x")).await;
    fake.set_access(ops, Access::None);
    let hidden = send(&discord, &outgoing(thread(ops, "m:1"), "x")).await;
    let unknown = send(&discord, &outgoing(thread(ChannelId(4711), "m:1"), "x")).await;
    fake.stop_listening().await;
    let down = send(&adapter(&fake), &outgoing(thread(ops, "m:1"), "x")).await;
    insta::assert_snapshot!(format!("{blocked:?}\n{silenced:?}\n{hidden:?}\n{unknown:?}"), @r#"
    Unauthorized("Discord answers 403 (50007): Cannot send messages to this user")
    Unauthorized("Discord answers 403 (50013): Missing Permissions")
    Unauthorized("Discord answers 403 (50001): Missing Access")
    Permanent("Discord answers 404 (10003): Unknown Channel")
    "#);
    let Delivery::Retryable(why) = down else { panic!("{down:?}") };
    assert!(why.starts_with("Discord cannot be reached: ") && !why.contains(fake.token()), "{why}");
}

#[tokio::test]
async fn an_answer_that_was_lost_is_not_said_twice() {
    let (fake, ops) = scene().await;
    let discord = adapter(&fake);
    let message = outgoing(thread(ops, "m:1"), &many(400, "line"));
    fake.fault(Fault::drop_after().on("createMessage").next(1));
    let lost = send(&discord, &message).await;
    assert!(matches!(lost, Delivery::Ambiguous(_)), "{lost:?}");
    let again = deliver::deliver(&discord, Letter { notes: DeliveryNotes::REPEAT, ..to(&message) }).await;
    let Delivery::Sent(ids) = again else { panic!("{again:?}") };
    let shown: Vec<u64> = fake.messages(ops).iter().map(|message| message.id).collect();
    assert_eq!(ids.iter().map(message_of).collect::<Vec<_>>(), shown, "Discord knows the first by its nonce");
}

#[tokio::test]
async fn a_delivery_that_broke_off_goes_on_where_it_was() {
    let (fake, ops) = scene().await;
    let lines = many(400, "line");
    let message = outgoing(thread(ops, "m:1"), &lines);
    let discord = adapter(&fake);
    let first = fake.wait_for_call(|call| call.method == "createMessage");
    let fault = async {
        first.await;
        fake.fault(Fault::too_many(Duration::from_secs(7)).on("createMessage").next(1));
    };
    fake.fault(Fault::slow(Duration::from_millis(200)).on("createMessage").next(1));
    let (broken, ()) = futures::future::join(send(&discord, &message), fault).await;
    assert_eq!(broken, Delivery::RetryAfter(7000));
    let sent = send(&discord, &message).await;
    let Delivery::Sent(ids) = sent else { panic!("{sent:?}") };
    let shown: Vec<String> = fake.messages(ops).iter().map(|message| message.text.clone()).collect();
    assert_eq!(shown.join("\n"), lines);
    let known: Vec<EventId> = fake.messages(ops).iter().map(|message| event(ops, message.id)).collect();
    assert_eq!(ids, known, "the ids of all parts, also of those that were sent before");
}

#[tokio::test]
async fn what_is_too_long_goes_as_a_file() {
    let (fake, ops) = scene().await;
    let web = fake.thread(ANN, ops, "web");
    let log = many(900, "<served> & done in 12 ms");
    let mut message = outgoing(thread(ops, &format!("thread:{}", web.0)), "The log:");
    message.blocks.push(Block::Code { text: log.clone() });
    let sent = send(&adapter(&fake), &message).await;
    assert!(matches!(sent, Delivery::Sent(ref ids) if ids.len() == 2), "{sent:?}");
    let file = fake.wait_for(web, |message| !message.documents.is_empty()).await;
    assert_eq!(file.documents[0].name, "answer.txt");
    assert_eq!(String::from_utf8_lossy(&file.documents[0].bytes), format!("The log:\n{log}"));
}

#[tokio::test]
async fn nobody_is_woken_and_no_address_is_looked_at() {
    let (fake, ops) = scene().await;
    let asked = fake.say(Say::new(ANN, ops, "who?"));
    let text = format!("<@{ANN}> @everyone see https://example.org and answer");
    send(&adapter(&fake), &outgoing(thread(ops, &format!("m:{asked}")), &text)).await;
    let shown = fake.wait_for(ops, |message| message.from_bot).await;
    assert_eq!((shown.pings.len(), shown.reply_to, shown.suppress_embeds), (0, Some(asked), true), "{shown:?}");
    assert_eq!(shown.text, format!("\\<@{ANN}\\> @everyone see https\\://example.org and answer"));
    let progress = Outgoing { lane: Lane::Progress, ..outgoing(thread(ops, "m:1"), "reading host_disk") };
    deliver::deliver(&adapter(&fake), Letter { id: "other", ..to(&progress) }).await;
    let call = fake.wait_for_call(|call| call.params["nonce"] == "other.0").await;
    assert_eq!((&call.params["flags"], &call.params["enforce_nonce"]), (&4100.into(), &true.into()));
}
