//! How far a request has come, in one short line for each call that leaves. It says what is being done and claims nothing:
//! what came of it is the answer's to say.

use serde_json::Value;

use crate::approval::Plan;
use crate::gate::ToolCall;
use crate::resource::ResourceId;
use crate::secrets::Mask;
use crate::text;
use crate::thread::ResolvedContext;
use crate::tool::ToolKind;

use super::plans::title;

/// The most characters of a name: a path that is longer is known by its beginning.
const NAME_CHARS_MAX: usize = 64;

/// What a call is made for.
pub(in crate::thread) struct About<'a> {
    /// The call that leaves.
    pub call: &'a ToolCall,
    /// The kind of thing that it discovers, where it is a discovery.
    pub discovers: Option<&'a str>,
    /// The plan that it carries out or verifies.
    pub plan: Option<&'a Plan>,
    /// What the thread knows by name.
    pub resolved: &'a ResolvedContext,
}

/// The line.
pub(in crate::thread) fn line(about: &About<'_>, mask: &Mask) -> String {
    let line = match (about.call.kind, about.plan) {
        (ToolKind::Resolve, _) => format!("looking for {}", sought(about)),
        (ToolKind::Write, Some(plan)) => format!("doing it: {}", title(plan)),
        (ToolKind::Read, Some(plan)) => format!("verifying: {}", title(plan)),
        (ToolKind::Read, None) => format!("reading {}", call_and_target(about)),
        (ToolKind::Record, _) => format!("noting {}", call_and_target(about)),
        (ToolKind::Write, None) => format!("doing {}", call_and_target(about)),
    };
    text::defuse_mentions(&text::escape(&mask.apply(&line)))
}

/// That a model is asked.
pub(in crate::thread) fn thinking() -> String {
    "asking the model".to_owned()
}

/// What a discovery looks for: the name that was asked for, what the thread calls it, or everything of its kind.
fn sought(about: &About<'_>) -> String {
    match about.call.args.get("query").and_then(Value::as_str) {
        Some(query) => match query.parse() {
            Ok(id) => name_of(&id, about.resolved),
            Err(_) => short(query),
        },
        None => format!("every {}", short(about.discovers.unwrap_or("thing"))),
    }
}

/// `host_service.status of nginx on web-1`.
fn call_and_target(about: &About<'_>) -> String {
    let call = about.call.name();
    let Some(target) = &about.call.target else { return call };
    let name = name_of(target, about.resolved);
    match target.scope().map(short).filter(|place| *place != name) {
        Some(place) => format!("{call} of {name} on {place}"),
        None => format!("{call} of {name}"),
    }
}

fn name_of(id: &ResourceId, resolved: &ResolvedContext) -> String {
    let known = resolved.peek(id).map(|resource| resource.name.clone());
    short(&known.unwrap_or_else(|| ResourceId::unescape(id.uid())))
}

fn short(name: &str) -> String {
    text::one_line(name, NAME_CHARS_MAX)
}
