//! What the fake sends is what teloxide takes for Telegram's: every kind of update and every answer goes through its types.

use countersign_telegram_fake::{Fake, Origin, Say};
use teloxide_core::Bot;
use teloxide_core::payloads::{
    AnswerCallbackQuerySetters, EditMessageTextSetters, GetUpdatesSetters, SendMessageSetters,
    SetMessageReactionSetters,
};
use teloxide_core::requests::Requester;
use teloxide_core::types::AllowedUpdate::{
    CallbackQuery, ChannelPost, EditedMessage, InlineQuery, Message, MessageReaction, MyChatMember,
};
use teloxide_core::types::{
    BotCommand, ChatAction, ChatId, InlineKeyboardButton, InlineKeyboardMarkup, InlineQueryResult,
    InlineQueryResultArticle, InputFile, InputMessageContent, InputMessageContentText, MessageId, ParseMode,
    ReactionType, ReplyParameters, UpdateKind, UserId,
};
use teloxide_core::{ApiError, RequestError};

fn client(fake: &Fake) -> Bot {
    let url = reqwest::Url::parse(&fake.base_url()).expect("a URL");
    Bot::with_client(fake.token(), reqwest::Client::builder().no_proxy().build().expect("a client")).set_api_url(url)
}

fn key() -> InlineKeyboardMarkup {
    InlineKeyboardMarkup::new([[InlineKeyboardButton::callback("Go", "token-1")]])
}

#[tokio::test]
async fn every_answer_is_read() {
    let fake = Fake::start().await;
    let (bot, carol) = (client(&fake), fake.user(11, "Carol"));
    let forum = fake.forum("deploys");
    fake.set_admin(forum, true);
    let chat = ChatId(forum.0);
    let said = MessageId(i32::try_from(fake.say(Say::new(carol, forum, "hello"))).expect("a small id"));
    assert_eq!(bot.get_me().await.expect("read").username(), fake.bot_username());
    bot.delete_webhook().await.expect("read");
    bot.set_my_commands([BotCommand::new("status", "how things are")]).await.expect("read");
    let html = "<b>a</b> <pre><code class=\"language-rust\">b</code></pre> <a href=\"https://e.org\">c</a>";
    let sent = bot.send_message(chat, html).parse_mode(ParseMode::Html).reply_markup(key());
    let sent = sent.reply_parameters(ReplyParameters::new(said)).await.expect("read");
    assert_eq!(sent.entities().map(<[_]>::len), Some(3));
    assert_eq!(sent.reply_to_message().map(|message| message.id), Some(said));
    let edited = bot.edit_message_text(chat, sent.id, "changed").reply_markup(key()).await.expect("read");
    assert!(edited.edit_date().is_some());
    bot.edit_message_reply_markup(chat, sent.id).await.expect("read");
    bot.send_chat_action(chat, ChatAction::Typing).await.expect("read");
    let thumb = ReactionType::Emoji { emoji: "👍".to_owned() };
    bot.set_message_reaction(chat, said).reaction([thumb]).await.expect("read");
    let topic = bot.create_forum_topic(chat, "web").await.expect("read");
    bot.send_message(chat, "x").message_thread_id(topic.thread_id).await.expect("read");
    let file = InputFile::memory("12 lines").file_name("report.txt");
    let file = bot.send_document(chat, file).await.expect("read");
    assert_eq!(file.document().and_then(|document| document.file_name.as_deref()), Some("report.txt"));
    assert!(bot.get_chat(chat).await.expect("read").is_supergroup());
    let me = bot.get_chat_member(chat, UserId(7_000_000_001)).await.expect("read");
    assert!(me.kind.is_administrator());
    bot.delete_message(chat, sent.id).await.expect("read");
}

#[tokio::test]
async fn every_update_is_read() {
    let fake = Fake::start().await;
    let (bot, carol, dave) = (client(&fake), fake.user(11, "Carol"), fake.user(12, "Dave"));
    let (ops, news, mine, old) =
        (fake.group("ops"), fake.channel("news"), fake.private(carol), fake.basic_group("old"));
    let forum = fake.forum("deploys");
    let topic = fake.topic(forum, "web");
    let wanted = [CallbackQuery, ChannelPost, EditedMessage, InlineQuery, Message, MessageReaction, MyChatMember];
    bot.get_updates().allowed_updates(wanted).await.expect("read");
    let card = bot.send_message(ChatId(ops.0), "go?").reply_markup(key()).await.expect("read").id;
    let card = i64::from(card.0);
    fake.set_admin(ops, true);
    let said = fake.say(Say::new(carol, ops, "/status Dave #now").mention(dave, "Dave"));
    fake.edit(ops, said, "changed");
    fake.say(Say::new(carol, ops, "yes").reply_to(card).quote("go"));
    fake.say(Say::new(carol, forum, "here").topic(topic));
    fake.say(Say::new(carol, mine, "mine").forwarded(Origin::Hidden("Eve".to_owned())));
    fake.say(Say::new(carol, mine, "mine").forwarded(Origin::Channel(news, 1)));
    fake.say(Say::new(carol, old, "old").via_bot(fake.bot(99, "Other")));
    fake.say(Say::new(carol, ops, "anonymous").anonymous());
    fake.say(Say::new(carol, ops, "file").document("a.txt", b"a"));
    fake.say(Say::new(carol, news, "post"));
    fake.press(carol, ops, card, "Go");
    fake.react(carol, ops, card, "👍");
    fake.react_anonymously(ops, card, "🔥");
    fake.inline_query(carol, "web");
    fake.delete(ops, card);
    let belated = fake.press_data(carol, ops, card, "token-1");
    fake.kick(old);
    let updates = bot.get_updates().await.expect("read");
    for update in &updates {
        assert!(!matches!(update.kind, UpdateKind::Error(_)), "teloxide cannot read {update:?}");
    }
    assert_eq!(updates.len(), 17);
    bot.answer_callback_query(belated.clone().into()).text("too late").await.expect("read");
    assert_eq!(fake.callback_answer(&belated).await.text, "too late");
}

#[tokio::test]
async fn refusals_are_known_by_their_words() {
    let fake = Fake::start().await;
    let (bot, ops) = (client(&fake), fake.group("ops"));
    let chat = ChatId(ops.0);
    let sent = bot.send_message(chat, "x").await.expect("read").id;
    let refused = |error: Option<RequestError>| match error {
        Some(RequestError::Api(error)) => error,
        other => panic!("no refusal: {other:?}"),
    };
    let same = bot.edit_message_text(chat, sent, "x").await;
    assert_eq!(refused(same.err()), ApiError::MessageNotModified);
    let html = bot.send_message(chat, "<b>").parse_mode(ParseMode::Html).await;
    assert!(matches!(refused(html.err()), ApiError::CantParseEntities(_)));
    assert_eq!(refused(bot.send_message(ChatId(5), "x").await.err()), ApiError::ChatNotFound);
    let long = "x".repeat(65);
    let markup = InlineKeyboardMarkup::new([[InlineKeyboardButton::callback("Go", long)]]);
    let button = bot.send_message(chat, "x").reply_markup(markup).await;
    assert_eq!(refused(button.err()), ApiError::ButtonDataInvalid);
    fake.fault(countersign_telegram_fake::Fault::too_many(31).on("SendMessage"));
    let limited = bot.send_message(chat, "x").await;
    assert!(matches!(limited, Err(RequestError::RetryAfter(wait)) if wait.seconds() == 31));
    fake.kick(ops);
    assert_eq!(refused(bot.send_message(chat, "x").await.err()), ApiError::BotKickedFromSupergroup);
}

#[tokio::test]
async fn an_inline_query_is_answered() {
    let fake = Fake::start().await;
    let (bot, carol) = (client(&fake), fake.user(11, "Carol"));
    let query = fake.inline_query(carol, "web");
    let text = InputMessageContent::Text(InputMessageContentText::new("@@web-1"));
    let article = InlineQueryResult::Article(InlineQueryResultArticle::new("1", "web-1", text));
    bot.answer_inline_query(query.clone().into(), [article]).await.expect("read");
    assert_eq!(fake.inline_answer(&query).await.results[0]["title"], "web-1");
}
