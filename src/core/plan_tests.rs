//! A change, from the words that ask for it to the fresh read that verifies it, and every way in which it does not come
//! about: told as conversations in one thread, with the store's part played by the testkit.

use serde_json::json;

use crate::approval::{Outcome, PlanId, PlanState};
use crate::effect::Input;
use crate::envelope::{Code, Details, Envelope};
use crate::gate::ToolCall;
use crate::port::CardChoice;
use crate::signal::{ActorKind, Payload, Signal};
use crate::testkit::scene::{asked, due, newest, plainly, presses, restarted, says, state, writes};
use crate::testkit::{Told, World, signal, thread_key};

#[test]
fn a_change_is_asked_for_countersigned_done_and_verified() {
    let mut world = World::with_fleet();
    let told = world.say("restart nginx");
    insta::assert_snapshot!(plainly(&told, &world), @"
    ? ann asks to restart nginx on web-1.
    Medium risk. Then running, another run.
    bob or carol can approve until 22:28 UTC.
    Plan 0000: “restart nginx”
    [Approve, Deny]
    ");
    let plan = newest(&world).id().clone();
    restarted(&mut world);
    let told = says(&mut world, "bob", &format!("approve {plan}"));
    insta::assert_snapshot!(plainly(&told, &world), @r"
    Done and verified: restart nginx. A fresh read shows what was expected.
    state: running (as expected)
    run: 2 (as expected)
    ");
    assert_eq!(state(&world, &plan), PlanState::Verified(Outcome::AsExpected));
    let calls: Vec<String> = told.calls.iter().map(ToolCall::name).collect();
    assert_eq!(calls, ["lab_find.service", "lab_control.restart", "lab_read.status"]);
}

#[test]
fn what_is_protected_gets_no_card() {
    let mut world = World::with_fleet();
    for resource in &mut world.script.resources {
        resource.attrs.insert("protected".to_owned(), "the bot itself".to_owned());
    }
    let told = world.say("restart nginx");
    insta::assert_snapshot!(plainly(&told, &world), @r"
    refused: `nginx` is the bot itself; it is never changed from a chat.
    (ACTION_NOT_ALLOWED, gate `resolution`)
    ");
    assert!(world.files.rows.is_empty());
    assert!(world.say("status of nginx").said.starts_with("nginx is running."), "it can be looked at");
}

#[test]
fn a_denied_plan_is_never_carried_out() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let told = says(&mut world, "bob", &format!("deny {plan} Not during the sale"));
    insta::assert_snapshot!(plainly(&told, &world), @"Denied: restart nginx. Reason: Not during the sale. Nothing was changed.");
    restarted(&mut world);
    let told = says(&mut world, "bob", &format!("approve {plan}"));
    insta::assert_snapshot!(plainly(&told, &world), @r"
    refused: This plan is denied already.
    (FSM_BLOCKED, gate `decision`)
    bob decided it at 2023-11-14 22:13:20 UTC: Not during the sale.
    ");
    assert_eq!((writes(&told).len(), state(&world, &plan)), (0, PlanState::Denied));
}

#[test]
fn a_second_click_does_nothing_and_says_what_happened() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    restarted(&mut world);
    assert_eq!(writes(&presses(&mut world, "bob", &plan, CardChoice::Approve)).len(), 1);
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    assert!(writes(&told).is_empty());
    insta::assert_snapshot!(plainly(&told, &world), @r"
    refused: This plan was carried out already: done and verified.
    (FSM_BLOCKED, gate `decision`)
    bob decided it at 2023-11-14 22:13:20 UTC.
    ");
}

#[test]
fn the_wrong_people_and_the_wrong_words_leave_a_plan_waiting() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let short = plan.as_str().get(..12).expect("32 digits").to_owned();
    let told: Vec<String> = [
        ("eve", format!("approve {plan}")),
        ("ann", format!("approve {plan}")),
        ("ann@work", format!("approve {plan}")),
        ("bob", format!("approve {short}")),
        ("bob", "approve".to_owned()),
        ("bob", "approve 00000000000000000000000000000000".to_owned()),
    ]
    .into_iter()
    .map(|(who, words)| {
        let told = says(&mut world, who, &words);
        assert!(writes(&told).is_empty() && told.calls.is_empty(), "{words}");
        plainly(&told, &world)
    })
    .collect();
    insta::assert_snapshot!(told.join("---\n"), @"
    refused: I do not know this account, so that you may not talk to me.
    (FORBIDDEN, gate `actor`)
    What to do: somebody who runs me adds `test:eve` to the access file, or you type `link` to me from an account that I know and its code here.
    ---
    refused: Somebody else has to countersign what you asked for yourself.
    (FORBIDDEN, gate `decision`)
    ---
    refused: Somebody else has to countersign what you asked for yourself.
    (FORBIDDEN, gate `decision`)
    ---
    ? Say which plan to approve, by its full id:
      approve PLAN - restart nginx
    ---
    ? This plan waits here. To approve it, use its card, or type `approve 0000` now:
    ann asks to restart nginx on web-1.
    Medium risk. Then running, another run.
    bob or carol can approve until 22:28 UTC.
    Plan 0000: “restart nginx”
    [Approve, Deny]
    ---
    refused: No plan of this thread has this id; a plan is decided in the thread of its card.
    (NOT_FOUND, gate `decision`)
    ");
    assert_eq!(state(&world, &plan), PlanState::Pending);
    // Neither does a bot, even with a person's id, nor a click that saw another version of the card.
    let mut bot = signal("bot", "bob", &format!("approve {plan}"));
    bot.actor.kind = ActorKind::Bot;
    assert!(world.hear(bot).calls.is_empty());
    let digest = crate::approval::Digest::claimed("0".repeat(64));
    let payload = Payload::Decision { plan: plan.clone(), digest, choice: CardChoice::Approve, reason: String::new() };
    assert!(world.hear(Signal { payload, ..signal("stale", "bob", "") }).calls.is_empty());
    let mut elsewhere = signal("elsewhere", "bob", &format!("approve {plan}"));
    elsewhere.thread = thread_key("another");
    assert!(world.hear(elsewhere).calls.is_empty(), "a plan is decided where it was asked for");
    assert_eq!(state(&world, &plan), PlanState::Pending);
}

#[test]
fn what_was_found_on_a_target_and_the_name_of_the_call_reach_the_rights() {
    let mut world = World::with_fleet();
    for resource in &mut world.script.resources {
        resource.attrs.insert("closed".to_owned(), "yes".to_owned());
    }
    insta::assert_snapshot!(world.say("restart nginx").said, @r"
    refused: You may not ask for a change on `service:web-1:nginx`.
    (FORBIDDEN, gate `actor`)
    ");
    assert!(world.files.rows.is_empty());
    assert!(!world.say("load").said.contains("FORBIDDEN"), "another call is another question");
}

#[test]
fn a_plan_survives_a_restart_and_is_still_looked_at_afresh() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    world.restart();
    assert!(world.state.resolved().is_empty(), "what was discovered is gone");
    restarted(&mut world);
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    assert_eq!(state(&world, &plan), PlanState::Verified(Outcome::AsExpected), "{}", told.said);
}

#[test]
fn what_drifted_is_refused_and_shown() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    for resource in &mut world.script.resources {
        if resource.name == "nginx" {
            resource.attrs.insert("run".to_owned(), "7".to_owned());
        }
    }
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    refused: Not done: restart nginx.
    Its run was 1 when the plan was made and is 7 now.
    (DRIFTED, gate `carry`)
    Nothing was changed.
    ");
    assert_eq!((writes(&told).len(), state(&world, &plan)), (0, PlanState::Refused(Code::Drifted)));
    let plan = asked(&mut world);
    world.script.resources.retain(|resource| resource.name != "nginx");
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    refused: Not done: restart nginx.
    `nginx` is not there any more, or is another one now.
    (DRIFTED, gate `carry`)
    Nothing was changed.
    ");
    assert_eq!((writes(&told).len(), state(&world, &plan)), (0, PlanState::Refused(Code::Drifted)));
}

#[test]
fn a_plan_expires_by_either_clock_and_its_time_is_not_extended_by_a_restart() {
    let mut world = World::with_fleet();
    let lifetime = world.limits.plan_ms_max;
    let plan = asked(&mut world);
    world.pass(lifetime - 1);
    world.restart();
    assert!(due(&mut world, &plan).said.is_empty(), "not yet");
    world.pass(1);
    let told = due(&mut world, &plan);
    insta::assert_snapshot!(plainly(&told, &world), @"Expired: restart nginx. Nobody decided in time. Nothing was changed. Ask again if it is still wanted.");
    assert_eq!(state(&world, &plan), PlanState::Expired);
    // A clock that is set back gives no more time.
    let plan = asked(&mut world);
    world.wall -= 1_000_000_000;
    world.clock += lifetime;
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    assert!(told.calls.is_empty(), "{}", told.said);
    assert_eq!(state(&world, &plan), PlanState::Expired);
}

#[test]
fn a_change_that_did_not_take_is_told_as_it_is() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    world.answers("lab_control.restart", json!({ "done": true }));
    world.answers("lab_read.status", json!({ "name": "nginx", "present": true, "state": "stopped", "run": "2" }));
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    failed: Not as planned: restart nginx. A fresh read shows something else than was expected.
    state: stopped, expected running
    run: 2 (as expected)
    ");
    assert_eq!(state(&world, &plan), PlanState::Verified(Outcome::Differs));
    assert!(!told.said.contains("Done and verified"));
    // A late click hears the same outcome.
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    refused: This plan was carried out already, and not as planned: a fresh read showed something else than was expected.
    (FSM_BLOCKED, gate `decision`)
    bob decided it at 2023-11-14 22:13:20 UTC.
    ");
}

/// The fleet, where a restart may take this long until a look shows it.
fn with_patience(settles_ms: u32) -> World {
    let last = "change.expect.changed = [\"run\"]\n";
    let tools = crate::testkit::TOOLS.replace(last, &format!("{last}change.settles_ms = {settles_ms}\n"));
    let registry = crate::tool::Registry::load([("tools.toml", tools.as_str())]).expect("the fixture is sound");
    let mut world = World::with_fleet();
    world.registry = registry;
    world
}

#[test]
fn a_change_that_takes_its_time_is_looked_at_again_before_it_is_called_a_failure() {
    let mut world = with_patience(6_000);
    let plan = asked(&mut world);
    restarted(&mut world);
    world.answers("lab_read.status", json!({ "name": "nginx", "present": true, "state": "starting", "run": "2" }));
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    Not yet: restart nginx. A fresh read shows something else than was expected.
    state: starting, expected running
    run: 2 (as expected)
    I look again at 2023-11-14 22:13:22 UTC and tell you how it ends. Until then nothing else is changed in this thread.
    ");
    assert_eq!(state(&world, &plan), PlanState::Unverified);
    assert!(!world.state.fsm().can_final_answer());
    // Whoever asks is told at once, and does not use up a look.
    for _ in 0..5 {
        assert!(world.say("verify").said.starts_with("Not yet: restart nginx."));
    }
    world.pass(2_000);
    assert!(due(&mut world, &plan).said.is_empty(), "the engine's own looks are silent until the end");
    // It survives a restart of the bot.
    world.restart();
    world.pass(4_000);
    restarted(&mut world);
    let told = due(&mut world, &plan);
    assert!(told.said.starts_with("Done and verified: restart nginx."), "{}", told.said);
    assert_eq!(state(&world, &plan), PlanState::Verified(Outcome::AsExpected));
}

/// TEL-02, TEL-05: an answer that has to say so first is counted by the workflow's state, and a card is no recovery.
#[test]
fn an_answer_while_a_change_is_not_verified_is_counted_and_a_card_is_no_recovery() {
    let told = World::with_fleet().say("restart nginx");
    assert!(told.said.contains("[Approve, Deny]"), "{}", told.said);
    assert!(told.counted.iter().all(|count| !count.starts_with("auto_recovery")), "{:?}", told.counted);
    let mut world = with_patience(6_000);
    let plan = asked(&mut world);
    restarted(&mut world);
    world.answers("lab_read.status", json!({ "name": "nginx", "present": true, "state": "starting", "run": "2" }));
    presses(&mut world, "bob", &plan, CardChoice::Approve);
    let blocks = |told: &Told| {
        told.counted.iter().filter(|count| count.starts_with("fsm_final_block_total")).cloned().collect::<Vec<_>>()
    };
    let told = world.say("load");
    assert!(told.said.starts_with("Not verified yet: "), "{}", told.said);
    assert_eq!(blocks(&told).len(), 1, "{:?}", told.counted);
    assert!(blocks(&told).concat().contains("VERIFYING"), "{:?}", told.counted);
    assert!(blocks(&world.say("help")).is_empty(), "help rests on no reading");
}

#[test]
fn looking_again_has_an_end() {
    let mut world = with_patience(6_000);
    let plan = asked(&mut world);
    restarted(&mut world);
    world.answers("lab_read.status", json!({ "name": "nginx", "present": true, "state": "starting", "run": "2" }));
    presses(&mut world, "bob", &plan, CardChoice::Approve);
    let mut looks = Vec::new();
    while state(&world, &plan) == PlanState::Unverified && looks.len() < 10 {
        let (due_at, _) = world.state.next_due().expect("it is looked at again");
        let pause = u64::try_from(due_at.wall().0 - world.wall).expect("later");
        looks.push(pause);
        world.pass(pause);
        let told = due(&mut world, &plan);
        assert_eq!(told.said.is_empty(), state(&world, &plan) == PlanState::Unverified, "{}", told.said);
    }
    assert_eq!((looks, state(&world, &plan)), (vec![2_000, 4_000], PlanState::Verified(Outcome::Differs)));
    // What the tool server itself calls a failure is not waited for.
    let mut world = with_patience(6_000);
    let plan = asked(&mut world);
    let failed = Envelope::failed(Code::ExecutionFailed, "exit code 1", false, Details::default());
    world.script.answers.insert("lab_control.restart".to_owned(), failed);
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    failed: Not as planned: restart nginx. A fresh read shows something else than was expected.
    state: running (as expected)
    run: 1, expected another than 1
    The tool said (EXECUTION_FAILED): exit code 1
    ");
}

fn unreachable_read(world: &mut World) {
    let down = Envelope::failed(Code::ExecutionFailed, "the tool server is down", true, Details::default());
    world.script.answers.insert("lab_read.status".to_owned(), down);
}

#[test]
fn what_cannot_be_read_stays_unverified_until_it_can() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let other = {
        says(&mut world, "ann", "restart postgres");
        newest(&world).id().clone()
    };
    restarted(&mut world);
    unreachable_read(&mut world);
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    failed: Not verified: restart nginx. Its target could not be read: the tool server is down
    Nothing else is changed in this thread until it can be read. I try again at 2023-11-14 22:13:30 UTC, or type `verify`.
    ");
    assert_eq!(state(&world, &plan), PlanState::Unverified);
    insta::assert_snapshot!(plainly(&world.say("edit nginx: b"), &world), @r"
    refused: `lab_control.restart` on `service:web-1:nginx` is not verified yet.
    (FSM_BLOCKED, gate `workflow`)
    What to do: type `verify`; no other look ends this.
    ");
    // Nothing else is changed, the click is not used up, reading goes on and says what is open, and no reset ends it.
    let told = presses(&mut world, "bob", &other, CardChoice::Approve);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    refused: `lab_control.restart` on `service:web-1:nginx` is not verified yet; this plan goes on waiting.
    (FSM_BLOCKED, gate `decision`)
    What to do: type `verify`, then approve again.
    ");
    assert_eq!((writes(&told).len(), state(&world, &other)), (0, PlanState::Pending));
    insta::assert_snapshot!(world.say("load").said, @r"
    Not verified yet: lab_control.restart on service:web-1:nginx.
    The load is 0.5.
    ");
    world.say("reset");
    world.restart();
    assert!(presses(&mut world, "bob", &other, CardChoice::Approve).calls.is_empty());
    world.pass(world.limits.plan_ms_max / 2);
    restarted(&mut world);
    let told = due(&mut world, &plan);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    Done and verified: restart nginx. A fresh read shows what was expected.
    state: running (as expected)
    run: 2 (as expected)
    ");
    assert_eq!(state(&world, &plan), PlanState::Verified(Outcome::AsExpected));
    assert_eq!(writes(&presses(&mut world, "bob", &other, CardChoice::Approve)).len(), 1);
}

#[test]
fn an_unknown_outcome_is_said_and_looked_at_only_when_it_can_no_longer_happen() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let details = Details { outcome_unknown: true, ..Details::default() };
    let silent = Envelope::failed(Code::Timeout, "no answer", false, details);
    world.script.answers.insert("lab_control.restart".to_owned(), silent);
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    insta::assert_snapshot!(plainly(&told, &world), @"failed: I do not know whether this was done: restart nginx. I was interrupted, or got no answer. I look at 2023-11-14 22:13:27 UTC, when it can no longer happen, and tell you. Until then nothing else is changed in this thread.");
    assert_eq!(state(&world, &plan), PlanState::Unknown);
    assert!(due(&mut world, &plan).calls.is_empty());
    insta::assert_snapshot!(world.say("verify").said, @"It may still be done until then, so a look now would prove nothing. I look at 2023-11-14 22:13:27 UTC.");
    // Permit 5 s, the action's own limit 1 s, and 1 s for the clocks.
    world.pass(7_000);
    world.answers("lab_read.status", json!({ "name": "nginx", "present": true, "state": "running", "run": "1" }));
    let told = due(&mut world, &plan);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    failed: Not as planned: restart nginx. A fresh read shows something else than was expected.
    state: running (as expected)
    run: 1, expected another than 1
    ");
    assert_eq!(state(&world, &plan), PlanState::Verified(Outcome::Differs));
}

#[test]
fn what_the_tool_server_refuses_was_not_done() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let refused = Envelope::blocked(Code::PolicyBlocked, "the permit has expired", Details::default());
    world.script.answers.insert("lab_control.restart".to_owned(), refused);
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    insta::assert_snapshot!(plainly(&told, &world), @r"
    refused: The permit has expired.
    (POLICY_BLOCKED, gate `spoke`)
    Nothing was changed.
    ");
    assert_eq!(state(&world, &plan), PlanState::Refused(Code::PolicyBlocked));
    assert!(world.state.fsm().can_final_answer());
}

#[test]
fn a_process_that_ends_in_the_middle_is_taken_up_by_the_same_approval() {
    let decided = |world: &World, plan: &PlanId| {
        let digest = world.files.rows.get(plan).expect("filed").frozen.digest().clone();
        let payload =
            Payload::Decision { plan: plan.clone(), digest, choice: CardChoice::Approve, reason: String::new() };
        Signal { payload, ..signal("click", "bob", "") }
    };
    // After the decision and before the write: it is begun once more, once.
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    restarted(&mut world);
    let click = decided(&world, &plan);
    let mut told = Told::default();
    world.input(Input::Signal(Box::new(click.clone())), &mut told);
    assert_eq!(state(&world, &plan), PlanState::Approved);
    world.restart();
    let told = world.hear_again(click.clone());
    assert_eq!((writes(&told).len(), state(&world, &plan)), (1, PlanState::Verified(Outcome::AsExpected)));
    // After the write was sent: never again, whatever comes.
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    restarted(&mut world);
    let mut told = Told::default();
    let look = world.input(Input::Signal(Box::new(click_of(&click, &plan, &world))), &mut told);
    let look = look.first().map(|call| world.run(call)).expect("the fresh look");
    assert_eq!(world.input(look, &mut told).len(), 1, "the write");
    assert_eq!(state(&world, &plan), PlanState::Executing);
    world.restart();
    let told = world.hear_again(click_of(&click, &plan, &world));
    assert!(told.calls.is_empty());
    insta::assert_snapshot!(plainly(&told, &world), @r"
    failed: You asked “approve PLAN” before I was restarted.
    I do not know whether this was done: restart nginx. I was interrupted, or got no answer. I look at 2023-11-14 22:13:27 UTC, when it can no longer happen, and tell you. Until then nothing else is changed in this thread.
    ");
    assert_eq!(state(&world, &plan), PlanState::Unknown);
}

fn click_of(click: &Signal, plan: &PlanId, world: &World) -> Signal {
    let digest = world.files.rows.get(plan).expect("filed").frozen.digest().clone();
    let payload = Payload::Decision { plan: plan.clone(), digest, choice: CardChoice::Approve, reason: String::new() };
    Signal { payload, ..click.clone() }
}

#[test]
fn somebody_faster_wins_and_the_loser_is_told() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    // Another instance has denied it, and this thread does not know.
    let row = world.files.rows.get_mut(&plan).expect("filed");
    row.standing.state = PlanState::Denied;
    row.standing.version += 1;
    restarted(&mut world);
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    assert!(told.calls.is_empty());
    insta::assert_snapshot!(plainly(&told, &world), @"refused: Somebody else was faster: restart nginx is denied already.");
    assert!(world.state.fsm().can_final_answer() && !world.state.is_busy());
}

#[test]
fn one_target_has_one_change_at_a_time() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    // Another thread's change of the same service is not verified.
    let mut other = world.files.rows.get(&plan).expect("filed").clone();
    let mut elsewhere = other.frozen.plan().clone();
    elsewhere.id = PlanId::from_random(7);
    elsewhere.thread = thread_key("another");
    other.frozen = crate::approval::Frozen::freeze(elsewhere);
    other.standing.state = PlanState::Unverified;
    world.files.rows.insert(other.id().clone(), other);
    restarted(&mut world);
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    assert_eq!(state(&world, &plan), PlanState::Refused(Code::FsmBlocked));
    insta::assert_snapshot!(plainly(&told, &world), @r"
    refused: Not done: restart nginx.
    Another change of the same target is not verified yet: plan PLAN.
    (FSM_BLOCKED, gate `in_flight`)
    Nothing was changed.
    ");
    assert!(world.state.fsm().can_final_answer() && !world.state.is_busy());
}

#[test]
fn the_same_change_asked_twice_is_one_plan() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let told = world.say("restart nginx");
    assert!(told.said.contains(crate::approval::short(&plan)) && world.files.rows.len() == 1);
    assert!(
        told.said.contains("This change waits already; its card has the words of the first request."),
        "{}",
        told.said
    );
    let told = world.say("approvals");
    // Names are aligned by the longest, which has 7 columns with its colon and space; a phone has 40.
    let values = told.said.lines().filter_map(|line| line.split_once(": "));
    assert!(values.filter(|(name, _)| *name != "Plan").all(|(name, value)| name.len() <= 5 && value.len() <= 33));
    insta::assert_snapshot!(plainly(&told, &world), @r"
    Plan: restart nginx
    State: pending, risk medium
    By: ann
    Until: 2023-11-14 22:28:20 UTC
    Id: PLAN
    ");
    let told = says(&mut world, "ann", &format!("cancel {plan}"));
    insta::assert_snapshot!(plainly(&told, &world), @"Cancelled: restart nginx. Nothing was changed.");
    assert_eq!(state(&world, &plan), PlanState::Cancelled);
}

#[test]
fn a_plan_changed_in_the_store_is_no_plan() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let filed = world.files.rows.get(&plan).expect("filed").clone();
    let changed = filed.frozen.bytes().replace("nginx", "mysql");
    assert!(crate::approval::Frozen::read(changed, filed.frozen.digest()).is_err());
    assert_eq!(
        crate::approval::Frozen::read(filed.frozen.bytes().to_owned(), filed.frozen.digest()),
        Ok(filed.frozen.clone())
    );
    // Canonical: no white space, sorted keys.
    let value: serde_json::Value = serde_json::from_str(filed.frozen.bytes()).expect("JSON");
    assert_eq!(value.to_string(), filed.frozen.bytes());
    let keys: Vec<&String> = value.as_object().expect("an object").keys().collect();
    assert!(keys.is_sorted());
}

#[test]
fn a_preview_of_another_state_is_no_preview_of_this_plan() {
    // Else a card could show the change of one content, and the plan bind another.
    let mut world = World::with_fleet();
    let preview = |before: &str| json!({ "before": { "run": before }, "preview": "-a\n+b", "after": "sum" });
    world.answers("lab_read.preview", preview("7"));
    let told = world.say("edit nginx: b");
    insta::assert_snapshot!(plainly(&told, &world), @r"
    refused: Its run changed while the plan was made; ask again.
    (DRIFTED, gate `plan`)
    ");
    assert!(world.files.rows.is_empty());
    world.answers("lab_read.preview", preview("1"));
    let told = world.say("edit nginx:   b  ");
    insta::assert_snapshot!(plainly(&told, &world), @"
    ? ann asks to edit nginx on web-1.
    Medium risk. Then sum sum.
    bob or carol can approve until 22:28 UTC.
    Plan 0000: “edit nginx:   b  ”
    With text:   b  
    -a
    +b
    [Approve, Deny]
    ");
    assert_eq!(newest(&world).frozen.plan().args.get("text"), Some(&json!("  b  ")), "as it was typed");
}

#[test]
fn what_became_of_a_plan_is_recorded_however_many_were_closed_since() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    for n in 0..40 {
        world.answers("lab_read.preview", json!({ "preview": format!("+{n}"), "after": "sum" }));
        world.say(&format!("edit postgres: {n}"));
        let other = newest(&world).id().clone();
        presses(&mut world, "bob", &other, CardChoice::Deny);
    }
    restarted(&mut world);
    let told = presses(&mut world, "bob", &plan, CardChoice::Approve);
    assert!(told.said.contains("Done and verified"), "{}", told.said);
    assert!(told.effects.iter().any(|e| e.contains("what: \"verified\"")), "{:?}", told.effects);
}

#[test]
fn yes_to_a_misspelt_decision_decides_nothing() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    restarted(&mut world);
    let told = says(&mut world, "bob", &format!("aprove {plan}"));
    assert!(!told.said.contains("Type 1 or yes"), "{}", told.said);
    assert!(says(&mut world, "bob", "yes").calls.is_empty());
    assert_eq!(state(&world, &plan), PlanState::Pending);
}

#[test]
fn a_clock_that_was_set_back_keeps_no_thread_waiting_for_ever() {
    let mut world = World::with_fleet();
    let plan = asked(&mut world);
    let details = Details { outcome_unknown: true, ..Details::default() };
    let silent = Envelope::failed(Code::Timeout, "no answer", false, details);
    world.script.answers.insert("lab_control.restart".to_owned(), silent);
    presses(&mut world, "bob", &plan, CardChoice::Approve);
    world.wall -= 365 * 24 * 60 * 60 * 1000;
    world.restart();
    assert!(due(&mut world, &plan).calls.is_empty(), "it may still act");
    world.pass(10 * 60 * 1000);
    restarted(&mut world);
    due(&mut world, &plan);
    assert_eq!(state(&world, &plan), PlanState::Verified(Outcome::AsExpected));
}

#[test]
fn a_secret_in_what_tells_a_thing_from_its_like_is_masked_on_its_card() {
    let mut world = World::with_fleet();
    for resource in &mut world.script.resources {
        resource.about = "nginx --password=hunter2xyz".to_owned();
    }
    let told = world.say("restart nginx");
    assert!(told.said.contains("It is: nginx") && !told.said.contains("hunter2xyz"), "{}", told.said);
    let bytes = newest(&world).frozen.bytes().to_owned();
    assert!(!bytes.contains("hunter2xyz"), "{bytes}");
}

#[test]
fn the_history_says_who_asked_who_approved_and_how_it_ended() {
    let mut world = World::with_fleet();
    assert_eq!(
        world.say("history").said,
        "I know of no change in this thread. Older ones, and those from before I was last started, are in the audit trail (`countersign audit export`).\n"
    );
    assert_eq!(
        world.say("who approved that").said,
        "I know of no decided change in this thread. Older ones, and those from before I was last started, are in the audit trail (`countersign audit export`).\n"
    );
    let plan = asked(&mut world);
    restarted(&mut world);
    presses(&mut world, "bob", &plan, CardChoice::Approve);
    let other = asked(&mut world);
    presses(&mut world, "bob", &other, CardChoice::Deny);
    asked(&mut world);
    insta::assert_snapshot!(world.say("history").said, @"
    2023-11-14 22:13:20 UTC: ann asked · ✓ Done and verified; countersigned by bob · restart nginx on web-1 (0000)
    2023-11-14 22:13:20 UTC: ann asked · ✗ Denied by bob · restart nginx on web-1 (0000)
    2023-11-14 22:13:20 UTC: ann asked · Pending · restart nginx on web-1 (0000)
    ");
    assert_eq!(world.say("history 24h").said.lines().count(), 3);
    world.pass(3 * 60 * 60 * 1_000);
    let said = |world: &mut World, words: &str| world.say(words).said;
    assert_eq!(said(&mut world, "history 4 hours").lines().filter(|line| line.contains("asked")).count(), 3);
    assert!(said(&mut world, "history 2h").starts_with("I know of no change in this thread within 2h. Older ones"));
    assert!(said(&mut world, "history 2 weeks").starts_with("How far back? Type it as hours or days"));
    insta::assert_snapshot!(world.say("who approved that").said, @"2023-11-14 22:13:20 UTC: ann asked · ✗ Denied by bob · restart nginx on web-1 (0000)");
}
