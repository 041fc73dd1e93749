//! Live progress: one message for a request that takes its time, put right as the work goes on and taken back once the
//! answers are out. In memory only: a crash leaves the last line standing, and nothing waits for any of this.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::gate::Cleared;
use countersign_core::port::{Adapter, Block, Delivery, DeliveryNotes, Editor, Outgoing, Parcel};
use countersign_core::signal::{EventId, Ground, Mono, Signal, SignalId};
use tokio::sync::watch;

use super::deliver::backoff_ms;
use crate::clock::{fresh_id, wall_now};
use crate::engine::Engine;
use crate::telemetry;

/// How long a request takes before its progress is shown. Most questions are answered sooner, and a message that vanishes
/// at once only makes people look up.
const PATIENCE_MS: u64 = 1_500;
/// The shortest time between two edits, where the platform asks for none.
const EDIT_EVERY_MS: u64 = 1_000;
/// How often taking a message back is tried.
const RETRACTS_MAX: u32 = 5;

/// The requests whose progress is followed, each until it is answered.
#[derive(Debug, Default)]
pub(super) struct Shows(Mutex<BTreeMap<SignalId, watch::Sender<Said>>>);

/// The latest progress of a request, and the how-manieth it is.
#[derive(Clone, Debug)]
struct Said {
    n: u64,
    message: Outgoing,
}

/// What stands there by now.
#[derive(Debug)]
struct Shown {
    /// The message's id for good.
    id: String,
    /// Empty before there is anything.
    parts: Vec<EventId>,
    blocks: Vec<Block>,
    /// The how-manieth progress was looked at last.
    n: u64,
    /// Nothing more is shown: the platform does not take it.
    is_over: bool,
}

impl Shows {
    /// The request is answered: what is shown of it is taken back.
    pub(super) fn end(&self, signal: &SignalId) {
        self.lock().remove(signal);
    }

    /// Returns whether progress of this request was given.
    #[cfg(test)]
    pub(super) fn has(&self, signal: &SignalId) -> bool {
        self.lock().contains_key(signal)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SignalId, watch::Sender<Said>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Shows how far a request has come, where somebody waits for it and the platform can put it right later. Does no I/O
    /// and does not wait.
    pub(in crate::engine) fn show_progress(self: &Arc<Self>, signal: &Signal, message: &Cleared<Outgoing>) {
        let can = self.adapters.get(&signal.thread.platform).is_some_and(|adapter| adapter.editor().is_some());
        if !can || signal.ground != Ground::Foreground {
            return;
        }
        let message = message.get().clone();
        let mut shows = self.outbox.shows.lock();
        if let Some(said) = shows.get(&signal.id) {
            said.send_modify(|said| *said = Said { n: said.n.saturating_add(1), message });
            return;
        }
        let (said, heard) = watch::channel(Said { n: 1, message });
        shows.insert(signal.id.clone(), said);
        self.tasks.spawn(Arc::clone(self).follow(signal.clone(), heard));
    }

    async fn follow(self: Arc<Self>, signal: Signal, mut heard: watch::Receiver<Said>) {
        let Some(adapter) = self.adapters.get(&signal.thread.platform).cloned() else { return };
        let Some(editor) = adapter.editor() else { return };
        let took_ms = u64::try_from(wall_now().0.saturating_sub(signal.received_at.0)).unwrap_or(0);
        let mut at = Mono(self.clock.mono().0.saturating_add(PATIENCE_MS.saturating_sub(took_ms)));
        let mut shown = Shown { id: fresh_id(), parts: Vec::new(), blocks: Vec::new(), n: 0, is_over: false };
        loop {
            let has_news = !shown.is_over && heard.borrow().n != shown.n;
            tokio::select! {
                biased;
                () = self.stopping.cancelled() => break,
                more = heard.changed() => if more.is_err() { break },
                () = self.until(Some(at)), if has_news => {
                    let latest = heard.borrow_and_update().clone();
                    at = self.show(&signal, (adapter.as_ref(), editor), &mut shown, latest).await;
                }
            }
        }
        skipped(heard.borrow().n.saturating_sub(shown.n));
        if !shown.parts.is_empty() {
            tokio::select! {
                () = self.take_back(&signal, (adapter.as_ref(), editor), &shown) => {}
                () = self.over.cancelled() => {}
            }
        }
    }

    /// Shows the latest progress, unless it reads as what stands there already. Returns when to look again.
    async fn show(
        &self,
        signal: &Signal,
        (adapter, editor): (&dyn Adapter, &dyn Editor),
        shown: &mut Shown,
        latest: Said,
    ) -> Mono {
        let (now, pace) = (self.clock.mono(), adapter.pace(&signal.thread));
        let rest = Mono(now.0.saturating_add(pace.edit_every_ms.max(EDIT_EVERY_MS)));
        if latest.message.blocks != shown.blocks
            && let Err(at) = self.outbox.take_spare(&signal.thread, &pace, now)
        {
            return at;
        }
        skipped(latest.n.saturating_sub(shown.n).saturating_sub(1));
        shown.n = latest.n;
        if latest.message.blocks == shown.blocks {
            return now;
        }
        let blocks = latest.message.blocks.clone();
        let Ok(message) = self.world.reissue(latest.message) else {
            skipped(1);
            return now;
        };
        let parcel =
            Parcel { id: &shown.id, message: &message, notes: DeliveryNotes::default(), anchor: Some(&signal.event) };
        let is_first = shown.parts.is_empty();
        let delivery = if is_first {
            self.handed_over(adapter, &signal.thread, adapter.deliver(parcel)).await
        } else {
            self.edited((adapter, editor), &signal.thread, &shown.parts, parcel).await
        };
        match delivery {
            Delivery::Sent(parts) => {
                if is_first {
                    // What has no id cannot be put right.
                    shown.is_over = parts.is_empty();
                    shown.parts = parts;
                }
                shown.blocks = blocks;
                count(if is_first { "shown" } else { "edited" });
                rest
            }
            // What comes next is shown then.
            Delivery::RetryAfter(ms) => skip_until(shown, now, ms),
            Delivery::Retryable(_) => skip_until(shown, now, EDIT_EVERY_MS),
            // It may be out, and nobody could take it back; a second one would be worse.
            Delivery::Ambiguous(_) if !is_first => skip_until(shown, now, EDIT_EVERY_MS),
            Delivery::Ambiguous(_) | Delivery::Permanent(_) | Delivery::Unauthorized(_) => {
                shown.is_over = true;
                skipped(1);
                rest
            }
        }
    }

    async fn take_back(&self, signal: &Signal, (adapter, editor): (&dyn Adapter, &dyn Editor), shown: &Shown) {
        for tries in 0..RETRACTS_MAX {
            let retracting = editor.retract(&signal.thread, &shown.parts);
            let wait_ms = match self.handed_over(adapter, &signal.thread, retracting).await {
                Delivery::Sent(_) => return count("taken_back"),
                Delivery::RetryAfter(ms) => ms,
                Delivery::Retryable(_) | Delivery::Ambiguous(_) => backoff_ms(tries),
                Delivery::Permanent(_) | Delivery::Unauthorized(_) => break,
            };
            if self.stopping.is_cancelled() {
                break;
            }
            self.until(Some(Mono(self.clock.mono().0.saturating_add(wait_ms)))).await;
        }
        count("left");
    }
}

/// The same progress is looked at again then, or a later one.
fn skip_until(shown: &mut Shown, now: Mono, ms: u64) -> Mono {
    shown.n = shown.n.saturating_sub(1);
    Mono(now.0.saturating_add(ms))
}

fn skipped(times: u64) {
    if times > 0 {
        telemetry::add("progress_total", &[("outcome", "skipped".to_owned())], times);
    }
}

fn count(outcome: &str) {
    telemetry::count("progress_total", &[("outcome", outcome.to_owned())]);
}
