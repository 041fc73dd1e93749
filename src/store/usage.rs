//! Tokens and cost: a row for each turn that used some, and a day's sums by who pays. What may be used is decided in the
//! core.

use countersign_core::signal::{ActorId, ConversationId, Ground, Platform, SpaceId, Wall};
use countersign_core::usage::{Book, Day, Payer, Spend, Usage};
use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection};

use super::outbox::storable;
use super::row::Stored;
use super::{Store, StoreError};

/// One use to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUse {
    /// Made by the caller; unique to this turn, so that the same step committed again is known.
    pub id: String,
    /// What was used, and who pays.
    pub spend: Spend,
}

impl Store {
    /// What everybody has used on this day. Reads.
    pub async fn used_on(&self, day: Day) -> Result<Book, StoreError> {
        let sql = "SELECT payer AS id, platform, space, who, ground, tokens_in, tokens_out, cost_micros \
                   FROM usage_days WHERE day = $1";
        let rows = sqlx::query(sql).bind(day.0).fetch_all(&self.read).await;
        let mut book = Book::new(day);
        for row in &rows.map_err(StoreError::while_doing("reading what was used"))? {
            let row = Stored::new("usage_days", row);
            book.add(payer(&row)?, ground(&row)?, usage(&row)?);
        }
        Ok(book)
    }
}

/// Stores a step's uses, each once, and adds it to the day's sums of everybody who pays. Returns how many were new.
pub(super) async fn write(tx: &mut AnyConnection, thread: &str, uses: &[NewUse], at: Wall) -> Result<u64, StoreError> {
    let mut new = 0;
    for one in uses {
        let sql = "INSERT INTO usage_turns (tokens_in, tokens_out, cost_micros, ground, origin, id, signal, thread, at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING";
        let query = measured(sqlx::query(sql), &one.spend);
        let query = query.bind(storable(&one.id)).bind(one.spend.signal.as_str()).bind(thread).bind(at.0);
        let stored = query.execute(&mut *tx).await.map_err(StoreError::while_doing("storing what was used"))?;
        if stored.rows_affected() == 1 {
            new += 1;
            // Always person, room, team: two writers that took their rows in another order would wait for each other.
            for payer in &one.spend.payers {
                raise(tx, payer, &one.spend).await?;
            }
        }
    }
    Ok(new)
}

async fn raise(tx: &mut AnyConnection, payer: &Payer, spend: &Spend) -> Result<(), StoreError> {
    let sql = "INSERT INTO usage_days \
               (tokens_in, tokens_out, cost_micros, ground, origin, day, payer, platform, space, who) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
               ON CONFLICT (day, payer, platform, space, who, ground, origin) DO UPDATE SET \
               tokens_in = usage_days.tokens_in + excluded.tokens_in, \
               tokens_out = usage_days.tokens_out + excluded.tokens_out, \
               cost_micros = usage_days.cost_micros + excluded.cost_micros";
    let query = measured(sqlx::query(sql), spend).bind(spend.day.0);
    let raised = columns(payer).into_iter().fold(query, Query::bind).execute(tx).await;
    raised.map(drop).map_err(StoreError::while_doing("adding up what was used"))
}

/// Binds how much and of which kind: the first five of both statements.
fn measured<'q>(query: Query<'q, Any, AnyArguments>, spend: &Spend) -> Query<'q, Any, AnyArguments> {
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let Usage { tokens_in, tokens_out, cost_micros } = spend.usage;
    let query = query.bind(number(tokens_in)).bind(number(tokens_out)).bind(number(cost_micros));
    query.bind(ground_name(spend.ground)).bind(spend.by.as_str())
}

/// Payer, platform, space and who.
fn columns(payer: &Payer) -> [String; 4] {
    let columns = match payer {
        Payer::Person(name) => ["person", "", "", name],
        Payer::Account(platform, id) => ["account", platform.as_str(), "", id.as_str()],
        Payer::Room(platform, space, room) => ["room", platform.as_str(), space.as_str(), room.as_str()],
        Payer::Team => ["team", "", "", ""],
    };
    columns.map(storable)
}

fn payer(row: &Stored<'_>) -> Result<Payer, StoreError> {
    let platform = || row.text("platform").map(Platform::new);
    Ok(match row.id() {
        "person" => Payer::Person(row.text("who")?),
        "account" => Payer::Account(platform()?, ActorId::new(row.text("who")?)),
        "room" => Payer::Room(platform()?, SpaceId::new(row.text("space")?), ConversationId::new(row.text("who")?)),
        "team" => Payer::Team,
        other => return Err(row.wrong("payer", format!("`{other}` pays for nothing"))),
    })
}

const fn ground_name(ground: Ground) -> &'static str {
    match ground {
        Ground::Foreground => "foreground",
        Ground::Background => "background",
    }
}

fn ground(row: &Stored<'_>) -> Result<Ground, StoreError> {
    match row.text("ground")?.as_str() {
        "foreground" => Ok(Ground::Foreground),
        "background" => Ok(Ground::Background),
        other => Err(row.wrong("ground", format!("`{other}` is neither foreground nor background"))),
    }
}

fn usage(row: &Stored<'_>) -> Result<Usage, StoreError> {
    let (tokens_in, tokens_out) = (row.natural("tokens_in")?, row.natural("tokens_out")?);
    Ok(Usage { tokens_in, tokens_out, cost_micros: row.natural("cost_micros")? })
}
