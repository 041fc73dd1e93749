//! What every case under `fail` imports, used as it is meant: a clearance is received and looked at. So a case fails
//! for its own line, never for a missing item.

use countersign_core::gate::{Cleared, ToolCall};

fn name(call: &Cleared<ToolCall>) -> String {
    call.get().name()
}

fn main() {
    let _: fn(&Cleared<ToolCall>) -> String = name;
    let _: Result<u8, serde_json::Error> = serde_json::from_str("1");
}
