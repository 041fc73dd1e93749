//! What must hold, whatever happens: kept beside the store and compared with it, so that it relies neither on the store's
//! own checks nor on the thread's. It decides nothing, and the first thing that does not hold stays.

use std::collections::{BTreeMap, BTreeSet};

use crate::approval::{Filed, Move, Plan, PlanId, PlanState, Risk, Vote, may_become};
use crate::gate::{ToolCall, Warrant};
use crate::port::{Claim, Outgoing};
use crate::signal::{Actor, ActorKind, SignalId};
use crate::sim::Files;
use crate::testkit::People;
use crate::thread::{State, ThreadState};

/// How often each thing happened.
#[derive(Debug, Default)]
pub(super) struct Tally(pub(super) BTreeMap<&'static str, u64>);

impl Tally {
    pub(super) fn one(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    pub(super) fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or_default()
    }
}

/// What the ledger knows of one plan.
#[derive(Debug)]
struct Line {
    state: PlanState,
    version: u64,
    /// How many calls with its warrant left.
    calls: u32,
    /// How often it was executed.
    executed: u32,
    /// At which setting of the clock its target was first read to verify it.
    looked: Option<u64>,
    /// Who had countersigned it.
    votes: Vec<Vote>,
    reminded: bool,
    level: u32,
    /// Enough people who might then have countersigned it.
    cleared: bool,
}

/// How a write came to be executed.
pub(super) struct Execution<'a> {
    pub(super) call: &'a ToolCall,
    /// How often the wall clock was set back until now.
    pub(super) setbacks: u64,
    /// The wall clock was set forward while it was being done, or before its bot was followed by another one.
    pub(super) jumped: bool,
    /// Nobody waits for it any more.
    pub(super) orphan: bool,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    lines: BTreeMap<PlanId, Line>,
    /// The messages of each thread since its process began, by their signal and number.
    posted: [BTreeSet<(SignalId, u32)>; 2],
    /// The first thing that did not hold.
    pub(super) problem: Option<String>,
}

impl Ledger {
    pub(super) fn demand(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds && self.problem.is_none() {
            self.problem = Some(problem());
        }
    }

    pub(super) fn filed(&mut self, filed: &Filed) {
        let standing = &filed.standing;
        let fresh = standing.state == PlanState::Pending && standing.version == 0 && standing.decided.is_none();
        let line = Line {
            state: standing.state,
            version: 0,
            calls: 0,
            executed: 0,
            looked: None,
            votes: Vec::new(),
            reminded: false,
            level: 0,
            cleared: false,
        };
        let known = self.lines.insert(filed.id().clone(), line).is_some();
        self.demand(fresh && !known, || format!("filed as {standing:?}"));
    }

    /// A row moves along the table of lives, one version at a time.
    pub(super) fn moved(&mut self, moved: &Move, moment: &Moment<'_>, tally: &mut Tally) {
        let Some(line) = self.lines.get_mut(&moved.plan) else {
            return self.demand(false, || format!("moved and never filed: {moved:?}"));
        };
        let (from, version, to) = (line.state, line.version, &moved.to);
        (line.state, line.version) = (to.state, to.version);
        tally.one(if from == to.state && from == PlanState::Pending { "still pending" } else { name_of(to.state) });
        self.waited(moved, moment, tally);
        self.demand(may_become(from, to.state) && to.version == version + 1, || {
            format!("moved from {from:?}, version {version}, to {to:?}")
        });
    }

    /// What a plan gathers while it waits is only ever added to; and it is approved by enough people who may, in time.
    fn waited(&mut self, moved: &Move, moment: &Moment<'_>, tally: &mut Tally) {
        let Some((line, row)) = self.lines.get_mut(&moved.plan).zip(moment.files.rows.get(&moved.plan)) else { return };
        let (plan, to) = (row.frozen.plan(), &moved.to);
        let added = to.votes.strip_prefix(line.votes.as_slice()).map(<[Vote]>::len);
        let people: BTreeSet<&str> = to.votes.iter().map(|vote| person(&vote.by)).collect();
        let sound =
            added.is_some_and(|added| added == 0 || moved.from == PlanState::Pending) && people.len() == to.votes.len();
        let told = u32::from(to.reminded).checked_sub(u32::from(line.reminded)).zip(to.level.checked_sub(line.level));
        let one_at_a_time = matches!(told, Some((0, 0))) || (matches!(told, Some((1, 0) | (0, 1))) && added == Some(0));
        let after = (to.level > line.level).then(|| plan.terms.escalation_ms(line.level)).flatten();
        let too_early =
            after.is_some_and(|after| moment.wall < plan.requested_at.0 + i64::try_from(after).expect("minutes"));
        (line.votes, line.reminded, line.level) = (to.votes.clone(), to.reminded, to.level);
        let (count, quorum) = counted(moment.people, plan, to.level, &to.votes);
        let in_time = moment.wall < plan.expires_at.0;
        // Who allowed it beforehand must have the say now that one countersignature takes.
        let unasked = to.decided.as_ref().filter(|decided| decided.unasked.is_some());
        let beforehand =
            unasked.is_some_and(|decided| quorum == 1 && entitled(moment.people, plan, to.level, &decided.by));
        line.cleared |= to.state == PlanState::Approved && (count >= quorum || beforehand) && in_time;
        let cleared = line.cleared;
        let denied = to.state != PlanState::Denied || !moment.ours || {
            let by = to.decided.as_ref().map(|decided| &decided.by);
            by.is_some_and(|by| entitled(moment.people, plan, to.level, by))
        };
        match (told, added, to.state) {
            (Some((1, _)), _, _) => tally.one("reminded"),
            (Some((_, 1)), _, _) => tally.one("escalated"),
            (_, Some(1), PlanState::Pending) => tally.one("voted"),
            (_, Some(1), PlanState::Approved) if quorum > 1 => tally.one("approved by several"),
            _ => {}
        }
        if to.withdrawn.is_some() {
            tally.one("withdrawn");
        }
        self.demand(sound, || format!("votes are not only added to: {moved:?}"));
        self.demand(one_at_a_time, || format!("told more than one thing at once: {moved:?}"));
        self.demand(!too_early || moment.setbacks > 0, || format!("escalated too early: {moved:?}"));
        self.demand(denied, || format!("denied by somebody who may not: {moved:?}"));
        self.demand(to.state != PlanState::Approved || cleared, || {
            format!("approved by {count} of {quorum} who may: {moved:?} of {row:?}")
        });
        let fell = to.withdrawn.is_none() || to.state == PlanState::Cancelled;
        self.demand(fell, || format!("withdrawn, and it stands otherwise: {moved:?}"));
    }

    /// Nothing but what was stored is in the store, and each target has one holder.
    pub(super) fn compare(&mut self, files: &Files) {
        let mut held = Vec::new();
        for (id, row) in &files.rows {
            let line = self.lines.get(id).map(|line| (line.state, line.version));
            let stands = Some((row.state(), row.standing.version));
            self.demand(line == stands, || format!("the row {id} is {stands:?}, and it was moved to {line:?}"));
            if row.state().holds_target() {
                let target = &row.frozen.plan().target;
                self.demand(!held.contains(&target), || format!("two changes of {target} are under way"));
                held.push(target);
            }
        }
    }

    /// A thread that is loaded knows what it has begun and not verified; and it is WRITING only as long as it waits.
    pub(super) fn thread(&mut self, state: &ThreadState, rows: &Files, own: impl Fn(&Filed) -> bool) {
        let fsm = state.fsm().state();
        let holding = rows.rows.values().find(|row| row.state().holds_target() && own(row));
        self.demand(holding.is_none() || matches!(fsm, State::Writing | State::Verifying), || {
            format!("the thread is {fsm:?}, and {holding:?} is not verified")
        });
        self.demand(fsm != State::Writing || state.is_busy(), || "WRITING, and nobody waits for it".to_owned());
    }

    /// A call with a warrant leaves: for an executing plan, once, and not beside another one of its thread.
    pub(super) fn write_leaves(&mut self, warrant: &Warrant, files: &Files) {
        let Some((line, row)) = self.lines.get_mut(&warrant.plan).zip(files.rows.get(&warrant.plan)) else {
            return self.demand(false, || "a write of a plan that was never filed".to_owned());
        };
        line.calls += 1;
        let calls = line.calls;
        let plan = row.frozen.plan();
        let beside = files.rows.values().any(|other| {
            other.id() != row.id() && other.state().holds_target() && other.frozen.plan().thread == plan.thread
        });
        self.demand(calls == 1, || format!("{calls} calls were made for one plan"));
        self.demand(row.state() == PlanState::Executing, || format!("a write leaves for a plan that is {row:?}"));
        self.demand(!beside, || "a write leaves while another one of its thread is not verified".to_owned());
    }

    /// A read leaves that is to verify this plan.
    pub(super) fn look_leaves(&mut self, plan: &PlanId, setbacks: u64) {
        if let Some(line) = self.lines.get_mut(plan) {
            line.looked.get_or_insert(setbacks);
        }
    }

    /// A write is executed: to the byte what was countersigned by somebody who may, at most once, and before its target
    /// was read to verify it.
    pub(super) fn executed(&mut self, done: &Execution<'_>, files: &Files, tally: &mut Tally) {
        let warrant = done.call.warrant.as_ref();
        let found = warrant.and_then(|warrant| Some((warrant, files.rows.get(&warrant.plan)?)));
        let Some((warrant, row)) = found else {
            return self.demand(false, || format!("executed without a plan: {:?}", done.call));
        };
        let Some(line) = self.lines.get_mut(&warrant.plan) else { return };
        line.executed += 1;
        let (executed, looked, cleared) = (line.executed, line.looked, line.cleared);
        tally.one(if done.orphan { "executed as an orphan" } else { "executed" });
        // The permit ends by the wall clock, and so does the time in which nobody looks: one clock of one machine, so
        // that a look comes after the permit's end and the action's own limit, however the clock was set before. What
        // this cannot bear is a clock that is set back after the look (the permit is good again), or set forward while
        // the write is being done (its limit runs by a stopwatch).
        let clock_was_set = done.jumped || looked.is_some_and(|setbacks| setbacks < done.setbacks);
        if clock_was_set && looked.is_some() {
            tally.one("executed after a look, the clock having been set");
        }
        let begun = matches!(row.state(), PlanState::Executing | PlanState::Unknown);
        self.demand(executed == 1, || format!("executed {executed} times"));
        self.demand(looked.is_none() || clock_was_set, || format!("executed after it was looked at: {row:?}"));
        self.demand(begun || clock_was_set, || format!("executed while {row:?}"));
        let plan = row.frozen.plan();
        self.demand(cleared, || format!("executed without clearance: {row:?}"));
        let call = done.call;
        let same = (&call.tool, &call.action, call.target.as_ref(), &call.args)
            == (&plan.tool, &plan.action, Some(&plan.target), &plan.args);
        let sealed = (&*warrant.bytes, &warrant.digest) == (row.frozen.bytes(), row.frozen.digest());
        self.demand(same && sealed, || format!("executed is another call than {row:?}: {call:?}"));
    }

    /// A message has a number of its own: with that of another one it would be taken for it, and not be sent.
    pub(super) fn posted(&mut self, seat: usize, n: u32, message: &Outgoing) {
        let is_new = self.posted.get_mut(seat).is_some_and(|posted| posted.insert((message.answers.clone(), n)));
        self.demand(is_new, || format!("the message {n} of {} was posted twice", message.answers));
    }

    /// A thread's memory is gone; another attempt has numbers of its own.
    pub(super) fn forgot(&mut self, seat: usize) {
        self.posted.get_mut(seat).map(BTreeSet::clear);
    }

    /// A change is claimed only where the store says that it was verified just so.
    pub(super) fn said(&mut self, message: &Outgoing, files: &Files, tally: &mut Tally) {
        if let Claim::Change { plan, outcome, .. } = &message.claim {
            tally.one("changes claimed");
            let state = files.rows.get(plan).map(Filed::state);
            self.demand(state == Some(PlanState::Verified(*outcome)), || {
                format!("claimed as {outcome:?}, and it is {state:?}")
            });
        }
    }
}

/// What was so when a plan was moved.
pub(super) struct Moment<'a> {
    pub(super) people: &'a People,
    pub(super) files: &'a Files,
    pub(super) wall: i64,
    /// Moved by this installation, and not by another one.
    pub(super) ours: bool,
    /// How often the wall clock was set back until now.
    pub(super) setbacks: u64,
}

/// Who an account belongs to, here.
pub(super) fn person(actor: &Actor) -> &str {
    actor.id.as_str().trim_end_matches("@work")
}

/// Whether somebody may decide a plan that was escalated so often: by what the people are now, said once more here and in
/// other words than in the code under test.
pub(super) fn entitled(people: &People, plan: &Plan, level: u32, actor: &Actor) -> bool {
    let name = person(actor);
    let known =
        actor.kind == ActorKind::Human && ["ann", "bob", "carol"].contains(&name) && !people.barred.contains(name);
    let is_in = |group: &String| people.groups.get(group).is_some_and(|members| members.contains(name));
    let mut circles = plan.terms.circles.iter().chain(&people.terms.circles);
    let reached = plan.terms.reached_ms(level).unwrap_or(0);
    known
        && circles.all(|circle| {
            let later = circle.escalate.iter().filter(|step| step.after_ms <= reached);
            is_in(&circle.group) || later.map(|step| &step.group).any(is_in)
        })
}

/// How many people have countersigned it whose vote counts now, and how many have to.
pub(super) fn counted(people: &People, plan: &Plan, level: u32, votes: &[Vote]) -> (usize, usize) {
    let quorum = plan.terms.quorum.max(people.terms.quorum).get();
    let own = |vote: &Vote| person(&vote.by) == person(&plan.requester);
    let waived = plan.alone && people.alone.contains(person(&plan.requester));
    let must_be_others = (quorum > 1 || plan.risk >= Risk::Medium) && !waived;
    let counts = |vote: &&Vote| entitled(people, plan, level, &vote.by) && !(own(vote) && must_be_others);
    let counting: BTreeSet<&str> = votes.iter().filter(counts).map(|vote| person(&vote.by)).collect();
    (counting.len(), usize::try_from(quorum).expect("few"))
}

/// A state with its outcome, as the figures call it.
pub(super) const fn name_of(state: PlanState) -> &'static str {
    match state {
        PlanState::Verified(outcome) => outcome.as_str(),
        PlanState::Pending
        | PlanState::Approved
        | PlanState::Executing
        | PlanState::Unverified
        | PlanState::Unknown
        | PlanState::Denied
        | PlanState::Expired
        | PlanState::Cancelled
        | PlanState::Refused(_)
        | PlanState::Failed => state.as_str(),
    }
}
