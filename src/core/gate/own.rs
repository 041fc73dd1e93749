//! Gate `self`: the bot's own configuration, policies, secrets and database are neither read nor written from a chat. What
//! starts it, and its own process, may be looked at and never changed.

use std::path::{Component, Path, PathBuf};

use crate::env::OwnDeployment;
use crate::envelope::{Code, Details};
use crate::resource::ResourceId;
use crate::tool::{ArgKind, ToolKind};

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "self", priority: 400, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let own = ctx.env.own;
    let words = case
        .args_of(ArgKind::Command)
        .flat_map(|(name, line)| line.split_whitespace().map(|word| (name, word.to_owned())).collect::<Vec<_>>());
    let named: Vec<(&str, String)> = case.paths().map(|(name, path)| (name, path.into_owned())).chain(words).collect();
    let refused = |argument: &str, message: &str| {
        let details = Details { argument: Some(argument.to_owned()), ..Details::default() };
        Verdict::refuse_with(Code::PolicyBlocked, message, details)
    };
    if let Some((argument, _)) = named.iter().find(|(_, path)| is_in(path, &own.paths)) {
        return refused(argument, "that belongs to the bot itself");
    }
    if case.kind != ToolKind::Write {
        return Verdict::Pass;
    }
    if let Some((argument, _)) = named.iter().find(|(_, path)| is_in(path, &own.programs)) {
        return refused(argument, "that starts the bot or one of its tool servers; change it on the machine itself");
    }
    if case.target_id().is_some_and(|id| is_own_resource(id, own)) {
        return Verdict::refuse(Code::PolicyBlocked, "the bot does not change itself");
    }
    Verdict::Pass
}

/// Returns whether a target is the bot itself, a file of its own, or one that starts it.
pub(crate) fn is_own_target(id: &ResourceId, own: &OwnDeployment) -> bool {
    let file = (id.kind() == "file").then(|| ResourceId::unescape(id.uid()));
    is_own_resource(id, own) || file.is_some_and(|path| is_in(&path, &own.paths) || is_in(&path, &own.programs))
}

fn is_own_resource(id: &ResourceId, own: &OwnDeployment) -> bool {
    own.resources.iter().any(|kept| kept == id.as_str())
}

fn is_in(path: &str, kept: &[PathBuf]) -> bool {
    let path = plain(Path::new(path));
    kept.iter().any(|kept| path.starts_with(kept))
}

/// The path without `.` and double slashes, so that another spelling is the same path.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
