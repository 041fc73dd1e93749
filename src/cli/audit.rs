//! `countersign audit`: proves the audit trail, or writes it out. Reads the database of the configuration, also beside a
//! running bot, and changes nothing. What is wrong with a trail is decided by the store.

use std::fs::OpenOptions;
use std::io::{BufWriter, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::json;

use super::seal::{NEWEST_FILE, known_key};
use super::setup::configuration;
use super::{Failed, RunArgs, print};
use crate::store::{AuditHead, AuditReport, BrokenRow, SealKey, SealState, Store, StoreError};

/// Readable and writable by the owner alone: the trail holds what people did.
const FILE_MODE: u32 = 0o600;

/// The most rows that are named.
const NAMED_MAX: usize = 20;

/// What to do with the trail.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum AuditCommand {
    /// Prove that no row of the audit trail, and no other row that decides something, was changed, removed or replaced
    Verify {
        /// A head that was printed earlier, SEQ:HASH; at least 16 digits of the hash
        #[arg(long, value_name = "HEAD")]
        expect: Option<AuditHead>,
    },
    /// Write the audit trail out, one JSON object a line, oldest row first
    Export {
        /// Into this file, which must not exist yet [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// Does it.
pub(super) fn run(args: &RunArgs, command: &AuditCommand) -> Result<(), Failed> {
    let (url, key, newest) = database(args).map_err(Failed::Usage)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::Internal(error.into()))?;
    runtime.block_on(async {
        let store = Store::open_for_reading(&url, key).await.map_err(|error| Failed::Usage(error.into()))?;
        let done = match command {
            AuditCommand::Verify { expect } => verify(&store, expect.as_ref(), (&newest, args.json)).await,
            AuditCommand::Export { out } => export(&store, out.as_deref()).await,
        };
        store.close().await;
        done
    })
}

/// Returns the database that a bot with the same arguments would use, the key of its seals, if it can be read, and the file that
/// says how new the database is. Takes no lock and creates nothing.
fn database(args: &RunArgs) -> anyhow::Result<(String, Option<SealKey>, PathBuf)> {
    let (config, _) = configuration(args)?;
    let data = config.data_dir()?;
    let url = config.store.database_url(&data)?.expose().to_owned();
    Ok((url, known_key(&config.store, &data)?, data.join(NEWEST_FILE)))
}

async fn verify(store: &Store, expect: Option<&AuditHead>, (newest, json): (&Path, bool)) -> Result<(), Failed> {
    let report = store.verify_audit(expect).await.map_err(|error| Failed::Internal(error.into()))?;
    let seals = store.seal_state().await.map_err(|error| Failed::Internal(error.into()))?;
    let (broken, is_older) = match seals {
        SealState::Sealed => checked(store, newest).await.map_err(|error| Failed::Internal(error.into()))?,
        SealState::Unsealed | SealState::NoKey | SealState::OtherKey => (Vec::new(), false),
    };
    match (json, &report.problem) {
        (true, _) => print(&format!("{}\n", as_json(&report, &broken, is_older)))?,
        (false, None) if broken.is_empty() && !is_older => print(&format!("{}\n", whole(&report)))?,
        (false, Some(_) | None) => {}
    }
    match (report.problem, broken.as_slice()) {
        (None, []) if is_older => Err(Failed::NotFine(OLDER.to_owned())),
        (None, []) => not_checked(seals).map_or(Ok(()), |sentence| Err(Failed::NotFine(sentence.to_owned()))),
        (None, rows) => Err(Failed::NotFine(not_ours(rows))),
        (Some(problem), _) => Err(Failed::NotFine(format!("The audit trail is not whole: {problem}."))),
    }
}

/// The sentence about a database that is not the newest one.
const OLDER: &str = "The database is older than what the bot wrote last, or another one.";

/// Returns the rows that the bot did not write, and whether the database is an older one.
async fn checked(store: &Store, newest: &Path) -> Result<(Vec<BrokenRow>, bool), StoreError> {
    Ok((store.broken_rows().await?, store.is_older_than(newest).await?))
}

/// Returns why the seals could not be checked, if they could not.
const fn not_checked(seals: SealState) -> Option<&'static str> {
    match seals {
        SealState::Sealed => None,
        SealState::Unsealed => {
            Some("The rows are not sealed: the bot was never started on this database, or the seals were taken away.")
        }
        SealState::NoKey => Some(
            "The seals were not checked, because the key is missing: restore `seal.key` in the data directory, or name its file in `store.seal_key_file`.",
        ),
        SealState::OtherKey => {
            Some("The seals were not checked, because the database is sealed with another key than the one here.")
        }
    }
}

/// The sentences about rows that the bot did not write.
fn not_ours(rows: &[BrokenRow]) -> String {
    let count = match rows.len() {
        1 => "1 row is not what the bot wrote; nothing is decided by it".to_owned(),
        many => format!("{many} rows are not what the bot wrote; nothing is decided by them"),
    };
    let named: Vec<String> = rows.iter().take(NAMED_MAX).map(|row| format!("  {}", row.problem)).collect();
    let more = rows.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    format!("{count}:\n{}{more}", named.join("\n"))
}

/// The sentence for a trail in which nothing is wrong.
fn whole(report: &AuditReport) -> String {
    let rows = if report.rows == 1 { "1 row".to_owned() } else { format!("{} rows", report.rows) };
    let deleted = match report.payloads_deleted {
        0 => String::new(),
        1 => " The content of 1 row was deleted.".to_owned(),
        many => format!(" The contents of {many} rows were deleted."),
    };
    format!("The audit trail is whole: {rows}, head {}.{deleted}", report.head)
}

fn as_json(report: &AuditReport, broken: &[BrokenRow], is_older: bool) -> serde_json::Value {
    let problem = report.problem.as_ref();
    json!({
        "whole": problem.is_none() && broken.is_empty() && !is_older,
        "older": is_older,
        "rows": report.rows,
        "payloads_deleted": report.payloads_deleted,
        "head": report.head.to_string(),
        "broken": broken.iter().map(|row| {
            json!({ "table": row.table, "id": row.id, "sentence": row.problem })
        }).collect::<Vec<_>>(),
        "problem": problem.map(|problem| {
            json!({ "seq": problem.seq, "id": problem.id, "sentence": problem.to_string() })
        }),
    })
}

async fn export(store: &Store, out: Option<&Path>) -> Result<(), Failed> {
    let exported = match out {
        None => store.export_audit(&mut BufWriter::new(std::io::stdout())).await,
        Some(file) => {
            // Never over another file: an older export may be the only proof of what was changed since.
            let opened = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(file);
            let context = || format!("--out: cannot create {}", file.display());
            let opened = opened.with_context(context).map_err(Failed::Usage)?;
            store.export_audit(&mut BufWriter::new(opened)).await
        }
    };
    match exported {
        Ok(_) => Ok(()),
        // Whoever read it has seen enough.
        Err(StoreError::Export(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failed::Internal(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_trail_is_told_in_one_line() {
        let head: AuditHead = format!("42:{}", "9f".repeat(32)).parse().expect("a head");
        let of =
            |rows, payloads_deleted| whole(&AuditReport { rows, payloads_deleted, head: head.clone(), problem: None });
        insta::assert_snapshot!([of(42, 0), of(1, 1), of(42, 3)].join("\n"), @"
        The audit trail is whole: 42 rows, head 42:9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f.
        The audit trail is whole: 1 row, head 42:9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f. The content of 1 row was deleted.
        The audit trail is whole: 42 rows, head 42:9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f. The contents of 3 rows were deleted.
        ");
    }
}
