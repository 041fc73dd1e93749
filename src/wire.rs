//! Joins platforms to the engine: the only file that names an adapter crate.

use std::path::Path;
use std::sync::Arc;

use countersign_core::port::Adapter;
use countersign_core::signal::{ActorId, Platform};

use crate::access::OsUser;

/// What the console is told of the process it runs in.
pub struct ConsoleWiring<'a> {
    /// The thread that every line belongs to.
    pub thread: &'a str,
    /// Whether to speak JSON lines.
    pub json: bool,
    /// Who runs the process.
    pub user: &'a OsUser,
    /// The machine's name.
    pub machine: &'a str,
    /// The data directory, for the history.
    pub data: &'a Path,
    /// New for each start.
    pub session: String,
    /// The head of the audit trail: printed where people see it, so that a trail that is rewritten is found out.
    pub audit_head: String,
    /// A sentence about what an earlier run left open, where there is something.
    pub still_open: Option<String>,
}

/// The platforms of a run, and what the rest has to know about them.
pub struct Wired {
    /// The platforms.
    pub adapters: Vec<Arc<dyn Adapter>>,
    /// The one person of the console, and its platform.
    pub console_owner: (Platform, ActorId),
    /// Whether Ctrl-C belongs to the console and does not end the bot.
    pub interrupt_is_taken: bool,
}

/// Makes the platforms of this run. No platform can be configured yet, so that it is the console, on this machine.
#[cfg(feature = "console")]
pub fn wire(console: ConsoleWiring<'_>) -> anyhow::Result<Wired> {
    use countersign_console::{Console, Options};
    let banner = format!(
        "Countersign {} on {}. Ask about this machine; `help` lists what I understand, `quit` leaves.\n\
         Audit trail at {}{}",
        env!("CARGO_PKG_VERSION"),
        console.machine,
        console.audit_head,
        console.still_open.map(|line| format!("\n{line}")).unwrap_or_default()
    );
    let adapter = Console::new(Options {
        thread: console.thread.to_owned(),
        json: console.json,
        user: console.user.name.clone(),
        uid: console.user.uid.to_string(),
        host: console.machine.to_owned(),
        history: Some(console.data.join("console-history")),
        banner,
        session: console.session,
    });
    let interrupt_is_taken = adapter.owns_interrupt();
    let console_owner = (adapter.platform(), adapter.person());
    Ok(Wired { adapters: vec![Arc::new(adapter)], console_owner, interrupt_is_taken })
}

/// A build without any platform has nobody to talk to.
#[cfg(not(feature = "console"))]
pub fn wire(_: ConsoleWiring<'_>) -> anyhow::Result<Wired> {
    anyhow::bail!("this build has no console and no platform to talk on; build with --features console")
}
