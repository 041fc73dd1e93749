//! The simulation over the tools and people of the fixtures: nothing is broken, the same seed is the same run, and for every
//! invariant there is something that is broken on purpose and found.

use std::collections::BTreeSet;

use super::*;
use crate::answer::Claims;
use crate::effect::Input;
use crate::route::Intents;
use crate::signal::{ActorId, Platform};
use crate::step::broken::{Break, with};
use crate::testkit::{INTENTS, TOOLS, World};
use crate::tool::Registry;

/// A place inside of the host, so that a call can run in the wrong one of the two.
const BOX_TOOLS: &str = r#"
spoke = "crate"

[[tool]]
name = "crate_find"
about = "finds containers"
[tool.action.container]
kind = "resolve"
about = "finds containers"
limit_ms = 1000
resolves = "container"
args.query = { type = "text", about = "a name" }

[[tool]]
name = "crate_read"
about = "looks into containers"
[tool.action.load]
kind = "read"
about = "how busy a container is"
limit_ms = 1000
target = "container"
resolve = "crate_find.container"
show.lead = "Here it is."
"#;

const BOX_INTENTS: &str = r#"
[[intent]]
name = "container"
about = "how busy a container is"
examples = ["container one"]
patterns = ["container (?P<name>\\S+)"]
call = "crate_read.load"
target = "name"
domain = "crate"
"#;

/// In how many steps what is broken has to be found.
const BITES_WITHIN: u64 = 100_000;

/// What is broken, and the invariant that is then seen not to hold. The gate `workflow` alone is not among them: where it is
/// open, the workflow itself still begins no second write.
const BITES: [(u8, Break); 22] = [
    (1, Break::Open("resolution")),
    (2, Break::Open("secrets")),
    (2, Break::Open("egress")),
    (3, Break::AnyRead),
    (3, Break::Reset),
    (3, Break::EarlyLook),
    (3, Break::OneHolder),
    (4, Break::Judge),
    (4, Break::Expiry),
    (4, Break::Drift),
    (5, Break::WearsDown),
    (6, Break::Shut("workflow")),
    (7, Break::CompareAndSet),
    (8, Break::Open("actor")),
    (8, Break::Open("vault")),
    (8, Break::Sight),
    (8, Break::Discovery),
    (9, Break::Record),
    (10, Break::Routes),
    (11, Break::Verify),
    (12, Break::Open("routing")),
    (13, Break::Open("intent")),
];

/// The people of the fixtures and their room.
fn cast() -> Cast {
    let account = |id: &str| Account { platform: Platform::new("test"), id: ActorId::new(id) };
    Cast::new(["ann", "bob", "carol"].map(account), &[])
}

/// Every kind of tool, and the words that claim something as they ship.
fn world() -> World {
    let mut world = World::new();
    world.claims = Claims::load(include_str!("../../../config/claims.toml")).expect("the shipped words are sound");
    world.registry = Registry::load([("tools.toml", TOOLS), ("box.toml", BOX_TOOLS)]).expect("the tools are sound");
    let intents = Intents::load([("intents.toml", INTENTS), ("box.toml", BOX_INTENTS)], &world.registry);
    world.intents = intents.expect("the intents are sound");
    world
}

/// What is said of a run that found something.
fn told(report: &Report) -> String {
    let Some(failure) = &report.failure else { return String::new() };
    let lines: Vec<String> = failure.script.0.iter().map(|line| format!("{line:?}")).collect();
    format!("{:?} seed {} ops {:?}\n{}", failure.breach, failure.seed, failure.operations, lines.join("\n"))
}

#[test]
fn nothing_that_a_hostile_model_says_breaks_an_invariant() {
    let world = world();
    let report = run(world.env(), &cast(), 1, 12_000, |_| ());
    assert!(report.failure.is_none(), "{}", told(&report));
    let tally = &report.tally;
    let gates =
        ["actor", "approval", "egress", "intent", "repetition", "resolution", "routing", "schema", "secrets", "vault"];
    for gate in gates.iter().chain(&["workflow", "decision", "carry"]) {
        assert!(tally.refused(gate) > 0, "nothing was ever refused by `{gate}`: {tally:?}");
    }
    let counts = [tally.requests, tally.thoughts, tally.calls, tally.plans, tally.writes, tally.crashes];
    assert!(counts.iter().all(|count| *count > 20), "{tally:?}");
}

#[test]
fn a_thread_whose_process_ended_is_told_nothing_until_it_is_loaded_again() {
    let (world, cast) = (world(), cast());
    let mut tally = Tally::default();
    let room = cast.rooms(0).first().expect("a room");
    let mut town = Town::new(world.env(), room, &mut tally, true);
    town.load(0);
    town.step(0, Input::Filed(Vec::new()));
    town.end_process();
    town.step(0, Input::Filed(Vec::new()));
    town.load(0);
    let script = town.script.take().unwrap_or_default();
    let told: Vec<bool> = script.0.iter().map(|line| matches!(line, Line::Told(..))).collect();
    // Loaded, told, forgotten on both seats, and loaded.
    assert_eq!(told, [true, true, false, false, true]);
}

#[test]
fn the_same_seed_is_the_same_run() {
    let world = world();
    let tally = |seed: u64| run(world.env(), &cast(), seed, 2_000, |_| ()).tally;
    assert_eq!(tally(7), tally(7));
    assert_ne!(tally(7), tally(8));
}

#[test]
fn for_every_invariant_what_is_broken_on_purpose_is_found() {
    let world = world();
    let mut missed = Vec::new();
    for (invariant, broken) in BITES {
        let report = with(broken, || run(world.env(), &cast(), 1, BITES_WITHIN, |_| ()));
        match &report.failure {
            Some(failure) if failure.breach.invariant == invariant => {
                assert!(
                    !failure.script.0.is_empty() && failure.operations.0 < failure.operations.1,
                    "{}",
                    told(&report)
                );
            }
            Some(_) | None => missed.push((invariant, broken, told(&report))),
        }
    }
    assert_eq!(missed, []);
    let numbers: BTreeSet<u8> = BITES.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=13).collect(), "every invariant is bitten");
}
