//! Faults on demand: what the bot sees of each, and what took effect all the same. Also limits and outages.

use std::time::Duration;

use countersign_telegram_fake::{Fake, Fault, Outcome, Say};
use serde_json::{Value, json};

use crate::support::{Bot, ids};

fn shown(fake: &Fake, chat: countersign_telegram_fake::ChatId) -> Vec<String> {
    fake.messages(chat, None).into_iter().map(|message| message.text).collect()
}

#[tokio::test]
async fn a_refusal_has_no_effect_and_strikes_as_often_as_it_was_told_to() {
    let fake = Fake::start().await;
    let (bot, ops, other) = (Bot::new(&fake), fake.group("ops"), fake.group("other"));
    fake.fault(Fault::too_many(7).on("sendMessage").in_chat(ops).next(2));
    fake.fault(Fault::status(502).on("getMe"));
    bot.send(other, "elsewhere").await;
    let send = json!({ "chat_id": ops.0, "text": "x" });
    for _ in 0..2 {
        let answer = bot.ask("sendMessage", send.clone()).await.expect("an answer");
        assert_eq!(
            answer,
            json!({ "ok": false, "error_code": 429, "description": "Too Many Requests: retry after 7", "parameters": { "retry_after": 7 } })
        );
    }
    assert_eq!(bot.refused("getMe", json!({})).await, (502, "Bad Gateway".to_owned()));
    assert!(shown(&fake, ops).is_empty());
    bot.send(ops, "now").await;
    let counts = fake.calls()["sendMessage"];
    assert_eq!((counts.calls, counts.done, counts.too_many), (4, 2, 2));
}

#[tokio::test]
async fn a_dropped_connection_before_the_effect_and_a_lost_answer_after_it() {
    let fake = Fake::start().await;
    let (bot, ops) = (Bot::new(&fake), fake.group("ops"));
    let send = |text: &str| json!({ "chat_id": ops.0, "text": text });
    fake.fault(Fault::drop_before().on("sendMessage"));
    assert!(bot.ask("sendMessage", send("before")).await.is_err());
    assert!(shown(&fake, ops).is_empty());
    fake.fault(Fault::drop_after().on("sendMessage"));
    assert!(bot.ask("sendMessage", send("after")).await.is_err());
    assert_eq!(shown(&fake, ops), ["after"]);
    bot.send(ops, "then").await;
    let outcomes: Vec<_> = fake.log().into_iter().map(|call| call.outcome).collect();
    assert!(
        matches!(&outcomes[..], [Outcome::DroppedBefore, Outcome::DroppedAfter(_), Outcome::Done(_)]),
        "{outcomes:?}"
    );
    assert_eq!(outcomes.iter().map(Outcome::took_effect).collect::<Vec<_>>(), [false, true, true]);
}

#[tokio::test]
async fn a_slow_answer_comes_and_a_silent_one_does_not() {
    let fake = Fake::start().await;
    let (bot, ops) = (Bot::new(&fake), fake.group("ops"));
    fake.fault(Fault::slow(Duration::from_millis(50)).on("sendMessage"));
    let before = tokio::time::Instant::now();
    bot.send(ops, "slow").await;
    assert!(before.elapsed() >= Duration::from_millis(50));
    fake.fault(Fault::silent().on("getUpdates"));
    let hanging = tokio::spawn({
        let bot = bot.clone();
        async move { bot.ask("getUpdates", json!({})).await }
    });
    let call = fake.wait_for_call(|call| call.method == "getUpdates").await;
    bot.call("getMe", json!({})).await;
    assert!(!hanging.is_finished(), "others are answered meanwhile");
    assert_eq!(call.outcome, Outcome::Open);
    fake.stop_listening().await;
    assert!(hanging.await.expect("ended").is_err(), "an outage cuts it");
}

/// A bot that takes every update and confirms by the highest id, until none is left; the ids in the order it got them.
async fn drain(bot: &Bot, at_least: usize) -> Vec<i64> {
    let (mut offset, mut seen) = (0, Vec::new());
    while seen.len() < at_least || bot.call("getUpdates", json!({ "offset": offset })).await != json!([]) {
        let updates: Value = bot.call("getUpdates", json!({ "offset": offset, "timeout": 5 })).await;
        seen.extend(ids(&updates));
        offset = seen.iter().max().map_or(0, |last| last + 1);
    }
    seen
}

#[tokio::test]
async fn duplicates_come_after_they_were_confirmed_and_with_the_same_id() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let ops = fake.group("ops");
    fake.fault(Fault::duplicate(3));
    fake.say(Say::new(carol, ops, "a"));
    fake.say(Say::new(carol, ops, "b"));
    let mut seen = drain(&bot, 5).await;
    let first = seen[0];
    assert_eq!(seen[..2], [first, first + 1]);
    seen.sort_unstable();
    assert_eq!(seen, [first, first, first, first, first + 1]);
}

#[tokio::test]
async fn reordered_updates_are_all_there_and_confirmed_by_the_highest() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let ops = fake.group("ops");
    fake.fault(Fault::reorder().chance(300, 7));
    for at in 0..100 {
        fake.say(Say::new(carol, ops, &at.to_string()));
    }
    let seen = drain(&bot, 100).await;
    let mut sorted = seen.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 100, "none is lost");
    assert_eq!(seen.len(), 100, "none comes twice");
    let late = seen.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert!((10..50).contains(&late), "{late} of 100 came late");
}

#[tokio::test]
async fn a_late_update_that_nothing_overtakes_comes_all_the_same() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    fake.fault(Fault::reorder());
    fake.say(Say::new(carol, fake.private(carol), "alone"));
    assert_eq!(bot.call("getUpdates", json!({ "timeout": 10 })).await[0]["message"]["text"], "alone");
}

#[tokio::test]
async fn telegrams_own_limits_hold_when_they_are_on() {
    let fake = Fake::start().await;
    let (bot, ops) = (Bot::new(&fake), fake.group("ops"));
    let send = json!({ "chat_id": ops.0, "text": "x" });
    fake.set_limits(true);
    for _ in 0..3 {
        bot.call("sendMessage", send.clone()).await;
    }
    assert_eq!(bot.refused("sendMessage", send.clone()).await, (429, "Too Many Requests: retry after 1".to_owned()));
    bot.call("sendChatAction", json!({ "chat_id": ops.0, "action": "typing" })).await;
    fake.set_limits(false);
    bot.call("sendMessage", send).await;
}

#[tokio::test]
async fn an_outage_cuts_what_is_open_and_loses_nothing() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let ops = fake.group("ops");
    let waiting = tokio::spawn({
        let bot = bot.clone();
        async move { bot.ask("getUpdates", json!({ "timeout": 30 })).await }
    });
    fake.wait_for_call(|call| call.method == "getUpdates").await;
    fake.stop_listening().await;
    assert!(waiting.await.expect("ended").is_err());
    assert!(bot.ask("getMe", json!({})).await.is_err(), "nobody listens");
    fake.say(Say::new(carol, ops, "meanwhile"));
    fake.listen_again().await;
    assert_eq!(bot.updates().await[0]["message"]["text"], "meanwhile");
}

#[tokio::test]
async fn many_short_outages_on_the_same_port() {
    let fake = Fake::start().await;
    let bot = Bot::new(&fake);
    for _ in 0..50 {
        fake.stop_listening().await;
        assert!(bot.ask("getMe", json!({})).await.is_err(), "nobody listens once it has said so");
        fake.listen_again().await;
        bot.call("getMe", json!({})).await;
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
    bot.call("getMe", json!({})).await;
    drop(clone);
    // The fake's own thread closes the socket; each try gives it time.
    let mut tries = 0;
    while bot.ask("getMe", json!({})).await.is_ok() {
        tries += 1;
        assert!(tries < 1000, "it still answers");
    }
}

#[tokio::test]
async fn it_answers_while_the_test_blocks_its_thread() {
    let fake = Fake::start().await;
    let url = format!("{}/bot{}/getMe", fake.base_url(), fake.token());
    let asked = std::process::Command::new("python3")
        .args(["-c", "import sys, urllib.request as u; print(u.build_opener(u.ProxyHandler({})).open(sys.argv[1], timeout=10).status)", &url])
        .output()
        .expect("python3 is there");
    assert_eq!(String::from_utf8_lossy(&asked.stdout).trim(), "200", "{}", String::from_utf8_lossy(&asked.stderr));
}
