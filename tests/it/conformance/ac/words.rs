//! What is no decision: forged presses, words that look like one, reactions to copies, and parts of an id. AC-07, AC-08,
//! AC-10 and AC-24.

use super::{File, alone, done};
use crate::support::chat::Chat;
use crate::support::database::rows;
use crate::support::stage::{ANN, BOB, CAROL, EVE, Stage, TOM};

pub(super) async fn ac_07_a_forged_press_is_refused_and_counted<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let (post, _) = card.approve.split_once(':').expect("the message and the button");
    let own = stage.ask(BOB, stage.ops, "who am i", "you are").await;
    let private = stage.fake.private_room(CAROL);
    let other = stage.card(ANN, stage.fake.room("other"), &file.ask("two")).await;
    stage.ask(CAROL, private, "who am i", "you are").await;
    let answers = rows(&stage.database(), "SELECT id FROM outbox WHERE plan IS NULL").await.concat();
    assert!(answers.len() > 1, "{answers:?}");
    let mut forged = vec![
        "x".to_owned(),
        ":0".to_owned(),
        format!("{post}:3"),
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
        assert!(alone::<C>(&told) && told.text.contains("No message of mine has this button"), "{data}: {told:?}");
    }
    // The message that is pressed does not matter either.
    let told = stage.press(BOB, (stage.ops, own.id), "y").await;
    assert!(alone::<C>(&told), "{told:?}");
    let refused = "SELECT SUM(times) FROM refusals WHERE gate = 'decision' AND code = 'NOT_FOUND'";
    let counted = format!("{refused} AND actor = '{}'", C::account(BOB));
    let counted = rows(&stage.database(), &counted).await.concat().concat();
    assert_eq!(counted, (forged.len() + 1).to_string());
    stage.still_pending(&card).await;
    assert_eq!((file.count("one"), file.count("two")), (0, 0));
}

pub(super) async fn ac_08_words_that_approve_are_nothing_but_from_a_person_who_may<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let (words, at) = (format!("approve {}", card.plan), (stage.ops, card.message));
    stage.reply(TOM, at, &words, "You may not approve this plan").await;
    stage.reply(EVE, at, &words, "I do not know this account").await;
    stage.reply(BOB, at, &format!("> {words}"), "I don't understand").await;
    stage.reply(BOB, at, &format!("{words} not yet"), "").await;
    // An old message of bob's becomes an approval.
    let hm = stage.fake.write(BOB, stage.ops, "hm", Some(card.message));
    stage.answer(stage.ops, hm, "I don't understand").await;
    stage.fake.rewrite(stage.ops, hm, &words);
    stage.still_pending(&card).await;
    assert_eq!(file.count("one"), 0);
    // The same words of the same person, typed, do count.
    stage.reply(BOB, at, &words, super::DONE).await;
    assert_eq!(file.count("one"), 1);
}

pub(super) async fn ac_10_a_reaction_to_a_copy_decides_nothing_and_one_that_is_taken_back_takes_nothing_back<
    C: Chat,
>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    stage.fake.let_react(stage.ops);
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let copies = [(card.text.as_str(), None), ("look", Some(card.asked)), ("this one", Some(card.message))];
    let copies = copies.map(|(text, to)| stage.fake.write(CAROL, stage.ops, text, to));
    for copy in copies.iter().chain([&card.asked]) {
        stage.fake.add_reaction(BOB, stage.ops, *copy, "👍");
    }
    // To the card itself: by who may not, and something else.
    stage.fake.add_reaction(TOM, stage.ops, card.message, "👍");
    stage.fake.add_reaction(EVE, stage.ops, card.message, "👍");
    stage.fake.add_reaction(BOB, stage.ops, card.message, "🎉");
    stage.still_pending(&card).await;
    stage.fake.add_reaction(BOB, stage.ops, card.message, "👍");
    done(&stage, stage.ops).await;
    stage.fake.take_reaction(BOB, stage.ops, card.message, "👍");
    stage.fake.add_reaction(BOB, stage.ops, card.message, "👎");
    stage.reply(TOM, (stage.ops, card.message), "approvals", "No plan is open in this thread").await;
    assert_eq!((stage.state(&card).await.as_str(), file.count("one")), ("verified", 1));
}

pub(super) async fn ac_24_a_part_of_an_id_names_no_plan<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let at = (stage.ops, card.message);
    for length in [1, 8, 12, 31] {
        let short = &card.plan[..length];
        for verb in ["approve", "deny"] {
            stage.reply(BOB, at, &format!("{verb} {short}"), "").await;
        }
    }
    for words in ["approve 1", "approve it", &format!("approve {}0", card.plan)] {
        let told = stage.reply(BOB, at, words, "").await;
        assert!(told.text.contains("by its full id"), "{words}: {}", told.text);
    }
    // The word alone decides nothing: the plan is shown once more.
    stage.reply(BOB, at, "approve", "This plan waits here. To approve it, use its card, or type").await;
    stage.still_pending(&card).await;
    assert_eq!(file.count("one"), 0);
}
