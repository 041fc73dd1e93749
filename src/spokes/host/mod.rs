//! The host spoke: a tool server that reads the machine it runs on, and changes it where a call has a permit. This file
//! starts it; what it offers is declared in `config/tools/host.toml`, how a call reaches its reader or writer is in
//! `server.rs` and `dispatch.rs`. Linux is the supported system.

mod answer;
mod call;
mod change;
mod command;
mod disk;
mod dispatch;
mod edit;
mod exec;
mod file;
mod find;
mod health;
mod input;
mod lines;
mod log;
mod machine;
mod matching;
mod network;
mod process;
mod server;
mod service;
mod signal;
mod this_host;
mod wait;
mod wrote;

use std::sync::Arc;

use anyhow::Context;
use countersign_core::command::Tables;
use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::permit::{KEY_VARIABLE, Key};

/// Serves MCP over the given streams until the input closes or the peer goes away. Only MCP messages are written to
/// `output`. An error means that the declaration is faulty or that no session came about.
///
/// Reads the key for permits from the environment variable [`KEY_VARIABLE`]; where it is missing or no key, every write is
/// refused. Once the input is closed no change is begun any more, and those that were begun are waited for.
///
/// A reader that hangs in the kernel (a dead network file system) keeps its thread beyond the end of the session, so
/// the caller should leave its runtime with `shutdown_background` or end the process.
pub async fn serve<I, O>(keep_out: Vec<std::path::PathBuf>, commands: Tables, input: I, output: O) -> anyhow::Result<()>
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    let key = std::env::var(KEY_VARIABLE).ok().and_then(|text| Key::from_hex(&text));
    let host = this_host::ThisHost::detect()
        .context("failed to find out the name of this machine")?
        .keeping_out(keep_out)
        .judging_by(commands);
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
