//! How durable each commit is, as the engine itself says: triggers note the level in force inside each transaction. No
//! stopwatch, and no SQL of the store's own.

use countersign::store::{Committed, Ending, Settled, StepRecord};
use countersign_core::approval::PlanState;
use countersign_core::port::Lane;
use countersign_core::signal::{SignalId, Wall};
use sqlx::{AnyConnection, Connection, Row};

use super::plans::{change, changing, desk_with, file, plan, shifted};
use super::{Bed, accepted, committed, did, on_postgres, on_sqlite, post, raw, sent, step, thread};

#[tokio::test]
async fn every_commit_has_its_level_on_sqlite() {
    on_sqlite(cases![plans_are_committed_full_and_the_rest_normal]).await;
}

#[tokio::test]
async fn every_commit_has_its_level_on_postgres() {
    on_postgres(cases![plans_are_committed_full_and_the_rest_normal]).await;
}

/// Lets every change of a table note the level that is in force.
async fn watch(bed: &Bed) {
    raw(&bed.url, "CREATE TABLE levels (level TEXT NOT NULL)").await;
    let is_sqlite = bed.url.starts_with("sqlite");
    if !is_sqlite {
        let note = "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                    INSERT INTO levels VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$";
        raw(&bed.url, note).await;
    }
    for table in ["inbox", "outbox", "plans", "audit_chain"] {
        for verb in ["INSERT", "UPDATE"] {
            let name = format!("CREATE TRIGGER watch_{table}_{verb} AFTER {verb} ON {table}");
            let sql = if is_sqlite {
                let level = "INSERT INTO levels SELECT CASE synchronous WHEN 1 THEN 'NORMAL' WHEN 2 THEN 'FULL' \
                             ELSE 'other' END FROM pragma_synchronous";
                format!("{name} BEGIN {level}; END")
            } else {
                format!("{name} FOR EACH ROW EXECUTE FUNCTION note()")
            };
            raw(&bed.url, &sql).await;
        }
    }
}

/// The level of everything since the last call: every row must say the same.
async fn level(bed: &Bed) -> &'static str {
    let mut connection = AnyConnection::connect(&bed.url).await.expect("it opens");
    let rows = sqlx::query("SELECT DISTINCT level FROM levels").fetch_all(&mut connection).await.expect("readable");
    sqlx::query("DELETE FROM levels").execute(&mut connection).await.expect("writable");
    connection.close().await.expect("it closes");
    let levels: Vec<String> = rows.iter().map(|row| row.try_get(0).expect("a text")).collect();
    match levels.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["NORMAL" | "off"] => "normal",
        ["FULL" | "on"] => "full",
        ref other => panic!("not one level: {other:?}"),
    }
}

async fn plans_are_committed_full_and_the_rest_normal(bed: Bed) {
    watch(&bed).await;
    let filed = plan(1, "host:web-1");
    let approve = shifted(&mut desk_with(&filed), filed.id(), PlanState::Approved);
    accepted(&bed, "s-1", "main", 1).await;
    assert_eq!(level(&bed).await, "normal", "accept");
    let full = StepRecord {
        audit: vec![did("a-1", 5)],
        posts: vec![post("p-1", 0, thread("main"), Lane::Decision)],
        ..changing("s-1", vec![file(&filed)])
    };
    assert_eq!(bed.store.commit(&full).await.expect("no error"), Committed::Done);
    assert_eq!(level(&bed).await, "full", "filing");
    // Each of these comes right after a full commit: its level must not stay behind on the connection.
    bed.store.begin(&SignalId::new("s-1")).await.expect("open");
    assert_eq!(level(&bed).await, "normal", "begin");
    let moving = changing("s-1", vec![change("m-1", &approve)]);
    assert_eq!(bed.store.commit(&moving).await.expect("no error"), Committed::Done);
    assert_eq!(level(&bed).await, "full", "moving");
    let settled = Settled::Again { not_before: Wall(5), repeat: false, error: String::new() };
    assert!(bed.store.sending("p-1").await.expect("it waits"));
    assert_eq!(level(&bed).await, "normal", "sending");
    // What is done before the next commit is full again, so that settling, too, comes right after one.
    let another = changing("s-1", vec![file(&plan(2, "host:web-2"))]);
    assert_eq!(bed.store.commit(&another).await.expect("no error"), Committed::Done);
    assert_eq!(level(&bed).await, "full", "filing again");
    bed.store.settle("p-1", &settled, Wall(6)).await.expect("it is being sent");
    assert_eq!(level(&bed).await, "normal", "settle");
    sent(&bed, "p-1", 7).await;
    bed.store.recover(Wall(8)).await.expect("recoverable");
    assert_eq!(level(&bed).await, "normal", "sending and settling");
    let last = StepRecord { audit: vec![did("a-2", 9)], ending: Some(Ending::Answered), ..step("s-1", 9, Vec::new()) };
    committed(&bed, &last).await;
    assert_eq!(level(&bed).await, "normal", "a step without plans");
}
