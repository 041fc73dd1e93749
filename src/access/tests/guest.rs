//! Guests: accounts that nobody is known by. No shipped policy speaks of them; one of a team's own may let them talk, for
//! answers of the team's own, and for nothing that only somebody known may do.

use countersign_core::route::Intents;
use countersign_core::signal::Signal;
use countersign_core::testkit::{World, signal};

use super::*;
use crate::access::rates::{Who, WhoIs};

const STRANGER: &str = "4711";
const TALKS: &str = r#"permit (principal in Role::"guest", action == Action::"talk", resource) when { context.at.room_kind == "direct" };"#;
const EVERYTHING: &str = r#"permit (principal in Role::"guest", action, resource);"#;
const CANNED: &str = r#"
[[intent]]
name = "canned"
about = "a canned answer"
examples = ["restart svc-1 n1"]
patterns = ['''restart (?P<service>\S+) (?P<nonce>\S+)''']
reply = "ok restart {service} {nonce}"

[[intent]]
name = "load"
about = "how busy a host is"
examples = ["load"]
patterns = ["load"]
call = "lab_read.load"
"#;

/// A world with the access file of these tests and this policy, if any, and an answer of the team's own.
fn world(policy: Option<&str>) -> World {
    let mut world = World::with_fleet();
    world.intents = Intents::load([("canned.toml", CANNED)], &world.registry).expect("it is sound");
    let own = policy.map(|policy| ("guests.cedar", policy));
    world.rights = Some(Box::new(access_with(own.as_slice())));
    world
}

fn says(world: &mut World, kind: ConversationKind, text: &str) -> String {
    let id = format!("s{}", world.now().seed);
    let (thread, actor) = (room("telegram", "here"), human(STRANGER));
    world.hear(Signal { thread, actor, room: kind, ..signal(&id, STRANGER, text) }).said
}

#[test]
fn a_guest_has_a_canned_answer_where_a_policy_lets_guests_talk() {
    let mut open = world(Some(TALKS));
    assert_eq!(says(&mut open, ConversationKind::Direct, "restart svc-1 n7"), "ok restart svc-1 n7\n");
    insta::assert_snapshot!(says(&mut open, ConversationKind::Direct, "load"), @r"
    refused: You may not ask for a look here.
    (FORBIDDEN, gate `actor`)
    ");
    for kind in [ConversationKind::Group, ConversationKind::Channel, ConversationKind::Unknown] {
        let said = says(&mut open, kind, "restart svc-1 n7");
        assert!(said.starts_with("refused: I do not know this account"), "{said}");
    }
    let said = says(&mut world(None), ConversationKind::Direct, "restart svc-1 n7");
    assert!(said.starts_with("refused: I do not know this account"), "{said}");
}

#[test]
fn whatever_a_policy_says_a_guest_decides_permits_and_administers_nothing() {
    let access = access_with(&[("guests.cedar", EVERYTHING)]);
    let (guest, here) = (human(STRANGER), room("telegram", "here"));
    let may = |right: &Right| access.may(&Asker::at(&guest, &here), right);
    assert!(may(&Right::Talk) && may(&request(ToolKind::Read, "host:web-1", &[])));
    for right in [decide(Risk::Low, "host:web-1"), Right::Grant, Right::Administer] {
        assert!(!may(&right), "{right:?}");
    }
    assert!(!access.may_decide_alone(&Asker::at(&guest, &here), Risk::Low));
    assert_eq!(access.name(&here.platform, &guest), None);
    assert_eq!(access.person(&here.platform, &guest), "telegram:4711");
    // Neither a bot nor an id that no account has is a guest.
    assert!(!access.may(&Asker::at(&actor(STRANGER, ActorKind::Bot), &here), &Right::Talk));
    assert!(!access.may(&Asker::at(&human("not a number"), &here), &Right::Talk));
}

#[test]
fn a_guest_is_a_stranger_to_the_limits_and_stands_in_the_list() {
    let access = access_with(&[("guests.cedar", EVERYTHING)]);
    let (guest, here) = (human(STRANGER), room("telegram", "here"));
    assert_eq!(access.who(&Asker::at(&guest, &here)), Who::Stranger);
    let can = |access: &Access| access.who_can("talk", &Asker::at(&guest, &here));
    let line = "\n  anybody who is not known (guest), on console, discord, matrix, telegram";
    assert!(can(&access).ends_with(line), "{}", can(&access));
    assert!(!can(&access_with(&[])).contains("not known"));
}

#[test]
fn a_table_of_expectations_knows_what_guests_may() {
    let rows = "[[case]]\nwho = \"nobody\"\ncan = [\"talk\"]\ncannot = [\"read\", \"decide low\"]\n";
    let talks = TALKS.split(" when").next().expect("its beginning").to_owned() + ";";
    let wrong = |access: &Access| hold(access, "policy-tests.toml", rows).expect("it is sound").1.len();
    assert_eq!((wrong(&access_with(&[("guests.cedar", &talks)])), wrong(&access())), (0, 1));
}
