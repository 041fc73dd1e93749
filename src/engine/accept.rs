//! The way in: a signal is stored before anything acts on it, and only then does the platform's cursor move on. What an
//! earlier process accepted and did not answer is taken up again here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context;
use countersign_core::port::{Admission, Asked, Asker, BoxFuture, Condition, Ingress, Right, Suggestion, Touch};
use countersign_core::rate::{Allowance, too_long};
use countersign_core::signal::{
    Addressed, ConversationId, EventId, Payload, Platform, Signal, SignalId, ThreadKey, Wall,
};
use countersign_core::text;
use tokio::sync::OwnedMutexGuard;
use tracing::Instrument;

use super::Engine;
use super::health::Change;
use super::worker::{Attempt, Handle, Job, Worker};
use crate::access::{Judged, Place};
use crate::clock::{fresh_id, wall_now};
use crate::store::Unfinished;

/// A signal during whose work the process ended so often is set aside: a message that ends the process must not do so
/// forever.
const INTERRUPTIONS_MAX: u32 = 2;

/// The most bytes of an id of a platform: twice what any of them gives. A database does not index longer ones.
const ID_BYTES_MAX: usize = 512;

/// The most characters of the name that an account gives itself.
const NAME_CHARS_MAX: usize = 200;

/// What an adapter is given of the engine.
pub(super) struct Entrance {
    pub(super) engine: Arc<Engine>,
    pub(super) platform: Platform,
}

impl Entrance {
    /// Returns an error for an adapter that speaks for another platform, where an account belongs to another person.
    fn check_platform(&self, thread: &ThreadKey) -> Result<(), String> {
        if thread.platform == self.platform {
            return Ok(());
        }
        Err(format!("the adapter of {} speaks for {}", self.platform, thread.platform))
    }

    /// A bot that stops takes nothing, and asks nothing of a store that may be closed already.
    async fn unless_stopping(
        &self,
        admitted: impl Future<Output = anyhow::Result<Admission>>,
    ) -> Result<Admission, String> {
        if self.engine.stopping.is_cancelled() {
            return Ok(Admission::Stopping);
        }
        admitted.await.map_err(|error| format!("{error:#}"))
    }
}

impl Ingress for Entrance {
    fn accept(&self, signal: Signal) -> BoxFuture<'_, Result<Admission, String>> {
        let span = tracing::debug_span!("perceive", platform = %signal.thread.platform);
        if let Err(refused) = self.check_platform(&signal.thread) {
            return Box::pin(async { Err(refused) });
        }
        Box::pin(self.unless_stopping(self.engine.admit(signal)).instrument(span))
    }

    fn touch(&self, touch: Touch) -> BoxFuture<'_, Result<Admission, String>> {
        let span = tracing::debug_span!("perceive", platform = %touch.thread.platform);
        if let Err(refused) = self.check_platform(&touch.thread) {
            return Box::pin(async { Err(refused) });
        }
        Box::pin(self.unless_stopping(self.engine.take_touch(touch)).instrument(span))
    }

    fn open_work(&self) -> BoxFuture<'_, Result<Vec<EventId>, String>> {
        let events = self.engine.store.events_of_open_work(&self.platform);
        Box::pin(async move { events.await.map_err(|error| format!("{error:#}", error = anyhow::Error::from(error))) })
    }

    fn moved_rooms(&self) -> Vec<(ConversationId, ConversationId)> {
        let ledger = self.engine.world.ledger();
        let here = ledger.moved_rooms().filter(|(room, _)| room.platform == self.platform);
        here.map(|(room, moved)| (room.id.clone(), moved.first.clone())).collect()
    }

    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool {
        self.engine.may(asker, right)
    }

    fn suggest(&self, asked: &Asked) -> Vec<Suggestion> {
        if self.engine.stopping.is_cancelled() { Vec::new() } else { self.engine.suggest(asked) }
    }

    fn report(&self, condition: Condition) {
        let platform = &self.platform;
        tracing::debug!(%platform, ?condition, "a platform reports");
        match self.engine.health.report(platform, condition, self.engine.clock.mono()) {
            Some(Change::Lost(what)) => {
                tracing::warn!(%platform, what, "trouble with a platform; it is tried again");
                return;
            }
            Some(Change::Found) => tracing::info!(%platform, "a platform is heard again"),
            Some(Change::First) => {}
            None => return,
        }
        self.engine.outbox.hurry(platform, self.engine.clock.mono());
    }
}

impl Engine {
    /// Whether somebody may do something, as it stands now.
    pub(super) fn may(&self, asker: &Asker<'_>, right: &Right) -> bool {
        let rights = self.world.rights.at_this_moment();
        rights.as_deref().unwrap_or(self.world.rights.as_ref()).may(asker, right)
    }

    async fn admit(self: &Arc<Self>, mut signal: Signal) -> anyhow::Result<Admission> {
        if matches!(
            signal.payload,
            Payload::Due { .. }
                | Payload::Unreachable { .. }
                | Payload::CardLate { .. }
                | Payload::Limited { .. }
                | Payload::Stray
                | Payload::OlderCopy
        ) {
            anyhow::bail!("only the engine itself looks after plans and limits");
        }
        if let Payload::RoomMoved { to, .. } = &signal.payload {
            let payload = Payload::RoomMoved { to: to.clone(), is_known: true };
            return self.take_move(signal, payload).await;
        }
        match signal.payload.taken_back() {
            // What was never heard cannot be taken back; and what was is taken back in its own thread, wherever the platform
            // puts the change.
            Some(event) => match self.store.thread_of_event(&signal.thread, event).await? {
                Some(thread) => signal.thread = thread,
                None => return Ok(Admission::Duplicate),
            },
            // Neither stored nor answered (DESIGN.md section 7); the cursor may move on.
            None if signal.addressed == Addressed::No => return Ok(Admission::Duplicate),
            None => self.follow_thread(&mut signal).await?,
        }
        self.take(signal).await
    }

    /// Accepts the notice of a room's new id, once for each of its threads with open plans.
    async fn take_move(self: &Arc<Self>, signal: Signal, known: Payload) -> anyhow::Result<Admission> {
        let of =
            |key: &ThreadKey| (key.platform.clone(), key.account.clone(), key.space.clone(), key.conversation.clone());
        let recorded = self.take(signal.clone()).await?;
        if matches!(recorded, Admission::Busy | Admission::Stopping) {
            return Ok(recorded);
        }
        for thread in self.store.threads_with_open_plans().await? {
            if of(&thread) == of(&signal.thread) && thread.root != signal.thread.root {
                let event = EventId::new(format!("{} {}", signal.event, thread.root));
                let told = self.take(Signal { thread, event, payload: known.clone(), ..signal.clone() }).await?;
                if matches!(told, Admission::Busy | Admission::Stopping) {
                    return Ok(told);
                }
            }
        }
        Ok(recorded)
    }

    /// A reply belongs to the thread of what it replies to, where that is one of ours.
    async fn follow_thread(&self, signal: &mut Signal) -> anyhow::Result<()> {
        let Some(event) = signal.follows.clone() else { return Ok(()) };
        let mut thread = self.store.thread_of_message(&signal.thread, &event).await?;
        if thread.is_none() {
            let _landed = self.outbox.landed_near(&signal.thread, self.clock.mono()).await;
            thread = self.store.thread_of_message(&signal.thread, &event).await?;
        }
        if let Some(thread) = thread {
            signal.thread = thread;
        }
        Ok(())
    }

    /// Takes a signal of which the thread is known.
    pub(super) async fn take(self: &Arc<Self>, mut signal: Signal) -> anyhow::Result<Admission> {
        // It may have begun to stop while the thread was looked for.
        if self.stopping.is_cancelled() {
            return Ok(Admission::Stopping);
        }
        if !has_storable_ids(&signal) {
            // Not an error: the platform would tell of it again and again.
            tracing::warn!(platform = %signal.thread.platform, "an event has an id that no platform gives; it is passed over");
            return Ok(Admission::Unknown);
        }
        // Before it counts: what a platform tells twice uses up nobody's limit, nor the one time that a limit is told.
        if self.store.is_known(&signal).await? {
            return Ok(Admission::Duplicate);
        }
        let place = match self.within_limits(&mut signal) {
            Ok(place) => place,
            Err(wait_ms) => return Ok(Admission::Limited { wait_ms }),
        };
        let handle = self.thread(&signal.thread);
        // One at a time in a thread, so that the order of the inbox is the order of the queue.
        let _in_order = handle.entrance.lock().await;
        let at_once = self.world.is_heard_at_once(&signal);
        let Ok(slot) = handle.lane(at_once).try_reserve() else {
            return Ok(Admission::Busy);
        };
        if handle.is_full() && !at_once {
            return Ok(Admission::Busy);
        }
        signal.id = SignalId::new(fresh_id());
        signal.received_at = self.received_now();
        // In an idle thread it is worked on at once, and is stored as begun: a second commit would only say so.
        let is_begun = handle.is_idle() && self.world.rates.at_work().available_permits() > 0;
        let accepted = if is_begun { self.store.accept_begun(&signal).await } else { self.store.accept(&signal).await };
        if !accepted.context("failed to store the message")? {
            return Ok(Admission::Duplicate);
        }
        self.open.send_modify(|open| *open = open.saturating_add(1));
        handle.one_accepted();
        let id = signal.id.clone();
        self.world.rates.accepted(&id, place);
        slot.send(Job { signal: Box::new(signal), attempt: Attempt::First { is_begun } });
        Ok(Admission::Accepted(id))
    }

    /// Holds a message to its limits, before anything is stored. One that is too long is taken without its words, and told so. One that is over is refused: told once, in its own thread,
    /// where nothing of what it said remains; after that only its wait is returned, in milliseconds.
    fn within_limits(&self, signal: &mut Signal) -> Result<Option<Place>, u64> {
        signal.actor.display = text::cut(&signal.actor.display, NAME_CHARS_MAX);
        if let Some(over) = too_long(&signal.payload) {
            count_limited(&over, "yes");
            signal.payload = Payload::Limited { over };
        }
        let (over, told) = match self.world.rates.judge(signal, self.clock.mono()) {
            Judged::Taken(place) => return Ok(place),
            Judged::Told(over) => (over, "yes"),
            Judged::Silent(over) => (over, "no"),
        };
        count_limited(&over, told);
        if told == "no" || signal.payload.taken_back().is_some() {
            return Err(over.wait_ms);
        }
        signal.payload = Payload::Limited { over };
        Ok(None)
    }

    /// Takes up what an earlier process left: messages that may be out are marked as repeats, and every signal without an
    /// answer is queued again, oldest first. A signal that ended the process too often is only told about.
    pub(super) async fn recover(self: &Arc<Self>) -> anyhow::Result<()> {
        let now = wall_now();
        let repeats = self.store.recover(now).await?;
        self.store.count_interruptions(INTERRUPTIONS_MAX, now).await?;
        self.note_set_aside(self.store.set_aside_since(Wall(0)).await?);
        let unfinished = self.store.unfinished().await?;
        self.on_broken_rows(&unfinished.broken);
        let unfinished = unfinished.sound;
        if repeats > 0 || !unfinished.is_empty() {
            tracing::info!(messages = repeats, requests = unfinished.len(), "taking up what was left unfinished");
        }
        if let Some(latest) = unfinished.last() {
            self.last_received.fetch_max(latest.signal.received_at.0, Ordering::Relaxed);
        }
        self.queue_what_was_left().await?;
        let owing = self.store.owing().await?;
        self.open.send_modify(|open| *open = open.saturating_add(unfinished.len()).saturating_add(owing.len()));
        // Their answers are stored and not out; the outbox takes them up.
        for signal in &owing {
            self.outbox.ended(signal);
        }
        // Nothing new enters these threads before what was left: it would be answered out of order.
        let mut closed = BTreeMap::new();
        for left in &unfinished {
            if !closed.contains_key(&left.signal.thread) {
                closed.insert(left.signal.thread.clone(), self.closed_thread(&left.signal.thread));
            }
        }
        let engine = Arc::clone(self);
        // A plan that waits is looked after from the start, also where nobody says anything.
        for thread in self.store.threads_with_open_plans().await? {
            self.thread(&thread);
        }
        // In a task of its own: there may be more of them than a queue holds.
        self.tasks.spawn(async move {
            let _closed = closed;
            for left in unfinished {
                let job = left_job(left);
                let handle = engine.thread(&job.signal.thread);
                handle.one_accepted();
                let lane = handle.lane(engine.world.is_heard_at_once(&job.signal)).clone();
                tokio::select! {
                    sent = lane.send(job) => if sent.is_err() { return },
                    () = engine.stopping.cancelled() => return,
                }
            }
        });
        Ok(())
    }

    /// The time of acceptance: the wall clock's, and later than that of every signal before, also where two come within a
    /// millisecond or the clock is set back. The order of the inbox after a restart is the order of these times.
    fn received_now(&self) -> Wall {
        let now = wall_now().0;
        let later = |last: i64| now.max(last.saturating_add(1));
        let last = self.last_received.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(later(last)));
        Wall(last.map_or(now, later))
    }

    /// The thread's queue; begins the thread where it is idle or new.
    pub(super) fn thread(self: &Arc<Self>, key: &ThreadKey) -> Handle {
        let mut threads = self.lock_threads();
        if let Some(handle) = threads.get(key).filter(|handle| !handle.queue.is_closed()) {
            return handle.clone();
        }
        let (handle, jobs) = Handle::new(self.queue_max);
        threads.insert(key.clone(), handle.clone());
        self.tasks.spawn(Worker::new(Arc::clone(self), key.clone(), jobs).run());
        handle
    }

    /// Begins a thread whose entrance is closed from the start: a worker that is a moment faster than whoever closes it
    /// would look after a plan before it hears the decision that was left half done.
    fn closed_thread(self: &Arc<Self>, key: &ThreadKey) -> OwnedMutexGuard<()> {
        let (handle, jobs) = Handle::new(self.queue_max);
        let closed = Arc::clone(&handle.entrance).try_lock_owned().expect("invariant: nobody else has it yet");
        self.lock_threads().insert(key.clone(), handle);
        self.tasks.spawn(Worker::new(Arc::clone(self), key.clone(), jobs).run());
        closed
    }
}

/// Whether every id of a signal is one that a database can hold and look for.
fn has_storable_ids(signal: &Signal) -> bool {
    let Signal { event, thread, actor, .. } = signal;
    let ids =
        [event.as_str(), thread.space.as_str(), thread.conversation.as_str(), thread.root.as_str(), actor.id.as_str()];
    ids.iter().all(|id| id.len() <= ID_BYTES_MAX && !id.contains('\0'))
}

fn count_limited(over: &Allowance, told: &str) {
    let labels = [("limit", over.scope.as_str().to_owned()), ("told", told.to_owned())];
    crate::telemetry::count("rate_limited_total", &labels);
}

/// A signal that an earlier process left. Of one that is set aside the words are dropped, before anything looks at them.
fn left_job(left: Unfinished) -> Job {
    let Unfinished { signal, interruptions, is_set_aside, .. } = left;
    let mut signal = Box::new(signal);
    if !is_set_aside {
        return Job { signal, attempt: Attempt::Again { was_interrupted: interruptions > 0 } };
    }
    let (id, platform, asked_at) = (&signal.id, &signal.thread.platform, signal.received_at.0);
    let (conversation, by) = (&signal.thread.conversation, &signal.actor.id);
    tracing::error!(
        %id, %platform, %conversation, %by, asked_at, interruptions,
        "a message is set aside: the process ended twice while it was worked on"
    );
    crate::telemetry::count("signals_set_aside_total", &[("platform", platform.to_string())]);
    signal.payload.forget_words();
    Job { signal, attempt: Attempt::SetAside }
}
