//! Sends what is queued: each message is claimed, cleared once more, handed to its platform, and what became of it recorded
//! before the next one of its thread leaves.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::approval::PlanId;
use countersign_core::gate::Cleared;
use countersign_core::port::{Adapter, Delivery, Outgoing, Pace, Parcel};
use countersign_core::signal::{Mono, Payload, ThreadKey, Wall};
use futures::FutureExt;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::{Post, Sending};
use crate::clock::wall_now;
use crate::engine::Engine;
use crate::engine::pause::Pause;
use crate::engine::plans::our_signal;
use crate::engine::worker::Job;
use crate::store::{Settled, StoreError, StoredPost};
use crate::telemetry;

/// How long to wait before a message is tried again, where the platform does not say: doubling up to the second.
const AGAIN_FIRST_MS: u64 = 500;
const AGAIN_LAST_MS: u64 = 60_000;
/// How often a message is tried again of which it is not known whether it came through: each may be one copy more.
const IN_DOUBT_MAX: u32 = 5;
/// How long to wait where a message could not be claimed.
const TROUBLE_MS: u64 = 1_000;
/// How often a bot that stops looks whether its requests have ended.
const STOPPING: Duration = Duration::from_millis(50);

/// How long until what was tried so often is tried again.
pub(super) fn backoff_ms(attempts: u32) -> u64 {
    AGAIN_FIRST_MS.saturating_mul(1 << attempts.min(10)).min(AGAIN_LAST_MS)
}

impl Engine {
    /// Queues what an earlier process left. Reads the store.
    pub(in crate::engine) async fn queue_what_was_left(&self) -> Result<(), StoreError> {
        let (now, wall) = (self.clock.mono(), wall_now());
        let wait = |post: &StoredPost| u64::try_from(post.not_before.0.saturating_sub(wall.0)).unwrap_or(0);
        let left = self.store.open_posts().await?.into_iter();
        let left = left.map(|post| (Mono(now.0.saturating_add(wait(&post))), post));
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
            Ok(delivery) => settled(delivery, &sending.post),
            Err(error) => (Settled::Failed { error }, 0),
        };
        // Its pause begins with its room's: what is recorded first must not let something less urgent overtake it.
        let ended = self.clock.mono();
        count(&sending.post, &settled);
        if !self.is_recorded(&sending.post, &settled).await {
            return;
        }
        sending.post.attempts = sending.post.attempts.saturating_add(1);
        if let Settled::Again { repeat, .. } = settled {
            sending.post.repeat |= repeat;
            sending.post.in_doubt = sending.post.in_doubt.saturating_add(u32::from(repeat));
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
        let parcel = Parcel { id: &post.id, message: &message, repeat: post.repeat, anchor: post.anchor.as_ref() };
        Ok(self.handed_over(adapter.as_ref(), &post.to, adapter.deliver(parcel)).await)
    }

    /// A stored message, cleared again; a sentence where it does not get through.
    pub(super) fn cleared_again(&self, body: &str) -> Result<Cleared<Outgoing>, String> {
        let message: Outgoing = serde_json::from_str(body).map_err(|error| format!("not a message: {error}"))?;
        self.world.reissue(message).map_err(|refusal| {
            format!("refused by the gate {} with {}: {}", refusal.gate, refusal.code, refusal.message)
        })
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
    /// twice. Of a card that nobody will see the plan's thread hears first, so that a crash in between loses neither.
    async fn is_recorded(self: &Arc<Self>, post: &Post, settled: &Settled) -> bool {
        let mut pause = Pause::none();
        let mut told = !matches!(settled, Settled::Failed { .. });
        loop {
            let recorded = async {
                if let Some(plan) = post.plan.as_ref().filter(|_| !told) {
                    self.tell_unreachable(&post.to, plan.clone()).await?;
                    told = true;
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

    async fn until_instant(&self, pause: Pause) {
        if let Some(until) = pause.until() {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Nobody will see this card.
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

/// What is recorded of a delivery, and how many milliseconds to wait where it is tried again.
fn settled(delivery: Delivery, post: &Post) -> (Settled, u64) {
    let again = |ms: u64, repeat: bool, error: String| {
        let not_before = Wall(wall_now().0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
        (Settled::Again { not_before, repeat, error }, ms)
    };
    match delivery {
        Delivery::Sent(parts) => (Settled::Sent { platform_ids: parts.iter().map(ToString::to_string).collect() }, 0),
        Delivery::RetryAfter(ms) => again(ms, false, "the platform asks to wait".to_owned()),
        Delivery::Retryable(error) => again(backoff_ms(post.attempts), false, error),
        // Everybody has it by now, or nobody ever will.
        Delivery::Ambiguous(error) if post.in_doubt >= IN_DOUBT_MAX => {
            (Settled::Failed { error: format!("given up, with as many copies out as attempts, or none: {error}") }, 0)
        }
        Delivery::Ambiguous(error) => again(backoff_ms(post.attempts), true, error),
        Delivery::Permanent(error) | Delivery::Unauthorized(error) => (Settled::Failed { error }, 0),
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::port::Lane;
    use countersign_core::signal::SignalId;
    use countersign_core::testkit::thread_key;

    use super::*;

    #[test]
    fn what_may_have_come_through_so_often_is_not_said_again_and_what_cannot_have_is() {
        let (lost, down) = (Delivery::Ambiguous("lost".to_owned()), Delivery::Retryable("down".to_owned()));
        let after = |delivery: &Delivery, in_doubt| {
            let (id, signal, to) = ("p".to_owned(), SignalId::new("s"), thread_key("main"));
            let body = String::new();
            let post = Post {
                id,
                signal,
                anchor: None,
                to,
                lane: Lane::Answer,
                body,
                plan: None,
                attempts: 9,
                repeat: true,
                in_doubt,
            };
            settled(delivery.clone(), &post).0
        };
        for in_doubt in 0..5 {
            assert!(matches!(after(&lost, in_doubt), Settled::Again { repeat: true, .. }), "{in_doubt}");
        }
        assert!(matches!(after(&lost, 5), Settled::Failed { .. }));
        assert!(matches!(after(&down, 5), Settled::Again { repeat: false, .. }));
        assert!(matches!(after(&Delivery::RetryAfter(1), 5), Settled::Again { repeat: false, .. }));
    }
}
