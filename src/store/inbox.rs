//! The inbox: every signal that was accepted, until its request has ended. Unique on (platform, account, event), which
//! is where duplicates end (CARD-08). What a signal means is decided elsewhere.

use countersign_core::signal::{EventId, Platform, Signal, SignalId, ThreadKey, Wall};
use sqlx::{AnyConnection, Row};

use super::dialect::Durability;
use super::line::Rank;
use super::row::Stored;
use super::seal::{SealWriter, SealedRows};
use super::sums::Check;
use super::{BrokenRow, Store, StoreError, threads};

/// The seals of the signals whose request has not ended.
pub(super) const SEALED: SealedRows = SealedRows {
    kind: "signal",
    table: "inbox",
    column: "seal",
    parts,
    select: "SELECT id, event, body, received_at, seal FROM inbox WHERE state <> 'done'",
    set: "UPDATE inbox SET seal = $1 WHERE id = $2",
};

fn parts(row: &Stored<'_>) -> Result<Vec<String>, StoreError> {
    Ok(vec![row.id().to_owned(), row.text("event")?, row.text("body")?, row.number("received_at")?.to_string()])
}

/// The signals whose request has not ended, and what is broken among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnfinishedSignals {
    /// The sound ones, oldest first.
    pub sound: Vec<Unfinished>,
    /// Rows that are not what was accepted. They are not worked on.
    pub broken: Vec<BrokenRow>,
}

/// A signal whose request has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// As it was accepted.
    pub signal: Signal,
    /// How often it was begun.
    pub attempts: u32,
    /// How often the process ended while this was worked on.
    pub interruptions: u32,
    /// Whether it was set aside for that: it is not worked on again.
    pub is_set_aside: bool,
}

/// A signal that was set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    /// When it was set aside.
    pub at: Wall,
    /// The number of times that the process ended while it worked on the signal.
    pub interruptions: u32,
    /// The signal as it is kept.
    pub signal: Signal,
}

/// How a request ended. It ends once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its answer, which may be a refusal.
    Answered,
    /// With the notice that it was interrupted.
    Interrupted,
    /// With the notice that it failed.
    Failed,
}

impl Ending {
    /// The stable name, as it is stored.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

impl Store {
    /// Stores a signal that waits for its thread, and the thread where it is the first one of it; the thread's row then
    /// gets the signal's id. True: it is new, and committed. False: an event with this id was stored before, and nothing
    /// changed. Writes, one commit.
    pub async fn accept(&self, signal: &Signal) -> Result<bool, StoreError> {
        self.insert(signal, "accepted").await
    }

    /// Stores a signal like [`Store::accept`], as one that its thread begins at once: [`Store::begin`] and its commit are
    /// not needed. Writes, one commit.
    pub async fn accept_begun(&self, signal: &Signal) -> Result<bool, StoreError> {
        self.insert(signal, "begun").await
    }

    async fn insert(&self, signal: &Signal, state: &'static str) -> Result<bool, StoreError> {
        let mut tx = self.of(&signal.thread).begin_ranked(Rank::Intake, Durability::Normal).await?;
        let mut seals = SealWriter::new(&self.seals);
        // Most threads are known.
        let mut is_new = insert(&mut tx, &mut seals, signal, state).await?;
        if !is_new {
            threads::add(&mut tx, signal.id.as_str(), &signal.thread).await?;
            is_new = insert(&mut tx, &mut seals, signal, state).await?;
        }
        if !is_new {
            tx.rollback().await.map_err(StoreError::while_doing("dropping a duplicate signal"))?;
            return Ok(false);
        }
        self.commit_sealed(tx, seals, (Durability::Normal, Check::Newest), "storing a signal").await?;
        Ok(true)
    }

    /// Whether an event with this id was stored. Reads.
    pub async fn is_known(&self, signal: &Signal) -> Result<bool, StoreError> {
        let sql = "SELECT id FROM inbox WHERE platform = $1 AND account = $2 AND event = $3";
        let known = sqlx::query(sql).bind(signal.thread.platform.as_str()).bind(signal.thread.account.as_str());
        let known = known.bind(signal.event.as_str()).fetch_optional(&self.read).await;
        Ok(known.map_err(StoreError::while_doing("looking for a message"))?.is_some())
    }

    /// Marks a signal as begun, counts the attempt, and returns how many there were. Writes, one commit: the mark must be
    /// stored before the attempt, because the attempt may end the process.
    pub async fn begin(&self, signal: &SignalId) -> Result<u32, StoreError> {
        let sql = "UPDATE inbox SET state = 'begun', attempts = attempts + 1 WHERE id = $1 AND state <> 'done' \
                   RETURNING id, attempts";
        let mut tx = self.begin_write(Durability::Normal).await?;
        // Fetched to the end: SQLite makes such a change only when the statement has been run to its end.
        let rows = sqlx::query(sql).bind(signal.as_str()).fetch_all(&mut *tx).await;
        let rows = rows.map_err(StoreError::while_doing("beginning a signal"))?;
        tx.commit().await.map_err(StoreError::while_doing("beginning a signal"))?;
        match rows.first() {
            Some(row) => Stored::new("inbox", row).count("attempts"),
            None => Err(self.why_not_open(signal).await?),
        }
    }

    /// Counts the end of an earlier process for every signal that it had begun and not ended, and sets aside each for which
    /// that makes `most` or more. Called at a start, before anything is begun. Writes, one commit.
    pub async fn count_interruptions(&self, most: u32, at: Wall) -> Result<(), StoreError> {
        let doing = "counting what was interrupted";
        let mut tx = self.begin_write(Durability::Normal).await?;
        let counted = sqlx::query(
            "UPDATE inbox SET state = 'accepted', interruptions = interruptions + 1 \
             WHERE state <> 'done' AND state = 'begun'",
        );
        counted.execute(&mut *tx).await.map_err(StoreError::while_doing(doing))?;
        let set_aside = sqlx::query(
            "UPDATE inbox SET set_aside_at = $1 \
             WHERE state <> 'done' AND interruptions >= $2 AND set_aside_at IS NULL",
        );
        let set_aside = set_aside.bind(at.0).bind(i64::from(most)).execute(&mut *tx).await;
        set_aside.map_err(StoreError::while_doing(doing))?;
        tx.commit().await.map_err(StoreError::while_doing(doing))
    }

    /// Takes the mark off every signal that was begun and has not ended: the process ends because it was asked to, and no
    /// signal has ended it. Writes, one commit.
    pub async fn put_back_begun(&self) -> Result<(), StoreError> {
        let put_back = sqlx::query("UPDATE inbox SET state = 'accepted' WHERE state <> 'done' AND state = 'begun'");
        self.write_one(Rank::Work, put_back, "putting back what was begun").await.map(drop)
    }

    /// When signals were set aside, from `since` on. Reads.
    pub async fn set_aside_since(&self, since: Wall) -> Result<Vec<Wall>, StoreError> {
        let sql = "SELECT set_aside_at FROM inbox WHERE set_aside_at IS NOT NULL AND set_aside_at >= $1";
        let found = sqlx::query_scalar::<_, i64>(sql).bind(since.0).fetch_all(&self.read).await;
        let found = found.map_err(StoreError::while_doing("looking for what was set aside"))?;
        Ok(found.into_iter().map(Wall).collect())
    }

    /// Every signal that was set aside, newest first. Reads.
    pub async fn parked(&self) -> Result<Vec<Parked>, StoreError> {
        let sql = "SELECT id, body, interruptions, set_aside_at FROM inbox WHERE set_aside_at IS NOT NULL \
                   ORDER BY set_aside_at DESC, id DESC";
        let rows = sqlx::query(sql).fetch_all(&self.read).await;
        let rows = rows.map_err(StoreError::while_doing("reading what was set aside"))?;
        let parked = |row| {
            let row = Stored::new("inbox", row);
            let (at, interruptions) = (Wall(row.number("set_aside_at")?), row.count("interruptions")?);
            Ok(Parked { at, interruptions, signal: row.json("body")? })
        };
        rows.iter().map(parked).collect()
    }

    /// Every signal whose request has not ended. Reads.
    pub async fn unfinished(&self) -> Result<UnfinishedSignals, StoreError> {
        let sql = "SELECT id, event, body, received_at, seal, attempts, interruptions, set_aside_at FROM inbox \
                   WHERE state <> 'done' ORDER BY received_at, id";
        let rows = sqlx::query(sql).fetch_all(&self.read).await;
        let mut signals = UnfinishedSignals::default();
        for row in &rows.map_err(StoreError::while_doing("reading the inbox"))? {
            let row = Stored::new("inbox", row);
            match unfinished(&row).and_then(|sound| self.seals.check(&SEALED, &row).map(|()| sound)) {
                Ok(sound) => signals.sound.push(sound),
                Err(problem) => signals.broken.push(BrokenRow::of(&row, &problem)),
            }
        }
        Ok(signals)
    }

    /// The thread of an accepted message, by the platform's id of its event, as long as something can still be taken back there:
    /// it is being worked on, or a plan waits. Else none, and also where the message was said in another conversation than the
    /// one at hand: ids of messages are not secret, and nothing is taken back from outside. Reads.
    pub async fn thread_of_event(&self, near: &ThreadKey, event: &EventId) -> Result<Option<ThreadKey>, StoreError> {
        let sql = "SELECT t.id, t.platform, t.account, t.space, t.conversation, t.root \
                   FROM inbox AS i JOIN threads AS t ON t.id = i.thread \
                   WHERE i.platform = $1 AND i.account = $2 AND i.event = $3 AND t.conversation = $4 \
                   AND (i.state <> 'done' OR EXISTS (SELECT 1 FROM plans AS p WHERE p.thread = i.thread \
                   AND p.state IN ('pending', 'approved')))";
        let query = sqlx::query(sql).bind(near.platform.as_str()).bind(near.account.as_str()).bind(event.as_str());
        let found = query.bind(near.conversation.as_str()).fetch_optional(&self.read).await;
        let found = found.map_err(StoreError::while_doing("looking for a message"))?;
        found.as_ref().map(|row| threads::key(&Stored::new("threads", row))).transpose()
    }

    /// The events that were accepted on a platform in threads in which a request or a plan is open, newest first, at most a
    /// thousand. Reads.
    pub async fn events_of_open_work(&self, platform: &Platform) -> Result<Vec<EventId>, StoreError> {
        let sql = "SELECT i.id, i.event FROM inbox AS i WHERE i.platform = $1 AND (\
                   EXISTS (SELECT 1 FROM inbox AS o WHERE o.thread = i.thread AND o.state <> 'done') \
                   OR EXISTS (SELECT 1 FROM plans AS p WHERE p.thread = i.thread AND p.state IN ('pending', 'approved'))) \
                   ORDER BY i.received_at DESC, i.id DESC LIMIT 1000";
        let rows = sqlx::query(sql).bind(platform.as_str()).fetch_all(&self.read).await;
        let rows = rows.map_err(StoreError::while_doing("looking for open work"))?;
        rows.iter().map(|row| Stored::new("inbox", row).text("event").map(EventId::new)).collect()
    }

    async fn why_not_open(&self, signal: &SignalId) -> Result<StoreError, StoreError> {
        let known = sqlx::query("SELECT id FROM inbox WHERE id = $1").bind(signal.as_str());
        let known = known.fetch_optional(&self.read).await.map_err(StoreError::while_doing("reading the inbox"))?;
        Ok(match known {
            Some(_) => StoreError::Ended(signal.clone()),
            None => StoreError::UnknownSignal(signal.clone()),
        })
    }
}

/// The id of a signal's thread, and its event.
pub(super) async fn thread_of(tx: &mut AnyConnection, signal: &SignalId) -> Result<(String, String), StoreError> {
    let found = sqlx::query("SELECT id, thread, event FROM inbox WHERE id = $1").bind(signal.as_str());
    match found.fetch_optional(tx).await.map_err(StoreError::while_doing("finding a signal's thread"))? {
        Some(row) => {
            let row = Stored::new("inbox", &row);
            Ok((row.text("thread")?, row.text("event")?))
        }
        None => Err(StoreError::UnknownSignal(signal.clone())),
    }
}

/// Ends a signal's request, and replaces what was heard by what is kept of it. True: it ends now. False: it has this very
/// ending already, of this very time. Any other ending is refused.
pub(super) async fn end(
    tx: &mut AnyConnection,
    seals: &mut SealWriter<'_>,
    signal: &SignalId,
    (ending, at): (Ending, Wall),
    kept: Option<&str>,
) -> Result<bool, StoreError> {
    // A row without a seal is not taken up again, even if its state is changed back. A parked signal keeps its words.
    let sql = "UPDATE inbox SET state = 'done', ending = $2, ended_at = $3, seal = '', \
               body = CASE WHEN set_aside_at IS NULL THEN COALESCE($4, body) ELSE body END \
               WHERE id = $1 AND state <> 'done'";
    let before = "SELECT id, event, body, received_at, seal FROM inbox WHERE id = $1 AND state <> 'done'";
    let before = sqlx::query(before).bind(signal.as_str()).fetch_optional(&mut *tx).await;
    let before = before.map_err(StoreError::while_doing("ending a request"))?;
    let ended =
        sqlx::query(sql).bind(signal.as_str()).bind(ending.as_str()).bind(at.0).bind(kept).execute(&mut *tx).await;
    if ended.map_err(StoreError::while_doing("ending a request"))?.rows_affected() == 1 {
        if let Some(row) = &before {
            seals.replace(&SEALED, &Stored::new("inbox", row), String::new())?;
        }
        return Ok(true);
    }
    let sql = "SELECT COUNT(*) FROM inbox WHERE id = $1 AND ending = $2 AND ended_at = $3";
    let same = sqlx::query(sql).bind(signal.as_str()).bind(ending.as_str()).bind(at.0).fetch_one(tx).await;
    let same = same.and_then(|row| row.try_get::<i64, _>(0)).map_err(StoreError::while_doing("ending a request"))?;
    if same == 1 { Ok(false) } else { Err(StoreError::Ended(signal.clone())) }
}

/// How many have not ended and how many have, for [`Store::counts`].
pub(super) async fn count(connection: &mut AnyConnection) -> Result<(u64, u64), sqlx::Error> {
    let sql = "SELECT COUNT(*), COUNT(ending) FROM inbox";
    let row = sqlx::query(sql).fetch_one(connection).await?;
    let (all, done) = (row.try_get::<i64, _>(0)?.unsigned_abs(), row.try_get::<i64, _>(1)?.unsigned_abs());
    Ok((all - done, done))
}

async fn insert(
    tx: &mut AnyConnection,
    seals: &mut SealWriter<'_>,
    signal: &Signal,
    state: &'static str,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO inbox (id, event, body, received_at, thread, platform, account, state, attempts, seal) \
               SELECT $1, $2, $3, $4, id, platform, account, $10, 0, $11 FROM threads \
               WHERE platform = $5 AND account = $6 AND space = $7 AND conversation = $8 AND root = $9 \
               ON CONFLICT (platform, account, event) DO NOTHING";
    let body = serde_json::to_string(signal).expect("invariant: a signal has text keys only, so that it is JSON");
    let parts = [signal.id.to_string(), signal.event.to_string(), body.clone(), signal.received_at.0.to_string()];
    let query =
        sqlx::query(sql).bind(signal.id.as_str()).bind(signal.event.as_str()).bind(body).bind(signal.received_at.0);
    let seal = seals.over(&SEALED, &parts);
    let query = threads::bind_key(query, &signal.thread).bind(state).bind(&seal);
    let inserted = query.execute(tx).await.map_err(StoreError::while_doing("storing a signal"))?;
    let is_new = inserted.rows_affected() == 1;
    if is_new {
        seals.change(&SEALED, String::new(), seal);
    }
    Ok(is_new)
}

fn unfinished(row: &Stored<'_>) -> Result<Unfinished, StoreError> {
    let signal: Signal = row.json("body")?;
    if signal.id.as_str() != row.id() {
        return Err(row.wrong("body", format!("it is the body of signal {}", signal.id)));
    }
    Ok(Unfinished {
        signal,
        attempts: row.count("attempts")?,
        interruptions: row.count("interruptions")?,
        is_set_aside: row.maybe_number("set_aside_at")?.is_some(),
    })
}
