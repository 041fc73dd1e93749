//! The gateway: who is let in, what an intent lets through, resuming, and every way in which a connection ends.

use std::time::Duration;

use countersign_discord_fake::{BOT, Fake, Fault, MESSAGE_CONTENT, Say};
use serenity::all::GatewayIntents;
use serenity::gateway::GatewayError;

use crate::support::{Bot, Heard, Listener, Raw};

fn intents() -> u64 {
    GatewayIntents::all().bits()
}

#[tokio::test]
async fn a_wrong_token_and_an_intent_that_was_not_granted_end_the_connection() {
    let fake = Fake::start().await;
    let closed = async |token: &str, intents| {
        let mut raw = Raw::connect(&fake).await;
        raw.identify(token, intents).await;
        raw.closed().await
    };
    assert_eq!(closed("wrong", intents()).await, Some(4004));
    assert_eq!(closed(fake.token(), 1 << 40).await, Some(4013));
    fake.set_message_content(false);
    assert_eq!(closed(fake.token(), intents()).await, Some(4014));
    let bot = Listener::begin(&fake, GatewayIntents::all()).await;
    let ended = bot.ended().await;
    assert!(matches!(ended, Some(serenity::Error::Gateway(GatewayError::DisallowedGatewayIntents))), "{ended:?}");
    let application = Bot::new(&fake).call("GET", "/applications/@me", serde_json::Value::Null).await;
    assert_eq!(application["flags"].as_u64().map(|flags| flags & (1 << 19)), Some(0), "and says so beforehand");
}

#[tokio::test]
async fn without_the_intent_only_what_is_said_to_the_bot_has_content() {
    let fake = Fake::start().await;
    let (carol, ops) = (fake.user(11, "Carol"), fake.channel("ops"));
    let mut bot =
        Listener::with(&fake, GatewayIntents::all() - GatewayIntents::from_bits_truncate(MESSAGE_CONTENT)).await;
    fake.say(Say::new(carol, ops, "to each other"));
    assert_eq!(bot.message().await.content, "");
    fake.say(Say::new(carol, ops, "Ops status").mention(BOT, "Ops"));
    assert_eq!(bot.message().await.content, format!("<@{BOT}> status"));
    fake.say(Say::new(carol, fake.private(carol), "between us"));
    assert_eq!(bot.message().await.content, "between us");
    fake.set_message_content(false);
    let listed = Bot::new(&fake).call("GET", &format!("/channels/{}/messages", ops.0), serde_json::Value::Null).await;
    assert_eq!(
        (listed[1]["content"].as_str(), listed[0]["content"].as_str().map(str::is_empty)),
        (Some(""), Some(false))
    );
}

#[tokio::test]
async fn a_resume_brings_what_was_missed_with_its_numbers() {
    let fake = Fake::start().await;
    let (carol, ops) = (fake.user(11, "Carol"), fake.channel("ops"));
    let mut raw = Raw::connect(&fake).await;
    raw.identify(fake.token(), intents()).await;
    let ready = raw.event("READY").await;
    assert_eq!(ready["d"]["resume_gateway_url"], fake.gateway_url());
    let session = ready["d"]["session_id"].as_str().expect("an id").to_owned();
    fake.say(Say::new(carol, ops, "a"));
    let first = raw.event("MESSAGE_CREATE").await;
    drop(raw);
    fake.wait_until_disconnected().await;
    fake.say(Say::new(carol, ops, "b"));
    let mut raw = Raw::connect(&fake).await;
    raw.resume(fake.token(), &session, first["s"].as_u64().expect("a number")).await;
    let second = raw.event("MESSAGE_CREATE").await;
    assert_eq!(
        (second["d"]["content"].as_str(), second["s"].as_u64()),
        (Some("b"), first["s"].as_u64().map(|s| s + 1))
    );
    raw.event("RESUMED").await;
    fake.forget_sessions();
    drop(raw);
    let mut raw = Raw::connect(&fake).await;
    raw.resume(fake.token(), &session, 1).await;
    assert_eq!(raw.operation(9).await["d"], false);
    raw.identify(fake.token(), intents()).await;
    raw.event("READY").await;
    raw.heartbeat().await;
    raw.operation(11).await;
}

/// A way of ending a connection.
type Cut = fn(&Fake);

/// Whatever happens to the connection, serenity comes back, and nothing that was said meanwhile is lost.
#[tokio::test]
async fn serenity_resumes_after_each_way_of_being_cut() {
    let fake = Fake::start().await;
    let (carol, ops) = (fake.user(11, "Carol"), fake.channel("ops"));
    let mut bot = Listener::start(&fake).await;
    let ways: [(&str, Cut); 3] =
        [("op 7", Fake::ask_to_reconnect), ("close 4000", |fake| fake.close_gateway(4000)), ("cut", Fake::cut_gateway)];
    for (way, cut) in ways {
        let before = fake.log().len() as u64;
        cut(&fake);
        fake.say(Say::new(carol, ops, way));
        assert_eq!(bot.message().await.content, way);
        fake.wait_for_call(|call| call.method == "resume" && call.sequence > before).await;
    }
    assert_eq!(fake.calls()["identify"].calls, 1);
}

#[tokio::test]
async fn an_outage_cuts_what_is_open_and_a_session_outlives_it() {
    let fake = Fake::start().await;
    let (carol, ops) = (fake.user(11, "Carol"), fake.channel("ops"));
    let mut raw = Raw::connect(&fake).await;
    raw.identify(fake.token(), intents()).await;
    let session = raw.event("READY").await["d"]["session_id"].as_str().expect("an id").to_owned();
    fake.stop_listening().await;
    assert_eq!(raw.closed().await, None, "without a word");
    fake.say(Say::new(carol, ops, "meanwhile"));
    assert!(fake.unsent() > 0);
    fake.listen_again().await;
    let mut raw = Raw::connect(&fake).await;
    raw.resume(fake.token(), &session, 1).await;
    assert_eq!(raw.event("MESSAGE_CREATE").await["d"]["content"], "meanwhile");
    fake.wait_until_sent().await;
}

#[tokio::test]
async fn an_invalid_session_is_begun_anew() {
    let fake = Fake::start().await;
    let mut bot = Listener::start(&fake).await;
    fake.invalidate(false);
    bot.find(|heard| matches!(heard, Heard::Ready).then_some(())).await;
    assert_eq!(fake.calls()["identify"].calls, 2);
}

#[tokio::test]
async fn a_quiet_connection_stays_open_and_a_new_one_is_fine() {
    let fake = Fake::start().await;
    fake.set_heartbeat(Duration::from_millis(200));
    let (carol, ops) = (fake.user(11, "Carol"), fake.channel("ops"));
    let mut raw = Raw::connect(&fake).await;
    assert_eq!(raw.operation(10).await["d"]["heartbeat_interval"], 200);
    raw.identify(fake.token(), intents()).await;
    let session = raw.event("READY").await["d"]["session_id"].as_str().expect("an id").to_owned();
    fake.silence_gateway();
    fake.say(Say::new(carol, ops, "into the silence"));
    raw.heartbeat().await;
    assert!(raw.is_quiet(Duration::from_millis(300)).await);
    let mut second = Raw::connect(&fake).await;
    second.resume(fake.token(), &session, 1).await;
    assert_eq!(second.event("MESSAGE_CREATE").await["d"]["content"], "into the silence");
    assert!(raw.is_quiet(Duration::from_millis(1)).await);
}

#[tokio::test]
async fn events_come_twice_and_out_of_order_where_a_fault_says_so() {
    let fake = Fake::start().await;
    let (carol, ops) = (fake.user(11, "Carol"), fake.channel("ops"));
    let mut bot = Listener::start(&fake).await;
    fake.fault(Fault::reorder().in_channel(ops));
    fake.say(Say::new(carol, ops, "a"));
    fake.say(Say::new(carol, ops, "b"));
    let mut heard = vec![bot.message().await.content, bot.message().await.content];
    fake.fault(Fault::duplicate(2));
    fake.say(Say::new(carol, ops, "c"));
    for _ in 0..3 {
        heard.push(bot.message().await.content);
    }
    assert_eq!(heard[2..], ["c", "c", "c"]);
    // serenity hands each event to a task of its own, so only what the fake sends is in order.
    heard.truncate(2);
    heard.sort();
    assert_eq!(heard, ["a", "b"]);
    let mut raw = Raw::connect(&fake).await;
    raw.identify(fake.token(), intents()).await;
    raw.event("READY").await;
    fake.fault(Fault::reorder());
    fake.say(Say::new(carol, ops, "d"));
    fake.say(Say::new(carol, ops, "e"));
    let contents = [raw.event("MESSAGE_CREATE").await, raw.event("MESSAGE_CREATE").await];
    assert_eq!(contents.map(|event| event["d"]["content"].clone()), ["e", "d"]);
}
