//! What people are told where a call did not work.

use crate::answer::{Claims, Errors};
use crate::envelope::{Code, Details, Envelope};
use crate::mind::Thought;
use crate::testkit::{World, signal};

fn world() -> World {
    let mut world = World::with_fleet();
    world.errors = Errors::load(include_str!("../../../config/errors.toml")).expect("the table is sound");
    world.claims = Claims::load(include_str!("../../../config/claims.toml")).expect("the shipped words are sound");
    world
}

fn fails(world: &mut World, call: &str, code: Code, said: &str) {
    let failed = Envelope::failed(code, said, false, Details::default());
    world.script.answers.insert(call.to_owned(), failed);
}

fn says(text: &str) -> Thought {
    Thought { text: text.to_owned(), ..Thought::default() }
}

/// ERR-02, ERR-06, C-33: three short parts, the tool's own words, and a button that has run nothing.
#[test]
fn a_failure_that_is_known_is_explained_and_its_fix_is_a_button() {
    let mut world = world();
    fails(&mut world, "lab_read.status", Code::ExecutionFailed, "dial tcp 10.0.0.5:80: connect: connection refused");
    let told = world.say("how is nginx");
    insta::assert_snapshot!(told.said, @r"
    failed: What happened: `lab_read.status` on nginx did not work.
    (EXECUTION_FAILED, `connection-refused`)
    Why: nothing listens at that address and port, or a firewall turns callers away.
    What to do: see whether the service runs, and which port it listens on.
    dial tcp 10.0.0.5:80: connect: connection refused
    To look further:
    1) status of nginx how a service does
    ");
    assert_eq!(told.calls.len(), 2, "nothing was run: {:?}", told.calls);
    assert!(told.effects.iter().any(|effect| effect.contains("what: \"failed\"") && effect.contains("dial tcp")));
    assert!(!world.say("status of nginx").said.contains("1)"), "what has just failed is no fix");
    world.say("how is nginx");
    let others = world.hear(signal("b", "bob", "1"));
    assert!(others.calls.is_empty(), "it was offered to ann: {}", others.said);
    world.answers("lab_read.status", serde_json::json!({ "name": "nginx", "state": "running" }));
    let pressed = world.say("1");
    assert_eq!(pressed.said, "nginx is running.\n");
    assert!(world.say("why").said.contains("lab_read.status on service:web-1:nginx\n"), "it went through the gates");
}

#[test]
fn what_a_tool_says_to_do_comes_before_what_is_known() {
    let mut world = world();
    let details = Details { recovery_hint: Some("let `bot` read it".to_owned()), ..Details::default() };
    let denied = Envelope::failed(Code::ExecutionFailed, "open /x: Permission denied", false, details);
    world.script.answers.insert("lab_read.load".to_owned(), denied);
    insta::assert_snapshot!(world.say("load").said, @r"
    failed: What happened: `lab_read.load` on web-1 did not work.
    (EXECUTION_FAILED, `permission-denied`)
    Why: the user that the tool runs as may not do this on the machine.
    What to do: let `bot` read it.
    open /x: Permission denied
    ");
}

/// ERR-05: the model is asked for what no rule knows, and for nothing else.
#[test]
fn a_failure_that_nobody_knows_is_explained_by_a_model_where_there_is_one() {
    let mut world = world();
    fails(&mut world, "lab_read.load", Code::ExecutionFailed, "flux capacitor 88 misaligned");
    let plain = world.say("load").said;
    insta::assert_snapshot!(plain, @r"
    failed: flux capacitor 88 misaligned.
    (EXECUTION_FAILED)
    ");
    world.minds.smart = Some("big".to_owned());
    world.thoughts = vec![says("The flux capacitor is out of line; 88 says how far. Realign it.")].into();
    let told = world.say("load");
    insta::assert_snapshot!(told.said, @"
    failed: flux capacitor 88 misaligned.
    (EXECUTION_FAILED)
    This answer changed nothing. Read: what failed. The model says:
    | The flux capacitor is out of line; 88 says how far. Realign it.
    ");
    let ask = told.asks.first().expect("it was asked");
    insta::assert_snapshot!(format!("{:?}\n{:?}", ask.situation.exchanges, ask.situation.notes), @r#"
    [Exchange { call: "lab_read.load", target: Some("host:web-1"), args: "{}", result: "flux capacitor 88 misaligned", ok: false }]
    ["The first call above is what was asked for, and it did not work. Say in a few short sentences what happened, why, and what to do. Read more only where that tells why."]
    "#);
    for lie in ["I restarted it.", "It stands at 4711."] {
        world.thoughts = vec![says(lie)].into();
        let told = world.say("load");
        assert_eq!(told.said, plain, "what nothing bears out is not shown");
        assert!(told.counted.iter().any(|count| count.starts_with("phantom_detected_total")), "{:?}", told.counted);
    }
    assert_eq!(world.say("load").said, plain, "nobody answered");
    fails(&mut world, "lab_read.load", Code::ExecutionFailed, "connect: connection refused");
    assert!(world.say("load").asks.is_empty());
}

/// ERR-04: what a model did wrong is told to the model.
#[test]
fn what_a_model_did_wrong_is_no_business_of_peoples() {
    let mut world = world();
    world.minds.smart = Some("big".to_owned());
    let call = |name: &str, arguments: &str| {
        let calls = vec![crate::mind::RawCall { name: name.to_owned(), arguments: arguments.to_owned() }];
        Thought { calls, ..Thought::default() }
    };
    fails(&mut world, "lab_read.load", Code::ExecutionFailed, "connect: connection refused");
    let thoughts = [
        call("lab_find__host", r#"{"query":"web-1"}"#),
        call("lab_read__load", r#"{"target":"host:web-1","depth":"very"}"#),
        call("lab_read__load", r#"{"target":"host:web-1"}"#),
        says("I cannot say."),
    ];
    world.thoughts = thoughts.into();
    let told = world.say("why do customers complain about the shop");
    assert_eq!(told.said, "This answer changed nothing. Read: 1 thing (`sources`). The model says:\n| I cannot say.\n");
    assert!(told.effects.iter().any(|effect| effect.contains("what: \"failed\"")), "the audit has it");
    let last = told.asks.last().expect("it was asked");
    let results: Vec<&str> = last.situation.exchanges.iter().map(|exchange| exchange.result.as_str()).collect();
    insta::assert_snapshot!(results.join("\n"), @r"
    host:web-1  web-1 
    refused by schema: INVALID_INPUT: `depth` is no argument of this action; it takes none. 
    connect: connection refused.
    (EXECUTION_FAILED)
    ");
}

/// C-11: what lists them, and no change.
#[test]
fn where_nothing_is_called_so_the_list_is_offered() {
    let mut world = world();
    insta::assert_snapshot!(world.say("status of apache").said, @r"
    Nothing here is called “apache”.
    To look further:
    1) list services the services
    ");
    let pressed = world.say("1");
    assert_eq!(pressed.calls.iter().map(crate::gate::ToolCall::name).collect::<Vec<_>>(), ["lab_find.service"]);
}

/// A program that ran and says why it did not work is a reading, and what it says is known all the same.
#[test]
fn what_a_program_says_that_did_not_work_is_explained_below_it() {
    let mut world = world();
    let data = serde_json::json!({ "exit_code": 7, "errors": "curl: (7) connect: Connection refused" });
    world.answers("lab_read.run", data);
    insta::assert_snapshot!(world.say("run uptime").said, @r"
    There is nothing to show.
    Why (`connection-refused`): nothing listens at that address and port, or a firewall turns callers away.
    What to do: see whether the service runs, and which port it listens on.
    ");
    world.answers("lab_read.run", serde_json::json!({ "exit_code": 0, "errors": "was: connection refused, now fine" }));
    assert!(!world.say("run uptime").said.contains("Why"));
}

/// What explains a failure is explained by nobody: it would go round and round.
#[test]
fn a_failure_on_the_way_to_an_explanation_begins_no_other_one() {
    let mut world = world();
    world.minds.smart = Some("big".to_owned());
    fails(&mut world, "lab_read.load", Code::ExecutionFailed, "flux capacitor 88 misaligned");
    fails(&mut world, "lab_find.service", Code::ExecutionFailed, "another thing that nobody knows");
    let find = crate::mind::RawCall { name: "lab_find__service".to_owned(), arguments: "{}".to_owned() };
    let looks = || Thought { calls: vec![find.clone()], ..Thought::default() };
    world.thoughts = (0..9).map(|_| looks()).collect();
    let told = world.say("load");
    let first = told.asks.first().and_then(|ask| ask.situation.exchanges.first()).map(|one| one.call.clone());
    let of_the_same = told.asks.iter().all(|ask| ask.situation.exchanges.first().map(|one| one.call.clone()) == first);
    assert!(of_the_same && told.asks.len() < 9, "{} questions", told.asks.len());
    assert_eq!(told.said.matches("flux capacitor 88 misaligned").count(), 1, "{}", told.said);
}
