//! The one function that may decide a plan (DESIGN.md section 4): it looks at who clicked, what they may do now, and where
//! the plan stands. It changes nothing, so that a refused click leaves the plan as it was.

use super::{Digest, Filed, Outcome, Plan, PlanId, PlanState, Risk, is_success};
use crate::envelope::Code;
use crate::gate::Refusal;
use crate::port::{Asker, Right, Rights};
use crate::signal::{Actor, ActorKind};

/// What somebody wants done with a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// To countersign it.
    Approve,
    /// To say no.
    Deny,
    /// To take it back.
    Cancel,
}

impl Verb {
    /// The word for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Cancel => "cancel",
        }
    }
}

/// A decision as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Which plan, by its full id.
    pub plan: PlanId,
    /// The digest that the click carried, where it carried one.
    pub digest: Option<Digest>,
    /// What.
    pub verb: Verb,
    /// Why; may be empty.
    pub reason: String,
}

/// A decision that may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The requester decides alone, by a policy that allows it.
    pub waiver: bool,
}

/// Judges one decision. A plan whose time is over has been moved to EXPIRED
/// before. The actor is the one of the click, with the
/// rights they hold now; nobody else's rights count (invariant 4).
pub fn judge(ask: &Ask, filed: &Filed, asker: &Asker<'_>, rights: &dyn Rights) -> Result<Allowed, Box<Refusal>> {
    let plan = filed.frozen.plan();
    if asker.actor.kind != ActorKind::Human {
        return Err(refuse(Code::Forbidden, "only a person with an account of their own decides".to_owned()));
    }
    if *asker.thread != plan.thread {
        return Err(refuse(Code::Forbidden, "this plan is decided in the thread that asked for it".to_owned()));
    }
    if ask.digest.as_ref().is_some_and(|digest| digest != filed.frozen.digest()) {
        return Err(refuse(Code::PolicyBlocked, "that decision is about another version of this plan".to_owned()));
    }
    let person = |actor: &Actor| rights.person(&plan.thread.platform, actor);
    let is_requester = person(asker.actor) == person(&plan.requester);
    let right = Right::Decide { risk: plan.risk, on: plan.target.clone(), is_requester };
    let may_decide = rights.may(asker, &right);
    let may = may_decide || (ask.verb == Verb::Cancel && is_requester);
    if !may {
        return Err(refuse(Code::Forbidden, format!("you may not {} this plan", ask.verb.as_str())));
    }
    // Only after the right: a stranger does not learn what became of a plan.
    let stands =
        filed.state() == PlanState::Pending || (ask.verb == Verb::Cancel && filed.state() == PlanState::Approved);
    if !stands {
        return Err(refuse(Code::FsmBlocked, already(filed)));
    }
    let four_eyes = ask.verb == Verb::Approve && is_requester && plan.risk >= Risk::Medium;
    if four_eyes && !(plan.alone && rights.may_decide_alone(asker, plan.risk)) {
        let message = "somebody else has to countersign what you asked for yourself".to_owned();
        return Err(refuse(Code::Forbidden, message));
    }
    Ok(Allowed { waiver: four_eyes })
}

/// What became of a plan that cannot be decided any more: the outcome itself, because a late click must not make a failure
/// look like a success.
fn already(filed: &Filed) -> String {
    let plan = filed.frozen.plan();
    match filed.state() {
        PlanState::Executing => "this plan is being carried out already".to_owned(),
        PlanState::Unverified => "this plan was carried out already, and is not verified yet".to_owned(),
        PlanState::Unknown => "this plan was begun already, and whether it was done is not known yet".to_owned(),
        PlanState::Verified(outcome) if is_success(plan, outcome) => {
            "this plan was carried out already: done and verified".to_owned()
        }
        PlanState::Verified(outcome) => {
            format!("this plan was carried out already, and not as planned: {}", not_as_planned(plan, outcome))
        }
        PlanState::Refused(code) => format!("this plan was refused already ({code}); nothing was changed"),
        PlanState::Failed => "this plan failed already; nothing was changed".to_owned(),
        PlanState::Pending | PlanState::Approved | PlanState::Denied | PlanState::Expired | PlanState::Cancelled => {
            format!("this plan is {} already", filed.state().as_str())
        }
    }
}

fn not_as_planned(plan: &Plan, outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Differs if plan.expect.absent => "a fresh read showed it still there",
        Outcome::AsExpected | Outcome::Differs => "a fresh read showed something else than was expected",
        Outcome::Absent => "a fresh read showed that it was not there",
    }
}

fn refuse(code: Code, message: String) -> Box<Refusal> {
    Box::new(Refusal { gate: "decision", code, message, details: crate::envelope::Details::default() })
}
