//! Section `[discord]`: the bot's account there, the servers that it talks to, how fast they let it talk, and where it makes
//! threads. Nothing here connects to anything.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::Problem;
use super::secret::Secret;

/// The platform is on when the token is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Discord {
    /// From the bot's page in the Developer Portal: three parts with dots between them. Unset: the platform is off. Refused
    /// from the file and from the command line.
    pub token: Option<Secret>,
    /// A file that holds the token. Unset by default; not together with `token`.
    pub token_file: Option<PathBuf>,
    /// The server of the REST API. Default Discord's own; a team may put a proxy before it.
    pub api_url: String,
    /// The gateway. Unset: the REST API is asked for it, as Discord wants.
    pub gateway_url: Option<String>,
    /// Messages a second over all channels; 0 is no limit. Default 50 (Discord's global limit).
    pub per_second: u32,
    /// Messages a second in one channel; 0 is no limit. Default 1 (Discord takes five in five seconds).
    pub per_channel_per_second: u32,
    /// The numbers of the channels in which each question gets a thread of its own. Default none: a chain of replies.
    pub threads_in: Vec<String>,
}

impl Default for Discord {
    fn default() -> Self {
        Self {
            token: None,
            token_file: None,
            api_url: "https://discord.com".to_owned(),
            gateway_url: None,
            per_second: 50,
            per_channel_per_second: 1,
            threads_in: Vec::new(),
        }
    }
}

impl Discord {
    /// Whether the platform is on.
    pub const fn is_on(&self) -> bool {
        self.token.is_some()
    }

    pub(super) fn validate(&self, in_build: bool) -> Result<(), Problem> {
        if !self.api_url.starts_with("https://") && !self.api_url.starts_with("http://") {
            return Err(Problem::new("discord.api_url", "must be a URL that begins with `https://` or `http://`"));
        }
        let is_socket = |url: &String| url.starts_with("wss://") || url.starts_with("ws://");
        if !self.gateway_url.iter().all(is_socket) {
            return Err(Problem::new("discord.gateway_url", "must be a URL that begins with `wss://` or `ws://`"));
        }
        let is_channel = |id: &String| id.parse::<u64>().is_ok_and(|id| id > 0);
        if let Some(id) = self.threads_in.iter().find(|id| !is_channel(id)) {
            let fix = "use the number that Copy Channel ID gives in developer mode";
            return Err(Problem::new("discord.threads_in", format!("lists `{id}`, which is no channel; {fix}")));
        }
        let Some(token) = &self.token else { return Ok(()) };
        let key = if self.token_file.is_some() { "discord.token_file" } else { "discord.token" };
        if !in_build {
            let problem = "turns Discord on, but this build has no Discord; build with --features discord";
            return Err(Problem::new(key, problem));
        }
        let is_part =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        let parts: Vec<&str> = token.expose().split('.').collect();
        if parts.len() == 3 && parts.iter().all(|part| is_part(part)) {
            return Ok(());
        }
        let form = "is not a bot token; it has three parts with dots between them and comes from the bot's page in the \
                    Developer Portal";
        Err(Problem::new(key, form))
    }
}
