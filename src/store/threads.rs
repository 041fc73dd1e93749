//! Threads: a row for each key, the key always as five columns. What a thread knows is in memory only (RES-03) and
//! never here.

use countersign_core::signal::{AccountId, ConversationId, Platform, SpaceId, ThreadKey, ThreadRoot};
use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, Row};

use super::StoreError;
use super::row::Stored;

/// Adds the row of a thread unless there is one. The id becomes the new row's.
pub(super) async fn add(tx: &mut AnyConnection, id: &str, key: &ThreadKey) -> Result<(), StoreError> {
    let sql = "INSERT INTO threads (id, platform, account, space, conversation, root) \
               VALUES ($1, $2, $3, $4, $5, $6) \
               ON CONFLICT (platform, account, space, conversation, root) DO NOTHING";
    bind_key(sqlx::query(sql).bind(id), key).execute(tx).await.map_err(StoreError::while_doing("adding a thread"))?;
    Ok(())
}

/// Takes the next place in a thread's order of outgoing messages; adds the thread's row where there is none. Returns
/// the row's id and the place. On Postgres the row stays locked until the transaction ends, so that two transactions
/// cannot take the same place.
pub(super) async fn take_place(tx: &mut AnyConnection, id: &str, key: &ThreadKey) -> Result<(String, i64), StoreError> {
    let sql = "INSERT INTO threads (id, platform, account, space, conversation, root, posts) \
               VALUES ($1, $2, $3, $4, $5, $6, 1) \
               ON CONFLICT (platform, account, space, conversation, root) DO UPDATE SET posts = threads.posts + 1 \
               RETURNING id, posts";
    let failed = StoreError::while_doing("taking a place in a thread");
    let row = bind_key(sqlx::query(sql).bind(id), key).fetch_one(tx).await.map_err(failed)?;
    let row = Stored::new("threads", &row);
    Ok((row.id().to_owned(), row.number("posts")?))
}

/// Binds the five columns of a key, in the order in which every statement names them.
pub(super) fn bind_key<'q>(query: Query<'q, Any, AnyArguments>, key: &'q ThreadKey) -> Query<'q, Any, AnyArguments> {
    query
        .bind(key.platform.as_str())
        .bind(key.account.as_str())
        .bind(key.space.as_str())
        .bind(key.conversation.as_str())
        .bind(key.root.as_str())
}

/// Reads the five columns of a key.
pub(super) fn key(row: &Stored<'_>) -> Result<ThreadKey, StoreError> {
    Ok(ThreadKey {
        platform: Platform::new(row.text("platform")?),
        account: AccountId::new(row.text("account")?),
        space: SpaceId::new(row.text("space")?),
        conversation: ConversationId::new(row.text("conversation")?),
        root: ThreadRoot::new(row.text("root")?),
    })
}

/// How many there are, for [`super::Store::counts`].
pub(super) async fn count(connection: &mut AnyConnection) -> Result<u64, sqlx::Error> {
    let row = sqlx::query("SELECT COUNT(*) FROM threads").fetch_one(connection).await?;
    Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
}
