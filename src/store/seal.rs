//! Seals of rows. Each row that decides something carries an HMAC over its columns. The key is not in the database, so that write
//! access to the database is not enough to forge or change such a row.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use sqlx::AnyConnection;

use super::audit::{self, HEAD};
use super::dialect::Durability;
use super::row::Stored;
use super::sums::Sums;
use super::transaction::Open;
use super::{Adopts, BrokenRow, Store, StoreError, cards, inbox, ledger, outbox, plans, standing, votes};

/// The length of a key, in bytes: as much as the hash holds.
const KEY_BYTES: usize = 32;

/// The problem of a row with a wrong seal.
const UNSEALED: &str = "it was not written by this bot, or was changed since";

/// The key of the seals.
#[derive(Clone)]
pub struct SealKey(Arc<[u8; KEY_BYTES]>);

impl SealKey {
    /// Takes a key as it is.
    pub fn new(key: [u8; KEY_BYTES]) -> Self {
        Self(Arc::new(key))
    }

    /// Reads 64 hexadecimal digits, with or without blanks around them; none for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits: Option<Vec<u8>> =
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect();
        digits.filter(|_| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?.try_into().ok().map(Self::new)
    }

    /// Returns the 64 hexadecimal digits that [`SealKey::parse`] reads. They are a secret.
    pub fn expose(&self) -> String {
        hex(self.0.as_slice())
    }

    /// Seals a kind of row: each part with its length, so that no two rows are written alike.
    fn seal(&self, kind: &str, parts: &[String]) -> String {
        hex(&self.hash(kind, &parts.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    /// Hashes texts of a kind under this key.
    pub(super) fn hash(&self, kind: &str, parts: &[&str]) -> [u8; KEY_BYTES] {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_slice()).expect("invariant: an HMAC takes any key");
        for part in std::iter::once(&kind).chain(parts) {
            mac.update(format!("{}:", part.len()).as_bytes());
            mac.update(part.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[masked]")
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).expect("invariant: half a byte is one digit");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The seals of a store. One that is opened only to be read may have no key, and then checks none.
#[derive(Clone, Debug, Default)]
pub(super) struct Seals(pub(super) Option<SealKey>);

impl Seals {
    /// Returns a row's seal; empty without a key, which is the seal of nothing.
    pub(super) fn over(&self, rows: &SealedRows, parts: &[String]) -> String {
        self.0.as_ref().map(|key| key.seal(rows.kind, parts)).unwrap_or_default()
    }

    /// Returns an error for a row with a wrong seal.
    pub(super) fn check(&self, rows: &SealedRows, row: &Stored<'_>) -> Result<(), StoreError> {
        let Some(key) = &self.0 else { return Ok(()) };
        let expected = key.seal(rows.kind, &(rows.parts)(row)?);
        // The time that it takes to compare two hashes tells nothing of the key.
        if row.text(rows.column)? == expected { Ok(()) } else { Err(row.wrong(rows.column, UNSEALED.to_owned())) }
    }
}

/// The seals of a transaction, and what it changes of them.
pub(super) struct SealWriter<'s> {
    seals: &'s Seals,
    /// In the order of the changes.
    pub(super) changed: Vec<ChangedSeal>,
    /// The rows that were to be changed and are not what the bot wrote. With one of them nothing is committed.
    pub(super) broken: Vec<&'static SealedRows>,
}

/// A seal in place of another one; empty where there was or will be none.
pub(super) struct ChangedSeal {
    pub(super) rows: &'static SealedRows,
    pub(super) before: String,
    pub(super) after: String,
}

impl<'s> SealWriter<'s> {
    pub(super) const fn new(seals: &'s Seals) -> Self {
        Self { seals, changed: Vec::new(), broken: Vec::new() }
    }

    /// Notes that a row has another seal from now on. A row that is not counted in [`sums`](super::sums) need not be noted.
    pub(super) fn change(&mut self, rows: &'static SealedRows, before: String, after: String) {
        self.changed.push(ChangedSeal { rows, before, after });
    }

    /// Notes that a row, as it was read before its change, has another seal from now on; or that it is not what the bot wrote.
    pub(super) fn replace(
        &mut self,
        rows: &'static SealedRows,
        row: &Stored<'_>,
        after: String,
    ) -> Result<(), StoreError> {
        if self.seals.check(rows, row).is_err() {
            self.broken.push(rows);
        }
        self.change(rows, row.text(rows.column)?, after);
        Ok(())
    }

    pub(super) const fn key(&self) -> Option<&'s SealKey> {
        self.seals.0.as_ref()
    }
}

impl Deref for SealWriter<'_> {
    type Target = Seals;

    fn deref(&self) -> &Seals {
        self.seals
    }
}

/// The relation of a database to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealState {
    /// The rows are sealed with this key.
    Sealed,
    /// No row was ever sealed.
    Unsealed,
    /// The rows are sealed, and the store was opened without a key.
    NoKey,
    /// The rows are sealed with another key.
    OtherKey,
}

/// Rows that are sealed. Their column `id` names them.
pub(super) struct SealedRows {
    /// The kind of row, which is part of the seal: no row passes for one of another kind.
    pub(super) kind: &'static str,
    /// The column of the seal.
    pub(super) column: &'static str,
    /// Returns the sealed columns of a row.
    pub(super) parts: fn(&Stored<'_>) -> Result<Vec<String>, StoreError>,
    /// Selects every row, with its seal.
    pub(super) select: &'static str,
    /// Sets the seal `$1` of the row `$2`.
    pub(super) set: &'static str,
    /// The table.
    pub(super) table: &'static str,
}

/// Everything that is sealed.
const ALL: [&SealedRows; 9] = [
    &plans::FROZEN,
    &standing::SEALED,
    &votes::SEALED,
    &ledger::SEALED,
    &inbox::SEALED,
    &outbox::SEALED,
    &outbox::SENT,
    &cards::SEALED,
    &HEAD,
];

/// The kind of the seal that identifies a key; it covers no column.
const MARK: &str = "key";

impl Store {
    /// Checks that the rows are sealed with this key and are the newest ones, or seals them. A database in which nothing decides
    /// anything is always sealed. Reads; writes where it seals.
    pub(super) async fn prepare_seals(&self, adopts: Adopts) -> Result<(), StoreError> {
        let Some(key) = &self.seals.0 else { return Ok(()) };
        match self.seal_state().await? {
            _ if adopts == Adopts::Everything => self.seal_all(key, &SealAll::Everything).await,
            SealState::Sealed => self.check_sums().await,
            SealState::OtherKey | SealState::NoKey => Err(StoreError::OtherKey { place: self.database.place() }),
            // A database that was emptied is no new one.
            SealState::Unsealed if !self.newest.kept()?.is_empty() => {
                Err(StoreError::Older { place: self.database.place() })
            }
            SealState::Unsealed if adopts == Adopts::Unsealed => self.seal_all(key, &SealAll::Unsealed).await,
            SealState::Unsealed => self.seal_all(key, &SealAll::Empty).await,
        }
    }

    /// Returns how the seals of a database and the key of this store belong together. Reads.
    pub async fn seal_state(&self) -> Result<SealState, StoreError> {
        let connection = self.read.acquire().await;
        let mut connection = connection.map_err(StoreError::while_doing("reading the seals' key"))?;
        let found = self.mark(&mut connection).await?;
        Ok(match (found, &self.seals.0) {
            (None, _) => SealState::Unsealed,
            (Some(_), None) => SealState::NoKey,
            (Some(found), Some(key)) if found == key.seal(MARK, &[]) => SealState::Sealed,
            (Some(_), Some(_)) => SealState::OtherKey,
        })
    }

    /// Seals every row with another key, and remembers that key. A row whose seal does not fit loses it. Writes, one commit.
    /// No other process may use the database meanwhile.
    pub async fn change_seal_key(&self, new: &SealKey) -> Result<(), StoreError> {
        self.seal_all(new, &SealAll::Sound(&self.seals)).await
    }

    async fn seal_all(&self, key: &SealKey, all: &SealAll<'_>) -> Result<(), StoreError> {
        let doing = "sealing the database";
        let mut tx = self.begin_write(Durability::Full).await?;
        // Excludes other writers.
        let locked = sqlx::query(self.database.lock_audit_head()).fetch_optional(&mut *tx).await;
        locked.map_err(StoreError::while_doing(doing))?;
        if matches!(all, SealAll::Unsealed | SealAll::Empty) && self.mark(&mut tx).await?.is_some() {
            // By another bot that was started at the same time.
            tx.rollback().await.map_err(StoreError::while_doing(doing))?;
            return self.check_sums().await;
        }
        if matches!(all, SealAll::Empty) && !decides_nothing(&mut tx).await? {
            return Err(StoreError::Unsealed { place: self.database.place() });
        }
        for rows in ALL {
            let read = sqlx::query(rows.select).fetch_all(&mut *tx).await.map_err(StoreError::while_doing(doing))?;
            for row in &read {
                let row = Stored::new(rows.table, row);
                let is_sound = !matches!(all, SealAll::Sound(before) if before.check(rows, &row).is_err());
                let seal = if is_sound { key.seal(rows.kind, &(rows.parts)(&row)?) } else { String::new() };
                let set = sqlx::query(rows.set).bind(seal).bind(row.id()).execute(&mut *tx).await;
                set.map_err(StoreError::while_doing(doing))?;
            }
        }
        let mut sums = Sums::begin();
        sums.count(&mut tx, key).await?;
        remember(&mut tx, key, &sums).await.map_err(StoreError::while_doing(doing))?;
        self.newest.begin(&sums).await?;
        tx.commit().await.map_err(StoreError::while_doing(doing))?;
        self.newest.keep(sums).await
    }

    async fn mark(&self, connection: &mut AnyConnection) -> Result<Option<String>, StoreError> {
        let found = sqlx::query_scalar::<_, String>("SELECT mark FROM seal_key WHERE one = 1");
        found.fetch_optional(connection).await.map_err(StoreError::while_doing("reading the seals' key"))
    }

    /// Returns every row with a wrong seal, every table with rows that were changed, removed or put back, and every plan that is
    /// not as the audit trail says. Empty without a key. Reads all sealed rows and the trail, all of one moment.
    pub async fn broken_rows(&self) -> Result<Vec<BrokenRow>, StoreError> {
        let mut broken = Vec::new();
        if self.seals.0.is_none() {
            return Ok(broken);
        }
        let begun = Open::begin(&self.read, self.database.begin_reading(), None).await;
        let mut tx = begun.map_err(StoreError::while_doing("beginning to check the seals"))?;
        for rows in ALL {
            let read = sqlx::query(rows.select).fetch_all(&mut *tx).await;
            for row in &read.map_err(StoreError::while_doing("checking the seals"))? {
                let row = Stored::new(rows.table, row);
                broken.extend(self.seals.check(rows, &row).err().map(|problem| BrokenRow::of(&row, &problem)));
            }
        }
        broken.extend(self.broken_sums(&mut tx).await?);
        broken.extend(audit::plans_against_trail(&mut tx).await?);
        tx.rollback().await.map_err(StoreError::while_doing("checking the seals"))?;
        Ok(broken)
    }
}

/// The rows that are sealed at once.
enum SealAll<'s> {
    /// All, if no other bot has sealed them by now.
    Unsealed,
    /// Those of a new database, which decide nothing. Others are refused.
    Empty,
    /// All, as they are.
    Everything,
    /// Those whose seal fits.
    Sound(&'s Seals),
}

async fn decides_nothing(tx: &mut AnyConnection) -> Result<bool, StoreError> {
    let sql = "SELECT (SELECT COUNT(*) FROM plans) + (SELECT COUNT(*) FROM ledger) + (SELECT COUNT(*) FROM inbox)";
    let rows = sqlx::query_scalar::<_, i64>(sql).fetch_one(tx).await;
    Ok(rows.map_err(StoreError::while_doing("looking for sealed rows"))? == 0)
}

async fn remember(tx: &mut AnyConnection, key: &SealKey, sums: &Sums) -> Result<(), sqlx::Error> {
    let sql = "INSERT INTO seal_key (one, mark, series, changes, sums) VALUES (1, $1, $2, 0, $3) ON CONFLICT (one) \
               DO UPDATE SET mark = excluded.mark, series = excluded.series, changes = 0, sums = excluded.sums";
    let query = sqlx::query(sql).bind(key.seal(MARK, &[])).bind(sums.series()).bind(sums.sealed(key));
    query.execute(tx).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_written_in_hexadecimal_digits() {
        let key = SealKey::new(crate::clock::random_bytes());
        assert_eq!(SealKey::parse(&format!(" {}\n", key.expose())).map(|read| read.expose()), Some(key.expose()));
        for text in ["", "00", &"g".repeat(64), &"0".repeat(63), &"0".repeat(66), &"+1".repeat(32), &"ä".repeat(32)] {
            assert!(SealKey::parse(text).is_none(), "{text}");
        }
        assert_eq!(format!("{key:?}"), "[masked]");
    }

    #[test]
    fn no_two_rows_have_one_seal() {
        let key = SealKey::new([7; KEY_BYTES]);
        let seal = |kind: &str, parts: &[&str]| {
            key.seal(kind, &parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>())
        };
        let rows = [
            seal("plan", &["a", "b"]),
            seal("plan", &["ab", ""]),
            seal("plan", &["a", "b", ""]),
            seal("plan", &["a1:b"]),
            seal("vote", &["a", "b"]),
            SealKey::new([8; KEY_BYTES]).seal("plan", &["a".to_owned(), "b".to_owned()]),
        ];
        let different: std::collections::BTreeSet<&String> = rows.iter().collect();
        assert_eq!(different.len(), rows.len());
    }
}
