//! The installation around the threads: two threads with their queues, the inbox, the store, the tool server and the two
//! clocks. It feeds `step` as the shell does and performs what is stored; it can be crashed at any point. What must hold
//! is in `ledger.rs`, and what happens is drawn in `op.rs`.

use crate::approval::{Filed, Move, PlanId, PlanState, Standing};
use crate::effect::{Effect, Input};
use crate::env::Env;
use crate::envelope::Envelope;
use crate::gate::ToolCall;
use crate::signal::{Mono, Now, Signal, SignalId, Wall};
use crate::sim::Files;
use crate::sim::dice::Dice;
use crate::sim::flight::{Flight, Leapt, Manner, done, failed, no_answer, not_begun, refused};
use crate::sim::store::NotStored;
use crate::sim::town::Crash;
use crate::step::step;
use crate::testkit::{People, World, signal, thread_key};
use crate::thread::ThreadState;
use crate::tool::ToolKind;

use super::cards;
use super::grants::Book;
use super::ledger::{Execution, Ledger, Moment, Tally};
use super::spoke::Spoke;

/// After how many begun attempts a signal ends in a notice.
const ATTEMPTS_MAX: u32 = 2;

/// A thread in its process.
#[derive(Debug, Default)]
pub(super) struct Seat {
    pub(super) state: ThreadState,
    pub(super) loaded: bool,
    pub(super) current: Option<Signal>,
    pub(super) deadline: Option<u64>,
}

/// A signal that is accepted and not finished.
#[derive(Debug)]
struct Entry {
    signal: Signal,
    seat: usize,
    /// The worker of this process has it.
    taken: bool,
    /// An earlier process accepted it.
    recovered: bool,
    attempts: u32,
}

pub(super) struct Town<'a> {
    ground: &'a World,
    pub(super) dice: Dice,
    /// Who may what now.
    pub(super) people: People,
    pub(super) mono: u64,
    pub(super) wall: i64,
    setbacks: u64,
    pub(super) seats: [Seat; 2],
    pub(super) files: Files,
    /// What this process takes for the ledger of permissions, where another one has changed it since.
    pub(super) seen: Option<crate::ledger::Ledger>,
    pub(super) book: Book,
    inbox: Vec<Entry>,
    pub(super) spoke: Spoke,
    pub(super) ledger: Ledger,
    pub(super) tally: &'a mut Tally,
    /// After how many more steps the process ends, and where in the step.
    pub(super) crash: Option<(u64, Crash)>,
    signals: u64,
}

/// The threads' names.
const SEATS: [&str; 2] = ["main", "other"];

impl<'a> Town<'a> {
    pub(super) fn new(ground: &'a World, seed: u64, tally: &'a mut Tally) -> Self {
        Self {
            ground,
            dice: Dice::new(seed),
            people: ground.people.clone(),
            mono: 1_000,
            wall: 1_700_000_000_000,
            setbacks: 0,
            seats: Default::default(),
            files: Files::default(),
            seen: None,
            book: Book::default(),
            inbox: Vec::new(),
            spoke: Spoke::new(),
            ledger: Ledger::default(),
            tally,
            crash: None,
            signals: 0,
        }
    }

    /// A signal is accepted: from here on it must come to an end.
    pub(super) fn accept(&mut self, seat: usize, actor: &str, change: impl FnOnce(&mut Signal)) {
        self.signals += 1;
        let mut accepted = signal(&format!("s{}", self.signals), actor, "");
        accepted.thread = thread_key(SEATS[seat]);
        change(&mut accepted);
        self.inbox.push(Entry { signal: accepted, seat, taken: false, recovered: false, attempts: 0 });
    }

    /// Every idle thread takes its next signal, until there is none.
    pub(super) fn pump(&mut self) {
        while let Some(at) = self.inbox.iter().position(|entry| !entry.taken && !self.is_busy(entry.seat)) {
            if self.ledger.problem.is_some() {
                return;
            }
            self.begin(at);
        }
    }

    fn is_busy(&self, seat: usize) -> bool {
        self.seats[seat].state.is_busy()
    }

    fn begin(&mut self, at: usize) {
        let entry = &self.inbox[at];
        let (seat, named) = (entry.seat, entry.signal.payload.named_plan());
        self.load(seat);
        if !self.seats[seat].loaded {
            return;
        }
        let unknown = named.filter(|plan| self.seats[seat].state.desk.get(plan).is_none());
        let row = unknown.and_then(|plan| self.files.rows.get(&plan)).filter(|row| is_of(row, seat)).cloned();
        if let Some(row) = row {
            self.step(seat, Input::Filed(vec![row]));
            if !self.seats[seat].loaded {
                return;
            }
        }
        let entry = &mut self.inbox[at];
        entry.taken = true;
        entry.attempts += u32::from(entry.recovered);
        let signal = Box::new(entry.signal.clone());
        let input = match (entry.recovered, entry.attempts > ATTEMPTS_MAX) {
            (false, _) => Input::Signal(signal),
            (true, false) => Input::Again(signal),
            (true, true) => Input::Interrupted(signal),
        };
        self.seats[seat].current = Some(entry.signal.clone());
        self.step(seat, input);
    }

    /// A thread that begins hears what the store holds of its plans, before anything else.
    pub(super) fn load(&mut self, seat: usize) {
        if self.seats[seat].loaded {
            return;
        }
        self.seats[seat] = Seat { loaded: true, ..Seat::default() };
        let open = self.files.rows.values().filter(|row| row.state().is_open() && is_of(row, seat)).cloned();
        let open = open.collect();
        self.step(seat, Input::Filed(open));
    }

    /// One step, stored as one and then performed; or not stored, and then the thread hears why.
    pub(super) fn step(&mut self, at: usize, input: Input) {
        let now = Now { wall: Wall(self.wall), mono: Mono(self.mono), seed: self.dice.wide() };
        let ground = self.ground;
        let state = std::mem::take(&mut self.seats[at].state);
        let ledger = self.seen.as_ref().unwrap_or(&self.files.ledger);
        let env = Env { rights: &self.people, ledger, ..ground.env() };
        let (state, effects) = step(env, state, input, now);
        self.seats[at].state = state;
        self.tally.one("steps");
        let crash = self.crash_of_this_step();
        if crash == Some(Crash::BeforeStored) {
            return self.end_process();
        }
        if let Err(why) = self.files.store(&effects, now) {
            return self.not_stored(at, why);
        }
        self.record(at, &effects);
        if crash == Some(Crash::AfterStored) {
            return self.end_process();
        }
        self.perform(at, effects);
        let seat = &self.seats[at];
        let vanished = seat.current.is_some() && !seat.state.is_busy();
        self.ledger.demand(!vanished, || format!("{:?} vanished without an end", seat.current));
        self.ledger.thread(&seat.state, &self.files, |row| is_of(row, at));
        self.ledger.compare(&self.files);
    }

    fn crash_of_this_step(&mut self) -> Option<Crash> {
        let (steps, kind) = self.crash?;
        self.crash = steps.checked_sub(1).map(|left| (left, kind));
        (steps == 0).then_some(kind)
    }

    fn not_stored(&mut self, at: usize, why: NotStored) {
        let Some(signal) = self.seats[at].current.clone().map(Box::new) else {
            return self.ledger.demand(false, || format!("a plan was moved without a signal: {why:?}"));
        };
        let input = match why {
            NotStored::Lost(filed) => {
                self.tally.one("lost");
                Input::Lost { signal, filed }
            }
            NotStored::Held(filed, by) => {
                self.tally.one("held");
                Input::Held { signal, filed, by }
            }
            NotStored::Overtaken => {
                self.seen = None;
                self.tally.one("overtaken");
                Input::Overtaken(signal)
            }
        };
        self.step(at, input);
    }

    fn record(&mut self, at: usize, effects: &[Effect]) {
        self.book.stored(effects, (&self.files, &self.people, self.wall), &mut self.ledger, self.tally);
        cards::shown(effects, &self.files, &mut self.ledger, self.tally);
        if effects.iter().any(|effect| matches!(effect, Effect::Keep(_))) {
            self.seen = None;
        }
        for effect in effects {
            match effect {
                Effect::File(filed) => {
                    self.tally.one("pending");
                    self.ledger.filed(filed);
                }
                Effect::Move(moved) => self.moved(moved, true),
                Effect::Post { message, .. } => self.ledger.said(message.get(), &self.files, self.tally),
                Effect::Finish { signal, .. } => self.finished(at, signal),
                Effect::Call(_)
                | Effect::Think(_)
                | Effect::Progress(_)
                | Effect::Redraw { .. }
                | Effect::Audit(_)
                | Effect::Spend(_)
                | Effect::Count(_)
                | Effect::Keep(_)
                | Effect::Remember { .. }
                | Effect::GiveUp { .. }
                | Effect::Wake { .. } => {}
            }
        }
    }

    fn finished(&mut self, seat: usize, signal: &SignalId) {
        let found = self.inbox.iter().position(|entry| entry.seat == seat && entry.taken && entry.signal.id == *signal);
        match found {
            Some(at) => {
                self.inbox.remove(at);
            }
            None => self.ledger.demand(false, || format!("{signal} ended, and nobody works on it")),
        }
    }

    fn perform(&mut self, seat: usize, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Call(call) => self.call(seat, call.get()),
                Effect::Wake { at, .. } => self.seats[seat].deadline = Some(at.0),
                Effect::Finish { .. } => (self.seats[seat].current, self.seats[seat].deadline) = (None, None),
                Effect::Post { .. }
                | Effect::Think(_)
                | Effect::Progress(_)
                | Effect::Redraw { .. }
                | Effect::File(_)
                | Effect::Move(_)
                | Effect::Audit(_)
                | Effect::Spend(_)
                | Effect::Count(_)
                | Effect::Keep(_)
                | Effect::GiveUp { .. }
                | Effect::Remember { .. } => {}
            }
        }
    }

    fn call(&mut self, seat: usize, call: &ToolCall) {
        match (&call.warrant, call.kind) {
            (Some(warrant), _) => self.ledger.write_leaves(warrant, &self.files),
            (None, ToolKind::Read) => {
                let carried = self.seats[seat].state.request.as_ref().and_then(|request| request.carrying.as_ref());
                if let Some(plan) = carried {
                    self.ledger.look_leaves(plan, self.setbacks);
                }
            }
            (None, kind) => self.ledger.demand(kind != ToolKind::Write, || format!("no warrant: {call:?}")),
        }
        let until = call.warrant.as_ref().map_or(self.wall, |warrant| warrant.until.0);
        let good_for = (until - self.wall).clamp(0, 10_000);
        let flight = Flight {
            seat,
            call: call.clone(),
            sent: self.mono,
            good_for,
            begun: None,
            jumped: false,
            leapt: Leapt::No,
            awaited: true,
        };
        self.spoke.flights.push(flight);
    }

    /// The process ends, and with it everything that only it knew. What it asked the tool server to write may still be
    /// done.
    pub(super) fn end_process(&mut self) {
        self.tally.one("crashes");
        self.crash = None;
        self.seats = Default::default();
        for entry in &mut self.inbox {
            (entry.taken, entry.recovered) = (false, true);
        }
        self.spoke.flights.retain(Flight::is_write);
        for flight in &mut self.spoke.flights {
            flight.awaited = false;
            if flight.leapt == Leapt::Forward {
                flight.leapt = Leapt::Misled;
            }
        }
    }

    /// A thread breaks: its memory is gone, and its request ends with a notice.
    pub(super) fn panic(&mut self, seat: usize) {
        let Some(signal) = self.seats[seat].current.clone() else { return };
        self.drop_thread(seat);
        self.load(seat);
        if self.seats[seat].loaded {
            self.seats[seat].current = Some(signal.clone());
            self.step(seat, Input::Interrupted(Box::new(signal)));
        }
    }

    /// A thread's memory is dropped, and nobody waits any longer for what it had asked for.
    pub(super) fn drop_thread(&mut self, seat: usize) {
        self.seats[seat] = Seat::default();
        self.spoke.flights.retain(|flight| flight.seat != seat || flight.is_write());
        for flight in self.spoke.flights.iter_mut().filter(|flight| flight.seat == seat) {
            flight.awaited = false;
        }
    }

    /// A plan that was asked for in an earlier process.
    pub(super) fn file(&mut self, filed: &Filed) {
        self.tally.one("pending");
        self.ledger.filed(filed);
        self.files.rows.insert(filed.id().clone(), filed.clone());
    }

    /// The tool server works on one call, in this manner.
    pub(super) fn serve(&mut self, at: usize, manner: Manner) {
        let flight = &self.spoke.flights[at];
        if !flight.is_write() {
            let envelope = match manner {
                Manner::Well | Manner::Begin => self.spoke.answer(&flight.call, &self.ground.script.resources),
                Manner::Mute | Manner::Silent => no_answer(false),
                Manner::Refuse => refused("not from here"),
                Manner::Fail => failed(),
            };
            return self.answer(at, envelope);
        }
        let begun = flight.begun.is_some();
        match manner {
            Manner::Begin => self.begin_write(at),
            Manner::Silent => self.give_up(at),
            Manner::Refuse if !begun => self.answer(at, refused("not from here")),
            Manner::Fail => {
                if self.dice.one_in(2) {
                    self.act(at);
                }
                self.answer(at, failed());
            }
            Manner::Well | Manner::Mute | Manner::Refuse => {
                let envelope = match (self.act(at), begun) {
                    (true, _) if manner == Manner::Mute => no_answer(true),
                    (true, _) => done(),
                    (false, true) => no_answer(true),
                    (false, false) => not_begun(),
                };
                self.answer(at, envelope);
            }
        }
    }

    pub(super) fn begin_write(&mut self, at: usize) {
        let (mono, wall) = (self.mono, self.wall);
        let flight = &mut self.spoke.flights[at];
        if flight.begun.is_none() && flight.may_act(mono, wall) {
            flight.begun = Some(mono);
        }
    }

    /// A write takes effect, where it may.
    pub(super) fn act(&mut self, at: usize) -> bool {
        let flight = &self.spoke.flights[at];
        if !flight.may_act(self.mono, self.wall) {
            return false;
        }
        let (call, setbacks) = (&flight.call, self.setbacks);
        let execution = Execution {
            call,
            setbacks,
            jumped: flight.jumped || flight.leapt == Leapt::Misled,
            orphan: !flight.awaited,
        };
        self.ledger.executed(&execution, &self.files, self.tally);
        let target = call.target.clone();
        self.spoke.restart(target.as_ref(), &mut self.dice);
        true
    }

    /// The call is over, and its answer goes to whoever waits for it.
    pub(super) fn answer(&mut self, at: usize, envelope: Envelope) {
        let flight = self.spoke.flights.remove(at);
        if flight.awaited {
            self.step(flight.seat, Input::Answer { call: flight.call.id, envelope: Box::new(envelope) });
        }
    }

    /// Whoever waits hears this, and the write itself may go on.
    fn give_up(&mut self, at: usize) {
        let flight = &mut self.spoke.flights[at];
        let awaited = std::mem::replace(&mut flight.awaited, false);
        let (seat, call) = (flight.seat, flight.call.id.clone());
        if awaited {
            self.step(seat, Input::Answer { call, envelope: Box::new(no_answer(true)) });
        }
    }

    /// Time passes, on both clocks.
    pub(super) fn pass(&mut self, ms: i64) {
        self.mono += ms.unsigned_abs();
        self.wall += ms;
    }

    /// Somebody sets the clock on the wall.
    pub(super) fn set_clock(&mut self, by: i64) {
        self.wall += by;
        if by < 0 {
            self.setbacks += 1;
        } else {
            for flight in &mut self.spoke.flights {
                flight.jumped |= flight.begun.is_some();
                if flight.leapt == Leapt::No {
                    flight.leapt = Leapt::Forward;
                }
            }
        }
    }

    /// Another instance moves a row, behind the thread's back.
    pub(super) fn moved_elsewhere(&mut self, id: &PlanId, change: impl FnOnce(&mut Standing)) {
        let Some(row) = self.files.rows.get_mut(id) else { return };
        let (from, version) = (row.state(), row.standing.version);
        change(&mut row.standing);
        row.standing.version += 1;
        let target = row.frozen.plan().target.clone();
        let moved = Move { plan: id.clone(), target, from, version, to: row.standing.clone() };
        if matches!(row.state(), PlanState::Verified(_)) {
            self.ledger.look_leaves(id, self.setbacks);
        }
        self.moved(&moved, false);
    }

    fn moved(&mut self, moved: &Move, ours: bool) {
        let (people, files, setbacks) = (&self.people, &self.files, self.setbacks);
        let moment = Moment { people, files, wall: self.wall, ours, setbacks };
        self.ledger.moved(moved, &moment, self.tally);
    }

    /// Which thread a plan belongs to.
    pub(super) fn seat_of(&self, id: &PlanId) -> usize {
        self.files.rows.get(id).map_or(0, |row| usize::from(!is_of(row, 0)))
    }

    /// How many accepted signals have not ended.
    pub(super) fn unfinished(&self) -> usize {
        self.inbox.len()
    }
}

fn is_of(row: &Filed, seat: usize) -> bool {
    row.frozen.plan().thread.root.as_str() == SEATS[seat]
}
