//! What somebody may be told: of a thing where they may have it read, and what a call came to where they may have that very
//! call made. Judged by what the thing is labelled with now, and by what it was labelled with when it was looked at, also
//! where the thread knows it no more. Each question is asked of the policies once; rights are live, so that none of this is
//! kept beyond a step.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::envelope::Envelope;
use crate::port::{Asker, Right, Rights};
use crate::resource::{Resource, ResourceId};
use crate::tool::ToolKind;

use super::state::Turn;
use super::{Fact, ResolvedContext};

/// What a discovery's answer may hold: what was found, and the names that might have been meant.
const LISTS: [&str; 2] = ["resources", "nearest"];

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
pub(crate) struct Sight<'a> {
    rights: &'a dyn Rights,
    whose: Asker<'a>,
    known: &'a ResolvedContext,
    judged: RefCell<BTreeMap<Asked, bool>>,
}

impl<'a> Sight<'a> {
    pub(crate) fn new(rights: &'a dyn Rights, whose: Asker<'a>, known: &'a ResolvedContext) -> Self {
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
    pub(crate) fn sees(&self, resource: &Resource) -> bool {
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

    /// What a discovery came back with, as far as they may be told: the things that they may see, and of the names that might
    /// have been meant those of such things. Everything else is left out, because nobody can judge it.
    pub(super) fn of_discovery(&self, envelope: &Envelope) -> Envelope {
        let mut data = Map::new();
        for (list, is_seen) in LISTS.into_iter().zip([Self::sees_record, Self::sees_name]) {
            if let Some(Value::Array(listed)) = envelope.data.get(list) {
                let seen = listed.iter().filter(|one| is_seen(self, one)).cloned().collect();
                data.insert(list.to_owned(), Value::Array(seen));
            }
        }
        Envelope { data: if envelope.ok { Value::Object(data) } else { Value::Null }, ..envelope.clone() }
    }

    fn sees_record(&self, record: &Value) -> bool {
        let resource: Option<Resource> = serde_json::from_value(record.clone()).ok();
        resource.is_some_and(|found| self.sees_what_came(None, Some(&found.id), &found.labels()))
    }

    /// A name that no discovery came back with: what its thing is labelled with is known only where the thread knows it.
    fn sees_name(&self, named: &Value) -> bool {
        let id = named.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
        id.is_some_and(|id| self.sees_what_came(None, Some(&id), &self.known.labels(&id)))
    }

    fn may(&self, asked: Asked) -> bool {
        if let Some(judged) = self.judged.borrow().get(&asked) {
            return *judged;
        }
        let (by, on, labels) = asked.clone();
        let (kind, tool) = by.map_or((ToolKind::Read, None), |by| (by.kind, Some(by.call)));
        let may = self.rights.may(&self.whose, &Right::Request { kind, tool, on, labels });
        #[cfg(test)]
        let may = may || crate::step::broken::is(crate::step::broken::Break::Sight);
        self.judged.borrow_mut().insert(asked, may);
        may
    }
}

#[cfg(test)]
#[path = "sight_tests.rs"]
mod tests;
