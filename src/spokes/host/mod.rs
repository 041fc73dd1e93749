//! The host spoke: a tool server that reads the machine it runs on, and changes it where a call has a permit. This file
//! starts it; what it offers is declared in `config/tools/host.toml`, how a call reaches its reader or writer is in
//! `server.rs` and `dispatch.rs`. Linux is the supported system.

mod answer;
mod between;
mod call;
mod change;
mod changes;
mod command;
mod disk;
mod dispatch;
mod edit;
mod exec;
mod expand;
mod file;
mod file_secrets;
mod find;
mod health;
mod input;
mod line_files;
mod lines;
mod log;
mod machine;
mod masked_files;
mod matching;
mod network;
mod packed;
mod process;
mod readable;
mod secret_places;
mod server;
mod service;
mod signal;
mod this_host;
mod unwrap;
mod walls;
mod wait;
mod wrote;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use countersign_core::command::Tables;
use countersign_core::egress::Destinations;
use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::permit::{KEY_VARIABLE, Key};

pub(crate) use walls::usual_walls;

/// The limits that the bot's configuration sets for this server.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The bot's own files and folders, which are neither read nor written.
    pub keep_out: Vec<PathBuf>,
    /// What starts the bot, which may be read and is not written.
    pub keep_unchanged: Vec<PathBuf>,
    /// What each tool of a command line does.
    pub commands: Tables,
    /// The destinations that commands may talk to.
    pub egress: Destinations,
    /// Files and folders that no command sees, beside the usual places of secrets.
    pub hide: Vec<PathBuf>,
    /// Files and folders that are shown although not everyone on this machine may read them.
    pub show: Vec<PathBuf>,
    /// Whether commands run also where their sandbox cannot be built whole.
    pub best_effort: bool,
}

/// Serves MCP over the given streams until the input closes or the peer goes away. Only MCP messages are written to
/// `output`. An error means that the declaration is faulty or that no session came about.
///
/// Reads the key for permits from the environment variable [`KEY_VARIABLE`]; where it is missing or no key, every write is
/// refused. Once the input is closed no change is begun any more, and those that were begun are waited for.
///
/// A reader that hangs in the kernel (a dead network file system) keeps its thread beyond the end of the session, so
/// the caller should leave its runtime with `shutdown_background` or end the process.
pub async fn serve<I, O>(limits: Limits, input: I, output: O) -> anyhow::Result<()>
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    let key = std::env::var(KEY_VARIABLE).ok().and_then(|text| Key::from_hex(&text));
    let host = this_host::ThisHost::detect().context("failed to find out the name of this machine")?.limited(limits);
    serve_as(host, key, input, output).await
}

async fn serve_as<I, O>(host: this_host::ThisHost, key: Option<Key>, input: I, output: O) -> anyhow::Result<()>
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    let server = server::HostServer::new(Arc::new(host), key).context("failed to read the declared tools")?;
    let input = input::Input::new(input, server.closing());
    let session = server.clone().serve((input, output)).await.context("failed to begin an MCP session")?;
    let ended = session.waiting().await;
    server.finish().await;
    ended.context("failed to end the MCP session in order")?;
    Ok(())
}

#[cfg(test)]
mod tests;
