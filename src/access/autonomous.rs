//! What the access file says of declared writes: an autonomous room lists such of low risk and nothing else, and what an
//! approval takes is said of some that there are. The file alone does not know what is declared, so that this is checked
//! wherever a whole set is read: at the start, at each reload, and by `policy check`.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::approval::Risk;
use countersign_core::tool::Registry;

use super::error::{AccessError, did_you_mean};
use super::places::fits;
use super::rights::Access;

/// Every declared write by `tool.action`, with its risk; and every kind of thing that one changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    writes: BTreeMap<String, Risk>,
    kinds: BTreeSet<String>,
}

impl Declared {
    /// The writes of these declarations.
    pub fn new(registry: &Registry) -> Self {
        let actions = registry.tools().flat_map(|tool| tool.actions.iter().map(move |(name, spec)| (tool, name, spec)));
        let mut declared = Self::default();
        for (tool, name, spec) in actions {
            if let Some(change) = &spec.change {
                declared.writes.insert(format!("{}.{name}", tool.name), change.risk);
                declared.kinds.extend(spec.target.clone());
            }
        }
        declared
    }

    /// Holds what the file says of writes to what is declared.
    pub(super) fn check(&self, access: &Access) -> Result<(), AccessError> {
        access.directory.places.alone_given.iter().try_for_each(|(call, at)| self.check_one(call, at))?;
        let approvals = &access.directory.approvals;
        let calls = || self.writes.keys().map(String::as_str);
        approvals.tools_given.iter().try_for_each(|(pattern, at)| {
            fits_some(pattern, calls(), "action that changes something, as `tool.action`", at)
        })?;
        let kinds = || self.kinds.iter().map(String::as_str);
        approvals
            .kinds_given
            .iter()
            .try_for_each(|(pattern, at)| fits_some(pattern, kinds(), "kind of thing that is changed", at))
    }

    fn check_one(&self, call: &str, at: &AccessError) -> Result<(), AccessError> {
        let problem = match self.writes.get(call) {
            Some(Risk::Low) => return Ok(()),
            Some(risk) => format!(
                "`{call}` is declared to be of {} risk; only what is of low risk is done without a countersignature",
                risk.as_str()
            ),
            None => {
                let hint = did_you_mean(call, self.writes.keys().map(String::as_str));
                format!("`{call}` is no declared action that changes something{hint}")
            }
        };
        Err(AccessError { problem, ..at.clone() })
    }
}

/// A pattern that fits nothing protects nothing.
fn fits_some<'a>(
    pattern: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    what: &str,
    at: &AccessError,
) -> Result<(), AccessError> {
    if known.clone().any(|one| fits(pattern, one)) {
        return Ok(());
    }
    let hint = did_you_mean(pattern, known);
    Err(AccessError { problem: format!("`{pattern}` fits no declared {what}{hint}"), ..at.clone() })
}
