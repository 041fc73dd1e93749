//! What is judged, and what the judges may look at. A case is built once, before the first gate: names looked up, casts
//! tried, the target parsed. Building it decides nothing.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::approval::{Desk, Filed, PlanId, PlanState};
use crate::effect::Effect;
use crate::env::Env;
use crate::port::Asker;
use crate::port::Source;
use crate::proposal::Proposal;
use crate::resource::{BadResourceId, ResourceId};
use crate::signal::{Now, Signal};
use crate::text;
use crate::thread::{Budget, Fsm, Named, ResolvedContext};
use crate::tool::{ActionSpec, ArgError, ArgKind, ToolKind, cast};
use crate::usage::{Origin, Spent};

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
    /// What was used today by those who pay for it, this step included; none where nobody can say.
    pub spent: Option<&'a Spent>,
    /// What this step does so far.
    pub effects: &'a [Effect],
    /// The thread's plans.
    pub desk: &'a Desk,
    /// The plan that the request carries out or verifies, where it does: then it acts for the plan's requester, and the
    /// decider's right was judged at the click.
    pub carrying: Option<&'a PlanId>,
    /// What a model was offered in this turn, as `tool.action`.
    pub offered: &'a [String],
    /// The paths that people of the thread have named.
    pub named: &'a Named,
}

impl<'a> Ctx<'a> {
    /// Who a call is made for: the requester of the plan that is carried out, else the actor of the signal.
    pub fn principal(&self) -> Asker<'a> {
        self.carried().map_or_else(|| self.signal.asker(), |filed| filed.frozen.plan().asker())
    }

    /// Whether a call is the core's own verification of the plan that is carried: its declared read, of its target, after
    /// the write. No right and no discovery is asked for it again, because nothing may keep a change from being verified.
    pub fn is_verification(&self, case: &CallCase<'_>) -> bool {
        self.carried().is_some_and(|filed| {
            let plan = filed.frozen.plan();
            let change = self.env.registry.action(&plan.tool, &plan.action).and_then(|spec| spec.change.as_ref());
            let declared = change.is_some_and(|change| change.verify == case.proposed_name());
            declared
                && case.kind == ToolKind::Read
                && matches!(filed.state(), PlanState::Unverified | PlanState::Unknown)
                && case.target_id() == Some(&plan.target)
        })
    }

    /// The plan that is carried out, as it stands.
    pub fn carried(&self) -> Option<&'a Filed> {
        self.desk.get(self.carrying?)
    }
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
    /// By whom. Not a claim: whoever drives the loop says it.
    pub by: Origin,
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
    pub fn new(proposal: &'a Proposal, by: Origin, env: &Env<'a>) -> Self {
        let spec = env.registry.action(&proposal.tool, &proposal.action);
        Self {
            proposal,
            by,
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

    /// `tool.action` in lower case, as proposed.
    pub fn proposed_name(&self) -> String {
        format!("{}.{}", self.proposal.tool, self.proposal.action).to_lowercase()
    }

    /// `tool.action`, fit to be shown: the names are untrusted.
    pub fn shown_name(&self) -> String {
        text::one_line(&format!("{}.{}", self.proposal.tool, self.proposal.action), 100)
    }

    /// Every path that the call names: its path arguments, and its target where that is a file.
    pub fn paths(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let file = self.target_id().filter(|id| id.kind() == "file");
        let target = file.map(|id| ("target", Cow::Owned(ResourceId::unescape(id.uid()))));
        self.args_of(ArgKind::Path).chain(target)
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
