//! Budgets with the real binary: what the store was given is what `budget` says, a replay counts what a recording says was
//! used, and a configuration that cannot be meant is refused. Counting itself is in `store/usage.rs`.

use countersign::clock::wall_now;
use countersign::store::{Adopts, Ending, NewUse, SealKey, Sealing, StepRecord, Store, sqlite_url};
use countersign_core::signal::{ActorId, Ground, Signal, SignalId, Wall};
use countersign_core::usage::{Day, Origin, Payer, Spend, Usage};
use serde_json::{Value, json};
use sqlx::{AnyConnection, Connection, Row};

use crate::support::bot::{Bot, Home, finish};

const CONFIG: &str = r#"[budget]
tokens_per_person_day = 1000
tokens_per_room_day = 5000
cost_per_team_day = "2.50"
currency = "EUR"
background_percent = 20
"#;

/// The first message of this home's bot, as it was stored.
async fn first_signal(url: &str) -> Signal {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(url).await.expect("it opens");
    let row = sqlx::query("SELECT body FROM inbox ORDER BY received_at LIMIT 1").fetch_one(&mut connection).await;
    let body: String = row.expect("there is one").try_get(0).expect("a text");
    connection.close().await.expect("it closes");
    serde_json::from_str(&body).expect("it is a signal")
}

/// Gives the store what a model used for the person who asked first, and for somebody else in the same room.
async fn use_up(home: &Home) {
    let url = sqlite_url(&home.data().join("countersign.db")).expect("UTF-8");
    let asked = first_signal(&url).await;
    let key = std::fs::read_to_string(home.data().join("seal.key")).expect("the bot made it");
    let key = SealKey::parse(&key).expect("it is a key");
    let store = Store::open(&url, &Sealing { key, adopts: Adopts::Nothing, newest: None }).await.expect("it opens");
    let later = Signal { id: SignalId::new("later"), event: countersign_core::signal::EventId::new("later"), ..asked };
    assert!(store.accept(&later).await.expect("stored"));
    let thread = &later.thread;
    let room = Payer::Room(thread.platform.clone(), thread.space.clone(), thread.conversation.clone());
    let account = |id: &ActorId| Payer::Account(thread.platform.clone(), id.clone());
    let today = Day::of(wall_now());
    let spend = |day: Day, person: Payer, tokens_in: u64| Spend {
        signal: later.id.clone(),
        day,
        payers: [person, room.clone(), Payer::Team],
        ground: Ground::Foreground,
        by: Origin::Model,
        usage: Usage { tokens_in, tokens_out: 100, cost_micros: 420_000 },
    };
    // Also for tomorrow, because it may begin while this runs.
    let uses = [today, Day(today.0 + 1)].into_iter().flat_map(|day| {
        let nobody = ActorId::new("uid:0000");
        [spend(day, account(&later.actor.id), 300), spend(day, account(&nobody), 700)]
    });
    let uses = (0..).zip(uses).map(|(n, spend)| NewUse { id: format!("u-{n}"), spend }).collect();
    let (audit, plans, posts) = (Vec::new(), Vec::new(), Vec::new());
    let ending = Some(Ending::Answered);
    let step = StepRecord {
        signal: later.id.clone(),
        at: Wall(1),
        audit,
        plans,
        ledger: Vec::new(),
        posts,
        redraws: Vec::new(),
        uses,
        ending,
        kept: None,
    };
    store.commit(&step).await.expect("stored");
    store.close().await;
}

/// Without the day, which is another one each time.
fn without_the_day(text: &str) -> String {
    let day = regex::Regex::new(r"\d{4}-\d{2}-\d{2}").expect("a pattern");
    day.replace_all(text, "DAY").into_owned()
}

#[test]
fn budget_says_what_the_store_was_given() {
    let home = Home::new();
    insta::assert_snapshot!(without_the_day(home.pipe("budget\n").answer("budget")), @"
    No budget is set, so that there is no limit. The next day begins at DAY 00:00:00 UTC.
    whose      what    used today  limit a day  left
    you        tokens           0     no limit     -
    you        cost      0.00 USD     no limit     -
    this room  tokens           0     no limit     -
    this room  cost      0.00 USD     no limit     -
    the team   tokens           0     no limit     -
    the team   cost      0.00 USD     no limit     -
    Only a model uses tokens: set commands, approvals and rules cost nothing, and no budget stops them.
    ");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(use_up(&home));
    home.write("countersign.toml", CONFIG);
    let mut bot = Bot::json(&home);
    insta::assert_snapshot!(without_the_day(&bot.ask("budget").text()), @"
    The next day begins at DAY 00:00:00 UTC. Work that nobody waits for may use 20% of each limit.
    you | tokens | 400 | 1000 | 600
    you | cost | 0.42 EUR | no limit | -
    this room | tokens | 1200 | 5000 | 3800
    this room | cost | 0.84 EUR | no limit | -
    the team | tokens | 1200 | no limit | -
    the team | cost | 0.84 EUR | 2.50 EUR | 1.66 EUR
    Only a model uses tokens: set commands, approvals and rules cost nothing, and no budget stops them.
    ");
    assert_eq!(bot.ask("load").mark(), "plain", "a set command goes on");
    assert!(bot.end().status.success());
}

#[test]
fn a_replay_counts_what_the_recording_says_was_used() {
    let home = Home::new();
    home.write("countersign.toml", CONFIG);
    let thread =
        json!({ "platform": "console", "account": "web-1", "space": "", "conversation": "console", "root": "main" });
    let signal = |id: &str, text: &str| {
        json!({
            "id": id, "event": id, "thread": thread, "room": "direct", "addressed": "direct", "depth": 0,
            "actor": { "id": "uid:1000", "kind": "human", "display": "ada" }, "ground": "foreground",
            "payload": { "type": "text", "text": text }, "received_at": 1_767_225_610_000_i64,
        })
    };
    let line = |n: u64, told: Value| {
        let mut line = json!({ "thread": thread, "now": { "wall": 1_767_225_610_000_u64 + n, "mono": n, "seed": format!("{n:032x}") } });
        line.as_object_mut().expect("an object").extend(told.as_object().expect("an object").clone());
        line.to_string()
    };
    let used = json!({ "signal": signal("s-1", "help"), "by": "model", "usage": { "tokens_in": 900, "tokens_out": 150, "cost_micros": 70 } });
    let lines = [
        json!({ "form": 1, "countersign": "0.1.0", "owner": { "platform": "console", "id": "uid:1000" } }).to_string(),
        line(1, json!({ "signal": signal("s-1", "help") })),
        line(2, json!({ "used": used })),
        line(3, json!({ "signal": signal("s-2", "budget") })),
    ];
    let file = home.write("used.jsonl", lines.join("\n"));
    let done = finish(home.command().arg("replay").arg(&file), b"");
    assert!(done.status.success() && done.err.is_empty(), "{done:?}");
    let decided: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let spends: Vec<&Value> = decided.iter().filter(|one| one["decided"] == "spend").collect();
    assert_eq!(
        (spends.len(), &spends[0]["day"], &spends[0]["usage"]["tokens_in"]),
        (1, &json!("2026-01-01"), &json!(900))
    );
    let said = decided.iter().rfind(|one| one["decided"] == "say").expect("an answer");
    let rows = said["blocks"][1]["rows"].as_array().expect("a table");
    assert_eq!(rows[0], json!(["you", "tokens", "1050", "1000", "0"]));
    assert_eq!(rows[5], json!(["the team", "cost", "0.00007 EUR", "2.50 EUR", "2.49993 EUR"]));
}

#[test]
fn an_amount_that_can_be_misread_is_refused() {
    let home = Home::new();
    home.write("countersign.toml", "[budget]\ncost_per_room_day = 2.5\n");
    let done = home.pipe("budget\n");
    insta::assert_snapshot!(done.err.trim_end(), @"countersign: countersign.toml: `budget.cost_per_room_day` (line 2) must be text in quotes, not this number");
    home.write("countersign.toml", "[budget]\ncost_per_room_day = \"2,5\"\n");
    let done = home.pipe("budget\n");
    assert_eq!(done.status.code(), Some(2));
    insta::assert_snapshot!(done.err.trim_end(), @r#"countersign: countersign.toml: `budget.cost_per_room_day` (line 2) must be an amount above zero such as "2.50": digits, and a point with at most 6 more"#);
}
