//! The plans of one thread, as the thread knows them: what stands in the store, moved on in step with it. It keeps the
//! open ones and the last closed ones, so that a late click hears what became of its plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Frozen, Hint, PlanId, PlanState, Vote, Withdrawal, may_become};
use crate::ledger::GrantId;
use crate::signal::{Actor, Mono, Now, Platform, SignalId, Wall};

/// The longest wait for a look, in milliseconds: longer than a permit, a time limit and a pause between two looks together.
/// A clock on the wall that was set back while the bot was down must not keep a thread in VERIFYING for ever.
const WAIT_MS_MAX: i64 = 10 * 60 * 1000;

/// How many closed plans a thread remembers.
pub const CLOSED_MAX: usize = 32;

/// Who decided, when and how (AC-26).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// Which platform the actor's id belongs to.
    pub platform: Platform,
    /// The person, by immutable id.
    pub by: Actor,
    /// The click or message.
    pub signal: SignalId,
    /// When.
    pub at: Wall,
    /// Whether the requester decided alone, by a policy that allows it.
    pub waiver: bool,
    /// Somebody approved high risk by what a server could have made up, by a policy that allows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsealed: bool,
    /// Why, in the words of who decided; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Why nobody was asked, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unasked: Option<Unasked>,
}

/// Why nobody was asked for a countersignature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unasked {
    /// Somebody had allowed exactly this beforehand: [`Decided::by`] is who.
    Grant(GrantId),
    /// The room's control level lets its people do this alone: [`Decided::by`] is who asked for it.
    Level,
}

/// Everything about a plan that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// Where it stands.
    pub state: PlanState,
    /// Rises with each move; a move names the version that it starts from.
    pub version: u64,
    /// The decision, once there is one.
    pub decided: Option<Decided>,
    /// Who has countersigned it, in order. Only ever added to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// Whether its people were reminded.
    #[serde(default)]
    pub reminded: bool,
    /// How many escalations there were.
    #[serde(default)]
    pub level: u32,
    /// Why it fell away without a decision, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Withdrawal>,
    /// From when on it can certainly no longer act: its permit has expired and its own time limit has passed. Set when it
    /// begins to execute.
    pub over_at: Option<Wall>,
    /// How often its verification was tried in vain.
    pub looks: u32,
    /// When its verification is tried next, where it is not just under way.
    pub next_look: Option<Wall>,
    /// The end of the time to decide, where its card came out late; else it is the plan's own.
    pub decide_by: Option<Wall>,
}

impl Standing {
    /// As it is filed.
    pub const fn new() -> Self {
        Self {
            state: PlanState::Pending,
            version: 0,
            decided: None,
            votes: Vec::new(),
            reminded: false,
            level: 0,
            withdrawn: None,
            over_at: None,
            looks: 0,
            next_look: None,
            decide_by: None,
        }
    }
}

impl Default for Standing {
    fn default() -> Self {
        Self::new()
    }
}

/// A plan with its standing: one row of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filed {
    /// What it is.
    pub frozen: Frozen,
    /// Where it stands.
    pub standing: Standing,
}

impl Filed {
    /// Its id.
    pub const fn id(&self) -> &PlanId {
        &self.frozen.plan().id
    }

    /// Where it stands.
    pub const fn state(&self) -> PlanState {
        self.standing.state
    }

    /// The end of the time to decide.
    pub fn decide_by(&self) -> Wall {
        self.standing.decide_by.unwrap_or(self.frozen.plan().expires_at)
    }
}

/// One compare-and-set: from a version to a standing. It changes exactly one row or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Which plan.
    pub plan: PlanId,
    /// What is changed: the key of "one write in flight per target".
    pub target: crate::resource::ResourceId,
    /// Where it must stand.
    pub from: PlanState,
    /// With which version.
    pub version: u64,
    /// Where it then stands; its version is one more.
    pub to: Standing,
}

/// A plan on the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) filed: Filed,
    /// When it expires by the stopwatch: a clock on the wall that is set back must not give it more time.
    pub(super) expires: Mono,
    /// When a begun change can certainly not act any more, by the stopwatch: a clock on the wall that is set forward must
    /// not have it looked at too early.
    over: Option<Mono>,
    /// When it is due at the latest, by the stopwatch, whatever became of the clock on the wall.
    at_the_latest: Option<Mono>,
    /// The order of coming, or of the last move.
    n: u64,
}

/// The plans of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Desk {
    pub(super) kept: BTreeMap<PlanId, Kept>,
    next: u64,
    /// What was moved in the step that is being made, as it stood before.
    before: Vec<Kept>,
}

impl Desk {
    /// Puts a plan on the desk, or what the store knows of it in place of what is there.
    pub fn put(&mut self, filed: Filed, now: Now) {
        let plan = filed.frozen.plan();
        let expires = expires(&filed, now);
        let (n, expires, known_over) = match self.kept.get(&plan.id) {
            Some(known) if known.filed.decide_by() == filed.decide_by() => (known.n, known.expires, known.over),
            Some(known) => (known.n, expires, known.over),
            None => (self.next, expires, None),
        };
        let over = known_over.or_else(|| by_stopwatch(filed.standing.over_at, now));
        let at_the_latest = latest(&filed.standing, now);
        self.next = self.next.saturating_add(1);
        self.kept.insert(plan.id.clone(), Kept { filed, expires, over, at_the_latest, n });
        self.forget_oldest_closed();
    }

    /// A step begins: what was moved before it is stored.
    pub fn begin_step(&mut self) {
        self.before.clear();
    }

    /// The step was not stored: every plan that it moved stands where it stood.
    pub fn undo_step(&mut self) {
        for kept in self.before.drain(..).rev() {
            self.kept.insert(kept.filed.id().clone(), kept);
        }
    }

    /// A plan by its full id.
    pub fn get(&self, id: &PlanId) -> Option<&Filed> {
        self.kept.get(id).map(|kept| &kept.filed)
    }

    /// The open plans, oldest first.
    pub fn open(&self) -> Vec<&Filed> {
        let mut open: Vec<&Kept> = self.kept.values().filter(|kept| kept.filed.state().is_open()).collect();
        open.sort_by_key(|kept| kept.n);
        open.into_iter().map(|kept| &kept.filed).collect()
    }

    /// Returns every plan that the thread still has, in the order of their requests.
    pub fn all(&self) -> Vec<&Filed> {
        let mut kept: Vec<&Kept> = self.kept.values().collect();
        kept.sort_by_key(|kept| kept.n);
        kept.into_iter().map(|kept| &kept.filed).collect()
    }

    /// Returns the plans whose id begins with this; of an empty one the plans that wait, else the newest. Only to show them.
    pub fn shown(&self, beginning: &str) -> Vec<&Filed> {
        let all = self.all();
        let fits = |filed: &&Filed| {
            if beginning.is_empty() {
                filed.state() == PlanState::Pending
            } else {
                filed.id().as_str().starts_with(beginning)
            }
        };
        let newest = all.last().copied().filter(|_| beginning.is_empty());
        let fitting: Vec<&Filed> = all.into_iter().filter(fits).collect();
        if fitting.is_empty() { newest.into_iter().collect() } else { fitting }
    }

    /// The plan that was, or may have been, begun and is not verified. A thread has at most one, because the workflow
    /// begins no second one.
    pub fn holding(&self) -> Option<&Filed> {
        self.kept.values().map(|kept| &kept.filed).find(|filed| filed.state().holds_target())
    }

    /// The plan that this signal asked for.
    pub fn asked_by(&self, signal: &SignalId) -> Option<&Filed> {
        self.kept.values().map(|kept| &kept.filed).find(|filed| filed.frozen.plan().signal == *signal)
    }

    /// Whether a plan's time is over, by either clock.
    pub fn is_expired(&self, id: &PlanId, now: Now) -> bool {
        #[cfg(test)]
        if crate::step::broken::is(crate::step::broken::Break::Expiry) {
            return false;
        }
        self.kept.get(id).is_none_or(|kept| now.wall >= kept.filed.decide_by() || now.mono >= kept.expires)
    }

    /// Whether a change that was begun may still act, by either clock: until then a look at its target proves nothing.
    pub fn may_still_act(&self, id: &PlanId, now: Now) -> bool {
        self.kept.get(id).is_some_and(|kept| {
            let by_wall = kept.filed.standing.over_at.is_some_and(|over| now.wall < over);
            let by_stopwatch = kept.over.is_some_and(|over| now.mono < over);
            let too_long = kept.at_the_latest.is_some_and(|latest| now.mono >= latest);
            kept.filed.state() != PlanState::Unverified && (by_wall || by_stopwatch) && !too_long
        })
    }

    /// Moves a plan, where it may be moved like this, and returns the compare-and-set that the store must make. None, and
    /// nothing changes, where the plan is unknown or the move is not in the table.
    pub fn shift(&mut self, id: &PlanId, to: PlanState, now: Now, change: impl FnOnce(&mut Standing)) -> Option<Move> {
        let kept = self.kept.get_mut(id)?;
        let from = kept.filed.standing.state;
        if !may_become(from, to) {
            return None;
        }
        self.before.push(kept.clone());
        let filed = &mut kept.filed;
        let (version, decide_by) = (filed.standing.version, filed.decide_by());
        change(&mut filed.standing);
        filed.standing.state = to;
        filed.standing.version = version.saturating_add(1);
        if filed.decide_by() != decide_by {
            kept.expires = expires(filed, now);
        }
        if to == PlanState::Executing {
            kept.over = by_stopwatch(filed.standing.over_at, now);
        }
        kept.at_the_latest = latest(&filed.standing, now);
        let target = filed.frozen.plan().target.clone();
        let moved = Move { plan: id.clone(), target, from, version, to: filed.standing.clone() };
        // By the order of closing: what was closed just now is the last to be forgotten.
        kept.n = self.next;
        self.next = self.next.saturating_add(1);
        self.forget_oldest_closed();
        Some(moved)
    }

    /// The plan that time will move next, and when: one that expires, or one whose verification is to be tried (again).
    /// `at_work` is being worked on and is left alone.
    pub fn next_due(&self, at_work: Option<&PlanId>) -> Option<(Due, PlanId)> {
        let waiting = self.kept.values().filter(|kept| Some(kept.filed.id()) != at_work);
        let due = waiting.filter_map(|kept| Some((kept.due()?, kept.filed.id().clone())));
        due.min_by_key(|(due, _)| due.wall())
    }

    fn forget_oldest_closed(&mut self) {
        let mut closed: Vec<(u64, PlanId)> = self
            .kept
            .iter()
            .filter(|(_, kept)| !kept.filed.state().is_open())
            .map(|(id, kept)| (kept.n, id.clone()))
            .collect();
        closed.sort();
        let over = closed.len().saturating_sub(CLOSED_MAX);
        for (_, id) in closed.into_iter().take(over) {
            self.kept.remove(&id);
        }
    }
}

/// The age of a plan from which a late card gives it no more time, in milliseconds: a day, as long as an answer is retried. The
/// request's time is sealed, and the time of a message is not.
pub const CARD_LATE_MS_MAX: i64 = 24 * 60 * 60 * 1000;

/// The end of the time to decide on the stopwatch: a plan has never more time than it was made with.
fn expires(filed: &Filed, now: Now) -> Mono {
    let left = filed.decide_by().0.saturating_sub(now.wall.0);
    Mono(now.mono.0.saturating_add(left.clamp(0, filed.frozen.plan().lifetime_ms()).unsigned_abs()))
}

/// A time of the wall's clock on the stopwatch, as far as can be told now.
fn by_stopwatch(at: Option<Wall>, now: Now) -> Option<Mono> {
    let left = at?.0.saturating_sub(now.wall.0).clamp(0, WAIT_MS_MAX);
    Some(Mono(now.mono.0.saturating_add(left.unsigned_abs())))
}

/// What was begun, or could not be read, is looked at by then.
fn latest(standing: &Standing, now: Now) -> Option<Mono> {
    by_stopwatch(standing.next_look.max(standing.over_at), now)
}

/// When something is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// An expiry, a reminder or an escalation: by whichever clock comes first.
    Either(Wall, Mono),
    /// A look: not before both clocks say so (where the stopwatch knows, first), and by the second time of the stopwatch
    /// in any case.
    Both(Wall, Option<Mono>, Option<Mono>),
}

impl Due {
    /// What the clock on the wall says then.
    pub const fn wall(self) -> Wall {
        match self {
            Self::Either(wall, _) | Self::Both(wall, _, _) => wall,
        }
    }

    /// For how long nothing has to be done, in milliseconds.
    pub fn wait_ms(self, wall: Wall, mono: Mono) -> u64 {
        let by_wall = u64::try_from(self.wall().0.saturating_sub(wall.0)).unwrap_or(0);
        match self {
            Self::Either(_, at) => by_wall.min(at.since(mono)),
            Self::Both(_, at, latest) => {
                let both = at.map_or(by_wall, |at| by_wall.max(at.since(mono)));
                latest.map_or(both, |latest| both.min(latest.since(mono)))
            }
        }
    }
}

impl Kept {
    fn due(&self) -> Option<Due> {
        let standing = &self.filed.standing;
        match standing.state {
            PlanState::Pending | PlanState::Approved => Some(match self.next_hint() {
                None => Due::Either(self.filed.decide_by(), self.expires),
                Some((Hint::Remind, wall, mono)) => Due::Either(wall, mono),
                Some((Hint::Escalate(_), wall, mono)) => Due::Both(wall, Some(mono), Some(self.expires)),
            }),
            // An executing plan that nobody works on was left by a process that ended; its outcome is unknown.
            PlanState::Executing => standing.over_at.map(|wall| Due::Both(wall, self.over, self.at_the_latest)),
            PlanState::Unverified => {
                standing.next_look.or(standing.over_at).map(|wall| Due::Both(wall, None, self.at_the_latest))
            }
            // Never before it may be looked at: a clock that is set back would else be asked again at once, for ever.
            PlanState::Unknown => {
                standing.next_look.max(standing.over_at).map(|wall| Due::Both(wall, self.over, self.at_the_latest))
            }
            PlanState::Verified(_)
            | PlanState::Denied
            | PlanState::Expired
            | PlanState::Cancelled
            | PlanState::Refused(_)
            | PlanState::Failed => None,
        }
    }
}
