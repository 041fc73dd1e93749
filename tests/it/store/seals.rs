//! Seals: who can write to the database and does not have the key changes nothing that counts. Every column of every table is
//! either sealed or listed here with why it decides nothing. On both engines.

use std::collections::BTreeSet;

use countersign::store::{
    Adopts, AuditRow, Face, LedgerChange, NewPost, Redraw, SealKey, Sealing, Settled, StepRecord, Store,
};
use countersign_core::approval::{Filed, PlanState};
use countersign_core::ledger::{Account, Key, Ledger, Link, Record};
use countersign_core::port::Lane;
use countersign_core::signal::{ActorId, EventId, Platform, Wall};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};

use super::plans::{change, desk_with, file, plan, shifted};
use super::votes::{taking, vote, voted};
use super::{Bed, Case, accepted, claimed, committed, did, on_postgres, on_sqlite, post, raw, step, thread};

const CASES: &[(&str, Case)] = cases![
    a_changed_byte_decides_nothing_and_is_named,
    a_forged_row_decides_nothing_and_is_named,
    what_is_sealed_is_read_back_whatever_becomes_of_it,
    a_trail_that_was_written_anew_is_not_continued,
    a_target_is_held_by_the_plan_that_is_under_way_whatever_the_row_says,
    a_database_is_opened_with_its_own_key,
    a_new_key_seals_what_is_sound_and_nothing_else,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_seals_holds_on_sqlite() {
    on_sqlite(CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_seals_holds_on_postgres() {
    on_postgres(CASES).await;
}

/// What is changed, column by column. A column stands here, or below with why not.
const SEALED: &[(&str, &[&str])] = &[
    (
        "plans",
        &[
            "id",
            "thread",
            "body",
            "digest",
            "target",
            "state",
            "code",
            "outcome",
            "decided",
            "over_at",
            "looks",
            "next_look",
            "version",
            "last_move",
            "requested_at",
            "expires_at",
            "reminded",
            "level",
            "withdrawn",
            "decide_by",
            "frozen_seal",
            "seal",
        ],
    ),
    ("votes", &["plan", "n", "person", "platform", "actor", "body", "seal"]),
    ("ledger", &["id", "version", "body", "last_change", "seal"]),
    ("inbox", &["id", "event", "body", "received_at", "seal"]),
    ("outbox", &["id", "signal", "thread", "place", "lane", "body", "plan", "seal", "platform_ids", "sent_seal"]),
    ("cards", &["plan", "body", "seal"]),
    ("audit_head", &["seq", "hash", "seal"]),
    ("seal_key", &["series", "changes", "sums"]),
    ("threads", &["platform", "account", "space", "conversation", "root"]),
];

/// What decides nothing by itself.
const OPEN: &[(&str, &[&str], &str)] = &[
    (
        "threads",
        &["id", "posts"],
        "they order messages; the names of the thread are sealed with its plans and messages",
    ),
    ("inbox", &["thread", "platform", "account"], "the signal's body says them, and is sealed"),
    ("inbox", &["state", "ending", "ended_at"], "a request that ended has no seal, so that it is not taken up again"),
    ("inbox", &["attempts", "interruptions", "set_aside_at"], "they say whether it is worked on, not what it says"),
    (
        "outbox",
        &["n", "state", "attempts", "repeat", "created_at", "not_before", "settled_at", "error"],
        "when it leaves",
    ),
    ("messages", &["platform", "account", "event", "post", "part"], "it finds a message, which says its own ids"),
    ("cards", &["version", "shown"], "whether a card is drawn again"),
    ("writes_in_flight", &["target", "plan"], "the plans say which of them are under way"),
    ("seal_key", &["one", "mark"], "a wrong one is refused at the start"),
    ("audit_head", &["one"], "it is always 1"),
    (
        "audit_chain",
        &["seq", "id", "at", "payload_hash", "prev", "hash"],
        "it is hashed up to the head, which is sealed",
    ),
    ("audit_payloads", &["id", "body"], "its hash is in the chain"),
    ("audit", &[], "the trail of the first version, in the chain by now"),
    ("refusals", &[], "counts"),
    ("refusals_written", &[], "counts"),
    ("usage_turns", &[], "what was used"),
    ("usage_days", &[], "what was used"),
    ("_sqlx_migrations", &[], "sqlx's own"),
];

/// Table and column of everything that is changed.
fn sealed() -> Vec<(&'static str, &'static str)> {
    SEALED.iter().flat_map(|(table, columns)| columns.iter().map(|column| (*table, *column))).collect()
}

async fn connection(bed: &Bed) -> AnyConnection {
    sqlx::any::install_default_drivers();
    AnyConnection::connect(&bed.url).await.expect("the database can be opened")
}

/// A bed with one of everything that is sealed.
async fn filled(bed: &Bed) -> (Filed, Filed) {
    accepted(bed, "s-1", "main", 1).await;
    accepted(bed, "s-2", "main", 2).await;
    let (waiting, under_way) = (taking(1, 3), plan(2, "host:web-2"));
    let (mut one, mut two) = (desk_with(&waiting), desk_with(&under_way));
    let mut voted = voted(&mut one, &waiting, vote("bob", "1001"));
    voted.to.decide_by = Some(Wall(9_500_000));
    let approve = shifted(&mut two, under_way.id(), PlanState::Approved);
    let begin = shifted(&mut two, under_way.id(), PlanState::Executing);
    let plans =
        vec![file(&waiting), file(&under_way), change("m-1", &voted), change("m-2", &approve), change("m-3", &begin)];
    let account = Account { platform: Platform::new("telegram"), id: ActorId::new("4711") };
    let link = Link::new("bob", "ann", Wall(1));
    let link = Ledger::default().put(Key::Link(account), Some(Record::Link(link)));
    let ledger = vec![LedgerChange { id: "k-1".to_owned(), change: Box::new(link) }];
    let card = NewPost { plan: Some(waiting.id().clone()), ..post("p-1", 0, thread("main"), Lane::Decision) };
    let posts = vec![card, post("p-2", 1, thread("main"), Lane::Answer)];
    let redraws = vec![Redraw { plan: waiting.id().clone(), body: "{\"face\":1}".to_owned() }];
    let audit: Vec<AuditRow> = vec![did("row 1", 1), did("row 2", 1)];
    let record = StepRecord { plans, ledger, posts, redraws, audit, ..step("s-1", 5, Vec::new()) };
    committed(bed, &record).await;
    claimed(bed, "p-1").await;
    let sent = Settled::Sent { platform_ids: vec!["7".to_owned(), "8".to_owned()] };
    bed.store.settle("p-1", &sent, Wall(9)).await.expect("it is being sent");
    (waiting, under_way)
}

/// Everything by which something is decided, as the store hands it out.
async fn read(store: &Store, of: &[&Filed]) -> BTreeSet<String> {
    let mut read = BTreeSet::new();
    for thread in store.threads_with_open_plans().await.unwrap_or_default() {
        let open = store.open_plans(&thread).await.expect("the others are readable");
        read.extend(open.filed.iter().map(|filed| format!("open {filed:?}")));
    }
    for filed in of {
        let filed = store.plan(filed.id()).await.ok().flatten();
        read.extend(filed.map(|filed| format!("plan {filed:?}")));
        let face = store.face_to_show(of[0].id()).await.ok().flatten();
        read.extend(face.map(|Face { body, .. }| format!("face {body}")));
    }
    let signals = store.unfinished().await.expect("the others are readable").sound;
    read.extend(signals.iter().map(|left| format!("signal {:?}", left.signal)));
    let posts = store.open_posts().await.expect("the others are readable").sound;
    read.extend(posts.iter().map(|post| format!("post {post:?}")));
    let ledger = store.ledger().await.expect("the others are readable").ledger;
    read.extend(ledger.links().map(|link| format!("link {link:?}")));
    let near = thread("main");
    for event in ["6", "7", "8", "9"] {
        let touched = store.touched_message(&near, &EventId::new(event)).await.ok().flatten();
        read.extend(touched.map(|touched| format!("touched {event} {touched:?}")));
    }
    for id in ["p-1", "p-2"] {
        let touched = store.touched_post(&near, id).await.ok().flatten();
        read.extend(touched.map(|touched| format!("pressed {id} {touched:?}")));
    }
    read
}

/// The names of the rows whose seal is broken, and what a look at everything says.
async fn named(store: &Store) -> Vec<String> {
    let mut named: Vec<String> =
        store.broken_rows().await.expect("readable").into_iter().map(|row| row.problem).collect();
    for thread in store.threads_with_open_plans().await.unwrap_or_default() {
        let open = store.open_plans(&thread).await.expect("the others are readable");
        named.extend(open.broken.into_iter().map(|row| row.problem));
    }
    named.extend(store.open_posts().await.expect("readable").broken.into_iter().map(|row| row.problem));
    named
}

/// A value with one byte changed, as SQL; none where there is nothing to change.
fn changed(value: &str, is_number: bool, chance: u64) -> Option<String> {
    if is_number {
        return Some(value.parse::<i64>().ok()?.wrapping_add(1_000_003).to_string());
    }
    let at = usize::try_from(chance).ok()?.checked_rem(value.chars().count())?;
    let text: String = value
        .chars()
        .enumerate()
        .map(|(n, c)| match c {
            'a' if n == at => 'b',
            _ if n == at => 'a',
            _ => c,
        })
        .collect();
    Some(format!("'{}'", text.replace('\'', "''")))
}

/// The rows of a table: each column's value as text, and whether it is a number.
async fn values(connection: &mut AnyConnection, table: &str, column: &str) -> Vec<(String, bool)> {
    let sql = format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY 1");
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(connection).await.expect("readable");
    rows.iter()
        .map(|row| match row.try_get::<i64, _>(0) {
            Ok(number) => (number.to_string(), true),
            Err(_) => (row.get::<String, _>(0), false),
        })
        .collect()
}

async fn a_changed_byte_decides_nothing_and_is_named(bed: Bed) {
    let (waiting, under_way) = filled(&bed).await;
    let plans = [&waiting, &under_way];
    let sound = read(&bed.store, &plans).await;
    assert_eq!(sound.len(), 12, "there is something of each kind to forge: {sound:#?}");
    assert_eq!(named(&bed.store).await, Vec::<String>::new());
    let mut connection = connection(&bed).await;
    let (mut tried, mut refused) = (0, 0);
    for (table, column) in sealed() {
        for (value, is_number) in values(&mut connection, table, column).await {
            // A message that is not out has no ids yet, and those that stand there are not read.
            if value == "[]" {
                continue;
            }
            let literal = if is_number { value.clone() } else { format!("'{}'", value.replace('\'', "''")) };
            let Some(forged) = changed(&value, is_number, fastrand::u64(..)) else { continue };
            let set = |from: &str, to: &str| {
                AssertSqlSafe(format!("UPDATE {table} SET {column} = {to} WHERE {column} = {from}"))
            };
            // Where a value is several rows' one, all are changed.
            if sqlx::query(set(&literal, &forged)).execute(&mut connection).await.is_err() {
                refused += 1;
                continue;
            }
            tried += 1;
            let now = read(&bed.store, &plans).await;
            let new: Vec<&String> = now.difference(&sound).collect();
            assert!(new.is_empty(), "{table}.{column} from {literal} to {forged}: {new:#?}");
            let named = named(&bed.store).await;
            assert!(!named.is_empty(), "{table}.{column} from {literal} to {forged} is not named");
            sqlx::query(set(&forged, &literal)).execute(&mut connection).await.expect("it was possible before");
            assert_eq!(read(&bed.store, &plans).await, sound, "{table}.{column} is as before");
        }
    }
    // What the database itself does not allow is no way in.
    assert!(tried > 60 && refused < 25, "{tried} tried, {refused} refused");
}

/// Every column is sealed, or listed with why not.
async fn columns(bed: &Bed) -> BTreeSet<(String, String)> {
    let sql = if bed.url.starts_with("sqlite:") {
        "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table'"
    } else {
        "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT) FROM information_schema.columns \
         WHERE table_schema = current_schema()"
    };
    let rows = sqlx::query(sql).fetch_all(&mut connection(bed).await).await.expect("readable");
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn what_is_sealed_is_read_back_whatever_becomes_of_it(bed: Bed) {
    let all = columns(&bed).await;
    let is_listed = |(table, column): &(String, String)| {
        let sealed = SEALED.iter().any(|(of, columns)| of == table && columns.contains(&column.as_str()));
        let open = OPEN
            .iter()
            .any(|(of, columns, _)| of == table && (columns.is_empty() || columns.contains(&column.as_str())));
        sealed != open
    };
    let unknown: Vec<_> = all.iter().filter(|column| !is_listed(column)).collect();
    assert!(unknown.is_empty(), "neither sealed nor listed with why not, or both: {unknown:?}");
    for (table, column) in sealed() {
        assert!(all.contains(&(table.to_owned(), column.to_owned())), "{table}.{column} is no column");
    }
}

/// Whole rows that nobody with the key wrote.
async fn a_forged_row_decides_nothing_and_is_named(bed: Bed) {
    let (waiting, under_way) = filled(&bed).await;
    let plans = [&waiting, &under_way];
    let sound = read(&bed.store, &plans).await;
    let (one, two) = (waiting.id().to_string(), under_way.id().to_string());
    let decided = format!("(SELECT decided FROM plans WHERE id = '{two}')");
    let forgeries = [
        // As approved by whoever approved another plan, with or without that one's seal.
        (format!("UPDATE plans SET state = 'approved', decided = {decided} WHERE id = '{one}'"), "column seal"),
        (
            format!(
                "UPDATE plans SET state = 'approved', decided = {decided}, version = 1, last_move = 'm-2', \
                 seal = (SELECT seal FROM plans WHERE id = '{two}') WHERE id = '{one}'"
            ),
            "column seal",
        ),
        // The votes that are missing.
        (
            format!(
                "INSERT INTO votes (plan, n, person, platform, actor, body, seal) SELECT plan, 1, 'carol', platform, \
                 actor, REPLACE(body, 'bob', 'carol'), seal FROM votes WHERE plan = '{one}'"
            ),
            "table votes, column vote_seal",
        ),
        // Another account of the same person.
        (
            "INSERT INTO ledger (id, version, body, last_change, seal) \
             SELECT REPLACE(id, '4711', '4712'), version, body, last_change, seal FROM ledger"
                .to_owned(),
            "table ledger, column seal",
        ),
        // What somebody is said to have said.
        (
            "INSERT INTO inbox (id, thread, platform, account, event, body, state, attempts, received_at, seal) \
             SELECT 's-9', thread, platform, account, 'event 9', REPLACE(body, 's-2', 's-9'), state, 0, received_at, \
             seal FROM inbox WHERE id = 's-2'"
                .to_owned(),
            "table inbox, column seal, row s-9",
        ),
        // A card's message under another one's name, so that a reaction to that one decides.
        ("UPDATE outbox SET platform_ids = '[\"7\",\"9\"]' WHERE id = 'p-1'".to_owned(), "column sent_seal, row p-1"),
        (
            "INSERT INTO messages (platform, account, event, post, part) VALUES ('console', 'local', '9', 'p-1', 2)"
                .to_owned(),
            "column sent_seal, row p-1",
        ),
    ];
    for (forgery, name) in &forgeries {
        raw(&bed.url, forgery).await;
        let now = read(&bed.store, &plans).await;
        let new: Vec<&String> = now.difference(&sound).collect();
        assert!(new.is_empty(), "{forgery}: {new:#?}");
        let named = named(&bed.store).await;
        assert!(named.iter().any(|row| row.contains(name)), "{forgery} is not named: {named:#?}");
    }
}

/// The chain of hashes has no key: whoever rewrites it can rewrite all of it, but not the seal of its head.
async fn a_trail_that_was_written_anew_is_not_continued(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    committed(&bed, &StepRecord { audit: vec![did("row 1", 1)], ..step("s-1", 5, Vec::new()) }).await;
    raw(&bed.url, "DELETE FROM audit_chain; DELETE FROM audit_payloads").await;
    let none = "0".repeat(64);
    raw(&bed.url, &format!("UPDATE audit_head SET seq = 0, hash = '{none}'")).await;
    let report = bed.store.verify_audit(None).await.expect("readable");
    assert!(report.problem.is_none(), "by its hashes alone it is whole: {report:?}");
    let next = StepRecord { audit: vec![did("row 2", 1)], ..step("s-1", 6, Vec::new()) };
    let error = bed.store.commit(&next).await.expect_err("it is another trail").to_string();
    assert!(error.contains("table audit_head, column seal, row head: it was not written by this bot"), "{error}");
}

async fn a_target_is_held_by_the_plan_that_is_under_way_whatever_the_row_says(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let (first, second) = (plan(1, "host:web-1"), plan(2, "host:web-1"));
    let (mut one, mut two) = (desk_with(&first), desk_with(&second));
    let begin = |desk, filed: &Filed| {
        let desk: &mut countersign_core::approval::Desk = desk;
        [PlanState::Approved, PlanState::Executing].map(|state| shifted(desk, filed.id(), state))
    };
    let [approve, start] = begin(&mut one, &first);
    let plans = vec![file(&first), file(&second), change("m-1", &approve), change("m-2", &start)];
    committed(&bed, &StepRecord { plans, ..step("s-1", 5, Vec::new()) }).await;
    raw(&bed.url, "DELETE FROM writes_in_flight").await;
    let [approve, start] = begin(&mut two, &second);
    let plans = vec![change("m-3", &approve), change("m-4", &start)];
    let record = StepRecord { plans, ..step("s-1", 6, Vec::new()) };
    match bed.store.commit(&record).await.expect("the database works") {
        countersign::store::Committed::Held { by, .. } => assert_eq!(by, *first.id()),
        other => panic!("two changes of one target at a time: {other:?}"),
    }
}

async fn opened(bed: &Bed, key: &SealKey, adopts: Adopts) -> Result<(), String> {
    let opened = Store::open(&bed.url, &Sealing { key: key.clone(), adopts, newest: None }).await;
    match opened {
        Ok(store) => {
            store.close().await;
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

async fn a_database_is_opened_with_its_own_key(bed: Bed) {
    let other = SealKey::new(std::array::from_fn(|_| fastrand::u8(..)));
    let own = Sealing::unguarded().key;
    filled(&bed).await;
    for adopts in [Adopts::Unsealed, Adopts::Nothing] {
        let error = opened(&bed, &other, adopts).await.expect_err("it is another key");
        assert!(error.contains("is sealed with another key; give the key that belongs to it"), "{error}");
    }
    opened(&bed, &own, Adopts::Nothing).await.expect("it is its own");
    raw(&bed.url, "DELETE FROM seal_key").await;
    let error = opened(&bed, &own, Adopts::Nothing).await.expect_err("its mark was taken away");
    assert!(error.contains("has rows that are not sealed; restore a backup, or accept them"), "{error}");
    opened(&bed, &other, Adopts::Everything).await.expect("an administrator says so");
    let key = Some(other.clone());
    let reader = Store::open_for_reading(&bed.url, key).await.expect("it can be read");
    assert!(reader.broken_rows().await.expect("readable").is_empty());
    reader.close().await;
}

async fn a_new_key_seals_what_is_sound_and_nothing_else(bed: Bed) {
    let (waiting, under_way) = filled(&bed).await;
    raw(&bed.url, &format!("UPDATE plans SET looks = 7 WHERE id = '{}'", under_way.id())).await;
    let new = SealKey::new(std::array::from_fn(|_| fastrand::u8(..)));
    bed.store.change_seal_key(&new).await.expect("it can be written");
    let store = Store::open(&bed.url, &Sealing { key: new, adopts: Adopts::Nothing, newest: None })
        .await
        .expect("it is its key now");
    assert!(store.plan(waiting.id()).await.expect("it was sound").is_some());
    let error = store.plan(under_way.id()).await.expect_err("it was not").to_string();
    assert!(error.contains("table plans, column seal"), "{error}");
    assert_eq!(store.broken_rows().await.expect("readable").len(), 1);
    store.close().await;
}
