//! Section `[credentials.NAME]`: the credentials of the tool servers, and `secret:NAME`, by which the rest of the configuration
//! names one. What is in their files is read by the room `vault`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::Problem;
use super::secret::Secret;

/// A credential of a tool server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CredentialConfig {
    /// The credential itself: a secret, only from the environment or from `.env`. Unset by default.
    pub value: Option<Secret>,
    /// A file that holds the credential and nothing else, for the bot's account alone. Unset by default; not together with
    /// `value`.
    pub file: Option<PathBuf>,
}

impl CredentialConfig {
    /// Refuses a name that no variable can carry, and a credential that is given in no way.
    pub(super) fn validate(&self, name: &str) -> Result<(), Problem> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        if name.len() > 32 || !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(plain) {
            let problem =
                "is not a name for a credential; use up to 32 small letters, digits, `_` and `-`, a letter first";
            return Err(Problem::new(format!("credentials.{name}"), problem));
        }
        if self.value.is_none() && self.file.is_none() {
            let problem = format!("is given in no way; name its file by `credentials.{name}.file`");
            return Err(Problem::new(format!("credentials.{name}"), problem));
        }
        Ok(())
    }
}

/// Splits `VARIABLE=secret:NAME` into the variable and the credential's name.
pub(super) fn variable_of_credential(entry: &str) -> Option<(&str, &str)> {
    let (variable, value) = entry.split_once('=')?;
    Some((variable, value.strip_prefix("secret:")?))
}
