//! One clearance is one act: there is no second copy.

use countersign_core::gate::{Cleared, ToolCall};

fn again(call: &Cleared<ToolCall>) -> Cleared<ToolCall> {
    call.clone()
}

fn main() {
    let _: fn(&Cleared<ToolCall>) -> Cleared<ToolCall> = again;
}
