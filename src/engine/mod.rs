//! Carries: one bounded queue per thread, `step` in the middle, effects performed in order, messages out of the outbox.
//! It decides nothing; what may happen was decided in the core, and what it carries out is `Cleared`.

mod accept;
mod health;
mod outbox;
mod pause;
mod perform;
mod plans;
mod player;
mod spending;
mod suggest;
mod supervise;
mod touch;
mod turn;
mod world;
mod worker;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use anyhow::Context;
use countersign_core::effect::{Effect, Input};
use countersign_core::port::{Adapter, Ended, Mind, Tools};
use countersign_core::signal::{Now, Platform, SignalId, ThreadKey, Wall};
use countersign_core::thread::Directory;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::store::{BrokenRow, PlansLeft, Store, StoreError};
use crate::telemetry;

pub use player::Player;
pub use world::{SpokesView, VaultView, World};

use health::Health;
use outbox::Outbox;
use spending::Spending;
use worker::Handle;

/// How long running requests may still take once the bot was asked to stop. What is not done by then stays in the inbox
/// and is done after the next start, so that there is no point in waiting for long.
const GRACE: Duration = Duration::from_secs(2);

/// How often the log of the database is folded into it.
const FOLD_EVERY: Duration = Duration::from_millis(200);

/// How many threads are kept for as long as one is: of more, those that have been idle for a minute leave.
const THREADS_MAX: usize = 1_000;

/// How often the threads are counted.
const CROWDED_EVERY: Duration = Duration::from_secs(10);

/// Somebody who looks on: is told every step after it was decided and before anything of it is done.
pub trait Watch: Send + Sync {
    /// One step. May write a file; must not block for long.
    fn step(&self, thread: &ThreadKey, now: Now, input: &Input, effects: &[Effect]);
}

/// How a run ended.
#[derive(Debug)]
pub struct Ran {
    /// Each platform.
    pub ends: Vec<(Platform, Ended)>,
    /// The plans that may still come to something; none where they cannot be counted.
    pub left: Option<PlansLeft>,
    /// True if it ended because the database was removed or replaced.
    pub lost_its_database: bool,
}

/// Everything that runs.
pub struct Engine {
    store: Store,
    world: World,
    tools: Arc<dyn Tools>,
    mind: Option<Arc<dyn Mind>>,
    adapters: BTreeMap<Platform, Arc<dyn Adapter>>,
    clock: Clock,
    watch: Option<Arc<dyn Watch>>,
    queue_max: usize,
    /// The time for which an answer is retried.
    delivery: Duration,
    threads: Mutex<BTreeMap<ThreadKey, Handle>>,
    /// There are many threads: those that have been idle for a while leave.
    crowded: Notify,
    /// The latest time of acceptance given out.
    last_received: AtomicI64,
    /// How many accepted signals are not answered yet.
    open: watch::Sender<usize>,
    /// Whether what is known of the ledger is what the store had when it was last changed here.
    ledger_is_read: tokio::sync::Mutex<bool>,
    /// True while steps wait because nothing can be stored.
    store_is_in_trouble: AtomicBool,
    outbox: Outbox,
    health: Health,
    /// Signals that an earlier process was at work on when it ended are worked on one after the other.
    suspects: Arc<Semaphore>,
    /// When signals were set aside, as the store said at the start.
    set_aside: OnceLock<Vec<Wall>>,
    tell: Tell,
    spending: Spending,
    /// What is offered to whoever types. Whoever looks into it has a copy, and no thread waits for that.
    directory: RwLock<Arc<Directory>>,
    stopping: CancellationToken,
    /// The grace is over: whatever still runs ends where it is.
    over: CancellationToken,
    tasks: TaskTracker,
}

/// What an engine is made of.
pub struct Parts {
    /// The database.
    pub store: Store,
    /// What every step may look at.
    pub world: World,
    /// The tool servers.
    pub tools: Arc<dyn Tools>,
    /// The models, where some are configured.
    pub mind: Option<Arc<dyn Mind>>,
    /// The platforms.
    pub adapters: Vec<Arc<dyn Adapter>>,
    /// The most signals that wait in one thread; one more is refused, and the platform is told (CARD-09).
    pub queue_max: usize,
    /// The time for which an answer is retried.
    pub delivery: Duration,
    /// Who looks on.
    pub watch: Option<Arc<dyn Watch>>,
    /// Says a sentence to whoever runs the bot, at once.
    pub tell: Tell,
}

/// The default time for which an answer is retried.
pub const A_DAY: Duration = Duration::from_hours(24);

/// Says something to whoever runs the bot. May write to a terminal.
pub type Tell = Box<dyn Fn(&str) + Send + Sync>;

impl Engine {
    /// An engine at rest.
    pub fn new(parts: Parts) -> Arc<Self> {
        let adapters = parts.adapters.into_iter().map(|adapter| (adapter.platform(), adapter)).collect();
        Arc::new(Self {
            store: parts.store,
            world: parts.world,
            tools: parts.tools,
            mind: parts.mind,
            adapters,
            clock: Clock::start(),
            watch: parts.watch,
            queue_max: parts.queue_max,
            delivery: parts.delivery,
            threads: Mutex::default(),
            crowded: Notify::new(),
            last_received: AtomicI64::new(0),
            open: watch::channel(0).0,
            ledger_is_read: tokio::sync::Mutex::new(true),
            outbox: Outbox::default(),
            health: Health::default(),
            suspects: Arc::new(Semaphore::new(1)),
            set_aside: OnceLock::new(),
            tell: parts.tell,
            store_is_in_trouble: AtomicBool::new(false),
            spending: Spending::default(),
            directory: RwLock::default(),
            stopping: CancellationToken::new(),
            over: CancellationToken::new(),
            tasks: TaskTracker::new(),
        })
    }

    /// Runs until the input of every platform is over, none of them can go on, or `stop` is cancelled; then stops
    /// gracefully. First takes up what an earlier process left.
    pub async fn run(self: &Arc<Self>, stop: CancellationToken) -> anyhow::Result<Ran> {
        let read = self.store.ledger().await.context("failed to read who was given what in chat")?;
        self.on_broken_rows(&read.broken);
        self.world.keep(read.ledger, self.clock.now());
        self.recover().await.context("failed to take up what was left unfinished")?;
        let outbox = tokio::spawn(self.tasks.track_future(Arc::clone(self).deliver_messages()));
        let cards = tokio::spawn(Arc::clone(self).keep_cards());
        let database = tokio::spawn(Arc::clone(self).keep_database(stop.clone()));
        let few = tokio::spawn(Arc::clone(self).keep_few_threads());
        let mut hearing = tokio::task::JoinSet::new();
        for adapter in self.adapters.values() {
            hearing.spawn(Arc::clone(self).hear(Arc::clone(adapter), stop.clone()));
        }
        let ends = hearing.join_all().await;
        if ends.iter().any(|(_, ended)| *ended == Ended::InputOver) {
            self.until_answered(&stop).await;
        }
        self.stop(outbox).await;
        if let Err(error) = self.store.put_back_begun().await {
            tracing::warn!(%error, "requests that are taken up at the next start will count as interrupted");
        }
        cards.abort();
        database.abort();
        few.abort();
        let lost_its_database = !self.store.is_in_place();
        let left = self.store.plans_left().await;
        self.store.close().await;
        let left = left.inspect_err(|error| tracing::warn!(%error, "open plans were not counted")).ok();
        Ok(Ran { ends, left, lost_its_database })
    }

    /// Keeps the log of the database short, so that no commit has to; and stops the bot if the database is not the one that was
    /// opened, because what was accepted would be lost.
    async fn keep_database(self: Arc<Self>, stop: CancellationToken) {
        loop {
            tokio::time::sleep(FOLD_EVERY).await;
            if !self.store.is_in_place() {
                tracing::error!("the database was removed, replaced or changed by another program; the bot stops");
                stop.cancel();
                return;
            }
            if let Err(error) = self.store.fold_log().await {
                tracing::warn!(%error, "the log of the database is not folded into it; it grows until that is possible");
            }
        }
    }

    /// Keeps the memory that threads take bounded: what a thread knows is forgotten sooner where there are many.
    async fn keep_few_threads(self: Arc<Self>) {
        loop {
            tokio::time::sleep(CROWDED_EVERY).await;
            if self.lock_threads().len() > THREADS_MAX {
                self.crowded.notify_waiters();
            }
        }
    }

    /// Waits until every accepted signal is answered, or somebody asks to stop.
    async fn until_answered(&self, stop: &CancellationToken) {
        let mut open = self.open.subscribe();
        tokio::select! {
            _ = open.wait_for(|open| *open == 0) => {}
            () = stop.cancelled() => {}
        }
    }

    async fn stop(&self, outbox: tokio::task::JoinHandle<()>) {
        self.stopping.cancel();
        self.lock_threads().clear();
        self.tasks.close();
        if tokio::time::timeout(GRACE, self.tasks.wait()).await.is_err() {
            tracing::warn!("some requests did not end in time; they are taken up at the next start");
            self.over.cancel();
            outbox.abort();
            // What runs now ends with the step it is in; only then may the database be closed under it.
            self.tasks.wait().await;
        }
    }

    /// Reads the ledger again, after it was changed. Where it cannot be read nothing counts that stands in it, because an
    /// account or a permission may have been taken away just now; the next signal tries again.
    async fn read_ledger(&self, now: Now) {
        // One at a time, so that what was read earlier never replaces what was read later.
        let mut is_read = self.ledger_is_read.lock().await;
        let read = self.store.ledger().await;
        *is_read = read.is_ok();
        let read = read.inspect_err(|error| tracing::error!(%error, "the ledger cannot be read; nothing in it counts"));
        let read = read.unwrap_or_default();
        self.on_broken_rows(&read.broken);
        self.world.keep(read.ledger, now);
    }

    /// Notifies the operator of rows that the bot did not write, and counts them. Nothing is decided by them.
    fn on_broken_rows(&self, rows: &[BrokenRow]) {
        for BrokenRow { table, id, problem } in rows {
            tracing::error!(table, id, problem, "a stored row is not what the bot wrote; nothing is decided by it");
            telemetry::count("rows_broken_total", &[("table", (*table).to_owned())]);
            (self.tell)(&format!(
                "{problem}. Another program may have changed the database. Nothing is decided by this row; `countersign audit verify` lists all such rows"
            ));
        }
    }

    /// Notifies the operator that nothing can be stored; once until it can.
    fn on_store_trouble(&self, error: &StoreError) {
        if !self.store_is_in_trouble.swap(true, Ordering::Relaxed) {
            let why = std::error::Error::source(error).map(|source| format!(" ({source})")).unwrap_or_default();
            (self.tell)(&format!("{error}{why}; what was accepted waits, and goes on when that is mended"));
        }
    }

    /// Notifies the operator that steps can be stored again, if they could not.
    fn on_stored_again(&self) {
        if self.store_is_in_trouble.swap(false, Ordering::Relaxed) {
            (self.tell)("the database can be written to again; what waited goes on");
        }
    }

    /// Treats a row that the bot did not write as missing.
    fn sound<T>(&self, read: Result<Option<T>, StoreError>) -> Result<Option<T>, StoreError> {
        match read {
            Err(error) if error.broken_row().is_some() => {
                self.on_broken_rows(error.broken_row().as_slice());
                Ok(None)
            }
            other => other,
        }
    }

    /// Tries again where the ledger could not be read.
    async fn has_ledger(&self, now: Now) {
        let is_read = *self.ledger_is_read.lock().await;
        if !is_read {
            self.read_ledger(now).await;
        }
    }

    /// A signal was accepted in this thread.
    fn on_accepted(&self, thread: &ThreadKey) {
        if let Some(handle) = self.lock_threads().get(thread) {
            handle.one_accepted();
        }
        self.open.send_modify(|open| *open = open.saturating_add(1));
    }

    /// An accepted signal was answered: everything that was to be said about it is out, or never will be.
    fn on_answered(&self, signal: &SignalId, thread: &ThreadKey) {
        self.world.rates.answered(signal);
        self.outbox.answered(signal);
        if let Some(adapter) = self.adapters.get(&thread.platform) {
            adapter.answered(signal);
        }
        if let Some(handle) = self.lock_threads().get(thread) {
            handle.one_answered();
        }
        self.open.send_modify(|open| *open = open.saturating_sub(1));
    }

    /// Takes note of when signals were set aside.
    fn note_set_aside(&self, at: Vec<Wall>) {
        // A run recovers once, at its start.
        let _first = self.set_aside.set(at);
    }

    /// How many signals were set aside in the last days.
    fn set_aside_lately(&self, now: Now) -> usize {
        let since = set_aside_since(now.wall);
        self.set_aside.get().map_or(0, |all| all.iter().filter(|at| **at >= since).count())
    }

    fn lock_threads(&self) -> MutexGuard<'_, BTreeMap<ThreadKey, Handle>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Since when `status` and `doctor` name what was set aside: for a week.
pub fn set_aside_since(now: Wall) -> Wall {
    const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1000;
    Wall(now.0.saturating_sub(WEEK_MS))
}

#[cfg(test)]
mod tests;
