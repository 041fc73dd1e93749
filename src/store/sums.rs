//! Sums of seals. A seal proves that the bot wrote a row, but not that the row is the newest one: an older copy of it has a valid
//! seal too, and a removed row has none. So the seals of the rows that can still decide something are added up, table by table,
//! and each sum is sealed together with the number of changes. A row whose seal does not fit its content is not counted: it
//! takes no other row's place.

use std::path::Path;
use std::sync::atomic::Ordering;

use sqlx::AnyConnection;

use super::audit::HEAD;
use super::dialect::Durability;
use super::newest::{NewestFile, is_older};
use super::row::Stored;
use super::seal::{SealKey, SealWriter, SealedRows, Seals};
use super::transaction::Open;
use super::{BrokenRow, Store, StoreError, inbox, ledger, plans, standing, votes};

/// The rows that are added up. A plan that has ended, its votes and a signal whose request has ended decide nothing more. Messages
/// and the faces of cards are not among them: an older one that is put back is shown again and decides nothing, because its
/// buttons act on the plan in its present state.
const COUNTED: [&SealedRows; 5] = [&standing::SEALED, &votes::SEALED, &ledger::SEALED, &inbox::SEALED, &HEAD];

/// The statements that read the counted rows of the other tables, with every sealed column.
const SELECTS: [(&SealedRows, &str); 3] =
    [(&ledger::SEALED, ledger::SEALED.select), (&inbox::SEALED, inbox::SEALED.select), (&HEAD, HEAD.select)];

/// Reads the row.
const SUMS: &str = "SELECT 'key' AS id, series, changes, sums FROM seal_key WHERE one = 1";

/// The length of a series, in bytes before they are written in hexadecimal digits.
const SERIES_BYTES: usize = 16;

/// A sum of secret numbers, one for each seal. Without the key nobody can find other rows with the same sum. A duplicate of a row
/// counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum([u64; 4]);

impl Sum {
    fn add(&mut self, Self(number): Self) {
        self.0.iter_mut().zip(number).for_each(|(part, more)| *part = part.wrapping_add(more));
    }

    fn take(&mut self, Self(number): Self) {
        self.0.iter_mut().zip(number).for_each(|(part, less)| *part = part.wrapping_sub(less));
    }

    fn of(key: &SealKey, rows: &SealedRows, seal: &str) -> Self {
        let bytes = key.hash("element", &[rows.kind, seal]);
        let mut parts = bytes.chunks_exact(8).map(|part| u64::from_le_bytes(part.try_into().expect("invariant: 8")));
        Self(std::array::from_fn(|_| parts.next().expect("invariant: a hash has four parts of 8 bytes")))
    }
}

/// The sums of all tables after a number of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sums {
    series: String,
    changes: u64,
    of_tables: [Sum; COUNTED.len()],
}

impl Sums {
    pub(super) fn begin() -> Self {
        let series = super::seal::hex(&crate::clock::random_bytes::<SERIES_BYTES>());
        Self { series, changes: 0, of_tables: Default::default() }
    }

    /// Adds a row's seal. A row without one is not there.
    fn add(&mut self, key: &SealKey, rows: &SealedRows, seal: &str) {
        if let (Some(sum), false) = (self.of(rows), seal.is_empty()) {
            sum.add(Sum::of(key, rows, seal));
        }
    }

    fn take(&mut self, key: &SealKey, rows: &SealedRows, seal: &str) {
        if let (Some(sum), false) = (self.of(rows), seal.is_empty()) {
            sum.take(Sum::of(key, rows, seal));
        }
    }

    fn of(&mut self, rows: &SealedRows) -> Option<&mut Sum> {
        let place = COUNTED.iter().position(|counted| counted.kind == rows.kind)?;
        self.of_tables.get_mut(place)
    }

    /// Counts a commit's changes.
    fn change(&mut self, seals: &SealWriter<'_>) {
        let Some(key) = seals.key() else { return };
        self.changes += 1;
        for changed in &seals.changed {
            self.take(key, changed.rows, &changed.before);
            self.add(key, changed.rows, &changed.after);
        }
    }

    /// Returns what is stored of them.
    pub(super) fn sealed(&self, key: &SealKey) -> String {
        let seal = |(rows, Sum(sum)): (&&SealedRows, &Sum)| {
            let sum = sum.map(|part| part.to_string());
            let parts = [&self.series, &self.changes.to_string(), &sum[0], &sum[1], &sum[2], &sum[3]];
            super::seal::hex(&key.hash(&format!("sum of {}", rows.kind), &parts.map(String::as_str)))
        };
        COUNTED.iter().zip(&self.of_tables).map(seal).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn series(&self) -> &str {
        &self.series
    }

    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns these sums as they were after another number of changes.
    pub(super) fn at(&self, changes: u64) -> Self {
        Self { changes, ..self.clone() }
    }

    /// Counts the rows of a database that is sealed anew.
    pub(super) async fn count(&mut self, tx: &mut AnyConnection, key: &SealKey) -> Result<(), StoreError> {
        self.of_tables = add_up(tx, key).await?;
        Ok(())
    }

    /// Returns the tables whose rows are not the ones that were sealed.
    fn wrong(&self, key: &SealKey, stored: &str) -> Vec<&'static SealedRows> {
        let own = self.sealed(key);
        let mut stored = stored.split(' ');
        COUNTED
            .into_iter()
            .zip(own.split(' '))
            .filter(|(_, own)| stored.next() != Some(own))
            .map(|(rows, _)| rows)
            .collect()
    }
}

/// The row that is stored.
struct StoredSums {
    series: String,
    changes: u64,
    sealed: String,
}

impl Store {
    /// Checks that the sealed rows are the newest ones that were committed. Reads all their seals.
    pub(super) async fn check_sums(&self) -> Result<(), StoreError> {
        let begun = Open::begin(&self.read, self.database.begin_reading(), None).await;
        let mut tx = begun.map_err(StoreError::while_doing("beginning to read the seals"))?;
        self.database.check_schema(&mut tx).await?;
        let sums = self.count_again(&mut tx, None, None).await?;
        tx.rollback().await.map_err(StoreError::while_doing("reading the seals"))?;
        let kept = self.newest.kept()?;
        if is_older(&kept, &sums.series, sums.changes) {
            return Err(StoreError::Older { place: self.database.place() });
        }
        self.newest.opened(sums, &kept).await
    }

    /// Returns whether a bot with this file has written to a newer database, or to another one. Reads the file, and one row.
    pub async fn is_older_than(&self, file: &Path) -> Result<bool, StoreError> {
        let kept = NewestFile(file.to_owned()).read().map_err(StoreError::Newest)?;
        let connection = self.read.acquire().await;
        let mut connection = connection.map_err(StoreError::while_doing("reading the sums"))?;
        let stored = self.stored_sums(&mut connection, SUMS).await?;
        Ok(is_older(&kept, &stored.series, stored.changes))
    }

    /// Commits what was written, with the new sums where a sealed row was changed. With `check` all seals are read before.
    pub(super) async fn commit_sealed(
        &self,
        mut tx: Open,
        seals: SealWriter<'_>,
        (durability, check): (Durability, Check),
        doing: &'static str,
    ) -> Result<(), StoreError> {
        if !seals.broken.is_empty() {
            return Err(self.changed(seals.broken));
        }
        let Some(key) = seals.key().filter(|_| check == Check::All || !seals.changed.is_empty()) else {
            return tx.commit().await.map_err(StoreError::while_doing(doing));
        };
        // Until it is committed: in memory the sums are those of the newest commit.
        let mut known = self.newest.known.lock().await;
        let mut sums = match known.as_ref() {
            Some(known) => known.clone(),
            None => self.count_again(&mut tx, Some(&seals), None).await?,
        };
        if !self.store_sums(&mut tx, key, &mut sums, &seals).await? {
            // Another bot with the same key has written in between.
            sums = self.count_again(&mut tx, Some(&seals), Some(&sums)).await?;
            if !self.store_sums(&mut tx, key, &mut sums, &seals).await? {
                return Err(self.changed(Vec::new()));
            }
        }
        if check == Check::All {
            let sound = self.database.check_schema(&mut tx).await;
            self.newest.is_changed.fetch_or(matches!(sound, Err(StoreError::Unusable { .. })), Ordering::Relaxed);
            sound?;
            let counted = add_up(&mut tx, key).await?;
            let wrong = Sums { of_tables: counted, ..sums.clone() }.wrong(key, &sums.sealed(key));
            if !wrong.is_empty() {
                return Err(self.changed(wrong));
            }
        }
        let committed = tx.commit().await.map_err(StoreError::while_doing(doing));
        // After an error it is unknown whether the commit was made: the next one finds out.
        committed?;
        *known = Some(sums.clone());
        if durability == Durability::Full {
            self.newest.durable.store(sums.changes, Ordering::Relaxed);
            if let Some(file) = &self.newest.file
                && let Err(error) = file.keep(&sums)
            {
                tracing::warn!(%error, file = %file.0.display(), "failed to write the number of changes");
            }
        }
        Ok(())
    }

    /// Stores the sums with a commit's changes. False: those in the database are not the ones before.
    async fn store_sums(
        &self,
        tx: &mut AnyConnection,
        key: &SealKey,
        sums: &mut Sums,
        seals: &SealWriter<'_>,
    ) -> Result<bool, StoreError> {
        let mut after = sums.clone();
        after.change(seals);
        let sql = "UPDATE seal_key SET changes = $1, sums = $2 WHERE one = 1 AND series = $3 AND sums = $4";
        let query = sqlx::query(sql).bind(number(after.changes)).bind(after.sealed(key));
        let stored = query.bind(&sums.series).bind(sums.sealed(key)).execute(tx).await;
        let is_stored = stored.map_err(StoreError::while_doing("sealing a change"))?.rows_affected() == 1;
        if is_stored {
            *sums = after;
        }
        Ok(is_stored)
    }

    /// Reads all seals, and compares them with the sums that are stored: as they were before these changes, and after `known`.
    async fn count_again(
        &self,
        tx: &mut AnyConnection,
        but: Option<&SealWriter<'_>>,
        known: Option<&Sums>,
    ) -> Result<Sums, StoreError> {
        let Some(key) = &self.seals.0 else { return Ok(Sums::begin()) };
        let sql = if but.is_some() { self.database.lock_sums() } else { SUMS };
        let stored = self.stored_sums(tx, sql).await?;
        let mut sums = Sums { series: stored.series, changes: stored.changes, of_tables: add_up(tx, key).await? };
        for changed in but.iter().flat_map(|seals| &seals.changed) {
            sums.take(key, changed.rows, &changed.after);
            sums.add(key, changed.rows, &changed.before);
        }
        let wrong = sums.wrong(key, &stored.sealed);
        // A server that crashed may have lost its last commits, but none that was waited for.
        let durable = self.newest.durable.load(Ordering::Relaxed);
        let may_be_lost = self.identity.is_none() && sums.changes >= durable;
        let is_newer =
            known.is_none_or(|known| known.series == sums.series && (known.changes < sums.changes || may_be_lost));
        if wrong.is_empty() && is_newer { Ok(sums) } else { Err(self.changed(wrong)) }
    }

    async fn stored_sums(&self, tx: &mut AnyConnection, sql: &'static str) -> Result<StoredSums, StoreError> {
        let row = sqlx::query(sql).fetch_optional(tx).await.map_err(StoreError::while_doing("reading the sums"))?;
        let Some(row) = row else { return Err(StoreError::Unsealed { place: self.database.place() }) };
        let row = Stored::new("seal_key", &row);
        Ok(StoredSums { series: row.text("series")?, changes: row.natural("changes")?, sealed: row.text("sums")? })
    }

    /// Returns the tables in which rows were changed, removed or put back. Reads all seals, in this transaction.
    pub(super) async fn broken_sums(&self, tx: &mut AnyConnection) -> Result<Vec<BrokenRow>, StoreError> {
        let Some(key) = &self.seals.0 else { return Ok(Vec::new()) };
        let stored = self.stored_sums(tx, SUMS).await?;
        let sums = Sums { series: stored.series, changes: stored.changes, of_tables: add_up(tx, key).await? };
        let broken = |rows: &SealedRows| {
            let problem = format!("rows of table {} were changed, removed or put back as they were before", rows.table);
            BrokenRow { table: rows.table, id: String::new(), problem }
        };
        let mut broken: Vec<BrokenRow> = sums.wrong(key, &stored.sealed).into_iter().map(broken).collect();
        broken.dedup();
        Ok(broken)
    }

    /// Returns the error for tables that another program changed, and remembers that one did.
    fn changed(&self, wrong: Vec<&'static SealedRows>) -> StoreError {
        self.newest.is_changed.store(true, Ordering::Relaxed);
        let mut tables: Vec<&str> = wrong.into_iter().map(|rows| rows.table).collect();
        tables.dedup();
        let tables = if tables.is_empty() { "seal_key".to_owned() } else { tables.join(", ") };
        StoreError::Changed { place: self.database.place(), tables }
    }
}

/// Adds up the seals that fit their rows.
async fn add_up(tx: &mut AnyConnection, key: &SealKey) -> Result<[Sum; COUNTED.len()], StoreError> {
    let seals = Seals(Some(key.clone()));
    let mut sums = Sums { series: String::new(), changes: 0, of_tables: Default::default() };
    for (rows, seal) in plans::open_seals(tx, &seals).await? {
        sums.add(key, rows, &seal);
    }
    for (rows, select) in SELECTS {
        let read = sqlx::query(select).fetch_all(&mut *tx).await;
        for row in &read.map_err(StoreError::while_doing("adding up the seals"))? {
            let row = Stored::new(rows.table, row);
            if seals.check(rows, &row).is_ok() {
                sums.add(key, rows, &row.text(rows.column)?);
            }
        }
    }
    Ok(sums.of_tables)
}

/// The extent of the check before a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// The number of changes is the newest one.
    Newest,
    /// No row was changed, removed or put back.
    All,
}

fn number(changes: u64) -> i64 {
    i64::try_from(changes).expect("invariant: no database is changed so often")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_rows_that_are_there_in_any_order() {
        let key = SealKey::new([7; 32]);
        let sum = |seals: &[&str]| {
            let mut sums = Sums { series: String::new(), changes: 0, of_tables: Default::default() };
            for seal in seals {
                sums.add(&key, &ledger::SEALED, seal);
            }
            sums
        };
        let mut one = sum(&["a", "b", "c"]);
        assert_eq!(one, sum(&["c", "a", "", "b"]));
        one.take(&key, &ledger::SEALED, "b");
        assert_eq!(one, sum(&["a", "c"]));
        for other in [&["a"][..], &["a", "c", "c", "c"], &["a", "b"], &[]] {
            assert_ne!(one, sum(other), "{other:?}");
            assert_eq!(one.wrong(&key, &sum(other).sealed(&key)).len(), 1, "{other:?}");
        }
        let later = Sums { changes: 1, ..one.clone() };
        assert_eq!(one.wrong(&key, &later.sealed(&key)).len(), COUNTED.len());
        assert!(one.wrong(&key, &one.sealed(&key)).is_empty());
        assert_eq!(one.wrong(&key, "").len(), COUNTED.len());
    }
}
