//! The audit trail in the store: whole after everything that a bot does, and every change made behind its back is named.
//! On both engines; the tampering is done with SQL, as somebody would who holds the database.

use countersign::store::{AuditHead, AuditReport, AuditRow, Committed, Sealing, StepRecord, Store, sqlite_url};
use countersign_core::approval::Digest;
use countersign_core::envelope::Code;
use serde_json::Value;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};
use tempfile::TempDir;

use super::plans::{changing, file, plan};
use super::{Bed, Case, accepted, committed, counts, did, on_postgres, on_sqlite, raw, refused, step};

const CASES: &[(&str, Case)] = cases![
    a_trail_grows_whole,
    a_changed_byte_is_named_with_its_row,
    a_removed_row_is_missed,
    a_rewritten_trail_is_seen_by_who_noted_the_head,
    a_deleted_payload_is_fine_and_counted,
    many_writers_make_one_chain,
    an_export_can_be_proved_without_the_database,
    who_reads_beside_a_bot_changes_nothing,
    an_old_row_is_taken_over_once,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_the_trail_holds_on_sqlite() {
    on_sqlite(CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_the_trail_holds_on_postgres() {
    on_postgres(CASES).await;
}

/// Five rows, a-1 to a-5.
async fn five_rows(bed: &Bed) {
    accepted(bed, "s-1", "main", 1).await;
    for n in 1..=5 {
        committed(bed, &StepRecord { audit: vec![did(&format!("a-{n}"), n)], ..step("s-1", 5, Vec::new()) }).await;
    }
}

async fn verified(bed: &Bed) -> AuditReport {
    bed.store.verify_audit(None).await.expect("the trail can be read")
}

async fn expected(bed: &Bed, head: &str) -> Option<String> {
    let head = head.parse().expect("a head");
    let report = bed.store.verify_audit(Some(&head)).await.expect("the trail can be read");
    report.problem.map(|problem| problem.to_string())
}

/// The first problem, with hashes cut to be read.
async fn problem(bed: &Bed) -> String {
    verified(bed).await.problem.map_or_else(|| "whole".to_owned(), |problem| short(&problem.to_string()))
}

fn short(text: &str) -> String {
    let hash = regex::Regex::new("([0-9a-f]{64})").expect("invariant: the pattern is written here");
    hash.replace_all(text, "HASH").into_owned()
}

async fn text(url: &str, sql: &str) -> String {
    let mut connection = AnyConnection::connect(url).await.expect("it opens");
    let row = sqlx::query(AssertSqlSafe(sql.to_owned())).fetch_one(&mut connection).await.expect("a row");
    let text = row.try_get::<String, _>(0).expect("a text");
    connection.close().await.expect("it closes");
    text
}

async fn a_trail_grows_whole(bed: Bed) {
    let none = bed.store.audit_head().await.expect("there is one from the start");
    assert_eq!(none.to_string(), format!("0:{}", "0".repeat(64)));
    assert_eq!(problem(&bed).await, "whole");
    accepted(&bed, "s-1", "main", 1).await;
    let filed = plan(1, "host:web-1");
    let about = Some((filed.id().clone(), filed.frozen.digest().clone()));
    let rows = vec![
        refused("a-1", 6, Code::Forbidden),
        AuditRow { plan: about, ..did("a-2", 6) },
        refused("a-3", 7, Code::Forbidden),
        did("a-4", 7),
    ];
    let whole = StepRecord { audit: rows, ..changing("s-1", vec![file(&filed)]) };
    assert_eq!(bed.store.commit(&whole).await.expect("no error"), Committed::Done);
    let tail = bed.store.audit_tail(9).await.expect("readable");
    let ids: Vec<&str> = tail.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["a-4", "a-2", "a-1"], "in the step's order, without the repeated refusal");
    assert_eq!((tail[1].plan.as_str(), tail[1].digest.as_str()), (filed.id().as_str(), filed.frozen.digest().as_str()));
    assert_eq!((tail[2].plan.as_str(), tail[2].digest.as_str()), ("", ""));
    let report = verified(&bed).await;
    assert_eq!((report.rows, report.payloads_deleted, &report.problem), (3, 0, &None));
    assert_eq!(report.head, bed.store.audit_head().await.expect("readable"));
    assert_eq!(bed.store.commit(&whole).await.expect("no error"), Committed::Done);
    assert_eq!(verified(&bed).await, report, "the same step again appends nothing");
}

async fn a_changed_byte_is_named_with_its_row(bed: Bed) {
    five_rows(&bed).await;
    // Another first character; another number.
    let flip = |column: &str| format!("{column} = 'f' || SUBSTR({column}, 2)");
    let table = [
        ("audit_chain", "seq = 9".to_owned()),
        ("audit_chain", "id = 'b-3'".to_owned()),
        ("audit_chain", "at = 4".to_owned()),
        ("audit_chain", flip("payload_hash")),
        ("audit_chain", flip("prev")),
        ("audit_chain", flip("hash")),
        ("audit_payloads", "body = REPLACE(body, 'load', 'loud')".to_owned()),
    ];
    let columns = "seq, at, payload_hash, prev, hash";
    raw(&bed.url, &format!("CREATE TABLE kept AS SELECT id, {columns} FROM audit_chain WHERE id = 'a-3'")).await;
    raw(&bed.url, "CREATE TABLE kept_body AS SELECT body FROM audit_payloads WHERE id = 'a-3'").await;
    let mut said = Vec::new();
    for (table, change) in table {
        let change = unlike(&bed, &change).await;
        raw(&bed.url, &format!("UPDATE {table} SET {change} WHERE id = 'a-3'")).await;
        said.push(format!("{}: {}", change.split(' ').next().unwrap_or_default(), problem(&bed).await));
        let back = "UPDATE audit_chain SET id = 'a-3', seq = (SELECT seq FROM kept), at = (SELECT at FROM kept), \
                    payload_hash = (SELECT payload_hash FROM kept), prev = (SELECT prev FROM kept), \
                    hash = (SELECT hash FROM kept) WHERE id IN ('a-3', 'b-3')";
        raw(&bed.url, back).await;
        raw(&bed.url, "UPDATE audit_payloads SET body = (SELECT body FROM kept_body) WHERE id = 'a-3'").await;
        assert_eq!(problem(&bed).await, "whole");
    }
    insta::allow_duplicates! {
        insta::assert_snapshot!(said.join("\n"), @"
        seq: row 3 is missing: row a-4 stands where it should be
        id: row 3 (b-3) was changed: its hash does not match its content
        at: row 3 (a-3) was changed: its hash does not match its content
        payload_hash: row 3 (a-3) was changed: its hash does not match its content
        prev: row 3 (a-3) was changed: its hash does not match its content
        hash: row 3 (a-3) was changed: its hash does not match its content
        body: row 3 (a-3) has a changed payload: it is not what was written
        ");
    }
    raw(&bed.url, "UPDATE audit_head SET seq = 4").await;
    let expected = "row 5 (a-5) is the last one, but the head says 4:HASH: \
                    rows were removed at the end or the head was changed";
    assert_eq!(problem(&bed).await, expected);
    raw(&bed.url, "DELETE FROM audit_head").await;
    assert_eq!(problem(&bed).await, "row 5 (a-5) is the last one, and the head is missing");
    // Without its head the trail cannot go on, and nothing can be done that would not be in it.
    let after = StepRecord { audit: vec![did("a-6", 6)], ..step("s-1", 6, Vec::new()) };
    let error = bed.store.commit(&after).await.expect_err("there is nothing to append to").to_string();
    assert!(error.contains("table audit_head, column one, row 1: the only row is missing"), "{error}");
}

/// The same change with another letter, where the hash has this one already.
async fn unlike(bed: &Bed, change: &str) -> String {
    let Some((column, _)) = change.split_once(" = 'f' ||") else {
        return change.to_owned();
    };
    let now = text(&bed.url, &format!("SELECT {column} FROM audit_chain WHERE id = 'a-3'")).await;
    if now.starts_with('f') { change.replace("'f'", "'0'") } else { change.to_owned() }
}

async fn a_removed_row_is_missed(bed: Bed) {
    five_rows(&bed).await;
    let mut said = Vec::new();
    raw(&bed.url, "CREATE TABLE kept AS SELECT * FROM audit_chain").await;
    for id in ["a-1", "a-3", "a-5"] {
        raw(&bed.url, &format!("DELETE FROM audit_chain WHERE id = '{id}'")).await;
        said.push(problem(&bed).await);
        raw(&bed.url, &format!("INSERT INTO audit_chain SELECT * FROM kept WHERE id = '{id}'")).await;
    }
    assert_eq!(problem(&bed).await, "whole");
    // The last row with the head moved back: only who noted the head can know.
    let head = verified(&bed).await.head.to_string();
    raw(&bed.url, "DELETE FROM audit_chain WHERE id = 'a-5'").await;
    raw(&bed.url, "UPDATE audit_head SET seq = 4, hash = (SELECT hash FROM audit_chain WHERE seq = 4)").await;
    said.push(problem(&bed).await);
    said.push(expected(&bed, &head).await.unwrap_or_default());
    insta::allow_duplicates! {
        insta::assert_snapshot!(said.join("\n"), @"
        row 1 is missing: row a-2 stands where it should be
        row 3 is missing: row a-4 stands where it should be
        row 4 (a-4) is the last one, but the head says 5:HASH: rows were removed at the end or the head was changed
        whole
        row 4 (a-4) is the last one, but row 5 was expected: rows were removed at the end
        ");
    }
}

async fn a_rewritten_trail_is_seen_by_who_noted_the_head(bed: Bed) {
    five_rows(&bed).await;
    let noted = verified(&bed).await.head.to_string();
    assert_eq!(expected(&bed, &noted).await, None);
    assert_eq!(expected(&bed, &noted[..18]).await, None, "16 digits are enough");
    assert_eq!(expected(&bed, &format!("0:{}", "0".repeat(64))).await, None, "there was nothing before the first row");
    committed(&bed, &StepRecord { audit: vec![did("a-6", 6)], ..step("s-1", 6, Vec::new()) }).await;
    assert_eq!(expected(&bed, &noted).await, None, "an older head is still in it");
    // From row 3 on everything is written anew, and soundly: another payload, and every hash after it.
    raw(&bed.url, "UPDATE audit_payloads SET body = REPLACE(body, 'load', 'loud') WHERE id = 'a-3'").await;
    let mut prev = text(&bed.url, "SELECT hash FROM audit_chain WHERE seq = 2").await;
    for seq in 3..=6 {
        let id = format!("a-{seq}");
        let payload = digest(&text(&bed.url, &format!("SELECT body FROM audit_payloads WHERE id = '{id}'")).await);
        let hash = link(&seq.to_string(), &id, &seq.to_string(), &payload, &prev);
        let sql = format!("payload_hash = '{payload}', prev = '{prev}', hash = '{hash}' WHERE seq = {seq}");
        raw(&bed.url, &format!("UPDATE audit_chain SET {sql}")).await;
        if seq == 3 {
            let said = problem(&bed).await;
            assert_eq!(said, "row 4 (a-4) does not follow the row before it: one of them was replaced");
        }
        prev = hash;
    }
    raw(&bed.url, &format!("UPDATE audit_head SET hash = '{prev}'")).await;
    assert_eq!(problem(&bed).await, "whole", "by itself it is sound");
    let said = expected(&bed, &noted).await.unwrap_or_default();
    assert_eq!(short(&said), "row 5 (a-5) has the hash HASH, but HASH was expected: the trail was rewritten");
}

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).as_str().to_owned()
}

/// The documented encoding, written a second time.
fn link(seq: &str, id: &str, at: &str, payload: &str, prev: &str) -> String {
    digest(&[seq, id, at, payload, prev].map(|part| format!("{}:{part}", part.len())).concat())
}

async fn a_deleted_payload_is_fine_and_counted(bed: Bed) {
    five_rows(&bed).await;
    let before = verified(&bed).await;
    let salt = |body: &str| serde_json::from_str::<Value>(body).expect("JSON")["salt"].as_str().map(str::to_owned);
    let of =
        async |id: &str| salt(&text(&bed.url, &format!("SELECT body FROM audit_payloads WHERE id = '{id}'")).await);
    let salts = (of("a-1").await.expect("a salt"), of("a-2").await.expect("a salt"));
    assert!(salts.0.len() == 32 && salts.0 != salts.1, "{salts:?}");
    raw(&bed.url, "DELETE FROM audit_payloads WHERE id IN ('a-2', 'a-5')").await;
    let report = verified(&bed).await;
    assert_eq!(report, AuditReport { payloads_deleted: 2, ..before.clone() });
    assert_eq!(expected(&bed, &before.head.to_string()).await, None);
    let tail = bed.store.audit_tail(9).await.expect("readable");
    assert_eq!(tail.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["a-4", "a-3", "a-1"]);
    // It is not written anew with the next step.
    committed(&bed, &StepRecord { audit: vec![did("a-2", 2), did("a-6", 6)], ..step("s-1", 6, Vec::new()) }).await;
    let report = verified(&bed).await;
    assert_eq!((report.rows, report.payloads_deleted, report.problem), (6, 2, None));
}

async fn many_writers_make_one_chain(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    // A second process on the same database, as a standby would be.
    let other = Store::open(&bed.url, &Sealing::unguarded()).await.expect("it opens");
    let writers = (0..32).map(|n| {
        let store = if n % 2 == 0 { bed.store.clone() } else { other.clone() };
        tokio::spawn(async move {
            for row in 0..10 {
                let audit = vec![did(&format!("a-{n}-{row}"), row), did(&format!("b-{n}-{row}"), row)];
                let record = StepRecord { audit, ..step("s-1", 6, Vec::new()) };
                store.commit(&record).await.expect("writers wait for each other");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        // A reader beside them sees a whole trail of some moment.
        assert_eq!(problem(&bed).await, "whole");
        writer.await.expect("no panic");
    }
    let report = verified(&bed).await;
    assert_eq!((report.rows, report.problem), (640, None));
    other.close().await;
}

async fn an_export_can_be_proved_without_the_database(bed: Bed) {
    five_rows(&bed).await;
    raw(&bed.url, "DELETE FROM audit_payloads WHERE id = 'a-4'").await;
    let mut out = Vec::new();
    assert_eq!(bed.store.export_audit(&mut out).await.expect("memory takes it"), 5);
    let mut prev = "0".repeat(64);
    for (seq, line) in (1..).zip(String::from_utf8(out).expect("UTF-8").lines()) {
        let line: Value = serde_json::from_str(line).expect("one object a line");
        let of = |key: &str| line[key].as_str().unwrap_or_else(|| panic!("{key} in {line}"));
        assert_eq!((line["seq"].as_i64(), of("prev")), (Some(seq), prev.as_str()));
        match line["payload"].as_str() {
            Some(payload) => assert_eq!(digest(payload), of("payload_hash")),
            None => assert_eq!(seq, 4),
        }
        let at = line["at"].to_string();
        assert_eq!(link(&seq.to_string(), of("id"), &at, of("payload_hash"), of("prev")), of("hash"));
        of("hash").clone_into(&mut prev);
    }
    assert_eq!(prev, bed.store.audit_head().await.expect("readable").hash);
}

async fn who_reads_beside_a_bot_changes_nothing(bed: Bed) {
    five_rows(&bed).await;
    let reader =
        Store::open_for_reading(&bed.url, Some(Sealing::unguarded().key)).await.expect("a bot is no hindrance");
    assert_eq!(reader.verify_audit(None).await.expect("readable"), verified(&bed).await);
    let before = counts(&bed).await;
    let row = StepRecord { audit: vec![did("a-6", 6)], ..step("s-1", 6, Vec::new()) };
    assert!(reader.commit(&row).await.is_err(), "it cannot write");
    assert!(reader.sending("p-1").await.is_err(), "not even what would change nothing");
    assert_eq!(counts(&bed).await, before);
    reader.close().await;
    raw(&bed.url, "DROP TABLE audit_payloads").await;
    let error = Store::open_for_reading(&bed.url, Some(Sealing::unguarded().key))
        .await
        .expect_err("it is not whole")
        .to_string();
    let expected = "holds no audit trail (table audit_payloads is missing); \
                    name the bot's own database, or start this version of the bot on it once";
    assert!(error.ends_with(expected), "{error}");
}

async fn an_old_row_is_taken_over_once(bed: Bed) {
    five_rows(&bed).await;
    let old = |id: &str, at: i64| {
        format!(
            "INSERT INTO audit (id, at, signal, thread, platform, actor, what, gate, code, tool, action, target, detail) \
             VALUES ('{id}', {at}, 's-0', 's-0', 'console', '1000', 'called', '', '', 'host', 'load', 'host:web-1', 'old')"
        )
    };
    for (id, at) in [("o-3", 9), ("o-2", 8), ("o-1", 9)] {
        raw(&bed.url, &old(id, at)).await;
    }
    for _ in 0..2 {
        Store::open(&bed.url, &Sealing::unguarded()).await.expect("it opens").close().await;
        let tail = bed.store.audit_tail(9).await.expect("readable");
        let ids: Vec<&str> = tail.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["o-3", "o-1", "o-2", "a-5", "a-4", "a-3", "a-2", "a-1"], "in the order of time and id");
        assert_eq!(
            (tail[0].signal.as_str(), tail[0].detail.as_str(), tail[0].target.as_str()),
            ("s-0", "old", "host:web-1")
        );
        let report = verified(&bed).await;
        assert_eq!((report.rows, report.problem), (8, None));
    }
    assert_eq!(text(&bed.url, "SELECT CAST(COUNT(*) AS TEXT) FROM audit").await, "3", "they stay where they are");
}

#[test]
fn a_head_is_read_as_it_is_printed() {
    let head = format!("42:{}", "9f".repeat(32));
    let read: AuditHead = head.parse().expect("a head");
    assert_eq!((read.seq, read.to_string()), (42, head));
    let read: AuditHead = " 7:0123456789ABCDEF\n".parse().expect("16 digits, as somebody copied them");
    assert_eq!((read.seq, read.hash.as_str()), (7, "0123456789abcdef"));
    let long = format!("1:{}", "0".repeat(65));
    for bad in [
        "",
        "42",
        "42:",
        "42:0123456789abcde",
        "x:0123456789abcdef",
        "-1:0123456789abcdef",
        "1:0123456789abcdeg",
        &long,
    ] {
        assert!(bad.parse::<AuditHead>().is_err(), "{bad:?}");
    }
}

#[tokio::test]
async fn a_reader_of_a_database_that_is_not_ours_is_told_so() {
    let directory = TempDir::new().expect("a directory");
    let (missing, empty) = (directory.path().join("missing.db"), directory.path().join("empty.db"));
    std::fs::write(&empty, "").expect("writable");
    let mut said = Vec::new();
    for file in [&missing, &empty] {
        // A URL that asks for the file to be created does not get it either.
        let url = format!("{}?mode=rwc", sqlite_url(file).expect("UTF-8"));
        let error = Store::open_for_reading(&url, Some(Sealing::unguarded().key))
            .await
            .expect_err("there is no trail")
            .to_string();
        said.push(error.replace(&directory.path().display().to_string(), "HERE"));
    }
    insta::assert_snapshot!(said.join("\n"), @"
    the database HERE/missing.db does not exist; give the bot's --data and --config, or start the bot once
    the database HERE/empty.db holds no audit trail (table audit_chain is missing); name the bot's own database, or start this version of the bot on it once
    ");
    assert!(!missing.exists() && std::fs::read(&empty).expect("it is there").is_empty(), "nothing was created");
}
