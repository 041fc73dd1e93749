//! Permissions given beforehand: on which plan, by whom, what they cover to the letter, how they end, and that nothing they
//! let pass meets one gate less. Told as conversations in one thread, with the store's part played by the testkit.

#[path = "grant_tests/dialogues.rs"]
mod dialogues;
#[path = "grant_tests/ending.rs"]
mod ending;
#[path = "grant_tests/giving.rs"]
mod giving;
#[path = "grant_tests/places.rs"]
mod places;
#[path = "grant_tests/under_way.rs"]
mod under_way;

use serde_json::json;

use std::num::NonZeroU32;

use crate::approval::{Circle, Filed, Outcome, PlanId, PlanState, Risk, Terms, Unasked};
use crate::effect::Input;
use crate::envelope::{Code, Details, Envelope};
use crate::ledger::{Change, Grant, GrantId, Key, Link, Record};
use crate::port::{Asker, Right, Rights, TermsAbout};
use crate::resource::ResourceId;
use crate::signal::{Actor, ActorKind, ConversationId, Platform, Signal, Wall};
use crate::testkit::{Told, World, signal};
use crate::tool::{Registry, ToolKind};

/// Ann asks, Bob decides and gives, Carl decides; what each of them has lost, and what the room lets be done alone.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each can be lost by itself")]
struct Team {
    gives_nothing: bool,
    decides_nothing: bool,
    unlinked: bool,
    relinked: bool,
    changes_nothing: bool,
    asks_nothing: bool,
    alone: Option<&'static str>,
    by_role_only: bool,
    terms: Terms,
    linked_by_another: bool,
}

impl Rights for Team {
    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool {
        let who = asker.actor.id.as_str();
        let is_bob = who == "bob" && !self.unlinked;
        match right {
            Right::Request { kind: ToolKind::Write, .. } if self.changes_nothing => false,
            Right::Request { .. } if self.asks_nothing => false,
            Right::Talk | Right::Request { .. } => matches!(who, "ann" | "bob" | "carl" | "dora"),
            Right::Decide { .. } => (is_bob && !self.decides_nothing) || who == "carl",
            Right::Grant => is_bob && !self.gives_nothing && (!self.by_role_only || !asker.platform_roles.is_empty()),
            Right::Administer => who == "dora",
            Right::Acknowledge | Right::Declare => false,
        }
    }

    fn may_decide_alone(&self, _: &Asker<'_>, _: Risk) -> bool {
        false
    }

    fn roles(&self, _: &Asker<'_>) -> Vec<String> {
        Vec::new()
    }

    fn acts_alone(&self, asker: &Asker<'_>, call: &str, on: (&ResourceId, &[String]), _: Risk) -> bool {
        asker.actor.id.as_str() == "ann" && self.alone == Some(call) && on.1 == ["run=1"]
    }

    fn terms(&self, _: &TermsAbout<'_>) -> Terms {
        self.terms.clone()
    }

    fn is_in(&self, _: &Asker<'_>, _: &str) -> bool {
        true
    }

    fn linked_by_another(&self, _: &Platform, actor: &Actor) -> Option<Link> {
        let is_anns = self.linked_by_another && actor.id.as_str() == "ann";
        is_anns.then(|| Link::new("ann", "carl", Wall(1)))
    }

    fn person(&self, _: &Platform, actor: &Actor) -> String {
        let is_bob = actor.id.as_str() == "bob";
        let another = if self.relinked { Some("rob") } else { self.unlinked.then_some("test:bob") };
        another.filter(|_| is_bob).unwrap_or(actor.id.as_str()).to_owned()
    }
}

/// Two people have to countersign.
fn two_people() -> Terms {
    Terms { quorum: NonZeroU32::new(2).expect("not zero"), ..Terms::default() }
}

/// Somebody of one group has to.
fn of_a_group() -> Terms {
    let circle = Circle { group: "sre".to_owned(), escalate: Vec::new() };
    Terms { circles: [circle].into(), ..Terms::default() }
}

const NGINX: &str = "service:web-1:nginx";

fn world() -> World {
    let mut world = World::with_fleet();
    world.rights = Some(Box::new(Team::default()));
    works(&mut world);
    world
}

/// The same, with this risk of a restart.
fn of_risk(risk: &str) -> World {
    let mut world = world();
    declare(&mut world, "change.risk = \"medium\"", &format!("change.risk = \"{risk}\""));
    world
}

fn declare(world: &mut World, what: &str, instead: &str) {
    let tools = crate::testkit::TOOLS.replace(what, instead);
    assert_ne!(tools, crate::testkit::TOOLS, "{what} stands there");
    world.registry = Registry::load([("tools.toml", tools.as_str())]).expect("it is sound");
}

/// A restart works each time: here every look finds the run that the last one began with plus one.
fn works(world: &mut World) {
    world.answers("lab_control.restart", json!({ "done": true }));
    world.answers("lab_control.edit", json!({ "done": true }));
    world.answers(
        "lab_read.status",
        json!({ "name": "nginx", "present": true, "state": "running", "run": "2", "sum": "sum" }),
    );
    world.answers("lab_read.preview", json!({ "before": { "run": "1" }, "preview": "+b", "after": "sum" }));
}

fn says(world: &mut World, who: &str, text: &str) -> Told {
    let id = format!("{who}-{}", world.now().seed);
    world.hear(signal(&id, who, text))
}

fn writes(told: &Told) -> usize {
    told.calls.iter().filter(|call| call.warrant.is_some()).count()
}

fn newest(world: &World) -> Filed {
    world.files.rows.values().next_back().expect("a plan").clone()
}

fn state(world: &World, plan: &PlanId) -> PlanState {
    world.files.rows.get(plan).expect("filed").state()
}

/// Ann asks, and Bob allows it from now on, in these words.
fn given_on(world: &mut World, words: &str, terms: &str) -> GrantId {
    let asked = says(world, "ann", words);
    assert!(asked.said.contains(" asks to "), "{}", asked.said);
    let plan = newest(world).id().clone();
    let told = says(world, "bob", &format!("grant {plan} {terms}"));
    assert!(told.said.starts_with("From now on this is done without asking:"), "{}", told.said);
    the_grant(world).0
}

fn the_grant(world: &World) -> (GrantId, Grant) {
    let mut all = world.files.ledger.grants().map(|(id, grant)| (id.clone(), grant.clone()));
    all.next().expect("a grant")
}

fn change(world: &mut World, change: impl FnOnce(&mut Grant)) {
    let (id, mut grant) = the_grant(world);
    change(&mut grant);
    let keep: Change = world.files.ledger.put(Key::Grant(id), Some(Record::Grant(Box::new(grant))));
    world.files.ledger.apply(&keep).expect("nobody is faster");
}

fn plain(told: &Told, world: &World) -> String {
    let mut said = told.said.clone();
    for filed in world.files.rows.values() {
        said = said.replace(filed.id().as_str(), "PLAN").replace(filed.frozen.digest().short(), "DIGEST");
    }
    for (id, _) in world.files.ledger.grants() {
        said = said.replace(id.as_str(), "GRANT");
    }
    said
}

#[test]
fn a_permission_given_on_a_waiting_plan_carries_it_out_and_the_next_one_is_not_asked_for() {
    let mut world = world();
    says(&mut world, "ann", "restart nginx");
    let first = newest(&world).id().clone();
    let told = says(&mut world, "bob", &format!("grant {first} for 2 days 3 times"));
    insta::assert_snapshot!(plain(&told, &world), @r#"
    From now on this is done without asking:
    What: restart nginx
    Does: lab_control.restart
    To: service:web-1:nginx
    In: test:room
    For: ann
    By: bob
    Until: 2023-11-16 22:13:20 UTC
    Uses: 3 of 3 left
    Id: GRANT
    `revoke GRANT` ends that. This also countersigned the plan, and it begins now.
    Done and verified: restart nginx. A fresh read shows what was expected.
    state: running (as expected)
    run: 2 (as expected)
    "#);
    assert_eq!((writes(&told), state(&world, &first)), (1, PlanState::Verified(Outcome::AsExpected)));
    let told = says(&mut world, "ann", "restart nginx");
    insta::assert_snapshot!(plain(&told, &world), @r#"
    Done and verified: restart nginx. A fresh read shows what was expected.
    state: running (as expected)
    run: 2 (as expected)
    Without asking, as bob allowed until 2023-11-16 22:13:20 UTC: 2 of 3 uses left; `revoke GRANT` ends that.
    "#);
    let second = newest(&world);
    assert_ne!(*second.id(), first);
    assert_eq!((writes(&told), second.state()), (1, PlanState::Verified(Outcome::AsExpected)));
    let decided = second.standing.decided.expect("somebody decided");
    let (id, grant) = the_grant(&world);
    assert_eq!((decided.by.id.as_str(), decided.unasked), ("bob", Some(Unasked::Grant(id))));
    assert_eq!((grant.uses, grant.uses_max), (1, 3));
    let approved = told.effects.iter().find(|effect| effect.contains("what: \"approved\"")).expect("a row");
    assert!(approved.contains("approve by grant") && approved.contains("of bob, use 1 of 3"), "{approved}");
}

type Differs = fn(&mut World) -> Told;
type Happens = fn(&mut World);

fn asks(world: &mut World) -> Told {
    says(world, "ann", "edit nginx: b")
}

fn team(world: &mut World, team: Team) -> Told {
    world.rights = Some(Box::new(team));
    asks(world)
}

/// Everything that a use may differ in, and then it is asked for as always.
const DIFFERENCES: [(&str, Differs); 19] = [
    ("the tool", |world| {
        change(world, |grant| grant.tool = "lab_other".to_owned());
        asks(world)
    }),
    ("the action", |world| {
        change(world, |grant| grant.action = "restart".to_owned());
        asks(world)
    }),
    ("the target", |world| {
        change(world, |grant| grant.target = "service:web-1:postgres".parse().expect("an id"));
        asks(world)
    }),
    ("an argument", |world| says(world, "ann", "edit nginx: c")),
    ("the room", |world| {
        let mut asked = signal("elsewhere", "ann", "edit nginx: b");
        asked.thread.conversation = ConversationId::new("another");
        world.hear(asked)
    }),
    ("the platform", |world| {
        change(world, |grant| grant.room.0 = Platform::new("other"));
        asks(world)
    }),
    ("who asks", |world| says(world, "carl", "edit nginx: b")),
    ("what kind of being asks", |world| {
        let mut asked = signal("service", "ann", "edit nginx: b");
        asked.actor.kind = ActorKind::Service;
        world.hear(asked)
    }),
    ("its risk", |world| {
        change(world, |grant| grant.risk = Risk::Low);
        asks(world)
    }),
    ("its risk is high now", |world| {
        change(world, |grant| grant.risk = Risk::High);
        let edit = "change.title = \"edit {target.name}\"\nchange.risk = ";
        declare(world, &format!("{edit}\"medium\""), &format!("{edit}\"high\""));
        asks(world)
    }),
    ("it is a command line now", |world| {
        let content = "resolve = \"lab_find.service\"\nargs.text = { type = \"content\", about = \"the new text\", required = true }\nchange";
        declare(world, content, &content.replace("content", "command"));
        asks(world)
    }),
    ("its time is over by the clock on the wall", |world| {
        world.wall += 8 * 60 * 60 * 1000;
        asks(world)
    }),
    ("its time is over by the stopwatch", |world| {
        world.clock += 8 * 60 * 60 * 1000;
        asks(world)
    }),
    ("its uses", |world| {
        change(world, |grant| grant.uses = grant.uses_max);
        asks(world)
    }),
    ("its giver may give nothing any more", |world| team(world, Team { gives_nothing: true, ..Team::default() })),
    ("its giver may not decide this any more", |world| team(world, Team { decides_nothing: true, ..Team::default() })),
    ("its giver's account was unlinked", |world| team(world, Team { unlinked: true, ..Team::default() })),
    ("its giver's account is somebody else's", |world| team(world, Team { relinked: true, ..Team::default() })),
    ("it was taken back", |world| {
        let id = the_grant(world).0;
        says(world, "ann", &format!("revoke {}", id.as_str()));
        asks(world)
    }),
];

#[test]
fn whatever_differs_is_asked_for_as_always() {
    let mut same = world();
    given_on(&mut same, "edit nginx: b", "");
    assert_eq!(writes(&asks(&mut same)), 1, "nothing differs");
    for (what, differs) in DIFFERENCES {
        let mut world = world();
        given_on(&mut world, "edit nginx: b", "");
        let told = differs(&mut world);
        assert!(told.said.contains(" asks to edit nginx"), "{what}: {}", told.said);
        assert_eq!((writes(&told), newest(&world).state()), (0, PlanState::Pending), "{what}");
    }
}

#[test]
fn what_a_restart_took_up_again_is_asked_for() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "");
    let told = world.hear_again(signal("again", "ann", "restart nginx"));
    assert!(told.said.contains("? You asked") && told.said.contains(" asks to restart nginx"), "{}", told.said);
    assert_eq!(writes(&told), 0);
}

#[test]
fn every_other_gate_stays_as_it_is() {
    let rows: [(&str, Happens, &str); 3] = [
        (
            "actor",
            |world| world.rights = Some(Box::new(Team { changes_nothing: true, ..Team::default() })),
            "FORBIDDEN",
        ),
        ("self", |world| world.own.resources.push(NGINX.to_owned()), "POLICY_BLOCKED"),
        ("workflow", |world| leave_unverified(world), "FSM_BLOCKED"),
    ];
    for (gate, happens, code) in rows {
        let mut world = world();
        given_on(&mut world, "restart nginx", "");
        happens(&mut world);
        let uses = the_grant(&world).1.uses;
        let told = says(&mut world, "ann", "restart nginx");
        assert!(told.said.contains(&format!("({code}, gate `{gate}`)")), "{gate}: {}", told.said);
        assert_eq!((writes(&told), the_grant(&world).1.uses), (0, uses), "{gate}");
    }
}

/// A use after which the target cannot be read.
fn leave_unverified(world: &mut World) {
    let down = Envelope::failed(Code::ExecutionFailed, "down", true, Details::default());
    world.script.answers.insert("lab_read.status".to_owned(), down);
    let told = says(world, "ann", "restart nginx");
    assert!(told.said.contains("Not verified: restart nginx") && told.said.contains("Without asking"), "{}", told.said);
    works(world);
}

#[test]
fn the_hundredth_use_meets_the_same_rule_as_the_first() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "for 30 days 100 times");
    for n in 1..=100 {
        world.rights = Some(Box::new(Team { gives_nothing: true, ..Team::default() }));
        let refused = says(&mut world, "ann", "restart nginx");
        assert!(refused.said.contains(" asks to ") && writes(&refused) == 0, "{n}: {}", refused.said);
        let cancel = format!("cancel {}", newest(&world).id());
        says(&mut world, "ann", &cancel);
        world.rights = Some(Box::new(Team::default()));
        let done = says(&mut world, "ann", "restart nginx");
        let left = if n == 100 { "this was the last use".to_owned() } else { format!("{} of 100 uses left", 100 - n) };
        assert!(done.said.contains(&left) && writes(&done) == 1, "{}", done.said);
    }
    let asked = says(&mut world, "ann", "restart nginx");
    assert!(asked.said.contains(" asks to ") && writes(&asked) == 0, "{}", asked.said);
}

#[test]
fn of_two_who_race_for_the_last_use_one_acts_and_one_asks() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "1 time");
    let before = world.files.ledger.clone();
    assert_eq!(writes(&says(&mut world, "ann", "restart nginx")), 1);
    world.stale = Some(before);
    let told = says(&mut world, "ann", "restart nginx");
    assert!(told.said.contains(" asks to restart nginx"), "{}", told.said);
    let plan = newest(&world);
    assert_eq!((writes(&told), plan.state(), plan.standing.version), (0, PlanState::Pending, 0));
    assert_eq!(the_grant(&world).1.uses, 1);
    // It waits like any other, also in the thread's memory.
    assert_eq!(writes(&says(&mut world, "bob", &format!("approve {}", plan.id()))), 1);
}
