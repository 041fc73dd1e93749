//! What a fresh read says about a change: as expected, something else, gone, or nothing at all. Each expectation is looked
//! up in the reading by its path; what the reading does not show is not claimed.

use serde_json::Value;

use super::{Outcome, Plan};
use crate::envelope::Envelope;

/// One expectation, and what was seen of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The path in the reading.
    pub path: String,
    /// What was expected, in words.
    pub expected: String,
    /// What was seen; none where the reading does not show it.
    pub seen: Option<String>,
    /// Whether that is what was expected.
    pub met: bool,
}

/// What a verifying read came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified {
    /// It was made, and this is what it says.
    Found(Outcome, Vec<Finding>),
    /// It could not be made: a sentence.
    Unreachable(String),
}

/// Compares a fresh reading with what the plan expects. A verifying read always answers, with `present`: `true` or `false`;
/// only its word makes a thing absent.
pub fn verify(plan: &Plan, reading: &Envelope) -> Verified {
    if let Some(failure) = &reading.error {
        // Not even NOT_FOUND proves an absence: it may be the tool's own program that is missing.
        return Verified::Unreachable(failure.message.clone());
    }
    let Some(present) = reading.data.get("present").and_then(Value::as_bool) else {
        return Verified::Unreachable("the reading does not say whether the target is there".to_owned());
    };
    if !present {
        return Verified::Found(Outcome::Absent, Vec::new());
    }
    if plan.expect.absent {
        return Verified::Found(Outcome::Differs, Vec::new());
    }
    let findings: Vec<Finding> = equals(plan, &reading.data).chain(changed(plan, &reading.data)).collect();
    let outcome = if findings.iter().all(|finding| finding.met) { Outcome::AsExpected } else { Outcome::Differs };
    #[cfg(test)]
    let outcome = crate::step::broken::found(outcome);
    Verified::Found(outcome, findings)
}

/// Whether an outcome is what the plan was for: gone is a success exactly where that was expected.
pub const fn is_success(plan: &Plan, outcome: Outcome) -> bool {
    match outcome {
        Outcome::AsExpected => true,
        Outcome::Differs => false,
        Outcome::Absent => plan.expect.absent,
    }
}

fn equals<'a>(plan: &'a Plan, data: &'a Value) -> impl Iterator<Item = Finding> + 'a {
    plan.expect.equals.iter().map(|(path, expected)| {
        let seen = at(data, path);
        let met = seen.as_ref() == Some(expected);
        Finding { path: path.clone(), expected: expected.clone(), seen, met }
    })
}

fn changed<'a>(plan: &'a Plan, data: &'a Value) -> impl Iterator<Item = Finding> + 'a {
    plan.expect.changed.iter().map(|path| {
        let (seen, before) = (at(data, path), plan.before.get(path));
        let expected = before.map_or_else(|| "any value".to_owned(), |before| format!("another than {before}"));
        let met = seen.is_some() && seen.as_ref() != before;
        Finding { path: path.clone(), expected, seen, met }
    })
}

/// The value at a dotted path, as text.
fn at(data: &Value, path: &str) -> Option<String> {
    let value = path.split('.').try_fold(data, |value, key| value.get(key))?;
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(value.to_string()),
    }
}
