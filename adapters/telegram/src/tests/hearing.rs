//! Hearing: what is confirmed to Telegram and when, and what becomes of trouble.

use std::sync::Arc;

use countersign_core::port::{Admission, Condition};
use countersign_core::signal::SignalId;
use countersign_telegram_fake::{Fault, Role, Say};

use super::desk::Hearing;
use super::*;

fn is_trouble(condition: &Condition) -> bool {
    matches!(condition, Condition::Trouble { .. })
}

#[tokio::test]
async fn what_people_write_is_heard_in_its_order_and_confirmed() {
    let (fake, ann) = scene().await;
    let (ops, mine) = (fake.group("ops"), fake.private(ann));
    for n in 0..250 {
        fake.say(Say::new(ann, if n % 2 == 0 { ops } else { mine }, &format!("line {n}")));
    }
    let (telegram, desk) = (Arc::new(adapter(&fake)), Desk::new());
    let hearing = Hearing::start(&telegram, &desk);
    desk.until("all are heard", |desk| desk.signals().len() == 250).await;
    fake.wait_until_read().await;
    for (chat, first) in [(ops, 0), (mine, 1)] {
        let of_chat = (first..250).step_by(2).map(|n| format!("line {n}"));
        assert_eq!(desk.texts_in(chat), of_chat.collect::<Vec<_>>());
    }
    assert_eq!(fake.commands(), [("disk_usage".to_owned(), "How full every file system is".to_owned())]);
    assert!(desk.conditions().iter().all(|condition| *condition == Condition::Hearing));
    assert_eq!(hearing.stop().await, Ended::Stopped);
}

#[tokio::test]
async fn silence_is_a_sign_of_life_too() {
    let (fake, _) = scene().await;
    let (telegram, desk) = (Arc::new(adapter(&fake)), Desk::new());
    let hearing = Hearing::start(&telegram, &desk);
    desk.until("two empty polls", |desk| desk.conditions().len() == 2).await;
    assert_eq!(desk.conditions(), [Condition::Hearing, Condition::Hearing]);
    hearing.stop().await;
}

#[tokio::test]
async fn what_could_not_be_stored_is_not_confirmed_and_comes_again() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    for text in ["one", "two", "three"] {
        fake.say(Say::new(ann, mine, text));
    }
    let accepted = || Ok(Admission::Accepted(SignalId::new("s")));
    let desk = Desk::saying(vec![accepted(), Err("the disk is full".to_owned()), accepted()]);
    let telegram = Arc::new(adapter(&fake));
    let hearing = Hearing::start(&telegram, &desk);
    desk.until("two comes again", |desk| desk.signals().len() == 4).await;
    fake.wait_until_read().await;
    assert_eq!(
        desk.texts(),
        ["one", "two", "two", "three"],
        "what was stored is not fetched again, and nothing overtakes"
    );
    let troubles: Vec<Condition> = desk.conditions().into_iter().filter(is_trouble).collect();
    let what = "a message could not be stored: the disk is full".to_owned();
    assert_eq!(troubles, [Condition::Trouble { what, again_in_ms: 10 }]);
    hearing.stop().await;
}

#[tokio::test]
async fn a_bot_that_stops_confirms_nothing_more() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    fake.say(Say::new(ann, mine, "one"));
    let desk = Desk::saying(vec![Ok(Admission::Stopping)]);
    let hearing = Hearing::start(&Arc::new(adapter(&fake)), &desk);
    assert_eq!(hearing.end().await, Ended::Stopped);
    assert_eq!(fake.unread(), 1);
}

#[tokio::test]
async fn what_waits_for_room_is_not_overtaken_in_its_chat() {
    let (fake, ann) = scene().await;
    let (ops, mine) = (fake.group("ops"), fake.private(ann));
    for (chat, text) in [(mine, "one"), (mine, "two"), (ops, "elsewhere")] {
        fake.say(Say::new(ann, chat, text));
    }
    let desk = Desk::saying(vec![Ok(Admission::Busy)]);
    let hearing = Hearing::start(&Arc::new(adapter(&fake)), &desk);
    desk.until("all are heard", |desk| desk.signals().len() == 4).await;
    // The group's is the first to be asked: it waits, and the private chat goes on beside it.
    assert_eq!(desk.texts(), ["elsewhere", "one", "two", "elsewhere"]);
    fake.wait_until_read().await;
    let desk = Desk::saying(vec![Ok(Admission::Busy)]);
    drop(hearing.stop().await);
    for text in ["three", "four"] {
        fake.say(Say::new(ann, mine, text));
    }
    let hearing = Hearing::start(&Arc::new(adapter(&fake)), &desk);
    desk.until("both are heard", |desk| desk.signals().len() >= 3).await;
    assert_eq!(desk.texts_in(mine), ["three", "three", "four"]);
    hearing.stop().await;
}

#[tokio::test]
async fn an_update_that_was_taken_is_not_handed_in_again_with_one_that_waited() {
    let (fake, ann) = scene().await;
    let (ops, mine) = (fake.group("ops"), fake.private(ann));
    for (chat, text) in [(ops, "waits"), (mine, "one"), (mine, "two")] {
        fake.say(Say::new(ann, chat, text));
    }
    // The group's is the first to be asked.
    let desk = Desk::saying(vec![Ok(Admission::Busy)]);
    let hearing = Hearing::start(&Arc::new(adapter(&fake)), &desk);
    fake.wait_until_read().await;
    assert_eq!(desk.texts(), ["waits", "one", "two", "waits"]);
    hearing.stop().await;
}

#[tokio::test]
async fn who_finds_no_room_is_told_once_and_the_others_go_on() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    fake.say(Say::new(ann, mine, "one"));
    fake.say(Say::new(ann, mine, "two"));
    // Two come; the first is tried ten times more, which leaves none for the second.
    let desk = Desk::saying(vec![Ok(Admission::Busy); 12]);
    let telegram = Arc::new(adapter(&fake));
    let hearing = Hearing::start(&telegram, &desk);
    fake.wait_until_read().await;
    let told = fake.wait_for(mine, |message| message.from_bot).await;
    insta::assert_snapshot!(told.text, @"I have more to do here than I can take on, so I did not take that up. Please send it again in a minute.");
    fake.say(Say::new(ann, mine, "three"));
    desk.until("the third is heard", |desk| desk.texts().last().is_some_and(|text| text == "three")).await;
    hearing.stop().await;
    assert_eq!(fake.messages(mine, None).iter().filter(|message| message.from_bot).count(), 1);
}

#[tokio::test]
async fn a_token_that_nobody_knows_is_for_a_person_to_mend() {
    let (fake, _) = scene().await;
    let options = Options { token: "123:wrong".to_owned(), ..options(&fake) };
    let telegram = Arc::new(Telegram::timed(options, QUICK).expect("it looks like a token"));
    let Ended::Refused(said) = Hearing::start(&telegram, &Desk::new()).end().await else {
        panic!("it must be refused")
    };
    insta::assert_snapshot!(said, @"Telegram answers 404: Not Found. Give the bot's token from @BotFather as COUNTERSIGN_TELEGRAM__TOKEN, or in a file named by `telegram.token_file`, and see that `telegram.api_url` is right.");
}

#[tokio::test]
async fn of_two_instances_the_earlier_stops_and_says_why() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    let (first, second) = (Desk::new(), Desk::new());
    let one = Hearing::start(&Arc::new(adapter(&fake)), &first);
    first.until("the first hears", |desk| !desk.conditions().is_empty()).await;
    let two = Hearing::start(&Arc::new(adapter(&fake)), &second);
    let Ended::Refused(said) = one.end().await else { panic!("it must be refused") };
    insta::assert_snapshot!(said, @"Another instance is running with the same Telegram token. Stop it, or give this one a token of its own.");
    fake.say(Say::new(ann, mine, "still there?"));
    second.until("the second goes on", |desk| desk.texts() == ["still there?"]).await;
    two.stop().await;
}

#[tokio::test]
async fn trouble_is_reported_and_outlived() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    fake.fault(Fault::status(502).on("getMe").next(1));
    fake.fault(Fault::status(500).on("getUpdates").next(1));
    fake.fault(Fault::drop_before().on("getUpdates").next(1));
    fake.fault(Fault::silent().on("getUpdates").next(1));
    let (telegram, desk) = (Arc::new(adapter(&fake)), Desk::new());
    let hearing = Hearing::start(&telegram, &desk);
    fake.say(Say::new(ann, mine, "hello?"));
    desk.until("it is heard after all", |desk| desk.texts() == ["hello?"]).await;
    let what = |condition: &Condition| match condition {
        Condition::Trouble { what, again_in_ms } => {
            format!("{}: {again_in_ms} ms", what.split(": ").next().unwrap_or_default())
        }
        Condition::Hearing => "hearing".to_owned(),
    };
    let all: Vec<String> = desk.conditions().iter().map(what).collect();
    insta::assert_snapshot!(all.join("\n"), @r"
    Telegram answers 502: 10 ms
    Telegram answers 500: 20 ms
    no answer from Telegram: 40 ms
    no answer from Telegram: 80 ms
    hearing
    ");
    hearing.stop().await;
}

#[tokio::test]
async fn what_stands_before_telegram_ends_nothing() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    for (code, method) in [(401, "getMe"), (404, "getMe"), (404, "getUpdates"), (409, "getUpdates")] {
        fake.fault(Fault::gateway(code).on(method).next(1));
    }
    let (telegram, desk) = (Arc::new(adapter(&fake)), Desk::new());
    let hearing = Hearing::start(&telegram, &desk);
    fake.say(Say::new(ann, mine, "hello?"));
    desk.until("it is heard after all", |desk| desk.texts() == ["hello?"]).await;
    let conditions = desk.conditions();
    let troubles = conditions.iter().filter_map(|condition| match condition {
        Condition::Trouble { what, .. } => Some(what.as_str()),
        Condition::Hearing => None,
    });
    insta::assert_snapshot!(troubles.collect::<Vec<_>>().join("\n"), @r"
    something before Telegram answers 401: Unauthorized
    something before Telegram answers 404: Not Found
    something before Telegram answers 404: Not Found
    something before Telegram answers 409: Conflict
    ");
    hearing.stop().await;
}

#[tokio::test]
async fn an_outage_loses_nothing() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    let (telegram, desk) = (Arc::new(adapter(&fake)), Desk::new());
    let hearing = Hearing::start(&telegram, &desk);
    desk.until("it hears", |desk| !desk.conditions().is_empty()).await;
    fake.stop_listening().await;
    fake.say(Say::new(ann, mine, "said meanwhile"));
    desk.until("it cannot reach Telegram", |desk| desk.conditions().iter().filter(|c| is_trouble(c)).count() >= 3)
        .await;
    fake.listen_again().await;
    desk.until("it is heard", |desk| desk.texts() == ["said meanwhile"]).await;
    hearing.stop().await;
}

#[tokio::test]
async fn how_long_telegram_asks_to_wait_is_waited() {
    let (fake, _) = scene().await;
    fake.fault(Fault::too_many(238).on("getUpdates").next(1));
    let (telegram, desk) = (Arc::new(adapter(&fake)), Desk::new());
    let hearing = Hearing::start(&telegram, &desk);
    desk.until("it is told", |desk| desk.conditions().iter().any(is_trouble)).await;
    let again = desk.conditions().iter().find_map(|condition| match condition {
        Condition::Trouble { again_in_ms, .. } => Some(*again_in_ms),
        Condition::Hearing => None,
    });
    assert_eq!(again, Some(238_000));
    assert_eq!(hearing.stop().await, Ended::Stopped, "a wait is broken off by the stop");
}

#[tokio::test]
async fn what_somebody_is_in_a_group_is_asked_where_it_counts() {
    let (fake, ann) = scene().await;
    let (ops, mine) = (fake.group("ops"), fake.private(ann));
    fake.set_role(ops, ann, Role::Creator);
    let (to_bot, mention) = (format!("@{} one", fake.bot_username()), format!("@{} three", fake.bot_username()));
    fake.say(Say::new(ann, ops, &to_bot));
    fake.say(Say::new(ann, ops, "two, which is not for the bot"));
    fake.say(Say::new(ann, mine, "three"));
    let options = Options { platform_roles: true, ..options(&fake) };
    let (telegram, desk) = (Arc::new(Telegram::timed(options, QUICK).expect("sound")), Desk::new());
    let hearing = Hearing::start(&telegram, &desk);
    desk.until("all are heard", |desk| desk.signals().len() == 3).await;
    let roles: Vec<Vec<String>> = desk.signals().into_iter().map(|signal| signal.platform_roles).collect();
    assert_eq!(roles, [vec!["creator".to_owned(), "administrator".to_owned()], vec![], vec![]]);
    fake.fault(Fault::status(500).on("getChatMember").always());
    fake.say(Say::new(ann, ops, &mention));
    desk.until("it is heard", |desk| desk.signals().len() == 4).await;
    assert!(desk.signals()[3].platform_roles.is_empty(), "where Telegram does not say, they are nothing");
    hearing.stop().await;
}

#[tokio::test]
async fn reactions_are_declared_where_telegram_tells_of_them() {
    let (fake, ann) = scene().await;
    let (ops, mine) = (fake.group("ops"), fake.private(ann));
    let (telegram, desk) = (Arc::new(adapter(&fake)), Desk::new());
    let declared = |chat| telegram.capabilities(&thread(chat, "")).reactions;
    assert!(declared(mine) && !declared(ops));
    let said = fake.say(Say::new(ann, ops, "one"));
    let hearing = Hearing::start(&telegram, &desk);
    fake.wait_until_read().await;
    fake.react(ann, ops, said, "👍");
    fake.set_admin(ops, true);
    fake.say(Say::new(ann, ops, "two"));
    desk.until("the second is heard", |desk| desk.texts() == ["one", "two"]).await;
    assert!(declared(ops) && desk.touches().is_empty());
    fake.react(ann, ops, said, "👎");
    desk.until("the reaction is heard", |desk| desk.touches().len() == 1).await;
    hearing.stop().await;
}
