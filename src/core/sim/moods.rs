//! The configuration's own rights, with people who lose all or some of them for a while, as when somebody leaves the team
//! in the middle of the night. It can take away, and never gives.

use std::collections::BTreeSet;

use crate::approval::{Plan, Risk, Terms};
use crate::ledger::{Ledger, Link};
use crate::people::People;
use crate::port::{Asker, Right, Rights, TermsAbout};
use crate::resource::ResourceId;
use crate::signal::{Actor, ActorId, Platform};
use crate::tool::ToolKind;

/// What somebody has lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lost {
    Everything,
    /// To decide any plan.
    Deciding,
    /// To ask for any change.
    Changing,
    /// To have this call made: `tool.action`.
    Call(String),
    /// To have anything read of this thing, and so to be told of it.
    Sight(ResourceId),
}

impl Lost {
    /// Whether this right is lost with it.
    fn takes(&self, right: &Right) -> bool {
        match (self, right) {
            (Self::Everything, _) | (Self::Deciding, Right::Decide { .. }) => true,
            (Self::Changing, Right::Request { kind, .. }) => *kind == ToolKind::Write,
            (Self::Call(call), Right::Request { tool, .. }) => tool.as_ref() == Some(call),
            (Self::Sight(of), Right::Request { kind, on, .. }) => *kind != ToolKind::Write && on.as_ref() == Some(of),
            (Self::Deciding | Self::Changing | Self::Call(_) | Self::Sight(_), _) => false,
        }
    }
}

/// Rights with whom they are taken from.
pub(super) struct Moods<'a> {
    inner: &'a dyn Rights,
    /// Who has lost what by now.
    pub(super) barred: BTreeSet<(ActorId, Lost)>,
}

impl<'a> Moods<'a> {
    pub(super) const fn of(inner: &'a dyn Rights) -> Self {
        Self { inner, barred: BTreeSet::new() }
    }

    fn has_any(&self, asker: &Asker<'_>) -> bool {
        !self.barred.contains(&(asker.actor.id.clone(), Lost::Everything))
    }
}

impl Rights for Moods<'_> {
    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool {
        let lost = self.barred.iter().any(|(who, lost)| *who == asker.actor.id && lost.takes(right));
        !lost && self.inner.may(asker, right)
    }

    fn may_decide_alone(&self, asker: &Asker<'_>, risk: Risk) -> bool {
        self.has_any(asker) && self.inner.may_decide_alone(asker, risk)
    }

    fn may_decide_unsealed(&self, asker: &Asker<'_>, risk: Risk) -> bool {
        self.has_any(asker) && self.inner.may_decide_unsealed(asker, risk)
    }

    fn acts_alone(&self, asker: &Asker<'_>, call: &str, on: (&ResourceId, &[String]), risk: Risk) -> bool {
        self.has_any(asker) && self.inner.acts_alone(asker, call, on, risk)
    }

    fn roles(&self, asker: &Asker<'_>) -> Vec<String> {
        if self.has_any(asker) { self.inner.roles(asker) } else { Vec::new() }
    }

    fn name(&self, platform: &Platform, actor: &Actor) -> Option<String> {
        self.inner.name(platform, actor)
    }

    fn person(&self, platform: &Platform, actor: &Actor) -> String {
        self.inner.person(platform, actor)
    }

    fn linked_by_another(&self, platform: &Platform, actor: &Actor) -> Option<Link> {
        self.inner.linked_by_another(platform, actor)
    }

    fn terms(&self, about: &TermsAbout<'_>) -> Terms {
        self.inner.terms(about)
    }

    fn is_in(&self, asker: &Asker<'_>, group: &str) -> bool {
        self.has_any(asker) && self.inner.is_in(asker, group)
    }

    fn follow(&self, ledger: &Ledger) {
        self.inner.follow(ledger);
    }

    fn people(&self) -> &dyn People {
        self.inner.people()
    }

    fn knows_person(&self, name: &str) -> bool {
        self.inner.knows_person(name)
    }

    fn environment(&self, id: &ResourceId, labels: &[String]) -> Option<String> {
        self.inner.environment(id, labels)
    }

    fn deciders(&self, plan: &Plan) -> Option<Vec<String>> {
        self.inner.deciders(plan)
    }

    fn who_can(&self, words: &str, asker: &Asker<'_>) -> String {
        self.inner.who_can(words, asker)
    }
}
