//! What was used, on both engines: counted once whatever is committed how often and by how many at once, in the sums of
//! everybody who pays, and without a commit of its own for a message that uses nothing.

use std::sync::Arc;

use countersign::engine::{Engine, Parts, Player};
use countersign::store::{NewUse, Sealing, StepRecord, Store, sqlite_url};
use countersign_core::effect::Input;
use countersign_core::signal::{ActorId, ConversationId, Ground, Mono, Now, Platform, SignalId, SpaceId, Wall};
use countersign_core::usage::{Budgets, Daily, Day, Origin, Payer, Spend, Spent, Usage};
use tempfile::TempDir;

use super::trouble::{NoTools, world};
use super::{Bed, Case, accepted, commits, committed, did, on_postgres, on_sqlite, raw, signal, step, thread};

const CASES: &[(&str, Case)] = cases![
    a_step_twice_counts_once,
    sums_are_kept_apart_by_payer_ground_and_day,
    many_at_once_lose_nothing,
    a_use_without_its_request_is_refused,
    a_rotten_sum_is_named,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_used_is_counted_on_sqlite() {
    on_sqlite(CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_used_is_counted_on_postgres() {
    on_postgres(CASES).await;
}

fn room(name: &str) -> Payer {
    Payer::Room(Platform::new("console"), SpaceId::new(""), ConversationId::new(name))
}

fn person(name: &str) -> Payer {
    Payer::Person(name.to_owned())
}

/// Ada in her room, who reads 10 tokens, writes 3, and pays 7 millionths.
fn spend(signal: &str) -> Spend {
    Spend {
        signal: SignalId::new(signal),
        day: Day(3),
        payers: [person("ada"), room("ops"), Payer::Team],
        ground: Ground::Foreground,
        by: Origin::Model,
        usage: Usage { tokens_in: 10, tokens_out: 3, cost_micros: 7 },
    }
}

fn using(id: &str, spend: Spend) -> StepRecord {
    let signal = spend.signal.as_str().to_owned();
    StepRecord { uses: vec![NewUse { id: id.to_owned(), spend }], ..step(&signal, 5, Vec::new()) }
}

async fn spent(bed: &Bed, payers: &[Payer; 3]) -> Spent {
    bed.store.used_on(Day(3)).await.expect("it can be read").spent(payers, Day(3))
}

async fn a_step_twice_counts_once(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    accepted(&bed, "s-2", "other", 1).await;
    let first = StepRecord { audit: vec![did("a-1", 5)], ..using("u-1", spend("s-1")) };
    committed(&bed, &first).await;
    committed(&bed, &first).await;
    // Somebody else's use comes between a commit and its repetition: the sums are everybody's.
    committed(&bed, &using("u-2", spend("s-2"))).await;
    committed(&bed, &first).await;
    let all = spent(&bed, &spend("s-1").payers).await;
    let twice = Usage { tokens_in: 20, tokens_out: 6, cost_micros: 14 };
    for tally in [all.person, all.room, all.team] {
        assert_eq!((tally.foreground, tally.background), (twice, Usage::default()));
    }
}

async fn sums_are_kept_apart_by_payer_ground_and_day(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let account = |id: &str| Payer::Account(Platform::new("telegram"), ActorId::new(id));
    let base = spend("s-1");
    let uses = [
        base.clone(),
        Spend { ground: Ground::Background, ..base.clone() },
        Spend { by: Origin::Rule, ..base.clone() },
        Spend { day: Day(4), ..base.clone() },
        Spend { payers: [account("ada"), room("ops"), Payer::Team], ..base.clone() },
        Spend { payers: [person("bob"), room("elsewhere"), Payer::Team], ..base.clone() },
    ];
    for (n, one) in uses.into_iter().enumerate() {
        committed(&bed, &using(&format!("u-{n}"), one)).await;
    }
    let turns = |spent: Spent| {
        [spent.person, spent.room, spent.team]
            .map(|tally| (tally.foreground.tokens() / 13, tally.background.tokens() / 13))
    };
    assert_eq!(turns(spent(&bed, &base.payers).await), [(2, 1), (3, 1), (4, 1)], "the model's and the rules' together");
    let by_account = [account("ada"), room("ops"), Payer::Team];
    assert_eq!(turns(spent(&bed, &by_account).await)[0], (1, 0), "an account of that name is somebody else");
    let elsewhere = [person("bob"), room("elsewhere"), Payer::Team];
    assert_eq!(turns(spent(&bed, &elsewhere).await), [(1, 0), (1, 0), (4, 1)]);
    let tomorrow = bed.store.used_on(Day(4)).await.expect("readable").spent(&base.payers, Day(4));
    assert_eq!(turns(tomorrow), [(1, 0); 3]);
    assert_eq!(bed.store.used_on(Day(5)).await.expect("readable"), countersign_core::usage::Book::new(Day(5)));
}

async fn many_at_once_lose_nothing(bed: Bed) {
    let writers = (0..8).map(|n| {
        let bed = Bed { url: bed.url.clone(), store: bed.store.clone() };
        tokio::spawn(async move {
            let id = format!("s-{n}");
            accepted(&bed, &id, &id, 1).await;
            for turn in 0..5 {
                let payers = [person(&id), room(["ops", "dev"][n % 2]), Payer::Team];
                committed(&bed, &using(&format!("u-{n}-{turn}"), Spend { payers, ..spend(&id) })).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("no panic");
    }
    let all = spent(&bed, &[person("s-3"), room("dev"), Payer::Team]).await;
    assert_eq!([all.person, all.room, all.team].map(|tally| tally.total().tokens_in), [50, 200, 400]);
}

async fn a_use_without_its_request_is_refused(bed: Bed) {
    let error = bed.store.commit(&using("u-1", spend("nobody's"))).await.expect_err("there is no such signal");
    assert!(error.to_string().contains("nobody's"), "{error}");
    assert_eq!(spent(&bed, &spend("s").payers).await.team, countersign_core::usage::Tally::default());
}

async fn a_rotten_sum_is_named(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    committed(&bed, &using("u-1", spend("s-1"))).await;
    let rename = "ALTER TABLE usage_days RENAME COLUMN tokens_out TO lost";
    raw(&bed.url, rename).await;
    let error = bed.store.used_on(Day(3)).await.expect_err("a column is missing").to_string();
    assert!(error.contains("reading what was used"), "{error}");
}

/// One thread of an engine over a database whose commits are counted.
async fn cost_of(budgets: Budgets) -> Vec<usize> {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("countersign.db");
    let store = Store::open(&sqlite_url(&file).expect("UTF-8"), &Sealing::unguarded()).await.expect("it opens");
    let mut world = world();
    world.budgets = budgets;
    let parts = Parts {
        store: store.clone(),
        world,
        tools: Arc::new(NoTools),
        mind: None,
        adapters: Vec::new(),
        queue_max: 2,
        delivery: countersign::engine::A_DAY,
        watch: None,
        tell: Box::new(|_| {}),
    };
    let mut player = Player::new(&Engine::new(parts), thread("main"));
    let asked = signal("s-2", thread("main"), 1);
    let used = |tokens_in: u64| Input::Used {
        signal: Box::new(asked.clone()),
        by: Origin::Model,
        usage: Usage { tokens_in, ..Usage::default() },
    };
    let mut help = signal("s-1", thread("main"), 1);
    help.payload = countersign_core::signal::Payload::Text { text: "help".to_owned() };
    let mut load = asked.clone();
    load.payload = countersign_core::signal::Payload::Text { text: "load".to_owned() };
    let told = [Input::Signal(Box::new(help)), Input::Signal(Box::new(load)), used(5), used(6)];
    let mut costs = Vec::new();
    // The first one makes the log.
    assert!(store.accept(&signal("s-0", thread("main"), 1)).await.expect("stored"));
    for (n, input) in (1..).zip(told) {
        let before = commits(&file);
        let now = Now { wall: Wall(1), mono: Mono(n), seed: u128::from(n) };
        player.tell(input, now).await.expect("it is told");
        costs.push(commits(&file) - before);
    }
    store.close().await;
    costs
}

#[tokio::test]
async fn only_what_is_used_costs_a_commit() {
    // A question is accepted and answered; one that waits for its tool is accepted; a use is one commit.
    let expected = [2, 1, 1, 1];
    assert_eq!(cost_of(Budgets::default()).await, expected, "without a budget");
    let limited = Budgets { team: Daily { tokens: Some(1000), cost_micros: Some(1) }, ..Budgets::default() };
    assert_eq!(cost_of(limited).await, expected, "with one");
}
