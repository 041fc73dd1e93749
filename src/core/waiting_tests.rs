//! Plans that wait: several people who must countersign, the group that is asked, reminders and escalations, and what makes a
//! plan fall away. Told as conversations in one thread, like `plan_tests.rs`; the same rules by their conformance rows are
//! in `conformance_tests.rs`.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use serde_json::json;

use crate::approval::{Circle, Escalation, PlanState, Terms, Told as Why, Withdrawal, told as why_not};
use crate::effect::Input;
use crate::envelope::Code;
use crate::port::CardChoice;
use crate::signal::{Addressed, EventId, Payload, Signal};
use crate::testkit::scene::{
    approves, asked, due, edited, event_of, newest, ours, plainly, presses, restarted, row, says, state, writes,
};
use crate::testkit::{Told, World, signal};

#[path = "waiting_tests/late.rs"]
mod late;

const MINUTE: u64 = 60_000;

fn quorum(people: u32) -> Terms {
    Terms { quorum: NonZeroU32::new(people).expect("at least one"), ..Terms::default() }
}

/// A world in which every plan takes this.
fn taking(terms: Terms) -> World {
    let mut world = World::with_fleet();
    world.people.terms = terms;
    restarted(&mut world);
    world
}

/// Two of the group sre, reminded after 4 minutes; the leads are asked after 6 and the heads after 8.
fn strict() -> World {
    let step = |minutes: u64, group: &str| Escalation { after_ms: minutes * MINUTE, group: group.to_owned() };
    let circle = Circle { group: "sre".to_owned(), escalate: vec![step(6, "leads"), step(8, "heads")] };
    let expires_ms = Some(10 * MINUTE);
    let mut world =
        taking(Terms { circles: BTreeSet::from([circle]), expires_ms, remind_ms: Some(4 * MINUTE), ..quorum(2) });
    world.people.group("sre", &["ann", "bob"]);
    world.people.group("leads", &["carol", "tom"]);
    world
}

/// The audit rows of a step, as `what: detail`.
fn records(told: &Told) -> Vec<String> {
    let part = |text: &str, from: &str| {
        let rest = text.split_once(from).map_or("", |(_, rest)| rest);
        rest.split_once('"').map_or("", |(part, _)| part).to_owned()
    };
    let audits = told.effects.iter().filter(|effect| effect.starts_with("Audit("));
    audits.map(|text| format!("{}: {}", part(text, "what: \""), part(text, "detail: \""))).collect()
}

#[test]
fn two_people_countersign_and_the_second_one_carries_it_out() {
    let mut world = taking(quorum(2));
    let asked_for = world.say("restart nginx");
    assert!(asked_for.said.contains("\nIt takes 2 people: bob or carol can approve"), "{}", asked_for.said);
    let plan = newest(&world).id().clone();
    let told = approves(&mut world, "bob", &plan);
    insta::assert_snapshot!(plainly(&told, &world), @"Countersigned by bob: restart nginx. One more person has to countersign it until 2023-11-14 22:28:20 UTC. Nothing is done yet.");
    insta::assert_snapshot!(records(&told).join("\n"), @"voted: countersigned by bob (bob): restart nginx; 1 more needed");
    assert_eq!((told.calls.len(), state(&world, &plan)), (0, PlanState::Pending));
    // The same person once more changes nothing; whoever asked is none of the two.
    let before = row(&world, &plan).clone();
    let again = approves(&mut world, "bob", &plan);
    let own = approves(&mut world, "ann", &plan);
    insta::assert_snapshot!([plainly(&again, &world), plainly(&own, &world)].join("---\n"), @r#"
    refused: You have countersigned this plan already, and somebody else has to as well.
    (FSM_BLOCKED, gate `decision`)
    ---
    refused: Somebody else has to countersign what you asked for yourself.
    (FORBIDDEN, gate `decision`)
    "#);
    assert_eq!(*row(&world, &plan), before);
    assert!(
        world
            .say("restart nginx")
            .said
            .starts_with("? This change waits already; its card has the words of the first request.\n1 person has countersigned this already.\nann asks to restart nginx")
    );
    // It waits through a restart.
    world.restart();
    let told = approves(&mut world, "carol", &plan);
    assert!(told.said.starts_with("Done and verified: restart nginx."), "{}", told.said);
    let people: Vec<&str> = row(&world, &plan).standing.votes.iter().map(|vote| vote.person.as_str()).collect();
    assert_eq!((people, writes(&told).len()), (vec!["bob", "carol"], 1));
}

#[test]
fn one_no_ends_it_however_many_have_countersigned() {
    let mut world = taking(quorum(3));
    let plan = asked(&mut world);
    approves(&mut world, "bob", &plan);
    let told = presses(&mut world, "carol", &plan, CardChoice::Deny);
    assert_eq!(plainly(&told, &world), "Denied: restart nginx. Nothing was changed.\n");
    assert_eq!(why_not(row(&world, &plan)), Some(Why::Denied));
}

#[test]
fn a_vote_counts_by_the_rights_that_its_person_has_when_the_last_one_countersigns() {
    let mut world = taking(quorum(2));
    let plan = asked(&mut world);
    approves(&mut world, "bob", &plan);
    world.people.barred.insert("bob".to_owned());
    let told = approves(&mut world, "carol", &plan);
    assert!(told.said.contains("One more person has to countersign it"), "{}", told.said);
    assert_eq!((told.calls.len(), state(&world, &plan)), (0, PlanState::Pending));
    assert_eq!(row(&world, &plan).standing.votes.len(), 2, "both are kept");
}

#[test]
fn two_accounts_of_one_person_are_one() {
    let mut world = taking(quorum(2));
    says(&mut world, "bob", "restart nginx");
    let plan = newest(&world).id().clone();
    approves(&mut world, "ann", &plan);
    let told = approves(&mut world, "ann@work", &plan);
    assert!(told.said.contains("You have countersigned this plan already"), "{}", told.said);
    assert_eq!((told.calls.len(), row(&world, &plan).standing.votes.len()), (0, 1));
}

#[test]
fn whoever_asked_is_one_of_several_only_by_a_waiver_and_the_record_says_so() {
    let mut world = taking(quorum(2));
    world.people.alone.insert("ann".to_owned());
    let asked_for = world.say("restart nginx");
    assert!(asked_for.said.contains("ann (who asked; the record says so) or bob or carol can approve"));
    let plan = newest(&world).id().clone();
    let own = approves(&mut world, "ann", &plan);
    insta::assert_snapshot!(records(&own).join("\n"), @"voted: countersigned by ann (ann): restart nginx; waiver: the requester counts, as policy allows here; 1 more needed");
    assert_eq!((own.calls.len(), state(&world, &plan)), (0, PlanState::Pending), "and not alone");
    assert_eq!(writes(&approves(&mut world, "bob", &plan)).len(), 1);
    assert!(row(&world, &plan).standing.decided.as_ref().is_some_and(|decided| decided.waiver));
    // What policy no longer lets them counts no longer.
    let mut world = taking(quorum(2));
    world.people.alone.insert("ann".to_owned());
    let plan = asked(&mut world);
    approves(&mut world, "ann", &plan);
    world.people.alone.clear();
    assert!(approves(&mut world, "bob", &plan).calls.is_empty());
}

/// What the card says of who asked for it, where a group or so many people are asked and they have a waiver.
fn said_of_the_requester(terms: Terms, is_in: bool, is_barred: bool) -> (String, bool) {
    let mut world = taking(terms);
    world.people.alone.insert("ann".to_owned());
    world.people.group("sre", if is_in { &["ann", "bob"] } else { &["bob"] });
    world.people.undeciding.extend(is_barred.then(|| "ann".to_owned()));
    let told = world.say("restart nginx");
    let said = told.said.lines().find_map(|line| line.split_once(" until ")).unwrap_or_default().0.to_owned();
    let plan = newest(&world).id().clone();
    let own = approves(&mut world, "ann", &plan);
    (said, !own.said.starts_with("refused"))
}

#[test]
fn a_card_promises_its_requester_only_what_they_may() {
    let group = |people| {
        let circle = Circle { group: "sre".to_owned(), escalate: Vec::new() };
        Terms { circles: BTreeSet::from([circle]), ..quorum(people) }
    };
    let alone = "ann (alone; the record says so)";
    let among = "ann (who asked; the record says so)";
    for (terms, is_in, is_barred, said) in [
        (quorum(1), false, false, format!("{alone} or bob or carol can approve")),
        (quorum(1), false, true, "bob or carol can approve".to_owned()),
        (group(1), true, false, format!("It takes 1 person of group sre: {alone} or bob can approve")),
        (group(1), false, false, "It takes 1 person of group sre: bob can approve".to_owned()),
        (quorum(2), false, false, format!("It takes 2 people: {among} or bob or carol can approve")),
        (quorum(2), false, true, "It takes 2 people: bob or carol can approve".to_owned()),
        (group(2), true, false, format!("It takes 2 people of group sre: {among} or bob can approve")),
        (group(2), false, false, "It takes 2 people of group sre: bob can approve".to_owned()),
    ] {
        let may = said.contains("ann");
        assert_eq!(said_of_the_requester(terms, is_in, is_barred), (said, may));
    }
}

#[test]
fn the_list_says_who_is_needed_and_who_has_countersigned() {
    let mut world = strict();
    let plan = asked(&mut world);
    let needs = |world: &mut World| {
        let said = world.say("approvals").said;
        said.lines().find(|line| line.starts_with("Needs: ")).unwrap_or_default().to_owned()
    };
    assert_eq!(needs(&mut world), "Needs: 2 people of group sre");
    approves(&mut world, "bob", &plan);
    assert_eq!(needs(&mut world), "Needs: 2 people of group sre; countersigned by bob");
    let mut world = taking(Terms::default());
    asked(&mut world);
    assert_eq!(needs(&mut world), "");
}

#[test]
fn the_list_tells_two_changes_of_one_thing_apart() {
    let mut world = World::with_fleet();
    world.answers("lab_read.preview", json!({ "before": { "run": "1" }, "preview": "-a\n+b", "after": "sum" }));
    let long = format!("edit nginx: {} end", "long ".repeat(40));
    for words in ["edit nginx: b", &long] {
        world.say(words);
    }
    let said = world.say("approvals").said;
    let with: Vec<&str> = said.lines().filter(|line| line.starts_with("With: ")).collect();
    insta::assert_snapshot!(with.join("\n"), @"
    With: text b
    With: text long long long long long long long long long long long long…
    ");
}

#[test]
fn words_after_the_id_are_the_reason_and_name_no_plan() {
    let mut world = taking(quorum(2));
    let plan = asked(&mut world);
    let other = "0".repeat(32);
    let rows = [
        ("because ok".to_owned(), "? This plan waits here. To approve it, use its card, or type"),
        (format!("{plan} because not {other}."), "? Say which plan to approve, by its full id:"),
        (format!("{plan} or {other}"), "I don't understand"),
        (format!("{plan} not yet"), "I don't understand"),
    ];
    for (words, answer) in rows {
        let told = says(&mut world, "bob", &format!("approve {words}"));
        assert!(
            told.said.trim_start_matches("? ").starts_with(answer.trim_start_matches("? ")),
            "{words}: {}",
            told.said
        );
    }
    assert!(row(&world, &plan).standing.votes.is_empty());
    let told = says(&mut world, "bob", &format!("approve {plan} because seen, password=hunter2hunter2"));
    insta::assert_snapshot!(records(&told).join("\n"), @"voted: countersigned by bob (bob): restart nginx; 1 more needed; reason: seen, password=[masked: password]");
    says(&mut world, "carol", &format!("approve {plan} because ok"));
    let decided = row(&world, &plan).standing.decided.clone().expect("decided");
    assert_eq!(decided.reason, "ok");
}

#[test]
fn why_says_what_became_of_the_card() {
    let mut world = taking(Terms::default());
    let plan = asked(&mut world);
    let of_the_card = |world: &mut World| {
        let told = world.say("why");
        assert!(!told.said.contains("APPROVAL_REQUIRED"), "{}", told.said);
        let said = plainly(&told, world);
        said.lines().find(|line| line.contains("countersigned")).unwrap_or_default().trim().to_owned()
    };
    assert_eq!(of_the_card(&mut world), "has to be countersigned first: its card was made, and plan PLAN waits");
    presses(&mut world, "bob", &plan, CardChoice::Deny);
    assert_eq!(of_the_card(&mut world), "had to be countersigned: its card was made, and plan PLAN is denied");
}

#[test]
fn the_stricter_of_the_terms_then_and_now_count() {
    let mut world = taking(quorum(2));
    let plan = asked(&mut world);
    world.people.terms = Terms::default();
    assert!(approves(&mut world, "bob", &plan).calls.is_empty(), "the card said two");
    let mut world = taking(Terms::default());
    let plan = asked(&mut world);
    world.people.terms = quorum(2);
    assert!(approves(&mut world, "bob", &plan).calls.is_empty(), "it takes two now");
    assert_eq!(writes(&approves(&mut world, "carol", &plan)).len(), 1);
}

#[test]
fn people_are_reminded_once_and_then_more_of_them_are_asked() {
    let mut world = strict();
    let asked_for = world.say("restart nginx");
    assert!(
        asked_for.said.contains("\nIt takes 2 people of group sre: ") && asked_for.said.contains("until 22:23 UTC")
    );
    let plan = newest(&world).id().clone();
    let outside = approves(&mut world, "carol", &plan);
    insta::assert_snapshot!(plainly(&outside, &world), @r#"
    refused: You may not approve this plan; it takes somebody of group sre.
    (FORBIDDEN, gate `decision`)
    "#);
    approves(&mut world, "bob", &plan);
    world.pass(4 * MINUTE - 1);
    assert!(due(&mut world, &plan).said.is_empty(), "not yet");
    world.pass(1);
    let reminder = due(&mut world, &plan);
    insta::assert_snapshot!(plainly(&reminder, &world), @r#"
    ? Still waiting: restart nginx. It takes 2 people of group sre to countersign it until 2023-11-14 22:23:20 UTC. 1 so far. Its card is above; or type:
      approve PLAN
      deny PLAN
    "#);
    assert!(due(&mut world, &plan).said.is_empty(), "once");
    world.restart();
    assert!(due(&mut world, &plan).said.is_empty(), "and a restart does not repeat it");
    world.pass(2 * MINUTE);
    let escalation = due(&mut world, &plan);
    insta::assert_snapshot!(plainly(&escalation, &world), @r#"
    ? Not decided yet; from now on group leads may decide, too: restart nginx. It takes 2 people of group sre or leads to countersign it until 2023-11-14 22:23:20 UTC. 1 so far. Its card is above; or type:
      approve PLAN
      deny PLAN
    "#);
    insta::assert_snapshot!([records(&reminder), records(&escalation)].concat().join("\n"), @r#"
    reminded: its people were reminded
    escalated: from now on group leads may decide, too
    "#);
    world.restart();
    assert!(due(&mut world, &plan).said.is_empty());
    assert_eq!(state(&world, &plan), PlanState::Pending, "to ask more people is to approve nothing");
    let told = approves(&mut world, "carol", &plan);
    assert!(told.said.starts_with("Done and verified"), "{}", told.said);
}

#[test]
fn reminders_and_escalations_give_no_more_time_and_come_before_the_end_only() {
    let mut world = strict();
    let plan = asked(&mut world);
    world.pass(9 * MINUTE);
    // The process was down meanwhile: each is told once, in order.
    let told: Vec<String> = (0..4).map(|_| due(&mut world, &plan).said).collect();
    let leads = [
        "? Still waiting",
        "? Not decided yet; from now on group leads",
        "? Not decided yet; from now on group heads",
        "",
    ];
    assert!(told.iter().zip(leads).all(|(told, lead)| told.starts_with(lead)), "{told:?}");
    assert!(told[3].is_empty());
    world.pass(MINUTE);
    assert!(due(&mut world, &plan).said.starts_with("Expired: restart nginx. Nobody decided in time."));
    let mut world = strict();
    let plan = asked(&mut world);
    world.pass(10 * MINUTE);
    assert!(due(&mut world, &plan).said.starts_with("Expired"), "what is over needs no reminder");
}

#[test]
fn a_hint_comes_by_whichever_clock_is_first() {
    for by_wall in [true, false] {
        let mut world = strict();
        let plan = asked(&mut world);
        let minutes = i64::try_from(4 * MINUTE).expect("small");
        if by_wall {
            world.wall += minutes;
        } else {
            (world.clock, world.wall) = (world.clock + 4 * MINUTE, world.wall - 1_000_000_000);
        }
        let (at, of) = world.state.next_due().expect("a plan waits");
        let now = world.now();
        assert_eq!((at.wait_ms(now.wall, now.mono), &of), (0, &plan));
        assert!(due(&mut world, &plan).said.starts_with("? Still waiting"));
    }
}

#[test]
fn what_a_decided_plan_has_left_to_tell_is_told_to_nobody() {
    let mut world = strict();
    let plan = asked(&mut world);
    presses(&mut world, "bob", &plan, CardChoice::Deny);
    world.pass(9 * MINUTE);
    let now = world.now();
    assert_eq!(world.state.desk.hint(&plan, now), None);
    assert!(due(&mut world, &plan).said.is_empty());
}

#[test]
fn an_edited_or_deleted_request_takes_its_plan_back() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let told = edited(&mut world, &plan);
    insta::assert_snapshot!(plainly(&told, &world), @"Withdrawn: restart nginx. The message that asked for it was edited. Nothing was changed. Ask again if it is still wanted.");
    insta::assert_snapshot!(records(&told).join("\n"), @"cancelled: The message that asked for it was edited");
    restarted(&mut world);
    let late = approves(&mut world, "bob", &plan);
    insta::assert_snapshot!(plainly(&late, &world), @r#"
    refused: This plan is withdrawn already: the message that asked for it was edited.
    (FSM_BLOCKED, gate `decision`)
    "#);
    assert!(late.calls.is_empty());
    // A second edit, an edit of something else, and one that does not address the bot.
    assert!(edited(&mut world, &plan).said.is_empty());
    let plan = asked(&mut world);
    let other = Payload::Deleted { event: EventId::new("another message") };
    let quiet = world.hear(Signal { payload: other, ..signal("d-1", "ann", "") });
    assert!(quiet.said.is_empty() && quiet.effects.iter().all(|effect| effect.starts_with("Finish")), "{quiet:?}");
    let payload = Payload::Deleted { event: event_of(&world, &plan) };
    let told = world.hear(Signal { payload, addressed: Addressed::No, ..signal("d-2", "eve", "") });
    assert!(told.said.contains("The message that asked for it was deleted."), "{}", told.said);
    assert_eq!(why_not(row(&world, &plan)), Some(Why::Withdrawn(Withdrawal::Deleted)));
}

#[test]
fn what_was_approved_and_not_begun_is_taken_back_and_what_was_begun_is_not() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let approval = crate::testkit::scene::press(&mut world, "bob", &plan, CardChoice::Approve);
    let look = world.input(Input::Signal(Box::new(approval)), &mut Told::default());
    assert_eq!((look.len(), state(&world, &plan)), (1, PlanState::Approved));
    world.restart();
    assert!(edited(&mut world, &plan).said.starts_with("Withdrawn: restart nginx."));
    assert_eq!(state(&world, &plan), PlanState::Cancelled);
    restarted(&mut world);
    let plan = asked(&mut world);
    approves(&mut world, "bob", &plan);
    assert!(edited(&mut world, &plan).said.is_empty(), "it is done");
}

#[test]
fn a_card_that_never_came_is_told_apart_from_a_no() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    // Only the engine says so.
    let forged = Payload::Unreachable { plan: plan.clone() };
    world.hear(Signal { payload: forged.clone(), ..signal("forged", "bob", "") });
    assert_eq!(state(&world, &plan), PlanState::Pending);
    let told = ours(&mut world, forged.clone());
    insta::assert_snapshot!(plainly(&told, &world), @"Unreachable: restart nginx. Its card could not be delivered, so nobody could be asked. Nothing was changed. Ask again if it is still wanted.");
    assert_eq!(why_not(row(&world, &plan)), Some(Why::Withdrawn(Withdrawal::Unreachable)));
    // Whoever countersigned has seen another copy of it.
    let mut world = taking(quorum(2));
    let plan = asked(&mut world);
    approves(&mut world, "bob", &plan);
    let told = ours(&mut world, Payload::Unreachable { plan: plan.clone() });
    assert!(told.said.is_empty() && state(&world, &plan) == PlanState::Pending);
}

#[test]
fn each_way_to_come_to_nothing_has_words_of_its_own() {
    let mut filed = {
        let mut world = World::with_fleet();
        let plan = asked(&mut world);
        row(&world, &plan).clone()
    };
    let mut said = Vec::new();
    let withdrawn = Withdrawal::ALL.map(|why| (PlanState::Cancelled, Some(why)));
    let ends = [
        PlanState::Denied,
        PlanState::Expired,
        PlanState::Cancelled,
        PlanState::Refused(Code::Drifted),
        PlanState::Failed,
    ];
    for (state, why) in ends.map(|state| (state, None)).into_iter().chain(withdrawn) {
        (filed.standing.state, filed.standing.withdrawn) = (state, why);
        let told = why_not(&filed).expect("it is an end");
        said.push(format!("{}: {}", told.word(), told.why().unwrap_or("-")));
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    denied: -
    expired: Nobody decided in time
    cancelled: -
    refused: -
    failed: -
    withdrawn: The message that asked for it was edited
    withdrawn: The message that asked for it was deleted
    unreachable: Its card could not be delivered, so nobody could be asked
    "#);
    for open in [PlanState::Pending, PlanState::Approved, PlanState::Executing, PlanState::Unknown] {
        filed.standing.state = open;
        assert_eq!(why_not(&filed), None, "something may still come of it");
    }
}

#[test]
fn a_plan_of_before_has_the_terms_of_before() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let mut old = row(&world, &plan).frozen.plan().clone();
    (old.event, old.labels) = (None, Vec::new());
    let frozen = crate::approval::Frozen::freeze(old);
    for new in ["event", "labels", "terms"] {
        assert!(!frozen.bytes().contains(&format!("\"{new}\"")), "{}", frozen.bytes());
    }
    let read = crate::approval::Frozen::read(frozen.bytes().to_owned(), frozen.digest()).expect("the same form");
    assert_eq!(read.plan().terms, Terms::default());
}

#[test]
fn what_was_found_on_the_target_reaches_who_may_decide() {
    let mut world = World::with_fleet();
    for resource in &mut world.script.resources {
        resource.attrs.insert("sealed".to_owned(), "yes".to_owned());
    }
    let plan = asked(&mut world);
    world.restart();
    let told = approves(&mut world, "bob", &plan);
    assert!(told.said.contains("You may not approve this plan."), "{}", told.said);
}
