//! A value that must not be seen. How secrets are found in texts and masked there is the core's matter, not this file's.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// A secret read from the environment or from a file. `Debug` and `Serialize` show `[masked]`, so that no derive on a
/// structure around it can leak it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes the secret as it is.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The secret itself: for the one call that needs it, never for a text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[masked]")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("[masked]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_itself_only_when_asked() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{:?}", Some(&secret)), "Some([masked])");
        assert_eq!(serde_json::to_string(&secret).expect("a string"), "\"[masked]\"");
        assert_eq!(secret.expose(), "hunter2");
    }
}
