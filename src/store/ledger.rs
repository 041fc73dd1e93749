//! The ledger's rows: each changed by compare-and-set in a step's transaction, and read as a whole. What they mean, and who
//! may write them, is decided in the core.

use countersign_core::canonical;
use countersign_core::ledger::{Change, Key, Ledger, Record};
use sqlx::AnyConnection;

use super::row::Stored;
use super::seal::{SealWriter, SealedRows};
use super::{BrokenRow, Store, StoreError};

/// The seals of all rows, also of those that were taken away.
pub(super) const SEALED: SealedRows = SealedRows {
    kind: "record",
    table: "ledger",
    column: "seal",
    parts,
    select: "SELECT id, version, body, last_change, seal FROM ledger",
    set: "UPDATE ledger SET seal = $1 WHERE id = $2",
};

fn parts(row: &Stored<'_>) -> Result<Vec<String>, StoreError> {
    Ok(vec![row.id().to_owned(), row.number("version")?.to_string(), row.text("body")?, row.text("last_change")?])
}

/// The ledger as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadLedger {
    /// The sound rows.
    pub ledger: Ledger,
    /// One for each row that is not what was written.
    pub broken: Vec<BrokenRow>,
}

/// A change of a step to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerChange {
    /// Made by the caller; unique to this change, so that the same step committed again is known.
    pub id: String,
    /// From where to where.
    pub change: Box<Change>,
}

impl Store {
    /// Everything that stands in the ledger. Reads.
    pub async fn ledger(&self) -> Result<ReadLedger, StoreError> {
        let rows = sqlx::query(SEALED.select).fetch_all(&self.read).await;
        let rows = rows.map_err(StoreError::while_doing("reading the ledger"))?;
        let (mut sound, mut broken) = (Vec::new(), Vec::new());
        for row in &rows {
            let row = Stored::new("ledger", row);
            match record(&row).and_then(|record| self.seals.check(&SEALED, &row).map(|()| record)) {
                Ok(record) => sound.extend(record),
                Err(problem) => broken.push(BrokenRow::of(&row, &problem)),
            }
        }
        Ok(ReadLedger { ledger: Ledger::new(sound), broken })
    }
}

/// Reads a row; none that was taken away.
fn record(row: &Stored<'_>) -> Result<Option<(Key, u64, Record)>, StoreError> {
    if row.text("body")?.is_empty() {
        return Ok(None);
    }
    Ok(Some((row.json("id")?, row.natural("version")?, row.json("body")?)))
}

/// Makes the changes of a step, in order. `None`: somebody else was faster, and the caller must roll back. Otherwise how
/// many rows that changed: none where the same step had been committed before.
pub(super) async fn apply(
    tx: &mut AnyConnection,
    seals: &mut SealWriter<'_>,
    changes: &[LedgerChange],
) -> Result<Option<u64>, StoreError> {
    let mut rows = 0;
    for LedgerChange { id, change } in changes {
        let key = text(serde_json::to_value(&change.key));
        match set(tx, seals, id, &key, change).await? {
            0 if was_made(tx, id, &key).await? => {}
            0 => return Ok(None),
            more => rows += more,
        }
    }
    Ok(Some(rows))
}

async fn set(
    tx: &mut AnyConnection,
    seals: &mut SealWriter<'_>,
    id: &str,
    key: &str,
    change: &Change,
) -> Result<u64, StoreError> {
    let doing = "changing the ledger";
    let before = sqlx::query("SELECT id, version, body, last_change, seal FROM ledger WHERE id = $1").bind(key);
    let before = before.fetch_optional(&mut *tx).await.map_err(StoreError::while_doing(doing))?;
    let body = change.to.as_ref().map(|record| text(serde_json::to_value(record))).unwrap_or_default();
    let query = match change.from {
        Some(version) => sqlx::query(
            "UPDATE ledger SET version = version + 1, body = $2, last_change = $3 \
             WHERE id = $1 AND body <> '' AND version = $4 RETURNING id, version, seal",
        )
        .bind(key)
        .bind(&body)
        .bind(id)
        .bind(i64::try_from(version).unwrap_or(i64::MAX)),
        None => sqlx::query(
            "INSERT INTO ledger (id, version, body, last_change) VALUES ($1, 0, $2, $3) \
             ON CONFLICT (id) DO UPDATE SET version = ledger.version + 1, body = excluded.body, \
             last_change = excluded.last_change WHERE ledger.body = '' RETURNING id, version, seal",
        )
        .bind(key)
        .bind(&body)
        .bind(id),
    };
    // Fetched to the end: SQLite makes such a change only when the statement has been run to its end.
    let changed = query.fetch_all(&mut *tx).await.map_err(StoreError::while_doing(doing))?;
    let Some(row) = changed.first() else { return Ok(0) };
    // Which version a row gets that had been taken away is known only now.
    let row = Stored::new("ledger", row);
    let version = row.number("version")?;
    let seal_before = before.as_ref().map(|row| Stored::new("ledger", row).text("seal")).transpose()?;
    if row.text("seal")? != seal_before.unwrap_or_default() {
        // Another bot changed the row since it was read.
        return Ok(0);
    }
    let seal = seals.over(&SEALED, &[key.to_owned(), version.to_string(), body, id.to_owned()]);
    let sealed = sqlx::query(SEALED.set).bind(&seal).bind(key).execute(tx).await;
    sealed.map_err(StoreError::while_doing(doing))?;
    match &before {
        Some(row) => seals.replace(&SEALED, &Stored::new("ledger", row), seal)?,
        None => seals.change(&SEALED, String::new(), seal),
    }
    Ok(1)
}

async fn was_made(tx: &mut AnyConnection, id: &str, key: &str) -> Result<bool, StoreError> {
    let found = sqlx::query("SELECT id FROM ledger WHERE id = $1 AND last_change = $2").bind(key).bind(id);
    let found =
        found.fetch_optional(tx).await.map_err(StoreError::while_doing("looking for a change of the ledger"))?;
    Ok(found.is_some())
}

fn text(value: Result<serde_json::Value, serde_json::Error>) -> String {
    canonical::text(value.expect("invariant: a row of the ledger is plain data"))
}
