//! What an autonomous room may list: declared writes of low risk, and nothing else. The access file alone does not know
//! what is declared, so that this is checked wherever a whole set is read: at the start, at each reload, and by
//! `policy check`.

use std::collections::BTreeMap;

use countersign_core::approval::Risk;
use countersign_core::tool::Registry;

use super::error::{AccessError, did_you_mean};
use super::rights::Access;

/// Every declared write by `tool.action`, with its risk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared(BTreeMap<String, Risk>);

impl Declared {
    /// The writes of these declarations.
    pub fn new(registry: &Registry) -> Self {
        let actions = registry.tools().flat_map(|tool| tool.actions.iter().map(move |(name, spec)| (tool, name, spec)));
        let writes = actions
            .filter_map(|(tool, name, spec)| Some((format!("{}.{name}", tool.name), spec.change.as_ref()?.risk)));
        Self(writes.collect())
    }

    /// Holds what the rooms list to what is declared.
    pub(super) fn check(&self, access: &Access) -> Result<(), AccessError> {
        access.directory.places.alone_given.iter().try_for_each(|(call, at)| self.check_one(call, at))
    }

    fn check_one(&self, call: &str, at: &AccessError) -> Result<(), AccessError> {
        let problem = match self.0.get(call) {
            Some(Risk::Low) => return Ok(()),
            Some(risk) => format!(
                "`{call}` is declared to be of {} risk; only what is of low risk is done without a countersignature",
                risk.as_str()
            ),
            None => {
                let hint = did_you_mean(call, self.0.keys().map(String::as_str));
                format!("`{call}` is no declared action that changes something{hint}")
            }
        };
        Err(AccessError { problem, ..at.clone() })
    }
}
