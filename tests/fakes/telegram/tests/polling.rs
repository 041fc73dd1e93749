//! Getting updates: the real long poll, offsets, what is wanted, the conflict of two bots, and what reaches a bot at all.

use std::time::Duration;

use countersign_telegram_fake::{Fake, Outcome, Say};
use serde_json::{Value, json};

use crate::support::{Bot, ids};

fn poll(offset: i64) -> Value {
    json!({ "offset": offset, "timeout": 30 })
}

#[tokio::test]
async fn a_poll_waits_and_is_answered_as_soon_as_something_is_there() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let chat = fake.group("ops");
    let waiting = tokio::spawn({
        let bot = bot.clone();
        async move { bot.call("getUpdates", poll(0)).await }
    });
    let call = fake.wait_for_call(|call| call.method == "getUpdates").await;
    assert_eq!(call.outcome, Outcome::Open);
    fake.say(Say::new(carol, chat, "hello"));
    let updates =
        tokio::time::timeout(Duration::from_secs(5), waiting).await.expect("long before 30 s").expect("ended");
    assert_eq!(updates[0]["message"]["text"], "hello");
    assert_eq!(fake.unread(), 1, "handed out is not confirmed");
    assert_eq!(ids(&bot.call("getUpdates", json!({})).await), ids(&updates), "so it is handed out again");
    let next = ids(&updates)[0] + 1;
    assert_eq!(bot.call("getUpdates", json!({ "offset": next })).await, json!([]));
    fake.wait_until_read().await;
}

#[tokio::test]
async fn the_earlier_of_two_polls_is_told_of_the_conflict() {
    let fake = Fake::start().await;
    let bot = Bot::new(&fake);
    let first = tokio::spawn({
        let bot = bot.clone();
        async move { bot.refused("getUpdates", poll(0)).await }
    });
    fake.wait_for_call(|call| call.method == "getUpdates").await;
    let second = tokio::spawn(async move { bot.ask("getUpdates", poll(0)).await });
    let (code, words) = first.await.expect("ended");
    assert_eq!(code, 409);
    assert_eq!(
        words,
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
    );
    assert!(!second.is_finished(), "the later one goes on waiting");
    second.abort();
}

#[tokio::test]
async fn limits_and_offsets_below_zero() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let chat = fake.group("ops");
    for text in ["a", "b", "c"] {
        fake.say(Say::new(carol, chat, text));
    }
    let texts = |updates: Value| -> Vec<String> {
        let texts = updates.as_array().into_iter().flatten().map(|update| update["message"]["text"].as_str());
        texts.flatten().map(str::to_owned).collect()
    };
    assert_eq!(texts(bot.call("getUpdates", json!({ "limit": 2 })).await), ["a", "b"]);
    assert_eq!(texts(bot.call("getUpdates", json!({ "offset": -1 })).await), ["c"]);
    assert_eq!(fake.unread(), 1, "what is older is forgotten");
    bot.call("deleteWebhook", json!({ "drop_pending_updates": true })).await;
    assert!(bot.updates().await.is_empty());
}

#[tokio::test]
async fn reactions_are_told_only_where_they_are_wanted_and_the_bot_is_an_administrator() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let (ops, mine) = (fake.group("ops"), fake.private(carol));
    let said = [fake.say(Say::new(carol, ops, "a")), fake.say(Say::new(carol, mine, "b"))];
    let react = |emoji| {
        fake.react(carol, ops, said[0], emoji);
        fake.react(carol, mine, said[1], emoji);
    };
    let told = async || {
        let updates = bot.updates().await;
        updates.iter().filter_map(|update| update["message_reaction"]["chat"]["id"].as_i64()).collect::<Vec<_>>()
    };
    react("👍");
    assert!(told().await.is_empty(), "nobody asked for them");
    bot.call("getUpdates", json!({ "allowed_updates": ["message", "message_reaction"] })).await;
    react("🔥");
    assert_eq!(told().await, [mine.0], "in the group the bot is a member only");
    fake.set_admin(ops, true);
    fake.react(carol, ops, said[0], "👎");
    fake.unreact(carol, ops, said[0]);
    fake.react_anonymously(ops, said[0], "👎");
    assert_eq!(told().await, [mine.0, ops.0, ops.0, ops.0]);
    let updates = bot.updates().await;
    let changes: Vec<_> = updates.iter().filter(|update| update["message_reaction"]["chat"]["id"] == ops.0).collect();
    assert_eq!(changes[0]["message_reaction"]["old_reaction"], json!([{ "type": "emoji", "emoji": "🔥" }]));
    assert_eq!(changes[1]["message_reaction"]["new_reaction"], json!([]));
    assert_eq!(changes[2]["message_reaction"]["actor_chat"]["id"], ops.0);
}

#[tokio::test]
async fn in_privacy_mode_a_bot_gets_only_what_concerns_it() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let chat = fake.group("ops");
    let own = bot.send(chat, "hello").await;
    fake.set_privacy(true);
    assert_eq!(bot.call("getMe", json!({})).await["can_read_all_group_messages"], false);
    for text in ["nobody is meant", "/status", "/status@other_bot", "/status@fake_ops_bot", "hey @Fake_Ops_Bot"] {
        fake.say(Say::new(carol, chat, text));
    }
    fake.say(Say::new(carol, chat, "yes").reply_to(own));
    fake.say(Say::new(carol, chat, "Ops, please").mention(countersign_telegram_fake::BOT, "Ops"));
    fake.say(Say::new(carol, fake.private(carol), "in private"));
    let texts = async || {
        let updates = bot.updates().await;
        updates.iter().filter_map(|update| update["message"]["text"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let concerning = ["/status", "/status@fake_ops_bot", "hey @Fake_Ops_Bot", "yes", "Ops, please", "in private"];
    assert_eq!(texts().await, concerning);
    fake.set_admin(chat, true);
    fake.say(Say::new(carol, chat, "an administrator hears all"));
    assert_eq!(texts().await.len(), concerning.len() + 1);
}
