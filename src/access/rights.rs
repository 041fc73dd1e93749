//! Who may what: the core's `Rights`, answered by Cedar from one snapshot of people, places and policies. Whoever is not
//! known is denied before any policy is asked, and so is everything that only a person does where no person asks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cedar_policy::{Authorizer, Decision, Entities, Entity, Request};
use countersign_core::approval::{Plan, Risk, Terms};
use countersign_core::ledger::{Account, Link};
use countersign_core::people::People;
use countersign_core::port::{Asker, Right, Rights, TermsAbout};
use countersign_core::resource::ResourceId;
use countersign_core::signal::{Actor, ActorId, ActorKind, ConversationKind, Platform};

use super::account::PLATFORMS;
use super::answers::{Answers, Question};
use super::entities::{Act, GUEST, OWNER, Place, Thing, context, principal, resource, uid};
use super::error::AccessError;
use super::identity::{Links, Moved, linked};
use super::people::{Accounts, Directory, Principal};
use super::places::Room;
use super::policies::Policies;
use super::who_can;

/// The operating system's user who runs the process, as the console knows them. Whoever owns the process owns what it can
/// reach; every gate still stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    platform: Platform,
    id: ActorId,
}

impl Owner {
    /// The owner of the process, known at the console by this id.
    pub const fn new(platform: Platform, id: ActorId) -> Self {
        Self { platform, id }
    }

    fn is(&self, platform: &str, id: &str) -> bool {
        self.platform.as_str() == platform && self.id.as_str() == id
    }
}

impl Access {
    /// The owner's own account, where the console has an owner.
    pub(super) fn owners_account(&self) -> Option<countersign_core::sim::Account> {
        let Owner { platform, id } = self.owner.clone()?;
        Some(countersign_core::sim::Account { platform, id })
    }
}

/// Whoever is not known by name, for a list of people.
const ANYBODY: &str = "anybody who is not known";

fn with_guest(mut roles: BTreeSet<String>) -> BTreeSet<String> {
    roles.insert(GUEST.to_owned());
    roles
}

/// One snapshot: who there is, what is where, and what the policies say. A copy with other linked accounts shares
/// everything else.
#[derive(Clone, Debug)]
pub struct Access {
    pub(super) directory: Arc<Directory>,
    pub(super) policies: Arc<Policies>,
    owner: Option<Owner>,
    /// In the order of the directory's principals.
    subjects: Arc<Vec<Subject>>,
    /// Accounts that were linked in chat; none of them stands in the file.
    linked: Accounts,
    /// The same as the ledger has it, with who linked each.
    links: Arc<Links>,
    /// Rooms that have another id than at first.
    moved: Arc<Moved>,
    authorizer: Authorizer,
    /// What this snapshot has answered.
    answers: Arc<Answers>,
}

/// Somebody who asks, ready to be judged.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) who: Principal,
    pub(super) is_owner: bool,
    /// Nobody is known by the account: it has nothing but what roles of its platform give it for one question.
    is_guest: bool,
    entity: Entity,
}

impl Subject {
    pub(super) fn new(who: Principal, is_owner: bool) -> Self {
        let entity = principal(&who, is_owner);
        Self { who, is_owner, is_guest: false, entity }
    }

    /// Whether nothing at all is known of them: no name, and no role of their platform.
    pub(super) fn is_a_stranger(&self) -> bool {
        self.is_guest && self.who.roles.iter().eq([GUEST])
    }

    /// Somebody of its own, who is nothing but these roles. Nobody of a file can have the name: none there has a colon or
    /// a blank in it, so that no policy speaks of them.
    fn guest(name: String, platforms: &[&str], roles: BTreeSet<String>) -> Self {
        let (groups, platforms) = (BTreeSet::new(), platforms.iter().map(|platform| (*platform).to_owned()).collect());
        let who = Principal { name, is_service: false, roles, groups, platforms };
        Self { is_guest: true, ..Self::new(who, false) }
    }

    /// The same, with these roles besides.
    fn and(mut self, roles: BTreeSet<String>) -> Self {
        if roles.is_empty() {
            return self;
        }
        self.who.roles.extend(roles);
        Self::new(self.who, self.is_owner)
    }
}

impl Access {
    /// From the texts of an access file and of policy files, each with its name. No I/O.
    pub fn new(
        file: Option<&(String, String)>,
        own_policies: &[(String, String)],
        owner: Option<Owner>,
    ) -> Result<Self, AccessError> {
        let policies = Policies::load(own_policies)?;
        let directory = file.map(|(name, text)| Directory::read(name, text)).transpose()?.unwrap_or_default();
        directory.roles_given.iter().try_for_each(|(role, at)| policies.check_role(role, at))?;
        let names = |service: bool| {
            let of_kind = directory.principals.iter().filter(move |one| one.is_service == service);
            of_kind.map(|one| one.name.clone()).collect::<BTreeSet<_>>()
        };
        policies.check_named(|kind| match kind {
            "Group" => directory.groups.clone(),
            "Service" => names(true),
            _ => names(false),
        })?;
        let subjects = directory.principals.iter().map(|one| Subject::new(one.clone(), false)).collect();
        let (directory, policies, subjects) = (Arc::new(directory), Arc::new(policies), Arc::new(subjects));
        Ok(Self {
            directory,
            policies,
            owner,
            subjects,
            linked: Accounts::new(),
            links: Arc::default(),
            moved: Arc::default(),
            authorizer: Authorizer::new(),
            answers: Arc::default(),
        })
    }

    /// The same snapshot with these accounts linked instead of the ones before. Cheap: reads no policy and no file.
    pub(super) fn with(&self, links: &Links, moved: &Moved) -> Self {
        let (linked, links) = (linked(&self.directory, links), Arc::new(links.clone()));
        Self { linked, links, moved: Arc::new(moved.clone()), answers: Arc::default(), ..self.clone() }
    }

    /// Returns the id of the asker's room by which its platform knows it, if that is not the one that the thread has.
    fn newest_id(&self, asker: &Asker<'_>) -> Option<&str> {
        let (platform, first) = (asker.thread.platform.to_string(), asker.thread.conversation.to_string());
        self.moved.get(&(platform, first)).map(String::as_str)
    }

    /// Returns the id under which the access file has an entry for a room: the newest id if it has one for that, else the first.
    fn room_id<'a>(&'a self, platform: &str, first: &'a str) -> &'a str {
        let newest = self.moved.get(&(platform.to_owned(), first.to_owned()));
        newest.filter(|newest| self.directory.places.names_room(platform, newest)).map_or(first, String::as_str)
    }

    /// Whose this account is: by the file, else by what was linked.
    pub(super) fn whose(&self, platform: &str, id: &str) -> Option<usize> {
        let linked = || self.linked.get(platform)?.get(id).copied();
        self.directory.person(platform, id).or_else(linked)
    }

    /// The accounts that were linked to this person: (platform, id).
    pub(super) fn linked_to(&self, person: usize) -> Vec<(String, String)> {
        let of = |(platform, ids): (&String, &BTreeMap<String, usize>)| {
            let own: Vec<_> = ids.iter().filter(|(_, at)| **at == person).collect();
            own.into_iter().map(|(id, _)| (platform.clone(), id.clone())).collect::<Vec<_>>()
        };
        self.linked.iter().flat_map(of).collect()
    }

    /// Returns whether this person asked for the plan.
    pub(super) fn is_person(&self, one: &Subject, platform: &str, plan: &Plan) -> bool {
        let is_owner = self.owner.as_ref().is_some_and(|owner| owner.is(platform, plan.requester.id.as_str()));
        one.who.name == plan.requester_person || (one.is_owner && is_owner)
    }

    /// Everybody in the file, with the platforms on which they have a linked account; and whoever has a role of a platform
    /// that means something here.
    fn everybody_in_the_file(&self) -> Vec<Subject> {
        let mut all = Vec::clone(&self.subjects);
        for (platform, ids) in &self.linked {
            for at in ids.values() {
                if let Some(one) = all.get_mut(*at) {
                    one.who.platforms.insert(platform.clone());
                }
            }
        }
        let guests = self.directory.platform_roles.in_words();
        all.extend(guests.map(|(name, platform, roles)| Subject::guest(name, &[platform], roles.clone())));
        let guest = self.policies.speaks_of_guests();
        all.extend(guest.then(|| Subject::guest(ANYBODY.to_owned(), &PLATFORMS, BTreeSet::from([GUEST.to_owned()]))));
        all
    }

    /// Answers `who can`, asked with the words after it. An error says what can be asked.
    pub fn ask(&self, asked: &str) -> Result<String, String> {
        who_can::answer(self, asked)
    }

    /// Whether some policy speaks of this role; else what is wrong, for whoever named it at `key` of the configuration.
    pub fn check_role(&self, role: &str, key: &str) -> Result<(), AccessError> {
        self.policies.check_role(role, &AccessError::new(key, None, ""))
    }

    /// How many people, services and policies of the team's own there are.
    pub fn counts(&self) -> (usize, usize, usize) {
        let services = self.directory.principals.iter().filter(|one| one.is_service).count();
        (self.directory.principals.len().saturating_sub(services), services, self.policies.own)
    }

    /// Everybody who may be allowed something: who is in the file, and the process's owner. A person who is both stands
    /// here twice, as the owner at the console and as themselves elsewhere.
    pub(super) fn everybody(&self) -> Vec<Subject> {
        let mut others = self.everybody_in_the_file();
        let Some(owner) = &self.owner else { return others };
        let platform = owner.platform.as_str();
        let at = self.whose(platform, owner.id.as_str());
        if let Some(same) = at.and_then(|at| others.get_mut(at)) {
            same.who.platforms.remove(platform);
        }
        // Without a platform a person would count as one who could be anywhere.
        others.retain(|one| one.who.is_service || !one.who.platforms.is_empty());
        [vec![self.owner_subject(owner)], others].concat()
    }

    /// The owner as they are at the console: the person of the file who has that account, else a person of ours.
    fn owner_subject(&self, owner: &Owner) -> Subject {
        let at = self.whose(owner.platform.as_str(), owner.id.as_str());
        let known = at.and_then(|at| self.directory.principals.get(at)).cloned();
        let built_in = || Principal {
            name: OWNER.to_owned(),
            is_service: false,
            roles: BTreeSet::new(),
            groups: BTreeSet::new(),
            platforms: BTreeSet::new(),
        };
        let mut who = known.unwrap_or_else(built_in);
        who.platforms = BTreeSet::from([owner.platform.as_str().to_owned()]);
        Subject::new(who, true)
    }

    /// Who asks. Nobody, where the actor is neither a person with an account of their own nor a service of ours, nor has a
    /// role of the platform that means something here, and no policy speaks of guests. Such a role counts for this
    /// question alone.
    pub(super) fn subject(&self, asker: &Asker<'_>) -> Option<Subject> {
        let (platform, id) = (asker.thread.platform.as_str(), asker.actor.id.as_str());
        match asker.actor.kind {
            ActorKind::Human => {
                self.human(platform, id, self.directory.platform_roles.of(asker, self.newest_id(asker)))
            }
            ActorKind::Service => self.subjects.get(self.directory.service(id)?).cloned(),
            ActorKind::Bot
            | ActorKind::Webhook
            | ActorKind::AnonymousAdmin
            | ActorKind::ChannelPost
            | ActorKind::Bridge => None,
        }
    }

    fn human(&self, platform: &str, id: &str, besides: BTreeSet<String>) -> Option<Subject> {
        if let Some(owner) = self.owner.as_ref().filter(|owner| owner.is(platform, id)) {
            return Some(self.owner_subject(owner).and(besides));
        }
        if let Some(at) = self.whose(platform, id) {
            return self.subjects.get(at).cloned().map(|one| one.and(besides));
        }
        let roles = if self.policies.speaks_of_guests() { with_guest(besides) } else { besides };
        let is_guest = !roles.is_empty() && self.directory.accepts(platform, id).is_ok();
        is_guest.then(|| Subject::guest(format!("{platform}:{id}"), &[platform], roles))
    }

    /// The platforms on which a role of theirs means something here.
    pub fn platforms_with_roles(&self) -> Vec<String> {
        self.directory.platform_roles.platforms()
    }

    /// A place in a room; nothing more than the platform where no room is named.
    pub(super) fn place(&self, platform: &str, id: &str, kind: ConversationKind) -> Place {
        let room = self.directory.places.room(platform, self.room_id(platform, id), kind);
        Place { platform: platform.to_owned(), id: id.to_owned(), room }
    }

    /// A resource as the access file has it, or as it is with what was found on it.
    pub(super) fn thing(&self, id: &ResourceId, found: &[String]) -> Thing {
        let places = &self.directory.places;
        let mut labels = places.labels(id);
        labels.extend(found.iter().cloned());
        let environment = places.environment(id, found).to_owned();
        Thing { id: id.to_string(), kind: id.kind().to_owned(), environment, labels }
    }

    /// What a question about no resource in particular is about.
    pub(super) fn here(place: &Place) -> Thing {
        let Room { environment, .. } = &place.room;
        let id = format!("room:{}:{}", place.platform, place.id);
        Thing { id, kind: "room".to_owned(), environment: environment.clone(), labels: BTreeSet::new() }
    }

    /// One question. What only a person does is denied to a service whatever a policy says, and what only somebody does
    /// whom we know is denied to a guest: the account could be the second one of a known person, and four eyes would be
    /// two.
    pub(super) fn allows(&self, subject: &Subject, act: &Act, thing: &Thing, place: &Place) -> bool {
        let denied = (subject.who.is_service && act.is_for_people()) || (subject.is_guest && act.is_for_known_people());
        !denied && self.policies_allow(subject, act, thing, place)
    }

    /// The same, as the policies have it. Denies where they cannot be asked and where one of them could not be evaluated:
    /// a `forbid` that fails must not count as one that does not fit.
    pub(super) fn policies_allow(&self, subject: &Subject, act: &Act, thing: &Thing, place: &Place) -> bool {
        let (Some(resource), Some(context)) = (resource(thing, place), context(act, place)) else { return false };
        let (who, what) = (subject.entity.uid(), resource.uid());
        let Ok(request) = Request::new(who, uid("Action", act.name()), what, context, None) else { return false };
        let Ok(entities) = Entities::from_entities([subject.entity.clone(), resource], None) else { return false };
        let answer = self.authorizer.is_authorized(&request, &self.policies.set, &entities);
        answer.decision() == Decision::Allow && answer.diagnostics().errors().next().is_none()
    }

    /// The same about a resource on which something was found. It is asked without that, with it, and with it in the
    /// configured environment, and all must allow it: what is found may restrict, and never permit, also where a label
    /// that was found leads out of the environment that another rule is about.
    pub(super) fn allows_on(
        &self,
        subject: &Subject,
        act: &Act,
        (id, found): (&ResourceId, &[String]),
        place: &Place,
    ) -> bool {
        let configured = self.thing(id, &[]);
        let with_found = self.thing(id, found);
        let in_place = Thing { environment: configured.environment.clone(), ..with_found.clone() };
        let mut views = vec![configured];
        for view in [with_found, in_place] {
            if !views.contains(&view) {
                views.push(view);
            }
        }
        views.iter().all(|thing| self.allows(subject, act, thing, place))
    }

    fn judge(&self, asker: &Asker<'_>, act: &Act, on: Option<(&ResourceId, &[String])>) -> bool {
        self.answers.to(Question::new(asker, act, on), || self.judge_anew(asker, act, on))
    }

    fn judge_anew(&self, asker: &Asker<'_>, act: &Act, on: Option<(&ResourceId, &[String])>) -> bool {
        let thread = asker.thread;
        let Some(subject) = self.subject(asker) else { return false };
        let place = self.place(thread.platform.as_str(), thread.conversation.as_str(), asker.room);
        match on {
            Some(on) => self.allows_on(&subject, act, on, &place),
            None => self.allows(&subject, act, &Self::here(&place), &place),
        }
    }
}

impl Rights for Access {
    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool {
        let ask = |act: Act, on: Option<(&ResourceId, &[String])>| self.judge(asker, &act, on);
        match right {
            Right::Talk => ask(Act::Talk, None),
            Right::Request { kind, tool, on, labels } => {
                let act = Act::Request { kind: *kind, tool: tool.clone().unwrap_or_default() };
                ask(act, on.as_ref().map(|id| (id, labels.as_slice())))
            }
            Right::Decide { risk, on, is_requester, labels } => {
                ask(Act::Decide { risk: *risk, is_requester: *is_requester }, Some((on, labels)))
            }
            Right::Acknowledge => ask(Act::Acknowledge, None),
            Right::Declare => ask(Act::Declare, None),
            Right::Grant => ask(Act::Grant, None),
            Right::Administer => ask(Act::Administer, None),
        }
    }

    /// The card and the record say each time that this was a waiver.
    fn may_decide_alone(&self, asker: &Asker<'_>, risk: Risk) -> bool {
        self.judge(asker, &Act::DecideAlone { risk }, None)
    }

    /// The record says each time that this was one.
    fn may_decide_unsealed(&self, asker: &Asker<'_>, risk: Risk) -> bool {
        self.judge(asker, &Act::DecideUnsealed { risk }, None)
    }

    /// The room's entry must list it, the environment must be one for that whichever way it is looked at, and the policies
    /// must permit it to who asks.
    fn acts_alone(&self, asker: &Asker<'_>, call: &str, (id, found): (&ResourceId, &[String]), risk: Risk) -> bool {
        let platform = asker.thread.platform.as_str();
        let room = self.room_id(platform, asker.thread.conversation.as_str());
        let places = &self.directory.places;
        let listed = |found: &[String]| places.is_alone(platform, room, call, places.environment(id, found));
        listed(&[])
            && listed(found)
            && self.judge(asker, &Act::Alone { risk, tool: call.to_owned() }, Some((id, found)))
    }

    fn roles(&self, asker: &Asker<'_>) -> Vec<String> {
        let Some(subject) = self.subject(asker) else { return Vec::new() };
        subject.is_owner.then(|| OWNER.to_owned()).into_iter().chain(subject.who.roles).collect()
    }

    fn name(&self, platform: &Platform, actor: &Actor) -> Option<String> {
        let at = match actor.kind {
            ActorKind::Human => self.whose(platform.as_str(), actor.id.as_str()),
            ActorKind::Service => self.directory.service(actor.id.as_str()),
            ActorKind::Bot
            | ActorKind::Webhook
            | ActorKind::AnonymousAdmin
            | ActorKind::ChannelPost
            | ActorKind::Bridge => None,
        };
        self.directory.principals.get(at?).map(|one| one.name.clone())
    }

    fn linked_by_another(&self, platform: &Platform, actor: &Actor) -> Option<Link> {
        let (account, id) = (Account { platform: platform.clone(), id: actor.id.clone() }, actor.id.as_str());
        let link = self.links.get(&account)?;
        let is_in_file = self.directory.person(platform.as_str(), id).is_some();
        (!is_in_file && link.others().next().is_some()).then(|| link.clone())
    }

    fn knows_person(&self, name: &str) -> bool {
        // A name never has a colon, so this is an account id, and an account id stays with its person.
        name.contains(':') || self.directory.principals.iter().any(|one| one.name == name)
    }

    fn terms(&self, about: &TermsAbout<'_>) -> Terms {
        self.directory.approvals.terms(about, &self.thing(about.target, &[]), &self.thing(about.target, about.labels))
    }

    fn is_in(&self, asker: &Asker<'_>, group: &str) -> bool {
        self.subject(asker).is_some_and(|subject| subject.who.groups.contains(group))
    }

    fn environment(&self, id: &ResourceId, labels: &[String]) -> Option<String> {
        let places = &self.directory.places;
        // What is found on a thing does not place it: a card that said so could be talked into another environment.
        let (own, found) = (places.environment(id, &[]), places.environment(id, labels));
        let name = if own == found { own.to_owned() } else { format!("{own}; labelled {found}") };
        places.names_environments().then_some(name)
    }

    fn deciders(&self, plan: &Plan) -> Option<Vec<String>> {
        who_can::deciders(self, plan)
    }

    fn people(&self) -> &dyn People {
        self
    }

    fn who_can(&self, asked: &str, _: &Asker<'_>) -> String {
        self.ask(asked).unwrap_or_else(|problem| problem)
    }
}
