//! The works of an installation in a simulation: two threads, the inbox, the store, the calls under way and the two clocks.
//! A thread is told what there is for it and a step is stored as one and then performed, as in the shell; the process can
//! end at any point. What stands around it, as who may what, what tools answer and who watches, is said by whoever is an
//! [`Installation`]: the simulation's own town, and that of the tests of plans. What a tool server does with a call is in
//! `server.rs`.

use crate::approval::{Filed, PlanId};
use crate::effect::{Effect, Input};
use crate::gate::ToolCall;
use crate::mind::{Ask, RawCall};
use crate::route::Route;
use crate::signal::{Mono, Now, Signal, SignalId, ThreadKey, Wall};
use crate::thread::ThreadState;
use crate::usage::Spend;

use super::Dice;
use super::flight::{Flight, Leapt};
use super::hostile::Temper;
use super::store::{Files, NotStored};

/// A signal during whose work the process ended so often ends in a notice.
const INTERRUPTIONS_MAX: u32 = 2;

/// Where in a step the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    /// Nothing of the step is stored.
    BeforeStored,
    /// All of it is stored, and nothing of it is done.
    AfterStored,
}

/// A thread in its process.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    pub(crate) state: ThreadState,
    pub(crate) loaded: bool,
    pub(crate) work: Work,
}

/// What a thread's worker is about.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) current: Option<Signal>,
    pub(crate) deadline: Option<u64>,
    /// What a model is asked and has not answered.
    pub(crate) ask: Option<Ask>,
    /// What it is after.
    pub(super) temper: Option<Temper>,
    /// What it wanted the last time.
    pub(super) before: Vec<RawCall>,
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
    /// How often the process ended while it was worked on.
    interruptions: u32,
}

/// Everything that works the same, whoever is there.
pub(crate) struct Works {
    pub(crate) dice: Dice,
    pub(crate) mono: u64,
    pub(crate) wall: i64,
    /// How often the clock on the wall was set back.
    pub(crate) setbacks: u64,
    keys: [ThreadKey; 2],
    seats: [Seat; 2],
    pub(crate) files: Files,
    inbox: Vec<Entry>,
    pub(crate) flights: Vec<Flight>,
    /// After how many more steps the process ends, and where in the step.
    pub(crate) crash: Option<(u64, Crash)>,
    signals: u64,
}

impl Works {
    pub(crate) fn new(keys: [ThreadKey; 2], seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            mono: 1_000,
            wall: 1_700_000_000_000,
            setbacks: 0,
            keys,
            seats: Default::default(),
            files: Files::default(),
            inbox: Vec::new(),
            flights: Vec::new(),
            crash: None,
            signals: 0,
        }
    }

    pub(crate) const fn seat(&mut self, at: usize) -> &mut Seat {
        let [main, other] = &mut self.seats;
        if at == 0 { main } else { other }
    }

    pub(crate) const fn look(&self, at: usize) -> &Seat {
        let [main, other] = &self.seats;
        if at == 0 { main } else { other }
    }

    pub(crate) const fn key(&self, at: usize) -> &ThreadKey {
        let [main, other] = &self.keys;
        if at == 0 { main } else { other }
    }

    pub(super) const fn keys(&self) -> &[ThreadKey; 2] {
        &self.keys
    }

    /// The number of the next signal.
    pub(crate) const fn next_signal(&mut self) -> u64 {
        self.signals = self.signals.saturating_add(1);
        self.signals
    }

    /// A signal is accepted: from here on it must come to an end.
    pub(crate) fn accept(&mut self, seat: usize, signal: Signal) {
        self.inbox.push(Entry { signal, seat, taken: false, recovered: false, interruptions: 0 });
    }

    pub(crate) fn is_busy(&self, seat: usize) -> bool {
        self.look(seat).state.is_busy()
    }

    /// Whether a tool or a model is asked and has not answered.
    pub(crate) fn is_waiting(&self) -> bool {
        self.seats.iter().any(|seat| seat.work.ask.is_some()) || self.flights.iter().any(|flight| flight.awaited)
    }

    /// How many accepted signals have not ended.
    pub(crate) const fn unfinished(&self) -> usize {
        self.inbox.len()
    }

    /// Which thread a plan belongs to.
    pub(crate) fn seat_of(&self, id: &PlanId) -> usize {
        self.files.rows.get(id).map_or(0, |row| usize::from(!self.is_of(row, 0)))
    }

    pub(crate) fn is_of(&self, row: &Filed, seat: usize) -> bool {
        row.frozen.plan().thread == *self.key(seat)
    }

    pub(crate) fn now(&mut self) -> Now {
        Now { wall: Wall(self.wall), mono: Mono(self.mono), seed: self.dice.wide() }
    }

    /// Time passes, on both clocks.
    pub(crate) const fn pass(&mut self, ms: i64) {
        self.mono = self.mono.saturating_add(ms.unsigned_abs());
        self.wall = self.wall.saturating_add(ms);
    }

    /// Somebody sets the clock on the wall.
    pub(crate) fn set_clock(&mut self, by: i64) {
        self.wall = self.wall.saturating_add(by);
        if by < 0 {
            self.setbacks = self.setbacks.saturating_add(1);
            return;
        }
        for flight in &mut self.flights {
            flight.jumped |= flight.begun.is_some();
            if flight.leapt == Leapt::No {
                flight.leapt = Leapt::Forward;
            }
        }
    }

    fn crash_of_this_step(&mut self) -> Option<Crash> {
        let (steps, kind) = self.crash?;
        self.crash = steps.checked_sub(1).map(|left| (left, kind));
        (steps == 0).then_some(kind)
    }

    /// What a stored step has ended is not taken up by another process. Whether somebody worked on it.
    fn finish(&mut self, at: usize, signal: &SignalId) -> bool {
        let is_it = |entry: &Entry| entry.seat == at && entry.taken && entry.signal.id == *signal;
        let found = self.inbox.iter().position(is_it).map(|entry| self.inbox.remove(entry));
        found.is_some()
    }

    fn send(&mut self, seat: usize, call: ToolCall) {
        let until = call.warrant.as_ref().map_or(self.wall, |warrant| warrant.until.0);
        let good_for = until.saturating_sub(self.wall).clamp(0, 10_000);
        let (begun, jumped, leapt, awaited) = (None, false, Leapt::No, true);
        self.flights.push(Flight { seat, call, sent: self.mono, good_for, begun, jumped, leapt, awaited });
    }

    /// Everything that only this process knew is gone. What it asked the tool server to write may still be done.
    fn forget(&mut self) {
        self.crash = None;
        self.seats = Default::default();
        for entry in &mut self.inbox {
            entry.interruptions = entry.interruptions.saturating_add(u32::from(entry.taken));
            (entry.taken, entry.recovered) = (false, true);
        }
        self.flights.retain(Flight::is_write);
        for flight in &mut self.flights {
            flight.awaited = false;
            if flight.leapt == Leapt::Forward {
                flight.leapt = Leapt::Misled;
            }
        }
    }

    /// The next signal of an idle thread, marked as taken, as the thread hears it.
    fn take(&mut self, at: usize) -> Option<(Signal, Input)> {
        let entry = self.inbox.get_mut(at)?;
        entry.taken = true;
        let signal = Box::new(entry.signal.clone());
        let input = match (entry.recovered, entry.interruptions >= INTERRUPTIONS_MAX) {
            (false, _) => Input::Signal(signal),
            (true, false) => Input::Again(signal),
            (true, true) => Input::Interrupted(signal),
        };
        Some((entry.signal.clone(), input))
    }
}

/// The works with everything around them.
pub(crate) trait Installation {
    fn works(&mut self) -> &mut Works;

    /// Whether something did not hold: then nothing goes on.
    fn is_over(&self) -> bool;

    /// Something that holds in every installation.
    fn demand(&mut self, holds: bool, what: impl FnOnce() -> String);

    /// The core's step, in this installation's world.
    fn decide(
        &mut self,
        state: ThreadState,
        input: Input,
        about: Option<&Signal>,
        now: Now,
    ) -> (ThreadState, Vec<Effect>);

    /// A thread is about to be told this.
    fn told(&mut self, _seat: usize, _input: &Input, _now: Now) {}

    /// A step was stored, and nothing of it is done yet. The thread is as the step left it.
    fn stored(&mut self, seat: usize, effects: &[Effect], about: Option<&Signal>, now: Now);

    /// A step could not be stored.
    fn refused(&mut self, _why: &NotStored) {}

    /// A call leaves.
    fn called(&mut self, seat: usize, call: &ToolCall);

    /// The route of a question is to be remembered.
    fn remembers(&mut self, _key: (ThreadKey, String, String), _route: Route) {}

    /// Something was used.
    fn spends(&mut self, _spend: &Spend) {}

    /// The process ended.
    fn ended(&mut self) {}

    /// A thread's memory is gone.
    fn forgot(&mut self, _seat: usize) {}

    /// Every idle thread takes its next signal, until there is none.
    fn pump(&mut self) {
        while !self.is_over() {
            let works = self.works();
            let next = works.inbox.iter().position(|entry| !entry.taken && !works.is_busy(entry.seat));
            let Some(at) = next else { return };
            self.begin(at);
        }
    }

    fn begin(&mut self, at: usize) {
        let Some(entry) = self.works().inbox.get(at) else { return };
        let (seat, named) = (entry.seat, entry.signal.payload.named_plan());
        self.load(seat);
        let works = self.works();
        let unknown = named.filter(|plan| !works.look(seat).state.knows_plan(plan));
        let row = unknown.and_then(|plan| works.files.rows.get(&plan)).filter(|row| works.is_of(row, seat)).cloned();
        if let Some(row) = row {
            self.step(seat, Input::Filed(vec![row]));
        }
        if !self.works().look(seat).loaded {
            return;
        }
        if let Some((signal, input)) = self.works().take(at) {
            self.works().seat(seat).work.current = Some(signal);
            self.step(seat, input);
        }
    }

    /// What a thread hears while it works: by itself, and then what it works on is told to end. A thread that works on
    /// nothing hears it as anything else.
    fn aside(&mut self, seat: usize, signal: Signal) {
        let works = self.works();
        works.accept(seat, signal.clone());
        let Some(at_work) = works.look(seat).work.current.as_ref().map(|signal| signal.id.clone()) else { return };
        if let Some(entry) = works.inbox.last_mut() {
            entry.taken = true;
        }
        let heard = Work { current: Some(signal.clone()), ..Work::default() };
        let before = std::mem::replace(&mut works.seat(seat).work, heard);
        self.step(seat, Input::Aside(Box::new(signal)));
        if self.works().look(seat).loaded {
            self.works().seat(seat).work = before;
            self.step(seat, Input::Halt(at_work));
        }
    }

    /// A thread that begins hears what the store holds of its plans, before anything else.
    fn load(&mut self, seat: usize) {
        let works = self.works();
        if works.look(seat).loaded {
            return;
        }
        *works.seat(seat) = Seat { loaded: true, ..Seat::default() };
        let rows = works.files.rows.values();
        let open = rows.filter(|row| row.state().is_open() && works.is_of(row, seat)).cloned().collect();
        self.step(seat, Input::Filed(open));
    }

    /// One step, stored as one and then performed; or not stored, and then the thread hears why. Where the process has
    /// ended meanwhile, nobody is there to be told.
    fn step(&mut self, at: usize, input: Input) {
        if self.is_over() || !self.works().look(at).loaded {
            return;
        }
        let now = self.works().now();
        self.told(at, &input, now);
        let works = self.works();
        let (state, about) = (std::mem::take(&mut works.seat(at).state), works.look(at).work.current.clone());
        let (state, effects) = self.decide(state, input, about.as_ref(), now);
        let works = self.works();
        works.seat(at).state = state;
        let crash = works.crash_of_this_step();
        if crash == Some(Crash::BeforeStored) {
            return self.end_process();
        }
        if let Err(why) = works.files.store(&effects, now) {
            self.refused(&why);
            return self.not_stored(at, why);
        }
        self.stored(at, &effects, about.as_ref(), now);
        self.finish(at, &effects);
        if crash == Some(Crash::AfterStored) {
            return self.end_process();
        }
        self.perform(at, effects);
        let works = self.works();
        let current = works.look(at).work.current.as_ref().map(|signal| signal.id.clone());
        let vanished = current.is_some() && !works.is_busy(at) && !self.is_over();
        self.demand(!vanished, || format!("the request {current:?} vanished without an end"));
    }

    fn not_stored(&mut self, at: usize, why: NotStored) {
        let Some(signal) = self.works().look(at).work.current.clone().map(Box::new) else {
            return self.demand(false, || format!("a plan was moved without a signal: {why:?}"));
        };
        let input = match why {
            NotStored::Lost(filed) => Input::Lost { signal, filed },
            NotStored::Held(filed, by) => Input::Held { signal, filed, by },
            NotStored::Overtaken => Input::Overtaken(signal),
        };
        self.step(at, input);
    }

    fn finish(&mut self, at: usize, effects: &[Effect]) {
        for effect in effects {
            let Effect::Finish { signal, .. } = effect else { continue };
            let was_at_work = self.works().finish(at, signal);
            self.demand(was_at_work, || format!("{signal} ended, and nobody works on it"));
        }
    }

    fn perform(&mut self, at: usize, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Call(call) => {
                    self.called(at, call.get());
                    self.works().send(at, call.get().clone());
                }
                Effect::Think(ask) => self.works().seat(at).work.ask = Some(ask.get().clone()),
                Effect::Wake { at: time, .. } => self.works().seat(at).work.deadline = Some(time.0),
                Effect::Finish { .. } => self.works().seat(at).work = Work::default(),
                Effect::Remember { key, route } => self.remembers(key, route),
                Effect::Spend(spend) => self.spends(&spend),
                Effect::GiveUp { asks, .. } => {
                    // A reading that nobody waits for may answer all the same.
                    let work = &mut self.works().seat(at).work;
                    work.ask = work.ask.take().filter(|_| !asks);
                }
                Effect::Post { .. }
                | Effect::Progress(_)
                | Effect::Redraw { .. }
                | Effect::File(_)
                | Effect::Move(_)
                | Effect::Keep(_)
                | Effect::Audit(_)
                | Effect::Count(_) => {}
            }
        }
    }

    /// The process ends, and another one may begin.
    fn end_process(&mut self) {
        self.works().forget();
        self.ended();
        (0..2).for_each(|seat| self.forgot(seat));
    }

    /// A thread's memory is dropped, and nobody waits any longer for what it had asked for.
    fn drop_thread(&mut self, seat: usize) {
        let works = self.works();
        *works.seat(seat) = Seat::default();
        works.flights.retain(|flight| flight.seat != seat || flight.is_write());
        for flight in works.flights.iter_mut().filter(|flight| flight.seat == seat) {
            flight.awaited = false;
        }
        self.forgot(seat);
    }
}
