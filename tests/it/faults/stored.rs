//! What a bot's database and its trail hold, and what of it is still to be done. Nothing is judged.

use std::collections::BTreeSet;
use std::path::Path;

use countersign::store::sqlite_url;
use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Connection, Row as _};

use super::facts::{Life, Plan, Post, Row, Signal, letters};
use super::script::token_in;
use crate::support::database::rows;
use crate::support::killed_bot::audit;

/// Before the id in the event of a signal that the bot sends to itself (`countersign_core::signal::OURSELVES`).
const OWN: &str = "countersign/";

/// What is still to be done, a line each.
const UNFINISHED: &str = "\
    SELECT 'signal ' || id || ' is ' || state FROM inbox WHERE state <> 'done' \
    UNION ALL SELECT 'message ' || id || ' is ' || state FROM outbox WHERE state IN ('pending', 'sending') \
    UNION ALL SELECT 'plan ' || id || ' is ' || state FROM plans \
    WHERE state IN ('approved', 'executing', 'unverified', 'unknown') \
    UNION ALL SELECT 'the card of plan ' || plan || ' is behind' FROM cards WHERE shown < version";

/// What is still to be done, a line each; also beside a running bot.
pub(super) async fn unfinished(database: &Path) -> Vec<String> {
    rows(database, UNFINISHED).await.into_iter().flatten().collect()
}

/// The events that were taken.
pub(super) async fn taken(database: &Path) -> BTreeSet<String> {
    rows(database, "SELECT event FROM inbox").await.into_iter().flatten().collect()
}

/// What a run of the bot that is over has left, after those before it. There were so many calls by then.
pub(super) async fn life(database: &Path, before: &[Life], calls: usize) -> Life {
    let events = taken(database).await;
    let is_new = |event: &String| before.iter().all(|life| !life.taken.contains(event));
    let waiting =
        "SELECT p.id, i.event FROM plans AS p JOIN inbox AS i ON i.thread = p.thread WHERE p.state = 'pending'";
    let waits = rows(database, waiting).await.into_iter().filter_map(|row| {
        let [plan, event]: [String; 2] = row.try_into().ok()?;
        let (channel, _) = event.split_once(':')?;
        Some((plan, channel.to_owned()))
    });
    Life { taken: events.into_iter().filter(is_new).collect(), waits: waits.collect(), calls }
}

/// What the database holds.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) signals: Vec<Signal>,
    pub(super) posts: Vec<Post>,
    pub(super) plans: Vec<Plan>,
}

impl Stored {
    /// Reads it, also beside a running bot; it is then not of one moment.
    pub(super) async fn read(database: &Path) -> Self {
        sqlx::any::install_default_drivers();
        let url = sqlite_url(database).expect("the path is UTF-8");
        let mut connection = AnyConnection::connect(&url).await.expect("the database opens");
        let mut stored = Self::default();
        let sql = "SELECT id, event, thread, state, COALESCE(ending, '') AS ending, received_at, body FROM inbox";
        for row in all(&mut connection, sql).await {
            stored.add_signal(&row);
        }
        let sql = "SELECT o.id, o.signal, o.thread, o.lane, o.place, o.state, o.error, o.repeat, o.body, o.platform_ids, \
                   COALESCE(o.plan, '') AS plan, t.conversation FROM outbox AS o JOIN threads AS t ON t.id = o.thread";
        for row in all(&mut connection, sql).await {
            stored.add_post(&row);
        }
        for row in all(&mut connection, "SELECT id, body, state, code, outcome FROM plans").await {
            stored.add_plan(&row);
        }
        connection.close().await.expect("the database closes");
        stored
    }

    fn add_signal(&mut self, row: &AnyRow) {
        let [id, event, thread, state, ending] =
            ["id", "event", "thread", "state", "ending"].map(|column| row.get::<String, _>(column));
        if !event.starts_with(OWN) {
            let is_on_older_copy = row.get::<String, _>("body").contains("\"older_copy\"");
            let received_at = row.get("received_at");
            self.signals.push(Signal { id, event, thread, state, ending, is_on_older_copy, received_at });
        }
    }

    fn add_post(&mut self, row: &AnyRow) {
        let [id, signal, thread, state, error, body, plan] =
            ["id", "signal", "thread", "state", "error", "body", "plan"].map(|column| row.get::<String, _>(column));
        let state = if state == "failed" { format!("{state}: {error}") } else { state };
        let body: Value = serde_json::from_str(&body).expect("a message is JSON");
        self.posts.push(Post {
            chat: row.get("conversation"),
            lane: row.get("lane"),
            place: row.get("place"),
            repeat: row.get::<i64, _>("repeat") == 1,
            has_parts: row.get::<String, _>("platform_ids") != "[]",
            says: texts(&body),
            is_refusal: body["mark"] == "refused",
            card: (!plan.is_empty()).then_some(plan),
            claims: claimed(&body),
            id,
            signal,
            thread,
            state,
        });
    }

    fn add_plan(&mut self, row: &AnyRow) {
        let [id, body, state, code, outcome] =
            ["id", "body", "state", "code", "outcome"].map(|column| row.get::<String, _>(column));
        let token = token_in(&body).unwrap_or_default();
        let state = [state, code, outcome].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        self.plans.push(Plan { id, token, state });
    }
}

async fn all(connection: &mut AnyConnection, sql: &'static str) -> Vec<AnyRow> {
    sqlx::query(sql).fetch_all(connection).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Each text of a message.
fn texts(body: &Value) -> Vec<String> {
    let blocks = body["blocks"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).map(letters).filter(|text| !text.is_empty()).collect()
}

/// The plan that a message says was carried out as it should be.
fn claimed(body: &Value) -> Option<String> {
    let claim = &body["claim"];
    let is_done = claim["type"] == "change" && claim["outcome"] == "as_expected";
    is_done.then(|| claim["plan"].as_str().unwrap_or_default().to_owned())
}

/// Proves the trail of a bot that has ended, and reads it.
pub(super) fn trail(home: &Path) -> Vec<Row> {
    let proved = audit(home, "verify");
    let exported = audit(home, "export");
    let rows: Vec<Row> = exported.lines().map(row).collect();
    let sentence = format!("The audit trail is whole: {} rows,", rows.len());
    assert!(proved.starts_with(&sentence), "{proved} and not {sentence}");
    rows
}

fn row(line: &str) -> Row {
    let line: Value = serde_json::from_str(line).expect("a line is an object");
    let payload = line["payload"].as_str().expect("nothing is deleted");
    let payload: Value = serde_json::from_str(payload).expect("a payload is an object");
    let text = |key: &str| payload[key].as_str().unwrap_or_default().to_owned();
    Row {
        what: text("what"),
        call: format!("{}.{}", text("tool"), text("action")),
        plan: text("plan"),
        code: text("code"),
    }
}
