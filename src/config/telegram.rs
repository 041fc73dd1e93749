//! Section `[telegram]`: the bot's account there, the server that it talks to, and how fast that lets it talk. Nothing here
//! connects to anything.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::Problem;
use super::secret::Secret;

/// The platform is on when the token is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Telegram {
    /// What `@BotFather` gave: a number, a colon and a secret. Unset: the platform is off. Refused from the file and from the
    /// command line.
    pub token: Option<Secret>,
    /// A file that holds the token. Unset by default; not together with `token`.
    pub token_file: Option<PathBuf>,
    /// The Bot API server. Default Telegram's own; a team may run one itself.
    pub api_url: String,
    /// Messages a second over all chats; 0 is no limit. Default 30 (Telegram's FAQ for bots).
    pub per_second: u32,
    /// Messages a second in one chat; 0 is no limit. Default 1 (the same).
    pub per_chat_per_second: u32,
    /// Messages a minute in one group; 0 is no limit. Default 20 (the same).
    pub per_group_per_minute: u32,
}

impl Default for Telegram {
    fn default() -> Self {
        Self {
            token: None,
            token_file: None,
            api_url: "https://api.telegram.org".to_owned(),
            per_second: 30,
            per_chat_per_second: 1,
            per_group_per_minute: 20,
        }
    }
}

impl Telegram {
    pub(super) fn validate(&self, in_build: bool) -> Result<(), Problem> {
        if !self.api_url.starts_with("https://") && !self.api_url.starts_with("http://") {
            return Err(Problem::new("telegram.api_url", "must be a URL that begins with `https://` or `http://`"));
        }
        let Some(token) = &self.token else { return Ok(()) };
        let key = if self.token_file.is_some() { "telegram.token_file" } else { "telegram.token" };
        if !in_build {
            let problem = "turns Telegram on, but this build has no Telegram; build with --features telegram";
            return Err(Problem::new(key, problem));
        }
        let sound = token.expose().split_once(':').is_some_and(|(id, secret)| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            id.parse::<u64>().is_ok() && !secret.is_empty() && secret.chars().all(plain)
        });
        if sound {
            Ok(())
        } else {
            Err(Problem::new(key, "is not a bot token; it has the form 123456789:AbC... and comes from @BotFather"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_a_build_without_telegram_names_the_feature() {
        let token = Some(Secret::new("123456:hunter2-hunter2-hunter2"));
        let on = Telegram { token, ..Telegram::default() };
        assert_eq!(on.validate(true), Ok(()));
        let problem = on.validate(false).expect_err("it must be refused");
        insta::assert_snapshot!(format!("`{}` {}", problem.key, problem.problem),
            @"`telegram.token` turns Telegram on, but this build has no Telegram; build with --features telegram");
        assert_eq!(Telegram::default().validate(false), Ok(()));
    }
}
