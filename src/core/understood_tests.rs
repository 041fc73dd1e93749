//! What half sentences, bare words and guesses lead to: never to a change, and not past another person's question.

use serde_json::{Value, json};

use super::questions::shipped;
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

/// What a command printed is shown; its sentence stands only for nothing.
#[test]
fn a_sentence_stands_for_a_command_that_printed_nothing_and_for_no_other() {
    let mut world = shipped();
    let host = json!({ "resources": [resource("host:web-1", "web-1")], "nearest": [] });
    world.answers("host_machine.find", host);
    let table = [
        (json!(["ann pts/0"]), 0, "", false),
        (json!([]), 0, "", true),
        (json!([""]), 0, "", true),
        (json!([]), 1, "", true),
        (json!([]), 2, "", false),
        (json!([]), 0, "who: permission denied", false),
    ];
    for (output, exit_code, errors, is_silent) in table {
        let data =
            json!({ "command": "who", "exit_code": exit_code, "output": output, "errors": errors, "note": null });
        world.answers("host_command.run", data);
        let said = world.say("who is logged in").said;
        assert_eq!(said == "Nobody is logged in.\n", is_silent, "{output} {exit_code} {errors}: {said}");
    }
}

/// A part of a name gets a card, whatever was allowed, and says what it became.
#[test]
fn a_part_of_a_name_says_what_it_became() {
    let mut world = World::with_fleet();
    world.script.resources = vec![resource("service:web-1:postgresql@16-main", "postgresql@16-main")];
    let said = world.say("restart postgres").said;
    assert!(said.starts_with("? “postgres” is postgresql@16-main (service:"), "{said}");
}

/// The bot's own commands are not taken for questions about a host that was talked of.
#[test]
fn a_command_of_the_bots_own_is_not_shadowed_by_what_was_talked_of() {
    for words in
        ["help log", "help processes", "bot status", "start over", "stop", "status", "again", "more", "details"]
    {
        let mut world = shipped();
        world.state.sticky = Some("host".to_owned());
        let told = world.say(words);
        assert!(told.calls.is_empty() && !told.said.contains("no topic"), "{words}: {}", told.said);
    }
}

/// A message whose end is missing names no target that may be another one's beginning.
#[test]
fn a_long_message_changes_nothing_that_it_does_not_name() {
    let long = "y".repeat(2_500);
    for words in [
        format!("append \"{}\" to /etc/app.conf.bak", "x".repeat(1_975)),
        format!("write \"{long}\" to /etc/app.conf"),
        format!("add the line {} to /etc/app.conf.bak and then", "x".repeat(1_975)),
        format!("replace \"{long}\" with \"z\" in /etc/app.conf"),
    ] {
        let mut world = shipped();
        let told = world.say(&words);
        assert!(told.calls.is_empty() && world.files.rows.is_empty(), "{:?}", told.calls);
    }
    // What is written up to the end of a message may be as long as it likes.
    let told = shipped().say(&format!("append to /etc/app.conf: {long}"));
    assert_eq!(told.calls.first().map(crate::gate::ToolCall::name).as_deref(), Some("host_file.locate"));
    // Blanks make no message long.
    let told = shipped().say(&format!("restart{}webapp2", " ".repeat(3_000)));
    assert_eq!(told.calls.first().and_then(|call| call.args.get("query")), Some(&json!("webapp2")));
}

/// Spelling is mended in the words that ask for a change, never in what it is done to.
#[test]
fn a_misspelt_change_keeps_its_names_and_its_content() {
    for (typed, meant) in [
        ("restrat traefik", "restart traefik"),
        ("restrat rsyslgo", "restart rsyslgo"),
        ("stpo unbound", "stop unbound"),
        ("apend to /etc/motd: shutdwon memmory proces", "append to /etc/motd: shutdwon memmory proces"),
    ] {
        let told = shipped().say(typed);
        assert!(
            told.said.contains("Did you mean this?") && told.said.contains(&format!("1) {meant} ")),
            "{typed}: {}",
            told.said
        );
    }
}

#[test]
fn an_open_question_takes_a_number_a_name_or_a_no() {
    let two = || {
        let mut world = World::with_fleet();
        world.script.resources.push(resource("service:web-2:nginx-two", "nginx-two"));
        assert!(world.say("status of ngin").said.contains("Which one?"));
        world
    };
    for pick in ["2", "2.", "2)", "(2)", "two", "the second one", "nginx-two", "NGINX-TWO"] {
        let picked = two().say(pick);
        let target = picked.calls.last().and_then(|call| call.target.clone()).map(String::from);
        assert_eq!(target.as_deref(), Some("service:web-2:nginx-two"), "{pick}: {}", picked.said);
    }
    let mut world = two();
    assert_eq!(world.say("yes").said, "Which one? Type its number.\n");
    assert_eq!(world.say("9").said, "Which one? Type its number.\n");
    assert_eq!(
        world.hear(signal("bob-1", "bob", "1")).said,
        "That question waits for ann. Ask yourself, and you get your own.\n"
    );
    assert!(world.say("1").calls.iter().any(|call| call.name() == "lab_read.status"), "the question is still open");
    let mut world = two();
    assert_eq!(world.say("no").said, "Then none of these is run.\n");
    assert_eq!(world.say("1").said, "There is no open question to choose from. Ask again.\n");
}

/// The names in an example are nobody's: an example with one is shown to be typed, and no number runs it.
#[test]
fn an_example_with_a_name_in_it_is_no_choice() {
    let mut world = shipped();
    let told = world.say("is webapp running on web-2");
    assert!(!told.said.contains("1) is nginx running"), "{}", told.said);
    assert!(world.say("1").calls.is_empty());
}

/// What was asked about last is "it", also where it has no id here: then nobody knows what "it" is.
#[test]
fn it_is_never_what_was_asked_about_before() {
    let mut world = World::with_fleet();
    world.say("status of nginx");
    world.answers("lab_read.run", json!({ "output": "Linux" }));
    let told = world.say("run uname -a");
    assert!(told.calls.iter().any(|call| call.name() == "lab_read.run"), "{}", told.said);
    let told = world.say("restart it");
    assert!(told.said.contains("I do not know what “it” is"), "{}", told.said);
}

/// `and /srv` after `how big is /var` asks for the same of something else; what stands for itself does, and no change comes of it.
#[test]
fn a_follow_up_that_only_names_something_asks_the_same_of_it() {
    let asked = |first: &str, then: &str| {
        let mut world = shipped();
        world.answers("host_machine.find", json!({ "resources": [resource("host:web-1", "web-1")], "nearest": [] }));
        world.answers("host_command.run", json!({ "exit_code": 0, "output": ["4.0K"], "errors": "" }));
        world.say(first);
        let told = world.say(then);
        assert!(world.files.rows.is_empty());
        told.calls
            .last()
            .map(|call| format!("{} {}", call.name(), Value::Object(call.args.clone())))
            .unwrap_or_default()
    };
    for (first, then, expected) in [
        ("how big is /var", "and /srv?", r#"host_command.run {"line":"du -xsh -D /srv"}"#),
        ("service nginx", "what about dbus", r#"host_service.find {"query":"dbus"}"#),
        ("service nginx", "the same for dbus", r#"host_service.find {"query":"dbus"}"#),
        ("service nginx", "and memory?", "host_machine.memory {}"),
        ("service nginx", "and cancel", ""),
        ("service nginx", "and no", ""),
        ("restart nginx", "and dbus", ""),
        ("memory", "and dbus", ""),
    ] {
        assert_eq!(asked(first, then), expected, "{first}, {then}");
    }
}

/// A route that is remembered is one that only shows: to see something never forgets anything.
#[test]
fn who_wants_to_see_something_forgets_nothing() {
    let mut world = shipped();
    world.say("reset");
    for words in ["show me reset", "what about reset", "tell me reset keep"] {
        assert!(world.say(words).said.starts_with("I don't understand"), "{words}");
    }
}
