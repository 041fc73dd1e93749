//! What people are shown of what tools answered.

use crate::mind::{RawCall, Thought};
use crate::testkit::{World, signal};

#[test]
fn what_tools_answered_is_shown_as_it_came_and_without_its_secrets() {
    let mut world = World::with_fleet();
    let nothing = world.say("sources").said;
    let data = serde_json::json!({ "name": "nginx", "state": "running", "note": "password=hunter2hunter2", "key": "@everyone" });
    world.answers("lab_read.status", data);
    world.say("status of nginx");
    let told = world.say("sources");
    insta::assert_snapshot!(format!("{nothing}\n{}", told.said), @r#"
    No answer of this thread rests on a reading that I still have.

    lab_find.service at 1970-01-01 00:00:00 UTC:
    {
      "resources": [
        {
          "attrs": {
            "run": "1"
          },
          "chain": [
            "host:web-1"
          ],
          "id": "service:web-1:nginx",
          "name": "nginx"
        }
      ]
    }
    lab_read.status of service:web-1:nginx at 1970-01-01 00:00:00 UTC:
    {
      "key": "@ everyone",
      "name": "nginx",
      "note": "password=[masked: password]",
      "state": "running"
    }
    "#);
    assert_eq!(world.say("sources").said, told.said, "what needs no tool does not take their place");
    world.say("reset");
    assert_eq!(world.say("sources").said, nothing);
}

/// Whoever may not ask for a reading is not shown what it came to.
#[test]
fn who_may_not_ask_for_it_does_not_see_it() {
    let mut world = World::with_fleet();
    world.say("status of nginx");
    let told = world.hear(signal("t", "tom", "sources"));
    insta::assert_snapshot!(told.said, @r"
    A call is not shown, because you may not ask for it.
    A call is not shown, because you may not ask for it.
    ");
}

/// Of a discovery too, and also when the thread has forgotten what it found and how that was labelled.
#[test]
fn what_a_discovery_found_is_shown_to_who_may_see_each_thing_of_it() {
    let mut world = World::with_fleet();
    for resource in &mut world.script.resources {
        resource.attrs.insert("owner".to_owned(), "ann".to_owned());
    }
    world.say("status of nginx");
    for forget_ms in [0, crate::thread::TTL_MS + 1] {
        world.pass(forget_ms);
        let told = world.hear(signal(&format!("b{forget_ms}"), "bob", "sources")).said;
        assert_eq!(told.matches("not shown, because you may not ask for it").count(), 2, "{told}");
        assert!(!told.contains("\"nginx\"") && !told.contains("running"), "{told}");
        assert!(world.say("sources").said.contains("\"nginx\""));
    }
}

/// C-08: what was read of a thing before it was written is not how it is.
#[test]
fn what_was_read_before_a_change_is_gone_after_it() {
    let mut world = World::with_fleet();
    world.say("status of nginx");
    world.answers("lab_control.restart", serde_json::json!({}));
    world.say("restart nginx");
    let plan = world.files.rows.keys().next().expect("a plan is filed").clone();
    let status = serde_json::json!({ "name": "nginx", "present": true, "state": "running", "run": "2" });
    world.answers("lab_read.status", status);
    let done = world.hear(signal("a", "bob", &format!("approve {plan}")));
    assert!(done.said.starts_with("Done and verified"), "{}", done.said);
    insta::assert_snapshot!(world.say("sources").said, @r#"
    lab_read.status of service:web-1:nginx at 1970-01-01 00:00:00 UTC:
    {
      "name": "nginx",
      "present": true,
      "run": "2",
      "state": "running"
    }
    "#);
}

#[test]
fn no_more_is_kept_than_the_newest_and_of_each_no_more_than_its_beginning() {
    let mut world = World::with_fleet();
    world.minds.smart = Some("big".to_owned());
    world.answers("lab_read.load", serde_json::json!({ "load": "x".repeat(50_000) }));
    let call = |name: &str, arguments: String| {
        let calls = vec![RawCall { name: name.to_owned(), arguments }];
        Thought { calls, ..Thought::default() }
    };
    world.thoughts = (0..9).map(|n| call("lab_find__service", format!("{{\"query\":\"x{n}\"}}"))).collect();
    world.thoughts.push_back(call("lab_find__host", "{}".to_owned()));
    world.thoughts.push_back(call("lab_read__load", "{\"target\":\"host:web-1\"}".to_owned()));
    world.thoughts.push_back(Thought { text: "I cannot say.".to_owned(), ..Thought::default() });
    world.say("why do customers complain about the shop");
    let said = world.say("sources").said;
    assert!(said.starts_with("The 5 calls before these are not kept.\n"), "{said}");
    assert_eq!(said.matches(" at 1970-").count(), 6, "{said}");
    assert!(said.len() < 6 * 1_500, "{}", said.len());
}
