//! A team's own reply, filled in with what somebody typed. It is plain text and nothing else: whatever was typed, it can
//! neither be pressed nor look like more lines than it has.

use serde_json::Value;

use crate::port::Block;
use crate::route::{Reply, Route};
use crate::secrets::Mask;
use crate::text;

use super::{quote, sentence};

/// The reply to this message. Masked once more as a whole: words that are harmless apart may be a secret side by side.
pub(in crate::thread) fn reply(reply: &Reply, route: &Route, mask: &Mask) -> Vec<Block> {
    let filled = reply.fill(|group| {
        let typed = route.args.get(group).and_then(Value::as_str).unwrap_or_default();
        quote(typed, mask)
    });
    sentence(text::defuse_mentions(&text::escape(&mask.apply(&filled))))
}
