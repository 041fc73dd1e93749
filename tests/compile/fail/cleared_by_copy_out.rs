//! What was cleared cannot be taken out, changed and put back: `get` only lends it.

use countersign_core::gate::{Cleared, ToolCall};

fn change(call: &mut Cleared<ToolCall>) {
    call.get().limit_ms = 0;
}

fn main() {
    let _: fn(&mut Cleared<ToolCall>) = change;
}
