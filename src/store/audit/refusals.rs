//! Refusals within a minute: every one is counted, and the first of its kind has a row of its own in the chain, up to a
//! limit for each actor, so that nobody hides one refusal behind another and nobody floods the trail.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::approval::{Digest, PlanId};
use sqlx::query::Query;
use sqlx::{AnyConnection, Row};

use super::{AuditRow, What};
use crate::store::StoreError;
use crate::store::outbox::storable;
use crate::store::row::Stored;

const MINUTE_MS: i64 = 60_000;

/// How many kinds of refusals of one actor are written within a minute: more than a person can provoke by hand, and few
/// enough that a program which tries everything adds about a megabyte an hour.
const WRITTEN_MAX: i64 = 20;

/// A refusal, as it is counted and as it is told from others.
struct Refusal<'r> {
    row: &'r AuditRow,
    minute: i64,
    /// Platform, actor, gate, code, tool, action: under these it is counted.
    columns: [String; 6],
}

impl<'r> Refusal<'r> {
    /// None for what is no refusal.
    fn of(row: &'r AuditRow) -> Option<Self> {
        let What::Refused { gate, code } = &row.what else {
            return None;
        };
        let columns = [row.platform.as_str(), row.actor.as_str(), gate, code.as_str(), &row.tool, &row.action];
        Some(Self { row, minute: row.at.0.div_euclid(MINUTE_MS), columns: columns.map(storable) })
    }

    /// The SHA-256 of everything that makes two refusals of an actor the same one, repeated. Each part with its length, so
    /// that no two are written alike.
    fn kind(&self, thread: &str) -> String {
        let [_, _, gate, code, tool, action] = &self.columns;
        let plan = self.row.plan.as_ref().map_or("", |(plan, _): &(PlanId, Digest)| plan.as_str());
        let parts = [thread, gate, code, tool, action, &self.row.target, plan, &self.row.detail];
        let encoded = parts.iter().fold(String::new(), |text, part| text + format!("{}:{part}", part.len()).as_str());
        Digest::of(encoded.as_bytes()).as_str().to_owned()
    }
}

/// Counts a step's refusals. Returns the ids of those that are not to be written: their kind is written already, or too
/// many others of this minute are. Whoever calls this holds the head of the chain.
pub(super) async fn count<'r>(
    tx: &mut AnyConnection,
    thread: &str,
    rows: &'r [AuditRow],
) -> Result<BTreeSet<&'r str>, StoreError> {
    let refusals: Vec<Refusal<'r>> = rows.iter().filter_map(Refusal::of).collect();
    let mut counted: BTreeMap<_, (i64, &str)> = BTreeMap::new();
    for refusal in &refusals {
        let (times, last) = counted.entry((refusal.minute, &refusal.columns)).or_default();
        *times += 1;
        *last = &refusal.row.id;
    }
    for ((minute, columns), (times, last)) in counted {
        raise(tx, thread, minute, columns, times, last).await?;
    }
    let mut only_counted = BTreeSet::new();
    for refusal in &refusals {
        if !is_written(tx, thread, refusal).await? {
            only_counted.insert(refusal.row.id.as_str());
        }
    }
    Ok(only_counted)
}

/// Raises the count of a refusal, but not where the same step was counted before.
async fn raise(
    tx: &mut AnyConnection,
    thread: &str,
    minute: i64,
    columns: &[String; 6],
    times: i64,
    last: &str,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO refusals (minute, thread, platform, actor, gate, code, tool, action, times, last) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
               ON CONFLICT (minute, thread, platform, actor, gate, code, tool, action) \
               DO UPDATE SET times = refusals.times + excluded.times, last = excluded.last \
               WHERE refusals.last <> excluded.last";
    let query = columns.iter().fold(sqlx::query(sql).bind(minute).bind(thread), Query::bind);
    let raised = query.bind(times).bind(last).execute(tx).await;
    raised.map(drop).map_err(StoreError::while_doing("counting a refusal"))
}

/// Whether this is the row that stands for its kind: it is from now on, where there is none yet and still room for one.
async fn is_written(tx: &mut AnyConnection, thread: &str, refusal: &Refusal<'_>) -> Result<bool, StoreError> {
    let [platform, actor, ..] = &refusal.columns;
    let (kind, id) = (refusal.kind(thread), storable(&refusal.row.id));
    let failed = || StoreError::while_doing("counting a refusal");
    let sql =
        "SELECT audit AS id FROM refusals_written WHERE minute = $1 AND platform = $2 AND actor = $3 AND kind = $4";
    let known = sqlx::query(sql).bind(refusal.minute).bind(platform).bind(actor).bind(&kind);
    if let Some(row) = known.fetch_optional(&mut *tx).await.map_err(failed())? {
        return Ok(Stored::new("refusals_written", &row).id() == id);
    }
    let sql = "SELECT COUNT(*) FROM refusals_written WHERE minute = $1 AND platform = $2 AND actor = $3";
    let written = sqlx::query(sql).bind(refusal.minute).bind(platform).bind(actor).fetch_one(&mut *tx).await;
    if written.and_then(|row| row.try_get::<i64, _>(0)).map_err(failed())? >= WRITTEN_MAX {
        return Ok(false);
    }
    let sql = "INSERT INTO refusals_written (minute, platform, actor, kind, audit) VALUES ($1, $2, $3, $4, $5)";
    let query = sqlx::query(sql).bind(refusal.minute).bind(platform).bind(actor).bind(kind).bind(id);
    query.execute(tx).await.map_err(failed())?;
    Ok(true)
}
