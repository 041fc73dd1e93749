//! Performs the effects of a step, in order. What is stored (audit rows, messages, the ending) goes into one transaction,
//! before anything is called or sent.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::approval::PlanId;
use countersign_core::effect::{Audit, Effect, Ending as Ended, Input};
use countersign_core::envelope::{Code, Details, Envelope};
use countersign_core::gate::{Cleared, ToolCall};
use countersign_core::mind::{Ask, Unheard};
use countersign_core::port::{Block, Claim, Lane, Mark, Outgoing, Visibility};
use countersign_core::secrets::Mask;
use countersign_core::signal::{CallId, Now, Payload, Signal, SignalId};
use countersign_core::tool::ToolKind;
use futures::FutureExt;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::outbox::Post;
use super::spending::{self, Why};
use super::worker::Worker;
use crate::clock::{fresh_id, wall_now};
use crate::store::{AuditRow, Committed, Ending, LedgerChange, NewPost, NewUse, PlanChange, Redraw, StepRecord, What};
use crate::telemetry;

/// The number of attempts at a commit that fails for a permanent reason. After that the request stays in the inbox until the next
/// start.
const COMMITS_MAX: u32 = 5;

/// The first pause between two commits of a step, and the longest.
const COMMIT_PAUSE: Duration = Duration::from_millis(100);
const COMMIT_PAUSE_MAX: Duration = Duration::from_secs(2);

/// What a step has to store.
#[derive(Default)]
struct Storing {
    posts: Vec<NewPost>,
    redraws: Vec<Redraw>,
    plans: Vec<PlanChange>,
    uses: Vec<NewUse>,
    ledger: Vec<LedgerChange>,
    refused: bool,
    ending: Option<(SignalId, Ended)>,
}

impl Storing {
    /// Whether plans or the ledger change.
    const fn changes_something(&self) -> bool {
        !self.plans.is_empty() || !self.ledger.is_empty()
    }
}

/// What became of a step in the store.
enum Stored {
    /// It is in, or has nothing to store.
    Done,
    /// The database does not take it.
    Not,
    /// A plan stands otherwise than the step took it to: nothing of the step is done, and the thread hears this.
    Conflict(Box<Input>),
}

impl Worker {
    /// Returns what the thread has to hear next: that the store did not take the step, and nothing of it was done.
    pub(super) async fn perform(&mut self, effects: Vec<Effect>, now: Now) -> Option<Input> {
        let mut storing = Storing::default();
        let (mut calls, mut asks) = (Vec::new(), Vec::new());
        let (mut plans_filed, mut progress) = (0, None);
        let mut given_up = None;
        let from_before = self.unwritten.len();
        for effect in effects {
            match effect {
                Effect::Audit(audit) => {
                    storing.refused |= audit.code.is_some();
                    log(&audit);
                    self.unwritten.push(audit_row(audit, now));
                }
                Effect::Post { n, message } => {
                    storing.posts.push(new_post(self.posts_from.saturating_add(n), &message));
                }
                Effect::Finish { signal, ending } => storing.ending = Some((signal, ending)),
                Effect::File(filed) => {
                    plans_filed += 1;
                    storing.plans.push(PlanChange::File(filed));
                }
                Effect::Move(moved) => storing.plans.push(PlanChange::Move { id: fresh_id(), moved }),
                Effect::Spend(spend) => {
                    spending::count(&spend);
                    storing.uses.push(NewUse { id: fresh_id(), spend: *spend });
                }
                Effect::Keep(change) => storing.ledger.push(LedgerChange { id: fresh_id(), change }),
                Effect::Call(call) => calls.push(call),
                Effect::Think(ask) => asks.push(*ask),
                Effect::Progress(message) => progress = Some(message),
                Effect::Redraw { plan, message } => storing.redraws.push(Redraw { plan, body: body(&message) }),
                Effect::Count(count) => telemetry::count(count.name, &count.labels),
                Effect::Remember { key, route } => self.engine.world.remember(key, route),
                Effect::GiveUp { calls, asks } => given_up = Some((calls, asks)),
                Effect::Wake { at, signal } => self.deadline = Some((self.engine.clock.instant(at), signal)),
            }
        }
        match self.store(&storing, now, from_before).await {
            Stored::Done => {}
            Stored::Not => {
                self.on_not_stored();
                return None;
            }
            Stored::Conflict(input) => return Some(*input),
        }
        if let Some((gone, asks)) = given_up {
            // Also what this very step has asked for before it gave up.
            calls.retain(|call| !gone.contains(&call.get().id));
            self.drop_what_waits(&gone, asks);
        }
        self.count_made(&calls, plans_filed, now);
        if !storing.uses.is_empty() {
            self.look_what_was_used(Why::Used, now).await;
        }
        self.show_progress(&storing, progress);
        self.on_stored(storing);
        for call in calls {
            self.call(call);
        }
        for ask in asks {
            self.think(ask);
        }
        None
    }

    /// The database does not take it: nothing that was not stored is done. The request stays in the inbox for the next
    /// start, and nobody waits for it any longer in this one.
    fn on_not_stored(&mut self) {
        tracing::error!("a request is given up until the next start: its steps cannot be stored");
        self.give_up();
    }

    /// Commits what the step has to store. A step that has nothing but rows about reads under way waits with them for the
    /// next commit of its request: a read changes nothing, and every request ends in one. `from_before` is how many of the
    /// waiting rows are of earlier steps: they stay true where the store refuses this one.
    async fn store(&mut self, storing: &Storing, now: Now, from_before: usize) -> Stored {
        let is_due = storing.refused
            || storing.ending.is_some()
            || !storing.posts.is_empty()
            || !storing.redraws.is_empty()
            || storing.changes_something()
            || !storing.uses.is_empty();
        let Some(signal) = self.current.clone() else { return self.store_late_uses(storing, now).await };
        if !is_due {
            return Stored::Done;
        }
        let mut record = StepRecord {
            signal: signal.id.clone(),
            at: now.wall,
            audit: std::mem::take(&mut self.unwritten),
            posts: storing.posts.clone(),
            redraws: storing.redraws.clone(),
            uses: storing.uses.clone(),
            plans: storing.plans.clone(),
            ledger: storing.ledger.clone(),
            ending: storing.ending.as_ref().map(|(_, ending)| ending_of(*ending)),
            kept: storing.ending.as_ref().map(|_| kept(signal.clone(), &self.engine.world.mask)),
        };
        let refused = match self.commit(&record).await {
            None => return Stored::Not,
            Some(Committed::Done) => {
                self.is_touched = true;
                if !storing.plans.is_empty() {
                    self.quiet.shrink();
                }
                if !storing.ledger.is_empty() {
                    self.engine.read_ledger(now).await;
                }
                return Stored::Done;
            }
            Some(Committed::Lost(filed)) => Input::Lost { signal: Box::new(signal), filed },
            Some(Committed::Held { filed, by }) => Input::Held { signal: Box::new(signal), filed, by },
            Some(Committed::Overtaken) => {
                self.engine.read_ledger(now).await;
                Input::Overtaken(Box::new(signal))
            }
        };
        record.audit.truncate(from_before);
        self.unwritten = record.audit;
        Stored::Conflict(Box::new(refused))
    }

    /// Stores what was used for a request that has ended since.
    async fn store_late_uses(&self, storing: &Storing, now: Now) -> Stored {
        let Some(first) = storing.uses.first() else { return Stored::Done };
        let (signal, uses) = (first.spend.signal.clone(), storing.uses.clone());
        let (audit, plans, posts) = (Vec::new(), Vec::new(), Vec::new());
        let ledger = Vec::new();
        let redraws = Vec::new();
        let (ending, kept) = (None, None);
        let record = StepRecord { signal, at: now.wall, audit, plans, ledger, posts, redraws, uses, ending, kept };
        self.commit(&record).await.map_or(Stored::Not, |_| Stored::Done)
    }

    /// Commits, and retries if the database fails. A temporary failure, such as a full disk, is retried as long as the bot runs.
    /// Returns none if the failure is permanent or the bot stops.
    async fn commit(&self, record: &StepRecord) -> Option<Committed> {
        let mut pause = COMMIT_PAUSE;
        for attempt in 1_u32.. {
            let error = match self.store.commit(record).await {
                Ok(committed) => {
                    self.engine.on_stored_again();
                    return Some(committed);
                }
                Err(error) => error,
            };
            telemetry::count("commits_failed_total", &[]);
            if attempt <= COMMITS_MAX {
                tracing::error!(%error, attempt, "failed to store a step; it is tried again");
            }
            if attempt >= COMMITS_MAX {
                if !error.passes() {
                    break;
                }
                self.engine.on_store_trouble(&error);
                if attempt == COMMITS_MAX {
                    self.show_that_it_waits();
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(COMMIT_PAUSE_MAX),
                () = self.engine.stopping.cancelled(), if attempt >= COMMITS_MAX => break,
            }
        }
        None
    }

    /// Shows in the thread that nothing can be stored at the moment. Only on a platform on which that can be taken back later. The
    /// message itself is not stored.
    fn show_that_it_waits(&self) {
        let Some(signal) = &self.current else { return };
        let text = "I can't write to my database at the moment. Your request waits, and goes on by itself.".to_owned();
        let message = Outgoing {
            to: signal.thread.clone(),
            answers: signal.id.clone(),
            mark: Mark::Plain,
            lane: Lane::Progress,
            visibility: Visibility::Everybody,
            claim: Claim::Nothing,
            blocks: vec![Block::Text { text }],
        };
        match self.engine.world.reissue(message) {
            Ok(message) => self.engine.show_progress(signal, &message),
            Err(refusal) => tracing::error!(%refusal.message, "failed to show that a request waits"),
        }
    }

    /// What is only seen while the work goes on. Of a request that ends with this step nothing is shown any more.
    fn show_progress(&self, storing: &Storing, progress: Option<Cleared<Outgoing>>) {
        if let (Some(signal), Some(message), None) = (&self.current, progress, &storing.ending) {
            self.engine.show_progress(signal, &message);
        }
    }

    fn on_stored(&mut self, storing: Storing) {
        let now = self.engine.clock.mono();
        if let Some(signal) = &self.current
            && !storing.posts.is_empty()
        {
            self.engine.outbox.put(storing.posts.into_iter().map(|post| (Post::new(post, signal), now)), now);
        }
        for redraw in storing.redraws {
            self.engine.outbox.redraw(redraw.plan, now);
        }
        let Some((signal, ending)) = storing.ending else { return };
        self.deadline = None;
        let current = self.current.take();
        if let Some(signal) = &current {
            let took_ms = wall_now().0.saturating_sub(signal.received_at.0);
            telemetry::seconds("request_seconds", Duration::from_millis(u64::try_from(took_ms).unwrap_or_default()));
        }
        let thread = current.map(|signal| signal.thread);
        telemetry::count("endings_total", &[("ending", ending.as_str().to_owned())]);
        if self.engine.outbox.ended(&signal)
            && let Some(thread) = thread
        {
            self.engine.on_answered(&signal, &thread);
        }
    }

    /// Counts against the limits of whoever asks. A write counts when it is planned: carried out it was countersigned.
    fn count_made(&self, calls: &[Cleared<ToolCall>], plans_filed: usize, now: Now) {
        let Some(signal) = &self.current else { return };
        let called = calls.iter().map(|call| call.get().kind).filter(|kind| *kind != ToolKind::Write);
        for kind in called.chain(std::iter::repeat_n(ToolKind::Write, plans_filed)) {
            self.engine.world.rates.made(&signal.asker(), kind, now.mono);
        }
    }

    /// Nobody waits for these any longer: their places are free at once, and what still comes of them is dropped.
    fn drop_what_waits(&mut self, calls: &[CallId], asks: bool) {
        for call in calls.iter().filter_map(|call| self.under_way.remove(call)) {
            call.abort();
        }
        if asks {
            self.thoughts = JoinSet::new();
        }
    }

    fn think(&mut self, ask: Cleared<Ask>) {
        let (Some(signal), mind) = (self.current.clone(), self.engine.mind.clone()) else { return };
        let n = ask.get().n;
        let span = tracing::debug_span!("think", n, tier = ask.get().tier.as_str());
        self.thoughts.spawn(
            async move {
                let Some(mind) = mind else { return (signal, n, Err(unheard("no model is configured"))) };
                let heard = AssertUnwindSafe(mind.think(ask)).catch_unwind().await;
                (signal, n, heard.unwrap_or_else(|_| Err(unheard("asking it broke inside the bot; its log says why"))))
            }
            .instrument(span),
        );
    }

    fn call(&mut self, call: Cleared<ToolCall>) {
        let (tools, at_once) = (Arc::clone(&self.engine.tools), Arc::clone(&self.calls_at_once));
        let span = tracing::debug_span!("act", call = %call.get().name());
        let id = call.get().id.clone();
        let handle = self.calls.spawn(
            async move {
                // Never closed: the worker that owns it outlives its calls.
                let _place = at_once.acquire().await;
                let (id, name) = (call.get().id.clone(), call.get().name());
                // What breaks here must not leave the request waiting for its deadline.
                let answered = AssertUnwindSafe(tools.call(call)).catch_unwind().await;
                (id, answered.unwrap_or_else(|_| broken(&name)))
            }
            .instrument(span),
        );
        self.under_way.insert(id, handle);
    }
}

/// What is kept of what was typed, once it is answered and no restart needs it any more: without its secrets. As JSON.
fn kept(mut signal: Signal, mask: &Mask) -> String {
    match &mut signal.payload {
        Payload::Text { text: typed } | Payload::Decision { reason: typed, .. } => {
            *typed = mask.apply(typed).into_owned();
        }
        Payload::Choice { .. }
        | Payload::Details { .. }
        | Payload::Due { .. }
        | Payload::Unreachable { .. }
        | Payload::CardLate { .. }
        | Payload::Stray
        | Payload::OlderCopy
        | Payload::Limited { .. }
        | Payload::Edited { .. }
        | Payload::Deleted { .. }
        | Payload::RoomMoved { .. } => {}
    }
    serde_json::to_string(&signal).expect("invariant: a signal is plain data")
}

fn unheard(why: &str) -> Unheard {
    Unheard { why: why.to_owned(), usage: countersign_core::usage::Usage::default() }
}

fn broken(call: &str) -> Envelope {
    tracing::error!(call, "a tool call panicked");
    let message = format!("`{call}` broke inside the bot; its log says why");
    Envelope::failed(Code::ExecutionFailed, message, false, Details::default())
}

fn new_post(n: u32, message: &Cleared<Outgoing>) -> NewPost {
    let body = body(message);
    let message = message.get();
    NewPost { id: fresh_id(), n, to: message.to.clone(), lane: message.lane, body, plan: card_in(message) }
}

fn body(message: &Cleared<Outgoing>) -> String {
    serde_json::to_string(message.get()).expect("invariant: a message is plain data")
}

/// The plan whose card a message holds.
fn card_in(message: &Outgoing) -> Option<PlanId> {
    message.blocks.iter().find_map(|block| match block {
        Block::Card { plan, .. } => Some(plan.clone()),
        _ => None,
    })
}

/// Logs what was refused and what was recovered from, so that one recovery can be followed by its id.
fn log(audit: &Audit) {
    let Audit { what, gate, code, call, recovery, .. } = audit;
    if code.is_some() || recovery.is_some() {
        let (code, recovery) = (code.map(Code::as_str), recovery.as_deref());
        tracing::debug!(target: "gate", gate, code, call, recovery, "{what}");
    }
}

fn audit_row(audit: Audit, now: Now) -> AuditRow {
    let (tool, action) = audit.call.split_once('.').unwrap_or((&audit.call, ""));
    let what = match audit.code {
        Some(code) => What::Refused { gate: audit.gate.to_owned(), code },
        None => What::Did(audit.what.to_owned()),
    };
    AuditRow {
        id: fresh_id(),
        at: now.wall,
        platform: audit.thread.platform,
        actor: audit.actor.id,
        what,
        tool: tool.to_owned(),
        action: action.to_owned(),
        target: audit.target.unwrap_or_default(),
        plan: audit.plan,
        detail: audit.detail,
    }
}

const fn ending_of(ending: Ended) -> Ending {
    match ending {
        Ended::Answered | Ended::Dropped => Ending::Answered,
        Ended::Interrupted => Ending::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::approval::{Digest, PlanId};
    use countersign_core::port::CardChoice;
    use countersign_core::testkit::signal;

    use super::*;

    #[test]
    fn what_is_kept_holds_no_secret_wherever_it_was_typed() {
        let mask = Mask::new(["hunter2-hunter2".to_owned()]);
        let typed = "no: the password is hunter2-hunter2";
        let text = signal("e1", "ann", typed);
        let decision = Payload::Decision {
            plan: PlanId::from_random(1),
            digest: Digest::of(b"card"),
            choice: CardChoice::Deny,
            reason: typed.to_owned(),
        };
        for heard in [text.clone(), Signal { payload: decision, ..text }] {
            let kept = kept(heard.clone(), &mask);
            assert!(!kept.contains("hunter2") && kept.contains("no: the password is [masked"), "{kept}");
            let read: Signal = serde_json::from_str(&kept).expect("it is a signal still");
            assert_eq!((read.id, read.actor), (heard.id, heard.actor));
        }
    }
}
