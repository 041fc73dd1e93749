//! Permissions in the sequences: given, used, taken back and changed by another instance, in any order with everything
//! else; and a book of them beside the store, which relies neither on the store's checks nor on the thread's.

use std::collections::BTreeMap;

use crate::approval::{Filed, Plan, PlanId, PlanState, Unasked};
use crate::effect::Effect;
use crate::ledger::{Change, Grant, GrantId, Key, Record};
use crate::signal::Wall;
use crate::sim::Files;
use crate::testkit::People;

use super::ledger::{Ledger, Tally};
use super::op::Op;
use super::town::Town;
use crate::sim::flight::Manner;
use crate::sim::server::Server as _;
use crate::sim::works::Installation as _;

/// What must have happened in a run, or it shows nothing of permissions.
pub(super) const REACHED: [&str; 5] =
    ["granted", "used a grant", "took a grant out", "grant changed elsewhere", "overtaken"];

/// What happens to permissions.
#[derive(Clone, Debug)]
pub(super) enum GrantOp {
    /// Somebody allows beforehand what a plan does.
    Give { seat: usize, who: &'static str, plan: PlanId, terms: &'static str },
    /// Somebody asks for what may be allowed already, and some of the calls that it takes are served.
    Ask { seat: usize, who: &'static str, what: &'static str, served: usize },
    /// Somebody takes one back.
    Revoke { seat: usize, who: &'static str, grant: GrantId },
    /// Somebody lists them.
    List { seat: usize },
    /// Another instance uses one, or takes it out; this one does not know.
    Elsewhere { grant: GrantId, gone: bool },
}

impl GrantOp {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Give { .. } => "op: grant",
            Self::Ask { .. } => "op: ask for what may be allowed",
            Self::Revoke { .. } => "op: revoke",
            Self::List { .. } => "op: list grants",
            Self::Elsewhere { .. } => "op: a grant changes elsewhere",
        }
    }
}

/// Now and then something about permissions; more of it where there are some.
pub(super) fn draw(town: &mut Town<'_>) -> Option<Op> {
    let grants: Vec<GrantId> = town.works.files.ledger.grants().map(|(id, _)| id.clone()).collect();
    if !town.works.dice.one_in(if grants.is_empty() { 20 } else { 3 }) {
        return None;
    }
    let seat = town.works.dice.at(2);
    let who = town.works.dice.pick(&["ann", "bob", "bob", "eve"]);
    let grant = (!grants.is_empty()).then(|| grants[town.works.dice.at(grants.len())].clone());
    let op = match (town.works.dice.below(10), grant) {
        (0..=5, Some(_)) => {
            let (who, what) =
                (town.works.dice.pick(&["ann", "ann", "bob"]), town.works.dice.pick(&["nginx", "nginx", "postgres"]));
            GrantOp::Ask { seat, who, what, served: town.works.dice.at(7) }
        }
        (6, Some(grant)) => GrantOp::Elsewhere { grant, gone: town.works.dice.one_in(3) },
        (7, Some(grant)) => GrantOp::Revoke { seat, who, grant },
        (8, Some(_)) => GrantOp::List { seat },
        (_, _) => give(town, seat, who)?,
    };
    Some(Op::Grants(op))
}

fn give(town: &mut Town<'_>, seat: usize, who: &'static str) -> Option<GrantOp> {
    let plans: Vec<PlanId> = town.works.files.rows.keys().cloned().collect();
    let plan = plans.get(town.works.dice.at(plans.len().max(1)))?.clone();
    let seat = if town.works.dice.one_in(8) { seat } else { town.works.seat_of(&plan) };
    let terms = town.works.dice.pick(&["", "1 time", "2 times for 1 minutes", "for 30 days 100 times", "for ever"]);
    Some(GrantOp::Give { seat, who, plan, terms })
}

/// Makes one of them happen.
pub(super) fn happen(town: &mut Town<'_>, op: &GrantOp) {
    match op {
        GrantOp::Give { seat, who, plan, terms } => super::say(town, *seat, who, &format!("grant {plan} {terms}")),
        GrantOp::Ask { seat, who, what, served } => {
            super::say(town, *seat, who, &format!("restart {what}"));
            for _ in 0..*served {
                town.pump();
                if let Some(at) = town.works.flights.iter().position(|flight| flight.awaited && flight.seat == *seat) {
                    town.serve(at, Manner::Well);
                }
            }
        }
        GrantOp::Revoke { seat, who, grant } => super::say(town, *seat, who, &format!("revoke {}", grant.as_str())),
        GrantOp::List { seat } => super::say(town, *seat, "ann", "grants"),
        GrantOp::Elsewhere { grant, gone } => changed_elsewhere(town, grant, *gone),
    }
}

fn changed_elsewhere(town: &mut Town<'_>, id: &GrantId, gone: bool) {
    let Some(grant) = town.works.files.ledger.grant(id).cloned() else { return };
    if !gone && (grant.uses_left() == 0 || Wall(town.works.wall) >= grant.expires_at) {
        return;
    }
    town.tally.one("grant changed elsewhere");
    let before = town.works.files.ledger.clone();
    let to = (!gone).then(|| Grant { uses: grant.uses + 1, ..grant });
    town.book.note(id, to.as_ref());
    let change = before.put(Key::Grant(id.clone()), to.map(|grant| Record::Grant(Box::new(grant))));
    town.works.files.ledger.apply(&change).expect("invariant: it starts where it stands");
    town.seen.get_or_insert(before);
}

/// Every permission, as it was given and counted.
#[derive(Debug, Default)]
pub(super) struct Book(BTreeMap<GrantId, Grant>);

impl Book {
    fn note(&mut self, id: &GrantId, to: Option<&Grant>) {
        match to {
            Some(grant) => self.0.insert(id.clone(), grant.clone()),
            None => self.0.remove(id),
        };
    }

    /// A step was stored: what it gives was somebody's to give, each use is counted once and is for exactly what was
    /// allowed, and nothing is approved unasked without a use.
    pub(super) fn stored(
        &mut self,
        effects: &[Effect],
        (files, people, wall): (&Files, &People, i64),
        ledger: &mut Ledger,
        tally: &mut Tally,
    ) {
        let kept =
            effects.iter().filter_map(|effect| if let Effect::Keep(change) = effect { Some(change) } else { None });
        let mut used: Vec<GrantId> = Vec::new();
        for Change { key, to, .. } in kept.map(AsRef::as_ref) {
            let Key::Grant(id) = key else { continue };
            match (self.0.get(id), to) {
                (Some(before), Some(Record::Grant(now))) => {
                    tally.one("used a grant");
                    let counted = Grant { uses: before.uses + 1, ..before.clone() };
                    ledger
                        .demand(counted == **now && now.uses <= now.uses_max, || format!("{before:?} became {now:?}"));
                    ledger.demand(wall < now.expires_at.0, || format!("used too late: {now:?}"));
                    used.push(id.clone());
                }
                (None, Some(Record::Grant(new))) => {
                    tally.one("granted");
                    let giver = new.by.1.person.as_str();
                    let may = matches!(giver, "ann" | "bob" | "carol") && !people.barred.contains(giver);
                    let alone = giver == new.person.person && !people.alone.contains(giver);
                    let sound = may && !alone && new.uses == 0;
                    ledger.demand(sound, || format!("given as {new:?}"));
                }
                (before, _) => {
                    tally.one("took a grant out");
                    ledger.demand(before.is_some() && to.is_none(), || format!("{before:?} became {to:?}"));
                }
            }
            self.note(id, to.as_ref().and_then(|to| if let Record::Grant(grant) = to { Some(&**grant) } else { None }));
        }
        let mut unasked: Vec<(GrantId, &Filed)> = effects.iter().filter_map(|effect| approved(effect, files)).collect();
        unasked.retain(|(id, row)| {
            !(used.contains(id) && self.0.get(id).is_some_and(|grant| fits(grant, row.frozen.plan())))
        });
        ledger.demand(unasked.is_empty(), || format!("nobody was asked, and nothing allows it: {unasked:?}"));
    }
}

/// A plan that an effect approves by a permission.
fn approved<'a>(effect: &Effect, files: &'a Files) -> Option<(GrantId, &'a Filed)> {
    let Effect::Move(moved) = effect else { return None };
    let unasked = moved.to.decided.as_ref().filter(|_| moved.to.state == PlanState::Approved)?.unasked.clone()?;
    let Unasked::Grant(id) = unasked else { return None };
    Some((id, files.rows.get(&moved.plan)?))
}

fn fits(grant: &Grant, plan: &Plan) -> bool {
    let same = (&grant.tool, &grant.action, &grant.target, &grant.args)
        == (&plan.tool, &plan.action, &plan.target, &plan.args);
    same && grant.person.person == plan.requester.id.as_str() && grant.room.1 == plan.thread.conversation
}
