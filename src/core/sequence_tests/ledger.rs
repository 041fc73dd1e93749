//! What must hold, whatever happens: kept beside the store and compared with it, so that it relies neither on the store's
//! own checks nor on the thread's. It decides nothing, and the first thing that does not hold stays.

use std::collections::BTreeMap;

use crate::approval::{Filed, Move, PlanId, PlanState, may_become};
use crate::gate::{ToolCall, Warrant};
use crate::port::{Claim, Outgoing};
use crate::signal::{Actor, ActorKind};
use crate::testkit::Files;
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
        let line = Line { state: standing.state, version: 0, calls: 0, executed: 0, looked: None };
        let known = self.lines.insert(filed.id().clone(), line).is_some();
        self.demand(fresh && !known, || format!("filed as {standing:?}"));
    }

    /// A row moves along the table of lives, one version at a time.
    pub(super) fn moved(&mut self, moved: &Move, tally: &mut Tally) {
        let Some(line) = self.lines.get_mut(&moved.plan) else {
            return self.demand(false, || format!("moved and never filed: {moved:?}"));
        };
        let (from, version, to) = (line.state, line.version, &moved.to);
        (line.state, line.version) = (to.state, to.version);
        tally.one(name_of(to.state));
        self.demand(may_become(from, to.state) && to.version == version + 1, || {
            format!("moved from {from:?}, version {version}, to {to:?}")
        });
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
        let (executed, looked) = (line.executed, line.looked);
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
        let decided = row.standing.decided.as_ref();
        let cleared = decided.is_some_and(|decided| may_decide(&decided.by) && decided.by.id != plan.requester.id);
        self.demand(cleared, || format!("executed without clearance: {row:?}"));
        let call = done.call;
        let same = (&call.tool, &call.action, call.target.as_ref(), &call.args)
            == (&plan.tool, &plan.action, Some(&plan.target), &plan.args);
        let sealed = (&*warrant.bytes, &warrant.digest) == (row.frozen.bytes(), row.frozen.digest());
        self.demand(same && sealed, || format!("executed is another call than {row:?}: {call:?}"));
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

/// The people of the testkit who may decide.
fn may_decide(actor: &Actor) -> bool {
    actor.kind == ActorKind::Human && matches!(actor.id.as_str(), "ann" | "bob")
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
