//! One thread's worker: takes its signals in order, one request at a time, and feeds answers and deadlines into `step`.
//! Threads run beside each other and share nothing but the store and the tool servers.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use countersign_core::effect::Input;
use countersign_core::envelope::Envelope;
use countersign_core::mind::{Thought, Unheard};
use countersign_core::signal::{CallId, Now, Signal, SignalId, ThreadKey};
use countersign_core::thread::{TTL_MS, ThreadState};
use futures::FutureExt;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;
use tracing::Instrument;

use super::Engine;
use super::pause::Pause;
use super::turn::{Next, Turn, takes_turns};
use super::world::About;
use crate::store::Store;

/// The most tool calls of one thread at a time (LOOP-03).
const CALLS_AT_ONCE: usize = 4;

/// More messages than one attempt at a request ever sends.
const POSTS_OF_AN_ATTEMPT: u32 = 1_000;

/// A step that takes so long is named in the log: nothing that it does should.
const LONG_STEP: Duration = Duration::from_millis(250);

/// How long an idle thread is kept where there are many.
pub(super) const KEPT_IDLE: Duration = Duration::from_mins(1);

/// How many signals may wait that a thread hears also while it works.
const AT_ONCE_MAX: usize = 4;

/// The way into a thread's queue.
#[derive(Clone)]
pub(super) struct Handle {
    pub queue: mpsc::Sender<Job>,
    /// For what is heard also while something is worked on, whatever waits.
    pub at_once: mpsc::Sender<Job>,
    pub entrance: Arc<tokio::sync::Mutex<()>>,
    /// How many signals were accepted here and are not answered yet: in the queue, at work, or on their way out.
    open: Arc<AtomicUsize>,
}

impl Handle {
    pub(super) fn new(queue_max: usize) -> (Self, Jobs) {
        let (queue, in_order) = mpsc::channel(queue_max);
        let (at_once, aside) = mpsc::channel(AT_ONCE_MAX);
        let jobs = Jobs { in_order, aside };
        (Self { queue, at_once, entrance: Arc::default(), open: Arc::default() }, jobs)
    }

    /// Whether so many are accepted and unanswered that no more should come in: the way out is bounded like the way in.
    pub(super) fn is_full(&self) -> bool {
        self.open.load(Ordering::Relaxed) >= self.queue.max_capacity().saturating_mul(2)
    }

    /// Where a signal waits for its thread.
    pub(super) const fn lane(&self, at_once: bool) -> &mpsc::Sender<Job> {
        if at_once { &self.at_once } else { &self.queue }
    }

    /// Whether nothing that was accepted here is unanswered.
    pub(super) fn is_idle(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0
    }

    pub(super) fn one_accepted(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn one_answered(&self) {
        let less = |open: usize| Some(open.saturating_sub(1));
        let _always_some = self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

/// What comes out of a thread's queue.
pub(super) struct Jobs {
    in_order: mpsc::Receiver<Job>,
    aside: mpsc::Receiver<Job>,
}

/// What is worked on, while something else is heard.
struct SetAside {
    current: Option<Signal>,
    deadline: Option<(Instant, SignalId)>,
    is_touched: bool,
    span: tracing::Span,
}

/// A signal to work on.
pub(super) struct Job {
    /// Boxed: a queue sets room for many jobs aside, in every thread.
    pub signal: Box<Signal>,
    pub attempt: Attempt,
}

/// Which attempt at a signal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The first one; `is_begun` where the signal is stored as begun already.
    First { is_begun: bool },
    /// An earlier process accepted the signal and did not answer it; `was_interrupted` where that process ended while it
    /// worked on the signal, so that this one may end by it, too.
    Again { was_interrupted: bool },
    /// The signal is not worked on any more: its thread is told so.
    SetAside,
}

/// One thread at work.
pub(super) struct Worker {
    pub(super) engine: Arc<Engine>,
    pub(super) key: ThreadKey,
    /// The engine's, in this thread's name.
    pub(super) store: Store,
    jobs: Jobs,
    /// What was taken out of the queue and waits for a turn.
    next: Next,
    /// The turn of what is worked on.
    at_work: Turn,
    pub(super) state: ThreadState,
    pub(super) calls: JoinSet<(CallId, Envelope)>,
    /// By which a call under way can be given up.
    pub(super) under_way: BTreeMap<CallId, AbortHandle>,
    pub(super) calls_at_once: Arc<Semaphore>,
    /// The models that were asked and have not answered: for which signal, which question of it, and what was said.
    pub(super) thoughts: JoinSet<(Signal, u32, Result<Thought, Unheard>)>,
    /// From which number on the messages of this attempt are counted: what an earlier one has said stays said, and what this
    /// one says is not taken for it.
    pub(super) posts_from: u32,
    /// The request being worked on, and when its time is over.
    pub(super) current: Option<Signal>,
    /// What is worked on, while something else is heard.
    set_aside: Option<SetAside>,
    pub(super) deadline: Option<(Instant, SignalId)>,
    /// Whether the thread has heard what the store holds of its plans.
    pub(super) loaded: bool,
    /// How long the store is left alone that could not say what it holds of the thread's plans.
    pub(super) unread: Pause,
    /// How long no plan is looked after: what was looked after in vain waits.
    pub(super) quiet: Pause,
    /// Our own signal that was accepted and of which nothing could be stored: the next look begins it again, because a new
    /// one each time would fill the inbox.
    pub(super) left_over: Option<Signal>,
    /// Whether something of the current request is stored.
    pub(super) is_touched: bool,
    /// Since when the thread has nothing to do.
    pub(super) idle_since: Option<Instant>,
    /// Audit rows that wait for the step's commit.
    pub(super) unwritten: Vec<crate::store::AuditRow>,
    pub(super) span: tracing::Span,
}

impl Worker {
    pub(super) fn new(engine: Arc<Engine>, key: ThreadKey, jobs: Jobs) -> Self {
        Self {
            store: engine.store.of(&key),
            engine,
            key,
            jobs,
            next: Next::default(),
            at_work: None,
            state: ThreadState::default(),
            calls: JoinSet::new(),
            under_way: BTreeMap::new(),
            calls_at_once: Arc::new(Semaphore::new(CALLS_AT_ONCE)),
            thoughts: JoinSet::new(),
            posts_from: 0,
            current: None,
            set_aside: None,
            deadline: None,
            loaded: false,
            unread: Pause::none(),
            quiet: Pause::none(),
            left_over: None,
            is_touched: false,
            idle_since: None,
            unwritten: Vec::new(),
            span: tracing::Span::none(),
        }
    }

    /// Works until the thread has been idle for its time to live, or the bot stops. An idle thread is dropped, not
    /// stored: it starts anew in RESOLVING (DESIGN.md section 5). A panic takes the thread's memory with it and nothing
    /// else: its request ends with a notice, and the other threads go on.
    pub(super) async fn run(mut self) {
        loop {
            let turned = AssertUnwindSafe(self.turn()).catch_unwind().await;
            match turned {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return,
                Err(_) => self.set_aside_what_panicked().await,
            }
        }
    }

    async fn turn(&mut self) -> ControlFlow<()> {
        if !self.loaded && !self.state.is_busy() && self.unread.is_over() {
            self.load().await;
        }
        let stopping = self.engine.stopping.clone();
        let busy = self.state.is_busy();
        if busy {
            self.idle_since = None;
        } else {
            // Whatever it was for has ended, in whatever way.
            self.at_work = None;
            self.idle_since.get_or_insert_with(Instant::now);
        }
        let deadline = self.deadline.as_ref().map(|(at, _)| *at);
        let due = self.next_due();
        let unread = if self.loaded { None } else { self.unread.until() };
        tokio::select! {
            biased;
            () = self.engine.over.cancelled() => return ControlFlow::Break(()),
            Some(answered) = self.calls.join_next() => self.on_call_ended(answered).await,
            Some(thought) = self.thoughts.join_next() => self.on_thought(thought).await,
            () = until(deadline) => self.on_deadline().await,
            (job, turn) = self.next.come(), if !busy && !stopping.is_cancelled() => {
                self.at_work = turn;
                self.begin(job).await;
            }
            job = self.jobs.in_order.recv(), if !busy && self.next.is_none() && !stopping.is_cancelled() => match job {
                Some(job) if job.attempt == (Attempt::Again { was_interrupted: true }) => {
                    self.next.wait_alone(job, Arc::clone(&self.engine.suspects));
                }
                Some(job) if takes_turns(&job.signal.payload) => {
                    self.next.wait(job, self.engine.world.rates.at_work());
                }
                Some(job) => self.begin(job).await,
                None => return ControlFlow::Break(()),
            },
            Some(job) = self.jobs.aside.recv(), if (busy || self.next.is_none()) && !stopping.is_cancelled() => {
                self.hear_aside(job).await;
            }
            () = stopping.cancelled(), if !busy => return ControlFlow::Break(()),
            () = until(due), if !busy => self.look_after_plans().await,
            // The next turn reads them.
            () = until(unread), if !busy => {}
            () = tokio::time::sleep(Duration::from_millis(TTL_MS)), if !busy => {
                if self.leave() {
                    return ControlFlow::Break(());
                }
            }
            () = self.engine.crowded.notified(), if !busy => {
                if self.idle_since.is_some_and(|since| since.elapsed() >= KEPT_IDLE) && self.leave() {
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// What was worked on ends in a notice. Where even that panics it stays in the inbox for the next start.
    async fn set_aside_what_panicked(&mut self) {
        if AssertUnwindSafe(self.on_panic()).catch_unwind().await.is_err() {
            tracing::error!(parent: &self.span, "a request is given up until the next start: its notice panicked");
            self.set_aside = None;
            self.give_up();
        }
    }

    async fn on_panic(&mut self) {
        tracing::error!(parent: &self.span, "a thread panicked; it starts anew");
        self.posts_from = self.posts_from.saturating_add(POSTS_OF_AN_ATTEMPT);
        self.forget_everything();
        self.load().await;
        loop {
            if let Some(signal) = &mut self.current {
                // They may be what it was.
                signal.payload.forget_words();
                let interrupted = Input::Interrupted(Box::new(signal.clone()));
                self.step(interrupted).await;
            }
            if !self.take_up_again() {
                return;
            }
        }
    }

    /// Hears something while something else is worked on, which then ends where that was asked for.
    async fn hear_aside(&mut self, job: Job) {
        let Some(at_work) = self.current.as_ref().map(|signal| signal.id.clone()) else {
            return self.begin(job).await;
        };
        self.set_aside((*job.signal).clone());
        self.step(Input::Aside(job.signal)).await;
        self.take_up_again();
        if !self.state.is_busy() {
            // It could not be stored, and the thread's memory is gone with it.
            return self.give_up();
        }
        self.step(Input::Halt(at_work)).await;
    }

    /// From here on this is worked on.
    pub(super) fn set_aside(&mut self, signal: Signal) {
        let span = tracing::info_span!("signal", id = %signal.id, platform = %signal.thread.platform);
        self.set_aside = Some(SetAside {
            current: self.current.replace(signal),
            deadline: self.deadline.take(),
            is_touched: std::mem::take(&mut self.is_touched),
            span: std::mem::replace(&mut self.span, span),
        });
    }

    /// From here on that is worked on again which was set aside, if something was.
    pub(super) fn take_up_again(&mut self) -> bool {
        let Some(before) = self.set_aside.take() else { return false };
        (self.current, self.deadline) = (before.current, before.deadline);
        (self.is_touched, self.span) = (before.is_touched, before.span);
        true
    }

    pub(super) async fn begin(&mut self, job: Job) {
        let Job { signal, attempt } = job;
        self.idle_since = None;
        self.span = tracing::info_span!("signal", id = %signal.id, platform = %signal.thread.platform);
        let is_marked = attempt == (Attempt::First { is_begun: true });
        let attempts = if is_marked { 0 } else { self.count_attempt(&signal.id).await };
        let is_first = matches!(attempt, Attempt::First { .. });
        self.posts_from = if is_first { 0 } else { attempts.saturating_mul(POSTS_OF_AN_ATTEMPT) };
        self.current = Some((*signal).clone());
        self.is_touched = false;
        self.engine.has_ledger(self.engine.clock.now()).await;
        self.engine.world.rights_settled().await;
        if !self.has_ready(&signal).await {
            tracing::error!("a request is given up until the next start: its thread's plans cannot be read");
            self.give_up();
            return;
        }
        self.step(match attempt {
            Attempt::First { .. } => Input::Signal(signal),
            Attempt::Again { .. } => Input::Again(signal),
            Attempt::SetAside => Input::Interrupted(signal),
        })
        .await;
    }

    /// Marks a signal as begun. Where that cannot be stored the signal is worked on all the same: the count only guards
    /// against a signal that kills the process.
    async fn count_attempt(&self, signal: &SignalId) -> u32 {
        self.store.begin(signal).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not count an attempt");
            0
        })
    }

    async fn on_call_ended(&mut self, answered: Result<(CallId, Envelope), tokio::task::JoinError>) {
        match answered {
            Ok((call, envelope)) => {
                self.under_way.remove(&call);
                self.step(Input::Answer { call, envelope: Box::new(envelope) }).await;
            }
            // The call's task itself broke; the request then ends by its deadline.
            Err(error) if error.is_cancelled() => {}
            Err(error) => tracing::error!(%error, "a tool call broke"),
        }
    }

    async fn on_thought(&mut self, thought: Result<(Signal, u32, Result<Thought, Unheard>), tokio::task::JoinError>) {
        match thought {
            Ok((signal, n, heard)) => {
                self.step(Input::Thought { signal: Box::new(signal), n, heard: Box::new(heard) }).await;
            }
            Err(error) if error.is_cancelled() => {}
            // The request then ends by its deadline.
            Err(error) => tracing::error!(%error, "asking a model broke"),
        }
    }

    async fn on_deadline(&mut self) {
        if let Some((_, signal)) = self.deadline.take() {
            self.step(Input::Deadline(signal)).await;
        }
    }

    /// One step, and everything that follows from it.
    pub(super) async fn step(&mut self, input: Input) {
        let mut next = Some(input);
        while let Some(input) = next {
            let now = self.engine.clock.now();
            next = self.step_at(input, now).await;
        }
    }

    /// One step at this time. Returns what the thread has to hear next, where the store did not take the step.
    pub(super) async fn step_at(&mut self, input: Input, now: Now) -> Option<Input> {
        let span = self.span.clone();
        let state = std::mem::take(&mut self.state);
        let begun = Instant::now();
        let told = self.engine.watch.as_ref().map(|_| input.clone());
        let (state, effects) = span.in_scope(|| {
            let _phase = tracing::debug_span!("reason").entered();
            let spent = self.spent(&input, now);
            let platforms = self.engine.health.statuses(now.mono);
            let set_aside = self.engine.set_aside_lately(now);
            let about = About { spent: spent.as_ref(), signal: self.current.as_ref(), platforms, set_aside };
            self.engine.world.step(state, input, about, now)
        });
        if let Some((watch, told)) = self.engine.watch.as_ref().zip(told) {
            watch.step(&self.key, now, &told, &effects);
        }
        crate::telemetry::seconds("step_seconds", begun.elapsed());
        if begun.elapsed() >= LONG_STEP {
            let took_ms = begun.elapsed().as_millis();
            tracing::warn!(parent: &span, took_ms, "a step took long; others may have waited for it");
        }
        self.state = state;
        self.engine.take_note(&self.state, now.mono);
        self.perform(effects, now).instrument(span).await
    }

    /// The thread's memory is gone; what the store has of its plans is told to it again before it goes on.
    pub(super) fn forget_everything(&mut self) {
        self.state = ThreadState::default();
        self.loaded = false;
        self.calls.abort_all();
        self.under_way.clear();
        self.thoughts.abort_all();
        self.deadline = None;
    }

    pub(super) fn has_no_jobs(&self) -> bool {
        self.jobs.in_order.is_empty() && self.jobs.aside.is_empty() && self.next.is_none()
    }

    /// Takes the thread out of the engine's list, unless somebody is just about to send it something.
    pub(super) fn leave(&self) -> bool {
        if !self.loaded || self.state.has_open_plans() {
            // Somebody has to look after their time, and a thread that has not read them may have some.
            return false;
        }
        let mut threads = self.engine.lock_threads();
        let alone = threads.get(&self.key).is_some_and(|handle| handle.queue.strong_count() == 1);
        if alone && self.has_no_jobs() {
            threads.remove(&self.key);
            return true;
        }
        false
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
