//! Interactions from the bot's side: what may be answered when, how often and how, and what people see of it.

use std::time::Duration;

use countersign_discord_fake::{AnswerKind, BOT, Fake};
use serde_json::{Value, json};

use crate::support::{Bot, everywhere, id};

fn answer(number: u64, data: impl Into<Value>) -> Value {
    json!({ "type": number, "data": data.into() })
}

/// A bot, Carol, Dave, a channel, and a message with the button `Go`.
async fn scene(fake: &Fake) -> (Bot, u64, u64, countersign_discord_fake::ChannelId, u64) {
    let (bot, carol, dave, ops) = (Bot::new(fake), fake.user(11, "Carol"), fake.user(12, "Dave"), fake.channel("ops"));
    let card = bot.send_button(ops, "token-1").await;
    (bot, carol, dave, ops, card)
}

#[tokio::test]
async fn it_is_answered_once_and_within_three_seconds() {
    let fake = Fake::start().await;
    fake.set_date(1_800_000_000);
    let (bot, carol, _, ops, card) = scene(&fake).await;
    let hello = answer(4, json!({ "content": "hello" }));
    let pressed = fake.press(carol, ops, card, "Go");
    fake.advance(Duration::from_secs(3));
    bot.call("POST", &Bot::callback(&pressed), hello.clone()).await;
    assert_eq!(fake.callback_answer(&pressed).await.text, "hello");
    let (status, code, body) = bot.refused("POST", &Bot::callback(&pressed), hello.clone()).await;
    assert_eq!((status, code), (400, 40_060), "{body}");
    let late = fake.press(carol, ops, card, "Go");
    fake.advance(Duration::from_millis(3_001));
    let (status, code, _) = bot.refused("POST", &Bot::callback(&late), hello.clone()).await;
    assert_eq!((status, code), (404, 10_062));
    let expired = fake.press(carol, ops, card, "Go");
    fake.expire(&expired);
    assert_eq!(bot.refused("POST", &Bot::callback(&expired), hello.clone()).await.1, 10_062);
    assert_eq!(bot.refused("POST", "/interactions/1/no-such-token/callback", hello).await.1, 10_062);
}

#[tokio::test]
async fn the_token_opens_its_webhook_after_the_answer_and_for_fifteen_minutes() {
    let fake = Fake::start().await;
    fake.set_date(1_800_000_000);
    let (bot, carol, _, ops, card) = scene(&fake).await;
    let pressed = fake.press(carol, ops, card, "Go");
    let (webhook, more) = (Bot::webhook(BOT, &pressed), json!({ "content": "more" }));
    assert_eq!(bot.refused("POST", &webhook, more.clone()).await.1, 10_015, "nothing was answered yet");
    bot.call("POST", &Bot::callback(&pressed), json!({ "type": 6 })).await;
    fake.advance(Duration::from_mins(15));
    let sent = bot.call("POST", &webhook, more.clone()).await;
    assert_eq!(sent["interaction_metadata"]["id"], json!(pressed));
    fake.advance(Duration::from_secs(1));
    let (status, code, body) = bot.refused("POST", &webhook, more).await;
    assert_eq!((status, code, &body["message"]), (401, 50_027, &json!("Invalid Webhook Token")));
}

#[tokio::test]
async fn a_promise_is_kept_by_an_edit_or_by_the_first_follow_up() {
    let fake = Fake::start().await;
    let (bot, carol, dave, ops, card) = scene(&fake).await;
    let pressed = fake.press(carol, ops, card, "Go");
    bot.call("POST", &Bot::callback(&pressed), answer(5, json!({ "flags": 64 }))).await;
    let promised = fake.callback_answer(&pressed).await;
    assert_eq!((promised.kind, promised.ephemeral), (AnswerKind::Deferred, true));
    let promise = promised.message.and_then(|id| fake.message(ops, id)).expect("it stands there");
    assert!(promise.thinking && promise.ephemeral_for == Some(carol));
    assert_eq!((fake.seen_by(carol, ops).len(), fake.seen_by(dave, ops).len()), (2, 1));
    let kept = bot.call("POST", &Bot::webhook(BOT, &pressed), json!({ "content": "kept" })).await;
    assert_eq!((id(&kept), kept["flags"].as_u64()), (promise.id, Some(64)), "as private as it was promised");
    assert_eq!(fake.response(&pressed).await.text, "kept");
    let second = bot.call("POST", &Bot::webhook(BOT, &pressed), json!({ "content": "for all" })).await;
    assert_ne!(id(&second), promise.id);
    assert_eq!(fake.seen_by(dave, ops).len(), 2);
    let again = fake.press(carol, ops, card, "Go");
    bot.call("POST", &Bot::callback(&again), json!({ "type": 5 })).await;
    let original = format!("{}/messages/@original", Bot::webhook(BOT, &again));
    bot.call("PATCH", &original, json!({ "content": "edited" })).await;
    assert_eq!((fake.response(&again).await.text.as_str(), fake.response(&again).await.edits), ("edited", 0));
    bot.call("DELETE", &original, Value::Null).await;
    assert_eq!(bot.refused("GET", &original, Value::Null).await.1, 10_008);
}

#[tokio::test]
async fn what_is_for_one_persons_eyes_is_nobody_elses() {
    let fake = Fake::start().await;
    let (bot, carol, dave, ops, card) = scene(&fake).await;
    let pressed = fake.press(carol, ops, card, "Go");
    let rows = json!([{ "type": 1, "components": [{ "type": 2, "style": 2, "label": "More", "custom_id": "m" }] }]);
    let private = json!({ "content": "only you", "flags": 64, "components": rows });
    bot.call("POST", &format!("{}?with_response=true", Bot::callback(&pressed)), answer(4, private)).await;
    let message = fake.response(&pressed).await;
    let path = format!("/channels/{}/messages/{}", ops.0, message.id);
    assert_eq!(bot.refused("GET", &path, Value::Null).await.1, 10_008, "not even the bot finds it in the channel");
    assert_eq!(
        bot.call("GET", &format!("/channels/{}/messages", ops.0), Value::Null).await.as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(
        fake.try_press(dave, ops, message.id, "More"),
        Err(format!("message {} is shown to 11 only", message.id))
    );
    let more = fake.press(carol, ops, message.id, "More");
    bot.call("POST", &Bot::callback(&more), answer(7, json!({ "content": "changed", "components": [] }))).await;
    assert_eq!(fake.message(ops, message.id).expect("it is there").text, "changed");
    assert!(fake.callback_answer(&more).await.ephemeral);
}

#[tokio::test]
async fn answers_must_fit_what_was_asked() {
    let fake = Fake::start().await;
    let (bot, carol, _, ops, card) = scene(&fake).await;
    let option =
        json!({ "type": 3, "name": "resource", "description": "Which", "required": true, "autocomplete": true });
    let commands =
        json!([everywhere(json!({ "name": "status", "description": "How things are", "options": [option] }))]);
    let path = format!("/applications/{BOT}/commands");
    let first = bot.call("PUT", &path, commands.clone()).await;
    let second = bot.call("PUT", &path, commands).await;
    assert_eq!((first[0]["id"].is_string(), &first[0]["id"]), (true, &second[0]["id"]), "the same name keeps its id");
    assert_eq!(fake.commands(), [("status".to_owned(), "How things are".to_owned())]);
    let run = fake.command(carol, ops, "status", &[("resource", "web-1")]);
    for number in [1, 6, 7, 8] {
        let data = if number == 8 { json!({ "choices": [] }) } else { json!({ "content": "x" }) };
        assert_eq!(bot.refused("POST", &Bot::callback(&run), answer(number, data)).await.1, 50_035, "{number}");
    }
    let typing = fake.autocomplete(carol, ops, "status", &[("resource", "w")], "resource");
    assert_eq!(bot.refused("POST", &Bot::callback(&typing), answer(4, json!({ "content": "x" }))).await.1, 50_035);
    let many: Vec<_> = (0..26).map(|at| json!({ "name": at.to_string(), "value": at.to_string() })).collect();
    assert_eq!(bot.refused("POST", &Bot::callback(&typing), answer(8, json!({ "choices": many }))).await.1, 50_035);
    let offered = json!({ "choices": [{ "name": "web-1", "value": "@@web-1" }] });
    bot.call("POST", &Bot::callback(&typing), answer(8, offered)).await;
    assert_eq!(fake.callback_answer(&typing).await.choices[0].value, "@@web-1");
    let pressed = fake.press(carol, ops, card, "Go");
    let input = |label: &str| json!({ "type": 1, "components": [{ "type": 4, "custom_id": "why", "style": 2, "label": label, "max_length": 10 }] });
    let window = |label: &str| answer(9, json!({ "custom_id": "m", "title": "Deny", "components": [input(label)] }));
    assert_eq!(bot.refused("POST", &Bot::callback(&pressed), window(&"x".repeat(46))).await.1, 50_035);
    bot.call("POST", &Bot::callback(&pressed), window("Reason")).await;
    assert_eq!(
        fake.try_submit(&pressed, &[("Reason", "much too long")]),
        Err("`Reason` takes 0 to 10 letters".to_owned())
    );
    assert_eq!(fake.try_submit(&pressed, &[("Why", "x")]), Err("the window has no input `Why`".to_owned()));
    let submitted = fake.submit(&pressed, &[("Reason", "risky")]);
    assert_eq!(
        bot.refused("POST", &Bot::callback(&submitted), window("Again")).await.1,
        50_035,
        "no window after a window"
    );
    bot.call("POST", &Bot::callback(&submitted), json!({ "type": 6 })).await;
}

#[tokio::test]
async fn what_cannot_be_played_is_said_in_a_sentence() {
    let fake = Fake::start().await;
    let (bot, carol, _, ops, card) = scene(&fake).await;
    let said = |done: Result<String, String>| done.expect_err("it cannot be done");
    assert_eq!(
        said(fake.try_press(carol, ops, card, "Stop")),
        format!("message {card} has no button `Stop`, but `Go`")
    );
    assert_eq!(said(fake.try_command(carol, ops, "status", &[])), "the bot has no command `/status`");
    assert_eq!(
        said(fake.try_select(carol, ops, card, &["a"])),
        format!("message {card} has no menu with the choice `a`")
    );
    let sub = json!({ "type": 1, "name": "show", "description": "d", "options": [{ "type": 4, "name": "number", "description": "d", "required": true }] });
    let command = json!([everywhere(json!({ "name": "plan", "description": "d", "options": [sub] }))]);
    bot.call("PUT", &format!("/applications/{BOT}/commands"), command).await;
    assert_eq!(said(fake.try_command(carol, ops, "plan hide", &[])), "`/plan hide` has no part `hide`");
    assert_eq!(said(fake.try_command(carol, ops, "plan show", &[])), "the option `number` must be given");
    assert_eq!(said(fake.try_command(carol, ops, "plan show", &[("number", "x")])), "`x` is no whole number");
    fake.command(carol, ops, "plan show", &[("number", "7")]);
}
