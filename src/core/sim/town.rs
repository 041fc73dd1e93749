//! The installation in a simulation: two threads of one room with their queues, the inbox, the store, the calls under way,
//! the machines and the two clocks. It feeds `step` as the shell does and performs what is stored; it can be crashed at any
//! point. What happens in it is drawn in `op.rs`, and what must hold is in `witness/`.

use crate::approval::{Filed, PlanId, PlanState};
use crate::effect::{Effect, Input};
use crate::env::Env;
use crate::gate::ToolCall;
use crate::mind::{Ask, Minds, RawCall};
use crate::port::Rights as _;
use crate::route::ExactRoutes;
use crate::signal::{
    Actor, Addressed, Assurance, EventId, Ground, Mono, Now, Payload, Signal, SignalId, ThreadKey, Wall,
};
use crate::step::step;
use crate::thread::ThreadState;
use crate::usage::{Book, Day, payers};

use super::cast::{Room, threads};
use super::fleet::Fleet;
use super::flight::{Flight, Leapt};
use super::hostile::Temper;
use super::moods::Moods;
use super::store::{Files, NotStored};
use super::witness::{Moment, Witness};
use super::{Dice, Script, Tally};

/// After how many begun attempts a signal ends in a notice.
const ATTEMPTS_MAX: u32 = 2;

/// How many routes are remembered.
const ROUTES_MAX: usize = 64;

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
pub(super) struct Seat {
    pub(super) state: ThreadState,
    loaded: bool,
    pub(super) work: Work,
}

/// What a thread's worker is about.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) current: Option<Signal>,
    pub(super) deadline: Option<u64>,
    /// What a model is asked and has not answered.
    pub(super) ask: Option<Ask>,
    /// What it is after.
    temper: Option<Temper>,
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
    attempts: u32,
}

pub(super) struct Town<'a> {
    env: Env<'a>,
    /// Who may what now.
    pub(super) rights: Moods<'a>,
    minds: Minds,
    exact: ExactRoutes,
    book: Book,
    /// Chance, for the operation that happens.
    pub(super) dice: Dice,
    pub(super) mono: u64,
    pub(super) wall: i64,
    pub(super) setbacks: u64,
    pub(super) keys: [ThreadKey; 2],
    pub(super) room: Room,
    pub(super) seats: [Seat; 2],
    pub(super) files: Files,
    inbox: Vec<Entry>,
    pub(super) fleet: Fleet,
    pub(super) flights: Vec<Flight>,
    pub(super) witness: Witness,
    pub(super) tally: &'a mut Tally,
    /// After how many more steps the process ends, and where in the step.
    pub(super) crash: Option<(u64, Crash)>,
    signals: u64,
    /// Everything that the threads were told, where that is wanted.
    pub(super) script: Option<Script>,
}

impl<'a> Town<'a> {
    pub(super) fn new(env: Env<'a>, room: &Room, tally: &'a mut Tally, is_recorded: bool) -> Self {
        let wall = 1_700_000_000_000;
        Self {
            env,
            rights: Moods::of(env.rights),
            minds: super::models(),
            exact: ExactRoutes::new(ROUTES_MAX),
            book: Book::new(Day::of(Wall(wall))),
            dice: Dice::new(0),
            mono: 1_000,
            wall,
            setbacks: 0,
            keys: threads(room),
            room: room.clone(),
            seats: Default::default(),
            files: Files::default(),
            inbox: Vec::new(),
            fleet: Fleet::new(env.registry),
            flights: Vec::new(),
            witness: Witness::default(),
            tally,
            crash: None,
            signals: 0,
            script: is_recorded.then(Script::default),
        }
    }

    fn seat(&mut self, at: usize) -> &mut Seat {
        let [main, other] = &mut self.seats;
        if at == 0 { main } else { other }
    }

    pub(super) const fn look(&self, at: usize) -> &Seat {
        let [main, other] = &self.seats;
        if at == 0 { main } else { other }
    }

    const fn key(&self, at: usize) -> &ThreadKey {
        let [main, other] = &self.keys;
        if at == 0 { main } else { other }
    }

    pub(super) const fn env(&self) -> &Env<'a> {
        &self.env
    }

    /// Whether something did not hold: then nothing goes on.
    pub(super) const fn is_over(&self) -> bool {
        self.witness.breach.is_some()
    }

    /// A signal is accepted: from here on it must come to an end.
    pub(super) fn accept(&mut self, seat: usize, actor: Actor, payload: Payload) {
        self.signals = self.signals.saturating_add(1);
        let (id, event) = (SignalId::new(format!("s{}", self.signals)), EventId::new(format!("e{}", self.signals)));
        let is_ours = actor.is_ourselves();
        let signal = Signal {
            id,
            event,
            thread: self.key(seat).clone(),
            room: self.room.kind,
            actor,
            platform_roles: Vec::new(),
            assurance: Assurance::Platform,
            addressed: Addressed::Mention,
            follows: None,
            payload,
            depth: u8::from(is_ours),
            ground: if is_ours { Ground::Background } else { Ground::Foreground },
            received_at: Wall(self.wall),
        };
        self.inbox.push(Entry { signal, seat, taken: false, recovered: false, attempts: 0 });
    }

    /// What a thread hears while it works: by itself, and then what it works on is told to end. A thread that works on
    /// nothing hears it as anything else.
    pub(super) fn aside(&mut self, seat: usize, actor: Actor, payload: Payload) {
        self.accept(seat, actor, payload);
        let Some(at_work) = self.look(seat).work.current.as_ref().map(|signal| signal.id.clone()) else { return };
        let Some(entry) = self.inbox.last_mut() else { return };
        entry.taken = true;
        let signal = entry.signal.clone();
        let heard = Work { current: Some(signal.clone()), ..Work::default() };
        let before = std::mem::replace(&mut self.seat(seat).work, heard);
        self.step(seat, Input::Aside(Box::new(signal)));
        if self.look(seat).loaded {
            self.seat(seat).work = before;
            self.step(seat, Input::Halt(at_work));
        }
    }

    /// Every idle thread takes its next signal, until there is none.
    pub(super) fn pump(&mut self) {
        while let Some(at) = self.inbox.iter().position(|entry| !entry.taken && !self.is_busy(entry.seat)) {
            if self.is_over() {
                return;
            }
            self.begin(at);
        }
    }

    fn is_busy(&self, seat: usize) -> bool {
        self.look(seat).state.is_busy()
    }

    fn begin(&mut self, at: usize) {
        let Some(entry) = self.inbox.get(at) else { return };
        let (seat, named) = (entry.seat, entry.signal.payload.named_plan());
        self.load(seat);
        if !self.look(seat).loaded {
            return;
        }
        let unknown = named.filter(|plan| !self.look(seat).state.knows_plan(plan));
        let row = unknown.and_then(|plan| self.files.rows.get(&plan)).filter(|row| self.is_of(row, seat)).cloned();
        if let Some(row) = row {
            self.step(seat, Input::Filed(vec![row]));
            if !self.look(seat).loaded {
                return;
            }
        }
        let Some(entry) = self.inbox.get_mut(at) else { return };
        entry.taken = true;
        entry.attempts = entry.attempts.saturating_add(u32::from(entry.recovered));
        let signal = Box::new(entry.signal.clone());
        let input = match (entry.recovered, entry.attempts > ATTEMPTS_MAX) {
            (false, _) => Input::Signal(signal),
            (true, false) => Input::Again(signal),
            (true, true) => Input::Interrupted(signal),
        };
        let current = Some(entry.signal.clone());
        self.seat(seat).work.current = current;
        self.step(seat, input);
    }

    /// A thread that begins hears what the store holds of its plans, before anything else.
    pub(super) fn load(&mut self, seat: usize) {
        if self.look(seat).loaded {
            return;
        }
        *self.seat(seat) = Seat { loaded: true, ..Seat::default() };
        let rows = self.files.rows.values();
        let open = rows.filter(|row| row.state().is_open() && self.is_of(row, seat)).cloned().collect();
        self.step(seat, Input::Filed(open));
    }

    /// One step, stored as one and then performed; or not stored, and then the thread hears why. Where the process has
    /// ended meanwhile, nobody is there to be told.
    pub(super) fn step(&mut self, at: usize, input: Input) {
        if self.is_over() || !self.look(at).loaded {
            return;
        }
        let now = Now { wall: Wall(self.wall), mono: Mono(self.mono), seed: self.dice.wide() };
        let key = self.key(at).clone();
        if let Some(script) = &mut self.script {
            script.told(&key, now, &input);
        }
        self.tally.steps = self.tally.steps.saturating_add(1);
        self.witness.told(at, &input);
        let state = std::mem::take(&mut self.seat(at).state);
        let signal = self.look(at).work.current.clone();
        let (state, effects) = self.decide(state, input, signal.as_ref(), now);
        self.seat(at).state = state;
        let crash = self.crash_of_this_step();
        if crash == Some(Crash::BeforeStored) {
            return self.end_process();
        }
        let ledger_moved = effects.iter().any(|effect| matches!(effect, Effect::Keep(_)));
        if let Err(why) = self.files.store(&effects, now) {
            return self.not_stored(at, why);
        }
        if ledger_moved {
            self.rights.follow(&self.files.ledger);
        }
        self.observe(at, &effects, now, signal.as_ref());
        self.finish(at, &effects);
        if crash == Some(Crash::AfterStored) {
            return self.end_process();
        }
        self.perform(at, effects);
        let vanished = self.look(at).work.current.is_some() && !self.is_busy(at) && !self.is_over();
        let current = self.look(at).work.current.as_ref().map(|signal| signal.id.clone());
        self.witness.demand(7, !vanished, || format!("the request {current:?} vanished without an end"));
    }

    fn decide(
        &mut self,
        state: ThreadState,
        input: Input,
        signal: Option<&Signal>,
        now: Now,
    ) -> (ThreadState, Vec<Effect>) {
        let day = Day::of(now.wall);
        if self.book.day() != day {
            self.book = Book::new(day);
        }
        let spent = signal.map(|signal| self.book.spent(&payers(&self.rights, &signal.actor, &signal.thread), day));
        let env = Env {
            rights: &self.rights,
            ledger: &self.files.ledger,
            exact: &self.exact,
            minds: &self.minds,
            spent: spent.as_ref(),
            spokes: &[],
            platforms: &[],
            allowances: &[],
            ..self.env
        };
        step(env, state, input, now)
    }

    fn observe(&mut self, at: usize, effects: &[Effect], now: Now, signal: Option<&Signal>) {
        let [main, other] = &self.seats;
        let state = if at == 0 { &main.state } else { &other.state };
        let moment = Moment {
            env: &self.env,
            rights: &self.rights,
            files: &self.files,
            now,
            seat: at,
            thread: &self.keys,
            state,
            signal,
        };
        self.witness.stored(&moment, effects, self.tally);
    }

    fn crash_of_this_step(&mut self) -> Option<Crash> {
        let (steps, kind) = self.crash?;
        self.crash = steps.checked_sub(1).map(|left| (left, kind));
        (steps == 0).then_some(kind)
    }

    fn not_stored(&mut self, at: usize, why: NotStored) {
        let Some(signal) = self.look(at).work.current.clone().map(Box::new) else {
            return self.witness.demand(7, false, || format!("a plan was moved without a signal: {why:?}"));
        };
        let input = match why {
            NotStored::Lost(filed) => Input::Lost { signal, filed },
            NotStored::Held(filed, by) => Input::Held { signal, filed, by },
            NotStored::Overtaken => Input::Overtaken(signal),
        };
        self.step(at, input);
    }

    /// What a stored step has ended is not taken up by another process.
    fn finish(&mut self, at: usize, effects: &[Effect]) {
        for effect in effects {
            let Effect::Finish { signal, .. } = effect else { continue };
            let found =
                self.inbox.iter().position(|entry| entry.seat == at && entry.taken && entry.signal.id == *signal);
            match found {
                Some(entry) => {
                    self.inbox.remove(entry);
                    self.tally.requests = self.tally.requests.saturating_add(1);
                }
                None => self.witness.demand(7, false, || format!("{signal} ended, and nobody works on it")),
            }
        }
    }

    fn perform(&mut self, at: usize, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Call(call) => self.call(at, call.get()),
                Effect::Think(ask) => self.seat(at).work.ask = Some(ask.get().clone()),
                Effect::Wake { at: time, .. } => self.seat(at).work.deadline = Some(time.0),
                Effect::Remember { key, route } => self.exact.remember(key, route),
                Effect::Spend(spend) => {
                    for payer in &spend.payers {
                        self.book.add(payer.clone(), spend.ground, spend.usage);
                    }
                }
                Effect::Finish { .. } => self.seat(at).work = Work::default(),
                Effect::GiveUp { asks, .. } => {
                    // A reading that nobody waits for may answer all the same.
                    let work = &mut self.seat(at).work;
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

    fn call(&mut self, seat: usize, call: &ToolCall) {
        self.tally.calls = self.tally.calls.saturating_add(1);
        let until = call.warrant.as_ref().map_or(self.wall, |warrant| warrant.until.0);
        let good_for = until.saturating_sub(self.wall).clamp(0, 10_000);
        self.flights.push(Flight {
            seat,
            call: call.clone(),
            sent: self.mono,
            good_for,
            begun: None,
            jumped: false,
            leapt: Leapt::No,
            awaited: true,
        });
    }

    /// The process ends, and with it everything that only it knew. What it asked the tool server to write may still be
    /// done.
    pub(super) fn end_process(&mut self) {
        self.tally.crashes = self.tally.crashes.saturating_add(1);
        self.crash = None;
        self.seats = Default::default();
        for entry in &mut self.inbox {
            (entry.taken, entry.recovered) = (false, true);
        }
        self.flights.retain(Flight::is_write);
        for flight in &mut self.flights {
            flight.awaited = false;
            if flight.leapt == Leapt::Forward {
                flight.leapt = Leapt::Misled;
            }
        }
        for seat in 0..2 {
            self.forgot(seat);
        }
    }

    fn forgot(&mut self, seat: usize) {
        self.witness.forgot(seat);
        let key = self.key(seat).clone();
        if let Some(script) = &mut self.script {
            script.forgot(&key, Now { wall: Wall(self.wall), mono: Mono(self.mono), seed: 0 });
        }
    }

    /// An idle thread is dropped: its memory is gone.
    pub(super) fn drop_thread(&mut self, seat: usize) {
        if !self.is_busy(seat) {
            *self.seat(seat) = Seat::default();
            self.flights.retain(|flight| flight.seat != seat || flight.is_write());
            self.forgot(seat);
        }
    }

    /// Time passes, on both clocks.
    pub(super) fn pass(&mut self, ms: i64) {
        self.mono = self.mono.saturating_add(ms.unsigned_abs());
        self.wall = self.wall.saturating_add(ms);
    }

    /// Somebody sets the clock on the wall.
    pub(super) fn set_clock(&mut self, by: i64) {
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

    /// Another instance moves a waiting plan, behind the thread's back.
    pub(super) fn taken_back_elsewhere(&mut self, id: &PlanId) {
        let Some(row) = self.files.rows.get_mut(id) else { return };
        row.standing.state = PlanState::Cancelled;
        row.standing.version = row.standing.version.saturating_add(1);
        self.witness.moved_elsewhere(id, &row.standing);
    }

    /// Whether a tool or a model is asked and has not answered.
    pub(super) fn is_waiting(&self) -> bool {
        self.seats.iter().any(|seat| seat.work.ask.is_some()) || self.flights.iter().any(|flight| flight.awaited)
    }

    /// Which thread a plan belongs to.
    pub(super) fn seat_of(&self, id: &PlanId) -> usize {
        self.files.rows.get(id).map_or(0, |row| usize::from(!self.is_of(row, 0)))
    }

    /// How many accepted signals have not ended.
    pub(super) const fn unfinished(&self) -> usize {
        self.inbox.len()
    }

    fn is_of(&self, row: &Filed, seat: usize) -> bool {
        row.frozen.plan().thread == *self.key(seat)
    }

    /// What the model of a request is after.
    pub(super) fn temper(&mut self, seat: usize) -> Temper {
        let fresh = Temper::draw(&mut self.dice);
        *self.seat(seat).work.temper.get_or_insert(fresh)
    }

    /// What was asked of a model is answered.
    pub(super) fn was_heard(&mut self, seat: usize, wanted: Vec<RawCall>) {
        let work = &mut self.seat(seat).work;
        (work.ask, work.before) = (None, wanted);
    }
}
