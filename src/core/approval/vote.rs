//! Votes: who has countersigned a plan, and how many of them count now. A vote is never changed or taken away; whether it
//! counts is judged anew at each click, by the rights that its person then has. Nothing is decided here.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::decide::is_somebody;
use super::{Filed, Plan, Risk, Terms};
use crate::ledger::{Account, Ledger, Link};
use crate::port::{Asker, Right, Rights, TermsAbout};
use crate::signal::{Actor, ActorKind, Assurance, ConversationKind, Platform, SignalId, ThreadKey, Wall};

/// One countersignature (AC-26).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// Which platform the actor's id belongs to.
    pub platform: Platform,
    /// The account, by immutable id.
    pub by: Actor,
    /// Whose account that was then.
    pub person: String,
    /// The roles that they had on their platform then, by immutable id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// How far it was known that it was they.
    #[serde(default, skip_serializing_if = "Assurance::is_the_platforms")]
    pub assurance: Assurance,
    /// What kind of room it was given in.
    pub room: ConversationKind,
    /// The click or message.
    pub signal: SignalId,
    /// When.
    pub at: Wall,
    /// Whether it is the requester's own, by a policy that allows it.
    pub waiver: bool,
    /// Whether it is for high risk and came by what a server could have made up, by a policy that allows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsealed: bool,
}

/// Whether those who have countersigned a plan are still enough where this was found on its target since: what is found may
/// take more people, or others, than the card said.
pub fn is_still_enough(filed: &Filed, found: &[String], rights: &dyn Rights) -> bool {
    let electorate = Electorate::with(filed, found, rights);
    let people: BTreeSet<String> = electorate.counted().into_iter().collect();
    u32::try_from(people.len()).unwrap_or(u32::MAX) >= electorate.terms.quorum.get()
}

/// Returns the linked accounts that do not count as a further person for a plan: an account that the requester or a voter linked,
/// or that another person linked within the last day. An account that could not decide the plan anyway is left out.
pub fn no_further_accounts<'l>(ledger: &'l Ledger, filed: &Filed, rights: &dyn Rights) -> Vec<(&'l Account, &'l Link)> {
    let electorate = Electorate::of(filed, rights);
    if !electorate.takes_others() {
        return Vec::new();
    }
    let part: BTreeSet<String> = electorate.requesters().into_iter().chain(electorate.voters()).collect();
    let is_no_further = |link: &Link| {
        let others: Vec<&str> = link.others().collect();
        let is_gone = |by: &&str| !rights.knows_person(by);
        !others.is_empty()
            && (electorate.is_too_new(link) || others.iter().any(|by| part.contains(*by)) || others.iter().any(is_gone))
    };
    let could_decide = |account: &Account| {
        let thread = ThreadKey { platform: account.platform.clone(), ..filed.frozen.plan().thread.clone() };
        let actor = Actor { id: account.id.clone(), kind: ActorKind::Human, display: String::new() };
        electorate.judge(&Asker::at(&actor, &thread)).is_ok()
    };
    ledger.links().filter(|(account, link)| is_no_further(link) && could_decide(account)).collect()
}

/// Who may decide one plan at this moment: by the rights as they are now, and by the stricter of the terms that the plan
/// was frozen with and those that hold now.
pub(super) struct Electorate<'a> {
    filed: &'a Filed,
    rights: &'a dyn Rights,
    terms: Terms,
    labels: Vec<String>,
}

/// How long before a request an account must have been linked by somebody else, in milliseconds: a day, in which its person
/// can notice.
const KNOWN_AFTER_MS: i64 = 24 * 60 * 60 * 1000;

/// Why an account is no further person's.
pub(super) enum NoFurther {
    /// Whoever linked it has a part in the plan.
    LinkedBy(String),
    /// They linked it a short time ago.
    New(String),
    /// Its person linked the account that somebody else's part was taken with.
    Linked,
    /// A person whom the access file no longer names by this name linked it, or an account that has a part in the plan: that may be
    /// anybody.
    Gone(String),
}

/// Why somebody may not decide.
pub(super) enum Outsider {
    /// They have no right to.
    NoRight,
    /// They would have to be in this group.
    Not(String),
}

/// Whether the requester of a plan could countersign it as soon as it is filed, though they asked for it themselves: by the
/// waiver, by the right to decide it, and by being in every group that it takes. Only then may its card say so.
pub fn may_waive_from_the_start(plan: &Plan, rights: &dyn Rights) -> bool {
    let asker = plan.asker();
    let (on, labels) = (plan.target.clone(), plan.labels.clone());
    rights.may_decide_alone(&asker, plan.risk)
        && rights.may(&asker, &Right::Decide { risk: plan.risk, on, is_requester: true, labels })
        && plan.terms.outsider_of(None, |group| rights.is_in(&asker, group)).is_none()
}

impl<'a> Electorate<'a> {
    pub(super) fn of(filed: &'a Filed, rights: &'a dyn Rights) -> Self {
        Self::with(filed, &[], rights)
    }

    /// The same, where this was found on the target since.
    fn with(filed: &'a Filed, found: &[String], rights: &'a dyn Rights) -> Self {
        let plan = filed.frozen.plan();
        let labels: BTreeSet<String> = plan.labels.iter().chain(found).cloned().collect();
        let (labels, tool): (Vec<_>, _) = (labels.into_iter().collect(), plan.call());
        let about = TermsAbout { risk: plan.risk, target: &plan.target, labels: &labels, tool: &tool };
        Self { filed, rights, terms: plan.terms.and(&rights.terms(&about)), labels }
    }

    /// Whether they may decide it at all, as far as rights and groups go.
    pub(super) fn judge(&self, asker: &Asker<'_>) -> Result<(), Outsider> {
        let plan = self.filed.frozen.plan();
        let is_requester = self.is_requester(asker);
        let (on, labels) = (plan.target.clone(), self.labels.clone());
        if !self.rights.may(asker, &Right::Decide { risk: plan.risk, on, is_requester, labels }) {
            return Err(Outsider::NoRight);
        }
        // The level is one of the frozen terms: what was never announced has not been reached.
        let reached_ms = plan.terms.reached_ms(self.filed.standing.level);
        let outsider = self.terms.outsider_of(reached_ms, |group| self.rights.is_in(asker, group));
        outsider.map_or(Ok(()), |group| Err(Outsider::Not(group.to_owned())))
    }

    pub(super) fn is_requester(&self, asker: &Asker<'_>) -> bool {
        let (plan, person) = (self.filed.frozen.plan(), self.person(asker));
        person == self.person(&plan.asker()) || person == plan.requester_person
    }

    /// Whether what they asked for themselves has to be countersigned by others: from risk medium up, and wherever more
    /// than one person has to.
    pub(super) fn needs_others(&self, asker: &Asker<'_>) -> bool {
        self.is_requester(asker) && self.takes_others()
    }

    /// Whether nobody knows whose account asked for it, where it takes two people: it may be a second one of theirs.
    pub(super) fn may_be_one_person(&self, asker: &Asker<'_>) -> bool {
        let plan = self.filed.frozen.plan();
        self.takes_others()
            && !self.is_requester(asker)
            && !is_somebody(self.rights, &plan.thread.platform, &plan.requester)
    }

    fn takes_others(&self) -> bool {
        self.terms.quorum.get() > 1 || self.filed.frozen.plan().risk >= Risk::Medium
    }

    /// Whether policy lets them countersign what they asked for themselves: then and now.
    pub(super) fn may_waive(&self, asker: &Asker<'_>) -> bool {
        let plan = self.filed.frozen.plan();
        self.is_requester(asker) && plan.alone && self.rights.may_decide_alone(asker, plan.risk)
    }

    /// Whether it takes a witness beside the server that this came over: from risk high up (DESIGN.md section 4).
    pub(super) fn needs_a_seal(&self, asker: &Asker<'_>) -> bool {
        asker.assurance == Assurance::Unsealed && self.filed.frozen.plan().risk >= Risk::High
    }

    /// Whether policy lets them do without.
    pub(super) fn may_unsealed(&self, asker: &Asker<'_>) -> bool {
        self.rights.may_decide_unsealed(asker, self.filed.frozen.plan().risk)
    }

    /// Whether this person has countersigned it, by whatever account.
    pub(super) fn has_voted(&self, asker: &Asker<'_>) -> bool {
        let person = self.person(asker);
        self.votes().any(|(vote, voter)| vote.person == person || self.person(&voter) == person)
    }

    /// Whose work an account may be, where it is no further person's: it was linked by somebody else who has a part in this
    /// plan, or so shortly before that its person may not know of it; or the other way round.
    pub(super) fn no_further_person(&self, asker: &Asker<'_>) -> Option<NoFurther> {
        if !self.takes_others() {
            return None;
        }
        let part: BTreeSet<String> = if self.is_requester(asker) { BTreeSet::new() } else { self.requesters() };
        let part: BTreeSet<String> = part.into_iter().chain(self.voters()).collect();
        if let Some(by) = self.unknown_linker(asker) {
            return Some(NoFurther::Gone(by));
        }
        let link = self.linked_by_another(asker);
        if let Some(by) = link.iter().flat_map(Link::others).find(|by| part.contains(*by)) {
            return Some(NoFurther::LinkedBy(by.to_owned()));
        }
        match link {
            Some(link) if self.is_too_new(&link) => Some(NoFurther::New(link.by)),
            Some(_) | None if part.contains(&self.person(asker)) => Some(NoFurther::Linked),
            Some(_) | None => None,
        }
    }

    /// Returns the name, known no longer, of a person who linked this account, the requester's or a voter's.
    fn unknown_linker(&self, asker: &Asker<'_>) -> Option<String> {
        let plan = self.filed.frozen.plan();
        let own = [self.linked_by_another(asker), self.linked_by_another(&plan.asker())];
        let voters = self.votes().map(|(_, voter)| self.linked_by_another(&voter));
        let links: Vec<Link> = own.into_iter().chain(voters).flatten().collect();
        links.iter().flat_map(Link::others).find(|by| !self.rights.knows_person(by)).map(str::to_owned)
    }

    /// Whether an account was linked less than a day before the plan was asked for, or since.
    fn is_too_new(&self, link: &Link) -> bool {
        link.at.0 > self.filed.frozen.plan().requested_at.0.saturating_sub(KNOWN_AFTER_MS)
    }

    /// Everybody whom an account may speak for: its person, and whoever else made it theirs.
    fn may_be(&self, asker: &Asker<'_>) -> BTreeSet<String> {
        let link = self.linked_by_another(asker);
        let others = link.iter().flat_map(Link::others).map(str::to_owned);
        std::iter::once(self.person(asker)).chain(others).collect()
    }

    /// Everybody who may have asked for the plan.
    fn requesters(&self) -> BTreeSet<String> {
        let plan = self.filed.frozen.plan();
        let mut people = self.may_be(&plan.asker());
        people.insert(plan.requester_person.clone());
        people
    }

    /// Returns the people behind the votes.
    fn voters(&self) -> BTreeSet<String> {
        let people = self.votes().flat_map(|(vote, voter)| {
            let mut people = self.may_be(&voter);
            people.insert(vote.person.clone());
            people
        });
        people.collect()
    }

    fn linked_by_another(&self, asker: &Asker<'_>) -> Option<Link> {
        self.rights.linked_by_another(&asker.thread.platform, asker.actor)
    }

    /// How many more people have to countersign it, once this one has.
    pub(super) fn missing_after(&self, asker: &Asker<'_>) -> u32 {
        let people = self.counted().into_iter().chain([self.person(asker)]).collect::<BTreeSet<String>>();
        self.terms.quorum.get().saturating_sub(u32::try_from(people.len()).unwrap_or(u32::MAX))
    }

    /// The people whose votes count now. An account that changed hands since is no vote of either, and of two that may be one
    /// person's only the first counts.
    fn counted(&self) -> Vec<String> {
        let entitled = |voter: &Asker<'_>| {
            self.judge(voter).is_ok()
                && (!self.needs_others(voter) || self.may_waive(voter))
                && (!self.needs_a_seal(voter) || self.may_unsealed(voter))
        };
        let votes = self.votes().map(|(vote, voter)| (vote, self.person(&voter), voter));
        let own = votes.filter(|(vote, person, voter)| vote.person == *person && entitled(voter));
        let mut counted = Vec::new();
        let mut spoken_for = BTreeSet::new();
        for (_, person, voter) in own {
            let may_be = self.may_be(&voter);
            let is_too_new = self.linked_by_another(&voter).is_some_and(|link| self.is_too_new(&link));
            let may_have_asked = !self.is_requester(&voter) && !may_be.is_disjoint(&self.requesters());
            let is_further = may_be.is_disjoint(&spoken_for) && !is_too_new && !may_have_asked;
            if is_further || !self.takes_others() {
                spoken_for.extend(may_be);
                counted.push(person);
            }
        }
        counted
    }

    fn votes(&self) -> impl Iterator<Item = (&'a Vote, Asker<'a>)> {
        let thread = &self.filed.frozen.plan().thread;
        let voter = move |vote: &'a Vote| {
            let Vote { by: actor, roles: platform_roles, assurance, room, .. } = vote;
            Asker { actor, platform_roles, assurance: *assurance, thread, room: *room }
        };
        self.filed.standing.votes.iter().map(move |vote| (vote, voter(vote)))
    }

    fn person(&self, asker: &Asker<'_>) -> String {
        self.rights.person(&asker.thread.platform, asker.actor)
    }
}
