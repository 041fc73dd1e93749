//! Gate `self`: the bot's own deployment, configuration, policies and database are nobody's business in a chat. Its own
//! process may be looked at, and never changed.

use std::path::{Component, Path};

use crate::env::OwnDeployment;
use crate::envelope::{Code, Details};
use crate::resource::ResourceId;
use crate::tool::{ArgKind, ToolKind};

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "self", priority: 400, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let own = ctx.env.own;
    let is_own = |path: &str| is_own_path(path, own);
    let paths = case.paths().map(|(name, path)| (name, path.into_owned()));
    let words = case
        .args_of(ArgKind::Command)
        .flat_map(|(name, line)| line.split_whitespace().map(|word| (name, word.to_owned())).collect::<Vec<_>>());
    if let Some((argument, _)) = paths.chain(words).find(|(_, path)| is_own(path)) {
        let details = Details { argument: Some(argument.to_owned()), ..Details::default() };
        return Verdict::refuse_with(Code::PolicyBlocked, "that belongs to the bot itself", details);
    }
    let on_itself = case.target_id().is_some_and(|id| is_own_resource(id, own));
    if on_itself && case.kind == ToolKind::Write {
        return Verdict::refuse(Code::PolicyBlocked, "the bot does not change itself");
    }
    Verdict::Pass
}

/// Whether a target is the bot itself, or a file of its own.
pub(crate) fn is_own_target(id: &ResourceId, own: &OwnDeployment) -> bool {
    let file = (id.kind() == "file").then(|| ResourceId::unescape(id.uid()));
    is_own_resource(id, own) || file.is_some_and(|path| is_own_path(&path, own))
}

fn is_own_resource(id: &ResourceId, own: &OwnDeployment) -> bool {
    own.resources.iter().any(|kept| kept == id.as_str())
}

fn is_own_path(path: &str, own: &OwnDeployment) -> bool {
    own.paths.iter().any(|kept| plain(Path::new(path)).starts_with(kept))
}

/// The path without `.` and double slashes, so that another spelling is the same path.
fn plain(path: &Path) -> std::path::PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
