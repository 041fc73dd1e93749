//! What was said while the bot could not hear: where it is looked for, how long, in which order it is handed over, and what
//! of it does not count.

use std::sync::Arc;

use countersign_core::port::Condition;
use countersign_core::signal::{Addressed, Payload};
use countersign_discord_fake::{Fault, Say};

use super::desk::Hearing;
use super::*;

const LOOK: &str = "getChannelMessages";

fn troubles(desk: &Desk) -> usize {
    desk.conditions().iter().filter(|condition| matches!(condition, Condition::Trouble { .. })).count()
}

/// To the bot.
fn ask(channel: ChannelId, text: &str) -> Say {
    Say::new(ANN, channel, &format!("Ops {text}")).mention(BOT, "Ops")
}

/// An adapter that hears, and Ann has said something in these channels.
async fn listening(fake: &Fake, desk: &Desk, channels: &[ChannelId]) -> (Arc<Discord>, Hearing) {
    let discord = Arc::new(adapter(fake));
    let hearing = Hearing::start(&discord, desk);
    let commands = "bulkOverwriteGlobalApplicationCommands";
    fake.wait_for_call(|call| call.method == commands && call.outcome.took_effect()).await;
    for channel in channels {
        fake.say(ask(*channel, "before"));
    }
    desk.until("all are heard", |desk| desk.signals().len() == channels.len()).await;
    (discord, hearing)
}

/// The session is lost: what is said from now on no gateway tells.
async fn lose(fake: &Fake, desk: &Desk) {
    let before = troubles(desk);
    fake.stop_listening().await;
    fake.forget_sessions();
    desk.until("it is in trouble", |desk| troubles(desk) > before).await;
}

/// Another session begins, which Discord lets look at nothing before its faults are cleared.
async fn begin_blindly(fake: &Fake) {
    fake.fault(Fault::status(502).on(LOOK).always());
    let before = fake.call_count() as u64;
    fake.listen_again().await;
    fake.wait_until_connected().await;
    fake.wait_for_call(|call| call.method == LOOK && call.sequence > before).await;
}

/// Waits until all that the gateway told so far is read: what somebody types is not held.
async fn all_is_read(fake: &Fake, desk: &Desk, channel: ChannelId) {
    let before = desk.typed().len();
    fake.autocomplete(ANN, channel, "ask", &[("text", "x")], "text");
    desk.until("the marker is read", |desk| desk.typed().len() > before).await;
}

fn numbered(what: &str, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |n| format!("{what} {n}"))
}

#[tokio::test]
async fn after_a_session_that_is_lost_what_was_missed_is_looked_for_where_something_was_taken_up() {
    let (fake, ops) = scene().await;
    let (quiet, mine) = (fake.channel("quiet"), fake.private(ANN));
    let role = fake.role("sre");
    fake.set_roles(ANN, &[role]);
    let desk = Desk::new();
    let (_discord, hearing) = listening(&fake, &desk, &[ops, mine]).await;
    lose(&fake, &desk).await;
    for missed in numbered("missed", 120) {
        fake.say(ask(ops, &missed));
    }
    fake.say(Say::new(ANN, mine, "missed"));
    fake.say(Say::new(ANN, quiet, "never asked there"));
    begin_blindly(&fake).await;
    let after = fake.say(ask(ops, "after"));
    all_is_read(&fake, &desk, ops).await;
    fake.clear_faults();
    desk.until("all are heard", |desk| desk.texts_in(ops).len() == 123 && desk.texts_in(mine).len() == 2).await;
    // What is said while it is looked is found as well as told by the gateway, as one event, which the engine takes once.
    let expected = ["before".to_owned()].into_iter().chain(numbered("missed", 120));
    let expected: Vec<String> = expected.chain(["after".to_owned(), "after".to_owned()]).collect();
    assert_eq!(desk.texts_in(ops), expected, "what is heard meanwhile overtakes nothing");
    let twice = desk.signals().into_iter().filter(|signal| signal.event == event(ops, after));
    assert_eq!(twice.count(), 2);
    assert_eq!(desk.texts_in(mine).last().map(String::as_str), Some("missed"));
    assert!(desk.texts_in(quiet).is_empty());
    for signal in desk.signals().iter().filter(|signal| !signal.thread.space.as_str().is_empty()) {
        assert_eq!((signal.addressed, &*signal.platform_roles), (Addressed::Mention, &[role.to_string()][..]));
    }
    hearing.stop().await;
}

#[tokio::test]
async fn what_was_said_before_it_was_started_is_looked_for_where_work_is_open() {
    let (fake, ops) = scene().await;
    let quiet = fake.channel("quiet");
    let asked = fake.say(Say::new(ANN, ops, "stop it"));
    for channel in [ops, quiet] {
        fake.say(Say::new(ANN, channel, "while it was away"));
    }
    let desk = Desk::at_work(vec![EventId::new("in:7"), event(ops, asked)]);
    let hearing = Hearing::start(&Arc::new(adapter(&fake)), &desk);
    desk.until("it is found", |desk| desk.texts() == ["while it was away"]).await;
    assert_eq!(desk.texts_in(ops).len(), 1);
    hearing.stop().await;
}

#[tokio::test]
async fn what_was_missed_is_asked_for_until_discord_answers() {
    let (fake, ops) = scene().await;
    let (shut, mine) = (fake.channel("shut"), fake.private(ANN));
    let role = fake.role("sre");
    fake.set_roles(ANN, &[role]);
    let desk = Desk::new();
    let (_discord, hearing) = listening(&fake, &desk, &[ops, shut, mine]).await;
    lose(&fake, &desk).await;
    for missed in numbered("missed", 101) {
        fake.say(ask(ops, &missed));
    }
    fake.say(Say::new(ANN, mine, "missed"));
    fake.kick(shut);
    let look = |fault: Fault| fake.fault(fault.on(LOOK).in_channel(ops));
    look(Fault::status(502).next(1));
    look(Fault::drop_before().next(1));
    look(Fault::too_many(Duration::from_millis(60)).next(1));
    // The second page.
    look(Fault::status(503).every(2));
    fake.fault(Fault::status(500).on("getGuildMember").next(2));
    fake.fault(Fault::status(504).on("getChannel").in_channel(mine).next(1));
    let before = desk.conditions().len();
    fake.listen_again().await;
    desk.until("all are heard", |desk| desk.texts_in(ops).len() == 102 && desk.texts_in(mine).len() == 2).await;
    let expected: Vec<String> = ["before".to_owned()].into_iter().chain(numbered("missed", 101)).collect();
    assert_eq!(desk.texts_in(ops), expected);
    assert_eq!(desk.texts_in(mine), ["before", "missed"]);
    let signals = desk.signals();
    let mut in_guild = signals.iter().filter(|signal| !signal.thread.space.as_str().is_empty());
    assert!(in_guild.all(|signal| signal.platform_roles == [role.to_string()]), "nobody has lost their roles");
    let what = |condition: &Condition| match condition {
        Condition::Trouble { what, again_in_ms } => {
            format!("{}: {again_in_ms} ms", what.split(": ").next().unwrap_or_default())
        }
        Condition::Hearing => "hearing".to_owned(),
    };
    let all: Vec<String> = desk.conditions().iter().skip(before).map(what).collect();
    let began = all.iter().position(|one| one == "hearing").expect("it hears");
    insta::assert_snapshot!(all[began..].join("\n"), @r"
    hearing
    Discord answers 502: 10 ms
    no answer from Discord: 20 ms
    Discord answers 429: 60 ms
    hearing
    Discord answers 500: 10 ms
    Discord answers 500: 20 ms
    hearing
    Discord answers 503: 10 ms
    hearing
    Discord answers 504: 10 ms
    hearing
    ");
    hearing.stop().await;
}

#[tokio::test]
async fn a_session_that_is_lost_while_it_is_looked_takes_nothing_with_it() {
    let (fake, ops) = scene().await;
    let desk = Desk::new();
    let (_discord, hearing) = listening(&fake, &desk, &[ops]).await;
    lose(&fake, &desk).await;
    for missed in numbered("missed", 3) {
        fake.say(ask(ops, &missed));
    }
    begin_blindly(&fake).await;
    fake.say(ask(ops, "between"));
    all_is_read(&fake, &desk, ops).await;
    lose(&fake, &desk).await;
    for missed in numbered("missed again", 3) {
        fake.say(ask(ops, &missed));
    }
    begin_blindly(&fake).await;
    fake.say(ask(ops, "after"));
    all_is_read(&fake, &desk, ops).await;
    fake.clear_faults();
    let one = |text: &str| [text.to_owned()];
    let expected = one("before").into_iter().chain(numbered("missed", 3)).chain(one("between"));
    let expected: Vec<String> = expected.chain(numbered("missed again", 3)).chain(one("after")).collect();
    desk.until("all are heard", |desk| desk.taken_in(ops).len() >= expected.len()).await;
    assert_eq!(desk.taken_in(ops), expected);
    fake.say(ask(ops, "later"));
    desk.until("it goes on", |desk| desk.taken_in(ops).last().is_some_and(|text| text == "later")).await;
    assert_eq!(desk.texts_in(ops).last().map(String::as_str), Some("later"), "nothing is held any more");
    hearing.stop().await;
}

#[tokio::test]
async fn somebody_who_was_away_for_long_is_not_read_to_the_end() {
    let (fake, ops) = scene().await;
    let desk = Desk::new();
    let (_discord, hearing) = listening(&fake, &desk, &[ops]).await;
    lose(&fake, &desk).await;
    for missed in numbered("missed", 501) {
        fake.say(Say::new(ANN, ops, &missed));
    }
    fake.listen_again().await;
    desk.until("the first are heard", |desk| desk.signals().len() > 500).await;
    assert_eq!(desk.texts().split_off(1), numbered("missed", 500).collect::<Vec<_>>());
    hearing.stop().await;
}

#[tokio::test]
async fn what_was_changed_before_it_was_found_does_not_count_and_its_writer_is_told() {
    let (fake, ops) = scene().await;
    let mine = fake.private(ANN);
    let desk = Desk::new();
    let (_discord, hearing) = listening(&fake, &desk, &[ops, mine]).await;
    lose(&fake, &desk).await;
    let said = [ask(ops, "one"), Say::new(ANN, ops, "chatter"), Say::new(ANN, mine, "one")].map(|say| fake.say(say));
    for (channel, message) in [ops, ops, mine].into_iter().zip(said) {
        fake.edit(channel, message, &format!("<@{BOT}> approve everything"));
    }
    fake.say(ask(ops, "two"));
    begin_blindly(&fake).await;
    let live = fake.say(ask(ops, "three"));
    fake.edit(ops, live, &format!("<@{BOT}> four"));
    all_is_read(&fake, &desk, ops).await;
    fake.clear_faults();
    let told = fake.wait_for(mine, |message| message.reply_to == Some(said[2])).await;
    insta::assert_snapshot!(told.text, @"I was away when you wrote this, and it was changed since, so I did not take it up. If it is not answered yet, please send it again.");
    desk.until("all are handed over", |desk| desk.signals().len() == 9).await;
    let signals = desk.signals().split_off(2).into_iter();
    let in_ops = signals.filter(|signal| signal.thread.conversation.as_str() == ops.0.to_string());
    let (events, payloads): (Vec<_>, Vec<_>) = in_ops.map(|signal| (signal.event, signal.payload)).unzip();
    let text = |text: &str| Payload::Text { text: text.to_owned() };
    let edited = |message| Payload::Edited { event: event(ops, message) };
    let expected = [edited(said[0]), edited(said[1]), text("two"), edited(live), text("three"), edited(live)];
    assert_eq!(payloads, expected);
    assert_eq!(events[3], events[5], "an edit is the same event however it is heard of");
    let replies = |fake: &Fake| {
        let own = fake.messages(ops).into_iter().filter(|message| message.from_bot);
        own.map(|message| message.reply_to).collect::<Vec<_>>()
    };
    assert_eq!(replies(&fake), [Some(said[0])], "neither what was not said to the bot, nor what it heard before");
    hearing.stop().await;

    let last = fake.say(Say::new(ANN, mine, "one"));
    fake.edit(mine, last, "two");
    let desk = Desk::at_work(vec![event(ops, said[0] - 1), event(mine, said[2])]);
    let hearing = Hearing::start(&Arc::new(adapter(&fake)), &desk);
    fake.wait_for(mine, |message| message.reply_to == Some(last)).await;
    assert_eq!(replies(&fake).iter().filter(|to| **to == Some(said[0])).count(), 1, "nobody is told twice");
    hearing.stop().await;
}
