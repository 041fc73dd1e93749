//! The tool server of a simulation: how it works on what it is called for, well or badly, and what comes back. What there is
//! to work on is in `fleet.rs`.

use crate::effect::Input;
use crate::envelope::{Envelope, Meta};

use super::flight::{Leapt, Manner, done, failed, no_answer, not_begun, refused};
use super::town::Town;

impl Town<'_> {
    /// The tool server works on one call, in this manner.
    pub(super) fn serve(&mut self, at: usize, manner: Manner) {
        let Some(flight) = self.flights.get(at) else { return };
        if !flight.is_write() {
            let envelope = match manner {
                Manner::Well | Manner::Begin => self.answer_of(at),
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

    fn answer_of(&mut self, at: usize) -> Envelope {
        let Some(call) = self.flights.get(at).map(|flight| flight.call.clone()) else { return no_answer(false) };
        match self.env().registry.action(&call.tool, &call.action) {
            Some(spec) => {
                let meta = Meta { observed_at: self.wall, left_out: String::new() };
                Envelope::success(self.fleet.answer(&call, spec, &mut self.dice), meta)
            }
            None => failed(),
        }
    }

    pub(super) fn begin_write(&mut self, at: usize) {
        let (mono, wall) = (self.mono, self.wall);
        let Some(flight) = self.flights.get_mut(at) else { return };
        if flight.begun.is_none() && flight.may_act(mono, wall) {
            flight.begun = Some(mono);
        }
    }

    /// A write takes effect, where it may.
    pub(super) fn act(&mut self, at: usize) -> bool {
        let Some(flight) = self.flights.get(at).filter(|flight| flight.may_act(self.mono, self.wall)) else {
            return false;
        };
        self.tally.writes = self.tally.writes.saturating_add(1);
        let clock_was_set = flight.jumped || flight.leapt == Leapt::Misled || self.setbacks > 0;
        self.witness.executed(&flight.call, clock_was_set, &self.files);
        let row = flight.call.warrant.as_ref().and_then(|warrant| self.files.rows.get(&warrant.plan));
        if let Some(row) = row {
            self.fleet.act(row.frozen.plan(), &mut self.dice);
        }
        true
    }

    /// The call is over, and its answer goes to whoever waits for it.
    pub(super) fn answer(&mut self, at: usize, envelope: Envelope) {
        let flight = self.flights.remove(at);
        if flight.awaited {
            self.step(flight.seat, Input::Answer { call: flight.call.id, envelope: Box::new(envelope) });
        }
    }

    /// Whoever waits hears this, and the write itself may go on.
    fn give_up(&mut self, at: usize) {
        let Some(flight) = self.flights.get_mut(at) else { return };
        let awaited = std::mem::replace(&mut flight.awaited, false);
        let (seat, call) = (flight.seat, flight.call.id.clone());
        if awaited {
            self.step(seat, Input::Answer { call, envelope: Box::new(no_answer(true)) });
        }
    }
}
