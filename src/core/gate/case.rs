//! What is judged, and what the judges may look at. A case is built once, before the first gate: names looked up, casts
//! tried, the target parsed. Building it decides nothing.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::env::Env;
use crate::port::Source;
use crate::proposal::Proposal;
use crate::resource::{BadResourceId, ResourceId};
use crate::signal::{Now, Signal};
use crate::text;
use crate::thread::{Budget, Fsm, ResolvedContext};
use crate::tool::{ActionSpec, ArgError, ArgKind, ToolKind, cast};

/// What the judges may look at.
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    /// The world outside.
    pub env: Env<'a>,
    /// Time.
    pub now: Now,
    /// What the request answers: who asks, where, how deep.
    pub signal: &'a Signal,
    /// The thread's workflow.
    pub fsm: &'a Fsm,
    /// What the thread has discovered.
    pub resolved: &'a ResolvedContext,
    /// What the request has used up.
    pub budget: &'a Budget,
}

/// What an outgoing message is judged by. A message that comes back from the outbox has no thread any more: what it
/// claims was checked when it was first cleared, and its text cannot have changed since.
#[derive(Clone, Copy)]
pub enum Standing<'a> {
    /// Fresh from a request.
    Fresh {
        /// As for calls.
        ctx: Ctx<'a>,
        /// The readings of this request that succeeded.
        readings: &'a [Source],
    },
    /// Read back from the outbox.
    Stored {
        /// The world outside.
        env: Env<'a>,
    },
}

impl<'a> Standing<'a> {
    /// The world outside.
    pub const fn env(&self) -> Env<'a> {
        match self {
            Self::Fresh { ctx, .. } => ctx.env,
            Self::Stored { env } => *env,
        }
    }
}

/// A proposed call, looked up.
pub struct CallCase<'a> {
    /// As proposed.
    pub proposal: &'a Proposal,
    /// The declaration, where there is one.
    pub spec: Option<&'a ActionSpec>,
    /// From tool and action alone; unknown is a write.
    pub kind: ToolKind,
    /// After lossless casts.
    pub args: Result<Map<String, Value>, ArgError>,
    /// The claimed target, parsed.
    pub target: Option<Result<ResourceId, BadResourceId>>,
}

impl<'a> CallCase<'a> {
    /// Looks everything up.
    pub fn new(proposal: &'a Proposal, env: &Env<'a>) -> Self {
        let spec = env.registry.action(&proposal.tool, &proposal.action);
        Self {
            proposal,
            spec,
            kind: env.registry.kind(&proposal.tool, &proposal.action),
            args: spec.map_or_else(|| Ok(Map::new()), |spec| cast(&spec.args, &proposal.args)),
            target: proposal.target.as_ref().map(|target| target.parse()),
        }
    }

    /// The target, where it is a sound id.
    pub fn target_id(&self) -> Option<&ResourceId> {
        self.target.as_ref()?.as_ref().ok()
    }

    /// `tool.action`, fit to be shown: the names are untrusted.
    pub fn shown_name(&self) -> String {
        text::one_line(&format!("{}.{}", self.proposal.tool, self.proposal.action), 100)
    }

    /// The arguments of one kind, as text.
    pub fn args_of(&self, kind: ArgKind) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let declared = self.spec.into_iter().flat_map(|spec| &spec.args).filter(move |(_, arg)| arg.kind == kind);
        declared.filter_map(|(name, _)| Some((name.as_str(), self.text_of(name)?)))
    }

    fn text_of(&self, name: &str) -> Option<Cow<'_, str>> {
        let value = self.args.as_ref().ok()?.get(name)?;
        Some(value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed))
    }
}
