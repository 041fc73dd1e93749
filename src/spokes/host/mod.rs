//! The host spoke: a tool server that reads the machine it runs on, and changes nothing. This file starts it; what it
//! offers is declared in `config/tools/host.toml`, how a call reaches its reader is in `server.rs` and `dispatch.rs`.
//! Linux is the supported system.

mod answer;
mod call;
mod command;
mod disk;
mod dispatch;
mod exec;
mod file;
mod find;
mod health;
mod lines;
mod log;
mod machine;
mod matching;
mod network;
mod process;
mod server;
mod service;
mod this_host;
mod wait;

use std::sync::Arc;

use anyhow::Context;
use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

/// Serves MCP over the given streams until the input closes or the peer goes away. Only MCP messages are written to
/// `output`. An error means that the declaration is faulty or that no session came about.
///
/// A reader that hangs in the kernel (a dead network file system) keeps its thread beyond the end of the session, so
/// the caller should leave its runtime with `shutdown_background` or end the process.
pub async fn serve<I, O>(keep_out: Vec<std::path::PathBuf>, input: I, output: O) -> anyhow::Result<()>
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    let host =
        this_host::ThisHost::detect().context("failed to find out the name of this machine")?.keeping_out(keep_out);
    let server = server::HostServer::new(Arc::new(host)).context("failed to read the declared tools")?;
    let session = server.serve((input, output)).await.context("failed to begin an MCP session")?;
    session.waiting().await.context("failed to end the MCP session in order")?;
    Ok(())
}

#[cfg(test)]
mod tests;
