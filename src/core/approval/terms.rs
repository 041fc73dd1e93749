//! Terms: what must come together before a plan is approved, beside the right of each who countersigns. They only narrow:
//! of several, the strictest of each counts. Which terms a plan has is said by the access file, and who is in a group, too.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// What a plan's approval takes. Frozen into the plan, and asked for once more at each click.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// How many different people must countersign.
    pub quorum: NonZeroU32,
    /// Who decides must be in every one of these. Empty: whoever the policies let decide.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub circles: BTreeSet<Circle>,
    /// For how long it can be decided, in milliseconds; never longer than the configured limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
    /// After how long its people are reminded, once, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remind_ms: Option<u64>,
}

/// A group whose members decide, and the groups that are asked, too, when time has passed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Circle {
    /// Asked from the beginning.
    pub group: String,
    /// Asked later, beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalate: Vec<Escalation>,
}

/// From when on another group may decide, too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Escalation {
    /// After how long, in milliseconds.
    pub after_ms: u64,
    /// Which group.
    pub group: String,
}

impl Default for Terms {
    /// One person, whoever may.
    fn default() -> Self {
        Self { quorum: NonZeroU32::MIN, circles: BTreeSet::new(), expires_ms: None, remind_ms: None }
    }
}

impl Terms {
    /// Whether it takes no more than one person who may.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Both at once: the strictest of each.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            quorum: self.quorum.max(other.quorum),
            circles: self.circles.union(&other.circles).cloned().collect(),
            expires_ms: self.expires_ms.into_iter().chain(other.expires_ms).min(),
            remind_ms: self.remind_ms.into_iter().chain(other.remind_ms).min(),
        }
    }

    /// After how long the escalation that follows on `level` earlier ones is due, in milliseconds.
    pub fn escalation_ms(&self, level: u32) -> Option<u64> {
        let times: BTreeSet<u64> = self.escalations().map(|step| step.after_ms).collect();
        times.into_iter().nth(usize::try_from(level).ok()?)
    }

    /// How late it was when the last of `level` escalations was due; none before the first.
    pub fn reached_ms(&self, level: u32) -> Option<u64> {
        self.escalation_ms(level.checked_sub(1)?)
    }

    /// The groups that one escalation brings in.
    pub fn groups_from(&self, after_ms: u64) -> BTreeSet<&str> {
        self.escalations().filter(|step| step.after_ms == after_ms).map(|step| step.group.as_str()).collect()
    }

    /// The group that somebody would have to be in, and is not.
    pub fn outsider_of(&self, reached_ms: Option<u64>, is_in: impl Fn(&str) -> bool) -> Option<&str> {
        let inside = |circle: &&Circle| circle.asked(reached_ms).any(&is_in);
        self.circles.iter().find(|circle| !inside(circle)).map(|circle| circle.group.as_str())
    }

    /// Who is asked, in words: `2 people of group sre`.
    pub fn who(&self, reached_ms: Option<u64>) -> String {
        let people = if self.quorum.get() == 1 { "1 person".to_owned() } else { format!("{} people", self.quorum) };
        let circle = |circle: &Circle| circle.asked(reached_ms).collect::<Vec<_>>().join(" or ");
        let groups: Vec<String> = self.circles.iter().map(circle).collect();
        if groups.is_empty() { people } else { format!("{people} of group {}", groups.join(" and ")) }
    }

    fn escalations(&self) -> impl Iterator<Item = &Escalation> {
        self.circles.iter().flat_map(|circle| &circle.escalate)
    }
}

impl Circle {
    /// The groups whose members are in it by then.
    fn asked(&self, reached_ms: Option<u64>) -> impl Iterator<Item = &str> {
        let reached = move |step: &&Escalation| reached_ms.is_some_and(|reached| step.after_ms <= reached);
        std::iter::once(self.group.as_str()).chain(self.escalate.iter().filter(reached).map(|step| step.group.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(quorum: u32, expires_ms: Option<u64>, circles: &[(&str, &[(u64, &str)])]) -> Terms {
        let step = |(after_ms, group): &(u64, &str)| Escalation { after_ms: *after_ms, group: (*group).to_owned() };
        let circle = |(group, steps): &(&str, &[(u64, &str)])| Circle {
            group: (*group).to_owned(),
            escalate: steps.iter().map(step).collect(),
        };
        let quorum = NonZeroU32::new(quorum).expect("at least one");
        Terms { quorum, circles: circles.iter().map(circle).collect(), expires_ms, remind_ms: None }
    }

    #[test]
    fn of_several_the_strictest_of_each_counts() {
        let (one, two) = (terms(2, None, &[("sre", &[])]), terms(1, Some(5), &[("dba", &[])]));
        let both = terms(2, Some(5), &[("dba", &[]), ("sre", &[])]);
        assert_eq!((one.and(&two), two.and(&one)), (both.clone(), both));
        assert_eq!(one.and(&Terms::default()), one);
        assert_eq!(two.and(&terms(1, Some(3), &[])).expires_ms, Some(3));
    }

    #[test]
    fn an_escalation_opens_its_own_circle_and_no_other() {
        let terms = terms(2, None, &[("dba", &[]), ("sre", &[(10, "leads"), (20, "heads")])]);
        let is_out = |level: u32, groups: &[&str]| {
            terms.outsider_of(terms.reached_ms(level), |group| groups.contains(&group)).map(str::to_owned)
        };
        assert_eq!(is_out(0, &["dba", "sre"]), None);
        assert_eq!(is_out(0, &["dba", "leads"]).as_deref(), Some("sre"));
        assert_eq!(is_out(1, &["dba", "leads"]), None);
        assert_eq!(is_out(1, &["dba", "heads"]).as_deref(), Some("sre"));
        assert_eq!(is_out(2, &["dba", "heads"]), None);
        assert_eq!(is_out(2, &["leads"]).as_deref(), Some("dba"), "the other circle stays closed");
        let times: Vec<_> = (0..3).map(|level| terms.escalation_ms(level)).collect();
        assert_eq!(times, [Some(10), Some(20), None]);
        assert_eq!(terms.who(terms.reached_ms(1)), "2 people of group dba and sre or leads");
    }
}
