//! The audit trail (REJ-03): who proposed what, which rule said what, why. Append-only: each row is hashed over the one
//! before, and what it says is kept apart, so that it may be deleted (DESIGN.md section 5). A refusal that repeats within
//! a minute is counted, not written again; these counts are not part of the chain: they are changed as they grow, and
//! the first refusal of each is in it.

mod adopt;
mod chain;
mod export;
mod payload;
mod verify;

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::approval::{Digest, PlanId};
use countersign_core::envelope::Code;
use countersign_core::signal::{ActorId, Platform, SignalId, Wall};
use sqlx::any::AnyRow;
use sqlx::query::Query;
use sqlx::{AnyConnection, Row};

use super::dialect::Database;
use super::outbox::storable;
use super::row::Stored;
use super::{Store, StoreError};
use chain::Entry;
pub use chain::{AuditHead, BadHead};
use payload::Payload;
pub use verify::{AuditProblem, AuditReport, AuditWrong};

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
    /// Which plan it is about, and the plan's digest.
    pub plan: Option<(PlanId, Digest)>,
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
    /// The plan's id; empty where it is about none.
    pub plan: String,
    /// The plan's digest; empty where it is about none.
    pub digest: String,
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
    /// The newest rows, newest first; those whose payload was deleted are left out. Reads.
    pub async fn audit_tail(&self, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let sql = "SELECT c.id, c.at, p.body FROM audit_chain AS c JOIN audit_payloads AS p ON p.id = c.id \
                   ORDER BY c.seq DESC LIMIT $1";
        let rows = sqlx::query(sql).bind(i64::from(limit)).fetch_all(&self.read).await;
        rows.map_err(StoreError::while_doing("reading the audit trail"))?.iter().map(entry).collect()
    }
}

/// Counts a step's refusals, and returns the rows that are to be written, in the step's order: everything but the
/// refusals that were counted before.
pub(super) async fn count_refusals<'r>(
    tx: &mut AnyConnection,
    thread: &str,
    rows: &'r [AuditRow],
) -> Result<Vec<&'r AuditRow>, StoreError> {
    let mut refusals: BTreeMap<_, Vec<&AuditRow>> = BTreeMap::new();
    for row in rows {
        if let Some(key) = row.refusal() {
            refusals.entry(key).or_default().push(row);
        }
    }
    let mut repeated = BTreeSet::new();
    for ((minute, columns), same) in &refusals {
        let Some(last) = same.last() else { continue };
        let times = i64::try_from(same.len()).expect("invariant: a step holds few rows");
        let is_first = raise(tx, thread, *minute, columns, times, &last.id).await? == Some(times);
        repeated.extend(same.iter().skip(usize::from(is_first)).map(|row| row.id.as_str()));
    }
    Ok(rows.iter().filter(|row| !repeated.contains(row.id.as_str())).collect())
}

/// Appends a step's rows to the chain; returns how many are new. Comes last in a transaction: until it ends nobody else
/// can append.
pub(super) async fn append(
    tx: &mut AnyConnection,
    database: &Database,
    (signal, thread): (&SignalId, &str),
    rows: &[&AuditRow],
) -> Result<u64, StoreError> {
    let entry = |row: &&AuditRow| Entry {
        id: storable(&row.id),
        at: row.at.0,
        payload: Payload::of(row, signal.as_str(), thread),
    };
    let entries: Vec<Entry> = rows.iter().map(entry).collect();
    chain::append(tx, database, &entries).await
}

/// How many rows there are, and how many refusals were counted, for [`Store::counts`].
pub(super) async fn count(connection: &mut AnyConnection) -> Result<(u64, u64), sqlx::Error> {
    // A sum of BIGINT is NUMERIC on Postgres, which the Any driver does not know.
    let sql =
        "SELECT (SELECT COUNT(*) FROM audit_chain), (SELECT CAST(COALESCE(SUM(times), 0) AS BIGINT) FROM refusals)";
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

fn entry(row: &AnyRow) -> Result<AuditEntry, StoreError> {
    let row = Stored::new("audit_payloads", row);
    let payload: Payload = row.json("body")?;
    Ok(AuditEntry {
        id: row.id().to_owned(),
        at: Wall(row.number("at")?),
        signal: SignalId::new(payload.signal),
        thread: payload.thread,
        platform: Platform::new(payload.platform),
        actor: ActorId::new(payload.actor),
        what: payload.what,
        gate: payload.gate,
        code: payload.code,
        tool: payload.tool,
        action: payload.action,
        target: payload.target,
        plan: payload.plan,
        digest: payload.digest,
        detail: payload.detail,
    })
}
