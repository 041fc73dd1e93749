//! The way out: messages leave the outbox in order, decisions first, each cleared once more before it goes. Threads do not
//! wait for each other; within a thread one message leaves after the other.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::approval::PlanId;
use countersign_core::port::{Block, Delivery, Outgoing, Parcel};
use countersign_core::signal::{Payload, SignalId, ThreadKey, Wall};
use tokio::task::JoinSet;
use tracing::Instrument;

use super::Engine;
use super::plans::our_signal;
use super::served::Served;
use super::worker::Job;
use crate::clock::wall_now;
use crate::store::{Settled, StoreError, StoredPost};
use crate::telemetry;

/// The most messages on their way at a time.
const AT_ONCE: usize = 16;
/// The most messages among which those are chosen, one a thread.
const HEADS_MAX: u32 = 256;
/// How long to wait before a message is tried again, where the platform does not say: doubling up to the second.
const AGAIN_FIRST_MS: u64 = 500;
const AGAIN_LAST_MS: u64 = 60_000;
/// How long to wait where the outbox itself cannot be read.
const TROUBLE: Duration = Duration::from_secs(1);

impl Engine {
    /// Delivers what is due, until the bot stops and nothing is on its way.
    pub(super) async fn deliver_messages(self: Arc<Self>) {
        let mut on_their_way = JoinSet::new();
        let mut served = Served::default();
        loop {
            let free = AT_ONCE.saturating_sub(on_their_way.len());
            // Where nothing can be sent nothing is looked for.
            match self.store.due(wall_now(), if free == 0 { 0 } else { HEADS_MAX }).await {
                Ok(due) => {
                    for post in served.choose(due, free) {
                        self.claim(post, &mut on_their_way).await;
                    }
                }
                Err(error) => tracing::error!(%error, "the outbox cannot be read"),
            }
            if self.stopping.is_cancelled() && self.tasks.len() <= 1 && on_their_way.is_empty() {
                return;
            }
            tokio::select! {
                Some(_) = on_their_way.join_next() => {}
                () = self.outbox_woken.notified() => {}
                () = self.until_next_due() => {}
            }
        }
    }

    async fn until_next_due(&self) {
        match self.store.next_due().await {
            Ok(Some(at)) => {
                // A message that is due already waits for another of its thread, whose end wakes the loop.
                let ms = u64::try_from(at.0.saturating_sub(wall_now().0)).unwrap_or(0).max(50);
                tokio::time::sleep(Duration::from_millis(ms)).await;
            }
            Ok(None) if self.stopping.is_cancelled() => tokio::time::sleep(Duration::from_millis(50)).await,
            Ok(None) => self.stopping.cancelled().await,
            Err(error) => {
                tracing::error!(%error, "the outbox cannot be read");
                tokio::time::sleep(TROUBLE).await;
            }
        }
    }

    /// Claims a message, so that a crash from here on is known to leave open whether it went out, and sends it on its way.
    async fn claim(self: &Arc<Self>, post: StoredPost, on_their_way: &mut JoinSet<()>) {
        match self.store.sending(&post.id).await {
            Ok(true) => {
                let engine = Arc::clone(self);
                let span = tracing::debug_span!("deliver", post = %post.id, signal = %post.signal);
                on_their_way.spawn(async move { engine.send(post).await }.instrument(span));
            }
            Ok(false) => {}
            Err(error) => tracing::error!(%error, "a message could not be claimed"),
        }
    }

    async fn send(self: &Arc<Self>, post: StoredPost) {
        let settled = match self.deliver(&post).await {
            Ok(delivery) => settled(delivery, post.attempts),
            Err(error) => Settled::Failed { error },
        };
        let outcome = match &settled {
            Settled::Sent { .. } => "sent",
            Settled::Again { .. } => "again",
            Settled::Failed { error } => {
                tracing::error!(error, "a message will never be delivered");
                "failed"
            }
        };
        let labels = [("platform", post.to.platform.to_string()), ("outcome", outcome.to_owned())];
        telemetry::count("deliveries_total", &labels);
        if let (Settled::Failed { .. }, Some(plan)) = (&settled, card_in(&post.body))
            && let Err(error) = self.tell_unreachable(&post.to, plan).await
        {
            tracing::error!(%error, "nobody could be told that a card is lost; it is sent again after the next start");
            return;
        }
        if let Err(error) = self.store.settle(&post.id, &settled, wall_now()).await {
            tracing::error!(%error, "a delivery could not be recorded; the message may be repeated");
            return;
        }
        if !matches!(settled, Settled::Again { .. }) {
            self.on_settled(&post.signal, &post.to).await;
        }
        self.outbox_woken.notify_one();
    }

    async fn deliver(&self, post: &StoredPost) -> Result<Delivery, String> {
        let message: Outgoing = serde_json::from_str(&post.body).map_err(|error| format!("not a message: {error}"))?;
        let adapter = self.adapters.get(&post.to.platform).ok_or("its platform is not part of this run")?;
        let message = self.world.reissue(message).map_err(|refusal| {
            format!("refused by the gate {} with {}: {}", refusal.gate, refusal.code, refusal.message)
        })?;
        let parcel = Parcel { id: &post.id, message: &message, repeat: post.repeat, anchor: None };
        Ok(adapter.deliver(parcel).await)
    }

    /// Nobody will see this card: the plan's thread hears that, and before the delivery is given up, so that a crash in
    /// between loses neither.
    async fn tell_unreachable(self: &Arc<Self>, thread: &ThreadKey, plan: PlanId) -> Result<(), StoreError> {
        let handle = self.thread(thread);
        // One at a time in a thread, so that the order of the inbox is the order of the queue.
        let _in_order = handle.entrance.lock().await;
        let signal = our_signal(thread, Payload::Unreachable { plan });
        self.store.accept(&signal).await?;
        self.on_accepted(thread);
        if handle.queue.send(Job { signal, recovered: false }).await.is_err() {
            tracing::info!("the bot stops; a lost card is told to its thread at the next start");
        }
        Ok(())
    }

    /// Tells the platform, once, when a request has ended and nothing of it is owed any more.
    pub(super) async fn on_settled(&self, signal: &SignalId, thread: &ThreadKey) {
        match self.store.owed(signal).await {
            Ok(0) if self.lock_ended().remove(signal) => self.on_answered(signal, thread),
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the outbox cannot be read"),
        }
    }
}

/// The plan whose card a stored message is.
fn card_in(body: &str) -> Option<PlanId> {
    let message: Outgoing = serde_json::from_str(body).ok()?;
    message.blocks.into_iter().find_map(|block| match block {
        Block::Card { plan, .. } => Some(plan),
        _ => None,
    })
}

fn settled(delivery: Delivery, attempts: u32) -> Settled {
    let again = |ms: u64, repeat: bool, error: String| {
        let not_before = Wall(wall_now().0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
        Settled::Again { not_before, repeat, error }
    };
    let backoff = AGAIN_FIRST_MS.saturating_mul(1 << attempts.min(10)).min(AGAIN_LAST_MS);
    match delivery {
        Delivery::Sent(parts) => Settled::Sent { platform_ids: parts.iter().map(ToString::to_string).collect() },
        Delivery::RetryAfter(ms) => again(ms, false, "the platform asks to wait".to_owned()),
        Delivery::Retryable(error) => again(backoff, false, error),
        Delivery::Ambiguous(error) => again(backoff, true, error),
        Delivery::Permanent(error) | Delivery::Unauthorized(error) => Settled::Failed { error },
    }
}
