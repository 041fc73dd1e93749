//! What a plan's life must be: invariants 3, 4, 7 and 11. Kept beside the store and compared with it, so that it relies
//! neither on the store's own checks nor on the thread's.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::Tally;
use super::super::store::Files;
use super::{Moment, Witness};
use crate::approval::{
    CARD_LATE_MS_MAX, Filed, Move, Outcome, Plan, PlanId, PlanState, Risk, Standing, Vote, may_become,
};
use crate::envelope::Envelope;
use crate::gate::{ToolCall, Warrant};
use crate::ledger::{Change, Record};
use crate::port::{Asker, CardChoice, Right, TermsAbout};
use crate::signal::{ActorKind, Payload, Signal, Wall};
use crate::thread::State;
use crate::tool::ToolKind;

/// What the witness knows of one plan.
#[derive(Debug)]
pub(super) struct Row {
    state: PlanState,
    version: u64,
    votes: usize,
    decide_by: Option<Wall>,
    /// How many calls with its warrant left, and at which step the last one did.
    calls: u32,
    left_at: u64,
    /// How often it was executed.
    executed: u32,
    /// Its target was read to verify it.
    looked: bool,
}

impl Witness {
    pub(super) fn filed(&mut self, moment: &Moment<'_>, filed: &Filed, tally: &mut Tally) {
        tally.plans = tally.plans.saturating_add(1);
        let standing = &filed.standing;
        let is_fresh = standing.state == PlanState::Pending && standing.version == 0 && standing.votes.is_empty();
        let row = Row {
            state: standing.state,
            version: 0,
            votes: 0,
            decide_by: None,
            calls: 0,
            left_at: 0,
            executed: 0,
            looked: false,
        };
        let known = self.rows.insert(filed.id().clone(), row).is_some();
        self.demand(4, is_fresh && !known, || format!("filed as {standing:?}"));
        let target = &filed.frozen.plan().target;
        let seen = self.look(moment.seat).seen.contains_key(target);
        self.demand(1, seen, || format!("a plan for {target}, which nobody found in this thread"));
        let plan = filed.frozen.plan();
        if plan.tainted {
            let call = format!("{}.{}", plan.tool, plan.action);
            self.not_around(moment, (&plan.requester.id, true), (target, &call), tally);
        }
    }

    /// A row moves along the table of lives, one version at a time.
    pub(super) fn moved(&mut self, moment: &Moment<'_>, moved: &Move) {
        let Some((row, filed)) = self.rows.get_mut(&moved.plan).zip(moment.files.rows.get(&moved.plan)) else {
            return self.demand(7, false, || format!("moved and never filed: {moved:?}"));
        };
        let (from, version, votes, to) = (row.state, row.version, row.votes, &moved.to);
        (row.state, row.version, row.votes) = (to.state, to.version, to.votes.len());
        let is_same_time = std::mem::replace(&mut row.decide_by, to.decide_by) == to.decide_by;
        let is_next = may_become(from, to.state) && to.version == version.saturating_add(1);
        self.demand(7, is_next, || format!("moved from {from:?}, version {version}, to {to:?}"));
        let plan = filed.frozen.plan();
        let begins_anew = moment.signal.is_some_and(|signal| {
            signal.payload == Payload::CardLate { plan: plan.id.clone() } && signal.actor.is_ourselves()
        });
        let is_late = moment.now.wall.0.saturating_sub(plan.requested_at.0) < CARD_LATE_MS_MAX;
        let end = Some(Wall(moment.now.wall.0.saturating_add(plan.lifetime_ms())));
        self.demand(4, is_same_time || (begins_anew && is_late && to.decide_by == end), || {
            format!("has more time: {moved:?}")
        });
        if to.votes.len() > votes {
            self.voted(moment, filed, to.votes.last());
        }
        match to.state {
            PlanState::Approved => self.approved(moment, filed, moved),
            PlanState::Denied => self.denied(moment, filed, moved),
            PlanState::Verified(outcome) => {
                self.verified(moment, plan, outcome);
                if outcome == Outcome::Absent {
                    // What is gone is meant by nobody any more.
                    self.seat(moment.seat).named.retain(|(id, _), _| *id != plan.target);
                }
            }
            PlanState::Pending
            | PlanState::Executing
            | PlanState::Unverified
            | PlanState::Unknown
            | PlanState::Expired
            | PlanState::Cancelled
            | PlanState::Refused(_)
            | PlanState::Failed => {}
        }
    }

    /// Another instance has moved a row.
    pub(in super::super) fn moved_elsewhere(&mut self, plan: &PlanId, standing: &Standing) {
        if let Some(row) = self.rows.get_mut(plan) {
            (row.state, row.version, row.votes) = (standing.state, standing.version, standing.votes.len());
        }
    }

    /// A vote is cast by the signal that is worked on, by its own actor, for this plan to the byte.
    fn voted(&mut self, moment: &Moment<'_>, filed: &Filed, vote: Option<&Vote>) {
        let cast = moment.signal.zip(vote).is_some_and(|(signal, vote)| {
            let is_theirs = vote.by.id == signal.actor.id && vote.signal == signal.id;
            is_theirs && signal.actor.kind == ActorKind::Human && is_cast_for(signal, filed)
        });
        self.demand(4, cast, || format!("a vote that nobody cast: {vote:?}"));
    }

    /// Enough people countersigned it who may, in time; or it was allowed beforehand.
    fn approved(&mut self, moment: &Moment<'_>, filed: &Filed, moved: &Move) {
        let (plan, to) = (filed.frozen.plan(), &moved.to);
        let in_time = moment.now.wall < to.decide_by.unwrap_or(plan.expires_at);
        self.demand(4, in_time, || format!("approved after its time: {moved:?}"));
        if to.decided.as_ref().is_some_and(|decided| decided.unasked.is_some()) {
            let asker = plan.asker();
            let alone = moment.rights.acts_alone(&asker, &plan.call(), (&plan.target, &plan.labels), plan.risk);
            let granted = self.granted.contains(&(plan.call(), plan.target.clone()));
            let is_allowed = (alone || granted) && !plan.tainted && plan.risk < Risk::High;
            return self.demand(4, is_allowed, || format!("begun without a card, and nobody allowed it: {moved:?}"));
        }
        let (count, quorum) = counted(moment, plan, to.level, &to.votes);
        self.demand(4, count >= quorum, || format!("approved by {count} of {quorum} who may: {moved:?}"));
    }

    fn denied(&mut self, moment: &Moment<'_>, filed: &Filed, moved: &Move) {
        let plan = filed.frozen.plan();
        let by = moved.to.decided.as_ref().map(|decided| &decided.by);
        let may = by.is_some_and(|by| may_decide(moment, plan, moved.to.level, &Asker::at(by, &plan.thread)));
        self.demand(4, may, || format!("denied by somebody who may not: {moved:?}"));
    }

    /// Verified by a fresh read of the same target, after the write; and what is said of it is what was read.
    fn verified(&mut self, moment: &Moment<'_>, plan: &Plan, outcome: Outcome) {
        let left_at = self.rows.get(&plan.id).map_or(0, |row| row.left_at);
        let answered = self.look(moment.seat).answered.as_ref();
        let change = moment.env.registry.action(&plan.tool, &plan.action).and_then(|spec| spec.change.as_ref());
        let fresh = answered.filter(|(sent, envelope)| {
            sent.call.kind == ToolKind::Read
                && change.is_some_and(|change| change.verify == sent.call.name())
                && sent.call.target.as_ref() == Some(&plan.target)
                && sent.step > left_at
                && envelope.ok
        });
        let data = fresh.map(|(_, envelope)| envelope.clone());
        self.demand(3, data.is_some(), || format!("{} is verified, and nobody read its target", plan.id));
        let is_so = data.is_some_and(|reading| is_so(plan, &reading, outcome));
        self.demand(11, is_so, || format!("{} is said to be {outcome:?}, and that is not what was read", plan.id));
    }

    /// A call with a warrant leaves: for an executing plan, once, for exactly what was countersigned, as it was seen then,
    /// and not beside another one of its thread or its target.
    pub(super) fn write_leaves(&mut self, moment: &Moment<'_>, call: &ToolCall, warrant: &Warrant) {
        let step = self.steps;
        let Some((row, filed)) = self.rows.get_mut(&warrant.plan).zip(moment.files.rows.get(&warrant.plan)) else {
            return self.demand(2, false, || "a write of a plan that was never filed".to_owned());
        };
        row.calls = row.calls.saturating_add(1);
        row.left_at = step;
        let calls = row.calls;
        let plan = filed.frozen.plan();
        self.demand(7, calls == 1, || format!("{calls} calls were made for one plan"));
        self.demand(2, filed.state() == PlanState::Executing, || {
            format!("a write leaves for a plan that is {:?}", filed.state())
        });
        let same = (&call.tool, &call.action, call.target.as_ref(), &call.args)
            == (&plan.tool, &plan.action, Some(&plan.target), &plan.args);
        let sealed = (warrant.bytes.as_str(), &warrant.digest) == (filed.frozen.bytes(), filed.frozen.digest());
        self.demand(4, same && sealed, || format!("what leaves is not what was countersigned: {call:?}"));
        let seen = self.look(moment.seat).seen.get(&plan.target);
        let found =
            seen.is_some_and(|seen| plan.before.iter().all(|(name, value)| seen.attrs.get(name) == Some(value)));
        self.demand(4, found, || format!("{} is not as it was when its change was countersigned", plan.target));
        let beside = moment.files.rows.values().find(|other| {
            let theirs = other.frozen.plan();
            other.id() != filed.id()
                && other.state().holds_target()
                && (theirs.thread == plan.thread || theirs.target == plan.target)
        });
        self.demand(3, beside.is_none(), || format!("a write leaves while another one is not verified: {beside:?}"));
    }

    /// A read leaves that is to verify a plan.
    pub(super) fn look_leaves(&mut self, moment: &Moment<'_>) {
        let carried = moment.carried().cloned();
        let Some(filed) = carried.and_then(|plan| moment.files.rows.get(&plan)) else { return };
        if matches!(filed.state(), PlanState::Unverified | PlanState::Unknown)
            && let Some(row) = self.rows.get_mut(filed.id())
        {
            row.looked = true;
        }
    }

    /// A write takes effect: once, and not after its target was read to verify it. With a clock that was set meanwhile the
    /// second cannot be promised (`sequence_tests/ledger.rs` says why).
    pub(in super::super) fn executed(&mut self, call: &ToolCall, clock_was_set: bool, store: &Files) {
        let plan = call.warrant.as_ref().map(|warrant| warrant.plan.clone());
        let Some((row, filed)) = plan.as_ref().and_then(|plan| self.rows.get_mut(plan).zip(store.rows.get(plan)))
        else {
            return self.demand(2, false, || format!("executed without a plan: {call:?}"));
        };
        row.executed = row.executed.saturating_add(1);
        let (executed, looked) = (row.executed, row.looked);
        self.demand(7, executed == 1, || format!("executed {executed} times: {}", filed.id()));
        self.demand(3, !looked || clock_was_set, || format!("executed after it was looked at: {}", filed.id()));
    }

    pub(super) fn kept(&mut self, change: &Change) {
        if let Some(Record::Grant(grant)) = &change.to {
            self.granted.insert((format!("{}.{}", grant.tool, grant.action), grant.target.clone()));
        }
    }

    /// Nothing but what was stored is in the store, and each target has one holder.
    pub(super) fn compare(&mut self, files: &Files) {
        let mut held = BTreeSet::new();
        for (id, filed) in &files.rows {
            let known = self.rows.get(id).map(|row| (row.state, row.version));
            let stands = Some((filed.state(), filed.standing.version));
            self.demand(7, known == stands, || format!("the row {id} is {stands:?}, and it was moved to {known:?}"));
            let is_second = filed.state().holds_target() && !held.insert(&filed.frozen.plan().target);
            self.demand(3, !is_second, || format!("two changes of {} are under way", filed.frozen.plan().target));
        }
    }

    /// A thread knows what it has begun and not verified.
    pub(super) fn thread(&mut self, moment: &Moment<'_>) {
        let state = moment.state.fsm().state();
        let rows = moment.files.rows.values();
        let mut own = rows.filter(|row| row.state().holds_target() && row.frozen.plan().thread == *moment.key());
        let holding = own.next().map(|row| row.id().clone());
        let knows = holding.is_none() || matches!(state, State::Writing | State::Verifying);
        self.demand(3, knows, || format!("the thread is {state:?}, and {holding:?} is not verified"));
    }
}

/// Whether what was pressed or written is a countersignature of exactly this plan.
fn is_cast_for(signal: &Signal, filed: &Filed) -> bool {
    match &signal.payload {
        Payload::Decision { plan, digest, choice, .. } => {
            plan == filed.id() && digest == filed.frozen.digest() && *choice == CardChoice::Approve
        }
        Payload::Text { text } => text.to_lowercase().contains(filed.id().as_str()),
        Payload::Choice { .. }
        | Payload::Details { .. }
        | Payload::Due { .. }
        | Payload::Unreachable { .. }
        | Payload::Edited { .. }
        | Payload::Deleted { .. }
        | Payload::RoomMoved { .. }
        | Payload::CardLate { .. }
        | Payload::Stray
        | Payload::OlderCopy
        | Payload::Limited { .. } => false,
    }
}

/// Whether somebody may decide a plan that was escalated so often, by what they may now.
fn may_decide(moment: &Moment<'_>, plan: &Plan, level: u32, asker: &Asker<'_>) -> bool {
    let own = own(moment, plan, asker);
    let right =
        Right::Decide { risk: plan.risk, on: plan.target.clone(), is_requester: own, labels: plan.labels.clone() };
    let call = plan.call();
    let about = TermsAbout { risk: plan.risk, target: &plan.target, labels: &plan.labels, tool: &call };
    let terms = plan.terms.and(&moment.rights.terms(&about));
    let reached = plan.terms.reached_ms(level).unwrap_or_default();
    let is_in_each = terms.circles.iter().all(|circle| {
        let later = circle.escalate.iter().filter(|step| level > 0 && step.after_ms <= reached).map(|step| &step.group);
        std::iter::once(&circle.group).chain(later).any(|group| moment.rights.is_in(asker, group))
    });
    asker.actor.kind == ActorKind::Human && moment.rights.may(asker, &right) && is_in_each
}

fn own(moment: &Moment<'_>, plan: &Plan, asker: &Asker<'_>) -> bool {
    let person = moment.rights.person(&plan.thread.platform, asker.actor);
    person == moment.rights.person(&plan.thread.platform, &plan.requester) || person == plan.requester_person
}

/// How many people have countersigned a plan who may, and how many have to.
fn counted(moment: &Moment<'_>, plan: &Plan, level: u32, votes: &[Vote]) -> (usize, usize) {
    let call = plan.call();
    let about = TermsAbout { risk: plan.risk, target: &plan.target, labels: &plan.labels, tool: &call };
    let quorum = plan.terms.quorum.max(moment.rights.terms(&about).quorum).get();
    let takes_others = quorum > 1 || plan.risk >= Risk::Medium;
    let counts = |vote: &&Vote| {
        let thread = &plan.thread;
        let asker =
            Asker { actor: &vote.by, platform_roles: &vote.roles, assurance: vote.assurance, thread, room: vote.room };
        let waived = plan.alone && moment.rights.may_decide_alone(&asker, plan.risk);
        may_decide(moment, plan, level, &asker) && (!own(moment, plan, &asker) || !takes_others || waived)
    };
    let people: BTreeSet<String> =
        votes.iter().filter(counts).map(|vote| moment.rights.person(&vote.platform, &vote.by)).collect();
    (people.len(), usize::try_from(quorum).unwrap_or(usize::MAX))
}

/// Whether a reading shows what a verification says of it.
fn is_so(plan: &Plan, reading: &Envelope, outcome: Outcome) -> bool {
    let present = reading.data.get("present").and_then(Value::as_bool);
    let at = |path: &str| {
        let value = path.split('.').try_fold(&reading.data, |value, key| value.get(key));
        value.and_then(Value::as_str).map(str::to_owned)
    };
    let equals = plan.expect.equals.iter().all(|(path, expected)| at(path).as_ref() == Some(expected));
    let changed =
        plan.expect.changed.iter().all(|path| at(path).is_some() && at(path).as_ref() != plan.before.get(path));
    match outcome {
        Outcome::Absent => present == Some(false),
        Outcome::AsExpected => present == Some(true) && equals && changed && !plan.expect.absent,
        Outcome::Differs => present == Some(true),
    }
}
