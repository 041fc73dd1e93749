//! What the calls of the last answer came back with, as raw as it may be shown: for `sources`. Masked and cut when it comes
//! in, bounded, in memory only; it bears out nothing and verifies nothing.

use crate::answer;
use crate::envelope::Envelope;
use crate::gate::ToolCall;
use crate::resource::ResourceId;
use crate::secrets::Mask;
use crate::tool::ToolKind;

use super::sight::LookedBy;

/// How many are kept: the newest of an answer.
const OUTPUTS_MAX: usize = 6;

/// What one call came back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// The call.
    pub by: LookedBy,
    /// What it was made on.
    pub target: Option<ResourceId>,
    /// What that was labelled with then.
    pub labels: Vec<String>,
    /// What it found or named, where it is a discovery, with what that was labelled with.
    pub named: Vec<(ResourceId, Vec<String>)>,
    /// When the tool looked, in milliseconds since the Unix epoch.
    pub observed_at: i64,
    /// Whether it worked.
    pub ok: bool,
    /// Masked, harmless and cut.
    pub text: String,
}

/// What the calls of one request came back with, the oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outputs {
    kept: Vec<Output>,
    left_out: usize,
}

impl Outputs {
    /// A call came back; its target is labelled with this. Of a discovery, only what whoever asked may see.
    pub(super) fn keep(&mut self, call: &ToolCall, envelope: &Envelope, labels: Vec<String>, mask: &Mask) {
        if self.kept.len() == OUTPUTS_MAX {
            self.kept.remove(0);
            self.left_out = self.left_out.saturating_add(1);
        }
        let text = answer::raw(envelope, mask);
        let by = LookedBy { kind: call.kind, call: call.name() };
        let (target, observed_at, ok) = (call.target.clone(), envelope.meta.observed_at, envelope.ok);
        let named = if call.kind == ToolKind::Resolve { named(envelope) } else { Vec::new() };
        self.kept.push(Output { by, target, labels, named, observed_at, ok, text });
    }

    /// What was read of a thing before it was written is not how it is (KNO-13).
    pub(super) fn forget(&mut self, id: &ResourceId) {
        self.kept.retain(|output| output.target.as_ref() != Some(id));
    }

    /// The oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Output> {
        self.kept.iter()
    }

    /// How many were not kept.
    pub(super) const fn left_out(&self) -> usize {
        self.left_out
    }

    /// Whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

fn named(envelope: &Envelope) -> Vec<(ResourceId, Vec<String>)> {
    let found = envelope.resources();
    let found = found.iter().map(|found| (found.id.clone(), found.labels()));
    let nearest = envelope.nearest().iter();
    let nearest = nearest.filter_map(|near| Some((near.get("id")?.as_str()?.parse().ok()?, Vec::new())));
    found.chain(nearest).collect()
}

#[cfg(test)]
#[path = "outputs_tests.rs"]
mod tests;
