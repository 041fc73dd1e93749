//! A card that came late.

use super::*;

#[test]
fn a_card_that_comes_late_gives_as_much_time_as_one_that_comes_at_once() {
    let mut world = strict();
    let plan = asked(&mut world);
    world.pass(9 * MINUTE);
    let late = Payload::CardLate { plan: plan.clone() };
    // Only the engine says so.
    world.hear(Signal { payload: late.clone(), ..signal("forged", "bob", "") });
    assert_eq!(row(&world, &plan).standing.decide_by, None);
    let told = ours(&mut world, late.clone());
    assert!(told.said.is_empty(), "the card itself says it: {}", told.said);
    insta::assert_snapshot!(records(&told).join("\n"), @"card_late: its card came late: it can be decided until 2023-11-14 22:32:20 UTC");
    // Reminders and escalations begin anew, too.
    world.pass(2 * MINUTE);
    assert!(due(&mut world, &plan).said.is_empty());
    world.pass(3 * MINUTE);
    let said = due(&mut world, &plan).said;
    assert!(said.contains("Still waiting"), "it is five minutes old: {said}");
    approves(&mut world, "bob", &plan);
    assert_eq!(row(&world, &plan).standing.votes.len(), 1, "in time, by the new end");
    world.restart();
    world.pass(6 * MINUTE);
    due(&mut world, &plan);
    assert_eq!(state(&world, &plan), PlanState::Expired);
    ours(&mut world, late);
    assert_eq!(state(&world, &plan), PlanState::Expired, "it is over");
}

#[test]
fn a_card_that_is_a_day_late_gives_no_more_time() {
    let mut world = strict();
    let plan = asked(&mut world);
    let late = Payload::CardLate { plan: plan.clone() };
    let day = 24 * 60 * MINUTE;
    world.pass(day - MINUTE);
    ours(&mut world, late.clone());
    let end = row(&world, &plan).standing.decide_by;
    assert!(end.is_some());
    world.pass(2 * MINUTE);
    ours(&mut world, late);
    assert_eq!(row(&world, &plan).standing.decide_by, end);
}

#[test]
fn who_could_not_see_the_card_was_not_reminded_of_it() {
    let mut world = strict();
    let plan = asked(&mut world);
    world.pass(5 * MINUTE);
    assert!(due(&mut world, &plan).said.contains("Still waiting"));
    world.pass(2 * MINUTE);
    assert!(due(&mut world, &plan).said.contains("leads"));
    ours(&mut world, Payload::CardLate { plan: plan.clone() });
    let standing = row(&world, &plan).standing.clone();
    assert_eq!((standing.reminded, standing.level), (false, 0));
    world.pass(5 * MINUTE);
    assert!(due(&mut world, &plan).said.contains("Still waiting"), "once more");
}
