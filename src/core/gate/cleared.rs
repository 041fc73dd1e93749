//! The seal. A `Cleared<T>` is the only thing that leaves the core, and only this room can build one: its field is
//! private and its maker is private to `gate`. Skipping a gate does not compile (invariant 2).

use serde_json::{Map, Value};

use crate::approval::{Digest, PlanId};
use crate::resource::ResourceId;
use crate::signal::{CallId, Wall};
use crate::tool::ToolKind;
use crate::usage::Origin;

/// Something that has passed every gate. It cannot be built, copied out and changed, read from a file or deserialized:
///
/// - no public field or constructor;
/// - no `Clone`, so that one clearance is one act;
/// - no `Deserialize`: what comes back from the outbox goes through `gate::reissue`.
#[derive(Debug, PartialEq, Eq)]
pub struct Cleared<T>(T);

impl<T> Cleared<T> {
    /// Seals what has passed. Private to the gates.
    pub(in crate::gate) const fn seal(passed: T) -> Self {
        Self(passed)
    }

    /// What has passed.
    pub const fn get(&self) -> &T {
        &self.0
    }
}

/// One call of one tool, checked: what the shell carries to a tool server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// Ours; the answer comes back under it.
    pub id: CallId,
    /// The server that answers.
    pub spoke: String,
    /// A declared tool.
    pub tool: String,
    /// A declared action of it.
    pub action: String,
    /// From tool and action alone.
    pub kind: ToolKind,
    /// A resource that this thread knows; none for a discovery.
    pub target: Option<ResourceId>,
    /// Cast, checked and complete.
    pub args: Map<String, Value>,
    /// Who thought of it: a tool server follows no links out of what people named for a model.
    pub by: Origin,
    /// The hard limit, in milliseconds.
    pub limit_ms: u64,
    /// Of a write, and of nothing else: what it is carried out for.
    pub warrant: Option<Warrant>,
}

/// What a write is carried out for: a plan that was countersigned, to the byte. The shell turns it into a permit for the
/// tool server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warrant {
    /// Which plan.
    pub plan: PlanId,
    /// Its canonical bytes.
    pub bytes: String,
    /// Their digest.
    pub digest: Digest,
    /// Until when the tool server may begin.
    pub until: Wall,
}

impl ToolCall {
    /// `tool.action`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.tool, self.action)
    }
}
