//! The outbox: every message that is to leave, until it has left or never will. Order within a thread is kept here; how
//! a message is sent, and when again, is decided by the engine.

use countersign_core::approval::PlanId;
use countersign_core::port::Lane;
use countersign_core::signal::{EventId, SignalId, ThreadKey, Wall};
use sqlx::{AnyConnection, Row};

use super::dialect::Durability;
use super::line::Rank;
use super::row::Stored;
use super::seal::{SealedRows, Seals};
use super::{BrokenRow, Store, StoreError, messages, threads};

/// The seals of messages: text, destination, answered event, plan.
pub(super) const SEALED: SealedRows = SealedRows {
    kind: "message",
    table: "outbox",
    column: "seal",
    parts,
    select: "SELECT o.id, o.signal, o.lane, o.place, o.body, o.plan, o.seal, \
             i.event, t.platform, t.account, t.space, t.conversation, t.root \
             FROM outbox AS o JOIN threads AS t ON t.id = o.thread JOIN inbox AS i ON i.id = o.signal",
    set: "UPDATE outbox SET seal = $1 WHERE id = $2",
};

/// The seals of the platform ids of sent messages.
pub(super) const SENT: SealedRows = SealedRows {
    kind: "sent",
    table: "outbox",
    column: "sent_seal",
    parts: |row| Ok(vec![row.id().to_owned(), row.text("platform_ids")?]),
    select: "SELECT id, platform_ids, sent_seal FROM outbox WHERE state = 'sent'",
    set: "UPDATE outbox SET sent_seal = $1 WHERE id = $2",
};

fn parts(row: &Stored<'_>) -> Result<Vec<String>, StoreError> {
    let (lane, place) = (row.number("lane")?, row.number("place")?);
    let plan = row.maybe_text("plan")?.unwrap_or_default();
    let mut parts =
        vec![row.id().to_owned(), row.text("signal")?, lane.to_string(), place.to_string(), row.text("body")?, plan];
    for column in ["event", "platform", "account", "space", "conversation", "root"] {
        parts.push(row.text(column)?);
    }
    Ok(parts)
}

/// The messages that wait, and what is broken among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenPosts {
    /// The sound ones, in the order in which those of a thread leave.
    pub sound: Vec<StoredPost>,
    /// Rows that are not what was written. They never leave.
    pub broken: Vec<BrokenRow>,
}

/// A message to be stored. `(signal, n)` names it for good: a step that is committed again leaves it as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPost {
    /// The row's id, made by the caller.
    pub id: String,
    /// Which message of its signal, from 0.
    pub n: u32,
    /// Where to.
    pub to: ThreadKey,
    /// When it leaves.
    pub lane: Lane,
    /// The `Outgoing`, as JSON.
    pub body: String,
    /// The plan whose card it holds, where it holds one.
    pub plan: Option<PlanId>,
}

/// A message to be sent. Not cleared: it leaves only through `gate::reissue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPost {
    /// The row's id.
    pub id: String,
    /// What it answers.
    pub signal: SignalId,
    /// Where to.
    pub to: ThreadKey,
    /// When it leaves.
    pub lane: Lane,
    /// The `Outgoing`, as JSON.
    pub body: String,
    /// How often sending it was begun.
    pub attempts: u32,
    /// An earlier attempt may have come through, and the message must say so.
    pub repeat: bool,
    /// Its place among the messages of its thread; of one lane the smaller leaves first.
    pub place: i64,
    /// It does not leave before this time.
    pub not_before: Wall,
    /// When it was written.
    pub created_at: Wall,
    /// The plan whose card it holds, where it holds one.
    pub plan: Option<PlanId>,
    /// The event that it answers, as the platform named it; of the engine's own signals, too.
    pub event: EventId,
}

/// How an attempt at sending ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It is out.
    Sent {
        /// The platform's ids of its parts, in order.
        platform_ids: Vec<String>,
    },
    /// It is tried again.
    Again {
        /// Not before this time.
        not_before: Wall,
        /// This attempt may have come through. Once set, it stays set.
        repeat: bool,
        /// Why it did not work.
        error: String,
    },
    /// It never will be out.
    Failed {
        /// Why not.
        error: String,
    },
}

impl Store {
    /// Has every message been written, and asked to wait, so long ago.
    #[cfg(test)]
    pub(crate) async fn age_messages(&self, ms: i64) {
        let aged = sqlx::query("UPDATE outbox SET created_at = created_at - $1, not_before = not_before - $1").bind(ms);
        aged.execute(&self.write).await.expect("the database can be written");
    }

    /// Every message that waits, in the order in which those of a thread leave: what the way out begins with. The state is
    /// said twice, so that both engines see that their index `outbox_open` is enough. Reads.
    pub async fn open_posts(&self) -> Result<OpenPosts, StoreError> {
        let sql = "SELECT o.id, o.seal, o.signal, o.lane, o.place, o.not_before, o.created_at, o.body, o.attempts, o.repeat, o.plan, i.event, \
                   t.platform, t.account, t.space, t.conversation, t.root \
                   FROM outbox AS o JOIN threads AS t ON t.id = o.thread JOIN inbox AS i ON i.id = o.signal \
                   WHERE o.state IN ('pending', 'sending') AND o.state = 'pending' \
                   ORDER BY o.lane, o.place, o.created_at, o.id";
        let rows = sqlx::query(sql).fetch_all(&self.read).await;
        let mut open = OpenPosts::default();
        for row in &rows.map_err(StoreError::while_doing("reading the outbox"))? {
            let row = Stored::new("outbox", row);
            match stored_post(&row).and_then(|sound| self.seals.check(&SEALED, &row).map(|()| sound)) {
                Ok(sound) => open.sound.push(sound),
                Err(problem) => open.broken.push(BrokenRow::of(&row, &problem)),
            }
        }
        Ok(open)
    }

    /// Records that a message that is not being sent never will be out, with why. Writes, one commit.
    pub async fn give_up(&self, id: &str, error: &str, at: Wall) -> Result<(), StoreError> {
        let sql = "UPDATE outbox SET state = 'failed', settled_at = $2, error = $3 WHERE id = $1 AND state = 'pending'";
        let query = sqlx::query(sql).bind(id).bind(at.0).bind(storable(error));
        self.write_one(Rank::Work, query, "giving a message up").await.map(drop)
    }

    /// Claims a message for sending. True for exactly one caller. Writes, one commit: from here on a crash leaves open
    /// whether it is out.
    pub async fn sending(&self, id: &str) -> Result<bool, StoreError> {
        let sql = "UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE id = $1 AND state = 'pending'";
        Ok(self.write_one(Rank::Delivery, sqlx::query(sql).bind(id), "claiming a message").await? == 1)
    }

    /// Records how the claimed attempt ended, at `at`, and of what is out the platform's ids. Writes, one commit.
    pub async fn settle(&self, id: &str, settled: &Settled, at: Wall) -> Result<(), StoreError> {
        let query = match settled {
            Settled::Sent { platform_ids } => {
                let ids = serde_json::to_string(platform_ids).expect("invariant: a list of texts is JSON");
                let sql = "UPDATE outbox SET state = 'sent', settled_at = $2, platform_ids = $3, sent_seal = $4 \
                           WHERE id = $1 AND state = 'sending'";
                let seal = self.seals.over(&SENT, &[id.to_owned(), ids.clone()]);
                sqlx::query(sql).bind(id).bind(at.0).bind(ids).bind(seal)
            }
            Settled::Again { not_before, repeat, error } => {
                let sql = "UPDATE outbox SET state = 'pending', settled_at = $2, error = $3, not_before = $4, \
                           repeat = CASE WHEN $5 = 1 THEN 1 ELSE repeat END WHERE id = $1 AND state = 'sending'";
                let query = sqlx::query(sql).bind(id).bind(at.0).bind(storable(error));
                query.bind(not_before.0).bind(i64::from(*repeat))
            }
            Settled::Failed { error } => {
                let sql = "UPDATE outbox SET state = 'failed', settled_at = $2, error = $3 \
                           WHERE id = $1 AND state = 'sending'";
                sqlx::query(sql).bind(id).bind(at.0).bind(storable(error))
            }
        };
        let doing = "settling a message";
        let mut tx = self.begin_ranked(Rank::Delivery, Durability::Normal).await?;
        let changed = query.execute(&mut *tx).await.map_err(StoreError::while_doing(doing))?.rows_affected();
        if let (1, Settled::Sent { platform_ids }) = (changed, settled) {
            messages::write(&mut tx, id, platform_ids).await?;
        }
        tx.commit().await.map_err(StoreError::while_doing(doing))?;
        if changed == 1 { Ok(()) } else { Err(StoreError::NotSending(id.to_owned())) }
    }

    /// At start: what was being sent when the process ended may be out or not, so that it is sent again, marked as a
    /// repeat. Returns how many those are. Writes, one commit.
    pub async fn recover(&self, now: Wall) -> Result<u64, StoreError> {
        // The state said twice, as in `open_posts`: a start must not read through everything that was ever sent.
        let sql = "UPDATE outbox SET state = 'pending', repeat = 1, not_before = $1 \
                   WHERE state IN ('pending', 'sending') AND state = 'sending'";
        self.write_one(Rank::Work, sqlx::query(sql).bind(now.0), "recovering the outbox").await
    }

    /// Every signal whose request has ended and whose messages are not all out: what an earlier process still owes. Reads.
    pub async fn owing(&self) -> Result<Vec<SignalId>, StoreError> {
        let sql = "SELECT DISTINCT outbox.signal FROM outbox JOIN inbox ON inbox.id = outbox.signal \
                   WHERE outbox.state IN ('pending', 'sending') AND inbox.state = 'done'";
        let rows = sqlx::query(sql).fetch_all(&self.read).await;
        let owing =
            rows.and_then(|rows| rows.iter().map(|row| row.try_get::<String, _>(0).map(SignalId::new)).collect());
        owing.map_err(StoreError::while_doing("reading what is owed"))
    }
}

/// Stores a step's messages; returns how many are new. Threads are taken in the order of their keys, so that two transactions never wait for each
/// other in a ring.
pub(super) async fn write(
    tx: &mut AnyConnection,
    seals: &Seals,
    answered: (&SignalId, &str),
    posts: &[NewPost],
    at: Wall,
) -> Result<u64, StoreError> {
    let mut ordered: Vec<&NewPost> = posts.iter().collect();
    ordered.sort_by(|a, b| (&a.to, a.n).cmp(&(&b.to, b.n)));
    let mut new = 0;
    for post in ordered {
        new += insert(tx, seals, answered, post, at).await?;
    }
    Ok(new)
}

/// How many there are in each state, for [`Store::counts`]: pending, sending, sent, failed.
pub(super) async fn count(connection: &mut AnyConnection) -> Result<[u64; 4], sqlx::Error> {
    let sql = "SELECT COUNT(CASE WHEN state = 'pending' THEN 1 END), COUNT(CASE WHEN state = 'sending' THEN 1 END), \
               COUNT(CASE WHEN state = 'sent' THEN 1 END), COUNT(CASE WHEN state = 'failed' THEN 1 END) FROM outbox";
    let row = sqlx::query(sql).fetch_one(connection).await?;
    let at = |column: usize| row.try_get::<i64, _>(column).map(i64::unsigned_abs);
    Ok([at(0)?, at(1)?, at(2)?, at(3)?])
}

/// Postgres refuses the character NUL in a text, and an error's text comes from outside.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

async fn insert(
    tx: &mut AnyConnection,
    seals: &Seals,
    (signal, event): (&SignalId, &str),
    post: &NewPost,
    at: Wall,
) -> Result<u64, StoreError> {
    // A message that is there already leaves a gap in the thread's places, which does no harm.
    let (thread, place) = threads::take_place(tx, &post.id, &post.to).await?;
    let sql = "INSERT INTO outbox (id, signal, n, thread, place, lane, body, created_at, not_before, \
               plan, seal, state, attempts, repeat, platform_ids, error) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, 'pending', 0, 0, '[]', '') \
               ON CONFLICT (signal, n) DO NOTHING";
    let query = sqlx::query(sql).bind(&post.id).bind(signal.as_str()).bind(i64::from(post.n)).bind(thread);
    let query = query.bind(place).bind(lane_number(post.lane)).bind(&post.body).bind(at.0);
    let plan = post.plan.as_ref().map(PlanId::as_str);
    let ThreadKey { platform, account, space, conversation, root } = &post.to;
    let parts = [
        &post.id,
        signal.as_str(),
        &lane_number(post.lane).to_string(),
        &place.to_string(),
        &post.body,
        plan.unwrap_or_default(),
        event,
        platform.as_str(),
        account.as_str(),
        space.as_str(),
        conversation.as_str(),
        root.as_str(),
    ];
    let query = query.bind(plan).bind(seals.over(&SEALED, &parts.map(str::to_owned)));
    Ok(query.execute(tx).await.map_err(StoreError::while_doing("storing a message"))?.rows_affected())
}

const fn lane_number(lane: Lane) -> i64 {
    match lane {
        Lane::Decision => 0,
        // Nothing of progress is stored as a message of its own.
        Lane::Answer | Lane::Progress => 1,
    }
}

fn stored_post(row: &Stored<'_>) -> Result<StoredPost, StoreError> {
    let lane = match row.number("lane")? {
        0 => Lane::Decision,
        1 => Lane::Answer,
        other => return Err(row.wrong("lane", format!("there is no lane {other}"))),
    };
    Ok(StoredPost {
        id: row.id().to_owned(),
        signal: SignalId::new(row.text("signal")?),
        to: threads::key(row)?,
        lane,
        body: row.text("body")?,
        attempts: row.count("attempts")?,
        repeat: row.flag("repeat")?,
        place: row.number("place")?,
        not_before: Wall(row.number("not_before")?),
        created_at: Wall(row.number("created_at")?),
        plan: plan(row)?,
        event: EventId::new(row.text("event")?),
    })
}

fn plan(row: &Stored<'_>) -> Result<Option<PlanId>, StoreError> {
    let plan = |id: String| PlanId::parse(&id).ok_or_else(|| row.wrong("plan", format!("{id} is no plan's id")));
    row.maybe_text("plan")?.map(plan).transpose()
}
