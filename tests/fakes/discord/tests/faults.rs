//! Faults on demand: what the bot sees of each, and what took effect all the same. Also limits and outages.

use std::time::Duration;

use countersign_discord_fake::{ChannelId, Fake, Fault, Outcome};
use serde_json::{Value, json};

use crate::support::Bot;

fn shown(fake: &Fake, channel: ChannelId) -> Vec<String> {
    fake.messages(channel).into_iter().map(|message| message.text).collect()
}

fn path(channel: ChannelId) -> String {
    format!("/channels/{}/messages", channel.0)
}

#[tokio::test]
async fn a_limit_is_told_in_the_body_and_in_the_headers() {
    let fake = Fake::start().await;
    let (bot, ops, other) = (Bot::new(&fake), fake.channel("ops"), fake.channel("other"));
    fake.fault(Fault::too_many(Duration::from_millis(1_500)).on("createMessage").in_channel(ops).next(2));
    bot.send(other, "elsewhere").await;
    for _ in 0..2 {
        let answer = bot.ask("POST", &path(ops), json!({ "content": "x" })).await.expect("an answer");
        let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok().map(str::to_owned));
        assert_eq!(
            (header("retry-after"), header("x-ratelimit-reset-after")),
            (Some("2".to_owned()), Some("1.500".to_owned()))
        );
        assert_eq!(header("x-ratelimit-scope").as_deref(), Some("user"));
        let body: Value = answer.json().await.expect("JSON");
        assert_eq!(body, json!({ "message": "You are being rate limited.", "retry_after": 1.5, "global": false }));
    }
    fake.fault(Fault::too_many_everywhere(Duration::from_secs(1)));
    let answer = bot.ask("GET", "/users/@me", Value::Null).await.expect("an answer");
    assert_eq!(answer.headers().get("x-ratelimit-global").map(|value| value == "true"), Some(true));
    assert!(shown(&fake, ops).is_empty());
    bot.send(ops, "now").await;
    let counts = fake.calls()["createMessage"];
    assert_eq!((counts.calls, counts.done, counts.too_many), (4, 2, 2));
}

#[tokio::test]
async fn a_failure_strikes_every_second_call() {
    let fake = Fake::start().await;
    let bot = Bot::new(&fake);
    fake.fault(Fault::status(502).on("getCurrentUser").every(2));
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(bot.ask("GET", "/users/@me", Value::Null).await.expect("an answer").status().as_u16());
    }
    assert_eq!(seen, [200, 502, 200, 502]);
}

#[tokio::test]
async fn a_dropped_connection_before_the_effect_and_a_lost_answer_after_it() {
    let fake = Fake::start().await;
    let (bot, ops) = (Bot::new(&fake), fake.channel("ops"));
    let send = async |text: &str| {
        bot.ask("POST", &path(ops), json!({ "content": text, "nonce": text, "enforce_nonce": true })).await
    };
    fake.fault(Fault::drop_before().on("createMessage"));
    assert!(send("before").await.is_err());
    assert!(shown(&fake, ops).is_empty());
    fake.fault(Fault::drop_after().on("createMessage"));
    assert!(send("after").await.is_err());
    assert_eq!(shown(&fake, ops), ["after"]);
    send("after").await.expect("an answer");
    assert_eq!(shown(&fake, ops), ["after"], "the same nonce is the same message");
    fake.advance(Duration::from_mins(10));
    send("after").await.expect("an answer");
    assert_eq!(shown(&fake, ops), ["after", "after"], "but not for ever");
    let outcomes: Vec<_> = fake.log().into_iter().map(|call| call.outcome.took_effect()).collect();
    assert_eq!(outcomes, [false, true, true, true]);
}

#[tokio::test]
async fn a_slow_answer_comes_and_a_silent_one_does_not() {
    let fake = Fake::start().await;
    let (bot, ops) = (Bot::new(&fake), fake.channel("ops"));
    fake.fault(Fault::slow(Duration::from_millis(50)).on("createMessage"));
    let before = tokio::time::Instant::now();
    bot.send(ops, "slow").await;
    assert!(before.elapsed() >= Duration::from_millis(50));
    fake.fault(Fault::silent().on("createMessage"));
    let hanging = tokio::spawn({
        let bot = bot.clone();
        async move { bot.ask("POST", &path(ops), json!({ "content": "x" })).await }
    });
    fake.wait_for_call(|call| call.method == "createMessage" && call.outcome == Outcome::Open).await;
    bot.call("GET", "/users/@me", Value::Null).await;
    assert!(!hanging.is_finished(), "others are answered meanwhile");
    fake.stop_listening().await;
    assert!(hanging.await.expect("ended").is_err(), "an outage cuts it");
    assert_eq!(shown(&fake, ops), ["slow"]);
}

#[tokio::test]
async fn the_bucket_of_a_channel_holds_when_limits_are_on() {
    let fake = Fake::start().await;
    let (bot, ops, other) = (Bot::new(&fake), fake.channel("ops"), fake.channel("other"));
    fake.set_limits(true);
    fake.set_bucket(2, Duration::from_mins(1));
    let first = bot.ask("POST", &path(ops), json!({ "content": "x" })).await.expect("an answer");
    let header = |name: &str| first.headers().get(name).and_then(|value| value.to_str().ok().map(str::to_owned));
    assert_eq!(
        (header("x-ratelimit-limit"), header("x-ratelimit-remaining")),
        (Some("2".to_owned()), Some("1".to_owned()))
    );
    bot.send(ops, "x").await;
    let (status, _, body) = bot.refused("POST", &path(ops), json!({ "content": "x" })).await;
    assert!(
        status == 429 && body["retry_after"].as_f64().is_some_and(|after| (50.0..=60.0).contains(&after)),
        "{body}"
    );
    bot.send(other, "x").await;
    fake.set_limits(false);
    bot.send(ops, "x").await;
}

#[tokio::test]
async fn many_short_outages_on_the_same_port() {
    let fake = Fake::start().await;
    let bot = Bot::new(&fake);
    for _ in 0..50 {
        fake.stop_listening().await;
        assert!(bot.ask("GET", "/users/@me", Value::Null).await.is_err(), "nobody listens once it has said so");
        fake.listen_again().await;
        bot.call("GET", "/users/@me", Value::Null).await;
    }
}

#[tokio::test]
async fn a_port_that_is_taken_is_an_error() {
    let fake = Fake::start().await;
    let port = fake.base_url().rsplit(':').next().and_then(|port| port.parse().ok()).expect("it ends in its port");
    let second = Fake::start_on(port).await;
    assert_eq!(second.err().map(|why| why.kind()), Some(std::io::ErrorKind::AddrInUse));
}

#[tokio::test]
async fn the_fake_ends_with_its_last_handle() {
    let fake = Fake::start().await;
    let (bot, clone) = (Bot::new(&fake), fake.clone());
    drop(fake);
    bot.call("GET", "/users/@me", Value::Null).await;
    drop(clone);
    // The fake's own thread closes the socket; each try gives it time.
    let mut tries = 0;
    while bot.ask("GET", "/users/@me", Value::Null).await.is_ok() {
        tries += 1;
        assert!(tries < 1000, "it still answers");
    }
}
