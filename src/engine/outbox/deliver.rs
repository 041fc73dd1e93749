//! Sends what is queued: each message is claimed, cleared once more, handed to its platform, and what became of it recorded
//! before the next one of its thread leaves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use countersign_core::gate::Cleared;
use countersign_core::port::{Adapter, Delivery, DeliveryNotes, Outgoing, Pace, Parcel};
use countersign_core::signal::{Mono, Payload, ThreadKey, Wall};
use futures::FutureExt;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::{Post, Sending};
use crate::clock::wall_now;
use crate::engine::Engine;
use crate::engine::pause::Pause;
use crate::engine::plans::our_signal;
use crate::engine::worker::{Attempt, Job};
use crate::store::{Settled, StoreError, StoredPost};
use crate::telemetry;

/// How long to wait before a message is tried again, where the platform does not say: doubling up to the second.
const AGAIN_FIRST_MS: u64 = 500;
const AGAIN_LAST_MS: u64 = 60_000;
/// The longest wait where it is not known whether a message came through: each attempt may be one copy more.
const IN_DOUBT_LAST_MS: u64 = 600_000;
/// From when on a message says how long ago it was written.
const LATE_MS: u64 = 300_000;
/// From when on a card came so late that the time to decide begins anew.
const LATE_CARD_MS: u64 = 30_000;
/// How long to wait where a message could not be claimed.
const TROUBLE_MS: u64 = 1_000;
/// How often a bot that stops looks whether its requests have ended.
const STOPPING: Duration = Duration::from_millis(50);

/// How long until what was tried so often is tried again.
pub(super) fn backoff_ms(attempts: u32) -> u64 {
    pause_ms(attempts, AGAIN_LAST_MS)
}

fn pause_ms(attempts: u32, last: u64) -> u64 {
    AGAIN_FIRST_MS.saturating_mul(1 << attempts.min(20)).min(last)
}

/// Returns the age of a message in milliseconds.
fn age_ms(post: &Post) -> u64 {
    u64::try_from(wall_now().0.saturating_sub(post.since.0)).unwrap_or_default()
}

impl Engine {
    /// Queues what an earlier process left. Reads the store.
    pub(in crate::engine) async fn queue_what_was_left(&self) -> Result<(), StoreError> {
        let (now, wall) = (self.clock.mono(), wall_now());
        let wait = |post: &StoredPost| u64::try_from(post.not_before.0.saturating_sub(wall.0)).unwrap_or(0);
        let left = self.store.open_posts().await?;
        self.on_broken_rows(&left.broken);
        for row in &left.broken {
            self.store.give_up(&row.id, &row.problem, wall).await?;
        }
        let left = left.sound.into_iter().map(|post| (Mono(now.0.saturating_add(wait(&post))), post));
        self.outbox.put(left.map(|(at, post)| (Post::from(post), at)), now);
        for plan in self.store.cards_to_show().await? {
            self.outbox.redraw(plan, now);
        }
        Ok(())
    }

    /// Delivers what is queued, until the bot stops and nothing is on its way.
    pub(in crate::engine) async fn deliver_messages(self: Arc<Self>) {
        let mut on_their_way = JoinSet::new();
        loop {
            for sending in self.outbox.take(|thread| self.pace(thread), self.clock.mono()) {
                let engine = Arc::clone(&self);
                let span = tracing::debug_span!("deliver", post = %sending.post.id, signal = %sending.post.signal);
                on_their_way.spawn(async move { engine.send(sending).await }.instrument(span));
            }
            let stopping = self.stopping.is_cancelled();
            if stopping && self.tasks.len() <= 1 && on_their_way.is_empty() {
                return;
            }
            tokio::select! {
                Some(_) = on_their_way.join_next() => {}
                () = self.outbox.woken.notified() => {}
                () = self.until(self.outbox.next_at()) => {}
                () = self.stopping.cancelled(), if !stopping => {}
                () = tokio::time::sleep(STOPPING), if stopping => {}
            }
        }
    }

    /// Resolves at this time; never, where there is none.
    pub(super) async fn until(&self, at: Option<Mono>) {
        match at {
            Some(at) => tokio::time::sleep_until(self.clock.instant(at)).await,
            None => std::future::pending().await,
        }
    }

    /// How fast a room may be talked to.
    pub(super) fn pace(&self, thread: &ThreadKey) -> Pace {
        self.adapters.get(&thread.platform).map_or_else(Pace::default, |adapter| adapter.pace(thread))
    }

    /// Claims a message, so that a crash from here on is known to leave open whether it went out, and sends it.
    async fn send(self: &Arc<Self>, mut sending: Sending) {
        match self.store.of(&sending.post.to).sending(&sending.post.id).await {
            Ok(true) => {}
            // An earlier process had stored the same message: it is that one that leaves, or has left.
            Ok(false) => return self.on_done(&sending.post),
            Err(error) => {
                tracing::error!(%error, "a message could not be claimed");
                let now = self.clock.mono();
                return self.outbox.again(sending, Mono(now.0.saturating_add(TROUBLE_MS)), now);
            }
        }
        let (settled, wait_ms) = match self.deliver(&sending.post).await {
            Ok(delivery) => self.settled(delivery, &sending.post).await,
            Err(error) => (Settled::Failed { error }, 0),
        };
        // Its pause begins with its room's: what is recorded first must not let something less urgent overtake it.
        let ended = self.clock.mono();
        count(&sending.post, &settled);
        if !self.is_recorded(&sending.post, &settled).await {
            return;
        }
        sending.post.attempts = sending.post.attempts.saturating_add(1);
        sending.post.tries = sending.post.tries.saturating_add(1);
        if let Settled::Again { repeat, .. } = settled {
            sending.post.repeat |= repeat;
            return self.outbox.again(sending, Mono(ended.0.saturating_add(wait_ms)), self.clock.mono());
        }
        if let Some(plan) = &sending.post.plan {
            // What it shows may have changed while it was on its way.
            self.outbox.redraw(plan.clone(), self.clock.mono());
        }
        self.on_done(&sending.post);
    }

    async fn deliver(&self, post: &Post) -> Result<Delivery, String> {
        let adapter = self.adapters.get(&post.to.platform).ok_or("its platform is not part of this run")?;
        let message = self.cleared_again(&post.body)?;
        let age = age_ms(post);
        let late_minutes = (age >= LATE_MS).then_some(age / 60_000);
        let notes = DeliveryNotes { repeat: post.repeat, late_minutes, lost: self.outbox.lost_in(&post.to) };
        let parcel = Parcel { id: &post.id, message: &message, notes, anchor: post.anchor.as_ref() };
        Ok(self.handed_over(adapter.as_ref(), &post.to, adapter.deliver(parcel)).await)
    }

    /// A stored message, cleared again; a sentence where it does not get through, or breaks a gate: what waits behind it
    /// must not wait for ever.
    pub(super) fn cleared_again(&self, body: &str) -> Result<Cleared<Outgoing>, String> {
        let message: Outgoing = serde_json::from_str(body).map_err(|error| format!("not a message: {error}"))?;
        let cleared = catch_unwind(AssertUnwindSafe(|| self.world.reissue(message)));
        cleared.map_err(|_| "a gate panicked; the log says where".to_owned())?.map_err(|refusal| {
            format!("refused by the gate {} with {}: {}", refusal.gate, refusal.code, refusal.message)
        })
    }

    /// Returns the record of a delivery, and the pause in milliseconds before a retry. Reads the store unless the message is
    /// out.
    async fn settled(&self, delivery: Delivery, post: &Post) -> (Settled, u64) {
        let (wait_ms, repeat, error) = match delivery {
            Delivery::Sent(parts) => {
                self.outbox.lost_by_thread().remove(&post.to);
                return (Settled::Sent { platform_ids: parts.iter().map(ToString::to_string).collect() }, 0);
            }
            Delivery::Permanent(error) | Delivery::Unauthorized(error) => return (Settled::Failed { error }, 0),
            Delivery::RetryAfter(ms) => (ms, false, "the platform asks to wait".to_owned()),
            Delivery::Retryable(error) => (backoff_ms(post.tries), false, error),
            Delivery::Ambiguous(error) => (pause_ms(post.tries, IN_DOUBT_LAST_MS), true, error),
        };
        match self.given_up(post).await {
            Some(why) => (Settled::Failed { error: format!("{why}: {error}") }, 0),
            None => {
                let not_before = Wall(wall_now().0.saturating_add(i64::try_from(wait_ms).unwrap_or(i64::MAX)));
                (Settled::Again { not_before, repeat, error }, wait_ms)
            }
        }
    }

    /// Returns why a message is not retried: its plan has ended, or it is too old. Retries while the store does not answer.
    async fn given_up(&self, post: &Post) -> Option<&'static str> {
        match &post.plan {
            Some(plan) => {
                let filed = self.store.plan(plan).await.ok()?;
                let is_open = filed.is_some_and(|filed| filed.standing.state.is_open());
                (!is_open).then_some("given up, because its plan has ended")
            }
            None if age_ms(post) < u64::try_from(self.delivery.as_millis()).unwrap_or(u64::MAX) => None,
            None => {
                *self.outbox.lost_by_thread().entry(post.to.clone()).or_default() += 1;
                Some("given up, because it was written too long ago (`limits.delivery_hours`)")
            }
        }
    }

    /// Hands something to a platform, and takes note of how fast that may be talked to. An adapter that panics may have got
    /// it out or not.
    pub(super) async fn handed_over(
        &self,
        adapter: &dyn Adapter,
        thread: &ThreadKey,
        handing: impl Future<Output = Delivery>,
    ) -> Delivery {
        let handed = AssertUnwindSafe(handing).catch_unwind().await;
        let delivery = handed.unwrap_or_else(|_| Delivery::Ambiguous("the adapter broke".to_owned()));
        match &delivery {
            Delivery::Sent(_) => self.outbox.was_taken(thread),
            Delivery::RetryAfter(ms) => {
                self.outbox.was_refused(thread, &adapter.pace(thread), *ms, self.clock.mono());
            }
            Delivery::Retryable(_) | Delivery::Ambiguous(_) | Delivery::Permanent(_) | Delivery::Unauthorized(_) => {}
        }
        delivery
    }

    /// Records what became of a message, and tries until that is stored or the bot stops: to send it again would say it
    /// twice. A card that will never come, or came late, is reported to the plan's thread first, so that a crash in between loses
    /// neither.
    async fn is_recorded(self: &Arc<Self>, post: &Post, settled: &Settled) -> bool {
        let mut pause = Pause::none();
        let mut is_told = false;
        loop {
            let recorded = async {
                if !is_told && let Some(payload) = self.news_of_card(post, settled).await? {
                    self.tell_thread(&post.to, payload).await?;
                    is_told = true;
                }
                self.store.of(&post.to).settle(&post.id, settled, wall_now()).await
            };
            match recorded.await {
                Ok(()) => return true,
                // An earlier attempt at recording it came through after all.
                Err(StoreError::NotSending(_)) => return true,
                Err(error) => tracing::error!(%error, "a delivery could not be recorded; the message may be repeated"),
            }
            pause.grow();
            tokio::select! {
                () = self.until_instant(pause) => {}
                () = self.stopping.cancelled() => return false,
            }
        }
    }

    /// Returns the report on a card for the thread of its plan; none where another card of the plan is out. Reads the store.
    async fn news_of_card(&self, post: &Post, settled: &Settled) -> Result<Option<Payload>, StoreError> {
        let Some(plan) = post.plan.clone() else { return Ok(None) };
        let payload = match settled {
            Settled::Failed { .. } => Payload::Unreachable { plan: plan.clone() },
            Settled::Sent { .. } if age_ms(post) >= LATE_CARD_MS => Payload::CardLate { plan: plan.clone() },
            Settled::Sent { .. } | Settled::Again { .. } => return Ok(None),
        };
        let cards = self.store.card_posts(&plan).await?;
        let is_another_out = cards.iter().any(|card| card.id != post.id && !card.parts.is_empty());
        Ok((!is_another_out).then_some(payload))
    }

    async fn until_instant(&self, pause: Pause) {
        if let Some(until) = pause.until() {
            tokio::time::sleep_until(until).await;
        }
    }

    async fn tell_thread(self: &Arc<Self>, thread: &ThreadKey, payload: Payload) -> Result<(), StoreError> {
        let handle = self.thread(thread);
        // One at a time in a thread, so that the order of the inbox is the order of the queue.
        let _in_order = handle.entrance.lock().await;
        let signal = our_signal(thread, payload);
        self.store.accept(&signal).await?;
        self.on_accepted(thread);
        if handle
            .queue
            .send(Job { signal: Box::new(signal), attempt: Attempt::First { is_begun: false } })
            .await
            .is_err()
        {
            tracing::info!("the bot stops; the fate of a card is reported to its thread at the next start");
        }
        Ok(())
    }

    /// A message is out, or never will be. The platform is told, once, when a request has ended and nothing of it is owed
    /// any more.
    fn on_done(&self, post: &Post) {
        if self.outbox.done(post, self.clock.mono()) {
            self.on_answered(&post.signal, &post.to);
        }
    }
}

fn count(post: &Post, settled: &Settled) {
    let outcome = match settled {
        Settled::Sent { .. } => "sent",
        Settled::Again { .. } => "again",
        Settled::Failed { error } => {
            tracing::error!(error, "a message will never be delivered");
            "failed"
        }
    };
    let labels = [("platform", post.to.platform.to_string()), ("outcome", outcome.to_owned())];
    telemetry::count("deliveries_total", &labels);
}
