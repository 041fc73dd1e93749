//! Section `[matrix]`: the bot's account there, its homeserver, whether its rooms are encrypted, and how fast it talks. Nothing
//! here connects to anything.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::Problem;
use super::secret::Secret;

/// The platform is on when the password is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Matrix {
    /// The homeserver's client API. Unset by default; needed where the platform is on.
    pub homeserver: Option<String>,
    /// The bot's whole id, `@name:server`. Unset by default; needed where the platform is on.
    pub user: Option<String>,
    /// The account's password, with which the bot makes a device of its own, once. Unset: the platform is off. Refused from the
    /// file and from the command line.
    pub password: Option<Secret>,
    /// A file that holds the password. Unset by default; not together with `password`.
    pub password_file: Option<PathBuf>,
    /// The key with which the account's cross-signing and its rooms' keys are got back on a new device. Unset by default: the
    /// bot makes one at its first start. Refused from the file and from the command line.
    pub recovery_key: Option<Secret>,
    /// A file that holds the recovery key. Unset by default; not together with `recovery_key`.
    pub recovery_key_file: Option<PathBuf>,
    /// Whether it listens in encrypted rooms and nowhere else, or in rooms that are not encrypted. Default `required`.
    pub encryption: Encryption,
    /// Accounts that a bridge moves and no person, in full or with `*` for any letters. Default none. They request and decide
    /// nothing.
    pub ghosts: Vec<String>,
    /// Messages a second over all rooms; 0 is no limit. Default 10 (what Synapse lets an account say at once).
    pub per_second: u32,
}

/// Whether the bot's rooms are encrypted. Never one where the other was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encryption {
    /// Only what is encrypted counts.
    #[default]
    Required,
    /// Nothing is encrypted.
    Off,
}

impl Default for Matrix {
    fn default() -> Self {
        Self {
            homeserver: None,
            user: None,
            password: None,
            password_file: None,
            recovery_key: None,
            recovery_key_file: None,
            encryption: Encryption::default(),
            ghosts: Vec::new(),
            per_second: 10,
        }
    }
}

impl Matrix {
    /// Whether the platform is on.
    pub const fn is_on(&self) -> bool {
        self.password.is_some()
    }

    /// The key of an account whose password is not there. Whoever only reads what the bot wrote needs none; a bot that is
    /// meant to run there would run elsewhere, and nobody would know why.
    pub fn lacks_password(&self) -> Option<&'static str> {
        let given = [("matrix.homeserver", self.homeserver.is_some()), ("matrix.user", self.user.is_some())];
        given.into_iter().find(|(_, is_given)| *is_given && !self.is_on()).map(|(key, _)| key)
    }

    pub(super) fn validate(&self, in_build: bool) -> Result<(), Problem> {
        let is_url = |url: &String| url.starts_with("https://") || url.starts_with("http://");
        if !self.homeserver.iter().all(is_url) {
            return Err(Problem::new("matrix.homeserver", "must be a URL that begins with `https://` or `http://`"));
        }
        if let Some(user) = self.user.as_ref().filter(|user| !is_user_id(user)) {
            let problem = format!("is `{user}`, which is no whole id; it has the form @name:server");
            return Err(Problem::new("matrix.user", problem));
        }
        if !self.is_on() {
            return Ok(());
        }
        let key = if self.password_file.is_some() { "matrix.password_file" } else { "matrix.password" };
        if !in_build {
            let problem = "turns Matrix on, but this build has no Matrix; build with --features matrix";
            return Err(Problem::new(key, problem));
        }
        for (needed, is_there) in [("homeserver", self.homeserver.is_some()), ("user", self.user.is_some())] {
            if !is_there {
                let problem = format!("turns Matrix on, which takes `matrix.{needed}` as well");
                return Err(Problem::new(key, problem));
            }
        }
        Ok(())
    }
}

fn is_user_id(user: &str) -> bool {
    let parts = user.strip_prefix('@').and_then(|rest| rest.split_once(':'));
    parts.is_some_and(|(name, server)| !name.is_empty() && !server.is_empty() && !user.contains(char::is_whitespace))
}
