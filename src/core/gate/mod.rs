//! The gate stack: one gate a file, each pure, each with a name, a priority and a code. Every proposed call and every
//! outgoing message passes all of them in order, and only what has passed becomes [`Cleared`]. Which proposals are made,
//! and what happens after a refusal, is not decided here.

mod actor;
mod allowance;
mod approval;
mod ask;
mod case;
mod cleared;
mod depth;
mod egress;
mod explanation;
mod intent;
mod own;
mod repetition;
mod resolution;
mod routing;
mod schema;
mod secrets;
mod stack;
mod vault;
mod verdict;
mod workflow;

pub use ask::judge_ask;
pub use case::{CallCase, Ctx, Standing};
pub use cleared::{Cleared, ToolCall, Warrant};
pub use depth::DEPTH_MAX;
pub(crate) use own::is_own_target;
pub use repetition::IDENTICAL_CALLS_MAX;
pub(crate) use secrets::texts_of;
pub use stack::{Gate, STACK, judge_call, judge_post, reissue};
pub use verdict::{Judged, Passed, Refusal, Verdict};

#[cfg(test)]
mod tests;
