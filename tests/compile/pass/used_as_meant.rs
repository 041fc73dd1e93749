//! What every case under `fail` imports, used as it is meant: a clearance is received and looked at, a context is made and
//! asked. So a case fails for its own line, never for a missing item.

use countersign_core::gate::{Cleared, ToolCall};
use countersign_core::thread::ResolvedContext;

fn name(call: &Cleared<ToolCall>) -> String {
    call.get().name()
}

fn main() {
    let _: fn(&Cleared<ToolCall>) -> String = name;
    let _: Result<u8, serde_json::Error> = serde_json::from_str("1");
    let context = ResolvedContext::default();
    assert!(context.is_empty());
    let _: Result<String, serde_json::Error> = serde_json::to_string(&context.len());
}
