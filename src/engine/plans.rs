//! A thread's plans, as far as the engine has to do with them: what the store holds is told to a thread when it begins, and
//! when the time of a plan has come the engine sends the thread a signal of its own, which is stored and answered like any
//! other. What is then to be done is decided in the core.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::approval::{CARD_LATE_MS_MAX, Due, PlanId};
use countersign_core::effect::Input;
use countersign_core::signal::{
    Actor, ActorId, ActorKind, Addressed, Assurance, ConversationKind, EventId, Ground, OURSELVES, Payload, Signal,
    SignalId, ThreadKey, Wall,
};
use tokio::time::Instant;

use super::spending::Why;
use super::worker::{Attempt, Job, Worker};
use crate::clock::{fresh_id, wall_now};
use crate::store::StoreError;

/// The longest sleep before the clock on the wall is looked at again: it may be set while we sleep.
const NAP_MAX: Duration = Duration::from_secs(30);

impl Worker {
    /// Tells the thread what the store holds of its plans. Where that cannot be read the thread does not go on.
    pub(super) async fn load(&mut self) -> bool {
        let open = match self.engine.store.open_plans(&self.key).await {
            Ok(open) => open,
            Err(error) => {
                tracing::error!(%error, "the plans of a thread cannot be read");
                self.unread.grow();
                return false;
            }
        };
        self.engine.on_broken_rows(&open.broken);
        self.loaded = true;
        self.unread.shrink();
        self.look_what_was_used(Why::Begins, self.engine.clock.now()).await;
        if !open.filed.is_empty() {
            self.step(Input::Filed(open.filed)).await;
        }
        true
    }

    /// Whether the thread knows everything that it needs for this signal: its plans, and the plan that is named.
    pub(super) async fn has_ready(&mut self, signal: &Signal) -> bool {
        if !self.loaded && !self.load().await {
            return false;
        }
        if self.engine.world.budgets.is_any() {
            self.look_what_was_used(Why::Limited, self.engine.clock.now()).await;
        }
        let Some(plan) = signal.payload.named_plan().filter(|plan| !self.state.knows_plan(plan)) else {
            return true;
        };
        match self.engine.store.plan(&plan).await {
            // A plan of another thread is no business of this one.
            Ok(Some(filed)) if filed.frozen.plan().thread == self.key => self.step(Input::Filed(vec![filed])).await,
            Ok(_) => {}
            // The row is there and is no plan: to the thread it is none.
            Err(error) => {
                tracing::error!(%error, %plan, "a plan cannot be read");
                self.engine.on_broken_rows(error.broken_row().as_slice());
            }
        }
        true
    }

    /// Nobody waits any longer for what this thread works on; it stays in the inbox.
    pub(super) fn give_up(&mut self) {
        self.forget_everything();
        if let Some(signal) = self.current.take() {
            self.engine.on_answered(&signal.id, &signal.thread);
            // What is stored of a request would be stored a second time, or its messages would be taken for those.
            if matches!(signal.payload, Payload::Due { .. } | Payload::CardLate { .. }) && !self.is_touched {
                self.left_over = Some(signal);
            }
        }
    }

    /// When a plan has to be looked after, or the clock at least.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let (due, _) = self.state.next_due()?;
        let wait = Duration::from_millis(self.wait_ms(due)).min(NAP_MAX);
        let at = Instant::now() + wait;
        Some(self.quiet.until().map_or(at, |quiet| at.max(quiet)))
    }

    /// Looks after the plan whose time has come, if one's has.
    pub(super) async fn look_after_plans(&mut self) {
        let Some((due, plan)) = self.state.next_due() else { return };
        if self.wait_ms(due) > 0 || !self.is_first_in_line() {
            self.quiet.for_a_moment();
            return;
        }
        self.quiet.grow();
        match self.accepted_signal(&plan).await {
            Ok(signal) => {
                self.engine.on_accepted(&self.key);
                self.begin(Job { signal: Box::new(signal), attempt: Attempt::First { is_begun: true } }).await;
            }
            Err(error) => tracing::error!(%error, %plan, "a plan cannot be looked after"),
        }
    }

    /// The signal that was left over, whichever plan it names: it has to be answered, and another plan's time comes after
    /// it. Only where there is none, a new one is accepted.
    async fn accepted_signal(&mut self, plan: &PlanId) -> Result<Signal, StoreError> {
        if let Some(signal) = self.left_over.take() {
            return Ok(signal);
        }
        let plan = plan.clone();
        let is_unseen = self.waits_for_its_card(&plan).await?;
        let payload = if is_unseen { Payload::CardLate { plan } } else { Payload::Due { plan } };
        let signal = our_signal(&self.key, payload);
        self.engine.store.accept_begun(&signal).await?;
        Ok(signal)
    }

    /// Returns whether the time to decide a plan is over and its card is still on its way. Reads the store.
    async fn waits_for_its_card(&self, plan: &PlanId) -> Result<bool, StoreError> {
        let now = self.engine.clock.now();
        let Some(filed) = self.state.undecided_in_time(plan, now) else { return Ok(false) };
        let age_ms = now.wall.0.saturating_sub(filed.frozen.plan().requested_at.0);
        if age_ms >= CARD_LATE_MS_MAX {
            return Ok(false);
        }
        let cards = self.engine.store.card_posts(plan).await?;
        Ok(cards.iter().any(|card| card.open) && cards.iter().all(|card| card.parts.is_empty()))
    }

    /// Whether nothing that was accepted earlier waits: above all not the decision that an earlier process left half done,
    /// whose own answer has to say what is not known, before anybody looks. Until everything that was left is queued the
    /// entrance of its thread is closed.
    fn is_first_in_line(&self) -> bool {
        let entrance = self.engine.lock_threads().get(&self.key).map(|handle| Arc::clone(&handle.entrance));
        entrance.is_none_or(|entrance| entrance.try_lock().is_ok()) && self.has_no_jobs()
    }

    fn wait_ms(&self, due: Due) -> u64 {
        due.wait_ms(wall_now(), self.engine.clock.mono())
    }
}

/// One effect away from a person (SIG-10), and nobody waits for it.
pub(super) fn our_signal(thread: &ThreadKey, payload: Payload) -> Signal {
    let id = fresh_id();
    Signal {
        event: EventId::new(format!("{OURSELVES}/{id}")),
        id: SignalId::new(id),
        thread: thread.clone(),
        room: ConversationKind::Unknown,
        actor: Actor { id: ActorId::new(OURSELVES), kind: ActorKind::Service, display: OURSELVES.to_owned() },
        addressed: Addressed::Direct,
        payload,
        depth: 1,
        ground: Ground::Background,
        follows: None,
        platform_roles: Vec::new(),
        assurance: Assurance::Platform,
        received_at: Wall(wall_now().0),
    }
}
