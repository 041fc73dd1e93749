//! The store's part in a simulation: plans that move by compare-and-set, one change at a time for each target, and the
//! ledger. All of a step is stored, or nothing of it. The real store is the shell's; a test there holds the two together.

use std::collections::BTreeMap;

use crate::approval::{Filed, Move, PlanId, Standing};
use crate::effect::Effect;
use crate::ledger::Ledger;
use crate::signal::Now;

/// The store's part, as far as plans are concerned: rows that move by compare-and-set, and one change at a time for each
/// target.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Every plan that was filed.
    pub rows: BTreeMap<PlanId, Filed>,
    /// What people wrote down in chat.
    pub ledger: Ledger,
}

/// Why a step was not stored.
#[derive(Debug)]
pub(crate) enum NotStored {
    /// Somebody else has moved this plan.
    Lost(Box<Filed>),
    /// This plan's target is held by that one.
    Held(Box<Filed>, PlanId),
    /// Somebody else has changed a row of the ledger.
    Overtaken,
}

impl Files {
    /// Stores what a step does to plans: all of it or nothing.
    pub(crate) fn store(&mut self, effects: &[Effect], now: Now) -> Result<(), NotStored> {
        let mut before = Vec::new();
        let ledger = self.ledger.clone();
        for effect in effects {
            let stored = match effect {
                Effect::File(filed) => {
                    before.push((filed.id().clone(), None));
                    self.rows.insert(filed.id().clone(), Filed::clone(filed));
                    Ok(())
                }
                Effect::Move(moved) => {
                    before.push((moved.plan.clone(), self.rows.get(&moved.plan).map(|row| row.standing.clone())));
                    self.shift(moved)
                }
                Effect::Keep(change) => self.ledger.apply(change).map_err(|_| NotStored::Overtaken),
                Effect::Call(_)
                | Effect::Post { .. }
                | Effect::Think(_)
                | Effect::Progress(_)
                | Effect::Redraw { .. }
                | Effect::Audit(_)
                | Effect::Spend(_)
                | Effect::Count(_)
                | Effect::Remember { .. }
                | Effect::Wake { .. }
                | Effect::GiveUp { .. }
                | Effect::Finish { .. } => Ok(()),
            };
            if let Err(why) = stored {
                self.put_back(before);
                self.ledger = ledger;
                return Err(why);
            }
        }
        self.ledger = std::mem::take(&mut self.ledger).timed(&ledger, now);
        Ok(())
    }

    fn put_back(&mut self, before: Vec<(PlanId, Option<Standing>)>) {
        for (id, standing) in before.into_iter().rev() {
            match (standing, self.rows.get_mut(&id)) {
                (Some(standing), Some(row)) => row.standing = standing,
                (Some(_) | None, _) => {
                    self.rows.remove(&id);
                }
            }
        }
    }

    fn shift(&mut self, moved: &Move) -> Result<(), NotStored> {
        let holder =
            self.rows.values().find(|row| row.state().holds_target() && row.frozen.plan().target == moved.target);
        let holder = holder.map(|row| row.id().clone()).filter(|id| *id != moved.plan);
        #[cfg(test)]
        let holder = holder.filter(|_| !crate::step::broken::is(crate::step::broken::Break::OneHolder));
        let row = self.rows.get_mut(&moved.plan).expect("invariant: a plan is filed before it is moved");
        let stands = (row.state(), row.standing.version) == (moved.from, moved.version);
        #[cfg(test)]
        let stands = stands || crate::step::broken::is(crate::step::broken::Break::CompareAndSet);
        if !stands {
            return Err(NotStored::Lost(Box::new(row.clone())));
        }
        if let Some(by) = holder.filter(|_| moved.to.state.holds_target()) {
            return Err(NotStored::Held(Box::new(row.clone()), by));
        }
        row.standing = moved.to.clone();
        Ok(())
    }
}
