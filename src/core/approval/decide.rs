//! The one function that may decide a plan (DESIGN.md section 4): it looks at who clicked, what they may do now, and where
//! the plan stands. It changes nothing, so that a refused click leaves the plan as it was.

use super::vote::{Electorate, NoFurther, Outsider};
use super::{Digest, Filed, Outcome, Plan, PlanId, PlanState, Told, is_success, told};
use crate::envelope::Code;
use crate::gate::Refusal;
use crate::port::{Asker, Rights};
use crate::signal::{Actor, ActorKind, Platform};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// The requester countersigns, by a policy that allows it.
    pub waiver: bool,
    /// It is of high risk and came by what a server could have made up, by a policy that allows it.
    pub unsealed: bool,
    /// How many more people have to countersign after this one.
    pub missing: u32,
}

/// Judges one decision. A plan whose time is over has been moved to EXPIRED before. The actor is the one of the click, with
/// the rights they hold now; nobody else's rights count (invariant 4).
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
    let electorate = Electorate::of(filed, rights);
    let takes_own_back = ask.verb == Verb::Cancel && electorate.is_requester(asker);
    match electorate.judge(asker) {
        Err(outsider) if !takes_own_back => return Err(refuse(Code::Forbidden, not_yours(ask.verb, &outsider))),
        Ok(()) | Err(_) => {}
    }
    // Only after the right: a stranger does not learn what became of a plan.
    let stands =
        filed.state() == PlanState::Pending || (ask.verb == Verb::Cancel && filed.state() == PlanState::Approved);
    if !stands {
        return Err(refuse(Code::FsmBlocked, already(filed)));
    }
    match ask.verb {
        Verb::Approve => countersign(&electorate, asker),
        Verb::Deny | Verb::Cancel => Ok(Allowed::default()),
    }
}

/// One more person countersigns: nobody twice, by whatever account, and not what they asked for themselves unless policy
/// lets them.
fn countersign(electorate: &Electorate<'_>, asker: &Asker<'_>) -> Result<Allowed, Box<Refusal>> {
    if electorate.has_voted(asker) {
        let message = "you have countersigned this plan already, and somebody else has to as well".to_owned();
        return Err(refuse(Code::FsmBlocked, message));
    }
    let waiver = electorate.may_waive(asker);
    if electorate.needs_others(asker) && !waiver {
        let message = "somebody else has to countersign what you asked for yourself".to_owned();
        return Err(refuse(Code::Forbidden, message));
    }
    if electorate.may_be_one_person(asker) {
        return Err(refuse(Code::Forbidden, WHOSE_ACCOUNT_IS_THIS.to_owned()));
    }
    if let Some(why) = electorate.no_further_person(asker) {
        return Err(refuse(Code::Forbidden, only_one_person(&why)));
    }
    if electorate.needs_a_seal(asker) && !electorate.may_unsealed(asker) {
        return Err(refuse(Code::Forbidden, TAKES_A_SEAL.to_owned()));
    }
    Ok(Allowed { waiver, unsealed: electorate.needs_a_seal(asker), missing: electorate.missing_after(asker) })
}

/// Said where the server that a high-risk approval came over could have made it up.
const TAKES_A_SEAL: &str = "this plan is of high risk: a reaction, or a message that no verified device has encrypted, could be made \
     up by the server; write `approve` and the plan's full id in this thread, from a device that I have verified. To have yours \
     verified, open my profile in your client and choose Verify: whoever runs me reads you the code from my log";

fn not_yours(verb: Verb, outsider: &Outsider) -> String {
    let verb = verb.as_str();
    match outsider {
        Outsider::NoRight => format!("you may not {verb} this plan"),
        Outsider::Not(group) => format!("you may not {verb} this plan; it takes somebody of group {group}"),
    }
}

fn only_one_person(why: &NoFurther) -> String {
    match why {
        NoFurther::LinkedBy(name) => format!(
            "this account was linked by {name}, who has a part in this plan already, so that it does not count as another person"
        ),
        NoFurther::New(name) => format!(
            "this account was linked by {name} less than a day before this plan, so that it does not count as another person yet"
        ),
        NoFurther::Gone(name) => format!(
            "an account in this plan was linked by {name}, whom the access file no longer calls so: unlink it, and link it again"
        ),
        NoFurther::Linked => {
            "you linked an account that has a part in this plan already, so that you do not count as another \
                              person"
                .to_owned()
        }
    }
}

/// Said where a change needs two people and the account that asks for it is nobody's.
pub const WHOSE_ACCOUNT_IS_THIS: &str = "four eyes need two people, and I do not know whose account this was asked from: it may be a second one of whoever \
     countersigns";

/// Whether an account is known to be a person's or a service's. One that is nobody's, or is so no longer, may be a second
/// account of anybody: what was asked from it can have no second pair of eyes.
pub fn is_somebody(rights: &dyn Rights, platform: &Platform, actor: &Actor) -> bool {
    actor.kind == ActorKind::Service || rights.person(platform, actor) != format!("{platform}:{}", actor.id)
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
            let told = told(filed);
            let word = told.map_or_else(|| filed.state().as_str(), Told::word);
            let why = told.and_then(Told::why).map(|why| format!(": {}", lower(why))).unwrap_or_default();
            format!("this plan is {word} already{why}")
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

/// The beginning of a sentence, to stand within one.
fn lower(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect()
}

fn refuse(code: Code, message: String) -> Box<Refusal> {
    Box::new(Refusal { gate: "decision", code, message, details: crate::envelope::Details::default() })
}
