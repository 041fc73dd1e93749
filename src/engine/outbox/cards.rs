//! Cards keep up: what a plan's card shows by now is put in its place, once nothing that people wait for is kept back by it.
//! Only the latest face counts; which one that is stands in the store, so that a restart takes up what was not shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::approval::PlanId;
use countersign_core::port::{Adapter, Delivery, DeliveryNotes, Editor, Parcel};
use countersign_core::signal::{EventId, Mono, ThreadKey};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::deliver::backoff_ms;
use crate::engine::Engine;
use crate::store::{CardPost, Face, StoreError};
use crate::telemetry;

/// The most cards that are redrawn at a time: there is no hurry, and a card is nothing that anybody waits for.
const AT_ONCE: usize = 4;

/// Which cards have to be looked at, and when.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    list: Mutex<List>,
    woken: Notify,
}

#[derive(Debug, Default)]
struct List {
    /// When to look at a card. Milliseconds of the engine's clock.
    wanted: BTreeMap<PlanId, Look>,
    /// The cards that are being redrawn.
    at_work: BTreeSet<PlanId>,
    /// Until when a card that was redrawn is left alone.
    resting: BTreeMap<PlanId, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Look {
    at: u64,
    /// How often it was tried in vain.
    tries: u32,
}

/// What became of a look at a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looked {
    /// It shows the latest face, or nobody can be shown it; the next edit comes no earlier than after so many milliseconds.
    Shown(u64),
    /// It is not out yet: its delivery asks for the next look.
    NotOut,
    /// Again after so many milliseconds.
    Again(u64),
    /// Again, later each time.
    InVain,
}

/// What was done with a face, and in what word it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// It stands there.
    There,
    /// There is nothing that it could be put in the place of.
    Left,
    /// It never will stand there.
    Failed,
    /// Not yet: it is tried again.
    NotYet,
}

impl Shown {
    /// Its name in `card_redraws_total`.
    const fn name(self) -> &'static str {
        match self {
            Self::There => "shown",
            Self::Left => "left",
            Self::Failed => "failed",
            Self::NotYet => "again",
        }
    }
}

impl Keeper {
    /// This card has to be looked at.
    pub(super) fn want(&self, plan: PlanId, now: u64) {
        self.lock().want(plan, Look { at: now, tries: 0 });
        self.woken.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List {
    fn want(&mut self, plan: PlanId, look: Look) {
        let at = look.at.max(self.resting.get(&plan).copied().unwrap_or_default());
        let known = self.wanted.entry(plan).or_insert(Look { at, ..look });
        known.at = known.at.min(at);
    }

    /// The cards to look at now.
    fn begin(&mut self, now: u64) -> Vec<(PlanId, u32)> {
        self.resting.retain(|_, until| *until > now);
        let free = AT_ONCE.saturating_sub(self.at_work.len());
        let due = self.wanted.iter().filter(|(plan, look)| look.at <= now && !self.at_work.contains(*plan));
        let due: Vec<(PlanId, u32)> = due.take(free).map(|(plan, look)| (plan.clone(), look.tries)).collect();
        for (plan, _) in &due {
            self.wanted.remove(plan);
            self.at_work.insert(plan.clone());
        }
        due
    }

    fn end(&mut self, plan: PlanId, tries: u32, looked: Looked, now: u64) {
        self.at_work.remove(&plan);
        let (ms, tries) = match looked {
            Looked::NotOut => return,
            Looked::Shown(ms) => {
                self.resting.insert(plan.clone(), now.saturating_add(ms));
                if let Some(look) = self.wanted.get_mut(&plan) {
                    look.at = look.at.max(now.saturating_add(ms));
                }
                return;
            }
            Looked::Again(ms) => (ms, tries),
            Looked::InVain => (backoff_ms(tries), tries.saturating_add(1)),
        };
        let at = now.saturating_add(ms);
        // Also where it was wanted anew meanwhile: the platform asked to wait, whatever it is to be shown.
        self.wanted.insert(plan, Look { at, tries });
    }

    fn next_at(&self) -> Option<u64> {
        let waits = self.wanted.iter().filter(|(plan, _)| !self.at_work.contains(*plan)).map(|(_, look)| look.at);
        if self.at_work.len() < AT_ONCE { waits.min() } else { None }
    }
}

impl Engine {
    /// Keeps the cards up until the bot stops; what is not shown by then is shown after the next start.
    pub(in crate::engine) async fn keep_cards(self: Arc<Self>) {
        let keeper = &self.outbox.cards;
        let mut at_work = JoinSet::new();
        while !self.stopping.is_cancelled() {
            for (plan, tries) in keeper.lock().begin(self.clock.mono().0) {
                let engine = Arc::clone(&self);
                at_work.spawn(async move {
                    let looked = engine.look_at_card(&plan).await.unwrap_or_else(|error| {
                        tracing::error!(%error, %plan, "a card cannot be looked after");
                        Looked::InVain
                    });
                    engine.outbox.cards.lock().end(plan, tries, looked, engine.clock.mono().0);
                });
            }
            let next = keeper.lock().next_at().map(Mono);
            tokio::select! {
                Some(_) = at_work.join_next() => {}
                () = keeper.woken.notified() => {}
                () = self.until(next) => {}
                () = self.stopping.cancelled() => {}
            }
        }
        at_work.join_all().await;
    }

    async fn look_at_card(&self, plan: &PlanId) -> Result<Looked, StoreError> {
        let Some(face) = self.sound(self.store.face_to_show(plan).await)? else { return Ok(Looked::Shown(0)) };
        let posts = self.store.card_posts(plan).await?;
        if posts.iter().any(|post| post.open) {
            return Ok(Looked::NotOut);
        }
        let (shown, looked) = self.show_face(&face, &posts).await;
        if shown != Shown::NotYet {
            self.store.face_shown(plan, face.version).await?;
        }
        telemetry::count("card_redraws_total", &[("outcome", shown.name().to_owned())]);
        Ok(looked)
    }

    /// Puts the face in the place of every message that holds the card.
    async fn show_face(&self, face: &Face, posts: &[CardPost]) -> (Shown, Looked) {
        let message = match self.cleared_again(&face.body) {
            Ok(message) => message,
            Err(problem) => {
                tracing::error!(problem, "what a card was to show cannot be shown");
                return (Shown::Failed, Looked::Shown(0));
            }
        };
        let thread = &message.get().to;
        let adapter = self.adapters.get(&thread.platform);
        let Some((adapter, editor)) = adapter.and_then(|adapter| Some((adapter.as_ref(), adapter.editor()?))) else {
            return (Shown::Left, Looked::Shown(0));
        };
        let mut shown = Shown::Left;
        let pace = adapter.pace(thread);
        for post in posts.iter().filter(|post| !post.parts.is_empty()) {
            let now = self.clock.mono();
            if let Err(at) = self.outbox.take_spare(thread, &pace, now) {
                return (Shown::NotYet, Looked::Again(at.since(now)));
            }
            let parcel = Parcel { id: &post.id, message: &message, notes: DeliveryNotes::default(), anchor: None };
            match self.edited((adapter, editor), thread, &post.parts, parcel).await {
                Delivery::Sent(_) => shown = Shown::There,
                Delivery::RetryAfter(ms) => return (Shown::NotYet, Looked::Again(ms)),
                Delivery::Retryable(_) | Delivery::Ambiguous(_) => return (Shown::NotYet, Looked::InVain),
                Delivery::Permanent(problem) | Delivery::Unauthorized(problem) => {
                    tracing::warn!(problem, "a card cannot be redrawn");
                    shown = Shown::Failed;
                }
            }
        }
        (shown, Looked::Shown(pace.edit_every_ms))
    }

    /// Puts this in the place of what was delivered as these parts.
    pub(super) async fn edited(
        &self,
        (adapter, editor): (&dyn Adapter, &dyn Editor),
        thread: &ThreadKey,
        parts: &[EventId],
        parcel: Parcel<'_>,
    ) -> Delivery {
        self.handed_over(adapter, thread, editor.edit(parts, parcel)).await
    }
}
