//! What may be allowed beforehand: on which plan a standing permission may be given and by whom, which later plan it
//! covers, and what a room's control level lets be done alone. Pure, and it changes nothing. Everything it lets pass meets
//! every other gate as always.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::{
    Allowed, Ask, Digest, Expectation, Filed, Frozen, Plan, PlanState, Risk, Standing, Terms, Unasked, Verb,
    is_success, judge, risk_of,
};
use crate::env::Env;
use crate::envelope::{Code, Details};
use crate::gate::{Refusal, is_own_target};
use crate::ledger::{Grant, GrantId};
use crate::port::{Asker, Right, TermsAbout};
use crate::resource::ResourceId;
use crate::signal::{Actor, ActorId, ActorKind, Assurance, Now, Signal};
use crate::tool::ArgKind;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// The longest time of a permission: what nobody looked at for a month is not wanted any more.
const LIFETIME_MS_MAX: i64 = 30 * DAY_MS;

/// The most uses of a permission.
const USES_MAX: u32 = 100;

/// For how long and how often a permission holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// For how long, in milliseconds.
    pub lifetime_ms: i64,
    /// How often.
    pub uses: u32,
}

impl Default for Extent {
    fn default() -> Self {
        Self { lifetime_ms: 8 * HOUR_MS, uses: 10 }
    }
}

impl Extent {
    /// How they are written.
    pub const FORM: &'static str = "`for 8 hours` (at most 30 days) and `10 times` (at most 100)";

    /// Reads `for 2 days 5 times`, in any order, each part once; what is left out is the default. None where it is
    /// something else, or too much.
    pub fn read(words: &str) -> Option<Self> {
        let words = words.to_lowercase().replace(',', " ");
        let words: Vec<&str> = words.split_whitespace().filter(|word| *word != "and").collect();
        let (mut lifetime_ms, mut uses, mut rest) = (None, None, words.as_slice());
        loop {
            rest = match rest {
                [] => break,
                ["for", number, unit, rest @ ..] if lifetime_ms.is_none() => {
                    lifetime_ms = Some(duration(number, unit)?);
                    rest
                }
                [number, "times" | "time", rest @ ..] if uses.is_none() => {
                    uses = Some(number.parse().ok().filter(|uses| (1..=USES_MAX).contains(uses))?);
                    rest
                }
                _ => return None,
            };
        }
        let default = Self::default();
        Some(Self { lifetime_ms: lifetime_ms.unwrap_or(default.lifetime_ms), uses: uses.unwrap_or(default.uses) })
    }
}

fn duration(number: &str, unit: &str) -> Option<i64> {
    let unit_ms = match unit {
        "minute" | "minutes" => MINUTE_MS,
        "hour" | "hours" => HOUR_MS,
        "day" | "days" => DAY_MS,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit_ms).filter(|ms| (1..=LIFETIME_MS_MAX).contains(ms))
}

/// Whether this person may allow beforehand what this plan does, now and from here. Where the plan is still pending they
/// may countersign it, too.
pub fn may_be_given(filed: &Filed, asker: &Asker<'_>, env: &Env<'_>) -> Result<Allowed, Box<Refusal>> {
    let plan = filed.frozen.plan();
    // The roles of their platform cannot be asked for at each use, so that they do not count for this.
    let own = Asker { platform_roles: &[], ..*asker };
    if !env.rights.may(&own, &Right::Grant) {
        return Err(refuse(Code::Forbidden, "you may not allow anything beforehand here"));
    }
    let allowed = may_countersign(plan, filed, &own, env)?;
    if let Some(why) = never(plan, env) {
        return Err(refuse(Code::PolicyBlocked, why));
    }
    if plan.expect.absent {
        return Err(refuse(Code::PolicyBlocked, "what is gone afterwards cannot be done again"));
    }
    match filed.state() {
        PlanState::Pending => Ok(allowed),
        PlanState::Verified(outcome) if is_success(plan, outcome) => Ok(allowed),
        PlanState::Approved
        | PlanState::Executing
        | PlanState::Unverified
        | PlanState::Unknown
        | PlanState::Verified(_)
        | PlanState::Denied
        | PlanState::Expired
        | PlanState::Cancelled
        | PlanState::Refused(_)
        | PlanState::Failed => {
            let message = "only what waits, or what was done and verified as expected, can be allowed beforehand";
            Err(refuse(Code::FsmBlocked, message))
        }
    }
}

/// Whether a grant is for exactly this: the same change of the same thing with the same arguments, asked for by the same
/// person in the same room. Whether it is live is another question.
pub fn covers(grant: &Grant, plan: &Plan, env: &Env<'_>) -> bool {
    let person = env.rights.person(&plan.thread.platform, &plan.requester);
    let same_change = (&grant.tool, &grant.action, &grant.target, &grant.args)
        == (&plan.tool, &plan.action, &plan.target, &plan.args);
    let same_room = (&grant.room.0, &grant.room.1) == (&plan.thread.platform, &plan.thread.conversation);
    // The same words can change something else by now: what a card would show line by line must be what was shown.
    let same_sight = (&grant.title, &grant.shown) == (&plan.title, &shown(plan));
    same_change && same_sight && same_room && grant.person.person == person && plan.risk <= grant.risk
}

/// The digest of what a plan shows line by line.
pub fn shown(plan: &Plan) -> Option<Digest> {
    plan.preview.as_ref().map(|preview| Digest::of(preview.as_bytes()))
}

/// Whether a grant has time and uses left.
pub fn is_live(id: &GrantId, grant: &Grant, env: &Env<'_>, now: Now) -> bool {
    grant.uses_left() > 0 && !env.ledger.is_over(id, now)
}

/// Whether its giver would have the same say now: still the same person, with the right to give it, and with the right to
/// countersign this very plan.
pub fn allowed_now(grant: &Grant, filed: &Filed, env: &Env<'_>) -> Option<Allowed> {
    never(filed.frozen.plan(), env).is_none().then(|| judged_now(grant, filed, env).ok()).flatten()
}

fn judged_now(grant: &Grant, filed: &Filed, env: &Env<'_>) -> Result<Allowed, String> {
    let plan = filed.frozen.plan();
    let (account, giver) = &grant.by;
    let actor = Actor { id: account.id.clone(), kind: ActorKind::Human, display: giver.display.clone() };
    // No permission is for high risk, so that it takes no more than who gave it.
    let assurance = Assurance::Unsealed;
    let asker = Asker { actor: &actor, platform_roles: &[], assurance, thread: &plan.thread, room: plan.room };
    let is_same = env.rights.person(&account.platform, &actor) == giver.person && env.rights.may(&asker, &Right::Grant);
    if !is_same {
        return Err("who gave it may not allow it now".to_owned());
    }
    may_countersign(plan, filed, &asker, env).map_err(|refusal| {
        let more = refusal.code == Code::PolicyBlocked;
        if more { refusal.message } else { "who gave it may not countersign it alone now".to_owned() }
    })
}

/// Why a grant of the room of this signal would not be used now, as far as that can be told before there is a plan: a
/// sentence's part. `labels` is what was found on its target.
pub fn not_used_now(grant: &Grant, asked: &Signal, labels: Vec<String>, env: &Env<'_>) -> Option<String> {
    let spec = env.registry.action(&grant.tool, &grant.action);
    let Some((spec, change)) = spec.and_then(|spec| Some((spec, spec.change.as_ref()?))) else {
        return Some("it is not declared any more".to_owned());
    };
    let (risk, _) = risk_of(change.risk, (spec, &grant.target, &grant.args), env);
    if let Some(why) = never_done(&grant.tool, &grant.action, &grant.target, risk, env) {
        return Some(why.to_owned());
    }
    if risk > grant.risk {
        return Some(format!("its risk is {} by now", risk.as_str()));
    }
    let filed = Filed { frozen: Frozen::freeze(imagined(grant, asked, risk, labels)), standing: Standing::new() };
    judged_now(grant, &filed, env).err()
}

/// The plan that would be made if it were asked for now, as far as its giver's say depends on it.
fn imagined(grant: &Grant, asked: &Signal, risk: Risk, labels: Vec<String>) -> Plan {
    let (account, giver) = &grant.by;
    // Which account they would ask from is not known. What matters here is only whether it is the giver's own, or else
    // somebody's; and of a service nobody asks whose it is.
    let (id, kind) = if grant.person.person == giver.person {
        (account.id.clone(), ActorKind::Human)
    } else {
        (ActorId::new(grant.person.person.clone()), ActorKind::Service)
    };
    Plan {
        form: 0,
        id: grant.plan.clone(),
        thread: asked.thread.clone(),
        signal: asked.id.clone(),
        event: None,
        requester: Actor { id, kind, display: grant.person.display.clone() },
        requester_person: grant.person.person.clone(),
        requester_roles: Vec::new(),
        room: asked.room,
        tool: grant.tool.clone(),
        action: grant.action.clone(),
        target: grant.target.clone(),
        target_name: String::new(),
        environment: None,
        deciders: None,
        target_about: String::new(),
        labels,
        args: grant.args.clone(),
        title: grant.title.clone(),
        because: String::new(),
        risk,
        risk_because: None,
        tainted: false,
        before: BTreeMap::new(),
        expect: Expectation::default(),
        preview: None,
        limit_ms: 0,
        alone: true,
        terms: Terms::default(),
        requested_at: grant.given_at,
        expires_at: grant.expires_at,
    }
}

/// Whether the control level of its room lets this plan's requester do it alone, with the rights they hold now. `labels`
/// is what was found on its target.
pub fn may_act_alone(plan: &Plan, labels: &[String], env: &Env<'_>) -> bool {
    let (target, call) = (&plan.target, plan.call());
    let terms = env.rights.terms(&TermsAbout { risk: plan.risk, target, labels, tool: &call }).and(&plan.terms);
    // Where somebody in particular has to countersign, or more than one, a control level does not do it for them.
    let takes_anybody = terms.quorum == NonZeroU32::MIN && terms.circles.is_empty();
    plan.risk == Risk::Low
        && takes_anybody
        && never(plan, env).is_none()
        && env.rights.acts_alone(&plan.asker(), &call, (target, labels), plan.risk)
}

/// Whether what let a plan pass without a countersignature still does, when it is carried out.
pub(crate) fn still_unasked(filed: &Filed, unasked: &Unasked, labels: &[String], env: &Env<'_>, now: Now) -> bool {
    match unasked {
        Unasked::Grant(id) => env
            .ledger
            .grant(id)
            .is_some_and(|grant| !env.ledger.is_over(id, now) && allowed_now(grant, filed, env).is_some()),
        Unasked::Level => may_act_alone(filed.frozen.plan(), labels, env),
    }
}

/// The judge of decisions, about the plan as if it were pending: a permission is a countersignature given beforehand. It
/// must be enough by itself: where others have to countersign as well, it would wear the quorum down.
fn may_countersign(plan: &Plan, filed: &Filed, asker: &Asker<'_>, env: &Env<'_>) -> Result<Allowed, Box<Refusal>> {
    let ask = Ask { plan: plan.id.clone(), digest: None, verb: Verb::Approve, reason: String::new() };
    let waiting = Filed { frozen: filed.frozen.clone(), standing: Standing::new() };
    let allowed = judge(&ask, &waiting, asker, env.rights)?;
    if allowed.missing > 0 {
        return Err(refuse(Code::PolicyBlocked, "what needs more than one countersignature is asked for each time"));
    }
    Ok(allowed)
}

/// What is never allowed beforehand, whoever says so: a sentence.
fn never(plan: &Plan, env: &Env<'_>) -> Option<&'static str> {
    never_done(&plan.tool, &plan.action, &plan.target, plan.risk, env).or(if plan.tainted {
        Some("what was proposed after reading text that nobody vouches for is asked for each time")
    } else if plan.requester.kind != ActorKind::Human {
        Some("only what a person asks for can be allowed beforehand")
    } else {
        None
    })
}

/// What of it depends on what is done, whoever asks.
fn never_done(tool: &str, action: &str, target: &ResourceId, risk: Risk, env: &Env<'_>) -> Option<&'static str> {
    let spec = env.registry.action(tool, action);
    let is_free_form = spec.is_none_or(|spec| spec.args.values().any(|arg| arg.kind == ArgKind::Command));
    if risk == Risk::High {
        Some("a change of high risk is asked for each time")
    } else if is_free_form {
        Some("a command line is asked for each time")
    } else if is_own_target(target, env.own) {
        Some("the bot does not change itself")
    } else {
        None
    }
}

fn refuse(code: Code, message: &str) -> Box<Refusal> {
    Box::new(Refusal { gate: "grant", code, message: message.to_owned(), details: Details::default() })
}
