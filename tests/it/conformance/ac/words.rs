//! What is no decision: forged presses, words that look like one, reactions to copies, and parts of an id. AC-07, AC-08,
//! AC-10 and AC-24.

use countersign_telegram_fake::{BOT, Origin, Say};

use super::{File, done};
use crate::support::database::rows;
use crate::support::telegram::{ANN, BOB, CAROL, EVE, Stage, TOM};

#[tokio::test]
async fn ac_07_a_forged_press_is_refused_and_counted() {
    let stage = Stage::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let (post, _) = card.approve.split_once(':').expect("the message and the button");
    let own = stage.ask(BOB, stage.ops, "who am i", "you are").await;
    let private = stage.fake.private(CAROL);
    let other = stage.card(ANN, stage.fake.group("other"), &file.ask("two")).await;
    stage.ask(CAROL, private, "who am i", "you are").await;
    let answers = rows(&stage.database(), "SELECT id FROM outbox WHERE plan IS NULL").await.concat();
    assert!(answers.len() > 1, "{answers:?}");
    let mut forged = vec![
        "x".to_owned(),
        ":0".to_owned(),
        format!("{post}:2"),
        format!("{post}:00"),
        format!("{post}:-1"),
        format!("{post}:4294967295"),
        post.to_owned(),
        format!("{}:0", "0".repeat(32)),
        // A card of another room, and the plan itself.
        other.approve.clone(),
        format!("{}:0", card.plan),
        format!("approve {}", card.plan),
        "z".repeat(64),
    ];
    forged.extend(answers.iter().map(|post| format!("{post}:0")));
    for data in &forged {
        let told = stage.press(BOB, (stage.ops, card.message), data).await;
        assert!(told.show_alert && told.text.contains("No message of mine has this button"), "{data}: {told:?}");
    }
    // The message that is pressed does not matter either.
    let told = stage.press(BOB, (stage.ops, own.id), "y").await;
    assert!(told.show_alert, "{told:?}");
    let counted = "SELECT SUM(times) FROM refusals WHERE gate = 'decision' AND code = 'NOT_FOUND' AND actor = '12'";
    let counted = rows(&stage.database(), counted).await.concat().concat();
    assert_eq!(counted, (forged.len() + 1).to_string());
    stage.still_pending(&card).await;
    assert_eq!((file.count("one"), file.count("two")), (0, 0));
}

#[tokio::test]
async fn ac_08_words_that_approve_are_nothing_but_from_a_person_who_may() {
    let stage = Stage::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let (words, at) = (format!("approve {}", card.plan), (stage.ops, card.message));
    stage.reply(TOM, at, &words, "You may not approve this plan").await;
    stage.reply(EVE, at, &words, "I do not know this account").await;
    stage.reply(BOB, at, &format!("> {words}"), "I do not understand").await;
    stage.reply(BOB, at, &format!("{words} not yet"), "").await;
    let say = |who: i64, text: &str| Say::new(who, stage.ops, text).reply_to(card.message);
    let quoted = stage.fake.say(say(BOB, "no idea yet").quote(&words));
    stage.answer(stage.ops, quoted, "I do not understand").await;
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
    // An old message of bob's becomes an approval.
    let hm = stage.fake.say(say(BOB, "hm"));
    stage.answer(stage.ops, hm, "I do not understand").await;
    stage.fake.edit(stage.ops, hm, &words);
    stage.still_pending(&card).await;
    let answered = |asked: &i64| stage.shown(stage.ops).iter().any(|message| message.reply_to == Some(*asked));
    assert!(!unheard.iter().any(answered), "{}", stage.fake.draw(stage.ops, None));
    assert_eq!(file.count("one"), 0);
    // The same words of the same person, typed, do count.
    stage.reply(BOB, at, &words, super::DONE).await;
    assert_eq!(file.count("one"), 1);
}

#[tokio::test]
async fn ac_10_a_reaction_to_a_copy_decides_nothing_and_one_that_is_taken_back_takes_nothing_back() {
    let stage = Stage::start().await;
    let file = File::new(&stage, "notes.txt");
    stage.fake.set_admin(stage.ops, true);
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let copies = [
        Say::new(CAROL, stage.ops, &card.text),
        Say::new(CAROL, stage.ops, &card.text).forwarded(Origin::User(BOT)),
        Say::new(CAROL, stage.ops, "look").reply_to(card.asked),
    ];
    let copies = copies.map(|copy| stage.fake.say(copy));
    for copy in copies.iter().chain([&card.asked]) {
        stage.fake.react(BOB, stage.ops, *copy, "👍");
    }
    // In another room a message has the same number.
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
    // To the card itself: by who may not, by nobody in particular, and something else.
    stage.fake.react(TOM, stage.ops, card.message, "👍");
    stage.fake.react(EVE, stage.ops, card.message, "👍");
    stage.fake.react_anonymously(stage.ops, card.message, "👍");
    stage.fake.react(BOB, stage.ops, card.message, "🎉");
    stage.still_pending(&card).await;
    stage.fake.react(BOB, stage.ops, card.message, "👍");
    done(&stage, stage.ops).await;
    stage.fake.unreact(BOB, stage.ops, card.message);
    stage.fake.react(BOB, stage.ops, card.message, "👎");
    stage.reply(TOM, (stage.ops, card.message), "approvals", "No plan is open in this thread").await;
    assert_eq!((stage.state(&card).await.as_str(), file.count("one")), ("verified", 1));
}

#[tokio::test]
async fn ac_24_a_part_of_an_id_names_no_plan() {
    let stage = Stage::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let at = (stage.ops, card.message);
    for length in [1, 8, 12, 31] {
        let short = &card.plan[..length];
        for verb in ["approve", "deny"] {
            stage.reply(BOB, at, &format!("{verb} {short}"), "").await;
        }
    }
    for words in ["approve", "approve 1", "approve it", &format!("approve {}0", card.plan)] {
        let told = stage.reply(BOB, at, words, "").await;
        assert!(told.text.contains("by its full id"), "{words}: {}", told.text);
    }
    stage.still_pending(&card).await;
    assert_eq!(file.count("one"), 0);
}
