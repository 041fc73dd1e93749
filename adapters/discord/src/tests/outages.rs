//! Outages: what is reported, what is outlived, and what only a person can mend. What is missed by them
//! is in `missed`.

use std::sync::Arc;

use countersign_core::port::Condition;
use countersign_discord_fake::{Fault, Say};

use super::desk::Hearing;
use super::*;

fn is_trouble(condition: &Condition) -> bool {
    matches!(condition, Condition::Trouble { .. })
}

fn troubles(desk: &Desk) -> usize {
    desk.conditions().iter().filter(|condition| is_trouble(condition)).count()
}

/// How often it said that it hears.
fn hearings(desk: &Desk) -> usize {
    desk.conditions().len() - troubles(desk)
}

/// Whether no trouble is left.
fn recovered(desk: &Desk) -> bool {
    desk.conditions().last() == Some(&Condition::Hearing)
}

async fn listening(fake: &Fake, desk: &Desk) -> (Arc<Discord>, Hearing) {
    let discord = Arc::new(adapter(fake));
    let hearing = Hearing::start(&discord, desk);
    desk.until("it hears", |desk| !desk.conditions().is_empty()).await;
    (discord, hearing)
}

/// The calls of the gateway so far.
fn gateway_calls(fake: &Fake) -> Vec<String> {
    let calls = fake.log().into_iter().map(|call| call.method);
    calls.filter(|method| matches!(method.as_str(), "identify" | "resume")).collect()
}

async fn refused(fake: &Fake, options: Options) -> String {
    let discord = Arc::new(Discord::timed(options, QUICK).expect("it looks sound"));
    let ended = Hearing::start(&discord, &Desk::new()).end().await;
    let Ended::Refused(said) = ended else { panic!("it must be refused: {ended:?} {:?}", fake.calls()) };
    said
}

#[tokio::test]
async fn a_token_that_nobody_knows_is_for_a_person_to_mend() {
    let (fake, _) = scene().await;
    let said = refused(&fake, Options { token: "MTA.wrong.one".to_owned(), ..options(&fake) }).await;
    insta::assert_snapshot!(said, @"Discord answers 401: Unauthorized. Give the bot's token from its page in the Developer Portal as COUNTERSIGN_DISCORD__TOKEN, or in a file named by `discord.token_file`, and see that `discord.api_url` is right.");
}

#[tokio::test]
async fn an_intent_that_is_not_granted_is_for_a_person_to_mend() {
    let (fake, _) = scene().await;
    fake.set_message_content(false);
    let said = refused(&fake, options(&fake)).await;
    insta::assert_snapshot!(said, @"Discord's gateway closed with 4014: Disallowed intent(s). Switch on `Message Content Intent` on the bot's page in the Developer Portal.");
}

#[tokio::test]
async fn what_closes_for_good_ends_and_names_the_fix() {
    let mut said = Vec::new();
    for code in [4004, 4011, 4012] {
        let (fake, _) = scene().await;
        let desk = Desk::new();
        let (_discord, hearing) = listening(&fake, &desk).await;
        fake.close_gateway(code);
        let Ended::Refused(why) = hearing.end().await else { panic!("it must be refused") };
        said.push(why);
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    Discord's gateway closed with 4004. Give the bot's token from its page in the Developer Portal as COUNTERSIGN_DISCORD__TOKEN, or in a file named by `discord.token_file`, and see that `discord.api_url` is right.
    Discord's gateway closed with 4011. This bot is in more guilds than one connection may serve, or Discord no longer speaks version 10.
    Discord's gateway closed with 4012. This bot is in more guilds than one connection may serve, or Discord no longer speaks version 10.
    ");
}

#[tokio::test]
async fn a_connection_that_breaks_is_taken_up_again_and_nothing_is_missed() {
    let (fake, ops) = scene().await;
    let desk = Desk::new();
    let (_discord, hearing) = listening(&fake, &desk).await;
    fake.say(Say::new(ANN, ops, "before"));
    desk.until("it is heard", |desk| desk.texts() == ["before"]).await;
    let breaks: [&dyn Fn(); 4] =
        [&|| fake.cut_gateway(), &|| fake.close_gateway(4000), &|| fake.ask_to_reconnect(), &|| fake.invalidate(true)];
    for (n, give_up) in breaks.iter().enumerate() {
        give_up();
        fake.say(Say::new(ANN, ops, &format!("meanwhile {n}")));
        desk.until("it is heard", |desk| desk.texts().len() == n + 2 && hearings(desk) == n + 2).await;
    }
    assert_eq!(desk.texts().split_off(1), (0..4).map(|n| format!("meanwhile {n}")).collect::<Vec<_>>());
    assert_eq!(gateway_calls(&fake), ["identify", "resume", "resume", "resume", "resume"]);
    assert!(recovered(&desk) && troubles(&desk) == 3, "what Discord asks for is no trouble: {:?}", desk.conditions());
    hearing.stop().await;
}

#[tokio::test]
async fn a_session_that_is_given_up_is_begun_anew() {
    let (fake, ops) = scene().await;
    let desk = Desk::new();
    let (_discord, hearing) = listening(&fake, &desk).await;
    fake.invalidate(false);
    desk.until("it is in trouble", |desk| troubles(desk) == 1).await;
    desk.until("it hears again", recovered).await;
    fake.say(Say::new(ANN, ops, "still there?"));
    desk.until("it is heard", |desk| desk.texts() == ["still there?"]).await;
    assert_eq!(gateway_calls(&fake), ["identify", "identify"]);
    hearing.stop().await;
}

#[tokio::test]
async fn a_gateway_that_falls_silent_is_found_out_and_left() {
    let (fake, ops) = scene().await;
    fake.set_heartbeat(Duration::from_millis(60));
    let desk = Desk::new();
    let (_discord, hearing) = listening(&fake, &desk).await;
    desk.until("silence is a sign of life, too", |desk| desk.conditions().len() > 2).await;
    assert_eq!(troubles(&desk), 0);
    fake.silence_gateway();
    fake.say(Say::new(ANN, ops, "is anybody there?"));
    desk.until("it is heard on another connection", |desk| desk.texts() == ["is anybody there?"]).await;
    let what = desk.conditions().into_iter().find(is_trouble);
    let expected = "Discord's gateway has fallen silent".to_owned();
    assert_eq!(what, Some(Condition::Trouble { what: expected, again_in_ms: 10 }));
    hearing.stop().await;
}

#[tokio::test]
async fn trouble_with_rest_is_reported_and_outlived() {
    let (fake, ops) = scene().await;
    fake.fault(Fault::status(502).on("getGatewayBot").next(1));
    fake.fault(Fault::drop_before().on("getGatewayBot").next(1));
    fake.fault(Fault::too_many(Duration::from_millis(30)).on("getGatewayBot").next(1));
    let discord = Arc::new(adapter(&fake));
    let desk = Desk::new();
    let hearing = Hearing::start(&discord, &desk);
    desk.until("it hears after all", recovered).await;
    fake.say(Say::new(ANN, ops, "hello?"));
    desk.until("it is heard", |desk| desk.texts() == ["hello?"]).await;
    let what = |condition: &Condition| match condition {
        Condition::Trouble { what, again_in_ms } => {
            format!("{}: {again_in_ms} ms", what.split(": ").next().unwrap_or_default())
        }
        Condition::Hearing => "hearing".to_owned(),
    };
    let all: Vec<String> = desk.conditions().iter().map(what).collect();
    insta::assert_snapshot!(all.join("\n"), @r"
    Discord answers 502: 10 ms
    no answer from Discord: 20 ms
    Discord answers 429: 40 ms
    hearing
    ");
    hearing.stop().await;
}

#[tokio::test]
async fn how_long_discord_asks_to_wait_is_waited() {
    let (fake, _) = scene().await;
    fake.fault(Fault::too_many(Duration::from_secs(238)).on("getGatewayBot").next(1));
    let desk = Desk::new();
    let hearing = Hearing::start(&Arc::new(adapter(&fake)), &desk);
    desk.until("it is told", |desk| troubles(desk) == 1).await;
    let again = desk.conditions().iter().find_map(|condition| match condition {
        Condition::Trouble { again_in_ms, .. } => Some(*again_in_ms),
        Condition::Hearing => None,
    });
    assert_eq!(again, Some(238_000));
    assert_eq!(hearing.stop().await, Ended::Stopped, "a wait is broken off by the stop");
}
