//! What people do and how a bot is told: all sorts of senders, edits, buttons, inline queries, and scripts that cannot be
//! played.

use countersign_telegram_fake::{ANONYMOUS_ADMIN, BOT, Fake, Origin, Say};
use serde_json::json;

use crate::support::Bot;

#[tokio::test]
async fn a_callback_is_answered_once() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let chat = fake.group("ops");
    let id = bot.send_button(chat, "token-1").await;
    let callback = fake.press(carol, chat, id, "Go");
    let told = &bot.updates().await[0]["callback_query"];
    assert_eq!((&told["data"], &told["from"]["id"], &told["id"]), (&json!("token-1"), &json!(11), &json!(callback)));
    assert_eq!(told["message"]["reply_markup"]["inline_keyboard"][0][0]["text"], "Go");
    let answer = json!({ "callback_query_id": callback, "text": "Done.", "show_alert": true });
    bot.call("answerCallbackQuery", answer.clone()).await;
    let seen = fake.callback_answer(&callback).await;
    assert_eq!((seen.text.as_str(), seen.show_alert), ("Done.", true));
    let late = "Bad Request: query is too old and response timeout expired or query ID is invalid";
    assert_eq!(bot.refused("answerCallbackQuery", answer).await, (400, late.to_owned()), "a second answer");
    let expired = fake.press(carol, chat, id, "Go");
    fake.expire(&expired);
    for callback in [expired.as_str(), "1"] {
        let refused = bot.refused("answerCallbackQuery", json!({ "callback_query_id": callback })).await;
        assert_eq!(refused, (400, late.to_owned()), "{callback}");
    }
    let wordy = fake.press(carol, chat, id, "Go");
    let wordy = json!({ "callback_query_id": wordy, "text": "x".repeat(201) });
    assert_eq!(bot.refused("answerCallbackQuery", wordy).await.1, "Bad Request: MESSAGE_TOO_LONG");
}

#[tokio::test]
async fn forged_and_belated_presses_reach_the_bot() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let chat = fake.group("ops");
    let id = bot.send_button(chat, "token-1").await;
    fake.press_data(carol, chat, id, "forged");
    bot.call("deleteMessage", json!({ "chat_id": chat.0, "message_id": id })).await;
    fake.press_data(carol, chat, id, "token-1");
    let updates = bot.updates().await;
    assert_eq!(updates[0]["callback_query"]["data"], "forged");
    let about = &updates[1]["callback_query"]["message"];
    assert_eq!((&about["date"], &about["text"]), (&json!(0), &json!(null)), "of what is gone there is only the id");
}

#[tokio::test]
async fn all_sorts_of_senders() {
    let fake = Fake::start().await;
    let (bot, carol, dave) = (Bot::new(&fake), fake.user(11, "Carol"), fake.user(12, "Dave"));
    let (ops, news, other) = (fake.group("ops"), fake.channel("news"), fake.bot(99, "Other"));
    fake.say(Say::new(carol, ops, "approve").anonymous());
    fake.say(Say::new(carol, ops, "approve").as_channel(news));
    fake.say(Say::new(carol, news, "a post"));
    fake.say(Say::new(other, ops, "approve"));
    fake.say(Say::new(carol, ops, "approve").via_bot(other));
    fake.say(Say::new(carol, ops, "approve").forwarded(Origin::User(dave)));
    fake.say(Say::new(carol, ops, "approve").forwarded(Origin::Hidden("Dave".to_owned())));
    fake.say(Say::new(carol, ops, "approve").forwarded(Origin::Channel(news, 1)));
    let updates = bot.updates().await;
    let message = |at: usize| &updates[at]["message"];
    assert_eq!((&message(0)["from"]["id"], &message(0)["sender_chat"]["id"]), (&json!(ANONYMOUS_ADMIN), &json!(ops.0)));
    assert_eq!(
        (&message(0)["from"]["username"], &message(0)["from"]["is_bot"]),
        (&json!("GroupAnonymousBot"), &json!(true))
    );
    assert_eq!(
        (&message(1)["from"]["username"], &message(1)["sender_chat"]["type"]),
        (&json!("Channel_Bot"), &json!("channel"))
    );
    let post = &updates[2]["channel_post"];
    assert_eq!((&post["from"], &post["sender_chat"]["id"]), (&json!(null), &json!(news.0)));
    assert_eq!(message(3)["from"]["is_bot"], true);
    assert_eq!(message(4)["via_bot"]["id"], 99);
    assert_eq!(message(5)["forward_origin"]["sender_user"]["id"], 12);
    assert_eq!(message(6)["forward_origin"]["sender_user_name"], "Dave");
    assert_eq!(message(7)["forward_origin"]["message_id"], 1);
}

#[tokio::test]
async fn edits_mentions_and_threads_are_told_as_telegram_tells_them() {
    let fake = Fake::start().await;
    let (bot, carol, dave) = (Bot::new(&fake), fake.user(11, "Carol"), fake.user(12, "Dave"));
    let (ops, forum) = (fake.group("ops"), fake.forum("deploys"));
    let topic = fake.topic(forum, "web");
    let first = fake.say(Say::new(carol, ops, "/status@fake_ops_bot of 😀 Dave").mention(dave, "Dave"));
    let second = fake.say(Say::new(dave, ops, "yes").reply_to(first));
    fake.say(Say::new(carol, ops, "and?").reply_to(second).quote("es"));
    fake.say(Say::new(carol, forum, "here").topic(topic));
    fake.say(Say::new(carol, forum, "in general"));
    fake.edit(ops, first, "approve");
    let updates = bot.updates().await;
    let message = |at: usize| &updates[at]["message"];
    let marks = json!([
        { "type": "bot_command", "offset": 0, "length": 20 },
        { "type": "text_mention", "offset": 27, "length": 4, "user": message(0)["entities"][1]["user"] },
    ]);
    assert_eq!(message(0)["entities"], marks);
    assert_eq!(message(0)["entities"][1]["user"]["id"], 12);
    // A chain of replies in a group has a thread id without being a topic, and its first message has none.
    assert_eq!((&message(0)["message_thread_id"], &message(0)["is_topic_message"]), (&json!(null), &json!(null)));
    assert_eq!((&message(2)["message_thread_id"], &message(2)["is_topic_message"]), (&json!(first), &json!(null)));
    assert_eq!(message(2)["quote"]["position"], 1);
    // In a topic, what answers nothing seems to answer the notice that opened the topic.
    assert_eq!((&message(3)["message_thread_id"], &message(3)["is_topic_message"]), (&json!(topic), &json!(true)));
    assert_eq!(message(3)["reply_to_message"]["forum_topic_created"]["name"], "web");
    assert_eq!((&message(4)["message_thread_id"], &message(4)["reply_to_message"]), (&json!(null), &json!(null)));
    let edited = &updates[5]["edited_message"];
    assert_eq!((&edited["text"], edited["edit_date"].is_i64()), (&json!("approve"), true));
}

#[tokio::test]
async fn an_inline_query_is_answered_once_and_a_result_becomes_a_message() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let ops = fake.group("ops");
    let query = fake.inline_query(carol, "gate");
    assert_eq!(bot.updates().await[0]["inline_query"]["query"], "gate");
    let article = |id: &str| json!({ "type": "article", "id": id, "title": id, "input_message_content": { "message_text": format!("@@{id}") } });
    let answer =
        |results: Vec<serde_json::Value>| json!({ "inline_query_id": query, "results": results, "is_personal": true });
    let twice = answer(vec![article("gateway-1"), article("gateway-1")]);
    assert_eq!(bot.refused("answerInlineQuery", twice).await.1, "Bad Request: RESULT_ID_DUPLICATE");
    let many = answer((0..51).map(|at| article(&at.to_string())).collect());
    assert_eq!(bot.refused("answerInlineQuery", many).await.1, "Bad Request: RESULTS_TOO_MUCH");
    let long = answer(vec![article(&"x".repeat(65))]);
    assert_eq!(bot.refused("answerInlineQuery", long).await.1, "Bad Request: RESULT_ID_INVALID");
    let unknown = json!({ "type": "article", "id": "1", "title": "t", "input_message_content": { "message_text": "x", "text": "x" } });
    let refused = bot.refused("answerInlineQuery", answer(vec![unknown])).await.1;
    assert_eq!(refused, "Bad Request: unknown parameter \"text\"");
    let mut second = article("gateway-2");
    second["input_message_content"]["entities"] = json!([{ "type": "code", "offset": 0, "length": 11 }]);
    let good = answer(vec![article("gateway-1"), second]);
    bot.call("answerInlineQuery", good.clone()).await;
    assert_eq!(fake.inline_answer(&query).await.results.len(), 2);
    assert_eq!(bot.refused("answerInlineQuery", good).await.0, 400);
    fake.choose(carol, ops, &query, "gateway-2");
    let message = &bot.updates().await[1]["message"];
    assert_eq!((&message["text"], &message["via_bot"]["id"]), (&json!("@@gateway-2"), &json!(BOT)));
    assert_eq!(message["entities"], json!([{ "type": "code", "offset": 0, "length": 11 }]), "nobody is mentioned");
    fake.choose(carol, ops, &query, "gateway-1");
    assert_eq!(bot.updates().await[2]["message"]["entities"][0]["type"], "mention");
    fake.set_inline(false);
    let why = "inline mode is off, so that the bot is not asked: see Fake::set_inline".to_owned();
    assert_eq!(fake.try_inline_query(carol, "gate"), Err(why));
    assert_eq!(bot.call("getMe", json!({})).await["supports_inline_queries"], false);
}

#[tokio::test]
async fn the_bot_is_told_what_it_has_become() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let (ops, mine) = (fake.group("ops"), fake.private(carol));
    fake.set_admin(ops, true);
    fake.kick(ops);
    fake.say(Say::new(carol, ops, "it does not hear this"));
    fake.block(carol);
    let updates = bot.updates().await;
    let now = |at: usize| {
        (&updates[at]["my_chat_member"]["chat"]["id"], &updates[at]["my_chat_member"]["new_chat_member"]["status"])
    };
    assert_eq!(updates.len(), 3);
    assert_eq!(now(0), (&json!(ops.0), &json!("administrator")));
    assert_eq!(now(1), (&json!(ops.0), &json!("kicked")));
    assert_eq!(now(2), (&json!(mine.0), &json!("kicked")));
    fake.unblock(carol);
    bot.send(mine, "again").await;
}

#[tokio::test]
async fn what_cannot_be_played_is_said_in_a_sentence() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let ops = fake.group("ops");
    let id = bot.send_button(ops, "x").await;
    let said = fake.try_say(Say::new(12, ops, "x"));
    assert_eq!(said, Err("there is no user 12: make one with Fake::user first".to_owned()));
    let pressed = fake.try_press(carol, ops, id, "Stop");
    assert_eq!(pressed, Err(format!("message {id} has no button `Stop`, but `Go`")));
    assert_eq!(fake.try_edit(ops, id, "x"), Err(format!("message {id} is the bot's; nobody else can edit it")));
    assert_eq!(fake.try_react(carol, ops, id, Some("✅")), Err("✅ is no reaction that Telegram knows".to_owned()));
    assert_eq!(fake.try_react(carol, ops, 404, Some("👍")), Err("ops shows no message 404".to_owned()));
}
