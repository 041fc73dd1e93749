//! `countersign inbox`: the messages that were set aside. Reads the database of the configuration, also beside a running bot, and
//! changes nothing. Which messages are set aside is decided by the engine.

use countersign_core::answer::time;
use countersign_core::secrets::Mask;
use countersign_core::signal::Payload;
use serde_json::json;

use super::setup::configuration;
use super::{Failed, RunArgs, print};
use crate::store::{Parked, Store};

/// The most characters of a message that are shown.
const TEXT_CHARS_MAX: usize = 500;

/// A subcommand of `inbox`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum InboxCommand {
    /// List the messages that were set aside, newest first: each ended the bot twice, and is not worked on again
    Parked,
}

/// Runs the subcommand. Reads the database.
pub(super) fn run(args: &RunArgs, command: &InboxCommand) -> Result<(), Failed> {
    let InboxCommand::Parked = command;
    let (config, _) = configuration(args).map_err(Failed::Usage)?;
    let data = config.data_dir().map_err(|error| Failed::Usage(error.into()))?;
    let url = config.store.database_url(&data).map_err(|error| Failed::Usage(error.into()))?;
    let mask = Mask::new(config.secrets());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::Internal(error.into()))?;
    let parked = runtime.block_on(async {
        let store = Store::open_for_reading(url.expose(), None).await.map_err(|error| Failed::Usage(error.into()))?;
        let parked = store.parked().await.map_err(|error| Failed::Internal(error.into()));
        store.close().await;
        parked
    })?;
    let shown = if args.json { parked.iter().map(|one| as_json(one, &mask)).collect() } else { text(&parked, &mask) };
    print(&shown)
}

/// The sentences for people.
fn text(parked: &[Parked], mask: &Mask) -> String {
    if parked.is_empty() {
        return "No message was set aside.\n".to_owned();
    }
    let paragraph = |one: &Parked| {
        let Parked { at, interruptions, signal } = one;
        let (platform, who) = (&signal.thread.platform, &signal.actor.id);
        format!(
            "{}  {platform}:{who} in {}: {}\n  The bot ended {interruptions} times while it worked on this.\n",
            time(*at),
            signal.thread.conversation,
            said(&signal.payload, mask),
        )
    };
    parked.iter().map(paragraph).collect()
}

fn as_json(one: &Parked, mask: &Mask) -> String {
    let Parked { at, interruptions, signal } = one;
    let object = json!({
        "at": time(*at),
        "platform": signal.thread.platform,
        "conversation": signal.thread.conversation,
        "thread": signal.thread.root,
        "actor": signal.actor.id,
        "event": signal.event,
        "interruptions": interruptions,
        "text": said(&signal.payload, mask),
    });
    format!("{object}\n")
}

/// Returns the text of a signal, or its payload as JSON, masked and on one line.
fn said(payload: &Payload, mask: &Mask) -> String {
    let text = match payload {
        Payload::Text { text } => text.clone(),
        other => serde_json::to_string(other).expect("invariant: a payload is plain data"),
    };
    let masked = mask.apply(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    masked.chars().take(TEXT_CHARS_MAX).collect()
}
