//! What a thread has discovered lives in memory only (RES-03): it cannot be written anywhere.

use countersign_core::thread::ResolvedContext;

fn main() {
    let context = ResolvedContext::default();
    let _: Result<String, serde_json::Error> = serde_json::to_string(&context);
}
