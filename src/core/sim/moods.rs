//! The configuration's own rights, with people who lose every one of them for a while, as when somebody leaves the team in
//! the middle of the night. It can take away, and never gives.

use std::collections::BTreeSet;

use crate::approval::{Risk, Terms};
use crate::ledger::Ledger;
use crate::people::People;
use crate::port::{Asker, Right, Rights, TermsAbout};
use crate::resource::ResourceId;
use crate::signal::{Actor, ActorId, Platform};

/// Rights with whom they are taken from.
pub(super) struct Moods<'a> {
    inner: &'a dyn Rights,
    /// Who has none now.
    pub(super) barred: BTreeSet<ActorId>,
}

impl<'a> Moods<'a> {
    pub(super) const fn of(inner: &'a dyn Rights) -> Self {
        Self { inner, barred: BTreeSet::new() }
    }

    fn has_any(&self, asker: &Asker<'_>) -> bool {
        !self.barred.contains(&asker.actor.id)
    }
}

impl Rights for Moods<'_> {
    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool {
        self.has_any(asker) && self.inner.may(asker, right)
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

    fn who_can(&self, words: &str, asker: &Asker<'_>) -> String {
        self.inner.who_can(words, asker)
    }
}
