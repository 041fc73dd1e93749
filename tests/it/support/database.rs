//! The `SQLite` file of a bot as a test sees it: every cell as text, also beside a running bot. What the rows must be is the
//! tests' own business.

use std::path::Path;

use countersign::store::sqlite_url;
use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, Row};

/// The rows of a query, each cell as text; nothing is empty.
pub(crate) async fn rows(database: &Path, sql: &str) -> Vec<Vec<String>> {
    let mut connection = open(database).await;
    let rows = connection.fetch_all(AssertSqlSafe(sql)).await.unwrap_or_else(|error| panic!("{error} in {sql}"));
    let rows = rows.iter().map(|row| (0..row.len()).map(|at| cell(row, at)).collect()).collect();
    connection.close().await.expect("it lets go");
    rows
}

/// Runs a statement that changes rows, as somebody with the file in their hands could.
pub(crate) async fn change(database: &Path, sql: &str) -> u64 {
    let mut connection = open(database).await;
    let done = connection.execute(AssertSqlSafe(sql)).await.unwrap_or_else(|error| panic!("{error} in {sql}"));
    connection.close().await.expect("it lets go");
    done.rows_affected()
}

/// What the audit trail says, oldest row first.
pub(crate) async fn trail(database: &Path) -> Vec<Value> {
    let sql = "SELECT p.body FROM audit_chain AS c JOIN audit_payloads AS p ON p.id = c.id ORDER BY c.seq";
    let rows = rows(database, sql).await;
    rows.iter().map(|row| serde_json::from_str(&row[0]).expect("a row of the trail is an object")).collect()
}

/// Every text of every table.
pub(crate) async fn texts(database: &Path) -> Vec<(String, String)> {
    let tables = rows(database, "SELECT name FROM sqlite_master WHERE type = 'table'").await;
    let mut found = Vec::new();
    // The migrations' own table has types that the driver for any database does not know.
    for table in tables.into_iter().map(|mut row| row.remove(0)).filter(|table| !table.starts_with('_')) {
        let cells = rows(database, &format!("SELECT * FROM {table}")).await.concat().join("\n");
        found.push((table, cells));
    }
    found
}

async fn open(database: &Path) -> AnyConnection {
    sqlx::any::install_default_drivers();
    let url = sqlite_url(database).expect("the path is UTF-8");
    AnyConnection::connect(&url).await.expect("the database opens")
}

fn cell(row: &AnyRow, at: usize) -> String {
    let text = row.try_get::<Option<String>, _>(at).ok().flatten();
    let number = || row.try_get::<Option<i64>, _>(at).ok().flatten().map(|number| number.to_string());
    text.or_else(number).unwrap_or_default()
}
