//! Every strictness rule as a row: what is asked for, and the words in which it is refused. A row is also asked for
//! rightly in `sending`, so that no rule refuses everything.

use countersign_telegram_fake::{Fake, Say};
use serde_json::{Value, json};

use crate::support::Bot;

/// Asks for each row and compares the words; 400 unless the words say otherwise.
async fn check(bot: &Bot, rows: Vec<(&str, Value, &str)>) {
    for (method, params, expected) in rows {
        let (code, words) = bot.refused(method, params.clone()).await;
        assert_eq!(words, expected, "{method} {params}");
        let prefix = match code {
            400 => "Bad Request: ",
            403 => "Forbidden: ",
            _ => "",
        };
        assert!(expected.starts_with(prefix), "{code} {expected}");
    }
}

#[tokio::test]
async fn texts() {
    let fake = Fake::start().await;
    let (bot, chat) = (Bot::new(&fake), fake.group("ops").0);
    let text = |text: &str| json!({ "chat_id": chat, "text": text });
    let html = |text: &str| json!({ "chat_id": chat, "text": text, "parse_mode": "HTML" });
    let entity = |entity: Value| json!({ "chat_id": chat, "text": "x", "entities": [entity] });
    check(
        &bot,
        vec![
            ("sendMessage", json!({ "chat_id": chat }), "Bad Request: message text is empty"),
            ("sendMessage", text(""), "Bad Request: message text is empty"),
            ("sendMessage", text(" \n "), "Bad Request: text must be non-empty"),
            ("sendMessage", html("<b></b>"), "Bad Request: text must be non-empty"),
            ("sendMessage", text(&"x".repeat(4097)), "Bad Request: message is too long"),
            ("sendMessage", text(&"😀".repeat(2049)), "Bad Request: message is too long"),
            ("sendMessage", text(&"x".repeat(40_000)), "Bad Request: text is too long"),
            (
                "sendMessage",
                html("a <br> b"),
                "Bad Request: can't parse entities: Unsupported start tag \"br\" at byte offset 2",
            ),
            (
                "sendMessage",
                html("<b>x"),
                "Bad Request: can't parse entities: Can't find end tag corresponding to start tag \"b\"",
            ),
            (
                "sendMessage",
                json!({ "chat_id": chat, "text": "x", "parse_mode": "MarkdownV2" }),
                "Bad Request: the fake reads HTML only, no Markdown",
            ),
            (
                "sendMessage",
                json!({ "chat_id": chat, "text": "x", "parse_mode": "BBCode" }),
                "Bad Request: unsupported parse_mode",
            ),
            (
                "sendMessage",
                entity(json!({ "type": "blink", "offset": 0, "length": 1 })),
                "Bad Request: can't parse MessageEntity: unsupported type specified",
            ),
            (
                "sendMessage",
                entity(json!({ "type": "bold", "offset": 1, "length": 1 })),
                "Bad Request: can't parse MessageEntity: it ends beyond the text",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn names_and_types_of_parameters() {
    let fake = Fake::start().await;
    let (bot, chat) = (Bot::new(&fake), fake.group("ops").0);
    check(
        &bot,
        vec![
            (
                "sendMessage",
                json!({ "chat_id": chat, "text": "x", "disable_web_page_preview": true }),
                "Bad Request: unknown parameter \"disable_web_page_preview\"",
            ),
            ("getMe", json!({ "verbose": true }), "Bad Request: unknown parameter \"verbose\""),
            (
                "sendMessage",
                json!({ "chat_id": chat, "text": 5 }),
                "Bad Request: field \"text\" must be of type String",
            ),
            (
                "editMessageText",
                json!({ "chat_id": chat, "message_id": "1", "text": "x" }),
                "Bad Request: field \"message_id\" must be of type Integer",
            ),
            (
                "sendMessage",
                json!({ "chat_id": chat, "text": "x", "protect_content": "yes" }),
                "Bad Request: field \"protect_content\" must be of type Boolean",
            ),
            (
                "sendMessage",
                json!({ "chat_id": chat, "text": "x", "reply_markup": "{}" }),
                "Bad Request: field \"reply_markup\" must be of type Object or Array",
            ),
            ("sendMessage", json!({ "text": "x" }), "Bad Request: chat_id is empty"),
            (
                "sendMessage",
                json!({ "chat_id": true, "text": "x" }),
                "Bad Request: field \"chat_id\" must be of type Integer or String",
            ),
            ("sendMessage", json!([1]), "Bad Request: object expected as the request's body"),
            ("sendVideoNote", json!({}), "Not Found: method not found"),
        ],
    )
    .await;
}

#[tokio::test]
async fn chats_topics_and_answers() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let (group, forum, kicked) = (fake.group("ops"), fake.forum("deploys"), fake.group("gone"));
    let (basic, channel, private) = (fake.basic_group("old"), fake.channel("news"), fake.private(carol));
    let said = fake.say(Say::new(carol, group, "hello"));
    fake.delete(group, said);
    let shown = fake.say(Say::new(carol, group, "here"));
    fake.topic(forum, "web");
    fake.kick(kicked);
    fake.kick(basic);
    fake.set_admin(channel, false);
    fake.block(carol);
    let text = |chat: i64| json!({ "chat_id": chat, "text": "x" });
    let reply = |reply: Value| json!({ "chat_id": group.0, "text": "x", "reply_parameters": reply });
    check(
        &bot,
        vec![
            ("sendMessage", text(-100), "Bad Request: chat not found"),
            ("sendMessage", text(999), "Bad Request: chat not found"),
            ("getChat", json!({ "chat_id": "@nobody" }), "Bad Request: chat not found"),
            ("sendMessage", text(kicked.0), "Forbidden: bot was kicked from the supergroup chat"),
            ("sendMessage", text(basic.0), "Forbidden: bot was kicked from the group chat"),
            ("sendMessage", text(private.0), "Forbidden: bot was blocked by the user"),
            ("sendMessage", text(channel.0), "Bad Request: need administrator rights in the channel chat"),
            (
                "sendMessage",
                json!({ "chat_id": group.0, "text": "x", "message_thread_id": 1 }),
                "Bad Request: message thread not found",
            ),
            (
                "sendMessage",
                json!({ "chat_id": forum.0, "text": "x", "message_thread_id": 77 }),
                "Bad Request: message thread not found",
            ),
            ("sendMessage", reply(json!({ "message_id": 404 })), "Bad Request: message to be replied not found"),
            ("sendMessage", reply(json!({ "message_id": said })), "Bad Request: message to be replied not found"),
            ("sendMessage", reply(json!({})), "Bad Request: can't find field \"message_id\""),
            ("sendMessage", reply(json!({ "message_id": shown, "quote": "no" })), "Bad Request: QUOTE_TEXT_INVALID"),
            (
                "sendMessage",
                reply(json!({ "message_id": shown, "ephemeral": true })),
                "Bad Request: reply_parameters: unknown parameter \"ephemeral\"",
            ),
            (
                "sendChatAction",
                json!({ "chat_id": group.0, "action": "thinking" }),
                "Bad Request: wrong parameter action in request",
            ),
            ("createForumTopic", json!({ "chat_id": group.0, "name": "web" }), "Bad Request: the chat is not a forum"),
            (
                "createForumTopic",
                json!({ "chat_id": forum.0, "name": "web" }),
                "Bad Request: not enough rights to create a topic",
            ),
            ("getChatMember", json!({ "chat_id": group.0, "user_id": 5 }), "Bad Request: user not found"),
        ],
    )
    .await;
}

#[tokio::test]
async fn keyboards() {
    let fake = Fake::start().await;
    let (bot, chat) = (Bot::new(&fake), fake.group("ops").0);
    let button =
        |button: Value| json!({ "chat_id": chat, "text": "x", "reply_markup": { "inline_keyboard": [[button]] } });
    let unparsed = "Bad Request: can't parse inline keyboard button: ";
    let data = "x".repeat(65);
    let unallowed = format!("{unparsed}Text buttons are unallowed in the inline keyboard");
    let (unknown, missing) =
        (format!("{unparsed}unknown parameter \"colour\""), format!("{unparsed}can't find field \"text\""));
    let wide: Vec<Value> = (0..101).map(|at| json!({ "text": "x", "callback_data": at.to_string() })).collect();
    check(
        &bot,
        vec![
            ("sendMessage", button(json!({ "text": "x", "callback_data": data })), "Bad Request: BUTTON_DATA_INVALID"),
            (
                "sendMessage",
                button(json!({ "text": "x", "callback_data": "é".repeat(33) })),
                "Bad Request: BUTTON_DATA_INVALID",
            ),
            ("sendMessage", button(json!({ "text": "x", "callback_data": "" })), &unallowed),
            ("sendMessage", button(json!({ "text": "x" })), &unallowed),
            ("sendMessage", button(json!({ "callback_data": "x" })), &missing),
            ("sendMessage", button(json!({ "text": "x", "callback_data": "x", "colour": "red" })), &unknown),
            ("sendMessage", button(json!({ "text": "x", "url": "javascript:x" })), "Bad Request: BUTTON_URL_INVALID"),
            (
                "sendMessage",
                json!({ "chat_id": chat, "text": "x", "reply_markup": { "inline_keyboard": [wide] } }),
                "Bad Request: reply markup is too long",
            ),
            (
                "sendMessage",
                json!({ "chat_id": chat, "text": "x", "reply_markup": { "inline_keyboard": ["x"] } }),
                "Bad Request: field \"inline_keyboard\" must be an Array of Arrays",
            ),
            (
                "sendMessage",
                json!({ "chat_id": chat, "text": "x", "reply_markup": { "force_reply": true } }),
                "Bad Request: reply_markup: unknown parameter \"force_reply\"; the fake knows inline keyboards",
            ),
        ],
    )
    .await;
}

const NOT_MODIFIED: &str = "Bad Request: message is not modified: specified new message content and reply markup are exactly \
    the same as a current content and reply markup of the message";

#[tokio::test]
async fn edits_deletions_and_reactions() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let group = fake.group("ops");
    let (theirs, own) = (fake.say(Say::new(carol, group, "hello")), bot.send(group, "a b").await);
    let with_key = bot.send_button(group, "go").await;
    let edit = |message: i64, text: &str| json!({ "chat_id": group.0, "message_id": message, "text": text });
    let key = json!({ "inline_keyboard": [[{ "text": "Go", "callback_data": "go" }]] });
    let react = |emoji: Value| json!({ "chat_id": group.0, "message_id": theirs, "reaction": emoji });
    let emoji = |emoji: &str| json!({ "type": "emoji", "emoji": emoji });
    let about = |message: i64| json!({ "chat_id": group.0, "message_id": message });
    check(
        &bot,
        vec![
            ("editMessageText", edit(own, "a b"), NOT_MODIFIED),
            ("editMessageText", edit(own, "a b \n"), NOT_MODIFIED),
            ("editMessageText", edit(404, "x"), "Bad Request: message to edit not found"),
            ("editMessageText", edit(theirs, "x"), "Bad Request: message can't be edited"),
            ("editMessageText", edit(own, ""), "Bad Request: message text is empty"),
            ("editMessageText", edit(own, &"x".repeat(4097)), "Bad Request: MESSAGE_TOO_LONG"),
            (
                "editMessageText",
                json!({ "chat_id": group.0, "text": "x" }),
                "Bad Request: message identifier is not specified",
            ),
            (
                "editMessageReplyMarkup",
                json!({ "chat_id": group.0, "message_id": with_key, "reply_markup": key }),
                NOT_MODIFIED,
            ),
            ("editMessageReplyMarkup", about(own), NOT_MODIFIED),
            ("editMessageReplyMarkup", about(404), "Bad Request: message to edit not found"),
            ("deleteMessage", about(404), "Bad Request: message to delete not found"),
            ("deleteMessage", about(theirs), "Bad Request: message can't be deleted"),
            ("setMessageReaction", react(json!([emoji("✅")])), "Bad Request: REACTION_INVALID"),
            ("setMessageReaction", react(json!([emoji("👍"), emoji("🔥")])), "Bad Request: REACTIONS_TOO_MANY"),
            ("setMessageReaction", about(404), "Bad Request: message to react not found"),
            ("setMessageReaction", react(json!(["👍"])), "Bad Request: invalid reaction type specified"),
        ],
    )
    .await;
    bot.call("deleteMessage", about(own)).await;
    check(&bot, vec![("deleteMessage", about(own), "Bad Request: message to delete not found")]).await;
}

#[tokio::test]
async fn commands() {
    let fake = Fake::start().await;
    let bot = Bot::new(&fake);
    let command =
        |name: &str, description: &str| json!({ "commands": [{ "command": name, "description": description }] });
    let long = "x".repeat(33);
    check(
        &bot,
        vec![
            ("setMyCommands", command("Status", "x"), "Bad Request: BOT_COMMAND_INVALID"),
            ("setMyCommands", command("what-is", "x"), "Bad Request: BOT_COMMAND_INVALID"),
            ("setMyCommands", command(&long, "x"), "Bad Request: BOT_COMMAND_INVALID"),
            ("setMyCommands", command("", "x"), "Bad Request: command must be non-empty"),
            ("setMyCommands", command("status", " "), "Bad Request: command description must be non-empty"),
            (
                "setMyCommands",
                command("status", &"x".repeat(257)),
                "Bad Request: command description length must not exceed 256",
            ),
            (
                "setMyCommands",
                json!({ "commands": [{ "command": "status" }] }),
                "Bad Request: can't parse BotCommand: can't find field \"description\"",
            ),
            ("setMyCommands", json!({ "commands": {} }), "Bad Request: expected an Array of BotCommand"),
        ],
    )
    .await;
    bot.call("setMyCommands", command(&"x".repeat(32), &"x".repeat(256))).await;
    assert_eq!(fake.commands().len(), 1);
}

#[tokio::test]
async fn tokens_and_paths() {
    let fake = Fake::start().await;
    let other = "7000000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    assert_eq!(Bot::with_token(&fake, other).refused("getMe", json!({})).await, (401, "Unauthorized".to_owned()));
    assert_eq!(Bot::with_token(&fake, "nonsense").refused("getMe", json!({})).await, (404, "Not Found".to_owned()));
    assert!(fake.log().is_empty(), "what is not for the bot is not its call");
}
