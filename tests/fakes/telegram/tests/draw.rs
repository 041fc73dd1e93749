//! The picture of a conversation: everything that it can show, in one snapshot each.

use countersign_telegram_fake::{Fake, Say};
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::support::Bot;

#[tokio::test]
async fn a_conversation_looks_as_on_a_phone() {
    let fake = Fake::start().await;
    let (bot, carol, dave) = (Bot::new(&fake), fake.user(11, "Carol"), fake.user(12, "Dave"));
    let ops = fake.group("ops");
    let asked = fake.say(Say::new(carol, ops, "@fake_ops_bot restart nginx on web-1, it answers with 502 since noon"));
    let card =
        "<b>Restart nginx on web-1?</b>\n\nAsked by Carol. Risk: medium.\n<pre>systemctl restart nginx.service</pre>";
    let markup = json!({ "inline_keyboard": [
        [{ "text": "Approve", "callback_data": "a" }, { "text": "Deny", "callback_data": "d" }],
        [{ "text": "Explain", "callback_data": "e" }],
    ] });
    let sent = bot
        .call("sendMessage", json!({ "chat_id": ops.0, "text": card, "parse_mode": "HTML", "reply_markup": markup, "reply_parameters": { "message_id": asked } }))
        .await;
    fake.react(dave, ops, sent["message_id"].as_i64().unwrap_or_default(), "👍");
    fake.react(carol, ops, sent["message_id"].as_i64().unwrap_or_default(), "👍");
    let progress = bot.send(ops, "Restarting…").await;
    bot.call(
        "editMessageText",
        json!({ "chat_id": ops.0, "message_id": progress, "text": "Restarted; it answers with 200 again." }),
    )
    .await;
    fake.say(Say::new(dave, ops, "danke 😀").reply_to(progress).quote("200 again"));
    fake.say(Say::new(carol, ops, "the log").document("nginx.log", b"502 502 502"));
    insta::assert_snapshot!(fake.draw(ops, None), @"
     ops                                                  group
    ────────────────────────────────────────────────────────────
                     Carol
                    ╭──────────────────────────────────────────╮
                    │ @fake_ops_bot restart nginx on web-1, it │
                    │ answers with 502 since noon              │
                    ╰──────────────────────────────────────────╯
     Ops
    ╭────────────────────────────────────────────────╮
    │ ┃ Carol                                        │
    │ ┃ @fake_ops_bot restart nginx on web-1, it an… │
    │ Restart nginx on web-1?                        │
    │                                                │
    │ Asked by Carol. Risk: medium.                  │
    │ ▏systemctl restart nginx.service               │
    ╰────────────────────────────────────────────────╯
    [ Approve ] [ Deny ]
    [ Explain ]
     👍 2
     Ops
    ╭───────────────────────────────────────╮
    │ Restarted; it answers with 200 again. │
    ╰─────────────────────────────── edited ╯
                                                  Dave
                                                 ╭─────────────╮
                                                 │ ┃ Ops       │
                                                 │ ┃ 200 again │
                                                 │ danke 😀    │
                                                 ╰─────────────╯
                                       Carol
                                      ╭────────────────────────╮
                                      │ ▤ nginx.log · 11 bytes │
                                      │ the log                │
                                      ╰────────────────────────╯
    ");
}

#[tokio::test]
async fn one_topic_of_a_forum() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let forum = fake.forum("deploys");
    let (web, db) = (fake.topic(forum, "web"), fake.topic(forum, "db"));
    fake.say(Say::new(carol, forum, "in the other topic").topic(db));
    fake.say(Say::new(carol, forum, "anything new?").topic(web));
    fake.say(Say::new(carol, forum, "as the group").topic(web).anonymous());
    bot.call("sendMessage", json!({ "chat_id": forum.0, "message_thread_id": web, "text": "No." })).await;
    insta::assert_snapshot!(fake.draw(forum, Some(web)), @"
     deploys › web                                        forum
    ────────────────────────────────────────────────────────────
                     · topic “web” was opened ·
                                                Carol
                                               ╭───────────────╮
                                               │ anything new? │
                                               ╰───────────────╯
                                                 deploys
                                                ╭──────────────╮
                                                │ as the group │
                                                ╰──────────────╯
     Ops
    ╭─────╮
    │ No. │
    ╰─────╯
    ");
}

#[tokio::test]
async fn it_is_never_wider_than_sixty_columns() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, &"Carolina ".repeat(12)));
    let chat = fake.group(&"operations ".repeat(12));
    fake.say(Say::new(carol, chat, &format!("{} {}", "x".repeat(200), "漢字".repeat(40))));
    let label = "A label that is far too long for a phone to show";
    let row: Vec<_> = (0..4).map(|at| json!({ "text": label, "callback_data": at.to_string() })).collect();
    let text = format!("<pre>{}</pre>", "y".repeat(130));
    bot.call(
        "sendMessage",
        json!({ "chat_id": chat.0, "text": text, "parse_mode": "HTML", "reply_markup": { "inline_keyboard": [row] } }),
    )
    .await;
    let drawn = fake.draw(chat, None);
    let wide = drawn.lines().map(UnicodeWidthStr::width).max();
    assert!(wide.is_some_and(|wide| wide <= 60), "{wide:?}\n{drawn}");
}
