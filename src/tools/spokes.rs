//! The set of tool servers: which there are, how each is started, and the way a cleared call takes to the right one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::envelope::Envelope;
use countersign_core::gate::{Cleared, ToolCall};
use countersign_core::port::{BoxFuture, Tools};
use countersign_core::tool::Registry;
use thiserror::Error;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::call;
use super::supervise::{Spoke, SpokeHealth};
use crate::permit::KEY_VARIABLE;
use crate::vault::Credentials;

/// Our own settings come from the environment under this prefix, tokens among them: none of it passes to a server.
const OURS: &str = "COUNTERSIGN_";

/// How one server is started: `[spokes.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokeConfig {
    /// As in the tool files' `spoke`.
    pub name: String,
    /// The program; a bare name is looked for in the system's directories, not in our own `PATH`.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Names of environment variables that pass to it where they are set: `SSH_AUTH_SOCK`, `KUBECONFIG`, `DOCKER_HOST`.
    pub env: Vec<String>,
    /// Environment variables that hold a credential, each with the credential's name.
    pub secrets: BTreeMap<String, String>,
    /// How long it may take until it has said what it can do.
    pub start_limit: Duration,
}

/// What is wrong with the set of servers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpokesError {
    /// Two servers of one name.
    #[error("spokes.{0} is there twice; give one of them another name")]
    Twice(String),
    /// A variable that may hold one of our secrets.
    #[error("spokes.{spoke}.env: `{name}` is a setting of the bot's own and passes to no server; remove it")]
    Secret {
        /// Which server.
        spoke: String,
        /// Which variable.
        name: String,
    },
    /// No name of a variable.
    #[error("spokes.{spoke}.env: {name:?} is no name of an environment variable; write the name alone")]
    Name {
        /// Which server.
        spoke: String,
        /// What stands there.
        name: String,
    },
}

/// Every configured tool server. Dropping it ends them all; [`Spokes::shutdown`] also waits for that.
pub struct Spokes {
    by_name: BTreeMap<String, Arc<Spoke>>,
    closing: CancellationToken,
    _close: DropGuard,
}

impl Spokes {
    /// Checks the configuration. Starts nothing: a server is started by the first call that needs it.
    pub fn new(
        configs: Vec<SpokeConfig>,
        registry: &Arc<Registry>,
        credentials: &Arc<Credentials>,
    ) -> Result<Self, SpokesError> {
        let closing = CancellationToken::new();
        let mut by_name = BTreeMap::new();
        for config in configs {
            check(&config)?;
            let name = config.name.clone();
            let spoke = Spoke::new(config, Arc::clone(registry), Arc::clone(credentials), closing.child_token());
            if by_name.insert(name.clone(), Arc::new(spoke)).is_some() {
                return Err(SpokesError::Twice(name));
            }
        }
        Ok(Self { by_name, _close: closing.clone().drop_guard(), closing })
    }

    /// What each server is doing, by name. No I/O.
    pub fn health(&self) -> Vec<SpokeHealth> {
        self.by_name.values().map(|spoke| spoke.health()).collect()
    }

    /// Ends every server and waits until no process is left: about a second for one that does not obey. Calls that still
    /// run fail, and so does every later one.
    pub async fn shutdown(&self) {
        self.closing.cancel();
        for spoke in self.by_name.values() {
            spoke.gone().await;
        }
    }

    /// The call without its seal, for this room only.
    pub(super) async fn run(&self, call: &ToolCall) -> Envelope {
        if let Some(spoke) = self.by_name.get(&call.spoke) {
            return call::run(spoke, call).await;
        }
        let name = &call.spoke;
        let message = format!("No tool server `{name}` is configured. Add [spokes.{name}] to the configuration.");
        call::not_sent(call, message, false)
    }
}

impl Tools for Spokes {
    fn call(&self, call: Cleared<ToolCall>) -> BoxFuture<'_, Envelope> {
        Box::pin(async move { self.run(call.get()).await })
    }
}

fn check(config: &SpokeConfig) -> Result<(), SpokesError> {
    let names: BTreeSet<&String> = config.env.iter().chain(config.secrets.keys()).collect();
    for name in names {
        let spoke = || config.name.clone();
        if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            return Err(SpokesError::Name { spoke: spoke(), name: name.clone() });
        }
        if name.to_ascii_uppercase().starts_with(OURS) || name == KEY_VARIABLE {
            return Err(SpokesError::Secret { spoke: spoke(), name: name.clone() });
        }
    }
    Ok(())
}
