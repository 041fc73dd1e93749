//! Tests of what is put in the place of what was shown: the lines while work goes on, cards that keep up with their plans,
//! and refusals for one person alone. That every move is followed by its card in any order of events is in
//! `sequence_tests/cards.rs`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::num::NonZeroU32;

use super::*;
use crate::approval::{Circle, Outcome, Standing, Terms, Vote};
use crate::envelope::Code;
use crate::port::CardChoice;
use crate::secrets::Mask;
use crate::signal::{
    Actor, ActorId, ActorKind, Assurance, ConversationKind, Payload, Platform, QuestionId, Signal, SignalId, Wall,
};
use crate::testkit::scene::{approves, asked, due, edited, newest, ours, presses, restarted, row, says};
use crate::testkit::{Told, World, resource, signal};

/// The last line of each card that was shown.
fn last_lines(told: &Told) -> Vec<&str> {
    told.cards.iter().filter_map(|card| card.trim_end().lines().last()).collect()
}

fn quorum(world: &mut World, people: u32) {
    let quorum = NonZeroU32::new(people).expect("at least one");
    world.people.terms = Terms { quorum, ..Terms::default() };
}

fn somebody(name: &str) -> Actor {
    Actor { id: ActorId::new(name), kind: ActorKind::Human, display: name.to_owned() }
}

fn decided(name: &str, reason: &str) -> Decided {
    let (platform, signal) = (Platform::new("test"), SignalId::new("d"));
    let (by, at, reason) = (somebody(name), Wall(0), reason.to_owned());
    Decided { platform, by, signal, at, waiver: false, unsealed: false, reason, unasked: None }
}

fn vote(name: &str) -> Vote {
    let (platform, signal, room) = (Platform::new("test"), SignalId::new(name), ConversationKind::Group);
    let (person, assurance) = (name.to_owned(), Assurance::Platform);
    Vote {
        platform,
        by: somebody(name),
        person,
        roles: Vec::new(),
        room,
        signal,
        at: Wall(0),
        waiver: false,
        unsealed: false,
        assurance,
    }
}

#[test]
fn a_request_tells_what_it_is_doing_and_claims_nothing() {
    let mut world = World::with_fleet();
    let progress = |told: Told| told.progress.concat();
    let read = progress(world.say("status of nginx"));
    let again = progress(world.say("status of it"));
    let load = progress(world.say("load"));
    let change = progress(world.say("restart nginx"));
    restarted(&mut world);
    let plan = newest(&world).id().clone();
    let done = progress(approves(&mut world, "bob", &plan));
    let own = progress(world.say("help"));
    insta::assert_snapshot!([read, again, load, change, done, own].join("---\n"), @r"
    looking for nginx
    reading lab_read.status of nginx on web-1
    ---
    looking for nginx
    reading lab_read.status of nginx on web-1
    ---
    looking for every host
    reading lab_read.load of web-1
    ---
    looking for nginx
    looking for nginx
    ---
    looking for nginx
    doing it: restart nginx
    verifying: restart nginx
    ---
    ");
}

#[test]
fn what_nobody_asked_shows_no_progress() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    world.answers("lab_control.restart", serde_json::json!({ "done": true }));
    world.script.answers.remove("lab_read.status");
    let unread = approves(&mut world, "bob", &plan);
    assert!(unread.said.contains("Not verified"), "{}", unread.said);
    world.pass(60_000);
    let looked = due(&mut world, &plan);
    assert!(looked.calls.len() == 1 && looked.progress.is_empty(), "{:?}", looked.progress);
    let asked_for = says(&mut world, "ann", "verify");
    assert_eq!(asked_for.progress, ["verifying: restart nginx\n"]);
}

#[test]
fn a_line_that_a_gate_refuses_is_recorded_once_and_not_shown() {
    let mut world = World::with_fleet();
    world.script.resources = vec![resource("service:web-1:x", "x@here")];
    assert_eq!(world.say("status of x@here").progress.len(), 2);
    // What is harmless by its blank is what may not be shown. So few letters are looked for in this form alone.
    world.mask = Mask::new(["@ here".to_owned()]);
    let told = world.say("status of x@here");
    assert_eq!((told.calls.len(), told.progress.len(), told.said.as_str()), (2, 0, "nginx is running.\n"));
    let counted = told.counted.iter().filter(|count| count.starts_with("gate_block_total")).count();
    let recorded = told.effects.iter().filter(|effect| effect.contains("what: \"refused\"")).count();
    assert_eq!((counted, recorded), (1, 1), "{:?}", told.counted);
}

#[test]
fn a_card_keeps_up_with_its_plan() {
    let mut world = World::with_fleet();
    quorum(&mut world, 2);
    let plan = asked(&mut world);
    restarted(&mut world);
    let first = approves(&mut world, "bob", &plan);
    let waits = first
        .cards
        .concat()
        .replace(plan.as_str(), "PLAN")
        .replace(row(&world, &plan).frozen.digest().short(), "DIGEST");
    insta::assert_snapshot!(waits, @"
    ? ann asks to restart nginx on web-1.
    Medium risk. Then running, another run.
    It takes 2 people: bob or carol can approve until 22:28 UTC.
    Plan 0000: “restart nginx”
    1 of 2 have countersigned: bob
    [Approve, Deny]
    ");
    let second = approves(&mut world, "carol", &plan);
    insta::assert_snapshot!(last_lines(&second).join("\n"), @"
    ✓ Countersigned by bob and carol; being done · restart nginx on web-1 (0000)
    ✓ Countersigned by bob and carol; being done · restart nginx on web-1 (0000)
    ✓ Countersigned by bob and carol; not verified yet · restart nginx on web-1 (0000)
    ✓ Done and verified; countersigned by bob and carol · restart nginx on web-1 (0000)
    ");
    assert!(second.cards.iter().all(|card| card.lines().count() == 1), "what is decided is one line");
}

#[test]
fn the_end_of_a_plan_is_on_its_card() {
    let ends: [fn(&mut World) -> Told; 5] = [
        |world| {
            let plan = asked(world);
            says(world, "bob", &format!("deny {plan} Not @everyone password=hunter2hunter2"))
        },
        |world| {
            let plan = asked(world);
            says(world, "ann", &format!("cancel {plan}"))
        },
        |world| {
            let plan = asked(world);
            world.pass(60 * 60_000);
            due(world, &plan)
        },
        |world| {
            let plan = asked(world);
            edited(world, &plan)
        },
        |world| {
            let plan = asked(world);
            world.script.resources.retain(|one| one.name != "nginx");
            approves(world, "bob", &plan)
        },
    ];
    let lines = ends.map(|end| last_lines(&end(&mut World::with_fleet())).join(" > "));
    insta::assert_snapshot!(lines.join("\n"), @"
    ✗ Denied by bob: Not @ everyone password=[masked: password] · restart nginx on web-1 (0000)
    ✗ Cancelled by ann · restart nginx on web-1 (0000)
    Expired: nobody decided in time · restart nginx on web-1 (0000)
    Withdrawn: the message that asked for it was edited · restart nginx on web-1 (0000)
    ✓ Countersigned by bob; being done · restart nginx on web-1 (0000) > refused: ✗ Not done: it was refused (DRIFTED). Nothing was changed · restart nginx on web-1 (0000)
    ");
}

#[test]
fn a_decided_card_asks_for_nothing_whoever_was_to_countersign_it() {
    let asks = [" asks to ", " can approve", "have to approve", "alone"];
    let group = Circle { group: "sre".to_owned(), escalate: Vec::new() };
    let terms = [(1, BTreeSet::new()), (2, BTreeSet::new()), (1, BTreeSet::from([group]))];
    for (people, circles) in terms {
        let mut world = World::with_fleet();
        quorum(&mut world, people);
        world.people.terms.circles = circles;
        world.people.group("sre", &["bob"]);
        let plan = asked(&mut world);
        let denied = says(&mut world, "bob", &format!("deny {plan}"));
        let card = denied.cards.concat();
        let short = approval::short(&plan);
        assert_eq!(card, format!("✗ Denied by bob · restart nginx on web-1 ({short})\n"));
        assert!(asks.iter().all(|words| !card.contains(words)), "{card}");
    }
}

#[test]
fn where_there_is_no_card_none_is_put_right() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let told = ours(&mut world, Payload::Unreachable { plan });
    assert!(told.said.contains("Its card could not be delivered") && told.cards.is_empty(), "{:?}", told.cards);
    let plan = asked(&mut world);
    let mut unasked = row(&world, &plan).clone();
    unasked.standing.decided = Some(Decided { unasked: Some(approval::Unasked::Level), ..decided("ann", "") });
    assert!(!has_card(&unasked) && has_card(row(&world, &plan)));
}

/// Every state with what comes with it, on the card of one plan that takes two people.
fn everywhere(world: &mut World) -> Vec<(Filed, Option<Decided>)> {
    quorum(world, 2);
    let plan = asked(world);
    let filed = row(world, &plan).clone();
    let voted = Standing { votes: vec![vote("bob"), vote("carol")], ..Standing::new() };
    let at = |state: PlanState, standing: &Standing| Filed {
        standing: Standing { state, ..standing.clone() },
        ..filed.clone()
    };
    let withdrawn = |why| at(PlanState::Cancelled, &Standing { withdrawn: Some(why), ..Standing::new() });
    let too_late = Standing { decided: Some(decided("bob", "")), ..voted.clone() };
    let by = |name: &str| Some(decided(name, "not now"));
    vec![
        (at(PlanState::Pending, &Standing::new()), None),
        (at(PlanState::Pending, &Standing { votes: vec![vote("bob")], ..Standing::new() }), None),
        (at(PlanState::Pending, &voted), None),
        (at(PlanState::Approved, &voted), by("carol")),
        (at(PlanState::Executing, &voted), None),
        (at(PlanState::Unverified, &voted), None),
        (at(PlanState::Unknown, &voted), None),
        (at(PlanState::Verified(Outcome::AsExpected), &voted), None),
        (at(PlanState::Verified(Outcome::Differs), &voted), None),
        (at(PlanState::Verified(Outcome::Absent), &voted), None),
        (at(PlanState::Denied, &voted), by("dora")),
        (at(PlanState::Denied, &Standing::new()), Some(decided("dora", ""))),
        (at(PlanState::Expired, &Standing::new()), None),
        (at(PlanState::Expired, &too_late), None),
        (at(PlanState::Cancelled, &voted), by("ann")),
        (at(PlanState::Cancelled, &too_late), None),
        (withdrawn(Withdrawal::Edited), None),
        (withdrawn(Withdrawal::Deleted), None),
        (at(PlanState::Refused(Code::Drifted), &voted), None),
        (at(PlanState::Failed, &voted), None),
    ]
}

#[test]
fn every_state_has_its_words_and_only_one_that_waits_has_buttons() {
    let mut world = World::with_fleet();
    let all = everywhere(&mut world);
    let request = Request::new(signal("s", "ann", ""), 1);
    let mask = Mask::default();
    let mut table = String::new();
    for (filed, by) in &all {
        let said = say::card::status(filed, by.as_ref(), &mask);
        let words = said.map_or_else(|| "-".to_owned(), |(mark, line)| format!("{mark:?}: {line}"));
        writeln!(table, "{:<10} {words}", filed.state().as_str()).expect("a String takes any text");
        let line = Some("how it stands".to_owned());
        let status = Status { mark: Mark::Plain, claim: Claim::Nothing, line };
        let ways = ways_to_show(&status, &request, filed);
        let is_card = |block: &Block| matches!(block, Block::Card { .. });
        for way in &ways {
            assert_eq!(way.blocks.last().is_some_and(is_card), filed.state() == PlanState::Pending, "{filed:?}");
            assert_eq!(
                way.blocks.iter().filter(|block| is_card(block)).count(),
                usize::from(filed.state() == PlanState::Pending)
            );
            assert_eq!(way.lane, Lane::Progress);
            let shown = crate::testkit::plain(way);
            let is_asked = filed.state() == PlanState::Pending;
            for words in [" asks to ", " can approve"] {
                assert_eq!(shown.contains(words), is_asked, "{words}: {shown}");
            }
        }
        assert!(!ways.is_empty() && ways.iter().skip(1).all(|way| way.claim == Claim::Nothing));
    }
    insta::assert_snapshot!(table, @r"
    pending    -
    pending    Question: 1 of 2 have countersigned: bob
    pending    Question: Countersigned by bob and carol; it takes somebody else, too.
    approved   Plain: ✓ Countersigned by bob and carol; being done.
    executing  Plain: ✓ Countersigned by bob and carol; being done.
    unverified Plain: ✓ Countersigned by bob and carol; not verified yet.
    unknown    Failed: ✗ Countersigned by bob and carol; it is not known yet whether it was done.
    verified   Plain: ✓ Done and verified; countersigned by bob and carol.
    verified   Failed: ✗ Not as planned; countersigned by bob and carol.
    verified   Failed: ✗ Not as planned; countersigned by bob and carol.
    denied     Plain: ✗ Denied by dora: not now
    denied     Plain: ✗ Denied by dora.
    expired    Plain: Expired: nobody decided in time.
    expired    Plain: Expired: it was approved and not begun in time.
    cancelled  Plain: ✗ Cancelled by ann: not now
    cancelled  Plain: ✗ Cancelled.
    cancelled  Plain: Withdrawn: the message that asked for it was edited.
    cancelled  Plain: Withdrawn: the message that asked for it was deleted.
    refused    Refused: ✗ Not done: it was refused (DRIFTED). Nothing was changed.
    failed     Failed: ✗ Not done: it could not be begun. Nothing was changed.
    ");
}

#[test]
fn a_change_is_claimed_on_a_card_only_by_whoever_verified_it() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let standing = Standing { state: PlanState::Verified(Outcome::AsExpected), ..Standing::new() };
    let filed = Filed { standing, ..row(&world, &plan).clone() };
    let now = world.now();
    let state = std::mem::take(&mut world.state);
    let mut turn = Turn::new(world.env(), now, state);
    let request = Request::new(signal("s", "bob", "verify"), 1);
    turn.redraw(&request, &filed, None);
    let refused = turn.effects.iter().filter(|effect| matches!(effect, Effect::Audit(row) if row.what == "refused"));
    assert_eq!(refused.count(), 1, "once, however many ways were tried");
    let Some(Effect::Redraw { message, .. }) = turn.effects.last() else { panic!("{:?}", turn.effects) };
    let shown = crate::testkit::plain(message.get());
    assert_eq!(message.get().claim, Claim::Nothing);
    assert!(
        shown.starts_with("This plan does not wait for a decision any more · restart nginx on web-1")
            && !shown.contains("verified"),
        "{shown}"
    );
}

#[test]
fn a_card_that_may_not_be_shown_any_more_loses_its_buttons_all_the_same() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    world.mask = Mask::new(["estart nginx".to_owned()]);
    let told = presses(&mut world, "bob", &plan, CardChoice::Deny);
    assert_eq!(told.cards, [format!("{}\n", say::card::OVER)]);
}

#[test]
fn nobody_is_called_on_a_card_as_they_call_themselves() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let press = crate::testkit::scene::press(&mut world, "bob", &plan, CardChoice::Deny);
    let display = "Carol\n✓ Done and verified @everyone".to_owned();
    let told = world.hear(Signal { actor: Actor { display, ..press.actor.clone() }, ..press });
    assert_eq!(last_lines(&told), ["✗ Denied by bob · restart nginx on web-1 (0000)"]);
}

#[test]
fn a_refused_press_is_nobody_elses_business_and_refused_words_are_everybodys() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let pick = |id: &str, question: &str, pick| Signal {
        payload: Payload::Choice { question: QuestionId::new(question), pick },
        ..signal(id, "bob", "")
    };
    let own = presses(&mut world, "ann", &plan, CardChoice::Approve);
    let stranger = presses(&mut world, "eve", &plan, CardChoice::Approve);
    let stray = world.hear(Signal { payload: Payload::Stray, ..signal("stray", "bob", "") });
    let over = world.hear(pick("over", "of long ago", 0));
    let denied = presses(&mut world, "bob", &plan, CardChoice::Deny);
    let late = presses(&mut world, "carol", &plan, CardChoice::Approve);
    world.script.resources.push(resource("service:web-2:nginx", "nginx"));
    world.say("status of nginx");
    let question = world.state.question.as_ref().expect("it asks which one").id.to_string();
    let anothers = world.hear(pick("anothers", &question, 0));
    let alone = [&own, &stranger, &stray, &over, &late, &anothers];
    let whom: Vec<&str> = alone.iter().flat_map(|told| told.alone.iter().map(|(whom, _)| whom.as_str())).collect();
    assert_eq!(whom, ["ann", "eve", "bob", "bob", "carol", "bob"]);
    assert!(alone.iter().all(|told| told.alone.iter().all(|(_, said)| *said == told.said)));
    // What moves a plan is told to everybody, and so is what was typed.
    assert!(denied.said.starts_with("Denied: ") && denied.alone.is_empty());
    for (who, words) in
        [("ann", format!("approve {plan}")), ("eve", format!("approve {plan}")), ("bob", "7".to_owned())]
    {
        let told = says(&mut world, who, &words);
        assert!(!told.said.is_empty() && told.alone.is_empty(), "{words}: {:?}", told.alone);
    }
}

#[test]
fn who_comes_second_hears_it_alone_where_they_pressed() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let press = crate::testkit::scene::press(&mut world, "bob", &plan, CardChoice::Approve);
    let standing = Standing { state: PlanState::Denied, version: 1, ..Standing::new() };
    let filed = world.files.rows.get_mut(&plan).expect("filed");
    filed.standing = standing;
    let told = world.hear(press);
    assert!(told.said.contains("Somebody else was faster"), "{}", told.said);
    assert_eq!(told.alone.first().map(|(whom, _)| whom.as_str()), Some("bob"));
    assert!(told.cards.is_empty() && told.calls.is_empty(), "nothing of the step was done");
}
