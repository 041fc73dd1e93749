//! Telegram: buttons, edits, answers for one person, names offered while somebody types, and reactions where the bot is an
//! administrator and nowhere else.

use countersign_telegram_fake::{Outcome, Say};

use crate::support::bot::lives;
use crate::support::chat::Chat;
use crate::support::telegram::{ANN, BOB, Stage, TOM};

#[tokio::test]
async fn telegrams_buttons_edits_and_private_answers_work_in_every_kind_of_room() {
    let stage = Stage::start().await;
    let (basic, forum) = (stage.fake.basic_group("small"), stage.fake.forum("deploys"));
    let topic = stage.fake.topic(forum, "web");
    for (room, topic) in [(stage.ops, None), (basic, None), (forum, Some(topic)), (forum, None)] {
        let process = stage.home.process("napper", &[]);
        let words = stage.fake.to_the_bot(room, &format!("stop process {}", process.pid()));
        let say = Say::new(ANN, room, &words);
        let asked = stage.fake.say(topic.map_or(say.clone(), |topic| say.topic(topic)));
        let is_card = |message: &countersign_telegram_fake::Message| message.id > asked && !message.keyboard.is_empty();
        let card = stage.fake.wait_for(room, is_card).await;
        assert_eq!(card.topic, topic, "it is answered where it was asked");
        let before = stage.shown(room).len();
        let callback = stage.fake.press(TOM, room, card.id, "Approve");
        let told = stage.fake.callback_answer(&callback).await;
        assert!(told.show_alert && told.text.contains("You may not approve this plan"), "{told:?}");
        assert_eq!(stage.shown(room).len(), before, "told to whoever pressed, and to nobody else");
        stage.fake.press(BOB, room, card.id, "Approve");
        stage.reads((room, card.id), "✓ Done and verified; countersigned by bob").await;
        let shown = stage.fake.message(room, card.id).expect("it is there");
        assert!(shown.keyboard.is_empty() && shown.edits > 0, "{shown:?}");
        assert!(!lives(process.pid()));
    }
    refused_by_nobody(&stage);
}

#[tokio::test]
async fn telegrams_reactions_decide_where_the_bot_is_an_administrator_and_nowhere_else() {
    let stage = Stage::start().await;
    let (first, second) = (stage.home.process("napper", &[]), stage.home.process("napper", &[]));
    let card = stage.card(ANN, stage.ops, &format!("stop process {}", first.pid())).await;
    stage.fake.react(BOB, stage.ops, card.message, "👍");
    stage.still_pending(&card).await;
    assert!(lives(first.pid()));
    let led = stage.fake.group("led");
    stage.fake.set_admin(led, true);
    let card = stage.card(ANN, led, &format!("stop process {}", second.pid())).await;
    stage.fake.react(BOB, led, card.message, "👍");
    stage.reads((led, card.message), "✓ Done and verified; countersigned by bob").await;
    assert!(lives(first.pid()) && !lives(second.pid()));
    refused_by_nobody(&stage);
}

#[tokio::test]
async fn a_press_is_answered_by_its_card_and_does_not_wait_for_what_it_started() {
    let stage = Stage::start().await;
    let process = stage.home.slow_process("napper");
    let card = stage.card(ANN, stage.ops, &format!("stop process {}", process.pid())).await;
    let told = stage.approve(BOB, &card).await;
    assert!(
        told.text.starts_with("✓ Countersigned by bob; being done · stop process napper") && !told.alone,
        "{told:?}"
    );
    let stands = stage.state(&card).await;
    assert!(["approved", "executing"].contains(&stands.as_str()), "{stands}");
    assert!(lives(process.pid()));
    refused_by_nobody(&stage);
}

#[tokio::test]
async fn telegram_offers_names_to_whoever_types_them_in_any_chat() {
    let stage = Stage::start().await;
    // Each reading looks for the machine first, so that it is known then.
    stage.ask(ANN, stage.ops, "load", "Processors").await;
    let query = stage.fake.inline_query(TOM, "host");
    let answer = stage.fake.inline_answer(&query).await;
    assert!(
        matches!(&answer.results[..], [host] if host["description"].to_string().starts_with("\"host: ")),
        "{answer:?}"
    );
    assert!(answer.personal && answer.cache_time_s.is_some_and(|seconds| seconds < 10), "{answer:?}");
    stage.fake.choose(TOM, stage.ops, &query, "0");
    stage.ask(TOM, stage.ops, "load", "Processors").await;
    refused_by_nobody(&stage);
}

/// Telegram took every call as it was made.
fn refused_by_nobody(stage: &Stage) {
    let refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused { .. });
    let refused: Vec<_> = stage.fake.log().into_iter().filter(|call| refused(&call.outcome)).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
