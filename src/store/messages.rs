//! What was delivered, by the platform's ids of every part: how an answer, a press or a reaction finds its way back to what
//! it is about. What it then means is decided elsewhere.

use countersign_core::approval::PlanId;
use countersign_core::signal::{EventId, ThreadKey};
use sqlx::any::AnyArguments;
use sqlx::any::AnyRow;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection};

use super::row::Stored;
use super::seal::Seals;
use super::{Store, StoreError, outbox, threads};

/// Every column of a message that is sealed, with its thread.
macro_rules! select_posts {
    ($rest:expr) => {
        concat!(
            "SELECT o.id, o.signal, o.lane, o.place, o.body, o.plan, o.seal, o.platform_ids, o.sent_seal, o.state, o.repeat, i.event, \
             t.platform, t.account, t.space, t.conversation, t.root ",
            $rest
        )
    };
}

/// A message of the outbox that somebody touched. Whether it ever left is not asked: who can touch it has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedPost {
    /// Its thread.
    pub thread: ThreadKey,
    /// The `Outgoing`, as JSON.
    pub body: String,
    /// The platform's ids of its parts, in order; none where it is not known to be out.
    pub parts: Vec<EventId>,
    /// True if an earlier attempt may have left a copy of which no id is known.
    pub is_repeat: bool,
}

/// One message that holds a plan's card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardPost {
    /// The outbox's row.
    pub id: String,
    /// Whether it has not left and still may.
    pub open: bool,
    /// Its parts, in order; none where it is not out.
    pub parts: Vec<EventId>,
}

impl Store {
    /// The thread of a message, ours or one that was heard, by the platform's id of it: only where it is in the same
    /// conversation as `near`. Reads.
    pub async fn thread_of_message(&self, near: &ThreadKey, event: &EventId) -> Result<Option<ThreadKey>, StoreError> {
        const OURS: &str = "SELECT t.id, t.platform, t.account, t.space, t.conversation, t.root FROM messages AS m \
             JOIN outbox AS o ON o.id = m.post JOIN threads AS t ON t.id = o.thread \
             WHERE m.platform = $1 AND m.account = $2 AND m.event = $3 AND t.conversation = $4";
        const HEARD: &str = "SELECT t.id, t.platform, t.account, t.space, t.conversation, t.root FROM inbox AS i \
             JOIN threads AS t ON t.id = i.thread \
             WHERE i.platform = $1 AND i.account = $2 AND i.event = $3 AND t.conversation = $4";
        for sql in [OURS, HEARD] {
            if let Some(row) = self.one_near(sqlx::query(sql), near, event.as_str()).await? {
                return threads::key(&Stored::new("threads", &row)).map(Some);
            }
        }
        Ok(None)
    }

    /// The message with this id, only where it is in the same conversation as `near`. Reads.
    pub async fn touched_post(&self, near: &ThreadKey, post: &str) -> Result<Option<TouchedPost>, StoreError> {
        let sql = select_posts!(
            "FROM outbox AS o JOIN threads AS t ON t.id = o.thread JOIN inbox AS i ON i.id = o.signal \
             WHERE t.platform = $1 AND t.account = $2 AND o.id = $3 AND t.conversation = $4"
        );
        let row = self.one_near(sqlx::query(sql), near, post).await?;
        row.as_ref().map(|row| touched(&Stored::new("outbox", row), &self.seals)).transpose()
    }

    /// The message of which this event is the last part, only where it is in the same conversation as `near`: who reacts to
    /// an earlier part may not have seen all of it. Reads.
    pub async fn touched_message(&self, near: &ThreadKey, event: &EventId) -> Result<Option<TouchedPost>, StoreError> {
        let sql = select_posts!(
            "FROM messages AS m JOIN outbox AS o ON o.id = m.post JOIN threads AS t ON t.id = o.thread \
             JOIN inbox AS i ON i.id = o.signal \
             WHERE m.platform = $1 AND m.account = $2 AND m.event = $3 AND t.conversation = $4"
        );
        let Some(row) = self.one_near(sqlx::query(sql), near, event.as_str()).await? else { return Ok(None) };
        let row = Stored::new("outbox", &row);
        // The table of parts only finds the message; what counts is sealed with it.
        let touched = touched(&row, &self.seals)?;
        Ok(Some(touched).filter(|touched| touched.parts.last() == Some(event)))
    }

    /// Every message that holds the card of a plan, oldest first. Reads.
    pub async fn card_posts(&self, plan: &PlanId) -> Result<Vec<CardPost>, StoreError> {
        let sql = "SELECT o.id, o.state, m.event FROM outbox AS o LEFT JOIN messages AS m ON m.post = o.id \
                   WHERE o.plan = $1 ORDER BY o.created_at, o.id, m.part";
        let rows = sqlx::query(sql).bind(plan.as_str()).fetch_all(&self.read).await;
        let mut posts: Vec<CardPost> = Vec::new();
        for row in &rows.map_err(StoreError::while_doing("looking for a card"))? {
            let row = Stored::new("outbox", row);
            if posts.last().is_none_or(|post| post.id != row.id()) {
                let open = matches!(row.text("state")?.as_str(), "pending" | "sending");
                posts.push(CardPost { id: row.id().to_owned(), open, parts: Vec::new() });
            }
            if let (Some(event), Some(post)) = (row.maybe_text("event")?, posts.last_mut()) {
                post.parts.push(EventId::new(event));
            }
        }
        Ok(posts)
    }

    async fn one_near(
        &self,
        query: Query<'_, Any, AnyArguments>,
        near: &ThreadKey,
        what: &str,
    ) -> Result<Option<AnyRow>, StoreError> {
        let query = query.bind(near.platform.as_str()).bind(near.account.as_str());
        let found = query.bind(what.to_owned()).bind(near.conversation.as_str()).fetch_optional(&self.read).await;
        found.map_err(StoreError::while_doing("looking for a message"))
    }
}

/// Writes down the parts of a message that is out. A part that is known already stays what it is.
pub(super) async fn write(tx: &mut AnyConnection, post: &str, parts: &[String]) -> Result<(), StoreError> {
    for (part, event) in (0_i64..).zip(parts) {
        let sql = "INSERT INTO messages (platform, account, event, post, part) \
                   SELECT t.platform, t.account, $2, o.id, $3 FROM outbox AS o JOIN threads AS t ON t.id = o.thread \
                   WHERE o.id = $1 ON CONFLICT (platform, account, event) DO NOTHING";
        let written = sqlx::query(sql).bind(post).bind(event).bind(part).execute(&mut *tx).await;
        written.map_err(StoreError::while_doing("writing down what was delivered"))?;
    }
    Ok(())
}

fn touched(row: &Stored<'_>, seals: &Seals) -> Result<TouchedPost, StoreError> {
    seals.check(&outbox::SEALED, row)?;
    let mut parts: Vec<String> = row.json("platform_ids")?;
    if row.text("state")? == "sent" {
        seals.check(&outbox::SENT, row)?;
    } else {
        // An earlier attempt's, if any.
        parts.clear();
    }
    let parts = parts.into_iter().map(EventId::new).collect();
    Ok(TouchedPost { thread: threads::key(row)?, body: row.text("body")?, parts, is_repeat: row.flag("repeat")? })
}
