//! A transaction, and what becomes of its connection: given back only after an ending that worked. Every transaction of
//! the store is one of these. Which statement begins it is in `dialect.rs`; no other SQL.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, Executor};

use super::line::Turn;

/// An open transaction. Dropped before its end it is undone, and its connection is closed: after a failure nobody knows in
/// what state that is (a full disk makes `SQLite` roll back by itself, so that the ROLLBACK which follows fails), and the
/// only connection that writes must not stay like that. Not sqlx's own `Transaction`, which gives such a connection back.
pub(super) struct Open {
    connection: Option<PoolConnection<Any>>,
    /// Others have theirs when this has ended.
    _turn: Option<Turn>,
}

impl Open {
    /// Takes a connection and begins with this statement. Whoever writes has a turn.
    pub(super) async fn begin(pool: &AnyPool, begin: &'static str, turn: Option<Turn>) -> Result<Self, sqlx::Error> {
        let mut open = Self { connection: Some(pool.acquire().await?), _turn: turn };
        open.execute(begin).await?;
        Ok(open)
    }

    /// Makes the changes. After an error it is not known whether they are made.
    pub(super) async fn commit(self) -> Result<(), sqlx::Error> {
        self.end("COMMIT").await
    }

    /// Undoes the changes.
    pub(super) async fn rollback(self) -> Result<(), sqlx::Error> {
        self.end("ROLLBACK").await
    }

    async fn end(mut self, end: &'static str) -> Result<(), sqlx::Error> {
        self.execute(end).await?;
        // Sound: back to the pool. Until here whoever stops waiting, too, has it closed.
        drop(self.connection.take());
        Ok(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(mut connection) = self.connection.take() {
            connection.close_on_drop();
        }
    }
}

impl Deref for Open {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        self.connection.as_deref().expect("invariant: the connection is there until the end")
    }
}

impl DerefMut for Open {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        self.connection.as_deref_mut().expect("invariant: the connection is there until the end")
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use countersign_core::signal::Payload;
    use countersign_core::testkit::signal;

    use crate::store::{Sealing, Store, StoreError, sqlite_url};

    /// More than fits into the pages that are there.
    async fn accept_much(store: &Store, id: &str) -> Result<bool, StoreError> {
        let mut much = signal(id, "ann", "");
        much.payload = Payload::Text { text: "x".repeat(100_000) };
        store.accept(&much).await
    }

    #[tokio::test]
    async fn a_writer_that_found_no_room_is_not_used_again() {
        let directory = tempfile::tempdir().expect("a folder for the test");
        let url = sqlite_url(&directory.path().join("full.db")).expect("a plain path");
        let store = Store::open(&url, &Sealing::unguarded()).await.expect("a database");
        for n in 0..3 {
            // Of the one connection that writes: no page more than there are.
            sqlx::query("PRAGMA max_page_count = 1").execute(&store.write).await.expect("the writer takes it");
            let error = accept_much(&store, &format!("full-{n}")).await.expect_err("there is no room");
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            assert!(why.contains("database or disk is full"), "{error}: {why}");
            assert!(accept_much(&store, &format!("room-{n}")).await.expect("the next one finds room"));
        }
        assert_eq!(store.counts().await.expect("countable").open, 3);
        store.close().await;
    }
}
