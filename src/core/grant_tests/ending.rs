//! How a permission ends: replaced, taken back, used up, or gone with the plan on which it was given; and what a list says
//! of one that would not be used.

use serde_json::json;

use super::*;

fn grants(world: &World) -> usize {
    world.files.ledger.grants().count()
}

fn recorded(told: &Told, what: &str) -> usize {
    let what = format!("what: \"{what}\"");
    told.effects.iter().filter(|effect| effect.contains(&what)).count()
}

fn grant_newest(world: &mut World, terms: &str) -> Told {
    let plan = newest(world).id().clone();
    says(world, "bob", &format!("grant {plan} {terms}"))
}

#[test]
fn a_second_permission_for_the_same_thing_replaces_the_first() {
    let mut world = world();
    let old = given_on(&mut world, "restart nginx", "");
    let told = grant_newest(&mut world, "2 times");
    assert!(told.said.contains(&format!("It replaces what was allowed as {}.", old.as_str())), "{}", told.said);
    assert_eq!((recorded(&told, "grant_replaced"), recorded(&told, "granted"), grants(&world)), (1, 1, 1));
    let (new, grant) = the_grant(&world);
    assert!(new != old && grant.uses_max == 2);
    let told = says(&mut world, "ann", &format!("revoke {}", new.as_str()));
    assert!(told.said.starts_with("Taken back") && grants(&world) == 0, "{}", told.said);
    let asked = says(&mut world, "ann", "restart nginx");
    assert!(asked.said.contains(" asks to ") && writes(&asked) == 0, "{}", asked.said);
}

#[test]
fn what_is_not_quite_the_same_stays_beside_it() {
    let differ: [fn(&mut Grant); 7] = [
        |grant| grant.tool = "lab_other".to_owned(),
        |grant| grant.action = "edit".to_owned(),
        |grant| grant.target = "service:web-1:postgres".parse().expect("an id"),
        |grant| drop(grant.args.insert("text".to_owned(), json!("b"))),
        |grant| grant.room.0 = Platform::new("other"),
        |grant| grant.room.1 = ConversationId::new("another"),
        |grant| grant.person.person = "carl".to_owned(),
    ];
    for (n, differs) in differ.into_iter().enumerate() {
        let mut world = world();
        given_on(&mut world, "restart nginx", "");
        change(&mut world, differs);
        let told = grant_newest(&mut world, "");
        assert_eq!((grants(&world), recorded(&told, "grant_replaced")), (2, 0), "{n}: {}", told.said);
    }
}

#[test]
fn one_word_takes_back_everything_for_the_same_thing() {
    let mut world = world();
    let id = given_on(&mut world, "restart nginx", "");
    let (_, grant) = the_grant(&world);
    for (n, target) in [(7, NGINX), (8, "service:web-1:postgres")] {
        let another = Grant { target: target.parse().expect("an id"), ..grant.clone() };
        let keep = world.files.ledger.put(Key::Grant(GrantId::from_random(n)), Some(Record::Grant(Box::new(another))));
        world.files.ledger.apply(&keep).expect("a new row");
    }
    let told = says(&mut world, "ann", &format!("revoke {}", id.as_str()));
    assert_eq!((recorded(&told, "revoked"), grants(&world)), (2, 1), "{}", told.said);
    assert_eq!(the_grant(&world).1.target.as_str(), "service:web-1:postgres");
}

#[test]
fn the_list_says_what_would_not_be_used_now() {
    let rows: [(&str, Happens); 6] = [
        ("what needs more than one countersignature is asked for each time", |world| {
            world.rights = Some(Box::new(Team { terms: two_people(), ..Team::default() }));
        }),
        ("who gave it may not allow it now", |world| {
            world.rights = Some(Box::new(Team { gives_nothing: true, ..Team::default() }));
        }),
        ("who gave it may not countersign it alone now", |world| {
            world.rights = Some(Box::new(Team { decides_nothing: true, ..Team::default() }));
        }),
        ("a change of high risk is asked for each time", |world| {
            declare(world, "change.risk = \"medium\"", "change.risk = \"high\"");
        }),
        ("its risk is medium by now", |world| change(world, |grant| grant.risk = Risk::Low)),
        ("it is not declared any more", |world| change(world, |grant| grant.action = "other".to_owned())),
    ];
    for (why, happens) in rows {
        let mut world = world();
        given_on(&mut world, "restart nginx", "");
        assert!(!says(&mut world, "ann", "grants").said.contains("Not used now"), "{why}");
        happens(&mut world);
        let told = says(&mut world, "ann", "grants");
        assert!(told.said.contains(&format!("Not used now: {why}")), "{why}: {}", told.said);
    }
}

#[test]
fn the_last_use_says_that_it_has_ended() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "1 time");
    let told = says(&mut world, "ann", "restart nginx");
    assert!(
        told.said.trim_end().ends_with("as bob allowed; this was the last use, so that has ended."),
        "{}",
        told.said
    );
}

/// Everything by which a plan comes to nothing after it was countersigned.
const IN_VAIN: [(&str, Happens); 4] = [
    ("it differs", |world| {
        let stopped = json!({ "name": "nginx", "present": true, "state": "stopped", "run": "2" });
        world.answers("lab_read.status", stopped);
    }),
    ("it drifted", |world| {
        for resource in &mut world.script.resources {
            resource.attrs.insert("run".to_owned(), "5".to_owned());
        }
    }),
    ("it is not there any more", |world| world.script.resources.clear()),
    ("it is refused in the same step", |world| {
        world.rights = Some(Box::new(Team { asks_nothing: true, ..Team::default() }));
    }),
];

#[test]
fn a_permission_goes_with_the_plan_on_which_it_was_given() {
    for (what, happens) in IN_VAIN {
        let mut world = world();
        says(&mut world, "ann", "restart nginx");
        happens(&mut world);
        let told = grant_newest(&mut world, "");
        let said = "What was allowed beforehand with this plan has ended, too: it was not seen to work.";
        assert_eq!(told.said.matches(said).count(), 1, "{what}: {}", told.said);
        assert_eq!((grants(&world), recorded(&told, "grant_fell")), (0, 1), "{what}: {}", told.said);
        assert!(matches!(newest(&world).state(), PlanState::Refused(_) | PlanState::Verified(_)), "{what}");
    }
}

#[test]
fn a_later_failure_takes_nothing_that_was_seen_to_work() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "");
    let stopped = json!({ "name": "nginx", "present": true, "state": "stopped", "run": "2" });
    world.answers("lab_read.status", stopped);
    let told = says(&mut world, "ann", "restart nginx");
    assert!(told.said.contains("9 of 10 uses left") && !told.said.contains("has ended, too"), "{}", told.said);
    assert_eq!(grants(&world), 1);
}

#[test]
fn where_somebody_was_faster_the_plan_still_ends_and_the_permission_with_it() {
    let mut world = world();
    says(&mut world, "ann", "restart nginx");
    let stopped = json!({ "name": "nginx", "present": true, "state": "stopped", "run": "2" });
    world.answers("lab_read.status", stopped);
    let plan = newest(&world).id().clone();
    let (mut told, mut begun) = (Told::default(), false);
    let mut inputs = vec![Input::Signal(Box::new(signal("g", "bob", &format!("grant {plan}"))))];
    while let Some(input) = inputs.pop() {
        let calls = world.input(input, &mut told);
        inputs.extend(calls.iter().map(|call| world.run(call)));
        if !begun && state(&world, &plan) == PlanState::Unverified {
            begun = true;
            let before = world.files.ledger.clone();
            change(&mut world, |grant| grant.uses += 1);
            world.stale = Some(before);
        }
    }
    assert!(begun && world.stale.is_none(), "it was overtaken");
    assert_eq!((writes(&told), state(&world, &plan)), (1, PlanState::Verified(Outcome::Differs)), "{}", told.said);
    assert_eq!(grants(&world), 0, "{}", told.said);
}

#[test]
fn what_is_gone_afterwards_is_not_allowed_beforehand() {
    let mut world = world();
    says(&mut world, "ann", "restart nginx");
    let known = newest(&world);
    let mut plan = known.frozen.plan().clone();
    plan.expect.absent = true;
    let gone = Filed { frozen: crate::approval::Frozen::freeze(plan), ..known.clone() };
    let (bob, thread) = (signal("g", "bob", "").actor, crate::testkit::thread_key("main"));
    let given = |filed: &Filed| crate::approval::may_be_given(filed, &Asker::at(&bob, &thread), &world.env());
    assert!(given(&known).is_ok());
    assert_eq!(given(&gone).expect_err("it is gone").message, "what is gone afterwards cannot be done again");
}

#[test]
fn an_account_that_others_linked_uses_no_permission_of_its_person() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "");
    let own = says(&mut world, "ann", "restart nginx");
    assert_eq!(writes(&own), 1, "{}", own.said);
    world.rights = Some(Box::new(Team { linked_by_another: true, ..Team::default() }));
    let others = says(&mut world, "ann", "restart nginx");
    assert!(others.said.contains(" asks to ") && writes(&others) == 0, "{}", others.said);
}

#[test]
fn a_permission_is_not_used_for_it() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "");
    says(&mut world, "ann", "status of nginx");
    let told = says(&mut world, "ann", "restart it");
    assert!(told.said.contains(" asks to restart nginx") && writes(&told) == 0, "{}", told.said);
    let named = says(&mut world, "ann", "restart nginx");
    assert_eq!(writes(&named), 0, "the same change waits already: {}", named.said);
}
