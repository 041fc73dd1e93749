//! What the bot says where a call did not work. What the failure means is in `answer/`.

use crate::gate::ToolCall;
use crate::port::{Block, Choice};
use crate::text;
use crate::thread::ResolvedContext;

use super::line;

/// The call that did not work, and what it was made on.
pub(in crate::thread) fn what(call: Option<&ToolCall>, resolved: &ResolvedContext) -> String {
    let Some(call) = call else { return "what was asked for".to_owned() };
    let name = call.target.as_ref().map(|target| {
        let known = resolved.peek(target).map(|resource| resource.name.clone());
        known.unwrap_or_else(|| target.to_string())
    });
    match name {
        Some(name) => format!("`{}` on {}", call.name(), text::one_line(&name, 64)),
        None => format!("`{}`", call.name()),
    }
}

/// What stands over the commands that look further.
pub(in crate::thread) fn look_further() -> Block {
    line("To look further:".to_owned())
}

/// A command that looks further.
pub(in crate::thread) fn fix(words: &str, about: &str) -> Choice {
    Choice { label: text::one_line(words, 40), about: text::one_line(about, 80) }
}
