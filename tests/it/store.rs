//! The store, on real databases: one suite of cases, run on `SQLite` and on Postgres alike; then the migrations, and
//! what only a file can get wrong. No mock and no SQL of the store's own is repeated here.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Command;
use std::sync::Arc;

use countersign::store::{
    AuditRow, Committed, Counts, Ending, NewPost, Sealing, Settled, StepRecord, Store, StoreError, StoredPost, What,
    migrations, sqlite_url,
};
use countersign_core::approval::Digest;
use countersign_core::envelope::Code;
use countersign_core::port::Lane;
use countersign_core::signal::{
    AccountId, Actor, ActorId, ActorKind, Addressed, Assurance, ConversationId, ConversationKind, EventId, Ground,
    Payload, Platform, Signal, SignalId, SpaceId, ThreadKey, ThreadRoot, Wall,
};
use sqlx::migrate::{MigrationType, Migrator};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, SqlSafeStr};
use tempfile::TempDir;

use crate::support::postgres::Postgres;

/// A fresh database with an open store.
struct Bed {
    url: String,
    store: Store,
}

type Case = fn(Bed) -> Pin<Box<dyn Future<Output = ()> + Send>>;

macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        &[$((stringify!($name), |bed| Box::pin($name(bed)))),+]
    };
}

mod audit;
mod durability;
mod full;
mod ledger;
mod messages;
mod older;
mod plans;
mod seals;
mod trouble;
mod votes;
mod usage;

const CASES: &[(&str, Case)] = cases![
    an_event_is_accepted_once,
    an_event_that_arrives_many_times_at_once_is_accepted_once,
    threads_are_told_apart_by_all_five_parts,
    messages_of_a_thread_leave_in_order,
    a_message_that_is_sent_again_keeps_its_place,
    decisions_leave_before_answers,
    a_crash_while_sending_is_marked_as_a_repeat,
    a_doubt_stays_until_it_is_sent,
    only_what_is_being_sent_can_be_settled,
    a_step_is_stored_whole_or_not_at_all,
    a_step_twice_changes_nothing,
    a_request_ends_once,
    unfinished_requests_come_back_oldest_first,
    what_was_begun_when_the_process_ended_is_counted_and_set_aside,
    one_of_many_senders_wins,
    a_repeated_refusal_is_counted,
    a_different_refusal_is_written_and_a_flood_is_counted,
    a_flood_from_many_sides_is_written_up_to_the_limit,
    untrusted_text_is_stored_whatever_it_holds,
    a_rotten_row_is_named,
    an_unknown_migration_is_refused,
    a_changed_migration_is_refused,
    a_foreign_database_is_left_alone,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_holds_on_sqlite() {
    on_sqlite(CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_holds_on_postgres() {
    on_postgres(CASES).await;
}

async fn on_sqlite(cases: &[(&str, Case)]) {
    let directory = TempDir::new().expect("a directory");
    let mut urls = Vec::new();
    for (name, _) in cases {
        urls.push(sqlite_url(&directory.path().join(format!("{name}.db"))).expect("the path is UTF-8"));
    }
    run_all(cases, urls).await;
}

async fn on_postgres(cases: &[(&str, Case)]) {
    let postgres = Postgres::shared().unwrap_or_else(|sentence| panic!("{sentence}"));
    let mut urls = Vec::new();
    for _ in cases {
        urls.push(postgres.fresh_database().await);
    }
    run_all(cases, urls).await;
}

async fn run_all(cases: &[(&str, Case)], urls: Vec<String>) {
    let mut failed = Vec::new();
    for ((name, case), url) in cases.iter().zip(urls) {
        let store = Store::open(&url, &Sealing::unguarded()).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        let bed = Bed { url, store: store.clone() };
        // In a task of its own, so that one failed case does not hide the others.
        if tokio::spawn(case(bed)).await.is_err() {
            failed.push(*name);
        }
        store.close().await;
    }
    assert!(failed.is_empty(), "failed: {failed:?}");
}

// What the cases are made of.

fn thread(root: &str) -> ThreadKey {
    ThreadKey {
        platform: Platform::new("console"),
        account: AccountId::new("local"),
        space: SpaceId::new(""),
        conversation: ConversationId::new("terminal"),
        root: ThreadRoot::new(root),
    }
}

/// A signal with this id, an event of the same name, heard at `at`.
fn signal(id: &str, thread: ThreadKey, at: i64) -> Signal {
    Signal {
        id: SignalId::new(id),
        event: EventId::new(format!("event of {id}")),
        thread,
        room: ConversationKind::Direct,
        actor: Actor { id: ActorId::new("1000"), kind: ActorKind::Human, display: "Ada".to_owned() },
        addressed: Addressed::Direct,
        payload: Payload::Text { text: "load of web-1".to_owned() },
        depth: 0,
        ground: Ground::Foreground,
        follows: None,
        platform_roles: Vec::new(),
        assurance: Assurance::Platform,
        received_at: Wall(at),
    }
}

fn post(id: &str, n: u32, to: ThreadKey, lane: Lane) -> NewPost {
    NewPost { id: id.to_owned(), n, to, lane, body: format!("{{\"post\":\"{id}\"}}"), plan: None }
}

fn step(signal: &str, at: i64, posts: Vec<NewPost>) -> StepRecord {
    StepRecord {
        ledger: Vec::new(),
        signal: SignalId::new(signal),
        at: Wall(at),
        audit: Vec::new(),
        plans: Vec::new(),
        posts,
        redraws: Vec::new(),
        uses: Vec::new(),
        ending: None,
        kept: None,
    }
}

fn did(id: &str, at: i64) -> AuditRow {
    AuditRow {
        id: id.to_owned(),
        at: Wall(at),
        platform: Platform::new("console"),
        actor: ActorId::new("1000"),
        what: What::Did("called".to_owned()),
        tool: "host_machine".to_owned(),
        action: "load".to_owned(),
        target: "host:web-1".to_owned(),
        plan: None,
        detail: "read".to_owned(),
    }
}

fn refused(id: &str, at: i64, code: Code) -> AuditRow {
    AuditRow { what: What::Refused { gate: "actor".to_owned(), code }, ..did(id, at) }
}

async fn accepted(bed: &Bed, id: &str, root: &str, at: i64) {
    assert!(bed.store.accept(&signal(id, thread(root), at)).await.expect("it can be stored"), "{id} is new");
}

async fn committed(bed: &Bed, step: &StepRecord) {
    assert_eq!(bed.store.commit(step).await.expect("the step can be stored"), Committed::Done);
}

async fn waiting(bed: &Bed) -> Vec<StoredPost> {
    bed.store.open_posts().await.expect("the outbox can be read").sound
}

async fn waiting_ids(bed: &Bed) -> Vec<String> {
    waiting(bed).await.into_iter().map(|post| post.id).collect()
}

async fn owing(bed: &Bed) -> Vec<String> {
    let owing = bed.store.owing().await.expect("what is owed can be read");
    owing.iter().map(SignalId::to_string).collect()
}

async fn claimed(bed: &Bed, id: &str) {
    assert!(bed.store.sending(id).await.expect("it can be claimed"), "{id} waits");
}

async fn sent(bed: &Bed, id: &str, at: i64) {
    claimed(bed, id).await;
    let settled = Settled::Sent { platform_ids: vec!["7".to_owned()] };
    bed.store.settle(id, &settled, Wall(at)).await.expect("it is being sent");
}

async fn counts(bed: &Bed) -> Counts {
    bed.store.counts().await.expect("it can be counted")
}

async fn raw(url: &str, sql: &str) {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(url).await.expect("the database can be opened");
    connection.execute(AssertSqlSafe(sql.to_owned())).await.expect("the statement is sound");
    connection.close().await.expect("it can be closed");
}

async fn refusal(url: &str) -> String {
    Store::open(url, &Sealing::unguarded()).await.expect_err("it must be refused").to_string()
}

// The cases.

async fn an_event_is_accepted_once(bed: Bed) {
    let first = signal("s-1", thread("main"), 1);
    assert!(bed.store.accept(&first).await.expect("stored"));
    let again = Signal { id: SignalId::new("s-2"), thread: thread("other"), ..first.clone() };
    assert!(!bed.store.accept(&again).await.expect("a duplicate is no error"));
    // The same event id on another account is another event.
    let mut elsewhere = Signal { id: SignalId::new("s-3"), ..first.clone() };
    elsewhere.thread.account = AccountId::new("second");
    assert!(bed.store.accept(&elsewhere).await.expect("stored"));
    assert_eq!(counts(&bed).await, Counts { threads: 2, open: 2, ..Counts::default() });
    // What is accepted is there after a crash: another process reads it.
    let other = Store::open(&bed.url, &Sealing::unguarded()).await.expect("it opens a second time");
    let found = other.unfinished().await.expect("readable").sound;
    assert_eq!(found.first().map(|found| (&found.signal, found.attempts)), Some((&first, 0)));
    other.close().await;
}

async fn an_event_that_arrives_many_times_at_once_is_accepted_once(bed: Bed) {
    let arrivals = (0..16).map(|n| {
        let (store, signal) = (bed.store.clone(), signal("same", thread("main"), 1));
        let signal = Signal { id: SignalId::new(format!("s-{n}")), ..signal };
        tokio::spawn(async move { store.accept(&signal).await.expect("stored or a duplicate") })
    });
    let mut new = 0;
    for arrival in arrivals.collect::<Vec<_>>() {
        new += u32::from(arrival.await.expect("no panic"));
    }
    assert_eq!(new, 1);
    assert_eq!(counts(&bed).await, Counts { threads: 1, open: 1, ..Counts::default() });
}

async fn threads_are_told_apart_by_all_five_parts(bed: Bed) {
    let base = thread("t");
    let keys = [
        base.clone(),
        ThreadKey { platform: Platform::new("telegram"), ..base.clone() },
        ThreadKey { account: AccountId::new("second"), ..base.clone() },
        ThreadKey { space: SpaceId::new("guild"), ..base.clone() },
        ThreadKey { conversation: ConversationId::new("room"), ..base.clone() },
        ThreadKey { root: ThreadRoot::new("topic 2"), ..base.clone() },
        // Joined into one string, these two would be the same.
        ThreadKey { space: SpaceId::new("a"), conversation: ConversationId::new("b:c"), ..base.clone() },
        ThreadKey { space: SpaceId::new("a:b"), conversation: ConversationId::new("c"), ..base.clone() },
    ];
    for (n, key) in keys.iter().enumerate() {
        let id = format!("s-{n}");
        assert!(bed.store.accept(&signal(&id, key.clone(), 1)).await.expect("stored"));
        committed(&bed, &step(&id, 2, vec![post(&format!("p-{n}"), 0, key.clone(), Lane::Answer)])).await;
    }
    assert_eq!(counts(&bed).await.threads, 8);
    // Each has its own order, and each message knows the whole key.
    let found: Vec<ThreadKey> = waiting(&bed).await.into_iter().map(|post| post.to).collect();
    assert_eq!(found, keys);
}

async fn messages_of_a_thread_leave_in_order(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    accepted(&bed, "s-2", "main", 1).await;
    let posts = vec![post("p-b", 1, thread("main"), Lane::Answer), post("p-z", 0, thread("main"), Lane::Answer)];
    committed(&bed, &StepRecord { ending: Some(Ending::Answered), ..step("s-2", 5, posts) }).await;
    // Committed later, in the same millisecond, with ids that sort first.
    committed(&bed, &step("s-1", 5, vec![post("p-a", 0, thread("main"), Lane::Answer)])).await;
    let order = ["p-z", "p-b", "p-a"];
    for (n, next) in order.into_iter().enumerate() {
        assert_eq!(waiting_ids(&bed).await, order[n..]);
        let owed: &[&str] = if n < 2 { &["s-2"] } else { &[] };
        assert_eq!(owing(&bed).await, owed, "as long as a message of an ended request is not out");
        claimed(&bed, next).await;
        assert_eq!(waiting_ids(&bed).await, order[n + 1..], "what is being sent waits no longer");
        assert_eq!(owing(&bed).await, owed, "and is not out yet");
        let settled = Settled::Sent { platform_ids: Vec::new() };
        bed.store.settle(next, &settled, Wall(6)).await.expect("it is being sent");
    }
    assert_eq!(counts(&bed).await.sent, 3);
}

async fn a_message_that_is_sent_again_keeps_its_place(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let posts = vec![post("p-1", 0, thread("main"), Lane::Answer), post("p-2", 1, thread("main"), Lane::Answer)];
    committed(&bed, &step("s-1", 5, posts)).await;
    let when = async || waiting(&bed).await.into_iter().map(|post| (post.id, post.not_before.0)).collect::<Vec<_>>();
    claimed(&bed, "p-1").await;
    let later = Settled::Again { not_before: Wall(100), repeat: false, error: "slow down".to_owned() };
    bed.store.settle("p-1", &later, Wall(6)).await.expect("it is being sent");
    assert_eq!(when().await, [("p-1".to_owned(), 100), ("p-2".to_owned(), 5)], "before what could leave earlier");
    // One that will never leave holds nobody.
    claimed(&bed, "p-1").await;
    let failed = Settled::Failed { error: "no such room".to_owned() };
    bed.store.settle("p-1", &failed, Wall(101)).await.expect("being sent");
    assert_eq!(when().await, [("p-2".to_owned(), 5)]);
}

async fn decisions_leave_before_answers(bed: Bed) {
    accepted(&bed, "s-1", "one", 1).await;
    accepted(&bed, "s-2", "two", 1).await;
    let (one, two) = (thread("one"), thread("two"));
    committed(&bed, &step("s-1", 5, vec![post("answer-1", 0, one.clone(), Lane::Answer)])).await;
    committed(&bed, &step("s-1", 6, vec![post("card-1", 1, one, Lane::Decision)])).await;
    committed(&bed, &step("s-2", 4, vec![post("answer-2", 0, two, Lane::Answer)])).await;
    let order = ["card-1", "answer-2", "answer-1"];
    assert_eq!(waiting_ids(&bed).await, order, "within a thread and across threads; of one place the oldest first");
}

async fn a_crash_while_sending_is_marked_as_a_repeat(bed: Bed) {
    accepted(&bed, "s-1", "one", 1).await;
    accepted(&bed, "s-2", "two", 1).await;
    committed(&bed, &step("s-1", 5, vec![post("p-1", 0, thread("one"), Lane::Answer)])).await;
    committed(&bed, &step("s-2", 5, vec![post("p-2", 0, thread("two"), Lane::Answer)])).await;
    claimed(&bed, "p-1").await;
    // The process ends here; the next one opens the same database.
    let next =
        Bed { url: bed.url.clone(), store: Store::open(&bed.url, &Sealing::unguarded()).await.expect("it opens") };
    assert_eq!(next.store.recover(Wall(50)).await.expect("recoverable"), 1);
    let found: Vec<_> = waiting(&next).await.into_iter().map(|post| (post.id, post.attempts, post.repeat)).collect();
    assert_eq!(found, [("p-1".to_owned(), 1, true), ("p-2".to_owned(), 0, false)]);
    assert_eq!(next.store.recover(Wall(51)).await.expect("recoverable"), 0);
    next.store.close().await;
}

async fn a_doubt_stays_until_it_is_sent(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    committed(&bed, &step("s-1", 5, vec![post("p-1", 0, thread("main"), Lane::Answer)])).await;
    for (repeat, expected) in [(false, false), (true, true), (false, true)] {
        claimed(&bed, "p-1").await;
        let again = Settled::Again { not_before: Wall(5), repeat, error: "timeout".to_owned() };
        bed.store.settle("p-1", &again, Wall(6)).await.expect("it is being sent");
        assert_eq!(waiting(&bed).await.first().map(|post| post.repeat), Some(expected));
    }
}

async fn only_what_is_being_sent_can_be_settled(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    committed(&bed, &step("s-1", 5, vec![post("p-1", 0, thread("main"), Lane::Answer)])).await;
    let settled = Settled::Sent { platform_ids: Vec::new() };
    let early = bed.store.settle("p-1", &settled, Wall(6)).await.expect_err("it is not being sent");
    assert_eq!(early.to_string(), "message p-1 is not being sent; settle only what `sending` has claimed");
    sent(&bed, "p-1", 6).await;
    let twice = bed.store.settle("p-1", &Settled::Failed { error: String::new() }, Wall(7)).await;
    assert!(matches!(twice, Err(StoreError::NotSending(_))), "what is out cannot fail any more");
    assert!(!bed.store.sending("p-1").await.expect("no error"), "nor be sent again");
    assert_eq!(counts(&bed).await, Counts { threads: 1, open: 1, sent: 1, ..Counts::default() });
}

async fn a_step_is_stored_whole_or_not_at_all(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    accepted(&bed, "s-2", "main", 2).await;
    committed(&bed, &step("s-1", 5, vec![post("p-1", 0, thread("main"), Lane::Answer)])).await;
    let before = counts(&bed).await;
    // Its second message bears an id that another signal's message has: by then an audit row, a refusal and a message
    // in a new thread are written.
    let broken = StepRecord {
        audit: vec![did("a-1", 6), refused("a-2", 6, Code::Forbidden)],
        posts: vec![post("p-2", 0, thread("a new one"), Lane::Answer), post("p-1", 1, thread("main"), Lane::Answer)],
        ending: Some(Ending::Answered),
        ..step("s-2", 6, Vec::new())
    };
    let error = bed.store.commit(&broken).await.expect_err("two messages cannot have one id");
    assert_eq!(error.to_string(), "the database failed while storing a message");
    assert_eq!(counts(&bed).await, before);
    assert_eq!(bed.store.audit_tail(10).await.expect("readable"), []);
    let unknown = bed.store.commit(&step("nobody", 6, Vec::new())).await.expect_err("it was never accepted");
    assert_eq!(unknown.to_string(), "signal nobody is not in the inbox; accept it first");
}

async fn a_step_twice_changes_nothing(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let whole = StepRecord {
        audit: vec![did("a-1", 6), refused("a-2", 6, Code::Forbidden), refused("a-3", 7, Code::Forbidden)],
        ..step("s-1", 6, vec![post("p-1", 0, thread("main"), Lane::Decision)])
    };
    committed(&bed, &whole).await;
    let before = (counts(&bed).await, waiting(&bed).await, bed.store.audit_tail(10).await.expect("readable"));
    assert_eq!((before.0.audit, before.0.refusals, before.1.len()), (2, 2, 1));
    committed(&bed, &whole).await;
    // A message made anew for the same place in the request is left out, too.
    committed(&bed, &step("s-1", 9, vec![post("p-9", 0, thread("main"), Lane::Answer)])).await;
    let after = (counts(&bed).await, waiting(&bed).await, bed.store.audit_tail(10).await.expect("readable"));
    assert_eq!(after, before);
    sent(&bed, "p-1", 7).await;
    committed(&bed, &whole).await;
    assert_eq!(counts(&bed).await.sent, 1, "what is out stays out");
}

async fn a_request_ends_once(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let last = StepRecord {
        audit: vec![did("a-1", 6)],
        ending: Some(Ending::Answered),
        ..step("s-1", 6, vec![post("p-1", 0, thread("main"), Lane::Answer)])
    };
    committed(&bed, &last).await;
    let before = counts(&bed).await;
    assert_eq!((before.open, before.done, before.pending), (0, 1, 1));
    let second = StepRecord {
        audit: vec![did("a-2", 7)],
        ending: Some(Ending::Interrupted),
        ..step("s-1", 7, vec![post("p-2", 1, thread("main"), Lane::Answer)])
    };
    let error = bed.store.commit(&second).await.expect_err("it has ended");
    assert_eq!(error.to_string(), "signal s-1 has ended already; it ends only once");
    assert_eq!(counts(&bed).await, before, "no second answer is left behind");
    let begun = bed.store.begin(&SignalId::new("s-1")).await;
    assert!(matches!(begun, Err(StoreError::Ended(_))), "{begun:?}");
    let begun = bed.store.begin(&SignalId::new("nobody")).await;
    assert!(matches!(begun, Err(StoreError::UnknownSignal(_))), "{begun:?}");
}

async fn unfinished_requests_come_back_oldest_first(bed: Bed) {
    for (id, at) in [("s-3", 10), ("s-1", 30), ("s-4", 20), ("s-2", 20)] {
        accepted(&bed, id, "main", at).await;
    }
    assert_eq!(bed.store.begin(&SignalId::new("s-4")).await.expect("open"), 1);
    assert_eq!(bed.store.begin(&SignalId::new("s-4")).await.expect("open"), 2);
    committed(&bed, &StepRecord { ending: Some(Ending::Failed), ..step("s-1", 40, Vec::new()) }).await;
    let found = bed.store.unfinished().await.expect("readable").sound;
    let found: Vec<_> = found.iter().map(|found| (found.signal.id.as_str(), found.attempts)).collect();
    assert_eq!(found, [("s-3", 0), ("s-2", 0), ("s-4", 2)]);
}

async fn what_was_begun_when_the_process_ended_is_counted_and_set_aside(bed: Bed) {
    let begun = signal("s-1", thread("main"), 10);
    assert!(bed.store.accept_begun(&begun).await.expect("stored"));
    assert!(!bed.store.accept_begun(&begun).await.expect("a duplicate is no error"));
    accepted(&bed, "s-2", "main", 20).await;
    let standing = async || {
        let left = bed.store.unfinished().await.expect("readable").sound.into_iter();
        left.map(|left| (left.interruptions, left.is_set_aside)).collect::<Vec<_>>()
    };
    // Asked to end, and then started again.
    bed.store.put_back_begun().await.expect("writable");
    bed.store.count_interruptions(2, Wall(100)).await.expect("writable");
    assert_eq!(standing().await, [(0, false), (0, false)]);
    for (end, expected) in
        [(200, [(1, false), (0, false)]), (300, [(2, true), (0, false)]), (400, [(3, true), (0, false)])]
    {
        bed.store.begin(&SignalId::new("s-1")).await.expect("open");
        bed.store.count_interruptions(2, Wall(end)).await.expect("writable");
        assert_eq!(standing().await, expected);
    }
    assert_eq!(bed.store.set_aside_since(Wall(300)).await.expect("readable"), [Wall(300)], "it is set aside once");
    assert_eq!(bed.store.set_aside_since(Wall(301)).await.expect("readable"), []);
    committed(&bed, &StepRecord { ending: Some(Ending::Interrupted), ..step("s-1", 500, Vec::new()) }).await;
    bed.store.count_interruptions(2, Wall(600)).await.expect("writable");
    assert_eq!(standing().await, [(0, false)]);
    assert_eq!(bed.store.set_aside_since(Wall(0)).await.expect("readable").len(), 1, "what was answered stays known");
}

async fn one_of_many_senders_wins(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    committed(&bed, &step("s-1", 5, vec![post("p-1", 0, thread("main"), Lane::Answer)])).await;
    let start = Arc::new(tokio::sync::Barrier::new(32));
    let senders = (0..32).map(|_| {
        let (store, start) = (bed.store.clone(), Arc::clone(&start));
        tokio::spawn(async move {
            start.wait().await;
            store.sending("p-1").await.expect("a lost race is no error")
        })
    });
    let mut won = 0;
    for sender in senders.collect::<Vec<_>>() {
        won += u32::from(sender.await.expect("no panic"));
    }
    assert_eq!(won, 1);
}

async fn a_repeated_refusal_is_counted(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    accepted(&bed, "s-2", "other", 1).await;
    let refuse = |signal: &str, row: AuditRow| StepRecord { audit: vec![row], ..step(signal, 1, Vec::new()) };
    for n in 0..5 {
        committed(&bed, &refuse("s-1", refused(&format!("a-{n}"), 60_000 + n, Code::Forbidden))).await;
    }
    assert_eq!((counts(&bed).await.audit, counts(&bed).await.refusals), (1, 5), "one row, five refusals");
    // Another code, minute, thread or action is another refusal.
    committed(&bed, &refuse("s-1", refused("b-1", 60_009, Code::LoopDetected))).await;
    committed(&bed, &refuse("s-1", refused("b-2", 120_000, Code::Forbidden))).await;
    committed(&bed, &refuse("s-2", refused("b-3", 60_009, Code::Forbidden))).await;
    let action = "uptime".to_owned();
    committed(&bed, &refuse("s-1", AuditRow { action, ..refused("b-4", 60_009, Code::Forbidden) })).await;
    assert_eq!((counts(&bed).await.audit, counts(&bed).await.refusals), (5, 9));
    // What is no refusal is never merged.
    let twice = vec![did("c-1", 60_010), did("c-2", 60_010)];
    committed(&bed, &StepRecord { audit: twice, ..step("s-1", 1, Vec::new()) }).await;
    assert_eq!((counts(&bed).await.audit, counts(&bed).await.refusals), (7, 9));
    let tail = bed.store.audit_tail(7).await.expect("readable");
    let (newest, oldest) = (tail.first().expect("seven rows"), tail.last().expect("seven rows"));
    assert_eq!((newest.id.as_str(), newest.thread.as_str()), ("c-2", "s-1"));
    let refusal = (oldest.id.as_str(), oldest.what.as_str(), oldest.gate.as_str(), oldest.code.as_str());
    assert_eq!(refusal, ("a-0", "refused", "actor", "FORBIDDEN"), "the first of the five");
    assert_eq!(bed.store.audit_tail(2).await.expect("readable").len(), 2);
}

async fn a_different_refusal_is_written_and_a_flood_is_counted(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let refuse = |rows: Vec<AuditRow>| StepRecord { audit: rows, ..step("s-1", 1, Vec::new()) };
    let base = |id: &str| refused(id, 60_000, Code::Forbidden);
    let about = |n: u128| Some((plans::plan(n, "host:web-1").id().clone(), Digest::of(b"x")));
    // The same gate says the same code to the same person within a minute, and each time it is something else.
    let different = vec![
        base("a-1"),
        AuditRow { target: "host:web-2".to_owned(), ..base("a-2") },
        AuditRow { plan: about(1), ..base("a-3") },
        AuditRow { plan: about(2), ..base("a-4") },
        AuditRow { detail: "another reason".to_owned(), ..base("a-5") },
        AuditRow { plan: about(2), ..base("a-6") },
    ];
    let different = refuse(different);
    committed(&bed, &different).await;
    committed(&bed, &different).await;
    let tail = bed.store.audit_tail(9).await.expect("readable");
    let ids: Vec<&str> = tail.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["a-5", "a-4", "a-3", "a-2", "a-1"]);
    assert_eq!(counts(&bed).await.refusals, 6);
    // Who tries everything gets twenty rows a minute, and is counted.
    let flood = |name: &str, at: i64| {
        let row =
            |n| AuditRow { target: format!("host:{name}-{n}"), ..refused(&format!("{name}-{n}"), at, Code::Forbidden) };
        (0..50).map(row).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        committed(&bed, &refuse(flood("f", 60_001))).await;
        assert_eq!((counts(&bed).await.audit, counts(&bed).await.refusals), (20, 56));
    }
    // It hides nobody else's refusal, and none of the next minute.
    let somebody = AuditRow { actor: ActorId::new("1001"), ..base("b-1") };
    committed(&bed, &refuse(vec![somebody])).await;
    committed(&bed, &refuse(vec![refused("b-2", 120_000, Code::Forbidden)])).await;
    assert_eq!((counts(&bed).await.audit, counts(&bed).await.refusals), (22, 58));
}

async fn a_flood_from_many_sides_is_written_up_to_the_limit(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let floods = (0..8).map(|side| {
        let store = bed.store.clone();
        tokio::spawn(async move {
            for n in 0..10 {
                let id = format!("a-{side}-{n}");
                let audit = vec![AuditRow { target: id.clone(), ..refused(&id, 60_000, Code::Forbidden) }];
                store
                    .commit(&StepRecord { audit, ..step("s-1", 1, Vec::new()) })
                    .await
                    .expect("they wait for each other");
            }
        })
    });
    for flood in floods.collect::<Vec<_>>() {
        flood.await.expect("no panic");
    }
    assert_eq!((counts(&bed).await.audit, counts(&bed).await.refusals), (20, 80));
}

async fn untrusted_text_is_stored_whatever_it_holds(bed: Bed) {
    let hostile = "a\0b'; DROP TABLE audit; -- \u{202e}\u{1f980}";
    let mut heard = signal("s-1", thread("main"), 1);
    heard.payload = Payload::Text { text: hostile.to_owned() };
    assert!(bed.store.accept(&heard).await.expect("stored"));
    assert_eq!(bed.store.unfinished().await.expect("readable").sound[0].signal, heard);
    let row = AuditRow {
        tool: hostile.to_owned(),
        target: hostile.to_owned(),
        detail: hostile.to_owned(),
        ..refused("a-1", 2, Code::NotFound)
    };
    let posts = vec![post("p-1", 0, thread("main"), Lane::Answer)];
    committed(&bed, &StepRecord { audit: vec![row], ..step("s-1", 2, posts) }).await;
    let tail = bed.store.audit_tail(1).await.expect("readable");
    assert_eq!(tail[0].detail, hostile.replace('\0', "\u{fffd}"));
    claimed(&bed, "p-1").await;
    let failed = Settled::Failed { error: hostile.to_owned() };
    bed.store.settle("p-1", &failed, Wall(3)).await.expect("an error's text is no reason to fail");
}

async fn broken_signal(bed: &Bed) -> String {
    bed.store.unfinished().await.expect("the others are sound").broken[0].problem.clone()
}

async fn a_rotten_row_is_named(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    accepted(&bed, "s-2", "main", 2).await;
    committed(&bed, &step("s-2", 5, vec![post("p-1", 0, thread("main"), Lane::Answer)])).await;
    raw(&bed.url, "UPDATE inbox SET body = '{}' WHERE id = 's-1'").await;
    let error = broken_signal(&bed).await;
    assert!(error.starts_with("inconsistent data in table inbox, column body, row s-1: missing field `id`"), "{error}");
    assert!(error.ends_with("restore a backup or mend the row"), "{error}");
    raw(&bed.url, "UPDATE inbox SET body = (SELECT body FROM inbox WHERE id = 's-2') WHERE id = 's-1'").await;
    let error = broken_signal(&bed).await;
    assert!(error.contains("row s-1: it is the body of signal s-2"), "{error}");
    raw(&bed.url, "UPDATE outbox SET attempts = 99999999999").await;
    let error = bed.store.open_posts().await.expect("the others are sound").broken[0].problem.clone();
    assert!(error.contains("table outbox, column attempts, row p-1: 99999999999 is no count"), "{error}");
}

async fn an_unknown_migration_is_refused(bed: Bed) {
    let mut newer = migrations::migrator(migrations::ALL).iter().cloned().collect::<Vec<_>>();
    let sql = "CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY)".into_sql_str();
    newer.push(sqlx::migrate::Migration::new(9999, "notes".into(), MigrationType::Simple, sql, false));
    let mut connection = AnyConnection::connect(&bed.url).await.expect("it opens");
    let newer = Migrator::with_migrations(newer);
    newer.run_direct(None, &mut connection, false).await.expect("a newer version would apply it");
    connection.close().await.expect("it closes");
    let error = refusal(&bed.url).await;
    let expected = "was written by a newer version: it has migration 9999, which this build does not know; \
                    run that version, or restore the backup from before the upgrade";
    assert!(error.starts_with("the ") && error.ends_with(expected), "{error}");
}

async fn a_changed_migration_is_refused(bed: Bed) {
    let same = "(SELECT checksum FROM _sqlx_migrations WHERE version = 1)";
    raw(&bed.url, &format!("UPDATE _sqlx_migrations SET checksum = {same} WHERE version = 1")).await;
    Store::open(&bed.url, &Sealing::unguarded()).await.expect("nothing has changed yet").close().await;
    let changed = if bed.url.starts_with("sqlite") { "x'00'" } else { "'\\x00'" };
    raw(&bed.url, &format!("UPDATE _sqlx_migrations SET checksum = {changed} WHERE version = 1")).await;
    let error = refusal(&bed.url).await;
    assert!(error.contains("has another migration 1 than this build"), "{error}");
}

async fn a_foreign_database_is_left_alone(bed: Bed) {
    let ours = [
        "messages",
        "cards",
        "votes",
        "usage_days",
        "usage_turns",
        "ledger",
        "refusals_written",
        "writes_in_flight",
        "plans",
        "audit_head",
        "audit_payloads",
        "audit_chain",
        "refusals",
        "audit",
    ];
    for table in ours.into_iter().chain(["seal_key", "outbox", "inbox", "threads", "_sqlx_migrations"]) {
        raw(&bed.url, &format!("DROP TABLE {table}")).await;
    }
    Store::open(&bed.url, &Sealing::unguarded()).await.expect("an empty database is nobody's").close().await;
    raw(&bed.url, "ALTER TABLE _sqlx_migrations RENAME TO django_migrations").await;
    let error = refusal(&bed.url).await;
    assert!(error.ends_with("belongs to another program; give the bot a database of its own"), "{error}");
}

// Migrations.

fn migrations_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations")
}

fn sample(known: &migrations::Migration) -> String {
    let file = migrations_directory().join(format!("sample/{:04}_{}.sql", known.version, known.name));
    std::fs::read_to_string(&file).unwrap_or_else(|error| {
        panic!(
            "migration {} needs sample data in {}, rows as that version writes them: {error}",
            known.name,
            file.display()
        )
    })
}

#[test]
fn every_migration_is_listed_and_has_sample_data() {
    let entries = std::fs::read_dir(migrations_directory()).expect("there are migrations");
    let mut files: Vec<String> = entries
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "sql"))
        .collect();
    files.sort();
    let listed: Vec<String> =
        migrations::ALL.iter().map(|known| format!("{:04}_{}.sql", known.version, known.name)).collect();
    assert_eq!(files, listed, "list every file of migrations/ in src/store/migrations.rs");
    for (n, known) in (1..).zip(migrations::ALL) {
        assert_eq!(known.version, n, "versions rise by one");
        assert!(sample(known).contains("INSERT INTO"), "the sample of {n} holds rows");
    }
}

/// What is wrong with a migration, by its text alone.
fn faults(sql: &str) -> Vec<String> {
    let plain: Vec<&str> = sql.lines().map(|line| line.split("--").next().unwrap_or_default()).collect();
    let plain = plain.join(" ").to_uppercase();
    let mut faults = Vec::new();
    for statement in plain.split(';').map(|statement| statement.split_whitespace().collect::<Vec<_>>().join(" ")) {
        let adds = statement.starts_with("ALTER TABLE") && statement.contains(" ADD ");
        if adds && statement.contains("NOT NULL") && !statement.contains("DEFAULT") {
            faults.push(format!("NOT NULL without DEFAULT, while an older version still inserts: {statement}"));
        }
        let words = statement.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for word in words {
            let other = [
                "INT",
                "INTEGER",
                "SMALLINT",
                "SERIAL",
                "BIGSERIAL",
                "REAL",
                "FLOAT",
                "NUMERIC",
                "BLOB",
                "BYTEA",
                "BOOLEAN",
                "BOOL",
                "VARCHAR",
                "JSON",
                "JSONB",
                "UUID",
                "DATE",
                "TIMESTAMP",
                "TIMESTAMPTZ",
                "AUTOINCREMENT",
            ];
            if other.contains(&word) {
                faults.push(format!("{word}, where only TEXT, BIGINT and DOUBLE PRECISION are on both engines"));
            }
        }
    }
    faults
}

#[test]
fn migrations_expand_before_they_contract() {
    for known in migrations::ALL {
        assert_eq!(faults(known.sql), [""; 0], "migration {}", known.version);
    }
    // The check itself can fail, and does not cry wolf.
    let planted = [
        ("ALTER TABLE inbox ADD COLUMN lease TEXT NOT NULL;", 1),
        ("alter table inbox\n  add lease text -- who\n not null", 1),
        ("ALTER TABLE inbox ADD COLUMN lease BOOLEAN", 1),
        ("CREATE TABLE a (b TIMESTAMP, c INTEGER)", 2),
        ("ALTER TABLE inbox ADD COLUMN lease TEXT NOT NULL DEFAULT '';", 0),
        ("ALTER TABLE inbox ADD COLUMN lease TEXT; CREATE TABLE a (b TEXT NOT NULL)", 0),
    ];
    for (sql, expected) in planted {
        assert_eq!(faults(sql).len(), expected, "{sql}: {:?}", faults(sql));
    }
}

#[tokio::test]
async fn migrations_apply_one_after_another_over_sample_data_on_sqlite() {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("sample.db");
    std::fs::write(&file, "").expect("writable");
    migrate_over_samples(&sqlite_url(&file).expect("UTF-8")).await;
}

#[tokio::test]
async fn migrations_apply_one_after_another_over_sample_data_on_postgres() {
    let postgres = Postgres::shared().unwrap_or_else(|sentence| panic!("{sentence}"));
    migrate_over_samples(&postgres.fresh_database().await).await;
}

async fn migrate_over_samples(url: &str) {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(url).await.expect("the database can be opened");
    for (n, known) in (1..).zip(migrations::ALL) {
        let migrator = migrations::migrator(&migrations::ALL[..n]);
        migrator.run_direct(None, &mut connection, false).await.unwrap_or_else(|error| panic!("{error}"));
        let rows = AssertSqlSafe(sample(known));
        connection.execute(rows).await.unwrap_or_else(|error| panic!("sample {}: {error}", known.version));
    }
    connection.close().await.expect("it closes");
    // This build reads what every earlier version wrote.
    let store = Store::open(url, &Sealing::unguarded()).await.expect("every migration is applied");
    let unfinished = store.unfinished().await.expect("the samples' signals are readable").sound;
    assert!(unfinished.iter().any(|found| found.signal.id.as_str() == "s-02" && found.attempts == 1));
    assert_eq!(store.recover(Wall(9000)).await.expect("recoverable"), 1);
    assert!(store.audit_tail(10).await.expect("readable").iter().any(|row| row.code == "FORBIDDEN"));
    assert_eq!(store.counts().await.expect("countable").refusals, 3);
    let used = store.used_on(countersign_core::usage::Day(0)).await.expect("the samples' sums are readable");
    assert_ne!(used, countersign_core::usage::Book::new(used.day()));
    let open = store.open_posts().await.expect("the samples' messages are readable").sound;
    let second = open.iter().find(|post| post.id == "p-02").expect("it waits");
    assert_eq!((second.lane, second.repeat, second.event.as_str()), (Lane::Decision, true, "2"));
    assert_eq!(store.cards_to_show().await.expect("the samples' cards are readable").len(), 1);
    let open = store.open_plans(&thread("main")).await.expect("the samples' plans are readable");
    assert_eq!((open.filed.len(), open.broken), (3, Vec::new()));
    let voters: Vec<_> = open.filed.iter().flat_map(|plan| &plan.standing.votes).map(|vote| &vote.person).collect();
    assert_eq!(voters, ["bob"]);
    // The first version's audit row is taken over behind what the second one wrote.
    let report = store.verify_audit(None).await.expect("readable");
    assert_eq!((report.rows, report.problem), (3, None));
    assert_eq!(store.audit_tail(1).await.expect("readable")[0].id, "a-01");
    store.close().await;
}

// What only one engine can get wrong.

/// Commits in a `SQLite` log: the frames whose header gives the size of the database after the commit
/// (sqlite.org/fileformat2.html, section 4.1). The log of a few small transactions was never started over, so that
/// every frame counts.
fn commits(database: &Path) -> usize {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let log = std::fs::read(log).expect("there is a log beside the database");
    let page = u32::from_be_bytes(log[8..12].try_into().expect("four bytes")) as usize;
    log[32..].chunks_exact(24 + page).filter(|frame| frame[4..8] != [0; 4]).count()
}

#[tokio::test]
async fn an_answered_message_costs_a_known_number_of_commits() {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("countersign.db");
    let url = sqlite_url(&file).expect("UTF-8");
    let bed = Bed { store: Store::open(&url, &Sealing::unguarded()).await.expect("it opens"), url };
    accepted(&bed, "s-0", "main", 1).await;
    let mut before = commits(&file);
    let mut cost = |what: &'static str, expected: usize| {
        let now = commits(&file);
        assert_eq!(now - before, expected, "{what}");
        before = now;
    };
    accepted(&bed, "s-1", "main", 2).await;
    cost("accept", 1);
    let again = Signal { id: SignalId::new("s-9"), ..signal("s-1", thread("main"), 2) };
    assert!(!bed.store.accept(&again).await.expect("a duplicate is no error"));
    cost("a duplicate", 0);
    bed.store.begin(&SignalId::new("s-1")).await.expect("open");
    cost("begin", 1);
    assert!(bed.store.accept_begun(&signal("s-2", thread("main"), 2)).await.expect("stored"));
    cost("accept and begin", 1);
    let audit = (0..9).map(|n| did(&format!("a-{n}"), 3)).collect();
    let posts = vec![post("p-1", 0, thread("main"), Lane::Answer), post("p-2", 1, thread("main"), Lane::Answer)];
    let whole = StepRecord { audit, ending: Some(Ending::Answered), ..step("s-1", 3, posts) };
    committed(&bed, &whole).await;
    cost("commit", 1);
    claimed(&bed, "p-1").await;
    cost("sending", 1);
    bed.store.settle("p-1", &Settled::Sent { platform_ids: Vec::new() }, Wall(4)).await.expect("being sent");
    cost("settle", 1);
    waiting(&bed).await;
    counts(&bed).await;
    cost("reading", 0);
    bed.store.close().await;
}

#[tokio::test]
async fn the_file_is_private_and_may_have_any_name() {
    let directory = TempDir::new().expect("a directory");
    for name in ["countersign.db", "50%41 of#it?mode=ro.db", "žluťoučký.db"] {
        let file = directory.path().join(name);
        let url = sqlite_url(&file).expect("UTF-8");
        let store = Store::open(&url, &Sealing::unguarded()).await.expect("it is created");
        assert!(store.accept(&signal("s-1", thread("main"), 1)).await.expect("stored"));
        for beside in ["", "-wal", "-shm"] {
            let mode = directory.path().join(format!("{name}{beside}")).metadata().expect("it is there").permissions();
            assert_eq!(mode.mode() & 0o777, 0o600, "{name}{beside}");
        }
        store.close().await;
        // One that somebody opened to others is closed again.
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).expect("it is ours");
        Store::open(&url, &Sealing::unguarded()).await.expect("it opens").close().await;
        assert_eq!(file.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn an_unusable_file_is_named_with_the_fix() {
    let directory = TempDir::new().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    std::fs::create_dir(path("folder")).expect("writable");
    std::fs::write(path("letter"), "Dear Ada, this is a letter and not a database. ".repeat(50)).expect("writable");
    let table = [
        (path("folder"), "is a directory; name a file in it"),
        (path("letter"), "is not a SQLite database; move that file away or name another one"),
        (path("nowhere/at-all.db"), "is in a directory that does not exist; create the directory"),
        (path("letter/below.db"), "cannot be opened (Not a directory (os error 20)); mend that or name another file"),
    ];
    for (file, expected) in table {
        let error = refusal(&sqlite_url(&file).expect("UTF-8")).await;
        assert_eq!(error, format!("the database {} {expected}", file.display()));
    }
    let letter = std::fs::read_to_string(path("letter")).expect("it is still there");
    assert!(letter.starts_with("Dear Ada"), "what is not ours is not touched");
}

#[tokio::test]
async fn a_locked_file_is_named_with_the_fix() {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("countersign.db");
    std::fs::write(&file, "").expect("writable");
    let url = sqlite_url(&file).expect("UTF-8");
    sqlx::any::install_default_drivers();
    let mut other = AnyConnection::connect(&url).await.expect("it opens");
    other.execute("BEGIN EXCLUSIVE").await.expect("nobody else holds it");
    let error = refusal(&url).await;
    assert_eq!(
        error,
        format!("the database {} is locked by another program; stop that program and start again", file.display())
    );
    other.execute("ROLLBACK").await.expect("it was locked");
    Store::open(&url, &Sealing::unguarded()).await.expect("nobody holds it any more").close().await;
}

/// Runs as an ordinary user, because root may read everything: root starts this same test again as nobody.
#[tokio::test]
async fn a_file_of_somebody_else_is_named_with_the_fix() {
    const FILE: &str = "COUNTERSIGN_TEST_FILE_OF_SOMEBODY_ELSE";
    let check = async |file: &Path| {
        let error = refusal(&sqlite_url(file).expect("UTF-8")).await;
        let expected = "may not be read and written by this user; run the bot as the file's owner";
        assert_eq!(error, format!("the database {} {expected}", file.display()));
    };
    if let Some(file) = std::env::var_os(FILE) {
        return check(Path::new(&file)).await;
    }
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("countersign.db");
    std::fs::write(&file, "").expect("writable");
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).expect("it is ours");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o000)).expect("it is ours");
    if std::fs::File::open(&file).is_err() {
        return check(&file).await;
    }
    // A copy, because nobody may not enter everybody's build directory.
    let program = directory.path().join("it");
    std::fs::copy(std::env::current_exe().expect("we run"), &program).expect("copyable");
    let mut child = Command::new(program);
    child.args(["--exact", "store::a_file_of_somebody_else_is_named_with_the_fix"]).env(FILE, &file);
    let output = child.current_dir("/").uid(65534).gid(65534).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn a_url_that_names_no_store_is_refused_without_showing_it() {
    let table = [
        ("mysql://ada:geheim@db/bot", "begins with neither sqlite: nor postgres:"),
        ("sqlite::memory:", "names no file, and a store in memory would lose accepted messages"),
        ("sqlite://x.db?mode=memory", "names no file, and a store in memory would lose accepted messages"),
        ("sqlite://", "names no file, and a store in memory would lose accepted messages"),
        ("", "begins with neither sqlite: nor postgres:"),
    ];
    for (url, problem) in table {
        let help = "write sqlite:///path/to/countersign.db or postgres://user@host/name";
        assert_eq!(refusal(url).await, format!("the store's url {problem}; {help}"));
    }
    let error = Store::open("postgres://ada:geheim@db:port/bot", &Sealing::unguarded())
        .await
        .expect_err("no such port")
        .to_string();
    assert!(!error.contains("geheim"), "{error}");
}

#[tokio::test]
async fn a_postgres_that_is_not_there_is_named_with_the_fix() {
    let postgres = Postgres::shared().unwrap_or_else(|sentence| panic!("{sentence}"));
    let error = refusal(&postgres.url("missing")).await;
    assert!(error.starts_with("the Postgres database missing at 127.0.0.1:"), "{error}");
    assert!(error.ends_with("does not exist; create it: createdb missing"), "{error}");
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
    let error = refusal(&format!("postgres://ada:geheim@127.0.0.1:{port}/bot")).await;
    assert!(error.contains("Connection refused") && !error.contains("geheim"), "{error}");
}
