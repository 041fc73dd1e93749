//! The tool server of a simulation: how it works on what it is called for, well or badly, and what comes back. What there is
//! to work on, and what a write does to it, is said by whoever is a [`Server`].

use crate::effect::Input;
use crate::envelope::Envelope;
use crate::gate::ToolCall;

use super::flight::{Manner, done, failed, no_answer, not_begun, refused};
use super::works::Installation;

/// An installation with something to work on.
pub(crate) trait Server: Installation {
    /// What a read or a discovery says now.
    fn reads(&mut self, call: &ToolCall) -> Envelope;

    /// The write in this place of those under way takes effect.
    fn takes_effect(&mut self, at: usize);

    /// The tool server works on one call, in this manner.
    fn serve(&mut self, at: usize, manner: Manner) {
        let Some(flight) = self.works().flights.get(at) else { return };
        if !flight.is_write() {
            let call = flight.call.clone();
            let envelope = match manner {
                Manner::Well | Manner::Begin => self.reads(&call),
                Manner::Mute | Manner::Silent => no_answer(false),
                Manner::Refuse => refused("not from here"),
                Manner::Fail => failed(),
            };
            return self.answer(at, envelope);
        }
        let begun = flight.begun.is_some();
        match manner {
            Manner::Begin => self.begin_write(at),
            Manner::Silent => self.fall_silent(at),
            Manner::Refuse if !begun => self.answer(at, refused("not from here")),
            Manner::Fail => {
                if self.works().dice.one_in(2) {
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

    /// Everything that is asked of the tool server is answered, until nobody waits any more.
    fn serve_all(&mut self) {
        self.pump();
        while let Some(at) = self.works().flights.iter().position(|flight| flight.awaited) {
            if self.is_over() {
                return;
            }
            self.serve(at, Manner::Well);
            self.pump();
        }
    }

    fn begin_write(&mut self, at: usize) {
        let works = self.works();
        let (mono, wall) = (works.mono, works.wall);
        let Some(flight) = works.flights.get_mut(at) else { return };
        if flight.begun.is_none() && flight.may_act(mono, wall) {
            flight.begun = Some(mono);
        }
    }

    /// A write takes effect, where it may.
    fn act(&mut self, at: usize) -> bool {
        let works = self.works();
        let (mono, wall) = (works.mono, works.wall);
        let may = works.flights.get(at).is_some_and(|flight| flight.may_act(mono, wall));
        if may {
            self.takes_effect(at);
        }
        may
    }

    /// The call is over, and its answer goes to whoever waits for it.
    fn answer(&mut self, at: usize, envelope: Envelope) {
        let flight = self.works().flights.remove(at);
        if flight.awaited {
            self.step(flight.seat, Input::Answer { call: flight.call.id, envelope: Box::new(envelope) });
        }
    }

    /// Whoever waits hears that no answer comes, and the write itself may go on.
    fn fall_silent(&mut self, at: usize) {
        let Some(flight) = self.works().flights.get_mut(at) else { return };
        let awaited = std::mem::replace(&mut flight.awaited, false);
        let (seat, call) = (flight.seat, flight.call.id.clone());
        if awaited {
            self.step(seat, Input::Answer { call, envelope: Box::new(no_answer(true)) });
        }
    }

    /// Writes that nobody waits for come to their end: they have no permit any more, or whoever watches says so.
    fn end_writes(&mut self) {
        while let Some(at) = self.works().flights.iter().rposition(super::flight::Flight::is_write) {
            self.act(at);
            self.works().flights.remove(at);
        }
    }
}
