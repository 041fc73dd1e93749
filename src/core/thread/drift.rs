//! Whether a plan's target is still what its approval was given for, at the fresh look before it is carried out. What then
//! becomes of the plan is not decided here.

use crate::approval::{self, Filed};
use crate::resource::Resource;

use super::state::Turn;

/// The most characters of a value that drifted: enough to see that two hashes are not the same.
const DRIFT_CHARS_MAX: usize = 24;

/// What of the plan's snapshot is not so any more, in words. Looked at is everything that the action declares and
/// everything that the plan holds: also what was not there then and is there now.
pub(super) fn drift(turn: &Turn<'_>, filed: &Filed, now: &Resource) -> Option<String> {
    #[cfg(test)]
    if crate::step::broken::is(crate::step::broken::Break::Drift) {
        return None;
    }
    let (plan, labels) = (filed.frozen.plan(), now.labels());
    let unasked = filed.standing.decided.as_ref().is_some_and(|decided| decided.unasked.is_some());
    if !unasked && labels != plan.labels && !approval::is_still_enough(filed, &labels, turn.env.rights) {
        return Some("what was found on it since takes other or more people than have countersigned this".to_owned());
    }
    let spec = turn.env.registry.action(&plan.tool, &plan.action).and_then(|spec| spec.change.as_ref());
    let declared = spec.into_iter().flat_map(|change| &change.precondition);
    let shown = |value: Option<&String>| {
        value.map_or_else(|| "nothing".to_owned(), |v| crate::text::one_line(v, DRIFT_CHARS_MAX))
    };
    plan.before.keys().chain(declared).find_map(|name| {
        let (then, now) = (plan.before.get(name), now.attrs.get(name));
        (then != now)
            .then(|| format!("its {name} was {} when the plan was made and is {} now", shown(then), shown(now)))
    })
}
