//! Time that goes by: AC-05, AC-06 and AC-14. The shortest time that a plan can be given is a minute, so that a plan is
//! made older where it is stored while the bot is down, and everything that names its digest with it.

use countersign_core::approval::Digest;
use serde_json::Value;

use super::{File, alone, done, executions};
use crate::support::chat::Chat;
use crate::support::database::{change, rows};
use crate::support::stage::{ANN, BOB, Card, Stage, TOM};

/// Lets so many minutes go by for a plan: it then is what it would be had it been asked for so much earlier.
pub(super) async fn pass<C: Chat>(stage: &Stage<C>, card: Card<C::Room>, minutes: i64) -> Card<C::Room> {
    let database = stage.database();
    let sql = format!("SELECT body, digest FROM plans WHERE id = '{}'", card.plan);
    let [body, digest] = rows(&database, &sql).await.concat().try_into().expect("one plan");
    let plan: Value = serde_json::from_str(&body).expect("it is an object");
    let (mut older, mut times) = (body.clone(), Vec::new());
    for key in ["requested_at", "expires_at"] {
        let at = plan[key].as_i64().expect("a time");
        let before = at - minutes * 60_000;
        assert_eq!(older.matches(&format!("\"{key}\":{at}")).count(), 1, "{older}");
        older = older.replace(&format!("\"{key}\":{at}"), &format!("\"{key}\":{before}"));
        times.push(format!("{key} = {before}"));
    }
    let now = Digest::of(older.as_bytes());
    let quoted = |text: &str| text.replace('\'', "''");
    let set =
        format!("UPDATE plans SET body = '{}', digest = '{}', {}", quoted(&older), now.as_str(), times.join(", "));
    assert_eq!(change(&database, &format!("{set} WHERE id = '{}'", card.plan)).await, 1);
    let shown = format!("UPDATE outbox SET body = replace(body, '{digest}', '{}')", now.as_str());
    assert_eq!(change(&database, &format!("{shown} WHERE plan = '{}'", card.plan)).await, 1);
    stage.adopt();
    card
}

pub(super) async fn ac_05_a_stale_card_decides_nothing_while_another_plan_waits<C: Chat>() {
    let mut stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let old = stage.card(ANN, stage.ops, &file.ask("one")).await;
    stage.settled().await;
    stage.kill().await;
    let old = pass(&stage, old, 16).await;
    stage.go_on().await;
    // Said by itself; where nobody can be told alone, it could else be taken for the answer to the press.
    stage.said(stage.ops, "Nobody decided in time").await;
    // In the same thread, so that a decision that were about no plan in particular would meet this one.
    let asked = stage.fake.write(ANN, stage.ops, &file.ask("two"), Some(old.message));
    let waiting = stage.card_of(stage.ops, asked).await;
    let told = stage.press(BOB, (stage.ops, old.message), &old.approve).await;
    assert!(alone::<C>(&told) && told.text.contains("nobody decided in time"), "{told:?}");
    stage.reply(BOB, (stage.ops, old.message), &format!("approve {}", old.plan), "nobody decided in time").await;
    stage.still_pending(&waiting).await;
    assert_eq!((stage.state(&old).await.as_str(), file.count("one"), file.count("two")), ("expired", 0, 0));
}

pub(super) async fn ac_06_a_card_from_before_a_restart_is_about_its_own_plan<C: Chat>() {
    let mut stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let old = stage.card(ANN, stage.ops, &file.ask("one")).await;
    stage.settled().await;
    stage.restart().await;
    let other = File::new(&stage, "other.txt");
    let waiting = stage.card(ANN, stage.ops, &other.ask("two")).await;
    stage.approve(BOB, &old).await;
    done(&stage, stage.ops).await;
    assert_eq!((file.count("one"), other.count("two")), (1, 0));
    stage.still_pending(&waiting).await;
    stage.settled().await;
    stage.restart().await;
    let told = stage.press(BOB, (stage.ops, old.message), &old.approve).await;
    assert!(told.text.contains("done and verified"), "{told:?}");
    assert_eq!((executions(&stage, &old).await, file.count("one")), (1, 1));
}

pub(super) async fn ac_14_where_nobody_comes_it_expires_and_nobody_is_told_that_somebody_said_no<C: Chat>() {
    let mut stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    stage.settled().await;
    stage.kill().await;
    let card = pass(&stage, card, 16).await;
    stage.go_on().await;
    let told = stage.said(stage.ops, "Expired: append to ").await;
    assert!(told.text.contains("Nobody decided in time. Nothing was changed."), "{}", told.text);
    let shown = stage.reads((stage.ops, card.message), "nobody decided in time").await;
    assert!(shown.buttons.is_empty(), "{shown:?}");
    stage.press(BOB, (stage.ops, card.message), &card.approve).await;
    stage.reply(TOM, (stage.ops, card.message), "approvals", "No plan is open").await;
    let said = stage.fake.sent().to_lowercase();
    assert!(!said.contains("denied"), "{said}");
    assert_eq!((stage.state(&card).await.as_str(), file.count("one")), ("expired", 0));
}
