//! What is accepted, and what it comes to: texts at their limits, marks, answers, topics, edits, files, rights.

use countersign_telegram_fake::{BOT, EntityKind, Fake, Role, Say};
use reqwest::multipart::{Form, Part};
use serde_json::json;

use crate::support::Bot;

#[tokio::test]
async fn the_longest_text_is_counted_after_its_marks_are_taken_out() {
    let fake = Fake::start().await;
    let (bot, chat) = (Bot::new(&fake), fake.group("ops"));
    let text = format!("<b>{}</b>&lt;", "😀".repeat(2047));
    bot.call("sendMessage", json!({ "chat_id": chat.0, "text": text, "parse_mode": "HTML" })).await;
    bot.send(chat, &"x".repeat(4096)).await;
    let messages = fake.messages(chat, None);
    let sent = &messages[0];
    assert_eq!(sent.text.encode_utf16().count(), 4095);
    assert_eq!(sent.html.as_deref(), Some(text.as_str()));
    assert_eq!((&sent.entities[0].kind, sent.entities[0].length), (&EntityKind::Bold, 4094));
}

#[tokio::test]
async fn methods_are_found_in_any_case_and_parameters_in_any_form() {
    let fake = Fake::start().await;
    let (bot, chat) = (Bot::new(&fake), fake.group("ops"));
    bot.call("SendMessage", json!({ "chat_id": chat.0.to_string(), "text": "a", "reply_markup": null })).await;
    let form = Form::new()
        .text("chat_id", chat.0.to_string())
        .text("text", "b")
        .text("disable_notification", "true")
        .text("reply_parameters", "{\"message_id\":1}");
    assert_eq!(bot.upload("sendmessage", form).await["result"]["reply_to_message"]["text"], "a");
    let counts = fake.calls();
    assert_eq!(counts["sendMessage"].done, 2);
}

#[tokio::test]
async fn an_answer_bears_what_it_answers_and_goes_where_that_is() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let forum = fake.forum("deploys");
    let topic = fake.topic(forum, "web");
    let asked = fake.say(Say::new(carol, forum, "how is web-1?").topic(topic));
    let answer = bot
        .call(
            "sendMessage",
            json!({ "chat_id": forum.0, "text": "fine", "reply_parameters": { "message_id": asked, "quote": "web-1" } }),
        )
        .await;
    assert_eq!((&answer["message_thread_id"], &answer["is_topic_message"]), (&json!(topic), &json!(true)));
    assert_eq!(answer["quote"], json!({ "text": "web-1", "position": 7, "is_manual": true }));
    assert_eq!(answer["reply_to_message"]["message_id"], json!(asked));
    assert!(answer["reply_to_message"]["reply_to_message"].is_null(), "Telegram shows one step of a chain");
    let missing = json!({ "message_id": 404, "allow_sending_without_reply": true });
    let alone = bot.call("sendMessage", json!({ "chat_id": forum.0, "text": "x", "reply_parameters": missing })).await;
    assert!(alone["reply_to_message"].is_null());
}

#[tokio::test]
async fn an_edit_without_a_keyboard_takes_the_keyboard_away() {
    let fake = Fake::start().await;
    let (bot, chat) = (Bot::new(&fake), fake.group("ops"));
    let id = bot.send_button(chat, "go").await;
    let edited = bot.call("editMessageText", json!({ "chat_id": chat.0, "message_id": id, "text": "gone" })).await;
    assert!(edited["reply_markup"].is_null());
    let message = fake.message(chat, id).expect("it is there");
    assert_eq!((message.text.as_str(), message.edits, message.labels().len()), ("gone", 1, 0));
}

#[tokio::test]
async fn a_file_arrives_whole() {
    let fake = Fake::start().await;
    let (bot, chat) = (Bot::new(&fake), fake.group("ops"));
    let file =
        |bytes: &'static [u8]| Part::bytes(bytes).file_name("report.txt").mime_str("text/plain").expect("a type");
    let form = |bytes, caption: &str| {
        let form = Form::new().text("chat_id", chat.0.to_string()).text("document", "attach://it");
        form.text("caption", caption.to_owned()).text("parse_mode", "HTML").part("it", file(bytes))
    };
    let sent = bot.upload("sendDocument", form(b"12 lines", "<b>all</b> of it")).await;
    assert_eq!(sent["result"]["document"]["file_size"], 8, "{sent}");
    let message = fake.wait_for(chat, |message| message.document.is_some()).await;
    let document = message.document.expect("it has a file");
    assert_eq!(
        (document.name.as_str(), &document.bytes[..], message.text.as_str()),
        ("report.txt", &b"12 lines"[..], "all of it")
    );
    let words = |answer: &serde_json::Value| answer["description"].as_str().unwrap_or_default().to_owned();
    assert_eq!(words(&bot.upload("sendDocument", form(b"", "x")).await), "Bad Request: file must be non-empty");
    let long = bot.upload("sendDocument", form(b"x", &"x".repeat(1025))).await;
    assert_eq!(words(&long), "Bad Request: message caption is too long");
    let bare = Form::new().text("chat_id", chat.0.to_string());
    let bare = bot.upload("sendDocument", bare).await;
    assert_eq!(words(&bare), "Bad Request: there is no document in the request");
}

#[tokio::test]
async fn topics_are_opened_and_members_known() {
    let fake = Fake::start().await;
    let (bot, carol, dave) = (Bot::new(&fake), fake.user(11, "Carol"), fake.user(12, "Dave"));
    let forum = fake.forum("deploys");
    fake.set_admin(forum, true);
    fake.set_role(forum, carol, Role::Administrator);
    let topic = bot.call("createForumTopic", json!({ "chat_id": forum.0, "name": "db" })).await;
    let there = json!({ "chat_id": forum.0, "text": "x", "message_thread_id": topic["message_thread_id"] });
    assert_eq!(bot.call("sendMessage", there).await["reply_to_message"]["forum_topic_created"]["name"], "db");
    let status = async |user: i64| {
        let member = bot.call("getChatMember", json!({ "chat_id": forum.0, "user_id": user })).await;
        member["status"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(
        [status(carol).await, status(dave).await, status(BOT).await],
        ["administrator", "left", "administrator"]
    );
    assert_eq!(bot.call("getChat", json!({ "chat_id": forum.0 })).await["is_forum"], true);
}

#[tokio::test]
async fn a_bot_reacts_and_takes_it_back_and_deletes() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let chat = fake.group("ops");
    let said = fake.say(Say::new(carol, chat, "hello"));
    let react = |emoji| json!({ "chat_id": chat.0, "message_id": said, "reaction": emoji });
    bot.call("setMessageReaction", react(json!([{ "type": "emoji", "emoji": "👀" }]))).await;
    assert_eq!(fake.message(chat, said).expect("it is there").reactions[&BOT], ["👀"]);
    bot.call("setMessageReaction", react(json!([]))).await;
    assert!(fake.message(chat, said).expect("it is there").reactions.is_empty());
    fake.set_admin(chat, true);
    bot.call("deleteMessage", json!({ "chat_id": chat.0, "message_id": said })).await;
    assert!(fake.message(chat, said).expect("it is kept, marked").deleted);
    bot.call("sendChatAction", json!({ "chat_id": chat.0, "action": "typing" })).await;
}
