//! The installation around the threads: the works of the simulation (`sim/works.rs`) with people, services and ledgers of its
//! own. What must hold is in `ledger.rs`, `grants.rs` and `cards.rs`, and what happens is drawn in `op.rs`.

use crate::approval::{Filed, Move, PlanId, PlanState, Standing};
use crate::effect::{Effect, Input};
use crate::env::Env;
use crate::envelope::Envelope;
use crate::gate::ToolCall;
use crate::signal::{Now, Signal};
use crate::sim::flight::Leapt;
use crate::sim::server::Server;
use crate::sim::store::NotStored;
use crate::sim::works::{Installation, Works};
use crate::step::step;
use crate::testkit::{People, World, signal, thread_key};
use crate::thread::ThreadState;
use crate::tool::ToolKind;

use super::cards;
use super::grants::Book;
use super::ledger::{Execution, Ledger, Moment, Tally};
use super::spoke::Spoke;

pub(super) struct Town<'a> {
    pub(super) works: Works,
    ground: &'a World,
    /// Who may what now.
    pub(super) people: People,
    /// What this process takes for the ledger of permissions, where another one has changed it since.
    pub(super) seen: Option<crate::ledger::Ledger>,
    pub(super) book: Book,
    pub(super) spoke: Spoke,
    pub(super) ledger: Ledger,
    pub(super) tally: &'a mut Tally,
}

impl<'a> Town<'a> {
    pub(super) fn new(ground: &'a World, seed: u64, tally: &'a mut Tally) -> Self {
        Self {
            works: Works::new(["main", "other"].map(thread_key), seed),
            ground,
            people: ground.people.clone(),
            seen: None,
            book: Book::default(),
            spoke: Spoke::new(),
            ledger: Ledger::default(),
            tally,
        }
    }

    /// A signal is accepted: from here on it must come to an end.
    pub(super) fn accept(&mut self, seat: usize, actor: &str, change: impl FnOnce(&mut Signal)) {
        let n = self.works.next_signal();
        let mut accepted = signal(&format!("s{n}"), actor, "");
        accepted.thread = self.works.key(seat).clone();
        change(&mut accepted);
        self.works.accept(seat, accepted);
    }

    /// A thread breaks: its memory is gone, and its request ends with a notice.
    pub(super) fn panic(&mut self, seat: usize) {
        let Some(signal) = self.works.look(seat).work.current.clone() else { return };
        self.drop_thread(seat);
        self.load(seat);
        if self.works.look(seat).loaded {
            self.works.seat(seat).work.current = Some(signal.clone());
            self.step(seat, Input::Interrupted(Box::new(signal)));
        }
    }

    /// A plan that was asked for in an earlier process.
    pub(super) fn file(&mut self, filed: &Filed) {
        self.tally.one("pending");
        self.ledger.filed(filed);
        self.works.files.rows.insert(filed.id().clone(), filed.clone());
    }

    /// Another instance moves a row, behind the thread's back.
    pub(super) fn moved_elsewhere(&mut self, id: &PlanId, change: impl FnOnce(&mut Standing)) {
        let Some(row) = self.works.files.rows.get_mut(id) else { return };
        let (from, version) = (row.state(), row.standing.version);
        change(&mut row.standing);
        row.standing.version += 1;
        let target = row.frozen.plan().target.clone();
        let moved = Move { plan: id.clone(), target, from, version, to: row.standing.clone() };
        if matches!(row.state(), PlanState::Verified(_)) {
            self.ledger.look_leaves(id, self.works.setbacks);
        }
        self.moved(&moved, false);
    }

    fn moved(&mut self, moved: &Move, ours: bool) {
        let (people, files, setbacks) = (&self.people, &self.works.files, self.works.setbacks);
        let moment = Moment { people, files, wall: self.works.wall, ours, setbacks };
        self.ledger.moved(moved, &moment, self.tally);
    }

    fn record(&mut self, seat: usize, effects: &[Effect]) {
        let (files, wall) = (&self.works.files, self.works.wall);
        self.book.stored(effects, (files, &self.people, wall), &mut self.ledger, self.tally);
        cards::shown(effects, files, &mut self.ledger, self.tally);
        if effects.iter().any(|effect| matches!(effect, Effect::Keep(_))) {
            self.seen = None;
        }
        for effect in effects {
            match effect {
                Effect::File(plan) => {
                    self.tally.one("pending");
                    self.ledger.filed(plan);
                }
                Effect::Move(moved) => self.moved(moved, true),
                Effect::Post { n, message } => {
                    self.ledger.posted(seat, *n, message.get());
                    self.ledger.said(message.get(), &self.works.files, self.tally);
                }
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
                | Effect::Finish { .. }
                | Effect::Wake { .. } => {}
            }
        }
    }
}

impl Installation for Town<'_> {
    fn works(&mut self) -> &mut Works {
        &mut self.works
    }

    fn is_over(&self) -> bool {
        self.ledger.problem.is_some()
    }

    fn demand(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.ledger.demand(holds, what);
    }

    fn decide(&mut self, state: ThreadState, input: Input, _: Option<&Signal>, now: Now) -> (ThreadState, Vec<Effect>) {
        let ledger = self.seen.as_ref().unwrap_or(&self.works.files.ledger);
        step(Env { rights: &self.people, ledger, ..self.ground.env() }, state, input, now)
    }

    fn told(&mut self, _: usize, _: &Input, _: Now) {
        self.tally.one("steps");
    }

    fn stored(&mut self, seat: usize, effects: &[Effect], _: Option<&Signal>, _: Now) {
        self.record(seat, effects);
        let works = &self.works;
        self.ledger.thread(&works.look(seat).state, &works.files, |row| works.is_of(row, seat));
        self.ledger.compare(&works.files);
    }

    fn refused(&mut self, why: &NotStored) {
        self.tally.one(match why {
            NotStored::Lost(_) => "lost",
            NotStored::Held(..) => "held",
            NotStored::Overtaken => "overtaken",
        });
        if matches!(why, NotStored::Overtaken) {
            self.seen = None;
        }
    }

    fn called(&mut self, seat: usize, call: &ToolCall) {
        match (&call.warrant, call.kind) {
            (Some(warrant), _) => self.ledger.write_leaves(warrant, &self.works.files),
            (None, ToolKind::Read) => {
                let request = self.works.look(seat).state.request.as_ref();
                if let Some(plan) = request.and_then(|request| request.carrying.as_ref()) {
                    self.ledger.look_leaves(plan, self.works.setbacks);
                }
            }
            (None, kind) => self.ledger.demand(kind != ToolKind::Write, || format!("no warrant: {call:?}")),
        }
    }

    fn ended(&mut self) {
        self.tally.one("crashes");
    }

    fn forgot(&mut self, seat: usize) {
        self.ledger.forgot(seat);
    }
}

impl Server for Town<'_> {
    fn reads(&mut self, call: &ToolCall) -> Envelope {
        self.spoke.answer(call, &self.ground.script.resources)
    }

    fn takes_effect(&mut self, at: usize) {
        let Some(flight) = self.works.flights.get(at) else { return };
        let execution = Execution {
            call: &flight.call,
            setbacks: self.works.setbacks,
            jumped: flight.jumped || flight.leapt == Leapt::Misled,
            orphan: !flight.awaited,
        };
        self.ledger.executed(&execution, &self.works.files, self.tally);
        self.spoke.restart(flight.call.target.as_ref(), &mut self.works.dice);
    }
}
