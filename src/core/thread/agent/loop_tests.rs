//! One thread with a scripted model: what is mended for it, who is asked, and what the core
//! looks at itself whatever the model says.

use crate::effect::Input;
use crate::envelope::{Code, Details, Envelope};
use crate::mind::Thought;
use crate::rate::{Allowance, Most, Scope};
use crate::testkit::{World, signal};

use super::tests::{calls, says, world};

const FIND: (&str, &str) = ("lab_find__host", r#"{"query":"web-1"}"#);

/// A question that no route knows.
const QUESTION: &str = "why do customers complain about the shop";

/// The same, for which commands are offered.
const COMMAND_QUESTION: &str = "which read-only command says why customers complain";

fn run(line: &str) -> Thought {
    calls(&[("lab_read__run", &serde_json::json!({ "target": "host:web-1", "line": line }).to_string())])
}

/// LOOP-26, LOOP-28, TEL-05.
#[test]
fn a_reading_that_a_gate_says_how_to_mend_is_mended_once_and_people_are_told() {
    let mut world = world(vec![calls(&[FIND]), run("top"), says("It is busy.")]);
    world.answers("lab_read.run", serde_json::json!({ "output": "top - 12:00" }));
    let told = world.say(COMMAND_QUESTION);
    insta::assert_snapshot!(told.said, @"
    I rewrote `top` to `top -b -n 1`.
    This answer changed nothing. Read: 2 things (`sources`). The model says:
    | It is busy.
    ");
    let ran = told.calls.last().expect("it ran");
    assert_eq!(ran.args["line"], "top -b -n 1");
    let counted =
        |told: &crate::testkit::Told, name: &str| told.counted.iter().filter(|count| count.starts_with(name)).count();
    assert_eq!((counted(&told, "auto_recovery_attempt_total"), counted(&told, "auto_recovery_success_total")), (1, 1));
    assert_eq!(counted(&told, "gate_block_total"), 1, "what was refused is recorded: {:?}", told.counted);
    let last = told.asks.last().expect("it was asked").situation.exchanges.last().cloned().expect("it is told");
    assert!(last.ok && last.args.contains("top -b -n 1"), "{last:?}");

    let failed = Envelope::failed(Code::ExecutionFailed, "no terminal", false, Details::default());
    world.script.answers.insert("lab_read.run".to_owned(), failed);
    world.thoughts = vec![run("top"), says("I cannot say.")].into();
    let told = world.say(COMMAND_QUESTION);
    assert_eq!((counted(&told, "auto_recovery_attempt_total"), counted(&told, "auto_recovery_success_total")), (1, 0));
}

/// Nothing is mended but readings that a gate says how to mend: everything else goes back as it is.
#[test]
fn what_a_gate_does_not_say_how_to_mend_is_not_mended() {
    let mut world = world(vec![calls(&[FIND]), run("rm -rf /"), says("I cannot say.")]);
    let told = world.say(COMMAND_QUESTION);
    assert_eq!(told.calls.len(), 1, "{:?}", told.calls);
    assert!(told.counted.iter().all(|count| !count.starts_with("auto_recovery")), "{:?}", told.counted);
}

/// SPB-03: the larger model from the start.
#[test]
fn several_steps_are_the_larger_models() {
    let tiers = |words: &str, smart: bool| {
        let mut world = world(vec![says("I cannot say.")]);
        world.minds.fast = Some("small".to_owned());
        world.minds.smart = world.minds.smart.filter(|_| smart);
        let asks = world.say(words).asks;
        asks.iter().map(|ask| ask.tier.as_str()).collect::<Vec<_>>().join(" ")
    };
    let several = "first find out why customers complain, then say what to do";
    assert_eq!((tiers(QUESTION, true).as_str(), tiers(several, true).as_str()), ("fast", "smart"));
    assert_eq!(tiers(several, false), "fast", "there is no other");
}

/// Calls of one turn leave together: what is left is not left for each of them.
#[test]
fn what_is_left_of_a_limit_is_not_left_for_every_call_of_a_turn() {
    let all: Vec<(&str, String)> = (0..6).map(|n| ("lab_find__service", format!(r#"{{"query":"x{n}"}}"#))).collect();
    let all: Vec<(&str, &str)> = all.iter().map(|(name, args)| (*name, args.as_str())).collect();
    let mut world = world(vec![calls(&all), says("I cannot say.")]);
    let most = Most::PerMinute { count: 30, burst: 10 };
    world.allowances = vec![Allowance { scope: Scope::Resolve, most, left: 2, wait_ms: 0 }];
    let told = world.say(QUESTION);
    assert_eq!(told.calls.len(), 2, "{:?}", told.calls);
    let last = told.asks.last().expect("it was asked");
    let refused = last.situation.exchanges.iter().filter(|exchange| exchange.result.contains("RATE_LIMITED")).count();
    assert_eq!(refused, 4, "{last:?}");
    assert_eq!(
        told.said, "This answer changed nothing. Read: 2 things (`sources`). The model says:\n| I cannot say.\n",
        "what was too fast ends nothing"
    );
}

/// What nobody discovered has no labels that policies could restrict it by: a model does not pick it by its name (C-51).
#[test]
fn a_model_reads_nothing_on_a_known_host_that_nobody_discovered() {
    const GHOST: (&str, &str) = ("lab_read__status", r#"{"target":"service:web-1:nginx"}"#);
    let mut world = world(vec![calls(&[GHOST]), says("I cannot say.")]);
    world.say("load");
    let told = world.say(QUESTION);
    assert_eq!(told.calls, Vec::new());
    let last = told.asks.last().expect("it was asked again");
    let results: Vec<&str> = last.situation.exchanges.iter().map(|exchange| exchange.result.as_str()).collect();
    assert!(matches!(results.as_slice(), [only] if only.contains("STRICT_RESOLUTION")), "{results:?}");
}

/// A change whose verifying read could not be made.
fn unverified(thoughts: Vec<Thought>) -> World {
    let mut world = world(Vec::new());
    world.answers("lab_control.restart", serde_json::json!({}));
    let gone = Envelope::failed(Code::Timeout, "it does not answer", true, Details::default());
    let status = world.script.answers.insert("lab_read.status".to_owned(), gone);
    world.say("restart nginx");
    let plan = world.files.rows.keys().next().expect("a plan is filed").clone();
    world.hear(signal("a", "bob", &format!("approve {plan}")));
    assert_eq!(world.state.fsm().state().as_str(), "VERIFYING");
    drop(status);
    world.thoughts = thoughts.into();
    world
}

fn running() -> serde_json::Value {
    serde_json::json!({ "name": "nginx", "present": true, "state": "running", "run": "2" })
}

/// C-06, FM-20, LOOP-21, FSM-24: words end nothing; the core looks itself.
#[test]
fn a_model_that_answers_while_a_change_is_unverified_does_not_leave_it_so() {
    let mut world = unverified(vec![says("I cannot say.")]);
    world.answers("lab_read.status", running());
    let told = world.say(QUESTION);
    insta::assert_snapshot!(told.said, @"
    Not verified yet: lab_control.restart on service:web-1:nginx.
    This answer changed nothing. Nothing was read. The model says:
    | I cannot say.
    Done and verified: restart nginx. A fresh read shows what was expected.
    state: running (as expected)
    run: 2 (as expected)
    ");
    assert_eq!(world.state.fsm().state().as_str(), "READING");
    assert!(!world.state.is_busy());
}

#[test]
fn where_the_core_cannot_look_either_the_answer_says_so() {
    let mut world = unverified(vec![says("I cannot say.")]);
    insta::assert_snapshot!(world.say(QUESTION).said, @"
    Not verified yet: lab_control.restart on service:web-1:nginx.
    This answer changed nothing. Nothing was read. The model says:
    | I cannot say.
    failed: Not verified: restart nginx. Its target could not be read: it does not answer
    Nothing else is changed in this thread until it can be read. I try again at 2023-11-14 22:13:40 UTC, or type `verify`.
    ");
    assert_eq!(world.state.fsm().state().as_str(), "VERIFYING");
}

/// Invariant 3: what a model had begun to read is no look at what was changed, however it answers.
#[test]
fn what_a_model_was_still_reading_when_it_ended_verifies_nothing() {
    let mut world = unverified(Vec::new());
    world.say("list services");
    world.answers("lab_read.status", running());
    let (asked, mut told) = (signal("q", "ann", QUESTION), crate::testkit::Told::default());
    world.input(Input::Signal(Box::new(asked.clone())), &mut told);
    let n = told.asks.last().expect("a model is asked").n;
    let other = ("lab_read__status", r#"{"target":"service:web-1:postgres"}"#);
    let wild = ("nobody__knows", "{}");
    let heard = Box::new(Ok(calls(&[other, wild, wild, wild, wild])));
    let left = world.input(Input::Thought { signal: Box::new(asked), n, heard }, &mut told);
    let targets: Vec<_> = left.iter().filter_map(|call| call.target.as_ref()).map(ToString::to_string).collect();
    assert_eq!(targets, ["service:web-1:postgres", "service:web-1:nginx"], "the second is the core's own");
    let answers: Vec<Input> = left.iter().map(|call| world.run(call)).collect();
    let states = answers.into_iter().map(|answer| {
        world.input(answer, &mut told);
        world.state.fsm().state().as_str()
    });
    assert_eq!(states.collect::<Vec<_>>(), ["VERIFYING", "READING"], "{}", told.said);
}

/// C-06, LOOP-20: turns that run out are no deadlock and no silence.
#[test]
fn turns_that_run_out_while_a_change_is_unverified_end_with_a_look() {
    let find = |n: usize| calls(&[("lab_find__service", &format!(r#"{{"query":"x{n}"}}"#) as &str)]);
    let mut world = unverified((0..30).map(find).collect());
    world.limits.turns_max = 3;
    world.answers("lab_read.status", running());
    let told = world.say(QUESTION);
    insta::assert_snapshot!(told.said, @r"
    refused: Not verified yet: lab_control.restart on service:web-1:nginx.
    The 3 turns of this request are used up.
    (BUDGET_EXCEEDED, gate `allowance`)
    Done and verified: restart nginx. A fresh read shows what was expected.
    state: running (as expected)
    run: 2 (as expected)
    ");
    assert_eq!(told.asks.len(), 3);
    assert_eq!(world.state.fsm().state().as_str(), "READING");
}

const STATUS: (&str, &str) = ("lab_read__status", r#"{"target":"service:web-1:nginx"}"#);
const NGINX: (&str, &str) = ("lab_find__service", r#"{"query":"nginx"}"#);

fn statuses(told: &crate::testkit::Told) -> usize {
    told.calls.iter().filter(|call| call.name() == "lab_read.status").count()
}

/// KNO-10: what this request has read already is given back, with the word that it was known; the gates were asked first.
#[test]
fn what_was_read_in_this_request_is_known_and_not_read_again() {
    let mut world = world(vec![calls(&[NGINX]), calls(&[STATUS]), calls(&[STATUS]), says("I cannot say.")]);
    let told = world.say(QUESTION);
    assert_eq!(statuses(&told), 1, "{:?}", told.calls);
    let last = told.asks.last().expect("it was asked").situation.exchanges.last().cloned().expect("it is told");
    insta::assert_snapshot!(last.result, @"already known from a reading of this request, and not read again: status: running");
    let judged = world.say("why").said;
    assert_eq!(judged.matches("lab_read.status on service:web-1:nginx").count(), 2, "{judged}");
    world.thoughts = vec![calls(&[STATUS]), says("I cannot say.")].into();
    assert_eq!(statuses(&world.say(QUESTION)), 1, "another question is answered afresh");
}

/// C-08, C-29: nothing that is known verifies a change or stands in for a look at what was written.
#[test]
fn while_a_change_is_unverified_nothing_is_known() {
    let mut world = unverified(vec![calls(&[STATUS]), calls(&[STATUS]), says("I cannot say.")]);
    let status = serde_json::json!({ "name": "nginx", "present": true, "state": "restarting", "run": "1" });
    world.answers("lab_read.status", status);
    assert_eq!(statuses(&world.say(QUESTION)), 3, "the model's two, and the core's own");
}
