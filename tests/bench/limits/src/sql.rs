//! One row of an audit trail, 350 bytes, in SQLite with a write-ahead log: what it costs to keep it, for each kind of
//! promise. OFF promises nothing, NORMAL survives a killed process, FULL a power cut.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use crate::report;

const INSERT: &str = "insert into audit (at, thread, actor, body) values (?, 't:1:2', 'u:3', ?)";

pub(crate) async fn measure(folder: &Path) -> anyhow::Result<()> {
    let kinds = [(SqliteSynchronous::Off, 3_000), (SqliteSynchronous::Normal, 3_000), (SqliteSynchronous::Full, 300)];
    for (promise, rows) in kinds {
        let path = folder.join(format!("limits-{}.db", std::process::id()));
        let pool = open(&path, promise).await?;
        insert_singly(&pool, promise, rows).await?;
        if promise == SqliteSynchronous::Normal {
            insert_together(&pool).await?;
            read(&pool, rows).await?;
        }
        pool.close().await;
        // Closing the last connection takes the log and the shared memory away.
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

async fn open(path: &Path, promise: SqliteSynchronous) -> anyhow::Result<SqlitePool> {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let options = options.journal_mode(SqliteJournalMode::Wal).synchronous(promise);
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    let table = "create table audit (id integer primary key, at integer, thread text, actor text, body text)";
    sqlx::query(table).execute(&pool).await?;
    Ok(pool)
}

async fn insert_singly(pool: &SqlitePool, promise: SqliteSynchronous, rows: i64) -> anyhow::Result<()> {
    let (body, mut took) = ("x".repeat(300), Vec::new());
    for at in 0..rows {
        let began = Instant::now();
        sqlx::query(INSERT).bind(at).bind(&body).execute(pool).await?;
        took.push(began.elapsed());
    }
    report(&format!("insert and commit, synchronous {promise:?}"), took);
    Ok(())
}

async fn insert_together(pool: &SqlitePool) -> anyhow::Result<()> {
    let (body, mut took) = ("x".repeat(300), Vec::new());
    for _ in 0..20 {
        let began = Instant::now();
        let mut transaction = pool.begin().await?;
        for at in 0..100_i64 {
            sqlx::query(INSERT).bind(at).bind(&body).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        took.push(began.elapsed() / 100);
    }
    report("insert in a transaction of 100, one row", took);
    Ok(())
}

async fn read(pool: &SqlitePool, rows: i64) -> anyhow::Result<()> {
    let mut took = Vec::new();
    for id in 1..=rows {
        let began = Instant::now();
        let body: (String,) = sqlx::query_as("select body from audit where id = ?").bind(id).fetch_one(pool).await?;
        black_box(body);
        took.push(began.elapsed());
    }
    report("read one row by its key", took);
    Ok(())
}
