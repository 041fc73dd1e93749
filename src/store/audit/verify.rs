//! Proving the audit trail: every row is hashed again, in order and in bounded memory, and compared with the row before,
//! with its payload, with the head and with the head that somebody noted. Nothing is mended.

use std::fmt;

use futures::TryStreamExt;
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::chain::{AuditHead, payload_hash, row_hash};
use crate::store::row::Stored;
use crate::store::transaction::Open;
use crate::store::{Store, StoreError};

/// The whole chain, each row with its payload where that was not deleted.
pub(super) const TRAIL: &str = "SELECT c.seq, c.id, c.at, c.payload_hash, c.prev, c.hash, p.body FROM audit_chain AS c \
                                LEFT JOIN audit_payloads AS p ON p.id = c.id ORDER BY c.seq";

/// What became of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// How many rows there are.
    pub rows: u64,
    /// How many of them have no payload any more.
    pub payloads_deleted: u64,
    /// The last row that is there.
    pub head: AuditHead,
    /// The first thing that is wrong; none: the trail is whole.
    pub problem: Option<AuditProblem>,
}

/// What is wrong, and with which row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditProblem {
    /// The row's number.
    pub seq: u64,
    /// The row's id; empty where no row is there.
    pub id: String,
    /// What is wrong with it.
    pub wrong: AuditWrong,
}

/// What can be wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditWrong {
    /// A column does not hold what this program writes.
    Unreadable(String),
    /// Rows are missing; `id` is the row that stands where this one should be.
    Missing,
    /// Its hash is not that of its content.
    Hash,
    /// It does not follow the row before.
    Prev,
    /// Its payload is not the one that it was written with.
    Payload,
    /// The head is missing or names another last row than this one.
    Head {
        /// The head as it stands; none where there is none.
        says: Option<AuditHead>,
    },
    /// The trail ends before the head that is expected; this is its last row.
    Short {
        /// What is expected.
        expected: AuditHead,
    },
    /// There is another row than the expected one.
    Another {
        /// What is expected.
        expected: AuditHead,
        /// The hash that is there.
        hash: String,
    },
}

impl fmt::Display for AuditProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seq, id, wrong } = self;
        // What stands in a damaged row is anybody's text.
        let id = id.escape_debug();
        match wrong {
            AuditWrong::Unreadable(problem) => write!(f, "row {seq} ({id}) cannot be read: {problem}"),
            AuditWrong::Missing => write!(f, "row {seq} is missing: row {id} stands where it should be"),
            AuditWrong::Hash => write!(f, "row {seq} ({id}) was changed: its hash does not match its content"),
            AuditWrong::Prev => {
                write!(f, "row {seq} ({id}) does not follow the row before it: one of them was replaced")
            }
            AuditWrong::Payload => write!(f, "row {seq} ({id}) has a changed payload: it is not what was written"),
            AuditWrong::Head { says: Some(says) } => write!(
                f,
                "row {seq} ({id}) is the last one, but the head says {says}: rows were removed at the end or the head was \
                 changed"
            ),
            AuditWrong::Head { says: None } => write!(f, "row {seq} ({id}) is the last one, and the head is missing"),
            AuditWrong::Short { expected } => write!(
                f,
                "row {seq} ({id}) is the last one, but row {} was expected: rows were removed at the end",
                expected.seq
            ),
            AuditWrong::Another { expected, hash } => write!(
                f,
                "row {seq} ({id}) has the hash {hash}, but {} was expected: the trail was rewritten",
                expected.hash
            ),
        }
    }
}

/// A row of the chain, as it stands.
struct Link {
    seq: u64,
    id: String,
    at: i64,
    payload_hash: String,
    prev: String,
    hash: String,
    body: Option<String>,
}

impl Link {
    fn read(row: &AnyRow) -> Result<Self, StoreError> {
        let row = Stored::new("audit_chain", row);
        Ok(Self {
            seq: row.natural("seq")?,
            id: row.text("id")?,
            at: row.number("at")?,
            payload_hash: row.text("payload_hash")?,
            prev: row.text("prev")?,
            hash: row.text("hash")?,
            body: row.maybe_text("body")?,
        })
    }

    /// What is wrong with it, behind `last`.
    fn wrong(&self, last: &AuditHead) -> Option<AuditWrong> {
        if self.hash != row_hash(self.seq, &self.id, self.at, &self.payload_hash, &self.prev) {
            return Some(AuditWrong::Hash);
        }
        if self.prev != last.hash {
            return Some(AuditWrong::Prev);
        }
        let is_payload = self.body.as_ref().is_none_or(|body| payload_hash(body) == self.payload_hash);
        (!is_payload).then_some(AuditWrong::Payload)
    }
}

/// A verification under way: what was seen so far.
struct Walk<'e> {
    expect: Option<&'e AuditHead>,
    last_id: String,
    report: AuditReport,
}

impl<'e> Walk<'e> {
    fn new(expect: Option<&'e AuditHead>) -> Self {
        let report = AuditReport { rows: 0, payloads_deleted: 0, head: AuditHead::none(), problem: None };
        Self { expect, last_id: String::new(), report }
    }

    /// Only the first problem is kept: what comes behind it follows from it.
    fn note(&mut self, seq: u64, id: &str, wrong: AuditWrong) {
        self.report.problem.get_or_insert_with(|| AuditProblem { seq, id: id.to_owned(), wrong });
    }

    fn step(&mut self, row: &AnyRow) -> Result<(), StoreError> {
        self.report.rows += 1;
        let due = self.report.head.next();
        let link = match Link::read(row) {
            Ok(link) => link,
            Err(StoreError::Inconsistent { column, row, problem, .. }) => {
                self.note(due, &row, AuditWrong::Unreadable(format!("column {column}: {problem}")));
                return Ok(());
            }
            Err(other) => return Err(other),
        };
        self.report.payloads_deleted += u64::from(link.body.is_none());
        if link.seq != due {
            self.note(due, &link.id, AuditWrong::Missing);
        }
        if let Some(wrong) = link.wrong(&self.report.head) {
            self.note(link.seq, &link.id, wrong);
        }
        self.report.head = AuditHead { seq: link.seq, hash: link.hash };
        self.compare(&link.id);
        self.last_id = link.id;
        Ok(())
    }

    /// Compares the row reached with the expected one.
    fn compare(&mut self, id: &str) {
        let Some(expected) = self.expect.filter(|expected| expected.seq == self.report.head.seq) else {
            return;
        };
        let AuditHead { seq, hash } = self.report.head.clone();
        if !hash.starts_with(&expected.hash) {
            self.note(seq, id, AuditWrong::Another { expected: expected.clone(), hash });
        }
    }

    fn end(mut self, says: Option<AuditHead>) -> AuditReport {
        let (seq, id) = (self.report.head.seq, self.last_id.clone());
        if says.as_ref() != Some(&self.report.head) {
            self.note(seq, &id, AuditWrong::Head { says });
        }
        if let Some(expected) = self.expect.filter(|expected| expected.seq > seq) {
            self.note(seq, &id, AuditWrong::Short { expected: expected.clone() });
        }
        self.report
    }
}

impl Store {
    /// Proves the audit trail, and that the expected head is in it. Reads row by row, all of one moment, beside a bot
    /// that goes on writing. What is wrong with the trail is no error; an error is the database's.
    pub async fn verify_audit(&self, expect: Option<&AuditHead>) -> Result<AuditReport, StoreError> {
        let begun = Open::begin(&self.read, self.database.begin_reading(), None).await;
        let mut tx = begun.map_err(StoreError::while_doing("beginning to read the audit trail"))?;
        let mut walk = Walk::new(expect);
        // Of the state before the first row, too: somebody may expect that there is none.
        walk.compare("");
        let mut rows = sqlx::query(TRAIL).fetch(&mut *tx);
        while let Some(row) = rows.try_next().await.map_err(StoreError::while_doing("reading the audit trail"))? {
            walk.step(&row)?;
        }
        drop(rows);
        let says = head(&mut tx).await?;
        tx.rollback().await.map_err(StoreError::while_doing("reading the audit trail"))?;
        Ok(walk.end(says))
    }
}

/// The head as it stands; none where it is missing or not readable.
async fn head(tx: &mut AnyConnection) -> Result<Option<AuditHead>, StoreError> {
    let row = sqlx::query("SELECT 'head' AS id, seq, hash FROM audit_head WHERE one = 1").fetch_optional(tx).await;
    let row = row.map_err(StoreError::while_doing("reading the head of the audit trail"))?;
    Ok(row.and_then(|row| AuditHead::stored(&Stored::new("audit_head", &row)).ok()))
}
