//! What was let pass without a card and is under way: looked at again before it is carried out, taken up after a crash,
//! and what a room's control level lets pass.

use super::*;

/// Ann asks, and everything is done until her plan is approved and its target is about to be looked at afresh.
fn approved_unasked(world: &mut World, asked: &Signal) -> Vec<Input> {
    let (mut told, mut inputs) = (Told::default(), vec![Input::Signal(Box::new(asked.clone()))]);
    while world.files.rows.values().next_back().is_none_or(|filed| filed.state() != PlanState::Approved) {
        let calls = world.input(inputs.pop().expect("more to come"), &mut told);
        inputs.extend(calls.iter().map(|call| world.run(call)));
    }
    inputs
}

#[test]
fn a_use_that_was_begun_is_looked_at_again_before_it_is_carried_out() {
    let rows: [(&str, Happens); 4] = [
        ("taken back", |world| {
            let taken = world.files.ledger.put(Key::Grant(the_grant(world).0), None);
            world.files.ledger.apply(&taken).expect("nobody is faster");
        }),
        ("over", |world| world.wall += 60_000),
        ("demoted", |world| world.rights = Some(Box::new(Team { gives_nothing: true, ..Team::default() }))),
        ("read-only", |world| world.rights = Some(Box::new(Team { changes_nothing: true, ..Team::default() }))),
    ];
    for (what, happens) in rows {
        let mut world = world();
        given_on(&mut world, "restart nginx", "for 1 minutes");
        let mut inputs = approved_unasked(&mut world, &signal("u", "ann", "restart nginx"));
        happens(&mut world);
        let mut told = Told::default();
        while let Some(input) = inputs.pop() {
            let calls = world.input(input, &mut told);
            inputs.extend(calls.iter().map(|call| world.run(call)));
        }
        assert!(matches!(newest(&world).state(), PlanState::Refused(_)) && writes(&told) == 0, "{what}: {}", told.said);
        assert!(told.said.contains("Not done: restart nginx"), "{what}: {}", told.said);
    }
}

#[test]
fn a_use_that_a_crash_interrupted_goes_on_once_and_is_not_counted_twice() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "3 times");
    let asked = signal("u", "ann", "restart nginx");
    approved_unasked(&mut world, &asked);
    let plan = newest(&world).id().clone();
    world.restart();
    let told = world.hear_again(asked.clone());
    assert_eq!((writes(&told), state(&world, &plan)), (1, PlanState::Verified(Outcome::AsExpected)), "{}", told.said);
    assert!(told.said.contains("2 of 3 uses left"), "{}", told.said);
    assert_eq!((the_grant(&world).1.uses, newest(&world).id().clone()), (1, plan));
}

#[test]
fn an_autonomous_room_does_low_risk_alone_and_nothing_else() {
    let alone = Team { alone: Some("lab_control.restart"), ..Team::default() };
    let mut world = of_risk("low");
    world.rights = Some(Box::new(alone.clone()));
    let told = says(&mut world, "ann", "restart nginx");
    insta::assert_snapshot!(plain(&told, &world), @r#"
    Done and verified: restart nginx. A fresh read shows what was expected.
    state: running (as expected)
    run: 2 (as expected)
    Without asking, as the access file lets the people of this room do this alone.
    "#);
    let decided = newest(&world).standing.decided.expect("decided");
    assert_eq!((decided.by.id.as_str(), decided.unasked, decided.waiver), ("ann", Some(Unasked::Level), false));
    assert!(told.effects.iter().any(|effect| effect.contains("by the room's control level: restart nginx")));
    let rows: [(&str, &str, Differs); 8] = [
        ("two people", "low", |world| {
            let alone = Some("lab_control.restart");
            world.rights = Some(Box::new(Team { alone, terms: two_people(), ..Team::default() }));
            says(world, "ann", "restart nginx")
        }),
        ("somebody of a group", "low", |world| {
            let alone = Some("lab_control.restart");
            world.rights = Some(Box::new(Team { alone, terms: of_a_group(), ..Team::default() }));
            says(world, "ann", "restart nginx")
        }),
        ("a service", "low", |world| {
            let mut asked = signal("service", "ann", "restart nginx");
            asked.actor.kind = ActorKind::Service;
            world.hear(asked)
        }),
        ("another person", "low", |world| says(world, "carl", "restart nginx")),
        ("another action", "low", |world| says(world, "ann", "edit nginx: b")),
        ("medium risk", "medium", |world| says(world, "ann", "restart nginx")),
        ("high risk", "high", |world| says(world, "ann", "restart nginx")),
        ("what was found", "low", |world| {
            for resource in &mut world.script.resources {
                resource.attrs.insert("odd".to_owned(), "yes".to_owned());
            }
            says(world, "ann", "restart nginx")
        }),
    ];
    for (what, risk, asks) in rows {
        let mut world = if risk == "medium" { self::world() } else { of_risk(risk) };
        world.rights = Some(Box::new(alone.clone()));
        let told = asks(&mut world);
        assert!(told.said.contains(" asks to ") && writes(&told) == 0, "{what}: {}", told.said);
    }
}

#[test]
fn a_room_that_is_autonomous_no_more_stops_what_was_begun() {
    for now in [Team::default(), Team { changes_nothing: true, ..Team::default() }] {
        let mut world = of_risk("low");
        world.rights = Some(Box::new(Team { alone: Some("lab_control.restart"), ..Team::default() }));
        let mut inputs = approved_unasked(&mut world, &signal("u", "ann", "restart nginx"));
        world.rights = Some(Box::new(now));
        let mut told = Told::default();
        while let Some(input) = inputs.pop() {
            let calls = world.input(input, &mut told);
            inputs.extend(calls.iter().map(|call| world.run(call)));
        }
        assert!(matches!(newest(&world).state(), PlanState::Refused(_)) && writes(&told) == 0, "{}", told.said);
    }
}

#[test]
fn a_permission_that_a_crash_interrupted_is_given_once_and_goes_on() {
    let mut world = world();
    says(&mut world, "ann", "restart nginx");
    let plan = newest(&world).id().clone();
    let grant = signal("g", "bob", &format!("grant {plan}"));
    world.input(Input::Signal(Box::new(grant.clone())), &mut Told::default());
    assert_eq!((state(&world, &plan), world.files.ledger.grants().count()), (PlanState::Approved, 1));
    world.restart();
    let told = world.hear_again(grant);
    assert_eq!((writes(&told), world.files.ledger.grants().count()), (1, 1), "{}", told.said);
    assert_eq!(state(&world, &plan), PlanState::Verified(Outcome::AsExpected));
}

#[test]
fn why_nobody_was_asked_is_said_once() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "");
    leave_unverified(&mut world);
    let told = says(&mut world, "ann", "verify");
    assert!(told.said.starts_with("Done and verified") && !told.said.contains("Without asking"), "{}", told.said);
}

#[test]
fn what_cannot_be_shown_whole_is_not_done_unasked_either() {
    let mut world = world();
    given_on(&mut world, "edit nginx: b", "");
    let preview = "+b\n".repeat(4_000);
    world.answers(
        "lab_read.preview",
        serde_json::json!({ "before": { "run": "1" }, "preview": preview, "after": "sum" }),
    );
    let told = asks(&mut world);
    assert!(told.said.contains("cannot be shown whole") && writes(&told) == 0, "{}", told.said);
}
