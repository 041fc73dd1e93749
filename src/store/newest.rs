//! The number of the newest change, which is how an older copy of the database is known: in memory, and in a file beside the
//! database.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Mutex;

use super::StoreError;
use super::sums::Sums;

/// The length of a line of the file: a series, a blank, a number and the line's end, filled up with blanks, so that a line is
/// written over in one piece.
const LINE_BYTES: usize = 64;

/// The newest sums that this process knows, and where their number is kept.
#[derive(Debug, Default)]
pub(super) struct Newest {
    pub(super) known: Mutex<Option<Sums>>,
    pub(super) file: Option<NewestFile>,
    pub(super) is_changed: AtomicBool,
    /// The number of changes that no power cut can undo, as far as is known.
    pub(super) durable: AtomicU64,
}

impl Newest {
    pub(super) fn kept_in(file: Option<PathBuf>) -> Arc<Self> {
        Arc::new(Self { file: file.map(NewestFile), ..Self::default() })
    }

    /// Returns whether this process has seen that another program changed the rows.
    pub(super) fn is_changed(&self) -> bool {
        self.is_changed.load(Ordering::Relaxed)
    }

    /// Returns what the file says, if there is one.
    pub(super) fn kept(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.file.as_ref().map_or(Ok(Vec::new()), NewestFile::read).map_err(StoreError::Newest)
    }

    /// Begins a new series, before it is committed.
    pub(super) async fn begin(&self, sums: &Sums) -> Result<(), StoreError> {
        *self.known.lock().await = None;
        self.file.as_ref().map_or(Ok(()), |file| file.expect(sums)).map_err(StoreError::Newest)
    }

    /// Remembers the sums of a database that is opened. The newest commits may not be on the disk yet, so that the file keeps the
    /// number that it has.
    pub(super) async fn opened(&self, sums: Sums, kept: &[(String, u64)]) -> Result<(), StoreError> {
        let durable = kept.iter().find(|(series, _)| series == sums.series()).map_or(0, |(_, changes)| *changes);
        self.durable.store(durable, Ordering::Relaxed);
        let is_kept = matches!(kept, [(series, _)] if series == sums.series());
        let line = sums.at(durable);
        *self.known.lock().await = Some(sums);
        let file = self.file.as_ref().filter(|_| !is_kept);
        file.map_or(Ok(()), |file| file.keep(&line)).map_err(StoreError::Newest)
    }

    /// Keeps what was committed for good.
    pub(super) async fn keep(&self, sums: Sums) -> Result<(), StoreError> {
        let kept = self.file.as_ref().map_or(Ok(()), |file| file.keep(&sums)).map_err(StoreError::Newest);
        *self.known.lock().await = Some(sums);
        kept
    }
}

/// The file with the newest number of changes: a line, or two while a new series is begun.
#[derive(Debug)]
pub(super) struct NewestFile(pub(super) PathBuf);

impl NewestFile {
    /// Writes one line over the first one, and leaves the second.
    pub(super) fn keep(&self, sums: &Sums) -> std::io::Result<()> {
        let file = self.open()?;
        file.write_all_at(&line(sums), 0)?;
        if file.metadata()?.len() > LINE_BYTES as u64 { file.set_len(LINE_BYTES as u64) } else { Ok(()) }
    }

    /// Writes a second line: which of the two is right is known when the database is opened.
    fn expect(&self, sums: &Sums) -> std::io::Result<()> {
        let file = self.open()?;
        file.write_all_at(&line(sums), file.metadata()?.len().min(LINE_BYTES as u64))?;
        file.sync_all()
    }

    fn open(&self) -> std::io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&self.0)
    }

    /// Returns each series with the number of its changes; none where there is no file.
    pub(super) fn read(&self) -> std::io::Result<Vec<(String, u64)>> {
        let mut text = String::new();
        match File::open(&self.0) {
            Ok(file) => file.take(4 * LINE_BYTES as u64).read_to_string(&mut text)?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let parsed = |line: &str| {
            let (series, changes) = line.trim_end().split_once(' ')?;
            Some((series.to_owned(), changes.parse().ok()?))
        };
        Ok(text.lines().filter_map(parsed).collect())
    }
}

/// Returns whether the file belongs to another database, or to a later state of this one.
pub(super) fn is_older(kept: &[(String, u64)], series: &str, changes: u64) -> bool {
    !kept.is_empty() && !kept.iter().any(|(known, least)| known == series && *least <= changes)
}

fn line(sums: &Sums) -> Vec<u8> {
    let width = LINE_BYTES - 1;
    format!("{:<width$}\n", format!("{} {}", sums.series(), sums.changes())).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_number_is_written_over_and_a_new_series_stands_beside_it() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let file = NewestFile(folder.path().join("newest"));
        assert!(file.read().expect("readable").is_empty());
        let (first, second) = (Sums::begin(), Sums::begin());
        for changes in [0, 9, 10_000_000_000, u64::MAX] {
            file.keep(&first.at(changes)).expect("writable");
            assert_eq!(file.read().expect("readable"), [(first.series().to_owned(), changes)]);
        }
        file.expect(&second).expect("writable");
        assert_eq!(
            file.read().expect("readable"),
            [(first.series().to_owned(), u64::MAX), (second.series().to_owned(), 0)]
        );
        file.expect(&second).expect("writable");
        file.keep(&second).expect("writable");
        assert_eq!(file.read().expect("readable"), [(second.series().to_owned(), 0)]);
    }
}
