//! Mends a reading that a gate refused and said how to mend: the form that would be allowed is proposed in its place, once,
//! and people are told (LOOP-26). Whether it may run is the gates' to say, as of everything.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::envelope::Code;
use crate::gate::Refusal;
use crate::proposal::Proposal;
use crate::signal::CallId;
use crate::thread::request::Request;
use crate::thread::run::{Proposed, propose};
use crate::thread::state::Turn;
use crate::tool::ToolKind;
use crate::usage::Origin;

use super::reply::Wanted;

/// What was mended in a request.
#[derive(Debug, Default)]
pub(super) struct Rewrites {
    /// Mended calls under way, with why they were refused.
    under_way: BTreeMap<CallId, Rewrite>,
    /// What ran in the place of what.
    done: Vec<(String, String)>,
}

#[derive(Debug)]
struct Rewrite {
    code: Code,
    tool: String,
    from: String,
    to: String,
}

impl Rewrites {
    /// Proposes what a model wants, and what a gate would have in its place.
    pub(super) fn propose(
        &mut self,
        (turn, request): (&mut Turn<'_>, &mut Request),
        wanted: &mut Wanted,
        proposal: &Proposal,
    ) -> Proposed {
        let refusal = match propose(turn, request, proposal, Origin::Model) {
            Proposed::Refused(refusal) => refusal,
            other @ (Proposed::Called(_) | Proposed::Known(_)) => return other,
        };
        let Some((rewrite, mended)) = mend(turn, proposal, &refusal) else {
            return Proposed::Refused(refusal);
        };
        count(turn, "auto_recovery_attempt_total", &rewrite);
        wanted.args = Some(mended.args.clone());
        let proposed = propose(turn, request, &mended, Origin::Model);
        if let Proposed::Called(id) = &proposed {
            self.under_way.insert(id.clone(), rewrite);
        }
        proposed
    }

    /// A call has answered.
    pub(super) fn answered(&mut self, turn: &mut Turn<'_>, call: &CallId, ok: bool) {
        let Some(rewrite) = self.under_way.remove(call) else { return };
        if ok {
            count(turn, "auto_recovery_success_total", &rewrite);
        }
        self.done.push((rewrite.from, rewrite.to));
    }

    /// What ran in the place of what.
    pub(super) fn done(&self) -> &[(String, String)] {
        &self.done
    }
}

fn count(turn: &mut Turn<'_>, name: &'static str, rewrite: &Rewrite) {
    turn.count(name, &[("error_code", rewrite.code.as_str()), ("tool", &rewrite.tool)]);
}

/// The same reading in the form that would be allowed; none where it is none, or the gate did not say.
fn mend(turn: &Turn<'_>, proposal: &Proposal, refusal: &Refusal) -> Option<(Rewrite, Proposal)> {
    let (tool, action) = (&proposal.tool, &proposal.action);
    let kind = turn.env.registry.action(tool, action)?.kind;
    let details = Some(&refusal.details).filter(|details| details.auto_recoverable)?;
    let (argument, to) = (details.argument.as_ref()?, details.suggested_rewrite.clone()?);
    let from = proposal.args.get(argument)?.as_str()?.to_owned();
    if !matches!(kind, ToolKind::Read | ToolKind::Resolve) || from == to {
        return None;
    }
    let mut mended = proposal.clone();
    mended.args.insert(argument.clone(), Value::from(to.clone()));
    let tool = turn.env.registry.tool(tool)?.name.clone();
    Some((Rewrite { code: refusal.code, tool, from, to }, mended))
}
