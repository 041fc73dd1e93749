//! A day in an encrypted room of Matrix, on the real Synapse and with people at a client of another make: what is asked in a
//! thread is answered there, a reaction decides medium risk, high risk takes the encrypted words of a verified device, and what
//! cannot be decrypted is said. The bot is killed in the middle of it.

use regex::Regex;

use countersign_synapse::Say;

use crate::support::bot::lives;
use crate::support::chat::{Chat as _, Shown};
use crate::support::matrix::Team;
use crate::support::stage::{ANN, BOB, EVE, Stage, TOM};

type Matrix = Stage<Team<true>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_in_an_encrypted_room() {
    let mut stage = Matrix::start().await;
    a_question_is_answered_in_its_thread(&stage).await;
    let (medium, high) = (stage.home.process("napper", &[]), stage.home.process("dozer", &[]));

    let card = stage.card(ANN, stage.ops, &format!("stop process {}", medium.pid())).await;
    let told = stage.press(EVE, (stage.ops, card.message), &card.approve).await;
    assert!(told.text.contains("I do not know this account"), "{told:?}");
    stage.still_pending(&card).await;
    stage.settled().await;
    stage.restart().await;
    stage.approve(BOB, &card).await;
    stage.reads((stage.ops, card.message), "\u{2713} Done and verified; countersigned by bob").await;
    assert!(!lives(medium.pid()));

    let (card, plan) = card_of_high_risk(&stage, &format!("kill -9 {}", high.pid())).await;
    let is_whole = |message: &Shown| message.id == card.id && message.labels() == ["Deny", "Details"];
    // No reaction approves it.
    stage.fake.seen(stage.ops, is_whole).await;
    let told = stage.press(BOB, (stage.ops, card.id), "\u{2705}").await;
    assert!(
        told.text.contains("this plan is of high risk") || told.text.contains("This plan is of high risk"),
        "{told:?}"
    );
    let approve = format!("approve {plan}");
    stage.reply(BOB, (stage.ops, card.id), &approve, "from a device that I have verified").await;
    assert!(lives(high.pid()));
    bob_compares_keys(&stage).await;
    let (bob, ops, said) =
        (stage.fake.known(BOB), stage.fake.id_of(stage.ops), in_its_thread(&stage, card.id, &approve));
    bob.say_in_the_clear(&ops, &said);
    stage.said(stage.ops, "was not encrypted").await;
    assert!(lives(high.pid()), "a homeserver could have said it");
    bob.say(&ops, &said);
    stage.reads((stage.ops, card.id), "\u{2713} Done and verified; countersigned by bob").await;
    assert!(!lives(high.pid()));

    stage.fake.known(TOM).say_unreadably(&ops, "who am i");
    stage.said(stage.ops, "could not decrypt").await;
    stage.end().await;
}

/// In its thread, and encrypted like everything that is said.
async fn a_question_is_answered_in_its_thread(stage: &Matrix) {
    let asked = stage.say(TOM, stage.ops, "who am i");
    let answer = stage.answer(stage.ops, asked, "tom").await;
    let (asked, answer) = (stage.fake.event_of(asked), stage.fake.event_of(answer.id));
    assert_eq!(answer.thread(), Some(asked.event.as_str()));
    let seen = stage.fake.synapse().events(&stage.fake.id_of(stage.ops));
    let in_the_clear = seen.iter().find(|seen| seen.is_message() && !seen.encrypted);
    assert_eq!(in_the_clear, None);
}

/// An answer to a card, as clients send it from its thread.
fn in_its_thread(stage: &Matrix, card: i64, text: &str) -> Say {
    let card = stage.fake.event_of(card);
    Say::new(text).in_thread(card.thread().expect("it stands in one")).reply_to(&card.event)
}

/// Asks for what is of high risk. Its card, and the plan's id.
async fn card_of_high_risk(stage: &Matrix, words: &str) -> (Shown, String) {
    let asked = stage.say(ANN, stage.ops, words);
    let card = stage.answer(stage.ops, asked, "High risk: approve it in words").await;
    let plan = stage.plan_on(&card).await;
    (card, plan)
}

/// The name by Matrix's specification: Bob's client has three of the sixty-four otherwise.
fn named(emoji: &str) -> &str {
    match emoji {
        "Wrench" => "Spanner",
        "Airplane" => "Aeroplane",
        "Thumbs up" => "Thumbs Up",
        same => same,
    }
}

/// Bob's client begins; the bot's log has the code, which Bob sends when he has seen the same emoji there.
async fn bob_compares_keys(stage: &Matrix) {
    let bob = stage.fake.known(BOB);
    let comparison = bob.compare(stage.fake.bot());
    let line = Regex::new("emoji=(.*?) numbers=.* code=\"?([0-9A-Za-z]+)").expect("a sound pattern");
    let log = stage.logs(&line).await;
    let found = line.captures(&log).expect("it was waited for");
    let shown: Vec<&str> = found[1].split(", ").filter_map(|one| one.split_once(' ').map(|(_, name)| name)).collect();
    let seen: Vec<&str> = comparison.emoji.iter().map(|name| named(name)).collect();
    assert_eq!(seen, shown);
    bob.confirm(&comparison);
    bob.say(&stage.fake.id_of(stage.ops), &Say::new(&format!("verify {}", &found[2])));
    bob.compared(&comparison);
}
