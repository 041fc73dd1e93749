//! Who decides: strangers, other rooms, the requester, roles that are gone, and what a decision leaves behind.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use crate::approval::{Circle, Escalation, PlanId, PlanState, Terms};
use crate::port::CardChoice;
use crate::signal::{ActorKind, ConversationId, Payload, Platform, Signal};
use crate::testkit::scene::{approves, asked, due, edited, newest, press, restarted, row, says, state, writes};
use crate::testkit::{Told, World, signal, thread_key};

use super::{nothing_came_of, was_refused};

#[test]
fn ac_01_a_strangers_click_is_refused_and_the_request_stays_pending() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    for stranger in ["eve", "tom"] {
        for choice in [CardChoice::Approve, CardChoice::Deny] {
            let click = press(&mut world, stranger, &plan, choice);
            let told = world.hear(click);
            was_refused(&told, "FORBIDDEN");
            nothing_came_of(&told, &world, &plan);
        }
    }
    restarted(&mut world);
    assert_eq!(writes(&approves(&mut world, "bob", &plan)).len(), 1, "the clicks have used up nothing");
}

#[test]
fn ac_02_an_eligible_approver_in_another_room_is_refused() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let click = press(&mut world, "bob", &plan, CardChoice::Approve);
    let mut room = thread_key("main");
    room.conversation = ConversationId::new("another room");
    for elsewhere in [room, thread_key("another thread")] {
        let told = world.hear(Signal { thread: elsewhere, ..click.clone() });
        was_refused(&told, "FORBIDDEN");
        nothing_came_of(&told, &world, &plan);
    }
    // The thread of that room has not even heard of the plan.
    let mut other = World::with_fleet();
    was_refused(&other.hear(click), "NOT_FOUND");
}

#[test]
fn ac_03_the_requesters_own_click_is_refused_under_four_eyes() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    for own in ["ann", "ann@work"] {
        let told = approves(&mut world, own, &plan);
        was_refused(&told, "FORBIDDEN");
        nothing_came_of(&told, &world, &plan);
    }
}

#[test]
fn ac_03_a_waiver_lets_the_requester_decide_and_is_recorded() {
    let mut world = World::with_fleet();
    world.people.alone.insert("ann".to_owned());
    let plan = asked(&mut world);
    restarted(&mut world);
    let told = approves(&mut world, "ann", &plan);
    assert_eq!(writes(&told).len(), 1, "{}", told.said);
    let standing = &row(&world, &plan).standing;
    assert!(standing.decided.as_ref().is_some_and(|decided| decided.waiver));
    assert!(standing.votes.iter().all(|vote| vote.waiver) && standing.votes.len() == 1);
    assert!(told.effects.iter().any(|effect| effect.contains("approved") && effect.contains("waiver")), "{told:?}");
    // A waiver that is gone by the time of the click is none.
    let mut world = World::with_fleet();
    world.people.alone.insert("ann".to_owned());
    let plan = asked(&mut world);
    world.people.alone.clear();
    nothing_came_of(&approves(&mut world, "ann", &plan), &world, &plan);
}

#[test]
fn ac_04_two_clicks_are_one_transition() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    restarted(&mut world);
    let click = press(&mut world, "bob", &plan, CardChoice::Approve);
    assert_eq!(writes(&world.hear(click.clone())).len(), 1);
    let version = row(&world, &plan).standing.version;
    let twice = Signal { id: crate::signal::SignalId::new("twice"), ..click };
    let late = press(&mut world, "carol", &plan, CardChoice::Approve);
    for again in [twice, late] {
        let told = world.hear(again);
        was_refused(&told, "FSM_BLOCKED");
        assert_eq!((told.calls.len(), row(&world, &plan).standing.version), (0, version));
    }
}

#[test]
fn ac_04_of_two_approvers_who_race_one_is_told_that_the_other_was_faster() {
    let (mut first, mut second) = (World::with_fleet(), World::with_fleet());
    let plan = asked(&mut first);
    second.files = first.files.clone();
    second.restart();
    restarted(&mut first);
    restarted(&mut second);
    let late = press(&mut second, "carol", &plan, CardChoice::Approve);
    assert_eq!(writes(&approves(&mut first, "bob", &plan)).len(), 1);
    // The store is the same; what the second process knows of it is old.
    second.files = first.files.clone();
    let told = second.hear(late);
    assert!(told.calls.is_empty() && told.said.contains("Somebody else was faster"), "{}", told.said);
}

#[test]
fn ac_08_words_that_approve_are_nothing_where_their_author_may_not() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let words = format!("approve {plan}");
    nothing_came_of(&says(&mut world, "tom", &words), &world, &plan);
    nothing_came_of(&says(&mut world, "bob", &format!("> {words}")), &world, &plan);
    nothing_came_of(&says(&mut world, "bob", &format!("eve wrote: {words}")), &world, &plan);
    let kinds = [
        ActorKind::Bot,
        ActorKind::Webhook,
        ActorKind::AnonymousAdmin,
        ActorKind::ChannelPost,
        ActorKind::Bridge,
        ActorKind::Service,
    ];
    for kind in kinds {
        let mut typed = signal(&format!("{kind:?}"), "bob", &words);
        typed.actor.kind = kind;
        let told = world.hear(typed);
        was_refused(&told, "FORBIDDEN");
        nothing_came_of(&told, &world, &plan);
    }
}

#[test]
fn ac_08_an_edit_is_never_read_as_a_command() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    restarted(&mut world);
    // Bob's old message is edited into an approval: an edit has no words for the core at all.
    let chatter = crate::signal::EventId::new(format!("approve {plan}"));
    let told = world.hear(Signal { payload: Payload::Edited { event: chatter }, ..signal("e", "bob", "") });
    nothing_came_of(&told, &world, &plan);
    assert!(told.said.is_empty(), "{}", told.said);
    // And the request itself, edited into something else, is taken back.
    edited(&mut world, &plan);
    assert_eq!(state(&world, &plan), PlanState::Cancelled);
}

#[test]
fn ac_13_a_right_that_is_gone_at_the_click_decides_nothing() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    world.people.barred.insert("bob".to_owned());
    let told = approves(&mut world, "bob", &plan);
    was_refused(&told, "FORBIDDEN");
    nothing_came_of(&told, &world, &plan);
    world.people.barred.clear();
    restarted(&mut world);
    assert_eq!(writes(&approves(&mut world, "bob", &plan)).len(), 1);
}

#[test]
fn ac_23_who_may_only_talk_decides_nothing_that_was_escalated_to_their_group() {
    let mut world = World::with_fleet();
    let escalate = vec![Escalation { after_ms: 60_000, group: "leads".to_owned() }];
    let circles = BTreeSet::from([Circle { group: "sre".to_owned(), escalate }]);
    world.people.terms = Terms { circles, ..Terms::default() };
    world.people.group("leads", &["tom", "carol"]);
    let plan = asked(&mut world);
    world.pass(60_000);
    assert!(due(&mut world, &plan).said.contains("from now on group leads may decide, too"));
    let told = approves(&mut world, "tom", &plan);
    was_refused(&told, "FORBIDDEN");
    nothing_came_of(&told, &world, &plan);
    was_refused(&says(&mut world, "tom", &format!("approve {plan}")), "FORBIDDEN");
    restarted(&mut world);
    assert_eq!(writes(&approves(&mut world, "carol", &plan)).len(), 1, "who may and is in it does");
}

#[test]
fn ac_24_a_part_of_an_id_selects_nothing() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    for length in [1, 8, 12, 31] {
        let short = plan.as_str().get(..length).expect("32 digits").to_owned();
        for words in [format!("approve {short}"), format!("deny {short}"), format!("cancel {short}")] {
            nothing_came_of(&says(&mut world, "bob", &words), &world, &plan);
        }
    }
    nothing_came_of(&says(&mut world, "bob", "approve 1"), &world, &plan);
    nothing_came_of(&says(&mut world, "bob", &format!("approve {plan}0")), &world, &plan);
}

/// AC-24: the short id selects nothing; it confirms the plan that the same person was shown just before, while no other waits.
#[test]
fn a_short_id_confirms_what_was_shown_just_before_and_nothing_else() {
    let short = |plan: &PlanId| plan.as_str()[..4].to_owned();
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let approve = format!("approve {}", short(&plan));
    let shown = |told: &Told| {
        told.said.contains(&format!("This plan waits here. To approve it, use its card, or type `{approve}` now"))
    };
    let told = says(&mut world, "bob", &approve);
    assert!(shown(&told), "{}", told.said);
    nothing_came_of(&told, &world, &plan);
    for (who, between) in [("bob", "load"), ("tom", "approvals"), ("ann", "approve")] {
        assert!(shown(&says(&mut world, "bob", "approve")));
        says(&mut world, who, between);
        nothing_came_of(&says(&mut world, "bob", &approve), &world, &plan);
    }
    assert!(shown(&says(&mut world, "bob", "approve")));
    nothing_came_of(&says(&mut world, "carol", &approve), &world, &plan);
    assert!(shown(&says(&mut world, "bob", "approve")));
    nothing_came_of(&says(&mut world, "bob", "approve ffff"), &world, &plan);

    let mut two = World::with_fleet();
    let first = asked(&mut two);
    assert!(shown(&says(&mut two, "bob", "approve")));
    says(&mut two, "ann", "restart postgres");
    nothing_came_of(&says(&mut two, "bob", &format!("approve {}", short(&first))), &two, &first);

    assert!(shown(&says(&mut world, "bob", "approve")));
    restarted(&mut world);
    assert_eq!(writes(&says(&mut world, "bob", &approve.to_uppercase())).len(), 1);
}

#[test]
fn ac_25_what_one_member_was_given_covers_no_other() {
    // Ann may decide alone what she asked for; that is no waiver for what Bob asked for.
    let mut world = World::with_fleet();
    world.people.alone.insert("ann".to_owned());
    says(&mut world, "bob", "restart nginx");
    let plan = newest(&world).id().clone();
    let told = approves(&mut world, "bob", &plan);
    was_refused(&told, "FORBIDDEN");
    nothing_came_of(&told, &world, &plan);
    // And what one has countersigned lets nobody else in.
    let mut world = World::with_fleet();
    world.people.terms = Terms { quorum: NonZeroU32::new(2).expect("two"), ..Terms::default() };
    let plan = asked(&mut world);
    approves(&mut world, "bob", &plan);
    was_refused(&approves(&mut world, "tom", &plan), "FORBIDDEN");
    was_refused(&approves(&mut world, "ann", &plan), "FORBIDDEN");
    assert_eq!((state(&world, &plan), row(&world, &plan).standing.votes.len()), (PlanState::Pending, 1));
}

#[test]
fn ac_26_every_decision_names_the_platform_and_the_immutable_id_of_a_person() {
    let decisions: [fn(&mut World); 2] =
        [|world| world.people.terms = Terms { quorum: NonZeroU32::new(2).expect("two"), ..Terms::default() }, |_| {}];
    for prepare in decisions {
        let mut world = World::with_fleet();
        prepare(&mut world);
        let plan = asked(&mut world);
        restarted(&mut world);
        let mut rows = Vec::new();
        for who in ["bob", "carol"] {
            let told = approves(&mut world, who, &plan);
            let is_decision =
                |effect: &&String| effect.contains("what: \"voted\"") || effect.contains("what: \"approved\"");
            rows.extend(told.effects.iter().filter(is_decision).map(|effect| (who, effect.clone())));
        }
        assert!(!rows.is_empty());
        for (who, record) in rows {
            assert!(
                record.contains(&format!("ActorId(\"{who}\")")) && record.contains("Platform(\"test\")"),
                "{record}"
            );
        }
        let standing = &row(&world, &plan).standing;
        let decided = standing.decided.as_ref().expect("it is decided");
        let votes = standing.votes.iter().map(|vote| (&vote.platform, &vote.by));
        for (platform, by) in votes.chain([(&decided.platform, &decided.by)]) {
            assert_eq!((platform, by.kind), (&Platform::new("test"), ActorKind::Human));
            assert!(["bob", "carol"].contains(&by.id.as_str()), "{by:?}");
        }
    }
}

#[test]
fn ac_08_an_approval_with_other_words_behind_it_is_none() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    for words in ["not yet", "no", "or not", "later"] {
        let told = says(&mut world, "bob", &format!("approve {plan} {words}"));
        nothing_came_of(&told, &world, &plan);
    }
}
