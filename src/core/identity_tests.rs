//! People whose accounts, rights, labels and clocks change under way: what was asked for and countersigned stays theirs who
//! did it, and nothing that changed since decides in somebody else's name. Found by a reviewer who attacked it.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use crate::approval::{Circle, Escalation, PlanState, Risk, Terms};
use crate::envelope::Code;
use crate::ledger::{Grant, Key, Record};
use crate::port::{Asker, Right, Rights, TermsAbout};
use crate::signal::{Actor, Platform};
use crate::testkit::World;
use crate::testkit::scene::{approves, asked, due, newest, restarted, says, state, writes};

const MINUTE: u64 = 60_000;

fn of_people(people: u32) -> Terms {
    Terms { quorum: NonZeroU32::new(people).expect("at least one"), ..Terms::default() }
}

/// Whose each account is; a test moves accounts from one to the other.
#[derive(Clone, Default)]
struct Directory {
    whose: Arc<Mutex<BTreeMap<&'static str, &'static str>>>,
    barred: Arc<Mutex<BTreeSet<&'static str>>>,
    terms: Terms,
}

impl Directory {
    fn link(&self, account: &'static str, person: &'static str) {
        self.whose.lock().unwrap_or_else(PoisonError::into_inner).insert(account, person);
    }

    fn bar(&self, person: &'static str) {
        self.barred.lock().unwrap_or_else(PoisonError::into_inner).insert(person);
    }

    fn of(&self, actor: &Actor) -> Option<&'static str> {
        self.whose.lock().unwrap_or_else(PoisonError::into_inner).get(actor.id.as_str()).copied()
    }
}

impl Rights for Directory {
    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool {
        let barred = self.barred.lock().unwrap_or_else(PoisonError::into_inner);
        self.of(asker.actor).is_some_and(|person| *right == Right::Talk || !barred.contains(person))
    }

    fn may_decide_alone(&self, _: &Asker<'_>, _: Risk) -> bool {
        false
    }

    fn roles(&self, _: &Asker<'_>) -> Vec<String> {
        Vec::new()
    }

    fn name(&self, _: &Platform, actor: &Actor) -> Option<String> {
        self.of(actor).map(str::to_owned)
    }

    fn terms(&self, _: &TermsAbout<'_>) -> Terms {
        self.terms.clone()
    }
}

/// Ann has two accounts, the others one each.
fn town(terms: Terms) -> (World, Directory) {
    let directory = Directory { terms, ..Directory::default() };
    for (account, person) in [("a1", "ann"), ("a2", "ann"), ("b1", "bob"), ("c1", "cid"), ("d1", "dora")] {
        directory.link(account, person);
    }
    let mut world = World::with_fleet();
    restarted(&mut world);
    world.rights = Some(Box::new(directory.clone()));
    (world, directory)
}

#[test]
fn who_asked_is_who_asked_also_when_the_account_changes_hands() {
    let (mut world, directory) = town(Terms::default());
    says(&mut world, "a1", "restart nginx");
    let plan = newest(&world).id().clone();
    directory.link("a1", "bob");
    let told = approves(&mut world, "a2", &plan);
    assert_eq!((writes(&told).len(), state(&world, &plan)), (0, PlanState::Pending), "{}", told.said);
    assert!(told.said.contains("omebody else has to countersign"), "{}", told.said);
    let told = says(&mut world, "a2", &format!("grant {plan} for 30 days 100 times"));
    assert_eq!((writes(&told).len(), world.files.ledger.grants().count()), (0, 0), "{}", told.said);
    let told = approves(&mut world, "c1", &plan);
    assert_eq!(writes(&told).len(), 1, "{}", told.said);
}

#[test]
fn a_vote_is_nobodys_once_its_account_has_changed_hands() {
    let (mut world, directory) = town(of_people(2));
    says(&mut world, "d1", "restart nginx");
    let plan = newest(&world).id().clone();
    approves(&mut world, "a1", &plan);
    directory.link("a1", "bob");
    directory.link("a2", "anna");
    let told = approves(&mut world, "a2", &plan);
    assert_eq!((writes(&told).len(), state(&world, &plan)), (0, PlanState::Pending), "one human, twice: {}", told.said);

    let (mut world, directory) = town(of_people(2));
    says(&mut world, "d1", "restart nginx");
    let plan = newest(&world).id().clone();
    approves(&mut world, "a1", &plan);
    directory.link("a1", "bob");
    directory.bar("ann");
    let told = approves(&mut world, "c1", &plan);
    assert_eq!(
        (writes(&told).len(), state(&world, &plan)),
        (0, PlanState::Pending),
        "ann's is not bob's: {}",
        told.said
    );
}

#[test]
fn a_clock_set_forward_opens_no_escalation() {
    let mut world = World::with_fleet();
    restarted(&mut world);
    let leads = Escalation { after_ms: 10 * MINUTE, group: "leads".to_owned() };
    let circle = Circle { group: "sre".to_owned(), escalate: vec![leads] };
    world.people.terms = Terms { circles: [circle].into(), ..Terms::default() };
    world.people.group("sre", &["bob"]);
    world.people.group("leads", &["carol"]);
    let plan = asked(&mut world);
    world.wall += 10 * 60_000;
    due(&mut world, &plan);
    world.wall -= 10 * 60_000;
    let told = approves(&mut world, "carol", &plan);
    assert_eq!((writes(&told).len(), state(&world, &plan)), (0, PlanState::Pending), "{}", told.said);
    world.pass(10 * MINUTE);
    due(&mut world, &plan);
    let told = approves(&mut world, "carol", &plan);
    assert_eq!(writes(&told).len(), 1, "both clocks: {}", told.said);
}

fn seal(world: &mut World) {
    for resource in world.script.resources.iter_mut().filter(|resource| resource.name == "nginx") {
        resource.attrs.insert("sealed".to_owned(), "yes".to_owned());
    }
}

#[test]
fn what_is_found_on_a_target_since_can_take_the_approval_away() {
    let mut world = World::with_fleet();
    restarted(&mut world);
    let plan = asked(&mut world);
    seal(&mut world);
    let told = approves(&mut world, "bob", &plan);
    assert_eq!((writes(&told).len(), state(&world, &plan)), (0, PlanState::Refused(Code::Drifted)), "{}", told.said);
    // Asked for again, the plan is another one: its card says what was found.
    let mut world = World::with_fleet();
    restarted(&mut world);
    let plan = asked(&mut world);
    seal(&mut world);
    world.say("restart nginx");
    assert_ne!(*newest(&world).id(), plan);
}

#[test]
fn nobody_else_answers_a_question() {
    let mut world = World::with_fleet();
    restarted(&mut world);
    let asked = says(&mut world, "ann", "restrat nginx");
    assert!(asked.said.contains("Did you mean this?"), "{}", asked.said);
    says(&mut world, "bob", "yes");
    assert!(world.files.rows.is_empty(), "what ann typed would be bob's, and ann could countersign it");
    let told = says(&mut world, "ann", "yes");
    assert!(told.said.contains(" asks to restart nginx"), "{}", told.said);
}

#[test]
fn what_was_overtaken_is_recorded() {
    let mut world = World::with_fleet();
    restarted(&mut world);
    let plan = asked(&mut world);
    says(&mut world, "bob", &format!("grant {plan}"));
    let before = world.files.ledger.clone();
    let (id, grant) = before.grants().next().expect("it was given");
    let used = Record::Grant(Box::new(Grant { uses: 1, ..grant.clone() }));
    let change = world.files.ledger.put(Key::Grant(id.clone()), Some(used));
    world.files.ledger.apply(&change).expect("nobody was faster");
    world.stale = Some(before.clone());
    let told = says(&mut world, "bob", &format!("revoke {}", id.as_str()));
    let recorded = |effect: &&String| effect.contains("refused") && effect.contains("ledger");
    assert_eq!(told.effects.iter().filter(recorded).count(), 1, "{:?}", told.effects);
}

#[test]
fn a_countersigned_change_is_verified_whatever_turns_are_left() {
    for turns_max in 1..4 {
        let mut world = World::with_fleet();
        restarted(&mut world);
        let plan = asked(&mut world);
        world.limits.turns_max = turns_max;
        let told = approves(&mut world, "bob", &plan);
        assert!(matches!(state(&world, &plan), PlanState::Verified(_)), "{turns_max}: {}", told.said);
    }
}
