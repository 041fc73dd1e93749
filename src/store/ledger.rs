//! The ledger's rows: each changed by compare-and-set in a step's transaction, and read as a whole. What they mean, and who
//! may write them, is decided in the core.

use countersign_core::canonical;
use countersign_core::ledger::{Change, Key, Ledger, Record};
use sqlx::AnyConnection;

use super::row::Stored;
use super::{Store, StoreError};

/// A change of a step to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerChange {
    /// Made by the caller; unique to this change, so that the same step committed again is known.
    pub id: String,
    /// From where to where.
    pub change: Box<Change>,
}

impl Store {
    /// Everything that stands in the ledger. An error names a row that is not what was written. Reads.
    pub async fn ledger(&self) -> Result<Ledger, StoreError> {
        let rows = sqlx::query("SELECT id, version, body FROM ledger WHERE body <> ''").fetch_all(&self.read).await;
        let rows = rows.map_err(StoreError::while_doing("reading the ledger"))?;
        let read: Result<Vec<_>, StoreError> = rows.iter().map(|row| record(&Stored::new("ledger", row))).collect();
        Ok(Ledger::new(read?))
    }
}

fn record(row: &Stored<'_>) -> Result<(Key, u64, Record), StoreError> {
    Ok((row.json("id")?, row.natural("version")?, row.json("body")?))
}

/// Makes the changes of a step, in order. `None`: somebody else was faster, and the caller must roll back. Otherwise how
/// many rows that changed: none where the same step had been committed before.
pub(super) async fn apply(tx: &mut AnyConnection, changes: &[LedgerChange]) -> Result<Option<u64>, StoreError> {
    let mut rows = 0;
    for LedgerChange { id, change } in changes {
        let key = text(serde_json::to_value(&change.key));
        match set(tx, id, &key, change).await? {
            0 if was_made(tx, id, &key).await? => {}
            0 => return Ok(None),
            more => rows += more,
        }
    }
    Ok(Some(rows))
}

async fn set(tx: &mut AnyConnection, id: &str, key: &str, change: &Change) -> Result<u64, StoreError> {
    let body = change.to.as_ref().map(|record| text(serde_json::to_value(record))).unwrap_or_default();
    let query = match change.from {
        Some(version) => sqlx::query(
            "UPDATE ledger SET version = version + 1, body = $2, last_change = $3 \
             WHERE id = $1 AND body <> '' AND version = $4",
        )
        .bind(key)
        .bind(body)
        .bind(id)
        .bind(i64::try_from(version).unwrap_or(i64::MAX)),
        None => sqlx::query(
            "INSERT INTO ledger (id, version, body, last_change) VALUES ($1, 0, $2, $3) \
             ON CONFLICT (id) DO UPDATE SET version = ledger.version + 1, body = excluded.body, \
             last_change = excluded.last_change WHERE ledger.body = ''",
        )
        .bind(key)
        .bind(body)
        .bind(id),
    };
    let changed = query.execute(tx).await.map_err(StoreError::while_doing("changing the ledger"))?;
    Ok(changed.rows_affected())
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
