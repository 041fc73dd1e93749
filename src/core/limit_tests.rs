//! What a limit does to a thread: a message that came over one is told and nothing of it is run, a call over one is not
//! made, and what belongs to a plan is held to none.

use crate::approval::{Outcome, PlanState};
use crate::effect::Input;
use crate::gate::ToolCall;
use crate::rate::{Allowance, MESSAGE_BYTES_MAX, Most, Scope, too_long};
use crate::signal::{Payload, Signal};
use crate::testkit::{Told, World, signal};

fn over(scope: Scope, most: Most, wait_ms: u64) -> Allowance {
    Allowance { scope, most, left: 0, wait_ms }
}

fn a_minute(scope: Scope) -> Allowance {
    over(scope, Most::PerMinute { count: 20, burst: 10 }, 13_200)
}

/// Everybody's calls are used up.
fn used_up() -> Vec<Allowance> {
    [Scope::Resolve, Scope::Read, Scope::Write].map(a_minute).into()
}

fn limited(over: Allowance) -> Signal {
    Signal { payload: Payload::Limited { over }, ..signal("s", "stranger", "") }
}

fn calls(told: &Told) -> Vec<String> {
    told.calls.iter().map(ToolCall::name).collect()
}

#[test]
fn a_message_over_a_limit_is_told_which_and_how_long() {
    let mut world = World::with_fleet();
    let told = world.hear(limited(a_minute(Scope::Person)));
    insta::assert_snapshot!(told.said, @r#"
    refused: That was too fast: 20 messages a minute for one person. Wait 14 s. I say this once a minute at most; until then I only mark what I do not take.
    (RATE_LIMITED, gate `rate`)
    "#);
    let row = told.effects.iter().find(|effect| effect.starts_with("Audit")).expect("it is recorded");
    assert!(row.contains("RateLimited") && row.contains("gate: \"rate\""), "{row}");
    let counter = r#"gate_block_total[("gate", "rate"), ("code", "RATE_LIMITED"), ("tool", "message")]"#;
    assert!(told.counted.contains(&counter.to_owned()), "{:?}", told.counted);
    assert_eq!(calls(&told), [""; 0]);
}

#[test]
fn each_limit_has_its_own_words() {
    let mut world = World::with_fleet();
    let mut said = |over: Allowance| {
        let said = world.hear(limited(over)).said;
        said.split(" I say").next().unwrap_or_default().to_owned()
    };
    let table = [
        (a_minute(Scope::Room), "refused: That was too fast: 20 messages a minute for this room. Wait 14 s."),
        (a_minute(Scope::Team), "refused: That was too fast: 20 messages a minute for the whole team. Wait 14 s."),
        (
            a_minute(Scope::Stranger),
            "refused: That was too fast: 20 messages a minute for an account that I do not know. Wait 14 s.",
        ),
        (
            a_minute(Scope::Strangers),
            "refused: That was too fast: 20 messages a minute for all accounts together that I do not know. Wait 14 s.",
        ),
        (
            over(Scope::Open, Most::AtOnce(8), 0),
            "refused: That was too much at once: 8 open questions for one person. Wait for an answer.",
        ),
        (
            over(Scope::Message, Most::Bytes(MESSAGE_BYTES_MAX), 0),
            "refused: That was too long: I read at most 64 KB of text in one message. Send it in smaller parts.\n\
             (INVALID_INPUT, gate `rate`)\n",
        ),
    ];
    for (over, expected) in table {
        assert_eq!(said(over), expected);
    }
}

#[test]
fn a_message_is_too_long_by_its_bytes() {
    let text = |bytes: usize| Payload::Text { text: "é".repeat(bytes / 2) };
    assert_eq!(too_long(&text(MESSAGE_BYTES_MAX)), None);
    assert_eq!(too_long(&text(MESSAGE_BYTES_MAX + 2)).map(|over| over.scope), Some(Scope::Message));
    assert_eq!(too_long(&Payload::Stray), None);
}

#[test]
fn what_came_over_a_limit_is_not_run_after_a_crash_either() {
    let mut world = World::with_fleet();
    let told = world.hear_again(limited(a_minute(Scope::Person)));
    insta::assert_snapshot!(told.said, @r#"
    refused: You asked “a message that came too fast” before I was restarted.
    That was too fast: 20 messages a minute for one person. Wait 14 s. I say this once a minute at most; until then I only mark what I do not take.
    (RATE_LIMITED, gate `rate`)
    "#);
    let mut told = Told::default();
    world.input(Input::Interrupted(Box::new(limited(a_minute(Scope::Person)))), &mut told);
    assert!(told.said.starts_with("failed: I set aside a message"), "{}", told.said);
}

#[test]
fn a_call_over_a_limit_is_not_made() {
    let mut world = World::with_fleet();
    world.allowances = vec![a_minute(Scope::Read)];
    let told = world.say("status of nginx");
    assert_eq!(calls(&told), ["lab_find.service"], "each kind has its own limit");
    insta::assert_snapshot!(told.said, @r#"
    refused: That was too fast: 20 readings a minute for one person; wait 14 s and ask again.
    (RATE_LIMITED, gate `allowance`)
    "#);
    world.allowances = vec![Allowance { left: 1, ..a_minute(Scope::Read) }];
    assert!(world.say("status of nginx").said.starts_with("nginx is running."));
    world.allowances = vec![a_minute(Scope::Write)];
    let told = world.say("restart nginx");
    assert!(told.said.contains("20 planned changes a minute for one person"), "{}", told.said);
    assert!(world.files.rows.is_empty(), "no card, no plan");
}

#[test]
fn what_belongs_to_a_plan_is_held_to_no_limit() {
    // Invariant 3: a change that was countersigned is done and verified whatever else was asked for.
    let mut world = World::with_fleet();
    world.say("restart nginx");
    let plan = world.files.rows.keys().next().expect("a plan").clone();
    world.answers("lab_control.restart", serde_json::json!({ "done": true }));
    let after = serde_json::json!({ "name": "nginx", "present": true, "state": "running", "run": "2" });
    world.answers("lab_read.status", after);
    world.allowances = used_up();
    let told = world.hear(signal("b", "bob", &format!("approve {plan}")));
    assert_eq!(calls(&told), ["lab_find.service", "lab_control.restart", "lab_read.status"]);
    let filed = world.files.rows.get(&plan).expect("filed");
    assert_eq!(filed.state(), PlanState::Verified(Outcome::AsExpected));
}

#[test]
fn limits_shows_what_is_left() {
    let mut world = World::with_fleet();
    insta::assert_snapshot!(world.say("limits").said, @"You are held to no limit here.");
    let person = Allowance { left: 7, wait_ms: 0, ..a_minute(Scope::Person) };
    let open = Allowance { left: 8, ..over(Scope::Open, Most::AtOnce(8), 0) };
    world.allowances = vec![person, open, a_minute(Scope::Read)];
    insta::assert_snapshot!(world.say("limits").said, @r#"
    limit | a minute | at once | left now
    your messages | 20 | 10 | 7
    your questions without an answer yet |  | 8 | 8
    readings for you | 20 | 10 | 0
    "#);
}
