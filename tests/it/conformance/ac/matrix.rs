//! What is otherwise on Matrix: reactions in the place of buttons, and who somebody is (AC-02, AC-09).

use super::{File, done, refusals};
use crate::support::chat::Chat;
use crate::support::matrix::{Stage, Team};
use crate::support::stage::{ANN, BOB};

#[tokio::test]
async fn ac_02_who_may_decide_it_may_not_from_another_room() {
    let stage = Stage::start().await;
    let (file, other) = (File::new(&stage, "notes.txt"), stage.fake.room("other"));
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let private = stage.fake.private_room(BOB);
    for room in [other, stage.ops, private] {
        let words = format!("approve {}", card.plan);
        stage.ask(BOB, room, &words, "No plan of this thread has this id").await;
    }
    // A reaction to a message of another room is taken by no homeserver.
    stage.still_pending(&card).await;
    assert_eq!(file.count("one"), 0);
}

/// AC-09. One homeserver gives no other's names: what is the same before the colon is tested in the adapter (`translate`).
#[tokio::test]
async fn ac_09_who_is_called_like_an_approver_is_none() {
    let stage = Stage::start().await;
    let file = File::new(&stage, "notes.txt");
    // Called like Bob, and like Bob's whole id: names are free.
    let (copy, spelled) = (stage.fake.person(31, "Bob"), stage.fake.person(32, &Team::<false>::account(BOB)));
    let room = stage.fake.room("both");
    let card = stage.card(ANN, room, &file.ask("one")).await;
    for who in [copy, spelled] {
        let told = stage.press(who, (room, card.message), &card.approve).await;
        assert!(told.text.contains("I do not know this account"), "{told:?}");
        let typed = format!("approve {}", card.plan);
        stage.reply(who, (room, card.message), &typed, "I do not know this account").await;
        assert!(!refusals(&stage, who, "FORBIDDEN").await.is_empty());
    }
    stage.still_pending(&card).await;
    stage.approve(BOB, &card).await;
    done(&stage, room).await;
    assert_eq!(file.count("one"), 1);
}
