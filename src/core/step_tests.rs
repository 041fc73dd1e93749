//! Tests of a whole thread: what a person types and what comes of it, with scripted tools.

use serde_json::json;

use crate::effect::{Effect, Ending, Input};
use crate::envelope::{Code, Details, Envelope};
use crate::gate::DEPTH_MAX;
use crate::proposal::Proposal;
use crate::resource::ResourceId;
use crate::signal::{ActorId, Addressed, Payload, QuestionId, SignalId};
use crate::testkit::{Told, World, resource, signal};
use crate::thread::{OpenWrite, State};

#[test]
fn a_question_resolves_its_target_and_is_answered() {
    let mut world = World::with_fleet();
    let told = world.say("Status of nginx?");
    let calls: Vec<String> = told.calls.iter().map(crate::gate::ToolCall::name).collect();
    assert_eq!(calls, ["lab_find.service", "lab_read.status"]);
    insta::assert_snapshot!(told.said, @"nginx is running.");
    assert_eq!(world.state.fsm().state(), State::Reading);
}

#[test]
fn the_machine_is_discovered_once() {
    let mut world = World::with_fleet();
    assert_eq!(world.say("load").calls.len(), 2);
    assert_eq!(world.say("the load").calls.len(), 1, "this machine is known now");
}

#[test]
fn it_is_what_was_spoken_of_and_is_looked_up_again() {
    // PRE-13, ENT-03, C-03.
    let mut world = World::with_fleet();
    insta::assert_snapshot!(world.say("status of it").said, @"? I do not know what “it” is: nothing was spoken of lately. Say its name.");
    world.say("status of nginx");
    let told = world.say("status of it");
    assert_eq!(
        told.calls.first().map(|c| c.args.clone()),
        json!({"query": "service:web-1:nginx"}).as_object().cloned()
    );
    insta::assert_snapshot!(told.said, @r#"
    “it” is nginx (service:web-1:nginx).
    nginx is running.
    "#);
}

#[test]
fn it_is_gone() {
    let mut world = World::with_fleet();
    world.say("status of nginx");
    world.script.resources.retain(|resource| resource.name != "nginx");
    insta::assert_snapshot!(world.say("status of it").said, @"nginx is not there any more.");
}

#[test]
fn several_of_a_name_are_asked_about_and_a_number_picks() {
    // RES-04, ENT-06.
    let mut world = World::with_fleet();
    world.script.resources.push(resource("service:web-2:nginx", "nginx"));
    let asked = world.say("status of nginx");
    insta::assert_snapshot!(asked.said, @"
    ? 2 match “nginx”. Which one?
    1) nginx 
    2) nginx
    ");
    let picked = world.say("2");
    assert_eq!(
        picked.calls.last().and_then(|c| c.target.clone()).map(String::from),
        Some("service:web-2:nginx".to_owned())
    );
    let chosen = "service:web-2:nginx".parse().expect("an id");
    assert!(world.state.resolved().meant_at(&chosen, &ActorId::new("ann")).is_some(), "a choice is intent (RES-13)");
    insta::assert_snapshot!(world.say("1").said, @"There is no open question to choose from. Ask again.");
}

#[test]
fn a_list_is_never_guessed_from() {
    let mut world = World::with_fleet();
    world.say("list services");
    insta::assert_snapshot!(world.say("status of it").said, @r#"
    ? Which one?
    1) nginx service nginx
    2) postgres service postgres
    "#);
}

#[test]
fn a_button_of_another_question_does_nothing() {
    let mut world = World::with_fleet();
    world.script.resources.push(resource("service:web-2:nginx", "nginx"));
    world.say("status of nginx");
    let mut click = signal("c", "ann", "");
    click.payload = Payload::Choice { question: QuestionId::new("forged"), pick: 0 };
    let told = world.hear(click);
    assert!(told.calls.is_empty());
    insta::assert_snapshot!(told.said, @"There is no open question to choose from. Ask again.");
}

#[test]
fn what_is_not_there_is_said_with_the_nearest_names() {
    let mut world = World::with_fleet();
    world.answers(
        "lab_find.service",
        json!({"resources": [], "nearest": [{"name": "nginx", "id": "service:web-1:nginx"}]}),
    );
    insta::assert_snapshot!(world.say("status of ngnix").said, @"Nothing here is called “ngnix”. The nearest names are nginx.");
}

#[test]
fn what_nobody_understands_is_answered_honestly() {
    let mut world = World::with_fleet();
    insta::assert_snapshot!(world.say("write me a poem about @everyone").said, @"
    I don't understand “write me a poem about @ everyone”.
    No model is configured, so I only understand set commands: `help` lists them.
    ");
}

#[test]
fn a_misspelt_question_is_offered_mended_and_never_run() {
    let mut world = World::with_fleet();
    let told = world.say("sttaus of nginx");
    assert!(told.calls.is_empty());
    insta::assert_snapshot!(told.said, @r#"
    ? I don't understand “sttaus of nginx”. Did you mean this? Type 1 or yes to run it.
    1) status of nginx how a service does
    "#);
    assert_eq!(world.say("yes").calls.len(), 2);
}

#[test]
fn a_change_is_resolved_and_then_waits_for_a_countersignature() {
    // C-30: a pattern leads to proposals that meet every gate.
    let mut world = World::with_fleet();
    let told = world.say("restart nginx");
    let calls: Vec<String> = told.calls.iter().map(crate::gate::ToolCall::name).collect();
    assert_eq!(
        calls,
        ["lab_find.service", "lab_find.service"],
        "by its name, then afresh by its id; nothing was restarted"
    );
    insta::assert_snapshot!(told.said, @"
    ? ann asks to restart nginx on web-1.
    Medium risk. Then running, another run.
    bob or carol can approve until 22:28 UTC.
    Plan 0000: “restart nginx”
    [Approve, Deny]
    ");
    assert!(told.counted.iter().any(|c| c.contains("gate_block_total") && c.contains("APPROVAL_REQUIRED")));
    assert!(told.effects.iter().any(|e| e.contains("refused") && e.contains("approval")), "{:?}", told.effects);
}

#[test]
fn a_refusal_is_explained_and_why_shows_the_trace() {
    let mut world = World::with_fleet();
    insta::assert_snapshot!(world.say("show file /etc/shadow").said, @r#"
    refused: That is a place for secrets (password hashes); it is never read or written from a chat.
    (POLICY_BLOCKED, gate `secrets`)
    "#);
    insta::assert_snapshot!(world.say("why").said, @r#"
    lab_find.host
      reason: asked by ann: show file /etc/shadow
      cleared by all 15 gates
    lab_read.file on host:web-1
      reason: asked by ann: show file /etc/shadow
      passed schema, depth, actor, allowance, repetition, workflow, resolution, routing, intent, vault
      stopped by secrets (POLICY_BLOCKED): that is a place for secrets (password hashes); it is never read or written from a chat
    "#);
}

#[test]
fn a_refusal_is_recorded_before_it_is_said() {
    // Invariant 9: the audit row and the count come before the message.
    let mut world = World::with_fleet();
    world.say("load");
    let now = world.now();
    let asked = Input::Signal(Box::new(signal("s", "ann", "show file /etc/shadow")));
    let state = std::mem::take(&mut world.state);
    let (_, effects) = crate::step(world.env(), state, asked, now);
    let order: Vec<&str> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Count(count) if count.name == "gate_block_total" => Some("counted"),
            Effect::Audit(audit) if audit.code == Some(Code::PolicyBlocked) => Some("audited"),
            Effect::Post { .. } => Some("said"),
            Effect::Call(_) => Some("called"),
            Effect::Count(_)
            | Effect::Think(_)
            | Effect::Progress(_)
            | Effect::Redraw { .. }
            | Effect::File(_)
            | Effect::Move(_)
            | Effect::Audit(_)
            | Effect::Spend(_)
            | Effect::Keep(_)
            | Effect::Remember { .. }
            | Effect::Wake { .. }
            | Effect::GiveUp { .. }
            | Effect::Finish { .. } => None,
        })
        .collect();
    assert_eq!(order, ["counted", "audited", "said"]);
}

#[test]
fn a_read_only_command_runs_and_another_does_not() {
    let mut world = World::with_fleet();
    world.answers("lab_read.run", json!({"output": "up 3 days"}));
    assert_eq!(world.say("run uptime").calls.len(), 2);
    let told = world.say("run rm -rf /tmp/x");
    assert!(told.calls.is_empty());
    assert!(told.said.contains("READ_ONLY_VIOLATION"), "{}", told.said);
}

#[test]
fn a_failed_call_is_diagnosed_and_a_lost_thing_is_forgotten() {
    let mut world = World::with_fleet();
    let gone = Envelope::failed(Code::NotFound, "nginx is gone", false, Details::default());
    world.script.answers.insert("lab_read.status".to_owned(), gone);
    insta::assert_snapshot!(world.say("status of nginx").said, @r#"
    failed: nginx is gone.
    (NOT_FOUND)
    "#);
    let id: ResourceId = "service:web-1:nginx".parse().expect("an id");
    assert!(world.state.resolved().peek(&id).is_none(), "the thread has lost it (invariant 1)");
}

#[test]
fn what_a_tool_server_refuses_is_a_refusal_and_recorded() {
    // SEC-02: the last check stands beside the executor.
    let mut world = World::with_fleet();
    let refused = Envelope::blocked(Code::PolicyBlocked, "`/x` leads to a private key", Details::default());
    world.script.answers.insert("lab_read.file".to_owned(), refused);
    let told = world.say("show file /x");
    insta::assert_snapshot!(told.said, @r#"
    refused: `/x` leads to a private key.
    (POLICY_BLOCKED, gate `spoke`)
    "#);
    assert!(told.counted.iter().any(|c| c.contains("gate_block_total") && c.contains("spoke")), "{:?}", told.counted);
    assert!(told.effects.iter().any(|e| e.contains("refused") && e.contains("spoke")), "{:?}", told.effects);
    assert!(world.say("why").said.contains("stopped by spoke (POLICY_BLOCKED)"));
}

#[test]
fn only_discoveries_add_to_the_context() {
    // RES-02: a read that claims resources adds nothing.
    let mut world = World::with_fleet();
    world.answers("lab_read.load", json!({"load": "1", "resources": [resource("service:web-1:fake", "fake")]}));
    world.say("load");
    assert!(world.state.resolved().peek(&"service:web-1:fake".parse().expect("an id")).is_none());
}

#[test]
fn a_signal_too_deep_is_dropped_counted_and_recorded() {
    // SIG-10, C-05, FM-12.
    let mut world = World::with_fleet();
    let mut deep = signal("d", "ann", "load");
    deep.depth = DEPTH_MAX + 1;
    let told = world.hear(deep);
    assert!(told.said.is_empty() && told.calls.is_empty());
    assert!(told.counted.iter().any(|c| c.starts_with("depth_dropped_total")));
    assert!(told.effects.iter().any(|e| e.contains("dropped")) && told.effects.iter().any(|e| e.contains("Finish")));
    let mut allowed = signal("a", "ann", "load");
    allowed.depth = DEPTH_MAX;
    assert_eq!(world.hear(allowed).calls.len(), 2);
}

#[test]
fn a_stranger_and_what_is_not_addressed_get_nothing() {
    // Invariant 8.
    let mut world = World::with_fleet();
    let told = world.hear(signal("s", "mallory", "load"));
    assert!(told.calls.is_empty());
    insta::assert_snapshot!(told.said, @r#"
    refused: I do not know this account, so that you may not talk to me.
    (FORBIDDEN, gate `actor`)
    What to do: somebody who runs me adds `test:mallory` to the access file, or you type `link` to me from an account that I know and its code here.
    "#);
    let mut aside = signal("s", "ann", "load");
    aside.addressed = Addressed::No;
    let told = world.hear(aside);
    assert!(told.said.is_empty() && told.calls.is_empty());
}

#[test]
fn a_request_ends_with_its_time_and_late_answers_are_dropped() {
    let mut world = World::with_fleet();
    let mut told = Told::default();
    let asked = signal("slow", "ann", "load");
    let calls = world.input(Input::Signal(Box::new(asked)), &mut told);
    assert!(world.state.is_busy());
    let late: Vec<Input> = calls.iter().map(|call| world.run(call)).collect();
    world.input(Input::Deadline(SignalId::new("slow")), &mut told);
    assert!(!world.state.is_busy());
    insta::assert_snapshot!(told.said, @"failed: This took longer than 120 seconds, so I stopped waiting. Nothing was changed.");
    let mut after = Told::default();
    for input in late {
        assert!(world.input(input, &mut after).is_empty());
    }
    assert!(after.said.is_empty());
    world.input(Input::Deadline(SignalId::new("slow")), &mut after);
    assert!(after.said.is_empty(), "and the time of a request is over once");
}

#[test]
fn an_interrupted_request_ends_in_one_notice() {
    let mut world = World::with_fleet();
    let mut told = Told::default();
    world.input(Input::Interrupted(Box::new(signal("i", "ann", "load"))), &mut told);
    insta::assert_snapshot!(told.said, @"failed: I set aside a message from ann (1970-01-01 00:00:00 UTC), because I was interrupted while I worked on it. Nothing was changed. Ask again in other words or in smaller parts, and tell your administrator if that doesn't work either.");
    assert!(told.effects.iter().any(|e| e.contains(&format!("{:?}", Ending::Interrupted))));
}

#[test]
fn an_answer_after_a_restart_says_what_it_answers() {
    let mut world = World::with_fleet();
    let mut told = Told::default();
    world.input(Input::Again(Box::new(signal("i", "ann", "who am i"))), &mut told);
    insta::assert_snapshot!(told.said, @r#"
    You asked “who am i” before I was restarted.
    you are: ann (a person)
    known as: ann on test
    roles: operator
    may ask for: resolve, read, write, record
    "#);
}

#[test]
fn reset_forgets_context_and_workflow_together() {
    // RES-17: the three branches.
    let mut world = World::with_fleet();
    let nginx: ResourceId = "service:web-1:nginx".parse().expect("an id");
    world.say("status of nginx");
    insta::assert_snapshot!(world.say("reset").said, @"Forgotten. This thread starts anew.");
    assert_eq!((world.state.fsm().state(), world.state.resolved().len()), (State::Resolving, 0));
    world.say("status of nginx");
    world.say("reset keep");
    assert_eq!((world.state.fsm().state(), world.state.resolved().len()), (State::Resolving, 0), "nothing was pinned");
    world.say("list services");
    assert!(world.state.resolved.pin(&nginx));
    world.say("reset keep");
    assert_eq!((world.state.fsm().state(), world.state.resolved().len()), (State::Reading, 1));
}

#[test]
fn no_reset_and_no_age_ends_an_unverified_write() {
    // Invariant 3: the thread stays in VERIFYING until its target was read again.
    let mut world = World::with_fleet();
    world.say("list services");
    let target: ResourceId = "service:web-1:nginx".parse().expect("an id");
    world.state.fsm.on_open_write_found(OpenWrite { call: "lab_control.restart".to_owned(), target: target.clone() });
    insta::assert_snapshot!(world.say("reset").said, @"Forgotten, but for the change that is not verified yet: only a look at its target ends that.");
    assert!(world.state.resolved().peek(&target).is_some(), "it can still be verified");
    world.clock += 10 * 60 * 60 * 1000;
    world.say("load");
    assert_eq!(world.state.fsm().state(), State::Verifying);
    let told = world.say("status of postgres");
    assert_eq!(world.state.fsm().state(), State::Verifying, "another target verifies nothing");
    assert!(told.said.starts_with("Not verified yet: lab_control.restart on service:web-1:nginx."), "{}", told.said);
    world.say("status of nginx");
    assert_eq!(world.state.fsm().state(), State::Reading);
}

#[test]
fn facts_are_learnt_and_told_without_looking_again() {
    let mut world = World::with_fleet();
    world.say("status of nginx");
    let told = world.say("what do you know about nginx");
    assert!(told.calls.is_empty());
    insta::assert_snapshot!(told.said, @r#"
    nginx (service)
      target: service:web-1:nginx
      inside: host:web-1
      status: running
    "#);
}

#[test]
fn what_is_known_of_a_thing_is_told_to_those_alone_who_may_read_it() {
    // PRE-01: rights first.
    let mut world = World::with_fleet();
    for resource in world.script.resources.iter_mut().filter(|resource| resource.name == "nginx") {
        resource.attrs.insert("owner".to_owned(), "ann".to_owned());
    }
    world.say("status of nginx");
    assert!(world.say("what do you know about nginx").said.contains("status: running"));
    for (n, about) in ["nginx", "@@nginx"].into_iter().enumerate() {
        let asked = signal(&format!("b{n}"), "bob", &format!("what do you know about {about}"));
        let told = world.hear(asked).said;
        assert_eq!(
            told.trim_end(),
            "nginx: nothing in this thread is called so. Ask which machine or service is meant.",
            "{about}"
        );
    }
}

#[test]
fn a_thing_missing_once_is_not_asked_for_again_in_the_same_request() {
    // FM-11, KNO-09: whoever drives the loop asks once; the next request looks again.
    let mut world = World::with_fleet();
    world.say("status of redis");
    assert_eq!(world.say("status of redis").calls.len(), 1, "a person who asks again gets a fresh look");
    let this_turn = world.state.turn + 1;
    world.state.knowledge.learn_missing("lab_find.service:redis", "not_found", 1, this_turn);
    let again = Proposal {
        tool: "lab_find".to_owned(),
        action: "service".to_owned(),
        target: None,
        args: json!({"query": "redis"}).as_object().cloned().unwrap_or_default(),
        because: "a model asks again".to_owned(),
    };
    assert_eq!(world.propose(&again), Ok(None), "nothing is called");
}

#[test]
fn a_mention_means_its_thing_and_a_bulk_search_does_not() {
    // PRE-12, RES-14, TST-05.
    let mut world = World::with_fleet();
    let nginx: ResourceId = "service:web-1:nginx".parse().expect("an id");
    world.say("list services");
    let ann = ActorId::new("ann");
    assert!(world.state.resolved().meant_at(&nginx, &ann).is_none());
    world.say("what do you know about @@nginx");
    assert!(world.state.resolved().meant_at(&nginx, &ann).is_some());
}

#[test]
fn a_repeated_question_takes_the_exact_route_and_looks_afresh() {
    // CAS-05, C-29: the route is remembered, never the result.
    let mut world = World::with_fleet();
    world.say("load");
    assert_eq!(world.exact.len(), 1);
    world.answers("lab_read.load", json!({"load": "9.5"}));
    let told = world.say("load");
    assert!(told.counted.iter().any(|c| c.contains("exact")), "{:?}", told.counted);
    assert!(told.said.contains("9.5"), "{}", told.said);
    world.say("restart nginx");
    world.say("status of it");
    assert_eq!(world.exact.len(), 1, "neither a write nor a pronoun is remembered");
}

#[test]
fn a_route_that_is_used_again_is_not_the_next_to_go() {
    let mut world = World::with_fleet();
    world.exact = crate::route::ExactRoutes::new(2);
    for question in ["load", "list services", "load", "how busy is it here"] {
        world.say(question);
    }
    assert!(world.say("load").counted.iter().any(|c| c.contains("exact")), "it was used again since");
}

#[test]
fn a_follow_up_belongs_to_what_was_talked_about() {
    let mut world = World::with_fleet();
    assert_eq!(world.say("and the load?").calls.len(), 2, "the words stand for themselves");
    assert_eq!(world.say("what about the load?").calls.len(), 1);
}

#[test]
fn entries_are_gone_after_their_time_to_live() {
    let mut world = World::with_fleet();
    world.say("load");
    world.clock += crate::thread::TTL_MS + 1;
    assert_eq!(world.say("load").calls.len(), 2, "the machine is discovered again");
}

#[test]
fn who_and_status_answer_from_the_bot_itself() {
    let mut world = World::with_fleet();
    insta::assert_snapshot!(world.say("who am i").said, @r#"
    you are: ann (a person)
    known as: ann on test
    roles: operator
    may ask for: resolve, read, write, record
    "#);
    insta::assert_snapshot!(world.say("status").said, @r#"
    this thread: RESOLVING
    things known here: 0
    facts known here: 0
    model: none configured
    "#);
    insta::assert_snapshot!(world.say("why").said, @"Nothing was asked of a tool in this thread yet.");
}

#[test]
fn a_plan_after_a_choice_says_what_was_asked_and_what_was_picked() {
    let mut world = World::with_fleet();
    world.script.resources.push(resource("service:web-2:nginx", "nginx"));
    world.say("restart nginx");
    let card = world.say("2").said;
    assert!(card.contains("“nginx, picked after: restart"), "{card}");
}
