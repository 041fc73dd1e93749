//! What somebody may be told: of a thing where they may have it read, and what a call came to where they may have that very
//! call made. Judged by what the thing is labelled with now, and by what it was labelled with when it was looked at, also
//! where the thread knows it no more. Each question is asked of the policies once; rights are live, so that none of this is
//! kept beyond a step.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::port::{Asker, Right, Rights};
use crate::resource::{Resource, ResourceId};
use crate::tool::ToolKind;

use super::state::Turn;
use super::{Fact, ResolvedContext};

/// A call that looked, as the policies are asked about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LookedBy {
    /// What kind of call.
    pub kind: ToolKind,
    /// `tool.action`.
    pub call: String,
}

/// What is asked of the policies: a call, or reading in general; on what; with which labels.
type Asked = (Option<LookedBy>, Option<ResourceId>, Vec<String>);

/// What one person may be told, in one step.
pub(super) struct Sight<'a> {
    rights: &'a dyn Rights,
    whose: Asker<'a>,
    known: &'a ResolvedContext,
    judged: RefCell<BTreeMap<Asked, bool>>,
}

impl<'a> Sight<'a> {
    pub(super) fn new(rights: &'a dyn Rights, whose: Asker<'a>, known: &'a ResolvedContext) -> Self {
        Self { rights, whose, known, judged: RefCell::default() }
    }

    /// That of whoever asks, in this thread.
    pub(super) fn of(turn: &'a Turn<'_>, whose: Asker<'a>) -> Self {
        Self::new(turn.env.rights, whose, &turn.state.resolved)
    }

    /// Whose it is.
    pub(super) const fn whose(&self) -> &Asker<'a> {
        &self.whose
    }

    /// Whether they may be told of a thing: whoever may have it read.
    pub(super) fn sees(&self, resource: &Resource) -> bool {
        self.may((None, Some(resource.id.clone()), resource.labels()))
    }

    /// Whether they may be told of the thing of this name; not, where the thread does not know it.
    pub(super) fn sees_known(&self, id: &ResourceId) -> bool {
        self.known.peek(id).is_some_and(|resource| self.sees(resource))
    }

    /// Whether they may be told what was looked at, by a call or in general, on a thing that was labelled so then.
    pub(super) fn sees_what_came(&self, by: Option<&LookedBy>, on: Option<&ResourceId>, then: &[String]) -> bool {
        let now = on.and_then(|on| self.known.peek(on)).map(Resource::labels);
        // Labels restrict and never permit: where those of now are the same, they are asked about once.
        let now = now.filter(|now| now != then);
        let ask = |labels: Vec<String>| self.may((by.cloned(), on.cloned(), labels));
        ask(then.to_vec()) && now.is_none_or(ask)
    }

    /// Whether they may be told a fact of a thing: whoever may see the thing, and have the call made that told the fact.
    pub(super) fn sees_fact(&self, fact: &Fact, of: &Resource) -> bool {
        let by = || LookedBy { kind: ToolKind::Read, call: fact.call.clone() };
        self.sees(of) && (fact.call.is_empty() || self.may((Some(by()), Some(of.id.clone()), of.labels())))
    }

    fn may(&self, asked: Asked) -> bool {
        if let Some(judged) = self.judged.borrow().get(&asked) {
            return *judged;
        }
        let (by, on, labels) = asked.clone();
        let (kind, tool) = by.map_or((ToolKind::Read, None), |by| (by.kind, Some(by.call)));
        let may = self.rights.may(&self.whose, &Right::Request { kind, tool, on, labels });
        self.judged.borrow_mut().insert(asked, may);
        may
    }
}
