//! What a server could have made up decides no high risk and links no account (DESIGN.md section 4): reactions on Matrix, and
//! what was not encrypted by a verified device.

use super::{nothing_came_of, was_refused};
use crate::approval::{PlanId, PlanState};
use crate::port::CardChoice;
use crate::signal::{Assurance, Signal};
use crate::testkit::scene::{asked, press, restarted, row, state, writes};
use crate::testkit::{TOOLS, Told, World, signal};
use crate::tool::Registry;

/// A fleet where a restart is of this risk, and a plan for one.
fn planned(risk: &str) -> (World, PlanId) {
    let mut world = World::with_fleet();
    let (title, medium) = ("change.title = \"restart {target.name}\"\n", "change.risk = \"medium\"");
    let tools = TOOLS.replace(&format!("{title}{medium}"), &format!("{title}change.risk = \"{risk}\""));
    world.registry = Registry::load([("tools.toml", tools.as_str())]).expect("it is sound");
    let plan = asked(&mut world);
    assert_eq!(row(&world, &plan).frozen.plan().risk.as_str(), risk);
    restarted(&mut world);
    (world, plan)
}

fn pressed(world: &mut World, plan: &PlanId, choice: CardChoice, assurance: Assurance) -> Told {
    let press = press(world, "bob", plan, choice);
    world.hear(Signal { assurance, ..press })
}

fn typed(world: &mut World, who: &str, text: &str, assurance: Assurance) -> Told {
    let id = format!("{who}-{}", world.now().seed);
    world.hear(Signal { assurance, ..signal(&id, who, text) })
}

#[test]
fn high_risk_is_approved_only_where_it_is_known_who_said_so() {
    let (mut world, plan) = planned("high");
    let approve = format!("approve {plan}");
    for unsealed in [
        pressed(&mut world, &plan, CardChoice::Approve, Assurance::Unsealed),
        typed(&mut world, "bob", &approve, Assurance::Unsealed),
    ] {
        was_refused(&unsealed, "FORBIDDEN");
        assert!(unsealed.said.contains("from a device that I have verified"), "{}", unsealed.said);
        nothing_came_of(&unsealed, &world, &plan);
    }
    let told = typed(&mut world, "bob", &approve, Assurance::Sealed);
    assert_eq!(writes(&told).len(), 1, "{}", told.said);
    let standing = &row(&world, &plan).standing;
    assert!(standing.votes.iter().all(|vote| vote.assurance == Assurance::Sealed && !vote.unsealed));
    assert!(standing.decided.as_ref().is_some_and(|decided| !decided.unsealed));
}

#[test]
fn the_platforms_own_word_approves_high_risk_where_nothing_is_encrypted() {
    let (mut world, plan) = planned("high");
    assert_eq!(writes(&pressed(&mut world, &plan, CardChoice::Approve, Assurance::Platform)).len(), 1);
}

#[test]
fn what_is_less_than_high_risk_takes_a_reaction() {
    for risk in ["low", "medium"] {
        let (mut world, plan) = planned(risk);
        assert_eq!(writes(&pressed(&mut world, &plan, CardChoice::Approve, Assurance::Unsealed)).len(), 1, "{risk}");
    }
}

#[test]
fn anybody_who_may_says_no_by_a_reaction() {
    let (mut world, plan) = planned("high");
    pressed(&mut world, &plan, CardChoice::Deny, Assurance::Unsealed);
    assert_eq!(state(&world, &plan), PlanState::Denied);
}

#[test]
fn a_policy_may_loosen_it_and_the_record_says_so_each_time() {
    let (mut world, plan) = planned("high");
    world.people.unsealed.insert("bob".to_owned());
    let told = pressed(&mut world, &plan, CardChoice::Approve, Assurance::Unsealed);
    assert_eq!(writes(&told).len(), 1, "{}", told.said);
    let standing = &row(&world, &plan).standing;
    assert!(standing.decided.as_ref().is_some_and(|decided| decided.unsealed));
    assert!(standing.votes.iter().all(|vote| vote.unsealed), "{:?}", standing.votes);
    let recorded = |effect: &&String| effect.contains("approved") && effect.contains("without a verified device");
    assert!(told.effects.iter().any(|effect| recorded(&effect)), "{told:?}");
}

#[test]
fn no_account_is_linked_by_what_a_server_could_have_made_up() {
    for words in ["link", "link ann test:other", "link ABCDE-12345"] {
        let mut world = World::with_fleet();
        let told = typed(&mut world, "ann", words, Assurance::Unsealed);
        was_refused(&told, "FORBIDDEN");
        assert!(told.said.contains("could have made this message up"), "{words}: {}", told.said);
    }
}
