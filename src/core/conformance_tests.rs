//! The conformance rows of approvals that are the core's to keep, each by its number: `ac_NN_...`. One thread on a scripted
//! platform, told what an adapter would tell it. The rows of one platform (AC-09, AC-10), of delivery (AC-19, AC-20), of
//! sinks (AC-15) and of configuration (AC-22, AC-27) are held where those live.

#[path = "conformance_tests/plans.rs"]
mod plans;
#[path = "conformance_tests/sealed.rs"]
mod sealed;
#[path = "conformance_tests/who.rs"]
mod who;

use crate::approval::{PlanId, PlanState};
use crate::testkit::scene::{row, state};
use crate::testkit::{Told, World};

/// Nothing came of it: the plan waits as it did, and no tool was called.
fn nothing_came_of(told: &Told, world: &World, plan: &PlanId) {
    assert!(told.calls.is_empty(), "{:?}", told.calls);
    assert_eq!(state(world, plan), PlanState::Pending, "{}", told.said);
    assert!(row(world, plan).standing.votes.is_empty(), "{}", told.said);
}

/// It was refused with this code, and the refusal was counted.
fn was_refused(told: &Told, code: &str) {
    assert!(told.said.starts_with("refused: ") && told.said.contains(code), "{}", told.said);
    let counted = told.counted.iter().any(|count| count.starts_with("gate_block_total") && count.contains(code));
    assert!(counted, "{:?}", told.counted);
}
