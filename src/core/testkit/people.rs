//! The people of the testkit: who there is, which groups they are in, what a plan takes, and what a test takes away from
//! somebody. Who may what is said here once, for every test that runs a thread.

use std::collections::{BTreeMap, BTreeSet};

use crate::approval::{Plan, Risk, Terms};
use crate::port::{Asker, Right, Rights, TermsAbout};
use crate::signal::{Actor, Platform};

/// Ann, Bob and Carol may ask for and decide anything, except that nobody may restart what is found to be closed nor decide
/// about what is found to be sealed, and only Ann may ask for what is found to be hers; she has a second account. Tom may talk and nothing else. Everybody else may nothing.
#[derive(Clone, Debug, Default)]
pub struct People {
    /// Who has lost every right but to talk.
    pub barred: BTreeSet<String>,
    /// Who may not make which calls, as `tool.action`.
    pub kept_from: BTreeSet<(String, String)>,
    /// Who may decide nothing.
    pub undeciding: BTreeSet<String>,
    /// Who may countersign what they asked for themselves.
    pub alone: BTreeSet<String>,
    /// Who may approve what is of high risk by what a server could have made up.
    pub unsealed: BTreeSet<String>,
    /// The members of each group.
    pub groups: BTreeMap<String, BTreeSet<String>>,
    /// What every plan takes.
    pub terms: Terms,
}

impl People {
    /// A group of these.
    pub fn group(&mut self, name: &str, members: &[&str]) {
        self.groups.insert(name.to_owned(), members.iter().map(|member| (*member).to_owned()).collect());
    }

    fn called(actor: &Actor) -> &str {
        actor.id.as_str().trim_end_matches("@work")
    }
}

impl Rights for People {
    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool {
        let name = Self::called(asker.actor);
        let has = |labels: &[String], label: &str| labels.iter().any(|found| found == label);
        let forbidden = match right {
            Right::Talk => return matches!(name, "ann" | "bob" | "carol" | "tom"),
            Right::Request { tool, labels, .. } => {
                (tool.as_deref() == Some("lab_control.restart") && has(labels, "closed=yes"))
                    || (has(labels, "owner=ann") && name != "ann")
                    || tool.as_ref().is_some_and(|tool| self.kept_from.contains(&(name.to_owned(), tool.clone())))
            }
            Right::Decide { labels, .. } => has(labels, "sealed=yes") || self.undeciding.contains(name),
            Right::Acknowledge | Right::Declare | Right::Grant | Right::Administer => false,
        };
        !forbidden && !self.barred.contains(name) && matches!(name, "ann" | "bob" | "carol")
    }

    fn may_decide_alone(&self, asker: &Asker<'_>, _: Risk) -> bool {
        self.alone.contains(Self::called(asker.actor))
    }

    fn may_decide_unsealed(&self, asker: &Asker<'_>, _: Risk) -> bool {
        self.unsealed.contains(Self::called(asker.actor))
    }

    fn roles(&self, asker: &Asker<'_>) -> Vec<String> {
        if self.may(asker, &Right::Declare) { vec!["operator".to_owned()] } else { Vec::new() }
    }

    fn name(&self, _: &Platform, actor: &Actor) -> Option<String> {
        let name = Self::called(actor);
        matches!(name, "ann" | "bob" | "carol" | "tom").then(|| name.to_owned())
    }

    fn terms(&self, _: &TermsAbout<'_>) -> Terms {
        self.terms.clone()
    }

    fn deciders(&self, plan: &Plan) -> Option<Vec<String>> {
        let may = |name: &&str| {
            let own = *name == plan.requester_person && plan.risk > Risk::Low;
            let is_in = |group: &str| self.groups.get(group).is_some_and(|members| members.contains(*name));
            let is_barred = self.barred.contains(*name) || self.undeciding.contains(*name);
            !own && !is_barred && plan.terms.outsider_of(None, is_in).is_none()
        };
        Some(["ann", "bob", "carol"].into_iter().filter(may).map(str::to_owned).collect())
    }

    fn is_in(&self, asker: &Asker<'_>, group: &str) -> bool {
        self.groups.get(group).is_some_and(|members| members.contains(Self::called(asker.actor)))
    }
}

/// Rights by which everybody may everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anybody;

impl Rights for Anybody {
    fn may(&self, _: &Asker<'_>, _: &Right) -> bool {
        true
    }

    fn may_decide_alone(&self, _: &Asker<'_>, _: Risk) -> bool {
        true
    }

    fn roles(&self, _: &Asker<'_>) -> Vec<String> {
        Vec::new()
    }
}
