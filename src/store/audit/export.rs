//! The audit trail as lines of JSON, for keeping and proving elsewhere. Nothing is judged here.

use std::io::Write;

use futures::TryStreamExt;
use serde::Serialize;
use sqlx::any::AnyRow;

use super::verify::TRAIL;
use crate::store::row::Stored;
use crate::store::{Store, StoreError};

/// One line. The payload is the exact text whose SHA-256 is `payload_hash`; none where it was deleted.
#[derive(Serialize)]
struct Line {
    seq: i64,
    id: String,
    at: i64,
    payload_hash: String,
    prev: String,
    hash: String,
    payload: Option<String>,
}

impl Store {
    /// Writes the audit trail, one JSON object a line, oldest row first; returns how many rows there were. Reads row by
    /// row, all of one moment; writing blocks.
    pub async fn export_audit(&self, writer: &mut (dyn Write + Send)) -> Result<u64, StoreError> {
        let mut connection = self.read.acquire().await.map_err(StoreError::while_doing("reading the audit trail"))?;
        let mut rows = sqlx::query(TRAIL).fetch(&mut *connection);
        let mut written = 0;
        while let Some(row) = rows.try_next().await.map_err(StoreError::while_doing("reading the audit trail"))? {
            let mut text = serde_json::to_string(&line(&row)?).expect("invariant: a line is plain data");
            text.push('\n');
            writer.write_all(text.as_bytes()).map_err(StoreError::Export)?;
            written += 1;
        }
        writer.flush().map_err(StoreError::Export)?;
        Ok(written)
    }
}

fn line(row: &AnyRow) -> Result<Line, StoreError> {
    let row = Stored::new("audit_chain", row);
    Ok(Line {
        seq: row.number("seq")?,
        id: row.id().to_owned(),
        at: row.number("at")?,
        payload_hash: row.text("payload_hash")?,
        prev: row.text("prev")?,
        hash: row.text("hash")?,
        payload: row.maybe_text("body")?,
    })
}
