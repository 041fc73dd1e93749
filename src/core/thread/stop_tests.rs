//! One thread that is told to stop while it works.

use crate::effect::Input;
use crate::gate::ToolCall;
use crate::mind::{RawCall, Thought};
use crate::signal::{SignalId, Wall};
use crate::testkit::{Told, World, signal};

/// A question that no route knows.
const QUESTION: &str = "why do customers complain about the shop";

fn world() -> World {
    let mut world = World::with_fleet();
    world.minds.smart = Some("big".to_owned());
    world
}

/// Somebody says stop while `at_work` is worked on.
fn stop(world: &mut World, by: &str, at_work: &str) -> Told {
    let mut told = Told::default();
    world.input(Input::Aside(Box::new(signal("stop", by, "stop"))), &mut told);
    world.input(Input::Halt(SignalId::new(at_work)), &mut told);
    told
}

fn begin(world: &mut World, words: &str) -> (Told, Vec<ToolCall>) {
    let mut told = Told::default();
    let calls = world.input(Input::Signal(Box::new(signal("q", "ann", words))), &mut told);
    (told, calls)
}

fn think(world: &mut World, n: u32, calls: &[(&str, &str)]) -> Vec<ToolCall> {
    let calls = calls.iter().map(|(name, args)| RawCall { name: (*name).to_owned(), arguments: (*args).to_owned() });
    let heard = Box::new(Ok(Thought { calls: calls.collect(), ..Thought::default() }));
    let signal = Box::new(signal("q", "ann", QUESTION));
    world.input(Input::Thought { signal, n, heard }, &mut Told::default())
}

fn answer(world: &mut World, call: &ToolCall) -> (Told, Vec<ToolCall>) {
    let mut told = Told::default();
    let answered = world.run(call);
    let calls = world.input(answered, &mut told);
    (told, calls)
}

#[test]
fn what_a_model_was_asked_is_given_up_and_counted_all_the_same() {
    let mut world = world();
    begin(&mut world, QUESTION);
    let told = stop(&mut world, "ann", "q");
    insta::assert_snapshot!(told.said, @r"
    I stop working on “why do customers complain about the shop”.
    Stopped: ann asked for that. Nothing was changed. Nothing was read yet.
    ");
    assert!(!world.state.is_busy());
    assert!(told.effects.iter().any(|effect| effect == "GiveUp { calls: [], asks: true }"), "{:?}", told.effects);
    let spent = told.effects.iter().find(|effect| effect.starts_with("Spend")).expect("it is counted");
    assert!(spent.contains("by: Model") && !spent.contains("tokens_in: 0"), "{spent}");
}

/// The places of readings that nobody waits for are free for others.
#[test]
fn readings_under_way_are_given_up_and_what_was_read_is_said() {
    let mut world = world();
    begin(&mut world, QUESTION);
    let find = think(&mut world, 1, &[("lab_find__service", r#"{"query":"nginx"}"#), ("lab_find__host", "{}")]);
    for call in &find {
        answer(&mut world, call);
    }
    let read =
        [("lab_read__status", r#"{"target":"service:web-1:nginx"}"#), ("lab_read__load", r#"{"target":"host:web-1"}"#)];
    let reading = think(&mut world, 2, &read);
    answer(&mut world, &reading[0]);
    let told = stop(&mut world, "bob", "q");
    insta::assert_snapshot!(told.said, @r"
    I stop working on “why do customers complain about the shop”.
    Stopped: bob asked for that. Nothing was changed. Read so far:
    - lab_find.service at 1970-01-01 00:00:00 UTC
    - lab_find.host at 1970-01-01 00:00:00 UTC
    - lab_read.status of service:web-1:nginx at 1970-01-01 00:00:00 UTC
    This was read last:
    nginx is running.
    ");
    let given_up = format!("GiveUp {{ calls: [{:?}], asks: false }}", reading[1].id);
    assert!(told.effects.contains(&given_up), "{:?}", told.effects);
    assert!(told.effects.iter().any(|effect| effect.contains("what: \"stopped\"")), "{:?}", told.effects);
    let (late, _) = answer(&mut world, &reading[1]);
    assert!(late.said.is_empty() && late.counted.iter().any(|count| count.starts_with("stray_answers_total")));
}

#[test]
fn a_request_whose_time_is_over_gives_up_its_readings() {
    let mut world = world();
    let (_, calls) = begin(&mut world, "load");
    let mut told = Told::default();
    world.input(Input::Deadline(SignalId::new("q")), &mut told);
    let given_up = format!("GiveUp {{ calls: [{:?}], asks: false }}", calls[0].id);
    assert!(told.effects.contains(&given_up), "{:?}", told.effects);
}

/// Heard late, it does not end what somebody began after it.
#[test]
fn a_stop_is_for_what_was_there_when_it_was_written() {
    let mut world = world();
    let (mut told, mut later) = (Told::default(), signal("later", "ann", QUESTION));
    later.received_at = Wall(2);
    world.input(Input::Signal(Box::new(later)), &mut told);
    assert_eq!(told.asks.len(), 1, "a model is asked");
    let mut earlier = signal("stop", "ann", "stop");
    earlier.received_at = Wall(1);
    let mut told = Told::default();
    world.input(Input::Aside(Box::new(earlier)), &mut told);
    world.input(Input::Halt(SignalId::new("later")), &mut told);
    assert!(told.said.starts_with("Nothing is being worked on here."), "{}", told.said);
    assert!(world.state.is_busy(), "it goes on");
}

#[test]
fn not_everybody_stops_what_others_asked_for() {
    let mut world = world();
    let (_, calls) = begin(&mut world, "load");
    let told = stop(&mut world, "tom", "q");
    insta::assert_snapshot!(told.said, @r"
    refused: Only whoever asked for it, who may decide about it, or an administrator stops this.
    (FORBIDDEN, gate `stop`)
    ");
    assert!(told.counted.iter().any(|count| count.contains("FORBIDDEN")), "{:?}", told.counted);
    assert!(world.state.is_busy());
    assert!(stop(&mut world, "mallory", "q").said.starts_with("refused: "));
    let (_, read) = answer(&mut world, &calls[0]);
    assert!(answer(&mut world, &read[0]).0.said.contains("The load is 0.5."), "it goes on");
    world.say("load");
    assert_eq!(world.say("stop").said, "Nothing is being worked on here. An open plan is taken back with `cancel`.\n");
}

/// Invariant 3: nobody would know what became of it.
#[test]
fn a_change_that_is_being_made_is_not_stopped() {
    let mut world = world();
    world.say("restart nginx");
    let plan = world.files.rows.keys().next().expect("a plan is filed").clone();
    let mut told = Told::default();
    let approve = signal("a", "bob", &format!("approve {plan}"));
    let look = world.input(Input::Signal(Box::new(approve)), &mut told);
    let (_, write) = answer(&mut world, &look[0]);
    assert_eq!(write[0].name(), "lab_control.restart");
    let told = stop(&mut world, "bob", "a");
    insta::assert_snapshot!(told.said, @r"
    refused: A change that is being carried out or verified is not stopped: it goes on until it is known what became of it.
    (FSM_BLOCKED, gate `stop`)
    ");
    assert!(told.effects.iter().all(|effect| !effect.starts_with("GiveUp")), "{:?}", told.effects);
    assert!(world.state.is_busy());
    world.answers("lab_control.restart", serde_json::json!({}));
    let status = serde_json::json!({ "name": "nginx", "present": true, "state": "running", "run": "2" });
    world.answers("lab_read.status", status);
    let (_, verify) = answer(&mut world, &write[0]);
    assert!(answer(&mut world, &verify[0]).0.said.starts_with("Done and verified"));
}

#[test]
fn an_approved_change_is_stopped_before_it_is_begun_by_whoever_may_take_it_back() {
    let mut world = world();
    world.say("restart nginx");
    let plan = world.files.rows.keys().next().expect("a plan is filed").clone();
    let approve = signal("a", "bob", &format!("approve {plan}"));
    let look = world.input(Input::Signal(Box::new(approve)), &mut Told::default());
    assert!(stop(&mut world, "tom", "a").said.starts_with("refused: "));
    let told = stop(&mut world, "ann", "a");
    insta::assert_snapshot!(told.said, @r"
    I stop working on “approve 00000000000000000000000000000003”.
    Stopped before it was begun, because ann asked for that: restart nginx. Nothing was changed. The plan is cancelled.
    ");
    assert_eq!(world.files.rows[&plan].state().as_str(), "cancelled");
    let given_up = format!("GiveUp {{ calls: [{:?}], asks: false }}", look[0].id);
    assert!(told.effects.contains(&given_up), "{:?}", told.effects);
}
