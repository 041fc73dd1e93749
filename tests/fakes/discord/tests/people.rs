//! What people do and how a bot is told: all sorts of senders, places and roles, and scripts that cannot be played.

use countersign_discord_fake::{BOT, Fake, GUILD, Say};
use serde_json::{Value, json};

use crate::support::{Bot, Raw, id};

/// A connection that is ready and a fake with Carol and a channel.
async fn scene(fake: &Fake) -> Raw {
    let mut raw = Raw::connect(fake).await;
    raw.identify(fake.token(), (1 << 26) - 1).await;
    raw.event("GUILD_CREATE").await;
    raw
}

#[tokio::test]
async fn all_sorts_of_senders() {
    let fake = Fake::start().await;
    let (carol, dave, ops) = (fake.user(11, "Carol"), fake.user(12, "Dave"), fake.channel("ops"));
    let (other, hook) = (fake.bot(99, "Other"), fake.webhook(77, "CI"));
    let approver = fake.role("approver");
    fake.set_roles(carol, &[approver]);
    let mut raw = scene(&fake).await;
    let first = fake.say(Say::new(carol, ops, "approve"));
    fake.say(Say::new(other, ops, "approve"));
    fake.say(Say::new(hook, ops, "approve"));
    fake.say(Say::new(dave, ops, "approve").reply_to(first));
    fake.say(Say::new(dave, ops, "approve").quiet_reply_to(first));
    fake.say(Say::new(carol, fake.private(carol), "approve"));
    let mut told = Vec::new();
    for _ in 0..6 {
        told.push(raw.event("MESSAGE_CREATE").await["d"].clone());
    }
    assert_eq!(
        (&told[0]["member"]["roles"], &told[0]["guild_id"]),
        (&json!([approver.to_string()]), &json!(GUILD.to_string()))
    );
    assert_eq!(told[1]["author"]["bot"], true);
    assert_eq!((&told[2]["webhook_id"], &told[2]["member"]), (&json!("77"), &Value::Null));
    assert_eq!((&told[3]["type"], &told[3]["mentions"][0]["id"]), (&json!(19), &json!("11")));
    assert_eq!((&told[4]["type"], &told[4]["mentions"]), (&json!(19), &json!([])));
    assert_eq!((&told[5]["guild_id"], &told[5]["member"]), (&Value::Null, &Value::Null));
    fake.leave(dave);
    let member = format!("/guilds/{GUILD}/members/{dave}");
    assert_eq!(Bot::new(&fake).refused("GET", &member, Value::Null).await.1, 10_007);
}

#[tokio::test]
async fn the_bot_hears_its_own_messages_and_nothing_of_where_it_is_not() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let (ops, secret) = (fake.channel("ops"), fake.channel("secret"));
    fake.kick(secret);
    let mut raw = scene(&fake).await;
    fake.say(Say::new(carol, secret, "not for the bot"));
    let said = fake.say(Say::new(carol, ops, "hello"));
    fake.thread_from(carol, secret, said, "neither");
    let own = bot.send(ops, "hello yourself").await;
    assert_eq!(id(&raw.event("MESSAGE_CREATE").await["d"]), said);
    let heard = raw.event("MESSAGE_CREATE").await;
    assert_eq!((id(&heard["d"]), &heard["d"]["author"]["id"]), (own, &json!(BOT.to_string())));
    fake.react(carol, ops, own, "👍");
    fake.react(carol, ops, own, "👍");
    fake.unreact(carol, ops, own, "👍");
    raw.event("MESSAGE_REACTION_ADD").await;
    assert_eq!(raw.event("MESSAGE_REACTION_REMOVE").await["d"]["user_id"], "11");
    fake.delete(ops, own);
    assert_eq!(id(&raw.event("MESSAGE_DELETE").await["d"]), own);
}

#[tokio::test]
async fn listings_go_from_new_to_old_and_begin_where_they_are_told() {
    let fake = Fake::start().await;
    let (bot, carol, ops) = (Bot::new(&fake), fake.user(11, "Carol"), fake.channel("ops"));
    let said: Vec<u64> = (0..5).map(|at| fake.say(Say::new(carol, ops, &at.to_string()))).collect();
    fake.delete(ops, said[2]);
    let list = async |query: &str| {
        let listed = bot.call("GET", &format!("/channels/{}/messages{query}", ops.0), Value::Null).await;
        let texts = listed.as_array().into_iter().flatten().filter_map(|message| message["content"].as_str());
        texts.map(str::to_owned).collect::<Vec<_>>().concat()
    };
    assert_eq!(list("").await, "4310");
    assert_eq!(list("?limit=2").await, "43");
    assert_eq!(list(&format!("?after={}&limit=2", said[0])).await, "31", "those that follow directly");
    assert_eq!(list(&format!("?before={}&limit=1", said[3])).await, "1");
    let (status, code, _) = bot.refused("GET", &format!("/channels/{}/messages?limit=101", ops.0), Value::Null).await;
    assert_eq!((status, code), (400, 50_035));
}

#[tokio::test]
async fn a_second_server_has_its_own_channels_and_members() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let other = fake.guild("Other");
    let there = fake.channel_in(other, "ops");
    let mut raw = scene(&fake).await;
    fake.say(Say::new(carol, there, "hello"));
    assert_eq!(raw.event("MESSAGE_CREATE").await["d"]["guild_id"], other.to_string());
    let channels = bot.call("GET", &format!("/guilds/{GUILD}/channels"), Value::Null).await;
    assert_eq!(channels, json!([]));
    let command = json!([{ "name": "status", "description": "d" }]);
    bot.call("PUT", &format!("/applications/{BOT}/guilds/{other}/commands"), command).await;
    fake.command(carol, there, "status", &[]);
    assert_eq!(raw.event("INTERACTION_CREATE").await["d"]["data"]["guild_id"], other.to_string());
    let here = fake.channel("ops");
    assert_eq!(fake.try_command(carol, here, "status", &[]), Err("the bot has no command `/status`".to_owned()));
}

#[tokio::test]
async fn what_cannot_be_played_is_said_in_a_sentence() {
    let fake = Fake::start().await;
    let (bot, carol, dave, ops) = (Bot::new(&fake), fake.user(11, "Carol"), fake.user(12, "Dave"), fake.channel("ops"));
    let own = bot.send(ops, "x").await;
    let said = fake.try_say(Say::new(13, ops, "x"));
    assert_eq!(said, Err("there is no user 13: make one with Fake::user first".to_owned()));
    assert_eq!(fake.try_edit(ops, own, "x"), Err(format!("message {own} is the bot's; nobody else can edit it")));
    assert_eq!(fake.try_react(carol, ops, own, "x", true), Err("x: Unknown Emoji".to_owned()));
    assert_eq!(fake.try_react(carol, ops, 404, "👍", true), Err("ops shows no message 404".to_owned()));
    assert_eq!(fake.try_say(Say::new(carol, ops, "x").reply_to(5)), Err("ops shows no message 5".to_owned()));
    let stolen = fake.try_say(Say::new(dave, fake.private(carol), "x"));
    assert_eq!(stolen, Err("12 has no part in the direct messages of Carol".to_owned()));
    assert_eq!(
        fake.try_say(Say::new(carol, ops, "x").mention(dave, "Dave")),
        Err("`Dave` does not stand in `x`".to_owned())
    );
}
