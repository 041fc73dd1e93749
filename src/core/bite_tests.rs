//! Shows that the tests would notice: each invariant of `lib.rs` as scenarios that hold, and that fail once exactly one
//! thing is broken (`broken.rs`). Run unbroken and broken, one after the other. What the compiler holds (most of
//! invariant 2: `what_must_not_compile_does_not`) and what takes a whole process (the first half of 7:
//! `two_hundred_kills_lose_nothing_and_answer_nothing_twice`) has its tests in `tests/`.
//!
//! The "Do NOT" rules of the requirements that are the core's to keep, each with the test that fails when it is broken:
//!
//! | rule | never | the test that fails |
//! |---|---|---|
//! | 1 | act without a discovery | `the_hundredth_attempt_meets_the_same_rule_as_the_first` |
//! | 2 | take the workflow's gates out of the loop | `an_unverified_write_blocks_the_next_write_and_no_read` |
//! | 3 | make an unknown tool a read | `unknown_is_a_write` |
//! | 5 | reset the workflow without the context, or the reverse | `reset_forgets_context_and_workflow_together` |
//! | 7 | send a read through a write tool | `the_kind_of_a_call_does_not_depend_on_its_arguments` |
//! | 8 | aim at a parent when a child was meant | `a_wrong_host_read_is_refused_when_the_child_was_meant` |
//! | 10 | block without telemetry | `a_refusal_is_recorded_before_it_is_said` |
//! | 11 | short-cut on a list of read-only commands before the guards | `a_write_in_any_place_is_found` |
//! | 12 | mix the cache's stamps with those of intent | `only_intent_moves_the_explicit_stamp` |
//! | 14 | run what waits for a confirmation | `a_change_is_resolved_and_then_waits_for_a_countersignature` |
//! | 17 | let a proposal pass by the gates | `a_sound_read_is_cleared_with_its_casts_and_its_whole_trace` |
//! | 20 | let the text of a command decide its kind | `the_kind_of_a_call_does_not_depend_on_its_arguments` |
//! | 24 | remember a write and repeat it | `a_repeated_question_takes_the_exact_route_and_looks_afresh` |
//! | 26 | claim a success that is not verified | `a_change_that_did_not_take_is_told_as_it_is` |
//! | 28 | let a chat switch safety off | `no_reset_and_no_age_ends_an_unverified_write` |

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::broken::{Break, with};
use super::sequences;
use crate::approval::{Filed, Outcome, PlanId, PlanState};
use crate::effect::{Effect, Input};
use crate::envelope::{Code, Details, Envelope};
use crate::gate::{Ctx, STACK, judge_post, reissue};
use crate::port::{Block, CardChoice, Claim, Lane, Mark, Outgoing, Source, Visibility};
use crate::proposal::Proposal;
use crate::signal::{Actor, ActorId, ActorKind, Mono, OURSELVES, Payload, Signal, SignalId};
use crate::testkit::{Told, World, resource, signal, thread_key};
use crate::thread::{Budget, OpenWrite, State};
use crate::tool::ToolKind;

type Held = Result<(), String>;

/// A number of `lib.rs`, what must hold, and what may not be broken without its being noticed.
type Row = (u32, fn() -> Held, &'static [Break]);

const ROWS: [Row; 22] = [
    (1, a_write_names_what_was_discovered, &[Break::Open("resolution")]),
    (2, a_stored_message_is_cleared_again, &[Break::Open("secrets")]),
    (2, a_write_that_nobody_countersigned_is_asked_about, &[Break::Open("approval"), Break::Open("workflow")]),
    (3, nothing_is_written_beside_an_unverified_write, &[Break::Open("workflow")]),
    (3, nothing_final_is_said_beside_an_unverified_write, &[Break::Open("workflow")]),
    (3, only_a_look_at_its_own_target_verifies, &[Break::AnyRead]),
    (3, no_reset_ends_an_unverified_write, &[Break::Reset]),
    (3, an_unknown_outcome_is_not_looked_at_early, &[Break::EarlyLook]),
    (3, a_target_has_one_change_at_a_time, &[Break::OneHolder]),
    (4, nobody_decides_what_they_may_not, &[Break::Judge]),
    (4, an_approval_is_for_what_it_was_given_for, &[Break::Drift]),
    (4, an_approval_expires, &[Break::Expiry, Break::Open("approval")]),
    (5, the_hundredth_refusal_is_the_first, &[Break::WearsDown]),
    (6, a_read_goes_on_beside_an_unverified_write, &[Break::Shut("workflow")]),
    (7, two_processes_execute_one_plan_once, &[Break::CompareAndSet]),
    (8, what_is_unknown_is_refused, &[Break::Open("schema"), Break::Open("actor"), Break::Open("vault")]),
    (9, what_is_refused_is_recorded_first, &[Break::Record]),
    (10, what_is_routed_needs_no_model, &[Break::Routes]),
    (11, a_change_is_claimed_only_where_it_was_verified, &[Break::Open("schema")]),
    (11, what_is_said_of_a_change_is_what_was_read, &[Break::Verify]),
    (12, a_call_stays_inside_its_target, &[Break::Open("routing")]),
    (13, the_kind_comes_from_the_declaration, &[Break::UnknownIsRead, Break::Open("intent")]),
];

#[test]
fn each_invariant_holds_and_is_missed_when_it_is_broken() {
    for (number, scenario, breaks) in ROWS {
        assert_eq!(scenario(), Ok(()), "invariant {number}");
        for broken in breaks {
            assert!(with(*broken, scenario).is_err(), "invariant {number}: nobody notices {broken:?}");
        }
    }
    let numbers: BTreeSet<u32> = ROWS.iter().map(|(number, _, _)| *number).collect();
    assert_eq!(numbers, (1..=13).collect(), "every invariant has a row");
}

#[test]
fn each_gate_of_the_stack_is_missed_when_it_is_open() {
    for gate in &STACK {
        assert_eq!(this_gate_refuses(gate.name), Ok(()));
        let open = with(Break::Open(gate.name), || this_gate_refuses(gate.name));
        assert!(open.is_err(), "nobody notices that `{}` is open", gate.name);
    }
}

#[test]
fn the_sequences_notice_what_is_broken() {
    let breaks =
        [Break::Judge, Break::CompareAndSet, Break::OneHolder, Break::EarlyLook, Break::Reset, Break::Open("approval")];
    for broken in breaks {
        let noticed = with(broken, || sequences::notice(BROKEN_SEQUENCES_MAX));
        assert!(noticed.is_some(), "{BROKEN_SEQUENCES_MAX} sequences do not notice {broken:?}");
    }
}

/// How many sequences a break may take to be noticed.
const BROKEN_SEQUENCES_MAX: u64 = 5_000;

fn hold(holds: bool, otherwise: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn proposal(call: &str, target: Option<&str>, args: &Value) -> Proposal {
    let (tool, action) = call.split_once('.').expect("tool.action");
    let args = args.as_object().cloned().unwrap_or_default();
    let (tool, action, target) = (tool.to_owned(), action.to_owned(), target.map(str::to_owned));
    Proposal { tool, action, target, args, because: "a test asks".to_owned() }
}

/// A world in which the host and its services were discovered.
fn discovered() -> World {
    let mut world = World::with_fleet();
    world.say("load");
    world.say("list services");
    world
}

const NGINX: &str = "service:web-1:nginx";
const WEB: Option<&str> = Some("host:web-1");

fn restart() -> Proposal {
    proposal("lab_control.restart", Some(NGINX), &json!({}))
}

/// What the stack says to a proposal: the gate and the code, or none where the call would be made.
fn said_to(world: &mut World, proposal: &Proposal) -> Option<(&'static str, Code)> {
    world.propose(proposal).err().map(|refusal| (refusal.gate, refusal.code))
}

fn expect_refusal(world: &mut World, proposal: &Proposal, gate: &'static str, code: Code) -> Held {
    let said = said_to(world, proposal);
    hold(said == Some((gate, code)), || format!("{proposal:?}: {said:?}"))
}

fn open_write(world: &mut World, target: &str) {
    let target = target.parse().expect("an id");
    world.state.fsm.on_open_write_found(OpenWrite { call: "lab_control.restart".to_owned(), target });
}

/// Asks for a restart of nginx; its plan.
fn asked(world: &mut World) -> Option<PlanId> {
    world.say("restart nginx");
    world.files.rows.keys().next_back().cloned()
}

fn state(world: &World, plan: &PlanId) -> Option<PlanState> {
    world.files.rows.get(plan).map(Filed::state)
}

fn click(world: &World, id: &str, actor: &str, plan: &PlanId) -> Signal {
    let digest = world.files.rows.get(plan).expect("filed").frozen.digest().clone();
    let payload = Payload::Decision { plan: plan.clone(), digest, choice: CardChoice::Approve, reason: String::new() };
    Signal { payload, ..signal(id, actor, "") }
}

fn writes(told: &Told) -> usize {
    told.calls.iter().filter(|call| call.warrant.is_some()).count()
}

/// After the restart, a reading shows this run and state.
fn afterwards(world: &mut World, run: &str, state: &str) {
    world.answers("lab_control.restart", json!({ "done": true }));
    world.answers("lab_read.status", json!({ "name": "nginx", "present": true, "state": state, "run": run }));
}

fn outgoing(text: &str, claim: Claim) -> Outgoing {
    let (answers, blocks) = (SignalId::new("s"), vec![Block::Text { text: text.to_owned() }]);
    let (mark, lane, visibility) = (Mark::Plain, Lane::Answer, Visibility::Everybody);
    Outgoing { to: thread_key("main"), answers, mark, lane, visibility, claim, blocks }
}

/// Which gate refuses a message of a request that carries this plan and has made this reading.
fn post_refused_by(world: &mut World, post: Outgoing, carrying: Option<&PlanId>) -> Option<&'static str> {
    let (asked, budget, now) = (signal("s", "ann", "x"), Budget::default(), world.now());
    let state = &world.state;
    let ctx = Ctx {
        spent: None,
        effects: &[],
        env: world.env(),
        now,
        signal: &asked,
        fsm: &state.fsm,
        resolved: &state.resolved,
        budget: &budget,
        desk: &state.desk,
        carrying,
        offered: &[],
        named: &state.named,
    };
    judge_post(post, &ctx, &[reading()]).err().map(|refusal| refusal.gate)
}

fn reading() -> Source {
    Source { call: "lab_read.status".to_owned(), target: None, observed_at: 1 }
}

fn a_write_names_what_was_discovered() -> Held {
    let unheard_of = proposal("lab_control.restart", Some("service:web-1:redis"), &json!({}));
    expect_refusal(&mut discovered(), &unheard_of, "resolution", Code::StrictResolution)
}

fn a_stored_message_is_cleared_again() -> Held {
    let leak = reissue(outgoing("password=hunter2hunter2", Claim::Nothing), World::new().env());
    hold(leak.is_err(), || "a stored secret left".to_owned())
}

fn a_write_that_nobody_countersigned_is_asked_about() -> Held {
    expect_refusal(&mut discovered(), &restart(), "approval", Code::ApprovalRequired)?;
    expect_refusal(&mut World::with_fleet(), &restart(), "workflow", Code::FsmBlocked)
}

fn nothing_is_written_beside_an_unverified_write() -> Held {
    let mut world = discovered();
    open_write(&mut world, NGINX);
    expect_refusal(&mut world, &restart(), "workflow", Code::FsmBlocked)
}

fn nothing_final_is_said_beside_an_unverified_write() -> Held {
    let mut world = discovered();
    open_write(&mut world, NGINX);
    let claim = Claim::Readings { sources: vec![reading()], unverified: None };
    let refused = post_refused_by(&mut world, outgoing("all is well", claim), None);
    hold(refused == Some("workflow"), || format!("{refused:?}"))
}

fn only_a_look_at_its_own_target_verifies() -> Held {
    let mut world = discovered();
    open_write(&mut world, NGINX);
    world.say("status of postgres");
    hold(world.state.fsm.state() == State::Verifying, || "another target verified it".to_owned())?;
    world.say("status of nginx");
    hold(world.state.fsm.state() == State::Reading, || "its own target did not verify it".to_owned())
}

fn no_reset_ends_an_unverified_write() -> Held {
    let mut world = discovered();
    open_write(&mut world, NGINX);
    world.say("reset");
    hold(world.state.fsm.open_write().is_some(), || "a reset forgot it".to_owned())
}

fn an_unknown_outcome_is_not_looked_at_early() -> Held {
    let mut world = World::with_fleet();
    let plan = asked(&mut world).ok_or("no plan")?;
    let details = Details { outcome_unknown: true, ..Details::default() };
    let silent = Envelope::failed(Code::Timeout, "no answer", false, details);
    world.script.answers.insert("lab_control.restart".to_owned(), silent);
    world.hear(click(&world, "c", "bob", &plan));
    let actor = Actor { id: ActorId::new(OURSELVES), kind: ActorKind::Service, display: OURSELVES.to_owned() };
    let due = Signal { payload: Payload::Due { plan: plan.clone() }, actor, ..signal("d", "", "") };
    let told = world.hear(due);
    let unknown = state(&world, &plan) == Some(PlanState::Unknown);
    hold(unknown && told.calls.is_empty(), || format!("{:?}: {:?}", state(&world, &plan), told.calls))
}

fn a_target_has_one_change_at_a_time() -> Held {
    let mut world = World::with_fleet();
    let plan = asked(&mut world).ok_or("no plan")?;
    let mut other = world.files.rows.get(&plan).ok_or("no row")?.clone();
    let mut elsewhere = other.frozen.plan().clone();
    (elsewhere.id, elsewhere.thread) = (PlanId::from_random(7), thread_key("another"));
    other.frozen = crate::approval::Frozen::freeze(elsewhere);
    other.standing.state = PlanState::Unverified;
    world.files.rows.insert(other.id().clone(), other);
    let told = world.hear(click(&world, "c", "bob", &plan));
    hold(writes(&told) == 0, || "another thread's change of it is not verified".to_owned())
}

fn nobody_decides_what_they_may_not() -> Held {
    let mut world = World::with_fleet();
    let plan = asked(&mut world).ok_or("no plan")?;
    let own = click(&world, "c1", "ann", &plan);
    let mut bot = click(&world, "c2", "bob", &plan);
    bot.actor.kind = ActorKind::Bot;
    let mut stale = click(&world, "c3", "bob", &plan);
    if let Payload::Decision { digest, .. } = &mut stale.payload {
        *digest = crate::approval::Digest::claimed("0".repeat(64));
    }
    for wrong in [own, bot, stale] {
        let told = world.hear(wrong.clone());
        hold(told.calls.is_empty() && state(&world, &plan) == Some(PlanState::Pending), || format!("{wrong:?}"))?;
    }
    afterwards(&mut world, "2", "running");
    let told = world.hear(click(&world, "c4", "bob", &plan));
    hold(writes(&told) == 1, || format!("whoever may does: {}", told.said))
}

fn an_approval_is_for_what_it_was_given_for() -> Held {
    let mut world = World::with_fleet();
    let plan = asked(&mut world).ok_or("no plan")?;
    for resource in &mut world.script.resources {
        resource.attrs.insert("run".to_owned(), "7".to_owned());
    }
    let told = world.hear(click(&world, "c", "bob", &plan));
    let drifted = state(&world, &plan) == Some(PlanState::Refused(Code::Drifted));
    hold(drifted && writes(&told) == 0, || format!("{:?}", state(&world, &plan)))
}

fn an_approval_expires() -> Held {
    let mut world = World::with_fleet();
    let plan = asked(&mut world).ok_or("no plan")?;
    let approval = click(&world, "c", "bob", &plan);
    world.input(Input::Signal(Box::new(approval.clone())), &mut Told::default());
    world.pass(world.limits.plan_ms_max);
    world.restart();
    let told = world.hear_again(approval);
    hold(writes(&told) == 0, || "begun after its time".to_owned())
}

fn the_hundredth_refusal_is_the_first() -> Held {
    let mut world = discovered();
    (0..100).try_for_each(|_| expect_refusal(&mut world, &restart(), "approval", Code::ApprovalRequired))
}

fn a_read_goes_on_beside_an_unverified_write() -> Held {
    let mut world = discovered();
    open_write(&mut world, NGINX);
    let told = world.say("load");
    hold(told.said.contains("The load is 0.5."), || told.said.clone())
}

fn two_processes_execute_one_plan_once() -> Held {
    let (mut first, mut second) = (World::with_fleet(), World::with_fleet());
    let plan = asked(&mut first).ok_or("no plan")?;
    let approval = click(&first, "c", "bob", &plan);
    let (mut told, mut told_too) = (Told::default(), Told::default());
    let look = first.input(Input::Signal(Box::new(approval.clone())), &mut told);
    // The other process believes that this one is gone, and takes its signal up again; the store is the same.
    second.files = first.files.clone();
    second.restart();
    let look_too = second.input(Input::Again(Box::new(approval)), &mut told_too);
    let looked = look.first().map(|call| first.run(call)).ok_or("no look")?;
    first.input(looked, &mut told);
    second.files = first.files.clone();
    let looked = look_too.first().map(|call| second.run(call)).ok_or("no look")?;
    second.input(looked, &mut told_too);
    let both = writes(&told) + writes(&told_too);
    hold(both == 1, || format!("{both} writes"))
}

fn what_is_unknown_is_refused() -> Held {
    let unheard_of = proposal("k8s_delete.everything", None, &json!({}));
    expect_refusal(&mut discovered(), &unheard_of, "schema", Code::NotFound)?;
    let vaulted = proposal("lab_read.vaulted", WEB, &json!({}));
    expect_refusal(&mut discovered(), &vaulted, "vault", Code::PolicyBlocked)?;
    this_gate_refuses("actor")
}

fn what_is_refused_is_recorded_first() -> Held {
    let mut world = World::with_fleet();
    let plan = asked(&mut world).ok_or("no plan")?;
    for refused in [signal("s1", "ann", "show file /etc/shadow"), click(&world, "s2", "ann", &plan)] {
        let mut told = Vec::new();
        let mut inputs = vec![Input::Signal(Box::new(refused.clone()))];
        while let Some(input) = inputs.pop() {
            let now = world.now();
            let state = std::mem::take(&mut world.state);
            let (state, effects) = super::step(world.env(), state, input, now);
            world.state = state;
            for effect in effects {
                match effect {
                    Effect::Call(call) => inputs.push(world.run(call.get())),
                    Effect::Count(count) if count.name == "gate_block_total" => told.push("counted"),
                    Effect::Audit(audit) if audit.code.is_some() => told.push("recorded"),
                    Effect::Post { .. } => told.push("said"),
                    Effect::Count(_)
                    | Effect::Audit(_)
                    | Effect::File(_)
                    | Effect::Move(_)
                    | Effect::Think(_)
                    | Effect::Progress(_)
                    | Effect::Redraw { .. }
                    | Effect::Spend(_)
                    | Effect::Keep(_)
                    | Effect::Remember { .. }
                    | Effect::Wake { .. }
                    | Effect::GiveUp { .. }
                    | Effect::Finish { .. } => {}
                }
            }
        }
        hold(told == ["counted", "recorded", "said"], || format!("{refused:?}: {told:?}"))?;
    }
    Ok(())
}

fn what_is_routed_needs_no_model() -> Held {
    let mut world = World::with_fleet();
    let told = world.say("status of nginx");
    hold(told.said.contains("nginx is running."), || told.said.clone())?;
    hold(asked(&mut world).is_some(), || "no plan".to_owned())
}

fn a_change_is_claimed_only_where_it_was_verified() -> Held {
    let mut world = World::with_fleet();
    let plan = asked(&mut world).ok_or("no plan")?;
    let claim = Claim::Change { plan: plan.clone(), outcome: Outcome::AsExpected, sources: vec![reading()] };
    let refused = post_refused_by(&mut world, outgoing("nginx was restarted", claim), Some(&plan));
    hold(refused == Some("schema"), || format!("{refused:?}"))
}

fn what_is_said_of_a_change_is_what_was_read() -> Held {
    let mut world = World::with_fleet();
    let plan = asked(&mut world).ok_or("no plan")?;
    afterwards(&mut world, "2", "stopped");
    let told = world.hear(click(&world, "c", "bob", &plan));
    hold(told.said.contains("Not as planned"), || told.said.clone())
}

fn a_call_stays_inside_its_target() -> Held {
    this_gate_refuses("routing")
}

fn the_kind_comes_from_the_declaration() -> Held {
    let registry = World::new().registry;
    let kinds = [
        (registry.kind("nobody", "find"), ToolKind::Write),
        (registry.kind("lab_read", "unheard_of"), ToolKind::Write),
        (registry.kind("lab_read", "run"), ToolKind::Read),
        (registry.kind("lab_control", "restart"), ToolKind::Write),
    ];
    hold(kinds.iter().all(|(is, ought)| is == ought), || format!("{kinds:?}"))?;
    let removes = proposal("lab_read.run", WEB, &json!({ "line": "rm -rf /" }));
    expect_refusal(&mut discovered(), &removes, "intent", Code::ReadOnlyViolation)
}

/// For each gate something that it refuses, and where nothing before it does.
fn this_gate_refuses(gate: &'static str) -> Held {
    let mut world = discovered();
    let mut from = signal("s", "ann", "x");
    let load = proposal("lab_read.load", WEB, &json!({}));
    let file = |path: &str| proposal("lab_read.file", WEB, &json!({ "path": path }));
    let mut proposals = vec![load.clone()];
    match gate {
        "schema" => proposals = vec![proposal("k8s_delete.everything", None, &json!({}))],
        "depth" => from.depth = u8::MAX,
        "actor" => from.actor.id = ActorId::new("mallory"),
        "allowance" => proposals = (0..21).map(|n| file(&format!("/var/log/{n}"))).collect(),
        "repetition" => proposals = vec![load; 4],
        "workflow" => {
            open_write(&mut world, NGINX);
            proposals = vec![restart()];
        }
        "resolution" => proposals = vec![proposal("lab_read.load", Some("host:web-2"), &json!({}))],
        "routing" => meant_inside(&mut world),
        "intent" => proposals = vec![proposal("lab_read.run", WEB, &json!({ "line": "rm -rf /" }))],
        "vault" => proposals = vec![proposal("lab_read.vaulted", WEB, &json!({}))],
        "secrets" => proposals = vec![file("/etc/shadow")],
        "explanation" => proposals = vec![Proposal { because: " ".to_owned(), ..load }],
        "egress" => proposals = vec![proposal("lab_read.fetch", WEB, &json!({ "url": "http://evil.example/" }))],
        "self" => {
            world.own.paths.push("/srv/countersign".into());
            proposals = vec![file("/srv/countersign/config.toml")];
        }
        "approval" => proposals = vec![restart()],
        unknown => return Err(format!("nothing is known that `{unknown}` refuses")),
    }
    let last = world.propose_as(from, &proposals).pop().ok_or("nothing was proposed")?;
    let refused_by = last.err().map(|refusal| refusal.gate);
    hold(refused_by == Some(gate), || format!("{gate}: refused by {refused_by:?}"))
}

/// A place inside the host, which was meant just now.
fn meant_inside(world: &mut World) {
    let mut media = resource("host:media", "media");
    media.chain = vec!["host:web-1".parse().expect("an id")];
    // After the host itself was meant.
    world.clock += 1;
    let now = Mono(world.clock);
    world.state.resolved.register_explicit(media, &ActorId::new("ann"), now);
}

/// The rules of the table at the top: (rule, test).
fn rules() -> Vec<(u32, String)> {
    let rows = include_str!("bite_tests.rs").lines().filter_map(|line| line.strip_prefix("//! | "));
    let rule = |row: &str| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let test = cells.get(2)?.trim_matches(['`', ' ', '|']).to_owned();
        Some((cells.first()?.parse().ok()?, test))
    };
    rows.filter_map(rule).collect()
}

/// All sources of the core.
#[expect(clippy::disallowed_methods, reason = "whether a named test exists stands in the sources and nowhere else")]
fn sources(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).expect("the sources of the core can be read").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == "rs") {
            all.push_str(&std::fs::read_to_string(&path).expect("a source file is text"));
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            all.push_str(&sources(&path));
        }
    }
    all
}

#[test]
fn each_do_not_rule_of_the_core_names_a_test_that_exists() {
    let rules = rules();
    let numbers: Vec<u32> = rules.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(numbers, [1, 2, 3, 5, 7, 8, 10, 11, 12, 14, 17, 20, 24, 26, 28]);
    let sources = sources(Path::new(env!("CARGO_MANIFEST_DIR")));
    for (rule, test) in rules {
        let declared = regex::Regex::new(&format!(r"#\[test\]\s+(#\[[^\n]*\]\s+)*fn {test}\(")).expect("a pattern");
        assert!(declared.is_match(&sources), "rule {rule} is held by `{test}`, which is no test");
    }
}
