//! Standing permissions in a thread: given on a plan, listed, taken back, and used in the place of a card. What may be
//! given, and what it covers, is judged by `approval/grant.rs`; here rows of the ledger are changed, each with its audit
//! row, and everybody is told.

use serde_json::Value;

use crate::approval::{self, Allowed, Ask, Decided, Extent, Filed, PlanId, PlanState, Unasked, Verb};
use crate::effect::{Effect, Ending};
use crate::envelope::{Code, Details};
use crate::gate::Refusal;
use crate::ledger::{Account, Grant, GrantId, Key, Record, Somebody};
use crate::port::{Claim, Mark, Right};
use crate::route::Route;
use crate::signal::{Actor, ActorKind, Wall};

use super::request::Request;
use super::state::{AuditAbout, Turn};
use super::{carry, decision, say};

/// How many live permissions there may be in one room: more are nobody's careful decision any more.
const ROOM_MAX: usize = 50;

/// What stands in the place of a countersignature.
pub(super) enum Permit {
    /// A permission, and what its giver may.
    Grant(GrantId, Box<Grant>, Allowed),
    /// The control level of the room.
    Level,
}

/// `grant PLAN-ID [for 8 hours] [10 times]`. On a plan that waits the one word is a countersignature, too.
pub(super) fn give(turn: &mut Turn<'_>, mut request: Request, route: &Route) {
    let (plan, extent) = match (PlanId::parse(said(route, "plan")), Extent::read(said(route, "terms"))) {
        (Some(plan), Some(extent)) => (plan, extent),
        (plan, _) => {
            let blocks = say::grants::say_what_to_allow(plan.as_ref());
            turn.say(&mut request, Mark::Question, Claim::Nothing, blocks);
            return turn.finish(request, Ending::Answered);
        }
    };
    carry::expire(turn, &request, &plan);
    let Some(filed) = turn.state.desk.get(&plan).cloned() else {
        return refuse(turn, request, &refusal(Code::NotFound, "no plan of this thread has this id"), None);
    };
    if decision::was_decided_by(&filed, &request) {
        // The very signal that allowed it, taken up again after a crash.
        return carry::resume(turn, request, &filed);
    }
    let grant = as_wide_as(turn, &request, &filed, extent);
    match may_give(turn, &request, &filed, &grant) {
        Ok(allowed) => make(turn, request, &filed, grant, allowed),
        Err(why) => refuse(turn, request, &why, Some(&filed)),
    }
}

fn may_give(turn: &Turn<'_>, request: &Request, filed: &Filed, new: &Grant) -> Result<Allowed, Box<Refusal>> {
    decision::refuse_unsettled(turn.env.standing)?;
    let allowed = approval::may_be_given(filed, &request.signal.asker(), &turn.env)?;
    let beside = |grant: &Grant| grant.room == new.room && !grant.is_for_the_same(new);
    let live = turn.env.ledger.grants().filter(|(id, grant)| beside(grant) && is_live(turn, id, grant));
    if live.count() >= ROOM_MAX {
        return Err(refusal(Code::BudgetExceeded, "so much is allowed in this room already; `grants` lists it"));
    }
    if filed.state() != PlanState::Pending {
        return Ok(allowed);
    }
    let ask = Ask { plan: filed.id().clone(), digest: None, verb: Verb::Approve, reason: String::new() };
    decision::unhindered(turn, &ask, allowed)
}

fn make(turn: &mut Turn<'_>, mut request: Request, filed: &Filed, grant: Grant, allowed: Allowed) {
    let id = GrantId::from_random(turn.now.seed);
    let pending = filed.state() == PlanState::Pending;
    let same = for_the_same(turn, &grant);
    let replaced: Vec<&GrantId> = same.iter().filter(|(id, old)| is_live(turn, id, old)).map(|(id, _)| *id).collect();
    let blocks = say::grants::given(&id, &grant, &replaced, pending);
    if !turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks) {
        // What cannot be shown whole cannot be allowed.
        return turn.finish(request, Ending::Answered);
    }
    // One permission for one thing, so that taking it back is enough.
    for (old, was) in same {
        take_out(turn, &request, if replaced.contains(&old) { "grant_replaced" } else { "grant_ended" }, (old, was));
    }
    record(turn, &request, "granted", (&id, &grant), Some(filed));
    keep(turn, id, Some(grant));
    if !pending {
        return turn.finish(request, Ending::Answered);
    }
    let decided = decided(turn, &request, request.signal.actor.clone(), allowed);
    let detail = say::plans::decision_record(Verb::Approve, &decided, filed.frozen.plan());
    let vote = decision::vote(turn, &request, allowed);
    turn.shift(&request, filed.id(), PlanState::Approved, &detail, |standing| {
        // Who countersigned before and now allows it has one vote.
        if standing.votes.iter().all(|before| before.person != vote.person) {
            standing.votes.push(vote);
        }
        standing.decided = Some(decided);
    });
    carry::begin(turn, request, filed.id());
}

/// Exactly as wide as the plan, and not a bit wider.
fn as_wide_as(turn: &Turn<'_>, request: &Request, filed: &Filed, extent: Extent) -> Grant {
    let plan = filed.frozen.plan();
    let platform = &plan.thread.platform;
    let somebody =
        |actor: &Actor| Somebody { person: turn.env.rights.person(platform, actor), display: actor.display.clone() };
    let giver = &request.signal.actor;
    Grant {
        tool: plan.tool.clone(),
        action: plan.action.clone(),
        target: plan.target.clone(),
        args: plan.args.clone(),
        shown: approval::shown(plan),
        risk: plan.risk,
        room: room_of(request),
        person: somebody(&plan.requester),
        by: (Account { platform: platform.clone(), id: giver.id.clone() }, somebody(giver)),
        plan: plan.id.clone(),
        title: plan.title.clone(),
        given_at: turn.now.wall,
        expires_at: Wall(turn.now.wall.0.saturating_add(extent.lifetime_ms)),
        uses_max: extent.uses,
        uses: 0,
    }
}

/// `grants`: the live ones of this room, or of everywhere for who may administer.
pub(super) fn list(turn: &mut Turn<'_>, mut request: Request) {
    let everywhere = turn.env.rights.may(&request.signal.asker(), &Right::Administer);
    let room = room_of(&request);
    let is_shown = |grant: &Grant| everywhere || grant.room == room;
    take_out_ended(turn, &request, is_shown);
    let live = turn.env.ledger.grants().filter(|(id, grant)| is_shown(grant) && is_live(turn, id, grant));
    let unused = |grant: &Grant| {
        let labels = turn.state.resolved.labels(&grant.target);
        // How another room is set up is known where it speaks.
        let here = grant.room == room;
        here.then(|| approval::not_used_now(grant, &request.signal, labels, &turn.env)).flatten()
    };
    let live = live.map(|(id, grant)| (id, grant, unused(grant))).collect();
    let blocks = say::grants::list(live, everywhere, turn.env.mask);
    turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
}

/// `revoke ID`: by who gave it, by who it was given to, or by who may give one here.
pub(super) fn revoke(turn: &mut Turn<'_>, mut request: Request, route: &Route) {
    let Some(id) = GrantId::parse(said(route, "grant")) else {
        turn.say(&mut request, Mark::Question, Claim::Nothing, say::grants::say_what_to_revoke());
        return turn.finish(request, Ending::Answered);
    };
    let Some(grant) = turn.env.ledger.grant(&id).cloned() else {
        return refuse(turn, request, &refusal(Code::NotFound, "nothing is allowed under this id"), None);
    };
    let asker = request.signal.asker();
    let person = turn.env.rights.person(&asker.thread.platform, asker.actor);
    let is_party = [&grant.by.1.person, &grant.person.person].contains(&&person);
    let may = asker.actor.kind == ActorKind::Human && (is_party || turn.env.rights.may(&asker, &Right::Grant));
    if !may {
        return refuse(turn, request, &refusal(Code::Forbidden, "you may not take this back"), None);
    }
    for same in for_the_same(turn, &grant) {
        take_out(turn, &request, "revoked", same);
    }
    turn.say(&mut request, Mark::Plain, Claim::Nothing, say::grants::revoked(&grant));
    turn.finish(request, Ending::Answered);
}

/// What lets this plan be carried out without a card, where something does. What a restart took up again is always asked
/// for: nobody knows how far it had come.
pub(super) fn permit(turn: &Turn<'_>, request: &Request, filed: &Filed) -> Option<Permit> {
    let plan = filed.frozen.plan();
    if request.again {
        return None;
    }
    if approval::may_act_alone(plan, &turn.state.resolved.labels(&plan.target), &turn.env) {
        return Some(Permit::Level);
    }
    // The person who linked the account could otherwise use a permission that another person has.
    if turn.env.rights.linked_by_another(&plan.thread.platform, &plan.requester).is_some() {
        return None;
    }
    let covering =
        |(id, grant): &(&GrantId, &Grant)| approval::covers(grant, plan, &turn.env) && is_live(turn, id, grant);
    let allowed = |(id, grant): (&GrantId, &Grant)| {
        let allowed = approval::allowed_now(grant, filed, &turn.env)?;
        Some(Permit::Grant(id.clone(), Box::new(grant.clone()), allowed))
    };
    turn.env.ledger.grants().filter(covering).find_map(allowed)
}

/// Takes grants out of the ledger that have no time or no uses left, once they would have been used or listed.
pub(super) fn take_out_ended(turn: &mut Turn<'_>, request: &Request, is_meant: impl Fn(&Grant) -> bool) {
    let ledger = turn.env.ledger;
    for (id, grant) in ledger.grants().filter(|(_, grant)| is_meant(grant)) {
        if !is_live(turn, id, grant) {
            take_out(turn, request, "grant_ended", (id, grant));
        }
    }
}

/// Every permission for exactly the same thing, place and person.
fn for_the_same<'a>(turn: &Turn<'a>, grant: &Grant) -> Vec<(&'a GrantId, &'a Grant)> {
    turn.env.ledger.grants().filter(|(_, other)| other.is_for_the_same(grant)).collect()
}

fn take_out(turn: &mut Turn<'_>, request: &Request, what: &'static str, of: (&GrantId, &Grant)) {
    record(turn, request, what, of, None);
    keep(turn, of.0.clone(), None);
}

/// A plan has ended otherwise than verified as expected: what was allowed with the same word goes with it, in the same
/// step, because nobody has seen it work.
pub(super) fn fall_with(turn: &mut Turn<'_>, request: &Request, filed: &Filed) {
    if !ended_in_vain(filed) {
        return;
    }
    // Given in this very step: it is never stored.
    let mut fallen = Vec::new();
    turn.effects.retain(|effect| match given_with(effect, filed.id()) {
        Some(given) => {
            fallen.push(given);
            false
        }
        None => true,
    });
    for (id, grant) in fallen {
        record(turn, request, FELL, (&id, &grant), Some(filed));
    }
    let ledger = turn.env.ledger;
    for of in ledger.grants().filter(|(_, grant)| grant.plan == *filed.id()) {
        take_out(turn, request, FELL, of);
    }
}

/// What the record calls it.
const FELL: &str = "grant_fell";

/// Whether a permission fell in this step.
pub(super) fn has_fallen(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Audit(row) if row.what == FELL))
}

fn given_with(effect: &Effect, plan: &PlanId) -> Option<(GrantId, Grant)> {
    let Effect::Keep(change) = effect else { return None };
    match (&change.key, &change.to) {
        (Key::Grant(id), Some(Record::Grant(grant))) if grant.plan == *plan => Some((id.clone(), Grant::clone(grant))),
        _ => None,
    }
}

fn ended_in_vain(filed: &Filed) -> bool {
    match filed.state() {
        PlanState::Pending
        | PlanState::Approved
        | PlanState::Executing
        | PlanState::Unverified
        | PlanState::Unknown => false,
        PlanState::Verified(outcome) => !approval::is_success(filed.frozen.plan(), outcome),
        PlanState::Denied | PlanState::Expired | PlanState::Cancelled | PlanState::Refused(_) | PlanState::Failed => {
            true
        }
    }
}

/// A plan that was just filed is approved at once. The use is counted in the same step: where somebody else was faster,
/// nothing of it happens, and the plan is asked for.
pub(super) fn go_ahead(turn: &mut Turn<'_>, request: Request, filed: &Filed, permit: Permit) {
    let title = &filed.frozen.plan().title;
    let (decided, detail) = match permit {
        Permit::Grant(id, grant, allowed) => {
            let (account, giver) = &grant.by;
            let by = Actor { id: account.id.clone(), kind: ActorKind::Human, display: giver.display.clone() };
            let decided = Decided { unasked: Some(Unasked::Grant(id.clone())), ..decided(turn, &request, by, allowed) };
            let uses = grant.uses.saturating_add(1);
            let detail = say::grants::use_record(&id, &grant, uses);
            keep(turn, id, Some(Grant { uses, ..*grant }));
            (decided, detail)
        }
        Permit::Level => {
            let by = request.signal.actor.clone();
            let allowed = decided(turn, &request, by, Allowed::default());
            (Decided { unasked: Some(Unasked::Level), ..allowed }, format!("by the room's control level: {title}"))
        }
    };
    turn.count(
        "unasked_total",
        &[("by", if matches!(decided.unasked, Some(Unasked::Level)) { "level" } else { "grant" })],
    );
    turn.shift(&request, filed.id(), PlanState::Approved, &detail, |standing| standing.decided = Some(decided));
    carry::begin(turn, request, filed.id());
}

fn decided(turn: &Turn<'_>, request: &Request, by: Actor, allowed: Allowed) -> Decided {
    Decided {
        platform: request.signal.thread.platform.clone(),
        by,
        signal: request.signal.id.clone(),
        at: turn.now.wall,
        waiver: allowed.waiver,
        unsealed: allowed.unsealed,
        reason: String::new(),
        unasked: None,
    }
}

fn is_live(turn: &Turn<'_>, id: &GrantId, grant: &Grant) -> bool {
    approval::is_live(id, grant, &turn.env, turn.now)
}

fn room_of(request: &Request) -> (crate::signal::Platform, crate::signal::ConversationId) {
    let thread = &request.signal.thread;
    (thread.platform.clone(), thread.conversation.clone())
}

fn keep(turn: &mut Turn<'_>, id: GrantId, grant: Option<Grant>) {
    let to = grant.map(|grant| Record::Grant(Box::new(grant)));
    let change = turn.env.ledger.put(Key::Grant(id), to);
    turn.effects.push(Effect::Keep(Box::new(change)));
}

fn record(turn: &mut Turn<'_>, request: &Request, what: &'static str, of: (&GrantId, &Grant), plan: Option<&Filed>) {
    let (call, target) = (format!("{}.{}", of.1.tool, of.1.action), of.1.target.to_string());
    let detail = say::grants::record(of.0, of.1);
    let about = AuditAbout { call: &call, target: Some(&target), detail: &detail, plan, ..AuditAbout::default() };
    turn.audit(what, &request.signal, about);
    turn.count("grants_total", &[("became", what)]);
}

fn said<'a>(route: &'a Route, name: &str) -> &'a str {
    route.args.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn refuse(turn: &mut Turn<'_>, mut request: Request, refusal: &Refusal, plan: Option<&Filed>) {
    turn.note_refusal(&request, refusal, plan);
    turn.say(&mut request, Mark::Refused, Claim::Nothing, say::refused(refusal, turn.env.mask));
    turn.finish(request, Ending::Answered);
}

fn refusal(code: Code, message: &str) -> Box<Refusal> {
    Box::new(Refusal { gate: "grant", code, message: message.to_owned(), details: Details::default() })
}
