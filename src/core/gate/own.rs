//! Gate `self`: the bot's own deployment, configuration, policies and database are nobody's business in a chat. Its own
//! process may be looked at, and never changed.

use std::path::{Component, Path};

use crate::envelope::{Code, Details};
use crate::tool::{ArgKind, ToolKind};

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "self", priority: 400, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let own = ctx.env.own;
    let is_own = |path: &str| own.paths.iter().any(|kept| plain(Path::new(path)).starts_with(kept));
    let paths = case.paths().map(|(name, path)| (name, path.into_owned()));
    let words = case
        .args_of(ArgKind::Command)
        .flat_map(|(name, line)| line.split_whitespace().map(|word| (name, word.to_owned())).collect::<Vec<_>>());
    if let Some((argument, _)) = paths.chain(words).find(|(_, path)| is_own(path)) {
        let details = Details { argument: Some(argument.to_owned()), ..Details::default() };
        return Verdict::refuse_with(Code::PolicyBlocked, "that belongs to the bot itself", details);
    }
    let on_itself = case.target_id().is_some_and(|id| own.resources.iter().any(|kept| kept == id.as_str()));
    if on_itself && case.kind == ToolKind::Write {
        return Verdict::refuse(Code::PolicyBlocked, "the bot does not change itself");
    }
    Verdict::Pass
}

/// The path without `.` and double slashes, so that another spelling is the same path.
fn plain(path: &Path) -> std::path::PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
