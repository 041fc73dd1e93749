//! What only Telegram knows: posts of channels, anonymous administrators, forwarded messages and quotes (AC-08), and messages
//! of different chats with the same number (AC-02, AC-10).

use countersign_telegram_fake::{BOT, Origin, Say};

use super::{File, done};
use crate::support::telegram::{ANN, BOB, CAROL, Stage};

#[tokio::test]
async fn ac_02_a_message_with_the_cards_number_in_another_chat_is_not_the_card() {
    let stage = Stage::start().await;
    let (file, other) = (File::new(&stage, "notes.txt"), stage.fake.group("other"));
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    stage.ask(BOB, other, "who am i", "you are").await;
    let told = stage.press(BOB, (other, card.message), &card.approve).await;
    assert!(told.alone && told.text.contains("NOT_FOUND"), "{told:?}");
    stage.still_pending(&card).await;
}

#[tokio::test]
async fn ac_08_words_that_are_nobodys_own_or_somebody_elses_approve_nothing() {
    let stage = Stage::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let words = format!("approve {}", card.plan);
    let say = |who: i64, text: &str| Say::new(who, stage.ops, text).reply_to(card.message);
    let details = stage.reply(BOB, (stage.ops, card.message), "details", "The whole plan").await;
    let quote = Say::new(BOB, stage.ops, "no idea yet").reply_to(details.id).quote(&words);
    let quoted = stage.fake.say(quote);
    stage.answer(stage.ops, quoted, "I don't understand").await;
    // What is not a person's own is refused, and what is somebody else's is not even heard.
    let (news, robot) = (stage.fake.channel("news"), stage.fake.bot(99, "Robot"));
    for said in [say(robot, &words), say(BOB, &words).as_channel(news), say(BOB, &words).anonymous()] {
        let said = stage.fake.say(said);
        stage.answer(stage.ops, said, "a person with an account of their own").await;
    }
    let unheard = [
        say(BOB, &words).forwarded(Origin::User(CAROL)),
        say(BOB, &words).forwarded(Origin::Hidden("Carol".to_owned())),
        say(BOB, &words).forwarded(Origin::Channel(news, 1)),
        say(BOB, &words).via_bot(robot),
    ];
    let unheard = unheard.map(|said| stage.fake.say(said));
    stage.still_pending(&card).await;
    let answered = |asked: &i64| stage.shown(stage.ops).iter().any(|message| message.reply_to == Some(*asked));
    assert!(!unheard.iter().any(answered), "{}", stage.fake.draw(stage.ops, None));
    assert_eq!(file.count("one"), 0);
}

#[tokio::test]
async fn ac_10_a_reaction_to_a_forwarded_card_or_to_its_number_elsewhere_decides_nothing() {
    let stage = Stage::start().await;
    let file = File::new(&stage, "notes.txt");
    stage.fake.set_admin(stage.ops, true);
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let copy = stage.fake.say(Say::new(CAROL, stage.ops, &card.text).forwarded(Origin::User(BOT)));
    stage.fake.react(BOB, stage.ops, copy, "👍");
    let other = stage.fake.group("other");
    stage.fake.set_admin(other, true);
    let twin = loop {
        let said = stage.fake.say(Say::new(CAROL, other, "nothing"));
        if said >= card.message {
            break said;
        }
    };
    assert_eq!(twin, card.message);
    stage.fake.react(BOB, other, twin, "👍");
    stage.fake.react_anonymously(stage.ops, card.message, "👍");
    stage.still_pending(&card).await;
    stage.fake.react(BOB, stage.ops, card.message, "👍");
    done(&stage, stage.ops).await;
}
