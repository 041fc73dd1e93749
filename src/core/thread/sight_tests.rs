//! Who is told of what, on the ways that need no model: what a discovery finds, what names are like, and what was done.

use std::collections::VecDeque;

use serde_json::{Map, json};

use crate::mind::Thought;
use crate::proposal::Proposal;
use crate::testkit::{Told, World, signal};
use crate::thread::TTL_MS;

/// A fleet that bob may not see.
fn anns() -> World {
    let mut world = World::with_fleet();
    for resource in &mut world.script.resources {
        resource.attrs.insert("owner".to_owned(), "ann".to_owned());
    }
    world
}

fn from(world: &mut World, who: &str, text: &str) -> Told {
    let id = format!("{who}{}", world.now().seed);
    world.hear(signal(&id, who, text))
}

/// PRE-01: to whoever may not see a thing it is as if nothing were called so, whichever way they ask.
#[test]
fn a_discovery_finds_what_whoever_asks_may_see() {
    let mut world = anns();
    let told: Vec<String> = ["status of nginx", "restart nginx", "list services", "what do you know about nginx"]
        .into_iter()
        .map(|words| from(&mut world, "bob", words).said)
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    Nothing here is called “nginx”.

    Nothing here is called “nginx”.

    There is nothing to show.

    nginx: nothing in this thread is called so. Ask which machine or service is meant.
    ");
    assert_eq!(from(&mut world, "ann", "status of nginx").said, "nginx is running.\n");
}

/// STR-11: a name that is like another leads only to what somebody may see.
#[test]
fn what_is_like_a_name_is_suggested_to_who_may_see_it() {
    let mut world = anns();
    world.say("list services");
    let mut suggested = |who: &str| {
        let wrong = Proposal {
            tool: "lab_read".to_owned(),
            action: "status".to_owned(),
            target: Some("service:web-1:ngin".to_owned()),
            args: Map::new(),
            because: "because".to_owned(),
        };
        let refused =
            world.propose_as(signal("s", who, "x"), &[wrong]).pop().expect("one").expect_err("not discovered");
        refused.details.suggestions.into_iter().map(|one| one.id).collect::<Vec<_>>()
    };
    assert_eq!((suggested("ann"), suggested("bob")), (vec!["service:web-1:nginx".to_owned()], Vec::new()));
}

/// What is not there for somebody is called as they called it, and not by its name.
#[test]
fn a_thing_that_may_not_be_seen_is_not_named_by_another_of_its_names() {
    let mut world = anns();
    for resource in &mut world.script.resources {
        resource.aliases = vec!["www".to_owned()];
    }
    world.say("list services");
    let told = from(&mut world, "bob", "what do you know about www").said;
    assert!(told.contains("www: nothing in this thread is called so") && !told.contains("nginx"), "{told}");
}

/// `why` tells who asked for a call what became of it; others, where they may see what it was on.
#[test]
fn why_names_nothing_that_may_not_be_seen() {
    let mut world = anns();
    world.say("status of nginx");
    let (ann, bob) = (from(&mut world, "ann", "why").said, from(&mut world, "bob", "why").said);
    world.pass(TTL_MS + 1);
    assert_eq!(from(&mut world, "bob", "why").said, bob, "also when the thread has forgotten how it was labelled");
    assert!(ann.contains("lab_read.status on service:web-1:nginx"), "{ann}");
    assert!(
        bob.contains("A call is not shown, because you may not see what it is on.") && !bob.contains("service:"),
        "{bob}"
    );
}

/// A model says again what it was told, by the name of a thing that the thread no longer knows, or a fact of one by no name: that
/// restricts who is told it as what it was told from does.
#[test]
fn what_a_model_was_told_restricts_who_is_told_what_it_said() {
    for (learnt, later_ms, again) in [("running", TTL_MS + 1, "It was Nginx."), ("adrift", 0, "It is adrift.")] {
        let mut world = anns();
        world.minds.smart = Some("big".to_owned());
        let says = |words: &str| VecDeque::from([Thought { text: words.to_owned(), ..Thought::default() }]);
        world.answers("lab_read.status", json!({ "name": "nginx", "present": true, "state": learnt, "run": "1" }));
        world.say("status of nginx");
        world.pass(later_ms);
        world.thoughts = says(again);
        world.say("what was it again, in other words");
        for (who, is_told) in [("bob", false), ("ann", true)] {
            world.thoughts = says("I cannot say.");
            let told = from(&mut world, who, "why do customers complain about the shop");
            let earlier = told.asks.first().expect("it was asked").situation.earlier.join("\n");
            assert_eq!(earlier.contains(again), is_told, "{who}: {earlier}");
        }
    }
}

/// Nor does a discovery of one kind of thing say how things of another kind are labelled.
#[test]
fn a_discovery_brings_in_what_it_is_there_for() {
    let mut world = anns();
    world.say("status of nginx");
    let nginx = "service:web-1:nginx".parse().expect("an id");
    let before = world.state.resolved.peek(&nginx).cloned();
    let foreign = json!({ "resources": [{ "id": "host:web-1", "name": "web-1" }, { "id": nginx, "name": "nginx" }] });
    world.answers("lab_find.host", foreign);
    let counted = world.say("load").counted;
    assert!(counted.iter().any(|count| count.starts_with("foreign_things_total")), "{counted:?}");
    assert_eq!(world.state.resolved.peek(&nginx).cloned(), before);
    assert!(world.say("sources").said.contains("host:web-1") && !world.say("sources").said.contains("nginx"));
}

/// What was learnt of a thing while it was labelled otherwise is told to nobody.
#[test]
fn what_was_learnt_under_another_label_is_forgotten() {
    let mut world = anns();
    world.say("status of nginx");
    let known = |world: &mut World| from(world, "ann", "what do you know about nginx").said.contains("running");
    assert!(known(&mut world));
    for resource in &mut world.script.resources {
        resource.attrs.remove("owner");
    }
    world.say("list services");
    assert!(!known(&mut world));
}
