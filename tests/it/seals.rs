//! The seals of the database with the real binary: a row that somebody else wrote decides nothing, is said and counted; a
//! database that goes away under the bot ends it; and the key is made, kept private, asked for and changed.

use std::os::unix::fs::PermissionsExt;

use countersign_core::approval::{Digest, PlanId};
use countersign_core::port::CardChoice;
use countersign_core::signal::{EventId, Payload, Signal, SignalId};

use crate::support::bot::{Bot, Home, finish, lives};
use crate::support::chat::Chat as _;
use crate::support::database;
use crate::support::metrics::{free_address, scrape};
use crate::support::telegram::{ANN, BOB, Script, Stage};

/// One forged press in an approver's name was carried out at the next start, and the audit trail was called whole.
#[tokio::test(flavor = "multi_thread")]
async fn a_press_that_somebody_wrote_into_the_database_is_not_carried_out() {
    let metrics = free_address();
    let config = format!("[metrics]\nlisten = \"{metrics}\"\n");
    let mut stage = Stage::with(Script { config: &config, ..Script::default() }).await;
    let process = stage.home.process("victim", &[]);
    let card = stage.card(ANN, stage.ops, &format!("stop process {}", process.pid())).await;
    stage.settled().await;
    stage.kill().await;
    let asked =
        &database::rows(&stage.database(), "SELECT body FROM inbox ORDER BY received_at DESC LIMIT 1").await[0][0];
    let mut press: Signal = serde_json::from_str(asked).expect("it is a signal");
    let digest = &database::rows(&stage.database(), "SELECT digest FROM plans").await[0][0];
    (press.id, press.event) = (SignalId::new("0198a7c2d4e57f3a9b1c2d3e4f506173"), EventId::new("press:1"));
    press.actor.id = countersign_core::signal::ActorId::new(BOB.to_string());
    press.payload = Payload::Decision {
        plan: PlanId::parse(&card.plan).expect("it is an id"),
        digest: Digest::claimed(digest.clone()),
        choice: CardChoice::Approve,
        reason: String::new(),
    };
    let body = serde_json::to_string(&press).expect("it is JSON").replace('\'', "''");
    let forged = format!(
        "INSERT INTO inbox (id, thread, platform, account, event, body, state, attempts, received_at) \
         SELECT '{}', thread, platform, account, '{}', '{body}', 'accepted', 0, received_at + 1 FROM inbox \
         ORDER BY received_at DESC LIMIT 1",
        press.id, press.event
    );
    assert_eq!(database::change(&stage.database(), &forged).await, 1);
    stage.go_on().await;
    stage.still_pending(&card).await;
    assert!(lives(process.pid()), "nobody approved it");
    let logged = stage.logged();
    assert!(logged.contains("row 0198a7c2d4e57f3a9b1c2d3e4f506173: it was not written by this bot"), "{logged}");
    assert!(scrape(&metrics).contains("countersign_rows_broken_total{table=\"inbox\"} 1"), "it is counted");
    let verified = finish(stage.home.bot().args(["audit", "verify"]), b"");
    assert_eq!(verified.status.code(), Some(1), "{verified:?}");
    assert!(verified.err.contains("1 row is not what the bot wrote; nothing is decided by it"), "{verified:?}");
    // Who really may approves it all the same.
    stage.approve(BOB, &card).await;
    stage.said(stage.ops, "Done and verified").await;
    stage.end().await;
}

#[test]
fn a_database_that_is_taken_away_or_replaced_ends_the_bot() {
    for replace in [false, true] {
        let home = Home::new();
        let mut bot = Bot::json(&home);
        bot.ask("load");
        let file = home.data().join("countersign.db");
        let copy = std::fs::read(&file).expect("it is there");
        std::fs::remove_file(&file).expect("it can be removed");
        if replace {
            std::fs::write(&file, copy).expect("it can be written");
        }
        // It ends by itself: its input stays open.
        assert!(bot.event().is_none_or(|event| event["type"] == "stopping"), "nothing more is said");
        let done = bot.end();
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(
            done.err.contains("another program removed, replaced or changed the database while the bot ran"),
            "{done:?}"
        );
    }
}

#[test]
fn the_key_is_made_at_the_first_start_and_asked_for_later() {
    let home = Home::new();
    assert!(home.pipe("load\n").status.success());
    let key = home.data().join("seal.key");
    let mode = std::fs::metadata(&key).expect("it is made").permissions().mode();
    assert_eq!((mode & 0o777, std::fs::read_to_string(&key).expect("readable").trim().len()), (0o600, 64));
    assert!(home.pipe("load\n").status.success(), "it is the same key");

    let aside = home.data().join("seal.key.aside");
    std::fs::rename(&key, &aside).expect("it can be moved");
    let refused = home.pipe("load\n");
    let place = home.data().display().to_string();
    insta::assert_snapshot!(refused.err.replace(&place, "DATA").trim_end(), @"countersign: the database DATA/countersign.db is sealed, and its key is missing: restore DATA/seal.key, or accept the rows as they are with `countersign seal adopt`");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(!key.exists() && !home.data().join("seal.key.new").exists(), "no other key is left behind");
    std::fs::rename(&aside, &key).expect("it can be moved");

    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o640)).expect("the mode can be set");
    let refused = home.pipe("load\n");
    assert!(refused.err.contains("seal.key may be read by others (mode 640); run chmod 600 on it"), "{refused:?}");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("the mode can be set");

    // A pipe without a writer, which would keep the start waiting.
    std::fs::rename(&key, &aside).expect("it can be moved");
    assert!(std::process::Command::new("mkfifo").arg(&key).status().expect("it is installed").success());
    let refused = home.pipe("load\n");
    assert!(refused.err.contains("seal.key is no plain file; remove it, and restore the key"), "{refused:?}");
    std::fs::rename(&aside, &key).expect("it can be moved");

    let given = finish(home.bot().env("COUNTERSIGN_STORE__SEAL_KEY", "12"), b"");
    assert!(given.err.contains("`store.seal_key` must give 64 hexadecimal digits"), "{given:?}");
}

#[test]
fn a_new_key_replaces_the_old_one() {
    let home = Home::new();
    assert!(home.pipe("load\n").status.success());
    let key = home.data().join("seal.key");
    let before = std::fs::read_to_string(&key).expect("readable");
    let rotated = finish(home.bot().args(["seal", "rotate"]), b"");
    assert!(
        rotated.status.success() && rotated.err.contains("The rows are sealed with the new key in "),
        "{rotated:?}"
    );
    assert_ne!(std::fs::read_to_string(&key).expect("readable"), before);
    assert!(home.pipe("load\n").status.success());
    let verified = finish(home.bot().args(["audit", "verify"]), b"");
    assert!(verified.status.success(), "{verified:?}");

    // A process that ended after the rows were sealed, and before the key was in its place.
    let now = std::fs::read_to_string(&key).expect("readable");
    std::fs::rename(&key, home.data().join("seal.key.new")).expect("it can be moved");
    std::fs::write(&key, before).expect("it can be written");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("the mode can be set");
    assert!(home.pipe("load\n").status.success());
    assert_eq!(std::fs::read_to_string(&key).expect("readable"), now);

    // One that ended before anything was sealed.
    std::fs::copy(&key, home.data().join("seal.key.new")).expect("it can be copied");
    assert!(home.pipe("load\n").status.success());
    assert!(!home.data().join("seal.key.new").exists());

    let file = home.path().join("next.key");
    let rotated = finish(home.bot().args(["seal", "rotate", "--to"]).arg(&file), b"");
    assert!(rotated.status.success(), "{rotated:?}");
    let given = std::fs::read_to_string(&file).expect("readable");
    assert!(!key.exists(), "it is the key of nothing");
    let done = finish(home.bot().env("COUNTERSIGN_STORE__SEAL_KEY", given.trim()), b"load\n");
    assert!(done.status.success(), "{done:?}");
    let refused = finish(home.bot().env("COUNTERSIGN_STORE__SEAL_KEY", given.trim()).args(["seal", "rotate"]), b"");
    assert!(refused.err.contains("say with --to where the new one goes"), "{refused:?}");
}

/// An older copy of a row has a sound seal: the trail tells what became of its plan, and the sum of all seals that it is no
/// longer the row that was written.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_put_back_as_it_was_is_named_and_not_carried_out_again() {
    let mut stage = Stage::start().await;
    let process = stage.home.process("victim", &[]);
    let card = stage.card(ANN, stage.ops, &format!("stop process {}", process.pid())).await;
    stage.settled().await;
    database::change(&stage.database(), "CREATE TABLE copied AS SELECT * FROM plans").await;
    stage.approve(BOB, &card).await;
    stage.said(stage.ops, "Done and verified").await;
    stage.settled().await;
    let verify = || finish(stage.home.bot().args(["audit", "verify"]), b"");
    let whole = verify();
    assert!(whole.status.success(), "{whole:?}");
    let back = "UPDATE plans SET (state, code, outcome, decided, over_at, looks, next_look, version, last_move, reminded, \
                level, withdrawn, seal) = (SELECT state, code, outcome, decided, over_at, looks, next_look, version, \
                last_move, reminded, level, withdrawn, seal FROM copied)";
    database::change(&stage.database(), back).await;
    // With its vote the seal would not fit.
    database::change(&stage.database(), "DELETE FROM votes").await;
    let verified = verify();
    assert!(!verified.err.contains("column seal"), "the seal is sound: {verified:?}");
    let said =
        format!("column state, row {}: it is pending, and the audit trail says that it became verified", card.plan);
    assert!(verified.status.code() == Some(1) && verified.err.contains(&said), "{verified:?}");
    assert!(
        verified.err.contains("rows of table plans were changed, removed or put back as they were before"),
        "{verified:?}"
    );
    // The bot that runs carries out nothing more, not even what is sound, and ends.
    let other = stage.home.process("other", &[]);
    let next = stage.card(ANN, stage.ops, &format!("stop process {}", other.pid())).await;
    stage.fake.press_button(BOB, next.room, next.message, "Approve");
    assert_eq!(stage.ended().await.code(), Some(2), "{}", stage.logged());
    assert!(lives(other.pid()), "{}", stage.logged());
    let changed = "was changed by another program: rows of plans were changed, removed or put back";
    assert!(stage.logged().contains(changed), "{}", stage.logged());
    for refused in [stage.home.pipe("load\n"), finish(stage.home.bot().args(["seal", "rotate"]), b"")] {
        assert!(refused.status.code() == Some(2) && refused.err.contains(changed), "{refused:?}");
    }
    database::change(&stage.database(), "DELETE FROM seal_key").await;
    let unsealed = finish(stage.home.bot().args(["audit", "verify"]), b"");
    assert!(unsealed.status.code() == Some(1) && unsealed.err.contains("The rows are not sealed"), "{unsealed:?}");
    let adopted = finish(stage.home.bot().args(["seal", "adopt"]), b"");
    assert!(adopted.status.success(), "an administrator says so: {adopted:?}");
    assert!(stage.home.pipe("load\n").status.success());
}
