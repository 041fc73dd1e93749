//! The audit trail (REJ-03): who proposed what, which rule said what, why. Append-only: nothing in this room changes or
//! deletes a row of it. A refusal that repeats within a minute is counted, not written again.

use std::collections::BTreeMap;

use countersign_core::envelope::Code;
use countersign_core::signal::{ActorId, Platform, SignalId, Wall};
use sqlx::any::AnyRow;
use sqlx::query::Query;
use sqlx::{AnyConnection, Row};

use super::outbox::storable;
use super::row::Stored;
use super::{Store, StoreError};

const MINUTE_MS: i64 = 60_000;

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A gate refused it.
    Refused {
        /// The gate's name.
        gate: String,
        /// Its stable code.
        code: Code,
    },
    /// Anything else, by a short stable name: `called`, `answered`.
    Did(String),
}

/// One row. Signal and thread are the step's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Made by the caller; unique.
    pub id: String,
    /// When it happened.
    pub at: Wall,
    /// The actor's platform.
    pub platform: Platform,
    /// Who it was done for, or refused to.
    pub actor: ActorId,
    /// What happened.
    pub what: What,
    /// The tool, as proposed; empty where there is none.
    pub tool: String,
    /// The action, as proposed; empty where there is none.
    pub action: String,
    /// The target, as proposed; empty where there is none.
    pub target: String,
    /// The reason, or what came of it, in one sentence.
    pub detail: String,
}

/// A row that was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// The row's id.
    pub id: String,
    /// When it happened.
    pub at: Wall,
    /// The signal in whose request it happened.
    pub signal: SignalId,
    /// The id of the thread's row.
    pub thread: String,
    /// The actor's platform.
    pub platform: Platform,
    /// Who.
    pub actor: ActorId,
    /// `refused`, or the name of what was done.
    pub what: String,
    /// The gate that refused; empty where none did.
    pub gate: String,
    /// The refusal's code; empty where there is none.
    pub code: String,
    /// The tool.
    pub tool: String,
    /// The action.
    pub action: String,
    /// The target.
    pub target: String,
    /// The reason.
    pub detail: String,
}

impl What {
    /// The three columns: what, gate, code.
    fn columns(&self) -> (&str, &str, &'static str) {
        match self {
            Self::Refused { gate, code } => ("refused", gate, code.as_str()),
            Self::Did(what) => (what, "", ""),
        }
    }
}

impl AuditRow {
    /// What makes two refusals the same one, repeated: minute, platform, actor, gate, code, tool, action. None for what
    /// is no refusal.
    fn refusal(&self) -> Option<(i64, [String; 6])> {
        let What::Refused { gate, code } = &self.what else {
            return None;
        };
        let columns = [self.platform.as_str(), self.actor.as_str(), gate, code.as_str(), &self.tool, &self.action];
        Some((self.at.0.div_euclid(MINUTE_MS), columns.map(storable)))
    }
}

impl Store {
    /// The newest rows, newest first. Reads.
    pub async fn audit_tail(&self, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let sql = "SELECT id, at, signal, thread, platform, actor, what, gate, code, tool, action, target, detail \
                   FROM audit ORDER BY at DESC, id DESC LIMIT $1";
        let rows = sqlx::query(sql).bind(i64::from(limit)).fetch_all(&self.read).await;
        rows.map_err(StoreError::while_doing("reading the audit trail"))?.iter().map(entry).collect()
    }
}

/// Writes a step's rows, and counts its refusals.
pub(super) async fn write(
    tx: &mut AnyConnection,
    signal: &SignalId,
    thread: &str,
    rows: &[AuditRow],
) -> Result<(), StoreError> {
    let mut refusals: BTreeMap<_, Vec<&AuditRow>> = BTreeMap::new();
    for row in rows {
        match row.refusal() {
            Some(key) => refusals.entry(key).or_default().push(row),
            None => insert(tx, signal, thread, row).await?,
        }
    }
    for ((minute, columns), same) in refusals {
        if let (Some(first), Some(last)) = (same.first(), same.last()) {
            let times = i64::try_from(same.len()).expect("invariant: a step holds few rows");
            if raise(tx, thread, minute, &columns, times, &last.id).await? == Some(times) {
                insert(tx, signal, thread, first).await?;
            }
        }
    }
    Ok(())
}

/// How many rows there are, and how many refusals were counted, for [`Store::counts`].
pub(super) async fn count(connection: &mut AnyConnection) -> Result<(u64, u64), sqlx::Error> {
    // A sum of BIGINT is NUMERIC on Postgres, which the Any driver does not know.
    let sql = "SELECT (SELECT COUNT(*) FROM audit), (SELECT CAST(COALESCE(SUM(times), 0) AS BIGINT) FROM refusals)";
    let row = sqlx::query(sql).fetch_one(connection).await?;
    Ok((row.try_get::<i64, _>(0)?.unsigned_abs(), row.try_get::<i64, _>(1)?.unsigned_abs()))
}

/// Raises the count of a refusal and returns it; nothing where the same step was counted before.
async fn raise(
    tx: &mut AnyConnection,
    thread: &str,
    minute: i64,
    columns: &[String; 6],
    times: i64,
    last: &str,
) -> Result<Option<i64>, StoreError> {
    let sql = "INSERT INTO refusals (minute, thread, platform, actor, gate, code, tool, action, times, last) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
               ON CONFLICT (minute, thread, platform, actor, gate, code, tool, action) \
               DO UPDATE SET times = refusals.times + excluded.times, last = excluded.last \
               WHERE refusals.last <> excluded.last \
               RETURNING times";
    let query = columns.iter().fold(sqlx::query(sql).bind(minute).bind(thread), Query::bind);
    let row = query.bind(times).bind(last).fetch_optional(tx).await;
    let raised = row.and_then(|row| row.map(|row| row.try_get::<i64, _>(0)).transpose());
    raised.map_err(StoreError::while_doing("counting a refusal"))
}

async fn insert(tx: &mut AnyConnection, signal: &SignalId, thread: &str, row: &AuditRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO audit \
               (id, at, signal, thread, platform, actor, what, gate, code, tool, action, target, detail) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (id) DO NOTHING";
    let (what, gate, code) = row.what.columns();
    let query = sqlx::query(sql).bind(&row.id).bind(row.at.0).bind(signal.as_str()).bind(thread);
    let texts = [row.platform.as_str(), row.actor.as_str(), what, gate, code];
    let untrusted = [row.tool.as_str(), &row.action, &row.target, &row.detail];
    let query = texts.iter().chain(&untrusted).fold(query, |query, text| query.bind(storable(text)));
    query.execute(tx).await.map_err(StoreError::while_doing("writing the audit trail"))?;
    Ok(())
}

fn entry(row: &AnyRow) -> Result<AuditEntry, StoreError> {
    let row = Stored::new("audit", row);
    Ok(AuditEntry {
        id: row.id().to_owned(),
        at: Wall(row.number("at")?),
        signal: SignalId::new(row.text("signal")?),
        thread: row.text("thread")?,
        platform: Platform::new(row.text("platform")?),
        actor: ActorId::new(row.text("actor")?),
        what: row.text("what")?,
        gate: row.text("gate")?,
        code: row.text("code")?,
        tool: row.text("tool")?,
        action: row.text("action")?,
        target: row.text("target")?,
        detail: row.text("detail")?,
    })
}
