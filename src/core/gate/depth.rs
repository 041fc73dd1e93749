//! Gate `depth`: what lies more than ten effects away from a person is dropped, counted and logged (SIG-10, C-05).

use crate::envelope::Code;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

/// The deepest signal that is still processed; 11 is dropped (SIG-10).
pub const DEPTH_MAX: u8 = 10;

pub(super) const GATE: Gate = Gate { name: "depth", priority: 950, call, post: not_about_messages };

fn call(_: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    if ctx.signal.depth > DEPTH_MAX {
        let message =
            format!("this request is {} effects away from a person; the limit is {DEPTH_MAX}", ctx.signal.depth);
        return Verdict::refuse(Code::PolicyBlocked, message);
    }
    Verdict::Pass
}
