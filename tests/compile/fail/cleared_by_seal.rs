//! Its maker is private to the gates.

use countersign_core::gate::{Cleared, ToolCall};

fn forge(call: ToolCall) -> Cleared<ToolCall> {
    Cleared::seal(call)
}

fn main() {
    let _: fn(ToolCall) -> Cleared<ToolCall> = forge;
}
