//! The life of one server: started when first needed, replaced when it ended or hangs, and left alone for a while when it
//! keeps ending. The lock here is held for a moment only, never while anybody talks to the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use countersign_core::port::BoxFuture;
use countersign_core::signal::Wall;
use countersign_core::tool::Registry;
use futures::FutureExt;
use futures::future::Shared;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::backoff::{Backoff, jittered};
use super::process::{self, Process};
use super::spokes::SpokeConfig;
use crate::clock::random_bytes;
use crate::vault::Credentials;

/// The most calls that one server has to answer at once. Beyond it calls fail at once: a queue would only hide that the
/// server cannot keep up.
pub(super) const CALLS_MAX: usize = 64;

/// What one server is doing, for `status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokeHealth {
    /// As in the configuration.
    pub name: String,
    /// What it is doing.
    pub state: SpokeState,
}

/// What a server is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpokeState {
    /// Nobody has needed it.
    NotStarted,
    /// It is being started right now.
    Starting,
    /// It takes calls.
    Running {
        /// The operating system's id.
        pid: u32,
        /// When it was started.
        since: Wall,
    },
    /// It ended, or could not be started; the first call after the wait tries again.
    BackingOff {
        /// Why, as a fragment.
        reason: String,
        /// How long until it is tried again, in milliseconds; 0 where the next call does.
        retry_in_ms: u64,
    },
}

/// Why there is no server to send a call to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unavailable {
    /// A fragment.
    pub(super) reason: String,
    /// How long until it is tried again; none where it never is, because the bot is stopping.
    pub(super) retry_in: Option<Duration>,
}

/// One server, whether it runs or not.
pub(super) struct Spoke {
    pub(super) config: SpokeConfig,
    /// One permit a call.
    pub(super) calls: Semaphore,
    pub(super) registry: Arc<Registry>,
    pub(super) credentials: Arc<Credentials>,
    state: Mutex<State>,
    pub(super) closing: CancellationToken,
    pub(super) tasks: TaskTracker,
    foreign_logged: AtomicBool,
}

struct State {
    phase: Phase,
    backoff: Backoff,
}

enum Phase {
    /// Never started.
    Idle,
    /// Everybody who needs it waits for the same start.
    Starting(Start),
    /// Takes calls.
    Up(Arc<Process>),
    /// Not before `until`.
    Down { reason: String, until: Instant },
}

type Started = Result<Arc<Process>, Unavailable>;
type Start = Shared<BoxFuture<'static, Started>>;

impl Spoke {
    /// A server that nobody has needed yet. Ends for good when `closing` does.
    pub(super) fn new(
        config: SpokeConfig,
        registry: Arc<Registry>,
        credentials: Arc<Credentials>,
        closing: CancellationToken,
    ) -> Self {
        Self {
            config,
            calls: Semaphore::new(CALLS_MAX),
            registry,
            credentials,
            state: Mutex::new(State { phase: Phase::Idle, backoff: Backoff::default() }),
            closing,
            tasks: TaskTracker::new(),
            foreign_logged: AtomicBool::new(false),
        }
    }

    /// The running server; starts it where it does not run. However many ask, one is started.
    pub(super) async fn process(self: &Arc<Self>) -> Started {
        let start = {
            let mut state = self.lock();
            if self.closing.is_cancelled() {
                return Err(Unavailable { reason: "the bot is stopping".to_owned(), retry_in: None });
            }
            match &state.phase {
                Phase::Up(process) => return Ok(Arc::clone(process)),
                Phase::Starting(start) => start.clone(),
                Phase::Down { reason, until } if *until > Instant::now() => {
                    return Err(Unavailable { reason: reason.clone(), retry_in: Some(*until - Instant::now()) });
                }
                Phase::Idle | Phase::Down { .. } => {
                    let start = self.begin();
                    state.phase = Phase::Starting(start.clone());
                    start
                }
            }
        };
        start.await
    }

    /// The start runs as a task of its own, so that it goes on when the call that asked for it runs out of time.
    fn begin(self: &Arc<Self>) -> Start {
        let spoke = Arc::clone(self);
        let task = self.tasks.spawn(async move { spoke.start().await });
        let lost = |_| Err(Unavailable { reason: "its start was interrupted".to_owned(), retry_in: None });
        task.map(move |joined| joined.unwrap_or_else(lost)).boxed().shared()
    }

    async fn start(self: Arc<Self>) -> Started {
        let me = Arc::downgrade(&self);
        let on_end = move |pid, lived, reason: &str| note_end(&me, pid, lived, reason);
        let started = process::start(&self, on_end).await;
        let mut state = self.lock();
        // One that has ended since its greeting is not noted as an end: it was not yet in use.
        let started = started.and_then(|process| match process.end_reason() {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(Arc::new(process)),
        });
        match started {
            Ok(process) => {
                self.log_start(&process);
                state.phase = Phase::Up(Arc::clone(&process));
                Ok(process)
            }
            Err(reason) => {
                let wait = state.backoff.not_started();
                let wait = self.down(&mut state, &reason, wait);
                Err(Unavailable { reason, retry_in: Some(wait) })
            }
        }
    }

    /// Takes a server that hangs out of use. Calls that run on it keep it until they are done; then it ends.
    pub(super) fn retire(&self, hung: &Process) {
        let mut state = self.lock();
        if matches!(&state.phase, Phase::Up(process) if process.pid == hung.pid) {
            tracing::warn!(target: "spoke", spoke = self.config.name, pid = hung.pid, "hangs and is replaced");
            let reason = "it did not answer a call in time and was replaced".to_owned();
            state.phase = Phase::Down { reason, until: Instant::now() };
        }
    }

    fn down(&self, state: &mut State, reason: &str, wait: Duration) -> Duration {
        let wait = jittered(wait, u32::from_le_bytes(random_bytes()));
        let retry_in_ms = millis(wait);
        tracing::error!(target: "spoke", spoke = self.config.name, retry_in_ms, "is down: {reason}");
        state.phase = Phase::Down { reason: reason.to_owned(), until: Instant::now() + wait };
        wait
    }

    fn log_start(&self, process: &Process) {
        let (spoke, pid) = (&self.config.name, process.pid);
        tracing::info!(target: "spoke", spoke, pid, "started");
        if !process.foreign.is_empty() && !self.foreign_logged.swap(true, Ordering::Relaxed) {
            let names = process.foreign.join(", ");
            tracing::warn!(target: "spoke", spoke, "offers tools that are not declared; they are ignored: {names}");
        }
    }

    /// What the server is doing.
    pub(super) fn health(&self) -> SpokeHealth {
        let state = match &self.lock().phase {
            Phase::Idle => SpokeState::NotStarted,
            Phase::Starting(_) => SpokeState::Starting,
            Phase::Up(process) => SpokeState::Running { pid: process.pid, since: process.since },
            Phase::Down { reason, until } => SpokeState::BackingOff {
                reason: reason.clone(),
                retry_in_ms: millis(until.saturating_duration_since(Instant::now())),
            },
        };
        SpokeHealth { name: self.config.name.clone(), state }
    }

    /// Waits until nothing of the server is left. `closing` must have been cancelled.
    pub(super) async fn gone(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves a state that is old at worst, and every use of it copes with that.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server has ended. Where it was the current one, the next is started after a wait; a retired one is only logged.
fn note_end(spoke: &Weak<Spoke>, pid: u32, lived: Duration, reason: &str) {
    let Some(spoke) = spoke.upgrade() else { return };
    let mut state = spoke.lock();
    let current = matches!(&state.phase, Phase::Up(process) if process.pid == pid);
    if current && !spoke.closing.is_cancelled() {
        let wait = state.backoff.ended(lived);
        spoke.down(&mut state, reason, wait);
    } else {
        tracing::info!(target: "spoke", spoke = spoke.config.name, pid, "ended: {reason}");
    }
}

/// Rounded up, so that 0 means now.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
