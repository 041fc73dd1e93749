//! The store: the only room with SQL. One file per aggregate (`threads`, `inbox`, `outbox`, `audit`), the same SQL text
//! on `SQLite` and Postgres, and whatever differs in `dialect.rs`. It remembers and decides nothing: no clock, no ids
//! of its own making; resolved context, workflow and knowledge of a thread are never stored (RES-03).
//!
//! What one answered message costs, in commits: `accept` 1, `commit` 1 (audit, messages and ending together),
//! `sending` 1, `settle` 1, and `begin` 1 where it is called. All are NORMAL; a test counts them.

mod audit;
mod dialect;
mod error;
mod inbox;
pub mod migrations;
mod outbox;
mod row;
mod threads;

use std::sync::Arc;

use countersign_core::signal::{SignalId, Wall};
use sqlx::{Any, AnyPool, Transaction};

pub use audit::{AuditEntry, AuditRow, What};
use dialect::Database;
pub use dialect::sqlite_url;
pub use error::StoreError;
pub use inbox::{Ending, Unfinished};
pub use outbox::{NewPost, Settled, StoredPost};

/// An open database. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Store {
    write: AnyPool,
    read: AnyPool,
    database: Arc<Database>,
}

/// One step of one request: everything it changed, committed together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRecord {
    /// Whose request.
    pub signal: SignalId,
    /// When.
    pub at: Wall,
    /// What happened.
    pub audit: Vec<AuditRow>,
    /// What is to be said.
    pub posts: Vec<NewPost>,
    /// Set on the last step.
    pub ending: Option<Ending>,
    /// On the last step: the signal as it is kept from then on, as JSON; none to keep it as it came.
    pub kept: Option<String>,
}

/// How much there is, for tests and for `status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Threads ever seen.
    pub threads: u64,
    /// Signals whose request has not ended.
    pub open: u64,
    /// Signals whose request has ended.
    pub done: u64,
    /// Messages that wait.
    pub pending: u64,
    /// Messages being sent.
    pub sending: u64,
    /// Messages that are out.
    pub sent: u64,
    /// Messages that never will be out.
    pub failed: u64,
    /// Audit rows.
    pub audit: u64,
    /// Refusals, the repeated ones included.
    pub refusals: u64,
}

impl Store {
    /// Opens the database at `sqlite://FILE` (created where it is missing, mode 0600) or `postgres://...`, and applies
    /// missing migrations. Does file and database I/O; blocks for the moment in which it creates a file. An error is
    /// one sentence that names the database and the fix.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let database = Database::parse(url)?;
        database.prepare().await?;
        let pools = database.pools();
        Ok(Self { write: pools.write, read: pools.read, database: Arc::new(database) })
    }

    /// Commits one step: audit rows, messages and ending together. Messages are unique on (signal, n) and audit rows on
    /// their id, so that a step without an ending may be committed again and changes nothing; a second ending is
    /// refused. Writes, one commit.
    pub async fn commit(&self, step: &StepRecord) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        let thread = inbox::thread_of(&mut tx, &step.signal).await?;
        audit::write(&mut tx, &step.signal, &thread, &step.audit).await?;
        outbox::write(&mut tx, &step.signal, &step.posts, step.at).await?;
        if let Some(ending) = step.ending {
            inbox::end(&mut tx, &step.signal, ending, step.at).await?;
            if let Some(kept) = &step.kept {
                inbox::keep(&mut tx, &step.signal, kept).await?;
            }
        }
        tx.commit().await.map_err(StoreError::while_doing("committing a step"))
    }

    /// Counts everything. Reads; the numbers are of one moment only where nobody writes.
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        self.count().await.map_err(StoreError::while_doing("counting"))
    }

    /// Closes every connection, once those in use are given back. `SQLite` then folds its log into the file.
    pub async fn close(&self) {
        self.read.close().await;
        self.write.close().await;
    }

    async fn begin_write(&self) -> Result<Transaction<'static, Any>, StoreError> {
        self.write.begin_with(self.database.begin()).await.map_err(StoreError::while_doing("beginning to write"))
    }

    async fn count(&self) -> Result<Counts, sqlx::Error> {
        let mut connection = self.read.acquire().await?;
        let threads = threads::count(&mut connection).await?;
        let (open, done) = inbox::count(&mut connection).await?;
        let [pending, sending, sent, failed] = outbox::count(&mut connection).await?;
        let (audit, refusals) = audit::count(&mut connection).await?;
        Ok(Counts { threads, open, done, pending, sending, sent, failed, audit, refusals })
    }
}
