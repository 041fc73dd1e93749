//! What the tests of plans do again and again: somebody asks for a restart, somebody presses a card or types a decision, a
//! message is edited, time comes for a plan. No test stands here, and nothing is judged.

use serde_json::json;

use super::{Told, World, signal};
use crate::approval::{Filed, PlanId, PlanState};
use crate::gate::ToolCall;
use crate::port::CardChoice;
use crate::signal::{Actor, ActorId, ActorKind, EventId, OURSELVES, Payload, Signal};

/// Ann asks for a restart of nginx; its plan.
pub(crate) fn asked(world: &mut World) -> PlanId {
    let told = world.say("restart nginx");
    assert!(told.said.contains(" asks to restart nginx"), "{}", told.said);
    newest(world).id().clone()
}

/// The plan that was filed last. Here an id is the number of its step, so that the last one is the newest.
pub(crate) fn newest(world: &World) -> Filed {
    world.files.rows.values().next_back().expect("a plan").clone()
}

/// The plan as the store has it.
pub(crate) fn row<'a>(world: &'a World, plan: &PlanId) -> &'a Filed {
    world.files.rows.get(plan).expect("filed")
}

/// Where a plan stands.
pub(crate) fn state(world: &World, plan: &PlanId) -> PlanState {
    row(world, plan).state()
}

/// What the service is after a restart.
pub(crate) fn restarted(world: &mut World) {
    world.answers("lab_control.restart", json!({ "done": true }));
    world.answers("lab_read.status", json!({ "name": "nginx", "present": true, "state": "running", "run": "2" }));
}

/// Somebody types something.
pub(crate) fn says(world: &mut World, actor: &str, text: &str) -> Told {
    let id = format!("{actor}-{}", world.now().seed);
    world.hear(signal(&id, actor, text))
}

/// A press of a plan's card, as it comes in.
pub(crate) fn press(world: &mut World, actor: &str, plan: &PlanId, choice: CardChoice) -> Signal {
    let digest = row(world, plan).frozen.digest().clone();
    let id = format!("{actor}-{}", world.now().seed);
    let payload = Payload::Decision { plan: plan.clone(), digest, choice, reason: String::new() };
    Signal { payload, ..signal(&id, actor, "") }
}

/// Somebody presses a plan's card.
pub(crate) fn presses(world: &mut World, actor: &str, plan: &PlanId, choice: CardChoice) -> Told {
    let press = press(world, actor, plan, choice);
    world.hear(press)
}

/// Somebody countersigns at the card.
pub(crate) fn approves(world: &mut World, actor: &str, plan: &PlanId) -> Told {
    presses(world, actor, plan, CardChoice::Approve)
}

/// The engine says that time has come for a plan.
pub(crate) fn due(world: &mut World, plan: &PlanId) -> Told {
    ours(world, Payload::Due { plan: plan.clone() })
}

/// The engine says something to the thread.
pub(crate) fn ours(world: &mut World, payload: Payload) -> Told {
    let id = format!("ours-{}", world.now().seed);
    let actor = Actor { id: ActorId::new(OURSELVES), kind: ActorKind::Service, display: OURSELVES.to_owned() };
    world.hear(Signal { payload, actor, depth: 1, ..signal(&id, "", "") })
}

/// The message that asked for a plan is edited, by whomever.
pub(crate) fn edited(world: &mut World, plan: &PlanId) -> Told {
    let event = event_of(world, plan);
    let id = format!("edit-{}", world.now().seed);
    world.hear(Signal { payload: Payload::Edited { event }, ..signal(&id, "nobody", "") })
}

/// The platform's id of the message that asked for a plan.
pub(crate) fn event_of(world: &World, plan: &PlanId) -> EventId {
    row(world, plan).frozen.plan().event.clone().expect("a plan of today has one")
}

/// The writes among the calls.
pub(crate) fn writes(told: &Told) -> Vec<&ToolCall> {
    told.calls.iter().filter(|call| call.warrant.is_some()).collect()
}

/// What was said, without the ids and digests of plans, which are random.
pub(crate) fn plainly(told: &Told, world: &World) -> String {
    let mut said = told.said.clone();
    for filed in world.files.rows.values() {
        said = said.replace(filed.id().as_str(), "PLAN").replace(filed.frozen.digest().short(), "DIGEST");
    }
    said
}
