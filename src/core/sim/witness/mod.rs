//! What must hold, whatever happens: the thirteen invariants of DESIGN.md section 1, each checked after every step against
//! what the witness has seen for itself. It decides nothing, relies on nothing that a gate has said, and the first thing
//! that does not hold stays. What calls must be is in `calls.rs`, plans in `plans.rs`, and words in `words.rs`.

mod calls;
mod plans;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::approval::PlanId;
use crate::effect::{Effect, Input};
use crate::env::Env;
use crate::envelope::Envelope;
use crate::gate::ToolCall;
use crate::port::Rights;
use crate::resource::{Resource, ResourceId};
use crate::signal::{ActorId, CallId, Now, Payload, Signal, SignalId, ThreadKey};
use crate::thread::{Request, ThreadState};
use crate::tool::ToolKind;

use super::Tally;
use super::store::Files;
use plans::Row;

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which one, by its number in DESIGN.md.
    pub invariant: u8,
    /// What was seen.
    pub what: String,
}

/// One step, as it is looked at after it was stored and before anything of it is done.
pub(super) struct Moment<'a> {
    pub(super) env: &'a Env<'a>,
    /// Who may what now.
    pub(super) rights: &'a dyn Rights,
    pub(super) files: &'a Files,
    pub(super) now: Now,
    pub(super) seat: usize,
    pub(super) thread: &'a [ThreadKey; 2],
    /// The thread after the step.
    pub(super) state: &'a ThreadState,
    /// What it is working on.
    pub(super) signal: Option<&'a Signal>,
}

impl Moment<'_> {
    fn key(&self) -> &ThreadKey {
        let [main, other] = self.thread;
        if self.seat == 0 { main } else { other }
    }

    /// The plan that the request carries out or verifies.
    fn carried(&self) -> Option<&PlanId> {
        self.state.request.as_ref().and_then(|request| request.carrying.as_ref())
    }

    /// Whether a model drives the request.
    fn is_driven_by_a_model(&self) -> bool {
        self.state.request.as_ref().is_some_and(Request::is_driven_by_a_model)
    }
}

/// A call that left a thread.
#[derive(Clone, Debug)]
struct Sent {
    call: ToolCall,
    /// At which step.
    step: u64,
    /// Whoever it was made for, where a route made it.
    for_whom: Option<ActorId>,
}

/// What the witness knows of one thread.
#[derive(Debug, Default)]
struct Seat {
    /// What it was told to be there, with what was found on it.
    seen: BTreeMap<ResourceId, Resource>,
    /// What each person named and had looked at, and when by the stopwatch.
    named: BTreeMap<(ResourceId, ActorId), u64>,
    /// What a route looked up for each person, and when: they may have meant it.
    picked: BTreeMap<(ResourceId, ActorId), u64>,
    /// Calls that left and were not answered.
    sent: BTreeMap<CallId, Sent>,
    /// The last one that was answered, with its answer.
    answered: Option<(Sent, Envelope)>,
    /// What discoveries of the request at work found and whoever asks could never see, by its name, and what they could see.
    hidden: BTreeMap<ResourceId, String>,
    open: BTreeSet<ResourceId>,
    /// The calls of the request at work that succeeded.
    read: Vec<(String, Option<ResourceId>)>,
    /// Which signals something was said about.
    answered_for: BTreeSet<SignalId>,
    /// The messages that were posted, by their signal and number.
    posted: BTreeSet<(SignalId, u32)>,
    /// For which signals a refusal was recorded.
    recorded: BTreeSet<SignalId>,
}

/// Everything that it has seen.
#[derive(Debug, Default)]
pub(super) struct Witness {
    /// How many steps there were.
    steps: u64,
    seats: [Seat; 2],
    rows: BTreeMap<PlanId, Row>,
    /// What was ever allowed beforehand: call and target.
    granted: BTreeSet<(String, ResourceId)>,
    /// What models said and nobody may be shown.
    pub(super) lies: Vec<String>,
    /// The words that some route knows.
    pub(super) routed: BTreeSet<String>,
    /// Those that have a thread forget.
    pub(super) resets: BTreeSet<String>,
    /// The first thing that did not hold.
    pub(super) breach: Option<Breach>,
}

impl Witness {
    pub(super) fn demand(&mut self, invariant: u8, holds: bool, what: impl FnOnce() -> String) {
        if !holds && self.breach.is_none() {
            self.breach = Some(Breach { invariant, what: what() });
        }
    }

    fn seat(&mut self, at: usize) -> &mut Seat {
        let [main, other] = &mut self.seats;
        if at == 0 { main } else { other }
    }

    const fn look(&self, at: usize) -> &Seat {
        let [main, other] = &self.seats;
        if at == 0 { main } else { other }
    }

    /// A thread's memory is gone.
    pub(super) fn forgot(&mut self, at: usize) {
        *self.seat(at) = Seat::default();
    }

    /// A thread is about to be told this.
    pub(super) fn told(&mut self, at: usize, input: &Input, now: Now) {
        self.steps = self.steps.saturating_add(1);
        let Self { seats: [main, other], resets, .. } = self;
        let thread = if at == 0 { main } else { other };
        thread.answered = None;
        match input {
            Input::Answer { call, envelope } => {
                let Some(sent) = thread.sent.remove(call) else { return };
                if envelope.ok {
                    if sent.call.kind == ToolKind::Resolve {
                        if let Some((id, by)) = picked(&sent.call, envelope).zip(sent.for_whom.clone()) {
                            thread.picked.insert((id, by), now.mono.0);
                        }
                        thread.seen.extend(envelope.resources().into_iter().map(|one| (one.id.clone(), one)));
                    }
                    thread.read.push((sent.call.name(), sent.call.target.clone()));
                }
                thread.answered = Some((sent, Envelope::clone(envelope)));
            }
            Input::Signal(signal) | Input::Again(signal) | Input::Interrupted(signal) => {
                thread.read.clear();
                thread.hidden.clear();
                thread.open.clear();
                if words(signal).is_some_and(|words| resets.contains(words)) {
                    // Whoever has a thread forget takes back what they meant.
                    thread.named.clear();
                }
            }
            Input::Thought { .. }
            | Input::Deadline(_)
            | Input::Aside(_)
            | Input::Halt(_)
            | Input::Used { .. }
            | Input::Filed(_)
            | Input::Lost { .. }
            | Input::Held { .. }
            | Input::Overtaken(_) => {}
        }
    }

    /// A step was stored: everything that it decided is looked at, in its order.
    pub(super) fn stored(&mut self, moment: &Moment<'_>, effects: &[Effect], tally: &mut Tally) {
        self.hides(moment);
        for effect in effects {
            match effect {
                Effect::Call(call) => self.call(moment, call.get(), tally),
                Effect::Think(ask) => self.asked(moment, ask.get()),
                Effect::Post { n, message } => self.posted(moment, *n, message.get()),
                Effect::Progress(message) | Effect::Redraw { message, .. } => self.shown(message.get()),
                Effect::File(filed) => self.filed(moment, filed, tally),
                Effect::Move(moved) => self.moved(moment, moved),
                Effect::Keep(change) => self.kept(change),
                Effect::Audit(audit) => self.recorded(moment, audit, tally),
                Effect::Spend(_)
                | Effect::Count(_)
                | Effect::Remember { .. }
                | Effect::Wake { .. }
                | Effect::GiveUp { .. }
                | Effect::Finish { .. } => {}
            }
            if self.breach.is_some() {
                return;
            }
        }
        self.compare(moment.files);
        self.thread(moment);
    }

    /// Everything has come to its end, or should have.
    pub(super) fn settled(&mut self, unfinished: usize, files: &Files) {
        self.demand(7, unfinished == 0, || format!("{unfinished} accepted signals never ended"));
        for row in files.rows.values().filter(|row| row.state().is_open()) {
            // What nobody decided expires, and what was begun is verified.
            let invariant = if row.state().holds_target() { 3 } else { 4 };
            self.demand(invariant, false, || format!("a plan never came to an end: {row:?}"));
        }
    }
}

/// What whoever asked means of what was found: the only one, or the only one that is called as they called it. One of several
/// is looked up by itself when it is chosen.
fn picked(call: &ToolCall, envelope: &Envelope) -> Option<ResourceId> {
    let found = envelope.resources();
    let query = call.args.get("query").and_then(serde_json::Value::as_str);
    let is_called = |one: &&Resource| query.is_some_and(|query| [one.name.as_str(), one.id.as_str()].contains(&query));
    let called: Vec<&Resource> = found.iter().filter(is_called).collect();
    match (called.as_slice(), found.as_slice()) {
        ([only], _) => Some(only.id.clone()),
        ([], [only]) => Some(only.id.clone()),
        _ => None,
    }
}

/// What somebody wrote; none where they pressed something.
fn words(signal: &Signal) -> Option<&str> {
    match &signal.payload {
        Payload::Text { text } => Some(text),
        Payload::Choice { .. }
        | Payload::Decision { .. }
        | Payload::Details { .. }
        | Payload::Due { .. }
        | Payload::Unreachable { .. }
        | Payload::Edited { .. }
        | Payload::Deleted { .. }
        | Payload::RoomMoved { .. }
        | Payload::CardLate { .. }
        | Payload::Stray
        | Payload::OlderCopy
        | Payload::Limited { .. } => None,
    }
}
