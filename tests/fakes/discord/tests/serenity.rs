//! What the fake sends is what serenity takes for Discord's: every kind of event and every answer goes through its types.

use countersign_discord_fake::{AnswerKind, BOT, Fake, GUILD, Say};
use serenity::all::{
    AutocompleteChoice, ChannelId, ChannelType, CommandDataOptionValue, CommandOptionType, CommandType,
    ComponentInteractionDataKind, CreateActionRow, CreateAllowedMentions, CreateAttachment, CreateAutocompleteResponse,
    CreateButton, CreateCommand, CreateCommandOption, CreateEmbed, CreateInputText, CreateInteractionResponse,
    CreateInteractionResponseFollowup, CreateInteractionResponseMessage, CreateMessage, CreateModal, CreateSelectMenu,
    CreateSelectMenuKind, CreateSelectMenuOption, CreateThread, EditInteractionResponse, EditMessage, EditThread,
    GetMessages, GuildId, InputTextStyle, InstallationContext, Interaction, InteractionContext, MessageType, Nonce,
    ReactionType, RoleId, TargetId, UserId, WebhookId,
};

use crate::support::{Heard, Listener, http};

/// For all servers and for direct messages with the bot.
fn command(name: &str) -> CreateCommand {
    let contexts = vec![InteractionContext::Guild, InteractionContext::BotDm];
    CreateCommand::new(name).integration_types(vec![InstallationContext::Guild]).contexts(contexts)
}

fn key(data: &str) -> CreateActionRow {
    CreateActionRow::Buttons(vec![
        CreateButton::new(data).label("Go"),
        CreateButton::new_link("https://e.org").label("Look"),
    ])
}

fn said(text: &str) -> CreateInteractionResponseMessage {
    CreateInteractionResponseMessage::new().content(text)
}

#[tokio::test]
async fn it_connects_hears_and_says() {
    let fake = Fake::start().await;
    let (carol, ops) = (fake.user(11, "Carol"), fake.channel("ops"));
    let mut bot = Listener::start(&fake).await;
    fake.wait_until_connected().await;
    fake.say(Say::new(carol, ops, "Ops status").mention(BOT, "Ops"));
    let heard = bot.message().await;
    assert_eq!((heard.content.as_str(), heard.mentions[0].id.get()), (format!("<@{BOT}> status").as_str(), BOT));
    assert_eq!(heard.member.expect("a member").roles.len(), 0);
    let reply = CreateMessage::new().content("all well").reference_message((ChannelId::new(ops.0), heard.id));
    ChannelId::new(ops.0).send_message(&bot.http, reply).await.expect("read");
    let said = fake.wait_for(ops, |message| message.from_bot).await;
    assert_eq!((said.text.as_str(), said.reply_to), ("all well", Some(heard.id.get())));
}

#[tokio::test]
async fn every_answer_about_messages_is_read() {
    let fake = Fake::start().await;
    let (http, carol, ops) = (http(&fake), fake.user(11, "Carol"), fake.channel("ops"));
    let channel = ChannelId::new(ops.0);
    let asked = fake.say(Say::new(carol, ops, "hello").document("a.txt", b"a"));
    let embed = CreateEmbed::new().title("t").description("d").field("f", "v", true).colour(0x00_FF_00);
    let nonce = || CreateMessage::new().nonce(Nonce::String("post-1".to_owned())).enforce_nonce(true);
    let whole = nonce().content("<@11> go?").embed(embed).components(vec![key("token-1")]);
    let whole = whole.allowed_mentions(CreateAllowedMentions::new()).reference_message((channel, asked.into()));
    let sent = channel.send_message(&http, whole).await.expect("read");
    assert_eq!((sent.kind, sent.mentions.len(), sent.components.len()), (MessageType::InlineReply, 0, 1));
    assert_eq!(sent.referenced_message.as_ref().map(|message| message.id.get()), Some(asked));
    let again = channel.send_message(&http, nonce().content("<@11> go?")).await.expect("read");
    assert_eq!(again.id, sent.id, "the same nonce is the same message");
    let edited = channel.edit_message(&http, sent.id, EditMessage::new().content("done").components(vec![])).await;
    assert!(edited.expect("read").edited_timestamp.is_some());
    let file = CreateMessage::new().add_file(CreateAttachment::bytes(b"12 lines", "report.txt"));
    let file = channel.send_message(&http, file).await.expect("read");
    assert_eq!((file.attachments[0].filename.as_str(), file.attachments[0].size), ("report.txt", 8));
    let emoji = ReactionType::Unicode("👍".to_owned());
    channel.create_reaction(&http, asked, emoji.clone()).await.expect("read");
    let shown = channel.message(&http, asked).await.expect("read");
    assert_eq!((shown.reactions[0].count, shown.reactions[0].me), (1, true));
    assert_eq!(channel.reaction_users(&http, asked, emoji.clone(), None, None::<UserId>).await.expect("read").len(), 1);
    channel.delete_reaction(&http, asked, None, emoji).await.expect("read");
    let listed = channel.messages(&http, GetMessages::new().after(asked).limit(10)).await.expect("read");
    assert_eq!(listed.iter().map(|message| message.id).collect::<Vec<_>>(), [file.id, sent.id], "newest first");
    channel.broadcast_typing(&http).await.expect("read");
    assert!(fake.is_typing(ops));
    channel.delete_message(&http, sent.id).await.expect("read");
    assert!(fake.message(ops, sent.id.get()).expect("it is kept, marked").deleted);
}

#[tokio::test]
async fn every_answer_about_places_is_read() {
    let fake = Fake::start().await;
    let (http, carol, ops) = (http(&fake), fake.user(11, "Carol"), fake.channel("ops"));
    let approver = fake.role("approver");
    fake.set_roles(carol, &[approver]);
    let (channel, guild) = (ChannelId::new(ops.0), GuildId::new(GUILD));
    assert_eq!(http.get_current_user().await.expect("read").id.get(), BOT);
    assert_eq!(http.get_current_application_info().await.expect("read").id.get(), BOT);
    assert_eq!(http.get_bot_gateway().await.expect("read").url, fake.gateway_url());
    assert_eq!(http.get_gateway().await.expect("read").url, fake.gateway_url());
    assert_eq!(guild.to_partial_guild(&http).await.expect("read").name, "Team");
    assert_eq!(guild.member(&http, carol).await.expect("read").roles, [RoleId::new(approver)]);
    assert!(guild.roles(&http).await.expect("read").contains_key(&RoleId::new(approver)));
    assert_eq!(guild.channels(&http).await.expect("read")[&channel].name, "ops");
    assert_eq!(guild.members(&http, Some(10), None).await.expect("read").len(), 2);
    assert_eq!(channel.to_channel(&http).await.expect("read").guild().expect("of a server").guild_id, guild);
    let asked = fake.say(Say::new(carol, ops, "hello"));
    let thread = channel.create_thread_from_message(&http, asked, CreateThread::new("web")).await.expect("read");
    assert_eq!((thread.id.get(), thread.parent_id, thread.kind), (asked, Some(channel), ChannelType::PublicThread));
    let other =
        channel.create_thread(&http, CreateThread::new("db").kind(ChannelType::PublicThread)).await.expect("read");
    other.id.say(&http, "in the thread").await.expect("read");
    other.id.edit_thread(&http, EditThread::new().archived(true)).await.expect("read");
    assert_eq!(guild.get_active_threads(&http).await.expect("read").threads.len(), 1);
    let direct = UserId::new(carol).create_dm_channel(&http).await.expect("read");
    assert_eq!((direct.recipient.id.get(), direct.id.get()), (carol, fake.private(carol).0));
    direct.id.say(&http, "to you").await.expect("read");
    assert!(direct.id.to_channel(&http).await.expect("read").private().is_some());
    assert_eq!(UserId::new(carol).to_user(&http).await.expect("read").display_name(), "Carol");
}

#[tokio::test]
async fn every_event_is_read() {
    let fake = Fake::start().await;
    let (carol, dave, ops) = (fake.user(11, "Carol"), fake.user(12, "Dave"), fake.channel("ops"));
    let (hook, mine) = (fake.webhook(77, "CI"), fake.private(carol));
    let mut bot = Listener::start(&fake).await;
    let guild = bot.find(|heard| if let Heard::Guild(guild) = heard { Some(guild) } else { None }).await;
    assert_eq!((guild.id.get(), guild.channels.len(), guild.members.len()), (GUILD, 1, 1));
    let said = fake.say(Say::new(carol, ops, "hello @everyone").mention(dave, "hello"));
    let heard = bot.message().await;
    assert!(heard.mention_everyone && heard.mentions[0].id.get() == dave && heard.guild_id.is_some());
    fake.edit(ops, said, "changed");
    let edited = bot.find(|heard| if let Heard::Update(update) = heard { Some(update) } else { None }).await;
    assert_eq!((edited.content.as_deref(), edited.edited_timestamp.is_some()), (Some("changed"), true));
    fake.unfold(ops, said);
    let unfolded = bot.find(|heard| if let Heard::Update(update) = heard { Some(update) } else { None }).await;
    assert_eq!(unfolded.embeds.map(|embeds| embeds.len()), Some(1));
    let answer = fake.say(Say::new(dave, ops, "yes").reply_to(said));
    assert_eq!(bot.message().await.referenced_message.expect("it answers").id.get(), said);
    fake.react(dave, ops, said, "👍");
    let reaction = bot.find(|heard| if let Heard::React(reaction) = heard { Some(reaction) } else { None }).await;
    assert_eq!((reaction.user_id.map(UserId::get), reaction.member.is_some()), (Some(dave), true));
    fake.unreact(dave, ops, said, "👍");
    bot.find(|heard| if let Heard::Unreact(reaction) = heard { Some(reaction) } else { None }).await;
    fake.delete(ops, answer);
    let gone = bot.find(|heard| if let Heard::Delete(message) = heard { Some(message) } else { None }).await;
    assert_eq!(gone.get(), answer);
    let thread = fake.thread_from(carol, ops, said, "web");
    let opened = bot.find(|heard| if let Heard::Thread(thread) = heard { Some(thread) } else { None }).await;
    assert_eq!((opened.id.get(), opened.parent_id.map(ChannelId::get)), (thread.0, Some(ops.0)));
    assert_eq!(bot.message().await.kind, MessageType::ThreadStarterMessage);
    fake.say(Say::new(hook, ops, "build failed"));
    let hooked = bot.message().await;
    assert_eq!((hooked.webhook_id.map(WebhookId::get), hooked.member.is_none()), (Some(hook), true));
    fake.say(Say::new(carol, mine, "mine"));
    let direct = bot.message().await;
    assert_eq!((direct.guild_id, direct.content.as_str()), (None, "mine"));
    fake.say(Say::new(carol, mine, "").forwarded(ops, said));
    assert_eq!(bot.message().await.message_snapshots[0].content, "changed");
}

#[tokio::test]
async fn a_button_is_pressed_and_answered_in_every_way() {
    let fake = Fake::start().await;
    let (carol, ops) = (fake.user(11, "Carol"), fake.channel("ops"));
    let approver = fake.role("approver");
    fake.set_roles(carol, &[approver]);
    let mut bot = Listener::start(&fake).await;
    let channel = ChannelId::new(ops.0);
    let card =
        channel.send_message(&bot.http, CreateMessage::new().content("go?").components(vec![key("token-1")])).await;
    let card = card.expect("read").id.get();
    let ways = [
        (CreateInteractionResponse::Message(said("for you").ephemeral(true)), AnswerKind::Message),
        (CreateInteractionResponse::Defer(said("").ephemeral(true)), AnswerKind::Deferred),
        (CreateInteractionResponse::Acknowledge, AnswerKind::DeferredUpdate),
        (CreateInteractionResponse::UpdateMessage(said("gone").components(vec![])), AnswerKind::Update),
    ];
    for (way, kind) in ways {
        let pressed = fake.press(carol, ops, card, "Go");
        let component = bot.asked().await.message_component().expect("a button");
        assert_eq!(component.data.custom_id, "token-1");
        assert_eq!(component.member.as_ref().expect("of a server").roles, [RoleId::new(approver)]);
        component.create_response(&bot.http, way).await.expect("read");
        assert_eq!(fake.callback_answer(&pressed).await.kind, kind);
        let follow = CreateInteractionResponseFollowup::new().content("and more").ephemeral(true);
        let follow = component.create_followup(&bot.http, follow).await.expect("read");
        component.edit_response(&bot.http, EditInteractionResponse::new().content("last")).await.expect("read");
        component.get_response(&bot.http).await.expect("read");
        component.delete_followup(&bot.http, follow.id).await.expect("read");
    }
    assert_eq!(fake.message(ops, card).expect("it is there").text, "last");
}

#[tokio::test]
async fn menus_commands_and_windows_are_read() {
    let fake = Fake::start().await;
    let (carol, ops) = (fake.user(11, "Carol"), fake.channel("ops"));
    let mut bot = Listener::start(&fake).await;
    let option =
        CreateCommandOption::new(CommandOptionType::String, "resource", "Which").required(true).set_autocomplete(true);
    let commands = vec![
        command("restart").description("Restarts something").add_option(option),
        command("Explain").kind(CommandType::Message),
    ];
    let registered = bot.http.create_global_commands(&commands).await.expect("read");
    assert_eq!(registered.len(), 2);
    fake.autocomplete(carol, ops, "restart", &[("resource", "we")], "resource");
    let Interaction::Autocomplete(typing) = bot.asked().await else { panic!("somebody types") };
    assert_eq!(typing.data.autocomplete().expect("one is focused").value, "we");
    let offered = CreateAutocompleteResponse::new().set_choices(vec![AutocompleteChoice::new("web-1", "@@web-1")]);
    typing.create_response(&bot.http, CreateInteractionResponse::Autocomplete(offered)).await.expect("read");
    let run = fake.command(carol, ops, "restart", &[("resource", "@@web-1")]);
    let command = bot.asked().await.command().expect("a command");
    assert_eq!(command.data.options[0].value, CommandDataOptionValue::String("@@web-1".to_owned()));
    command.create_response(&bot.http, CreateInteractionResponse::Defer(said(""))).await.expect("read");
    let menu = CreateSelectMenuKind::String {
        options: vec![CreateSelectMenuOption::new("nginx", "1"), CreateSelectMenuOption::new("redis", "2")],
    };
    let menu = CreateActionRow::SelectMenu(CreateSelectMenu::new("menu-1", menu));
    let edit = EditInteractionResponse::new().content("which?").components(vec![menu]);
    command.edit_response(&bot.http, edit).await.expect("read");
    let response = fake.response(&run).await;
    assert_eq!((response.text.as_str(), response.edits), ("which?", 0));
    let chosen = fake.select(carol, ops, response.id, &["redis"]);
    let component = bot.asked().await.message_component().expect("a menu");
    assert!(
        matches!(&component.data.kind, ComponentInteractionDataKind::StringSelect { values } if values[..] == ["2"])
    );
    let input = CreateInputText::new(InputTextStyle::Paragraph, "Reason", "why").max_length(500);
    let modal = CreateModal::new("modal-1", "Deny").components(vec![CreateActionRow::InputText(input)]);
    component.create_response(&bot.http, CreateInteractionResponse::Modal(modal)).await.expect("read");
    assert_eq!(fake.callback_answer(&chosen).await.modal.expect("a window").title, "Deny");
    let submitted = fake.submit(&chosen, &[("Reason", "too risky")]);
    let filled = bot.asked().await.modal_submit().expect("a window");
    assert_eq!((filled.data.custom_id.as_str(), filled.message.is_some()), ("modal-1", true));
    filled.create_response(&bot.http, CreateInteractionResponse::UpdateMessage(said("denied"))).await.expect("read");
    assert_eq!(fake.response(&submitted).await.text, "denied");
    let said_there = fake.say(Say::new(carol, ops, "it is down"));
    fake.message_command(carol, ops, said_there, "Explain");
    let explain = bot.asked().await.command().expect("a command");
    assert_eq!(explain.data.target_id.map(TargetId::get), Some(said_there));
    assert_eq!(explain.data.resolved.messages.len(), 1);
}

#[tokio::test]
async fn refusals_are_known_by_their_codes() {
    let fake = Fake::start().await;
    let (http, ops) = (http(&fake), fake.channel("ops"));
    let refused = |error: serenity::Error| match error {
        serenity::Error::Http(serenity::http::HttpError::UnsuccessfulRequest(refused)) => {
            (refused.status_code.as_u16(), refused.error)
        }
        other => panic!("no refusal: {other:?}"),
    };
    let long =
        http.send_message(ChannelId::new(ops.0), vec![], &serde_json::json!({ "content": "x".repeat(2001) })).await;
    let (status, error) = refused(long.expect_err("too long"));
    assert_eq!((status, error.code, error.errors[0].path.as_str()), (400, 50_035, "content"));
    let (status, error) = refused(ChannelId::new(5).say(&http, "x").await.expect_err("no such channel"));
    assert_eq!((status, error.code), (404, 10_003));
    fake.kick(ops);
    let (status, error) = refused(ChannelId::new(ops.0).say(&http, "x").await.expect_err("not there"));
    assert_eq!((status, error.code), (403, 50_001));
}
