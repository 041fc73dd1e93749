//! `countersign seal`, and the key of the seals: where it is, and that it is made at the first start. What is sealed, and how, is
//! the store's.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::setup::configuration;
use super::{Failed, RunArgs, say};
use crate::clock::{fresh_id, random_bytes, wall_now};
use crate::config::{self, lock_data_dir};
use crate::store::{Adopts, SealKey, SealState, Sealing, Store, StoreError};

/// The key's file in the data directory.
const FILE: &str = "seal.key";

/// The file of a key that is not in force yet: the database may or may not be sealed with it.
const NEXT_FILE: &str = "seal.key.new";

/// The file that says how new the database is.
pub(super) const NEWEST_FILE: &str = "seal.newest";

/// Readable and writable by the owner alone: who has the key can forge an approval.
const FILE_MODE: u32 = 0o600;

/// A subcommand of `seal`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum SealCommand {
    /// Accept every row of the database as it is and seal it, where a database came without its seals
    Adopt,
    /// Seal every row with a new key; a row whose seal is broken stays broken
    Rotate {
        /// Write the new key into this file, which must not exist yet, for `store.seal_key_file` to name [default: the key's
        /// file in the data directory]
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
}

/// Runs the subcommand. Locks the data directory, so that no bot runs on it.
pub(super) fn run(args: &RunArgs, command: &SealCommand) -> Result<(), Failed> {
    let (config, _) = configuration(args).map_err(Failed::Usage)?;
    let data = config.data_dir().map_err(|error| Failed::Usage(error.into()))?;
    let lock = lock_data_dir(&data).map_err(|error| Failed::Usage(error.into()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::Internal(error.into()))?;
    runtime.block_on(async {
        match command {
            SealCommand::Adopt => adopt(&config.store, lock.dir()).await,
            SealCommand::Rotate { to } => rotate(&config.store, lock.dir(), to.as_deref()).await,
        }
    })
}

async fn adopt(config: &config::Store, data: &Path) -> Result<(), Failed> {
    let key = known_key(config, data).map_err(Failed::Usage)?;
    let wrong = wrong_rows(config, data, key.clone()).await.map_err(|error| Failed::Usage(error.into()))?;
    let store = match key {
        Some(key) => open(config, data, key, Adopts::Everything).await.map_err(|error| Failed::Usage(error.into()))?,
        None => {
            let key = make(&data.join(NEXT_FILE)).map_err(Failed::Usage)?;
            in_force(config, data, key, Adopts::Everything).await.map_err(Failed::Usage)?
        }
    };
    let wrong = match wrong {
        None => "their seals were of another key, or of none".to_owned(),
        Some(0) => "no seal was wrong".to_owned(),
        Some(wrong) => not_written(wrong),
    };
    let recorded = store.record(&fresh_id(), wall_now(), "seals_adopted", &wrong).await;
    store.close().await;
    recorded.map_err(|error| Failed::Internal(error.into()))?;
    say(&format!("The rows of the database are accepted and sealed as they are; {wrong}."));
    Ok(())
}

fn not_written(rows: usize) -> String {
    match rows {
        1 => "1 row was not what the bot wrote".to_owned(),
        many => format!("{many} rows were not what the bot wrote"),
    }
}

/// Returns the number of rows that the bot did not write, if the key is the database's. An error if there is no database.
async fn wrong_rows(config: &config::Store, data: &Path, key: Option<SealKey>) -> Result<Option<usize>, StoreError> {
    let store = Store::open_for_reading(config.database_url(data)?.expose(), key).await?;
    let wrong = match store.seal_state().await {
        Ok(SealState::Sealed) => store.broken_rows().await.map(|rows| Some(rows.len())),
        Ok(SealState::Unsealed | SealState::NoKey | SealState::OtherKey) => Ok(None),
        Err(error) => Err(error),
    };
    store.close().await;
    wrong
}

async fn rotate(config: &config::Store, data: &Path, to: Option<&Path>) -> Result<(), Failed> {
    if config.seal_key.is_some() && to.is_none() {
        let problem = "the key is given by `store.seal_key` or `store.seal_key_file`; say with --to where the new one goes, and name that file there";
        return Err(Failed::Usage(anyhow::anyhow!(problem)));
    }
    let key = known_key(config, data).map_err(Failed::Usage)?;
    let wrong = wrong_rows(config, data, key).await.map_err(|error| Failed::Usage(error.into()))?;
    let store = open_store(config, data).await.map_err(Failed::Usage)?;
    let recorded =
        store.record(&fresh_id(), wall_now(), "seal_key_changed", "every row is sealed with a new key").await;
    recorded.map_err(|error| Failed::Internal(error.into()))?;
    let next = to.map_or_else(|| data.join(NEXT_FILE), Path::to_owned);
    let key = make(&next).map_err(Failed::Usage)?;
    let changed = store.change_seal_key(&key).await;
    store.close().await;
    changed.map_err(|error| Failed::Internal(error.into()))?;
    let own = data.join(FILE);
    let (placed, said) = match to {
        None => (fs::rename(&next, &own), format!("The rows are sealed with the new key in {}.", own.display())),
        Some(file) => {
            let removed = if own.exists() { fs::remove_file(&own) } else { Ok(()) };
            let file = file.display();
            (
                removed,
                format!("The rows are sealed with the new key in {file}; name that file in `store.seal_key_file`."),
            )
        }
    };
    placed.map_err(|error| Failed::Internal(error.into()))?;
    say(&said);
    match wrong {
        None | Some(0) => Ok(()),
        Some(wrong) => Err(Failed::NotFine(format!(
            "{}, before as after; `countersign audit verify` lists what is wrong",
            not_written(wrong)
        ))),
    }
}

/// Opens the database with its key. Makes the key at the first start. Reads and writes files of the data directory.
pub(super) async fn open_store(config: &config::Store, data: &Path) -> anyhow::Result<Store> {
    if let Some(key) = configured(config) {
        return Ok(open(config, data, key, Adopts::Nothing).await?);
    }
    let (file, next) = (data.join(FILE), data.join(NEXT_FILE));
    match (read(&file)?, read(&next)?) {
        (Some(key), None) => Ok(open(config, data, key, Adopts::Nothing).await?),
        // The process ended while it changed the key.
        (Some(key), Some(next_key)) => match open(config, data, key, Adopts::Nothing).await {
            Err(StoreError::OtherKey { .. }) => in_force(config, data, next_key, Adopts::Nothing).await,
            opened => {
                fs::remove_file(&next).with_context(|| format!("cannot remove {}", next.display()))?;
                Ok(opened?)
            }
        },
        (None, next_key) => {
            let is_made = next_key.is_none();
            let key = next_key.map_or_else(|| make(&next), Ok)?;
            let opened = in_force(config, data, key, Adopts::Unsealed).await;
            if is_made && opened.is_err() {
                // Nothing is sealed with it.
                let _ = fs::remove_file(&next);
            }
            opened.map_err(|error| match error.downcast_ref() {
                Some(StoreError::OtherKey { place }) => anyhow::anyhow!(
                    "{place} is sealed, and its key is missing: restore {}, or accept the rows as they are with `countersign seal adopt`",
                    file.display()
                ),
                _ => error,
            })
        }
    }
}

/// Opens the database with the next key, which is the one in force from then on.
async fn in_force(config: &config::Store, data: &Path, key: SealKey, adopts: Adopts) -> anyhow::Result<Store> {
    let store = open(config, data, key, adopts).await?;
    let (file, next) = (data.join(FILE), data.join(NEXT_FILE));
    fs::rename(&next, &file).with_context(|| format!("cannot rename {}", next.display()))?;
    Ok(store)
}

async fn open(config: &config::Store, data: &Path, key: SealKey, adopts: Adopts) -> Result<Store, StoreError> {
    let newest = Some(data.join(NEWEST_FILE));
    Store::open(config.database_url(data)?.expose(), &Sealing { key, adopts, newest }).await
}

/// Returns the key in force, if there is one. Reads a file.
pub(super) fn known_key(config: &config::Store, data: &Path) -> anyhow::Result<Option<SealKey>> {
    configured(config).map_or_else(|| read(&data.join(FILE)), |key| Ok(Some(key)))
}

fn configured(config: &config::Store) -> Option<SealKey> {
    let key = config.seal_key.as_ref()?;
    Some(SealKey::parse(key.expose()).expect("invariant: a configuration is validated when it is loaded"))
}

fn read(file: &Path) -> anyhow::Result<Option<SealKey>> {
    use std::os::unix::fs::MetadataExt;
    let unreadable = || format!("cannot read {}", file.display());
    let meta = match fs::metadata(file) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(unreadable),
    };
    // Reading a pipe would wait for its writer.
    if !meta.is_file() {
        bail!("{} is no plain file; remove it, and restore the key", file.display());
    }
    let mode = meta.mode();
    if mode & 0o077 != 0 {
        bail!("{} may be read by others (mode {:o}); run chmod 600 on it", file.display(), mode & 0o777);
    }
    let key = SealKey::parse(&fs::read_to_string(file).with_context(unreadable)?);
    let key = key.with_context(|| format!("{} holds no key (64 hexadecimal digits); restore it", file.display()))?;
    Ok(Some(key))
}

/// Makes a key in a new file.
fn make(file: &Path) -> anyhow::Result<SealKey> {
    let key = SealKey::new(random_bytes());
    let made = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(file);
    let mut made = made.with_context(|| format!("cannot create {}", file.display()))?;
    let written = writeln!(made, "{}", key.expose()).and_then(|()| made.sync_all());
    written.with_context(|| format!("cannot write {}", file.display()))?;
    Ok(key)
}
