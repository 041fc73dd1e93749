//! Older rows: who can write to the database cannot bring back what was, neither a row nor the whole, nor take one away, nor have
//! the database itself write along. On both engines.

use std::collections::BTreeSet;

use countersign::store::{Adopts, Committed, LedgerChange, SealKey, Sealing, StepRecord, Store, sqlite_url};
use countersign_core::approval::{Filed, PlanState};
use countersign_core::ledger::{Account, Key, Ledger, Link, Record};
use countersign_core::signal::{ActorId, Platform, SignalId, Wall};
use tempfile::TempDir;

use super::plans::{change, desk_with, file, plan, shifted};
use super::votes::{taking, vote, voted};
use super::{Bed, Case, accepted, committed, did, on_postgres, on_sqlite, raw, step};
use countersign::store::Ending;

const CASES: &[(&str, Case)] = cases![
    what_was_is_not_brought_back,
    a_row_that_was_changed_takes_no_other_rows_place,
    what_has_ended_is_not_read_before_a_change,
    a_seal_that_was_taken_off_before_a_change_is_noticed_with_it,
    the_database_does_not_write_along,
    two_bots_with_one_key_write_in_turns,
    a_bot_that_was_away_takes_the_newest_rows,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_older_rows_holds_on_sqlite() {
    on_sqlite(CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_older_rows_holds_on_postgres() {
    on_postgres(CASES).await;
}

/// The tables of which nothing can be brought back.
const TABLES: [&str; 5] = ["plans", "votes", "ledger", "inbox", "audit_head"];

fn link(person: Option<&str>, before: &Ledger) -> LedgerChange {
    let account = Account { platform: Platform::new("telegram"), id: ActorId::new("4711") };
    let record = person.map(|person| Record::Link(Link::new(person, "ann", Wall(1))));
    LedgerChange { id: format!("k-{}", fastrand::u64(..)), change: Box::new(before.put(Key::Link(account), record)) }
}

/// A step that begins to carry out a plan that is filed as approved.
fn beginning(filed: &Filed, id: &str) -> StepRecord {
    let mut desk = desk_with(filed);
    let approve = shifted(&mut desk, filed.id(), PlanState::Approved);
    let begin = shifted(&mut desk, filed.id(), PlanState::Executing);
    let (one, two) = (format!("{id}-1"), format!("{id}-2"));
    StepRecord { plans: vec![change(&one, &approve), change(&two, &begin)], ..step("s-1", 6, Vec::new()) }
}

async fn opened(url: &str) -> Result<(), String> {
    match Store::open(url, &Sealing::unguarded()).await {
        Ok(store) => {
            store.close().await;
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

fn updated(table: &str, from: &str, columns: &str) -> String {
    format!("UPDATE {table} SET ({columns}) = (SELECT {columns} FROM {from}_{table} AS o WHERE o.id = {table}.id)")
}

async fn what_was_is_not_brought_back(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    accepted(&bed, "s-2", "main", 2).await;
    let (voted_on, to_do) = (taking(1, 3), plan(2, "host:web-2"));
    let mut one = desk_with(&voted_on);
    let first = voted(&mut one, &voted_on, vote("bob", "1001"));
    let plans = vec![file(&voted_on), file(&to_do), change("m-1", &first)];
    let ledger = vec![link(Some("bob"), &Ledger::default())];
    committed(&bed, &StepRecord { plans, ledger, audit: vec![did("row 1", 1)], ..step("s-1", 5, Vec::new()) }).await;
    for table in TABLES {
        raw(&bed.url, &format!("CREATE TABLE older_{table} AS SELECT * FROM {table}")).await;
    }
    // One more vote, the link taken back, a request that ends, and the trail goes on.
    let second = voted(&mut one, &voted_on, vote("eve", "1002"));
    let before = bed.store.ledger().await.expect("readable").ledger;
    let on = StepRecord {
        signal: SignalId::new("s-2"),
        plans: vec![change("m-2", &second)],
        ledger: vec![link(None, &before)],
        audit: vec![did("row 2", 2)],
        ending: Some(Ending::Answered),
        ..step("s-2", 6, Vec::new())
    };
    committed(&bed, &on).await;
    let put = |table: &str, from: &str| match table {
        "plans" => updated(table, from, "version, last_move, decided, seal"),
        "inbox" => updated(table, from, "state, ending, ended_at, body, seal"),
        _ => format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM {from}_{table}"),
    };
    for table in TABLES {
        raw(&bed.url, &format!("CREATE TABLE newest_{table} AS SELECT * FROM {table}")).await;
        // Of a plan or a signal that others mention, what counts is its seal.
        let gone = match table {
            "plans" | "inbox" => format!("UPDATE {table} SET seal = ''"),
            _ => format!("DELETE FROM {table}"),
        };
        for change in [put(table, "older"), gone] {
            raw(&bed.url, &change).await;
            let refused = opened(&bed.url).await.expect_err("it is not what was written");
            let (rows, others) = refused.split_once(" were changed, removed or put back").unwrap_or_default();
            assert!(
                rows.contains("was changed by another program: rows of ") && rows.contains(table) && !others.is_empty(),
                "{change}: {refused}"
            );
            let named: Vec<String> =
                bed.store.broken_rows().await.expect("readable").into_iter().map(|row| row.problem).collect();
            assert!(
                named.iter().any(|problem| problem.contains(&format!("rows of table {table} were changed"))),
                "{change}: {named:?}"
            );
            let begun = bed.store.commit(&beginning(&to_do, "m-3")).await;
            // A plan that is gone cannot begin.
            assert!(begun.is_err(), "{change}: {begun:?}");
            raw(&bed.url, &put(table, "newest")).await;
        }
    }
    assert!(!bed.store.is_in_place(), "it has seen what happened");
    opened(&bed.url).await.expect("everything is as it was");
    committed(&bed, &beginning(&to_do, "m-4")).await;
}

/// Each hides a plan under way, a vote, a link or a signal, and leaves every seal where a sum over seals alone would find it.
async fn a_row_that_was_changed_takes_no_other_rows_place(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    accepted(&bed, "s-2", "main", 2).await;
    accepted(&bed, "t-9", "other", 9).await;
    let (under_way, ended) = (plan(1, "host:web-1"), plan(2, "host:web-2"));
    let (to_do, voted_on, elsewhere) = (plan(3, "host:web-1"), taking(4, 3), plan(5, "host:web-5"));
    let mut voters = desk_with(&voted_on);
    let vote = voted(&mut voters, &voted_on, vote("bob", "1001"));
    let mut desk = desk_with(&ended);
    let denied = shifted(&mut desk, ended.id(), PlanState::Denied);
    let filed = [&under_way, &ended, &to_do, &voted_on, &elsewhere].map(file);
    let plans = filed.into_iter().chain([change("m-1", &denied), change("m-2", &vote)]).collect();
    let ledger = vec![link(Some("bob"), &Ledger::default())];
    committed(&bed, &StepRecord { plans, ledger, ..step("s-1", 5, Vec::new()) }).await;
    committed(&bed, &beginning(&under_way, "m-3")).await;
    let (one, two, four) = (under_way.id(), ended.id(), voted_on.id());
    let hidden = [
        ("plans", format!("UPDATE plans SET state = 'verified', outcome = 'as_expected' WHERE id = '{one}'")),
        ("plans", format!("UPDATE plans SET state = 'pending' WHERE id = '{one}'")),
        ("plans", format!("UPDATE plans SET target = 'host:web-9' WHERE id = '{one}'")),
        ("plans", format!("UPDATE plans SET body = REPLACE(body, 'sleep', 'sheep') WHERE id = '{one}'")),
        ("plans", format!("UPDATE plans SET thread = 't-9' WHERE id = '{one}'")),
        (
            "plans",
            format!(
                "UPDATE plans SET seal = (SELECT seal FROM plans WHERE id = '{one}'), state = 'pending' WHERE id = '{two}'; \
                 UPDATE plans SET state = 'failed', seal = '' WHERE id = '{one}'"
            ),
        ),
        (
            "votes",
            format!(
                "UPDATE votes SET plan = '{two}' WHERE plan = '{four}'; UPDATE plans SET state = 'pending' WHERE id = '{two}'"
            ),
        ),
        ("ledger", "UPDATE ledger SET id = REPLACE(id, '4711', '4712')".to_owned()),
        ("inbox", "UPDATE inbox SET body = REPLACE(body, 's-2', 's-9') WHERE id = 's-2'".to_owned()),
        ("inbox", "UPDATE inbox SET state = 'done', ending = 'answered', ended_at = 2 WHERE id = 's-2'".to_owned()),
    ];
    let tables = ["plans", "votes", "ledger", "inbox"];
    for table in tables {
        raw(&bed.url, &format!("CREATE TABLE newest_{table} AS SELECT * FROM {table}")).await;
    }
    for (table, hide) in hidden {
        raw(&bed.url, "DELETE FROM writes_in_flight").await;
        raw(&bed.url, &hide).await;
        // A plan of which only this was changed keeps its target all the same.
        let keeps_target = hide.contains("SET body") || hide.contains("SET thread");
        let next = if table == "plans" && !keeps_target { &to_do } else { &elsewhere };
        let begun = bed.store.commit(&beginning(next, "m-4")).await;
        let error = begun.expect_err("a row is not the one that was written").to_string();
        assert!(error.contains("was changed by another program: rows of") && error.contains(table), "{hide}: {error}");
        let refused = opened(&bed.url).await.expect_err("a row is not the one that was written");
        assert!(refused.contains(table), "{hide}: {refused}");
        raw(&bed.url, "DELETE FROM votes; DELETE FROM ledger; INSERT INTO ledger SELECT * FROM newest_ledger").await;
        raw(&bed.url, &updated("plans", "newest", "state, outcome, target, body, thread, seal")).await;
        raw(&bed.url, &updated("inbox", "newest", "state, ending, ended_at, body")).await;
        raw(&bed.url, "INSERT INTO votes SELECT * FROM newest_votes").await;
        opened(&bed.url).await.unwrap_or_else(|problem| panic!("{hide}: everything is as it was: {problem}"));
    }
    // With every row in its place, it is the plan under way that stands against the other one.
    raw(&bed.url, "DELETE FROM writes_in_flight").await;
    match bed.store.commit(&beginning(&to_do, "m-5")).await.expect("the database works") {
        Committed::Held { by, .. } => assert_eq!(by, *under_way.id()),
        other => panic!("two changes of one target at a time: {other:?}"),
    }
}

/// A plan that has ended decides nothing, and neither do its votes: a change is not held up by what they say, and `audit verify`
/// names them.
async fn what_has_ended_is_not_read_before_a_change(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let (ended, to_do) = (taking(1, 3), plan(2, "host:web-2"));
    let mut desk = desk_with(&ended);
    let vote = voted(&mut desk, &ended, vote("bob", "1001"));
    let denied = shifted(&mut desk, ended.id(), PlanState::Denied);
    let plans = vec![file(&ended), file(&to_do), change("m-1", &vote), change("m-2", &denied)];
    committed(&bed, &StepRecord { plans, ..step("s-1", 5, Vec::new()) }).await;
    raw(&bed.url, "UPDATE votes SET person = 'eve'; UPDATE plans SET looks = 7 WHERE state = 'denied'").await;
    opened(&bed.url).await.expect("what decides something is sound");
    committed(&bed, &beginning(&to_do, "m-3")).await;
    let named: BTreeSet<&str> =
        bed.store.broken_rows().await.expect("readable").into_iter().map(|row| row.table).collect();
    assert_eq!(named, BTreeSet::from(["plans", "votes"]));
}

/// A seal that is missing when its row is changed must not stay behind in the sum, where the older row would fit again.
async fn a_seal_that_was_taken_off_before_a_change_is_noticed_with_it(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let (waiting, voted_on) = (plan(1, "host:web-1"), taking(2, 3));
    let mut voters = desk_with(&voted_on);
    let vote = voted(&mut voters, &voted_on, vote("bob", "1001"));
    let plans = vec![file(&waiting), file(&voted_on), change("m-1", &vote)];
    let ledger = vec![link(Some("bob"), &Ledger::default())];
    committed(&bed, &StepRecord { plans, ledger, ..step("s-1", 5, Vec::new()) }).await;
    let deny = |filed: &Filed| change("m-2", &shifted(&mut desk_with(filed), filed.id(), PlanState::Denied));
    let before = bed.store.ledger().await.expect("readable").ledger;
    let no_votes = change("m-3", &shifted(&mut voters, voted_on.id(), PlanState::Denied));
    let unlinked = vec![link(None, &before)];
    let changes = [
        ("plans", StepRecord { plans: vec![deny(&waiting)], ..step("s-1", 6, Vec::new()) }),
        ("votes", StepRecord { plans: vec![no_votes], ..step("s-1", 6, Vec::new()) }),
        ("ledger", StepRecord { ledger: unlinked, ..step("s-1", 6, Vec::new()) }),
        ("inbox", StepRecord { ending: Some(Ending::Answered), ..step("s-1", 6, Vec::new()) }),
    ];
    for (table, record) in changes {
        raw(&bed.url, &format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}; UPDATE {table} SET seal = ''"))
            .await;
        let error = bed.store.commit(&record).await.expect_err("the row is not the one that was written").to_string();
        assert!(
            error.contains("was changed by another program: rows of ") && error.contains(table),
            "{table}: {error}"
        );
        let back = match table {
            "votes" => "DELETE FROM votes; INSERT INTO votes SELECT * FROM kept_votes".to_owned(),
            _ => updated(table, "kept", "seal"),
        };
        raw(&bed.url, &back).await;
        opened(&bed.url).await.expect("everything is as it was");
    }
}

async fn the_database_does_not_write_along(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let to_do = plan(2, "host:web-2");
    committed(&bed, &StepRecord { plans: vec![file(&to_do)], ..step("s-1", 5, Vec::new()) }).await;
    let (make, remove) = if bed.url.starts_with("sqlite:") {
        let make = "CREATE TRIGGER along AFTER UPDATE ON plans BEGIN DELETE FROM audit_payloads; END";
        (make, "DROP TRIGGER along")
    } else {
        let make = "CREATE FUNCTION along() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; \
                    CREATE TRIGGER along BEFORE UPDATE ON plans FOR EACH ROW EXECUTE FUNCTION along()";
        (make, "DROP TRIGGER along ON plans")
    };
    raw(&bed.url, make).await;
    let begun = bed.store.commit(&beginning(&to_do, "m-1")).await.expect_err("a trigger is there").to_string();
    assert!(begun.contains("has a trigger along, which the bot did not make; remove it"), "{begun}");
    let refused = opened(&bed.url).await.expect_err("a trigger is there");
    assert!(refused.contains("has a trigger along, which the bot did not make; remove it"), "{refused}");
    raw(&bed.url, remove).await;
    if !bed.url.starts_with("sqlite:") {
        raw(&bed.url, "ALTER TABLE plans ENABLE ROW LEVEL SECURITY").await;
        let refused = opened(&bed.url).await.expect_err("rows may be hidden");
        assert!(refused.contains("has a policy that hides rows of plans, which the bot did not make"), "{refused}");
        raw(&bed.url, "ALTER TABLE plans DISABLE ROW LEVEL SECURITY").await;
    }
    // Names have no case here.
    let (in_place, back) = if bed.url.starts_with("sqlite:") {
        ("CREATE VIEW VOTES AS SELECT * FROM kept", "DROP VIEW VOTES")
    } else {
        ("CREATE VIEW votes AS SELECT * FROM kept", "DROP VIEW votes")
    };
    raw(&bed.url, &format!("ALTER TABLE votes RENAME TO kept; {in_place}")).await;
    let refused = opened(&bed.url).await.expect_err("a view is there").to_lowercase();
    assert!(refused.contains("has a view votes, which the bot did not make"), "{refused}");
    raw(&bed.url, &format!("{back}; ALTER TABLE kept RENAME TO votes")).await;
    opened(&bed.url).await.expect("it is gone");
    committed(&bed, &beginning(&to_do, "m-2")).await;
}

async fn two_bots_with_one_key_write_in_turns(bed: Bed) {
    let other = Store::open(&bed.url, &Sealing::unguarded()).await.expect("it opens a second time");
    let other = Bed { url: bed.url.clone(), store: other };
    for n in 0..6 {
        let (one, two) = if n % 2 == 0 { (&bed, &other) } else { (&other, &bed) };
        accepted(one, &format!("s-{n}"), "main", n).await;
        let record = StepRecord {
            audit: vec![did(&format!("row {n}"), n)],
            ending: Some(Ending::Answered),
            ..step(&format!("s-{n}"), n, Vec::new())
        };
        committed(two, &record).await;
    }
    let (one, two) = (plan(1, "host:web-1"), plan(2, "host:web-2"));
    accepted(&bed, "s-1x", "main", 9).await;
    committed(&other, &StepRecord { plans: vec![file(&one), file(&two)], ..step("s-1", 9, Vec::new()) }).await;
    let (first, second) = (beginning(&one, "m-1"), beginning(&two, "m-2"));
    let (first, second) = tokio::join!(bed.store.commit(&first), other.store.commit(&second));
    first.expect("the database works");
    second.expect("the database works");
    other.store.close().await;
    opened(&bed.url).await.expect("everything is sound");
}

/// A commit of which nobody knows whether it was made leaves the sums to be read again.
async fn a_bot_that_was_away_takes_the_newest_rows(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let other = Store::open(&bed.url, &Sealing::unguarded()).await.expect("it opens a second time");
    let older = "UPDATE seal_key SET changes = changes - 1";
    accepted(&Bed { url: bed.url.clone(), store: other.clone() }, "s-2", "main", 2).await;
    other.close().await;
    raw(&bed.url, older).await;
    let error = bed.store.accept(&super::signal("s-3", super::thread("main"), 3)).await;
    let error = error.expect_err("the number of changes is not the one of these rows").to_string();
    assert!(error.contains("was changed by another program"), "{error}");
    raw(&bed.url, "UPDATE seal_key SET changes = changes + 1").await;
    accepted(&bed, "s-3", "main", 3).await;
}

#[tokio::test]
async fn an_older_copy_of_the_database_is_refused() {
    let directory = TempDir::new().expect("a directory");
    let (database, copy) = (directory.path().join("own.db"), directory.path().join("copy.db"));
    let url = sqlite_url(&database).expect("UTF-8");
    let key = SealKey::new(std::array::from_fn(|_| fastrand::u8(..)));
    let newest = Some(directory.path().join("seal.newest"));
    let open = async |adopts| Store::open(&url, &Sealing { key: key.clone(), adopts, newest: newest.clone() }).await;
    let write = async |store: Store, signal: &str, n: u128| {
        let bed = Bed { url: url.clone(), store };
        accepted(&bed, signal, "main", 1).await;
        let plans = vec![file(&plan(n, &format!("host:web-{n}")))];
        committed(&bed, &StepRecord { plans, ..step(signal, 5, Vec::new()) }).await;
        bed.store.close().await;
    };
    write(open(Adopts::Nothing).await.expect("a new database"), "s-1", 1).await;
    std::fs::copy(&database, &copy).expect("it can be copied");
    write(open(Adopts::Nothing).await.expect("it is the newest"), "s-2", 2).await;
    let put_back = |file: &std::path::Path| {
        for log in ["own.db-wal", "own.db-shm"] {
            let _ = std::fs::remove_file(directory.path().join(log));
        }
        std::fs::copy(file, &database).expect("it can be copied");
    };
    let own = directory.path().join("newest.db");
    std::fs::copy(&database, &own).expect("it can be copied");
    put_back(&copy);
    let refused = open(Adopts::Nothing).await.expect_err("it is older").to_string();
    assert!(
        refused.contains("is older than what the bot wrote last, or another one; give the newest one"),
        "{refused}"
    );
    let reader = Store::open_for_reading(&url, Some(key.clone())).await.expect("it can be read");
    assert!(reader.is_older_than(&directory.path().join("seal.newest")).await.expect("readable"));
    reader.close().await;
    // One that was emptied is no new one, and leaves the file as it is.
    std::fs::write(directory.path().join("empty.db"), "").expect("it can be written");
    put_back(&directory.path().join("empty.db"));
    let refused = open(Adopts::Unsealed).await.expect_err("it is empty").to_string();
    assert!(refused.contains("is older than what the bot wrote last"), "{refused}");
    put_back(&own);
    open(Adopts::Nothing).await.expect("it is still the newest").close().await;
    put_back(&copy);
    open(Adopts::Everything).await.expect("an administrator says so").close().await;
    open(Adopts::Nothing).await.expect("it is the one in force").close().await;
    // From here on the other one is not in force.
    put_back(&own);
    let refused = open(Adopts::Nothing).await.expect_err("it is another one").to_string();
    assert!(refused.contains("is older than what the bot wrote last"), "{refused}");
}
