//! The chain of the audit trail: how a row is hashed over the one before, and how rows are appended. What a row says is
//! in `payload.rs`; proving the chain is in `verify.rs`.

use std::fmt;
use std::str::FromStr;

use countersign_core::approval::Digest;
use sqlx::AnyConnection;
use thiserror::Error;

use super::payload::Payload;
use crate::store::dialect::Database;
use crate::store::row::Stored;
use crate::store::seal::{SealWriter, SealedRows, Seals};
use crate::store::{Store, StoreError};

/// The head of the trail: with it all rows before are sealed.
pub(in crate::store) const HEAD: SealedRows = SealedRows {
    kind: "head",
    table: "audit_head",
    column: "seal",
    parts: |row| Ok(vec![row.number("seq")?.to_string(), row.text("hash")?]),
    select: "SELECT 'head' AS id, seq, hash, seal FROM audit_head WHERE one = 1",
    set: "UPDATE audit_head SET seal = $1 WHERE one = 1 AND 'head' = $2",
};

/// Hexadecimal digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// Fewer digits of an expected head could be met by chance or by trying (64 bits are what a person can be asked to
/// type, and what nobody finds a second chain for in a day).
const PREFIX_DIGITS_MIN: usize = 16;

/// The newest row of the chain, by number and hash: who has noted it can prove later that nothing before it was changed.
/// As text `SEQ:HASH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditHead {
    /// How many rows there are; 0 where there is none yet.
    pub seq: u64,
    /// 64 hexadecimal digits; of an expected head at least the first 16.
    pub hash: String,
}

/// Why a text is no head.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "a head is written SEQ:HASH, a number and at least {PREFIX_DIGITS_MIN} hexadecimal digits, as `audit verify` prints it"
)]
pub struct BadHead;

impl AuditHead {
    /// Before the first row.
    pub(super) fn none() -> Self {
        Self { seq: 0, hash: "0".repeat(HASH_DIGITS) }
    }

    /// Reads the row of `audit_head`.
    pub(super) fn stored(row: &Stored<'_>) -> Result<Self, StoreError> {
        Ok(Self { seq: row.natural("seq")?, hash: row.text("hash")? })
    }

    /// The number of the row after this one.
    pub(super) const fn next(&self) -> u64 {
        self.seq.saturating_add(1)
    }
}

impl fmt::Display for AuditHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for AuditHead {
    type Err = BadHead;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (seq, hash) = text.trim().split_once(':').ok_or(BadHead)?;
        let is_hash = (PREFIX_DIGITS_MIN..=HASH_DIGITS).contains(&hash.len())
            && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
        let seq = seq.parse().map_err(|_| BadHead)?;
        if is_hash { Ok(Self { seq, hash: hash.to_ascii_lowercase() }) } else { Err(BadHead) }
    }
}

/// What a row's hash is made of: the SHA-256 of `LENGTH:TEXT` of each part in turn, numbers in decimal, lengths in bytes.
/// With the lengths no two rows are written alike.
pub(super) fn row_hash(seq: u64, id: &str, at: i64, payload_hash: &str, prev: &str) -> String {
    let (seq, at) = (seq.to_string(), at.to_string());
    let parts = [seq.as_str(), id, &at, payload_hash, prev];
    let encoded = parts.iter().fold(String::new(), |text, part| text + format!("{}:{part}", part.len()).as_str());
    Digest::of(encoded.as_bytes()).as_str().to_owned()
}

/// The hash of a payload's canonical JSON.
pub(super) fn payload_hash(body: &str) -> String {
    Digest::of(body.as_bytes()).as_str().to_owned()
}

/// A row that is to be appended.
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) at: i64,
    pub(super) payload: Payload,
}

/// Appends rows in this order and moves the head; those that are there already are left as they are. Returns how many
/// are new. Nobody else appends between here and the end of the transaction, so that this comes last in it.
pub(super) async fn append(
    tx: &mut AnyConnection,
    (database, seals): (&Database, &mut SealWriter<'_>),
    entries: &[Entry],
) -> Result<u64, StoreError> {
    if entries.is_empty() {
        return Ok(0);
    }
    let (before, seal_before) = lock_head(tx, database, seals).await?;
    let mut head = before.clone();
    for entry in entries {
        head = append_one(tx, head, entry).await?;
    }
    if head != before {
        let seal = seals.over(&HEAD, &[head.seq.to_string(), head.hash.clone()]);
        let moved = sqlx::query("UPDATE audit_head SET seq = $1, hash = $2, seal = $3 WHERE one = 1");
        let moved = moved.bind(number(head.seq)).bind(&head.hash).bind(&seal);
        moved.execute(tx).await.map_err(StoreError::while_doing("moving the head of the audit trail"))?;
        seals.change(&HEAD, seal_before, seal);
    }
    Ok(head.seq - before.seq)
}

/// Waits until nobody else appends, and keeps it so until the transaction ends. Returns the head and its seal.
pub(super) async fn lock_head(
    tx: &mut AnyConnection,
    database: &Database,
    seals: &Seals,
) -> Result<(AuditHead, String), StoreError> {
    let row = sqlx::query(database.lock_audit_head()).fetch_optional(tx).await;
    let row = row.map_err(StoreError::while_doing("locking the head of the audit trail"))?;
    let row = Stored::new("audit_head", row.as_ref().ok_or_else(no_head)?);
    seals.check(&HEAD, &row)?;
    Ok((AuditHead::stored(&row)?, row.text("seal")?))
}

/// Returns the head after it: the same one where the row is there already.
async fn append_one(tx: &mut AnyConnection, head: AuditHead, entry: &Entry) -> Result<AuditHead, StoreError> {
    let body = entry.payload.canonical();
    let (seq, payload_hash) = (head.next(), payload_hash(&body));
    let hash = row_hash(seq, &entry.id, entry.at, &payload_hash, &head.hash);
    let sql = "INSERT INTO audit_chain (seq, id, at, payload_hash, prev, hash) VALUES ($1, $2, $3, $4, $5, $6) \
               ON CONFLICT (id) DO NOTHING";
    let query = sqlx::query(sql).bind(number(seq)).bind(&entry.id).bind(entry.at).bind(payload_hash).bind(&head.hash);
    let inserted = query.bind(&hash).execute(&mut *tx).await;
    if inserted.map_err(StoreError::while_doing("writing the audit trail"))?.rows_affected() == 0 {
        return Ok(head);
    }
    let payload = sqlx::query("INSERT INTO audit_payloads (id, body) VALUES ($1, $2)").bind(&entry.id).bind(body);
    payload.execute(tx).await.map_err(StoreError::while_doing("writing the audit trail"))?;
    Ok(AuditHead { seq, hash })
}

impl Store {
    /// The newest row of the audit trail, as the trail itself says. Reads.
    pub async fn audit_head(&self) -> Result<AuditHead, StoreError> {
        let row =
            sqlx::query("SELECT 'head' AS id, seq, hash FROM audit_head WHERE one = 1").fetch_optional(&self.read);
        let row = row.await.map_err(StoreError::while_doing("reading the head of the audit trail"))?;
        AuditHead::stored(&Stored::new("audit_head", row.as_ref().ok_or_else(no_head)?))
    }
}

fn no_head() -> StoreError {
    let problem = "the only row is missing".to_owned();
    StoreError::Inconsistent { table: "audit_head", column: "one", row: "1".to_owned(), problem }
}

fn number(seq: u64) -> i64 {
    i64::try_from(seq).expect("invariant: no database holds so many rows")
}
