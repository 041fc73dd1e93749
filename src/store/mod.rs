//! The store: the only room with SQL. One file per aggregate (`threads`, `inbox`, `outbox`, `messages`, `plans`,
//! `cards`, `votes`, `ledger`, `usage`, `audit`), `seal` for the authenticity of rows, `line` for who writes next, the same
//! SQL text on `SQLite` and Postgres, and whatever differs in `dialect.rs`. It remembers and decides nothing: no clock,
//! no ids of its own making, no chance but the salt of what the audit trail says; resolved context, workflow and knowledge of a thread are never stored (RES-03).
//!
//! What one answered message costs, in commits: `accept` 1, `commit` 1 (audit, messages and ending together),
//! `sending` 1, `settle` 1, and `begin` 1 where a message waited for its thread; a test counts them. All are NORMAL, but a step that changes
//! plans commits FULL: a decision, an execution and its verification outlive a power cut.

mod audit;
mod cards;
mod dialect;
mod error;
mod inbox;
mod ledger;
mod line;
mod messages;
pub mod migrations;
mod newest;
mod outbox;
mod plans;
mod row;
mod seal;
mod standing;
mod sums;
mod threads;
mod transaction;
mod votes;
mod usage;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use countersign_core::approval::{Filed, PlanId, PlanState};
use countersign_core::signal::{SignalId, ThreadKey, Wall};
use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AnyPool};

pub use audit::{AuditEntry, AuditHead, AuditProblem, AuditReport, AuditRow, AuditWrong, BadHead, What};
pub use cards::{Face, Redraw};
pub use dialect::sqlite_url;
use dialect::{Database, Durability, Identity, Pools};
pub use error::StoreError;
pub use inbox::{Ending, Parked, Unfinished, UnfinishedSignals};
pub use ledger::{LedgerChange, ReadLedger};
use line::{Line, Rank};
pub use messages::{CardPost, TouchedPost};
use newest::Newest;
pub use outbox::{NewPost, OpenPosts, Settled, StoredPost};
use plans::Applied;
pub use plans::{Committed, OpenPlans, PlanChange, PlansLeft};
pub use row::BrokenRow;
pub use seal::{SealKey, SealState};
use seal::{SealWriter, Seals};
use sums::Check;
use transaction::Open;
pub use usage::NewUse;

/// An open database. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Store {
    write: AnyPool,
    read: AnyPool,
    database: Arc<Database>,
    line: Arc<Line>,
    fold: Option<AnyPool>,
    /// How many turns there had been when the log was folded last.
    folded: Arc<AtomicU64>,
    /// Whose changes these are, so that every thread has its turn.
    whose: Option<Arc<ThreadKey>>,
    seals: Seals,
    newest: Arc<Newest>,
    /// The file as it was opened; none on Postgres.
    identity: Option<Identity>,
}

/// The key of a database's seals, and what it may do.
#[derive(Clone, Debug)]
pub struct Sealing {
    /// The key.
    pub key: SealKey,
    /// The rows that are sealed as they are.
    pub adopts: Adopts,
    /// The file with the number of the newest change, by which an older copy of the database is recognised; none for a temporary
    /// database.
    pub newest: Option<PathBuf>,
}

/// The rows of a database that are sealed as they are when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adopts {
    /// None: the database must be sealed with this key.
    Nothing,
    /// A database that has no seals, because there was no key before.
    Unsealed,
    /// All rows, at an administrator's request.
    Everything,
}

impl Sealing {
    /// Returns a fixed key, for a database that no other program can write to: of a test, or of a replay.
    pub fn unguarded() -> Self {
        Self { key: SealKey::new([0; 32]), adopts: Adopts::Unsealed, newest: None }
    }
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
    /// What becomes of plans, in order.
    pub plans: Vec<PlanChange>,
    /// What becomes of the ledger, in order.
    pub ledger: Vec<LedgerChange>,
    /// What is to be said.
    pub posts: Vec<NewPost>,
    /// What cards show from now on.
    pub redraws: Vec<Redraw>,
    /// What was used.
    pub uses: Vec<NewUse>,
    /// Set on the last step.
    pub ending: Option<Ending>,
    /// On the last step: the signal as it is kept from then on, as JSON; none to keep it as it came.
    pub kept: Option<String>,
}

impl StepRecord {
    /// Returns whether a plan begins to be carried out with it.
    fn begins_a_change(&self) -> bool {
        let begins = |change: &PlanChange| match change {
            PlanChange::Move { moved, .. } => moved.to.state == PlanState::Executing,
            PlanChange::File(_) => false,
        };
        self.plans.iter().any(begins)
    }
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
    /// one sentence that names the database and the fix; a database that is sealed with another key is one.
    pub async fn open(url: &str, sealing: &Sealing) -> Result<Self, StoreError> {
        let database = Database::parse(url)?;
        database.prepare().await?;
        let newest = Newest::kept_in(sealing.newest.clone());
        let store = Self::over(database.pools(), database, (Seals(Some(sealing.key.clone())), newest));
        store.prepare_seals(sealing.adopts).await?;
        store.adopt_old_audit().await?;
        Ok(store)
    }

    /// Opens a database to read it, also while a bot runs on it: creates, migrates and changes nothing, and every
    /// writing call fails. Without a key no seal is checked. Does file and database I/O. An error is one sentence that names
    /// the database and the fix.
    pub async fn open_for_reading(url: &str, key: Option<SealKey>) -> Result<Self, StoreError> {
        let database = Database::parse(url)?;
        database.prepare_reading().await?;
        Ok(Self::over(database.reading_pools(), database, (Seals(key), Newest::kept_in(None))))
    }

    fn over(pools: Pools, database: Database, (seals, newest): (Seals, Arc<Newest>)) -> Self {
        let (line, identity) = (Line::new(pools.writers), database.identity());
        let (write, read, fold) = (pools.write, pools.read, pools.fold);
        Self {
            write,
            read,
            database: Arc::new(database),
            line,
            fold,
            folded: Arc::default(),
            whose: None,
            seals,
            newest,
            identity,
        }
    }

    /// The same store, in which what is written counts as this thread's: where several wait to write, the thread that
    /// wrote least lately comes first. No I/O.
    #[must_use]
    pub fn of(&self, thread: &ThreadKey) -> Self {
        Self { whose: Some(Arc::new(thread.clone())), ..self.clone() }
    }

    /// Commits one step: plans, audit rows, messages and ending together. Messages are unique on (signal, n), audit rows,
    /// moves, changes of the ledger and uses on their ids, so that the same step may be committed again and changes
    /// nothing; a second ending is refused. Where a plan was moved by somebody else, its target is held, or a row of the
    /// ledger was changed by somebody else, nothing of the step is stored.
    /// Writes, one commit: FULL where plans change.
    pub async fn commit(&self, step: &StepRecord) -> Result<Committed, StoreError> {
        let durability =
            if step.plans.is_empty() && step.ledger.is_empty() { Durability::Normal } else { Durability::Full };
        let mut tx = self.begin_write(durability).await?;
        let mut seals = SealWriter::new(&self.seals);
        match plans::apply(&mut tx, &mut seals, &step.plans).await? {
            Applied::Made(changed) => {
                let Some(kept) = ledger::apply(&mut tx, &mut seals, &step.ledger).await? else {
                    tx.rollback().await.map_err(StoreError::while_doing("dropping a step"))?;
                    return Ok(Committed::Overtaken);
                };
                let changed = changed + kept;
                self.write_step(&mut tx, &mut seals, step, changed).await?;
                let check = if step.begins_a_change() { Check::All } else { Check::Newest };
                self.commit_sealed(tx, seals, (durability, check), "committing a step").await?;
                Ok(Committed::Done)
            }
            Applied::Lost(plan) => {
                tx.rollback().await.map_err(StoreError::while_doing("dropping a step"))?;
                Ok(Committed::Lost(Box::new(self.known_plan(plan).await?)))
            }
            Applied::Held(plan, by) => {
                tx.rollback().await.map_err(StoreError::while_doing("dropping a step"))?;
                Ok(Committed::Held { filed: Box::new(self.known_plan(plan).await?), by })
            }
        }
    }

    /// Counts everything. Reads; the numbers are of one moment only where nobody writes.
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        self.count().await.map_err(StoreError::while_doing("counting"))
    }

    /// Returns false if the database's file was removed or replaced since it was opened: what is written goes nowhere then; and
    /// if another program was seen to have removed rows, or put them back. Looks at the file; on Postgres there is none.
    pub fn is_in_place(&self) -> bool {
        !self.newest.is_changed() && (self.identity.is_none() || self.identity == self.database.identity())
    }

    /// Folds what `SQLite` has in its log into the file, as far as nobody reads what was before; on Postgres there is nothing
    /// to do. Writes to the disk and waits for it, beside those who write. Whoever keeps a store open does this some times
    /// a second: else a commit does it now and then, and all others wait for that one. Where nothing was written since, it
    /// does nothing.
    pub async fn fold_log(&self) -> Result<(), StoreError> {
        let turns = self.line.turns();
        let Some(fold) = self.fold.as_ref().filter(|_| self.folded.swap(turns, Ordering::Relaxed) != turns) else {
            return Ok(());
        };
        let folded = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(fold).await;
        folded.map(drop).map_err(StoreError::while_doing("folding the log into the database"))
    }

    /// Closes every connection, once those in use are given back. `SQLite` then folds its log into the file.
    pub async fn close(&self) {
        if let Some(fold) = &self.fold {
            fold.close().await;
        }
        self.read.close().await;
        self.write.close().await;
    }

    /// Writes everything of a step but its plans and its rows of the ledger, of which `changed` rows were new.
    async fn write_step(
        &self,
        tx: &mut AnyConnection,
        seals: &mut SealWriter<'_>,
        step: &StepRecord,
        changed: u64,
    ) -> Result<(), StoreError> {
        let (thread, event) = inbox::thread_of(tx, &step.signal).await?;
        let posts = outbox::write(tx, &self.seals, (&step.signal, &event), &step.posts, step.at).await?;
        cards::write(tx, &self.seals, &step.redraws).await?;
        let uses = usage::write(tx, &thread, &step.uses, step.at).await?;
        let mut ended_before = false;
        if let Some(ending) = step.ending {
            ended_before = !inbox::end(tx, seals, &step.signal, (ending, step.at), step.kept.as_deref()).await?;
        }
        let appended = audit::append(tx, (&self.database, seals), (&step.signal, &thread), &step.audit).await?;
        // The same ending at the same time is the same step again only where nothing else of it is new.
        if ended_before && changed + posts + uses + appended > 0 {
            return Err(StoreError::Ended(step.signal.clone()));
        }
        Ok(())
    }

    async fn known_plan(&self, id: PlanId) -> Result<Filed, StoreError> {
        self.plan(&id).await?.ok_or(StoreError::UnknownPlan(id))
    }

    async fn begin_write(&self, durability: Durability) -> Result<Open, StoreError> {
        self.begin_ranked(Rank::Work, durability).await
    }

    async fn begin_ranked(&self, rank: Rank, durability: Durability) -> Result<Open, StoreError> {
        let turn = self.line.turn(rank, self.whose.as_deref()).await;
        let begun = Open::begin(&self.write, self.database.begin(durability), Some(turn)).await;
        begun.map_err(StoreError::while_doing("beginning to write"))
    }

    /// Runs one statement in a transaction of its own, NORMAL; returns how many rows it changed. Not on the bare
    /// connection: that would commit at the level that an earlier transaction asked for.
    async fn write_one(
        &self,
        rank: Rank,
        query: Query<'_, Any, AnyArguments>,
        doing: &'static str,
    ) -> Result<u64, StoreError> {
        let mut tx = self.begin_ranked(rank, Durability::Normal).await?;
        let changed = query.execute(&mut *tx).await.map_err(StoreError::while_doing(doing))?;
        tx.commit().await.map_err(StoreError::while_doing(doing))?;
        Ok(changed.rows_affected())
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
