//! What is decided is what was shown: AC-11 and AC-12.

use serde_json::Value;

use countersign_core::approval::Digest;

use super::{File, alone, executions};
use crate::support::bot::finish;
use crate::support::chat::Chat;
use crate::support::database::{change, rows};
use crate::support::stage::{ANN, BOB, Card, Stage};

/// Changes the text that a stored plan would add, and the digest beside it if told so.
async fn tamper<C: Chat>(stage: &Stage<C>, card: &Card<C::Room>, with_digest: bool) {
    let sql = format!("SELECT body FROM plans WHERE id = '{}'", card.plan);
    let body = rows(&stage.database(), &sql).await.concat().concat();
    let mut plan: Value = serde_json::from_str(&body).expect("it is an object");
    assert_eq!(plan["args"]["content"], "one");
    plan["args"]["content"] = "two".into();
    let other = body.replace("\"content\":\"one\"", "\"content\":\"two\"");
    assert_eq!(serde_json::from_str::<Value>(&other).expect("it is an object"), plan);
    let digest =
        if with_digest { format!(", digest = '{}'", Digest::of(other.as_bytes()).as_str()) } else { String::new() };
    let set = format!("UPDATE plans SET body = '{}'{digest} WHERE id = '{}'", other.replace('\'', "''"), card.plan);
    assert_eq!(change(&stage.database(), &set).await, 1);
}

pub(super) async fn ac_11_a_plan_that_was_changed_where_it_is_stored_is_never_carried_out<C: Chat>() {
    // Who can write to the database has no key. The digest holds where somebody has that, too.
    let cases = [
        (false, false, ""),
        (true, false, ""),
        (false, true, "No plan of this thread has this id"),
        (true, true, "another version of this plan"),
    ];
    for (with_digest, with_key, said) in cases {
        let mut stage = Stage::<C>::start().await;
        let file = File::new(&stage, "notes.txt");
        let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
        stage.settled().await;
        stage.kill().await;
        tamper(&stage, &card, with_digest).await;
        if with_key {
            stage.adopt();
        } else {
            let refused = finish(stage.home.bot().args(["seal", "rotate"]), b"");
            assert!(refused.err.contains("rows of plans were changed, removed or put back"), "{refused:?}");
            assert_eq!((refused.status.code(), file.count("one"), file.count("two")), (Some(2), 0, 0));
            continue;
        }
        stage.go_on().await;
        let told = stage.press(BOB, (stage.ops, card.message), &card.approve).await;
        assert!(alone::<C>(&told) && told.text.to_lowercase().contains(&said.to_lowercase()), "{told:?}");
        assert_eq!((file.count("one"), file.count("two"), executions(&stage, &card).await), (0, 0, 0));
        assert_eq!(stage.state(&card).await, "pending");
    }
}

pub(super) async fn ac_12_a_file_that_changed_since_the_card_is_not_written<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    std::fs::write(&file.path, "somebody else's\n").expect("it can be written");
    stage.approve(BOB, &card).await;
    let told = stage.said(stage.ops, "Not done: append to ").await;
    assert!(told.text.contains("when the plan was made and is") && told.text.contains("DRIFTED"), "{}", told.text);
    let shown = stage.reads((stage.ops, card.message), "Not done: it was refused (DRIFTED)").await;
    assert!(shown.buttons.is_empty(), "{shown:?}");
    assert_eq!(std::fs::read_to_string(&file.path).expect("it is there"), "somebody else's\n");
    assert_eq!((stage.state(&card).await.as_str(), executions(&stage, &card).await), ("refused", 0));
}
