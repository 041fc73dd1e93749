//! The audit trail (REJ-03): who proposed what, which rule said what, why. Append-only: each row is hashed over the one
//! before, and what it says is kept apart, so that it may be deleted (DESIGN.md section 5). A refusal that repeats within
//! a minute is counted, not written again (`refusals.rs`); these counts are not part of the chain: they are changed as
//! they grow, and the first refusal of each kind is in it.

mod adopt;
mod chain;
mod export;
mod payload;
mod refusals;
mod verify;

use std::collections::BTreeMap;

use countersign_core::approval::{Digest, PlanId};
use countersign_core::envelope::Code;
use countersign_core::signal::{ActorId, Platform, SignalId, Wall};
use futures::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use super::dialect::{Database, Durability};
use super::outbox::storable;
use super::row::Stored;
use super::seal::SealWriter;
use super::sums::Check;
use super::{BrokenRow, Store, StoreError, standing};
use chain::Entry;
pub(super) use chain::HEAD;
pub use chain::{AuditHead, BadHead};
use payload::Payload;
pub use verify::{AuditProblem, AuditReport, AuditWrong};

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

impl Store {
    /// Appends a row about the database itself: what an administrator did to it. Writes, one commit.
    pub async fn record(&self, id: &str, at: Wall, what: &str, detail: &str) -> Result<(), StoreError> {
        let row = AuditRow {
            id: id.to_owned(),
            at,
            platform: Platform::new(""),
            actor: ActorId::new(""),
            what: What::Did(what.to_owned()),
            tool: String::new(),
            action: String::new(),
            target: String::new(),
            plan: None,
            detail: detail.to_owned(),
        };
        let entry = Entry { id: id.to_owned(), at: at.0, payload: Payload::of(&row, "", "") };
        let mut tx = self.begin_write(Durability::Full).await?;
        let mut seals = SealWriter::new(&self.seals);
        chain::append(&mut tx, (&self.database, &mut seals), &[entry]).await?;
        let doing = "recording what was done to the database";
        self.commit_sealed(tx, seals, (Durability::Full, Check::Newest), doing).await
    }

    /// The newest rows, newest first; those whose payload was deleted are left out. Reads.
    pub async fn audit_tail(&self, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let sql = "SELECT c.id, c.at, p.body FROM audit_chain AS c JOIN audit_payloads AS p ON p.id = c.id \
                   ORDER BY c.seq DESC LIMIT $1";
        let rows = sqlx::query(sql).bind(i64::from(limit)).fetch_all(&self.read).await;
        rows.map_err(StoreError::while_doing("reading the audit trail"))?.iter().map(entry).collect()
    }
}

/// Returns the plans whose row is missing, or has another state than the trail recorded last: an older copy of a row has a
/// sound seal. The program deletes no plan. Reads the whole trail, and the state of every plan.
pub(super) async fn plans_against_trail(tx: &mut AnyConnection) -> Result<Vec<BrokenRow>, StoreError> {
    let doing = "comparing the plans with the audit trail";
    let mut recorded: BTreeMap<String, Option<String>> = BTreeMap::new();
    let sql = "SELECT c.id, p.body FROM audit_chain AS c JOIN audit_payloads AS p ON p.id = c.id \
               WHERE p.body NOT LIKE '%\"plan\":\"\"%' ORDER BY c.seq";
    let mut rows = sqlx::query(sql).fetch(&mut *tx);
    while let Some(row) = rows.try_next().await.map_err(StoreError::while_doing(doing))? {
        let payload: Payload = Stored::new("audit_payloads", &row).json("body")?;
        let state = recorded.entry(payload.plan).or_default();
        if standing::STATES_RECORDED.contains(&payload.what.as_str()) {
            *state = Some(payload.what);
        }
    }
    drop(rows);
    recorded.remove("");
    let mut broken = Vec::new();
    let mut rows = sqlx::query("SELECT id, state, body, digest FROM plans").fetch(&mut *tx);
    while let Some(row) = rows.try_next().await.map_err(StoreError::while_doing(doing))? {
        let row = Stored::new("plans", &row);
        let before = recorded.remove(row.id()).flatten();
        broken.extend(compared(&row, before).map_err(|problem| BrokenRow::of(&row, &problem)).err());
    }
    let missing = |id: String| {
        let problem = format!("plan {id} is missing; the audit trail mentions it");
        BrokenRow { table: "plans", id, problem }
    };
    broken.extend(recorded.into_keys().map(missing));
    Ok(broken)
}

/// Compares a plan's row with its digest, and with the state that the trail recorded last.
fn compared(row: &Stored<'_>, recorded: Option<String>) -> Result<(), StoreError> {
    let state = row.text("state")?;
    if Digest::of(row.text("body")?.as_bytes()).as_str() != row.text("digest")? {
        return Err(row.wrong("body", "the plan was changed after it was frozen: its digest is another".to_owned()));
    }
    match recorded {
        Some(recorded) if recorded != state && state != "refused" => {
            Err(row.wrong("state", format!("it is {state}, and the audit trail says that it became {recorded}")))
        }
        Some(_) | None => Ok(()),
    }
}

/// Counts a step's refusals, and appends its rows to the chain, in the step's order: everything but the refusals that are
/// only counted. Returns how many are new. Comes last in a transaction: until it ends nobody else can count or append.
pub(super) async fn append(
    tx: &mut AnyConnection,
    (database, seals): (&Database, &mut SealWriter<'_>),
    (signal, thread): (&SignalId, &str),
    rows: &[AuditRow],
) -> Result<u64, StoreError> {
    if rows.iter().any(|row| matches!(row.what, What::Refused { .. })) {
        // Before they are counted, so that two transactions never count at the same time.
        chain::lock_head(tx, database, seals).await?;
    }
    let only_counted = refusals::count(tx, thread, rows).await?;
    let written = rows.iter().filter(|row| !only_counted.contains(row.id.as_str()));
    let entry = |row: &AuditRow| Entry {
        id: storable(&row.id),
        at: row.at.0,
        payload: Payload::of(row, signal.as_str(), thread),
    };
    let entries: Vec<Entry> = written.map(entry).collect();
    chain::append(tx, (database, seals), &entries).await
}

/// How many rows there are, and how many refusals were counted, for [`Store::counts`].
pub(super) async fn count(connection: &mut AnyConnection) -> Result<(u64, u64), sqlx::Error> {
    // A sum of BIGINT is NUMERIC on Postgres, which the Any driver does not know.
    let sql =
        "SELECT (SELECT COUNT(*) FROM audit_chain), (SELECT CAST(COALESCE(SUM(times), 0) AS BIGINT) FROM refusals)";
    let row = sqlx::query(sql).fetch_one(connection).await?;
    Ok((row.try_get::<i64, _>(0)?.unsigned_abs(), row.try_get::<i64, _>(1)?.unsigned_abs()))
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
