//! What half sentences, bare words and guesses lead to: never to a change, and not past another person's question.

use serde_json::json;

use crate::testkit::{World, resource, signal};

/// A change by half a sentence: the words of a description name nothing.
#[test]
fn a_change_of_what_only_its_description_names_is_asked_about_first() {
    let mut world = World::with_fleet();
    let mut display = resource("service:web-1:x11-common", "x11-common");
    display.about = "set up the X server".to_owned();
    world.answers("lab_find.service", json!({ "resources": [display], "nearest": [] }));
    let told = world.say("restart the");
    insta::assert_snapshot!(told.said, @"
    ? Nothing here is called “the”. Did you mean this?
    1) x11-common set up the X server
    ");
    assert!(world.files.rows.is_empty(), "there is no card");
    assert!(world.say("1").said.contains(" asks to restart x11-common"), "the pick names it");
    let read = world.say("status of the").calls.iter().any(|call| call.name() == "lab_read.status");
    assert!(read, "a reading is only a reading");
}

/// A name, an alias or the beginning of a word of the name is enough.
#[test]
fn the_beginning_of_a_name_is_enough_for_a_card() {
    let mut world = World::with_fleet();
    world.script.resources = vec![resource("service:web-1:postgresql@16-main", "postgresql@16-main")];
    assert!(world.say("restart postgres").said.contains(" asks to restart postgresql@16-main"));
}

#[test]
fn a_bare_yes_or_no_shows_the_plan_that_waits_and_decides_nothing() {
    let mut world = World::with_fleet();
    assert!(world.say("yes").said.starts_with("I don't understand “yes”"), "nothing waits");
    world.say("restart nginx");
    for (words, verb) in [("yes", "approve"), ("OK!", "approve"), ("lgtm", "approve"), ("no", "deny"), ("nope", "deny")]
    {
        let told = world.hear(signal(&format!("bob-{words}"), "bob", words));
        assert!(told.said.contains(&format!("To {verb} it, use its card, or type `{verb} ")), "{words}: {}", told.said);
        assert!(told.calls.is_empty() && told.said.contains(" asks to restart nginx"), "{words}: {}", told.said);
    }
    assert_eq!(world.files.rows.values().next().map(|filed| filed.standing.votes.len()), Some(0));
}

#[test]
fn a_guess_leaves_another_persons_question_open() {
    let mut world = World::with_fleet();
    world.script.resources.push(resource("service:web-2:nginx", "nginx"));
    world.say("status of nginx");
    let told = world.hear(signal("bob-1", "bob", "statuses everywhere"));
    assert!(told.said.contains("I don't understand"), "{}", told.said);
    let picked = world.say("the second one");
    assert_eq!(
        picked.calls.last().and_then(|c| c.target.clone()).map(String::from).as_deref(),
        Some("service:web-2:nginx")
    );
}

/// What is suggested runs when it is picked, and changes nothing.
#[test]
fn what_is_not_understood_offers_readings_by_number() {
    let mut world = World::with_fleet();
    let told = world.say("statuses everywhere please");
    assert!(told.said.contains("1) "), "{}", told.said);
    let picked = world.say("1");
    assert!(!picked.said.contains("I don't understand") && world.files.rows.is_empty(), "{}", picked.said);
}
