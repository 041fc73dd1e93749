//! The list of migrations and how they are applied. The SQL is in `migrations/`, with a README on how to change it.

use sqlx::migrate::{MigrateError, MigrationType, Migrator};
use sqlx::{AnyConnection, SqlSafeStr};

/// One migration, as released.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Rises by one.
    pub version: i64,
    /// The rest of the file's name.
    pub name: &'static str,
    /// The file.
    pub sql: &'static str,
}

/// Every migration, oldest first. Listed by hand, so that a forgotten rebuild cannot leave one out: a new file that is
/// not listed here fails a test.
pub const ALL: &[Migration] = &[
    Migration { version: 1, name: "messages", sql: include_str!("../../migrations/0001_messages.sql") },
    Migration { version: 2, name: "plans", sql: include_str!("../../migrations/0002_plans.sql") },
    Migration { version: 3, name: "refusals_written", sql: include_str!("../../migrations/0003_refusals_written.sql") },
    Migration { version: 4, name: "ledger", sql: include_str!("../../migrations/0004_ledger.sql") },
    Migration { version: 5, name: "usage", sql: include_str!("../../migrations/0005_usage.sql") },
    Migration { version: 6, name: "votes", sql: include_str!("../../migrations/0006_votes.sql") },
    Migration { version: 7, name: "delivered", sql: include_str!("../../migrations/0007_delivered.sql") },
    Migration { version: 8, name: "set_aside", sql: include_str!("../../migrations/0008_set_aside.sql") },
    Migration { version: 9, name: "seals", sql: include_str!("../../migrations/0009_seals.sql") },
    Migration { version: 10, name: "sums", sql: include_str!("../../migrations/0010_sums.sql") },
    Migration { version: 11, name: "late_cards", sql: include_str!("../../migrations/0011_late_cards.sql") },
];

/// A migrator for these migrations: it runs those that were not yet applied and refuses a database that has others.
pub fn migrator(migrations: &[Migration]) -> Migrator {
    let listed = migrations.iter().map(|migration| {
        let sql = migration.sql.into_sql_str();
        sqlx::migrate::Migration::new(migration.version, migration.name.into(), MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(listed.collect())
}

/// Applies what is missing. On Postgres under an advisory lock, which ends with the connection.
pub(super) async fn apply(connection: &mut AnyConnection) -> Result<(), MigrateError> {
    migrator(ALL).run_direct(None, connection, false).await
}
