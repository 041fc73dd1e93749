//! Its field is private: no clearance by writing one down.

use countersign_core::gate::{Cleared, ToolCall};

fn forge(call: ToolCall) -> Cleared<ToolCall> {
    Cleared(call)
}

fn main() {
    let _: fn(ToolCall) -> Cleared<ToolCall> = forge;
}
