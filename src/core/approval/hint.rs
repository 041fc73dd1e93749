//! What the people of a waiting plan are told while it waits, and when: one reminder, and each escalation. Nothing of it
//! gives the plan more time, and nothing of it approves anything.

use super::desk::{Desk, Kept};
use super::{PlanId, PlanState};
use crate::signal::{Mono, Now, Wall};

/// What is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hint {
    /// That it waits.
    Remind,
    /// That from now on more groups may decide it: those that come in after so many milliseconds.
    Escalate(u64),
}

impl Desk {
    /// What the people of this plan are to be told now: of a reminder by whichever clock comes first, of an escalation by
    /// both, because it lets more people decide and a clock that was set forward must not.
    pub fn hint(&self, id: &PlanId, now: Now) -> Option<Hint> {
        let (hint, wall, mono) = self.kept.get(id)?.next_hint()?;
        let is_due = match hint {
            Hint::Remind => now.wall >= wall || now.mono >= mono,
            Hint::Escalate(_) => now.wall >= wall && now.mono >= mono,
        };
        is_due.then_some(hint)
    }
}

impl Kept {
    /// Returns the next hint and its time on both clocks, counted from the request or from a late card; none after the plan's end.
    pub(super) fn next_hint(&self) -> Option<(Hint, Wall, Mono)> {
        let (plan, standing) = (self.filed.frozen.plan(), &self.filed.standing);
        if standing.state != PlanState::Pending {
            return None;
        }
        let remind = plan.terms.remind_ms.filter(|_| !standing.reminded).map(|after| (after, Hint::Remind));
        let escalate = plan.terms.escalation_ms(standing.level).map(|after| (after, Hint::Escalate(after)));
        let (after_ms, hint) = remind.into_iter().chain(escalate).min()?;
        let lifetime_ms = plan.lifetime_ms().unsigned_abs();
        let before_end_ms = lifetime_ms.checked_sub(after_ms).filter(|left| *left > 0)?;
        let begin = self.filed.decide_by().0.saturating_sub(plan.lifetime_ms());
        let wall = begin.saturating_add(i64::try_from(after_ms).unwrap_or(i64::MAX));
        Some((hint, Wall(wall), Mono(self.expires.0.saturating_sub(before_end_ms))))
    }
}
