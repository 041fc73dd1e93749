//! `countersign simulate` with the real binary: over the shipped configuration and the three awkward ones nothing is broken, the
//! same seed is the same run, and the recording of a failure is one that `replay` plays. What it looks for is tested in the
//! core, where something can be broken on purpose.

use std::path::Path;

use countersign::replay::{Header, Line};
use countersign_core::answer::Claims;
use countersign_core::route::Intents;
use countersign_core::signal::{ActorId, Platform};
use countersign_core::sim::{self, Account, Cast};
use countersign_core::testkit::World;
use countersign_core::tool::Registry;
use serde_json::Value;

use crate::support::bot::{Done, Home, finish};

/// The repository.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn simulate(home: &Home, args: &[&str]) -> Done {
    finish(home.bot().arg("simulate").args(args), b"")
}

#[test]
fn nothing_is_broken_and_the_same_seed_is_the_same_run() {
    let home = Home::new();
    let run = || {
        let done = simulate(&home, &["--steps", "600", "--seed", "11", "--json"]);
        assert_eq!(done.status.code(), Some(0), "{}{}", done.out, done.err);
        let mut said: Value = serde_json::from_str(&done.out).expect("one object");
        said["steps_a_second"].take();
        said
    };
    let first = run();
    assert_eq!(first, run());
    assert!(first["broken"].is_null() && first["steps"].as_u64() >= Some(600) && first["requests"].as_u64() > Some(20));
    let fresh = simulate(&home, &["--steps", "1"]);
    assert!(fresh.out.starts_with("seed ") && fresh.out.contains(" 0 broken invariants"), "{}", fresh.out);
}

#[test]
fn three_awkward_configurations_break_nothing() {
    for name in ["four_eyes", "loosened", "other_tools"] {
        let folder = repository().join("tests/simulate").join(name);
        let home = Home::new();
        let mut command = home.bot();
        command.current_dir(&folder).args(["simulate", "--steps", "800", "--seed", "5"]);
        let done = finish(&mut command, b"");
        assert_eq!(done.status.code(), Some(0), "{name}: {}{}", done.out, done.err);
        assert!(done.out.contains("seed 5: ") && done.out.contains(" 0 broken invariants; "), "{name}: {}", done.out);
    }
}

/// A world in which no word claims anything: what a model makes up is shown there, and only there.
fn credulous() -> (World, Cast) {
    let shipped = |path: &str| std::fs::read_to_string(repository().join(path)).expect("it ships");
    let mut world = World::new();
    world.registry = Registry::load([("host.toml", shipped("config/tools/host.toml").as_str())]).expect("it is sound");
    let intents = Intents::load([("intents.toml", shipped("config/intents.toml").as_str())], &world.registry);
    world.intents = intents.expect("they are sound");
    world.claims = Claims::default();
    let ann = Account { platform: Platform::new("console"), id: ActorId::new("ann") };
    (world, Cast::new([ann], &[]))
}

fn record(failure: &sim::Failure, path: &Path) {
    let owner = (Platform::new("console"), ActorId::new("ann"));
    let header = Header::new(Some(owner)).with_models(sim::models());
    let mut text = serde_json::to_string(&header).expect("it can be written");
    for line in &failure.script.0 {
        let line = match line {
            sim::Line::Told(thread, now, input) => Line::of(thread, *now, input),
            sim::Line::Forgot(thread, now) => Line::forgot(thread, *now),
        };
        text = format!("{text}\n{}", serde_json::to_string(&line).expect("it can be written"));
    }
    std::fs::write(path, text).expect("the folder is there");
}

/// What is found in a broken world is a recording, and in the real one it ends otherwise.
#[test]
fn what_is_found_is_a_recording_that_can_be_played() {
    let (world, cast) = credulous();
    let report = sim::run(world.env(), &cast, 3, 20_000, |_| ());
    let failure = report.failure.expect("a lie is shown");
    assert_eq!(failure.breach.invariant, 11, "{:?}", failure.breach);
    assert!(failure.operations.0 < 10 && failure.operations.1 == 120, "{:?}", failure.operations);
    let home = Home::new();
    let script = home.path().join("script.jsonl");
    record(&failure, &script);
    let played = finish(home.bot().arg("replay").arg(&script), b"");
    assert_eq!(played.status.code(), Some(0), "{}{}", played.out, played.err);
    assert!(played.out.contains(r#""decided":"think""#), "a model is asked: {}", played.out);
    assert!(played.out.contains("What the model wrote is not shown"), "{}", played.out);
}
