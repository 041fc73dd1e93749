//! What can go wrong in the store, in sentences that name the thing and the fix. Which error of which engine means what
//! is in `dialect.rs`.

use countersign_core::approval::PlanId;
use countersign_core::signal::SignalId;
use thiserror::Error;

use super::BrokenRow;

/// Why the store did not do what it was asked. After an error nothing of the attempt is stored, with one exception: an
/// error of the connection while committing leaves it open, and then the same call again is safe.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The URL names no database that this build can open. The URL itself is not shown: it may hold a password.
    #[error("the store's url {problem}; write sqlite:///path/to/countersign.db or postgres://user@host/name")]
    Url {
        /// What is wrong with it, as the rest of a sentence.
        problem: String,
    },
    /// The database is there and cannot be used, or it is not there.
    #[error("{place} {problem}; {fix}")]
    Unusable {
        /// The file, or the server and the database's name.
        place: String,
        /// What is wrong, as the rest of a sentence.
        problem: String,
        /// What to do.
        fix: String,
    },
    /// The rows are sealed with another key.
    #[error(
        "{place} is sealed with another key; give the key that belongs to it, or accept the rows as they are with `countersign seal adopt`"
    )]
    OtherKey {
        /// The database.
        place: String,
    },
    /// There are rows, none is sealed, and the key is not new.
    #[error(
        "{place} has rows that are not sealed; restore a backup, or accept them as they are with `countersign seal adopt`"
    )]
    Unsealed {
        /// The database.
        place: String,
    },
    /// Rows were changed, removed or put back.
    #[error(
        "{place} was changed by another program: rows of {tables} were changed, removed or put back as they were before; `countersign audit verify` lists them; restore a backup, or accept them as they are with `countersign seal adopt`"
    )]
    Changed {
        /// The database.
        place: String,
        /// The tables.
        tables: String,
    },
    /// The database is not the one that was written to last.
    #[error(
        "{place} is older than what the bot wrote last, or another one; give the newest one, or accept this one as it is with `countersign seal adopt`"
    )]
    Older {
        /// The database.
        place: String,
    },
    /// The file that says how new the database is.
    #[error("how new the database is cannot be read or written beside it")]
    Newest(#[source] std::io::Error),
    /// A stored value is not what this program writes.
    #[error(
        "inconsistent data in table {table}, column {column}, row {row}: {problem}; restore a backup or mend the row"
    )]
    Inconsistent {
        /// Which table.
        table: &'static str,
        /// Which column.
        column: &'static str,
        /// The row's id.
        row: String,
        /// What is wrong with the value.
        problem: String,
    },
    /// The signal was never accepted.
    #[error("signal {0} is not in the inbox; accept it first")]
    UnknownSignal(SignalId),
    /// The signal has its ending already: a request ends once.
    #[error("signal {0} has ended already; it ends only once")]
    Ended(SignalId),
    /// The message is not being sent, so that it cannot be settled.
    #[error("message {0} is not being sent; settle only what `sending` has claimed")]
    NotSending(String),
    /// The plan was never filed.
    #[error("plan {0} is not in the store; file it before it is moved")]
    UnknownPlan(PlanId),
    /// Another plan is filed under this id: a plan never changes.
    #[error("plan {0} is filed already with another content; a changed plan needs an id of its own")]
    OtherPlan(PlanId),
    /// What was read could not be handed on.
    #[error("the export could not be written")]
    Export(#[source] std::io::Error),
    /// The database refused or failed.
    #[error("the database failed while {doing}")]
    Database {
        /// What was being done.
        doing: &'static str,
        /// What the engine says.
        #[source]
        source: sqlx::Error,
    },
}

impl StoreError {
    /// Returns true for a temporary failure, after which the same call may work: a full disk, a lock of another program, a server
    /// that is down.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Database { source, .. } if super::dialect::passes(source))
    }

    /// Returns the row that is not what this program wrote, if that is the error.
    pub fn broken_row(&self) -> Option<BrokenRow> {
        match self {
            Self::Inconsistent { table, row, .. } => {
                Some(BrokenRow { table, id: row.clone(), problem: self.to_string() })
            }
            _ => None,
        }
    }

    /// Wraps the engine's error with what was being done.
    pub(super) fn while_doing(doing: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| Self::Database { doing, source }
    }
}
