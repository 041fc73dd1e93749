//! The installation of a simulation: a room with two threads (`works.rs`) over a configuration's own tools, intents and
//! rights, with machines that answer and a witness that looks after every step. What happens in it is drawn in `op.rs`, and
//! what must hold is in `witness/`.

use crate::approval::PlanId;
use crate::effect::{Effect, Input};
use crate::env::Env;
use crate::envelope::{Envelope, Meta};
use crate::gate::ToolCall;
use crate::mind::{Minds, RawCall};
use crate::port::{Rights as _, Standing};
use crate::route::{ExactRoutes, Route};
use crate::signal::{Actor, Addressed, Assurance, EventId, Ground, Now, Payload, Signal, SignalId, ThreadKey, Wall};
use crate::step::step;
use crate::thread::ThreadState;
use crate::usage::{Book, Day, Spend, payers};

use super::cast::{Room, threads};
use super::fleet::Fleet;
use super::flight::{Leapt, failed};
use super::hostile::Temper;
use super::moods::Moods;
use super::server::Server;
use super::witness::{Moment, Witness};
use super::works::{Installation, Works};
use super::{Script, Tally};

/// How many routes are remembered.
const ROUTES_MAX: usize = 64;

pub(super) struct Town<'a> {
    pub(super) works: Works,
    env: Env<'a>,
    /// Who may what now.
    pub(super) rights: Moods<'a>,
    minds: Minds,
    exact: ExactRoutes,
    book: Book,
    room: Room,
    pub(super) fleet: Fleet,
    pub(super) witness: Witness,
    pub(super) tally: &'a mut Tally,
    /// Everything that the threads were told, where that is wanted.
    pub(super) script: Option<Script>,
}

impl<'a> Town<'a> {
    pub(super) fn new(env: Env<'a>, room: &Room, tally: &'a mut Tally, is_recorded: bool) -> Self {
        let works = Works::new(threads(room), 0);
        Self {
            env,
            rights: Moods::of(env.rights),
            minds: super::models(),
            exact: ExactRoutes::new(ROUTES_MAX),
            book: Book::new(Day::of(Wall(works.wall))),
            works,
            room: room.clone(),
            fleet: Fleet::new(env.registry),
            witness: Witness::default(),
            tally,
            script: is_recorded.then(Script::default),
        }
    }

    pub(super) const fn env(&self) -> &Env<'a> {
        &self.env
    }

    /// What somebody writes or presses in a thread.
    pub(super) fn signal(&mut self, seat: usize, actor: Actor, payload: Payload) -> Signal {
        let n = self.works.next_signal();
        let is_ours = actor.is_ourselves();
        Signal {
            id: SignalId::new(format!("s{n}")),
            event: EventId::new(format!("e{n}")),
            thread: self.works.key(seat).clone(),
            room: self.room.kind,
            actor,
            platform_roles: Vec::new(),
            assurance: Assurance::Platform,
            addressed: Addressed::Mention,
            follows: None,
            payload,
            depth: u8::from(is_ours),
            ground: if is_ours { Ground::Background } else { Ground::Foreground },
            received_at: Wall(self.works.wall),
        }
    }

    pub(super) fn accept(&mut self, seat: usize, actor: Actor, payload: Payload) {
        let signal = self.signal(seat, actor, payload);
        self.works.accept(seat, signal);
    }

    /// Another instance moves a waiting plan, behind the thread's back.
    pub(super) fn taken_back_elsewhere(&mut self, id: &PlanId) {
        let Some(row) = self.works.files.rows.get_mut(id) else { return };
        row.standing.state = crate::approval::PlanState::Cancelled;
        row.standing.version = row.standing.version.saturating_add(1);
        self.witness.moved_elsewhere(id, &row.standing);
    }

    /// What the model of a request is after.
    pub(super) fn temper(&mut self, seat: usize) -> Temper {
        let fresh = Temper::draw(&mut self.works.dice);
        *self.works.seat(seat).work.temper.get_or_insert(fresh)
    }

    /// What was asked of a model is answered.
    pub(super) fn was_heard(&mut self, seat: usize, wanted: Vec<RawCall>) {
        let work = &mut self.works.seat(seat).work;
        (work.ask, work.before) = (None, wanted);
    }
}

impl Installation for Town<'_> {
    fn works(&mut self) -> &mut Works {
        &mut self.works
    }

    fn is_over(&self) -> bool {
        self.witness.breach.is_some()
    }

    fn demand(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.witness.demand(7, holds, what);
    }

    fn decide(
        &mut self,
        state: ThreadState,
        input: Input,
        about: Option<&Signal>,
        now: Now,
    ) -> (ThreadState, Vec<Effect>) {
        let day = Day::of(now.wall);
        if self.book.day() != day {
            self.book = Book::new(day);
        }
        let spent = about.map(|signal| self.book.spent(&payers(&self.rights, &signal.actor, &signal.thread), day));
        let env = Env {
            rights: &self.rights,
            ledger: &self.works.files.ledger,
            exact: &self.exact,
            minds: &self.minds,
            spent: spent.as_ref(),
            spokes: &[],
            platforms: &[],
            set_aside: 0,
            standing: Standing::Current,
            allowances: &[],
            ..self.env
        };
        step(env, state, input, now)
    }

    fn told(&mut self, seat: usize, input: &Input, now: Now) {
        if let Some(script) = &mut self.script {
            script.told(self.works.key(seat), now, input);
        }
        self.tally.steps = self.tally.steps.saturating_add(1);
        self.witness.told(seat, input, now);
    }

    fn stored(&mut self, seat: usize, effects: &[Effect], about: Option<&Signal>, now: Now) {
        if effects.iter().any(|effect| matches!(effect, Effect::Keep(_))) {
            self.rights.follow(&self.works.files.ledger);
        }
        let ended = effects.iter().filter(|effect| matches!(effect, Effect::Finish { .. })).count();
        self.tally.requests = self.tally.requests.saturating_add(u64::try_from(ended).unwrap_or_default());
        let moment = Moment {
            env: &self.env,
            rights: &self.rights,
            files: &self.works.files,
            now,
            seat,
            thread: self.works.keys(),
            state: &self.works.look(seat).state,
            signal: about,
        };
        self.witness.stored(&moment, effects, self.tally);
    }

    fn called(&mut self, _: usize, _: &ToolCall) {
        self.tally.calls = self.tally.calls.saturating_add(1);
    }

    fn remembers(&mut self, key: (ThreadKey, String, String), route: Route) {
        self.exact.remember(key, route);
    }

    fn spends(&mut self, spend: &Spend) {
        for payer in &spend.payers {
            self.book.add(payer.clone(), spend.ground, spend.usage);
        }
    }

    fn ended(&mut self) {
        self.tally.crashes = self.tally.crashes.saturating_add(1);
    }

    fn forgot(&mut self, seat: usize) {
        self.witness.forgot(seat);
        if let Some(script) = &mut self.script {
            let now = Now { wall: Wall(self.works.wall), mono: crate::signal::Mono(self.works.mono), seed: 0 };
            script.forgot(self.works.key(seat), now);
        }
    }
}

impl Server for Town<'_> {
    fn reads(&mut self, call: &ToolCall) -> Envelope {
        match self.env.registry.action(&call.tool, &call.action) {
            Some(spec) => {
                let meta = Meta { observed_at: self.works.wall, left_out: String::new() };
                Envelope::success(self.fleet.answer(call, spec, &mut self.works.dice), meta)
            }
            None => failed(),
        }
    }

    fn takes_effect(&mut self, at: usize) {
        let Some(flight) = self.works.flights.get(at) else { return };
        self.tally.writes = self.tally.writes.saturating_add(1);
        let clock_was_set = flight.jumped || flight.leapt == Leapt::Misled || self.works.setbacks > 0;
        self.witness.executed(&flight.call, clock_was_set, &self.works.files);
        let row = flight.call.warrant.as_ref().and_then(|warrant| self.works.files.rows.get(&warrant.plan));
        if let Some(row) = row {
            self.fleet.act(row.frozen.plan(), &mut self.works.dice);
        }
    }
}
