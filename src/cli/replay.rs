//! `countersign replay FILE`: plays a recording through the real engine, over a store of its own in a temporary folder, and
//! prints every decision.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use countersign_core::env::{Credential, Vault};

use super::setup::{Setup, access_sources};
use super::{Failed, RunArgs};
use crate::access::Owner;
use crate::replay::{header, play};
use crate::store::{Sealing, Store, sqlite_url};

/// Plays it.
pub(super) fn run(args: &RunArgs, file: &Path) -> Result<(), Failed> {
    let setup = Setup::read(args, |_| true).map_err(Failed::Usage)?;
    let opened = File::open(file).with_context(|| format!("cannot open the recording {}", file.display()));
    let mut lines = BufReader::new(opened.map_err(Failed::Usage)?);
    let mut first = String::new();
    lines
        .read_line(&mut first)
        .with_context(|| format!("cannot read the recording {}", file.display()))
        .map_err(Failed::Usage)?;
    let header = header(&first).with_context(|| file.display().to_string()).map_err(Failed::Usage)?;
    // One set for the whole recording: a file that changes meanwhile must not change what is decided.
    let owner = header.owner.map(|owner| Owner::new(owner.platform, owner.id));
    let rights =
        access_sources(&setup.config, &setup.registry).access(owner).map_err(|error| Failed::Usage(error.into()))?;
    let mut world = setup.world(Box::new(rights.clone()), Box::new(rights), Box::new(Vec::new));
    // No tool runs, and a recording is of a bot that had its credentials.
    let needed =
        setup.registry.tools().flat_map(|tool| tool.actions.values()).flat_map(|spec| spec.credentials.clone());
    let sound = Vault { credentials: needed.map(|name| (name, Credential::Sound)).collect() };
    world.vault = Box::new(move || sound.clone());
    if let Some(models) = header.models {
        world.minds = models.into();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::Internal(error.into()))?;
    runtime.block_on(async {
        let folder = tempfile::tempdir().context("a temporary folder is needed").map_err(Failed::Internal)?;
        let url = sqlite_url(&folder.path().join("replay.db")).map_err(|error| Failed::Internal(error.into()))?;
        let store = Store::open(&url, &Sealing::unguarded()).await;
        let store = store.map_err(|error| Failed::Internal(error.into()))?;
        let played = play(lines, world, store.clone(), std::io::stdout()).await;
        store.close().await;
        played.with_context(|| file.display().to_string()).map_err(Failed::Usage)
    })
}
