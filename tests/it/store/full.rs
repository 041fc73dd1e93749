//! A disk that is full, a real one: what could not be stored fails, and once there is room again the store writes on without
//! a restart.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use countersign::store::{Sealing, Store, sqlite_url};
use tempfile::TempDir;

use super::{Bed, accepted, counts, signal, thread};
use crate::support::root::as_root;

/// A small file system in memory, unmounted at the end.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: &Path) -> Self {
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(at).status();
        assert!(done.expect("there is a mount").success(), "root may mount a tmpfs");
        Self(at.to_owned())
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }

    /// Leaves no byte.
    fn fill(&self) {
        let mut ballast = OpenOptions::new().append(true).create(true).open(self.ballast()).expect("it is ours");
        while ballast.write_all(&[0; 4096]).is_ok() {}
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _left = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_was_full_is_written_to_again() {
    as_root("store::full::a_disk_that_was_full_is_written_to_again", || {
        let directory = TempDir::new().expect("a directory");
        let disk = Disk::mount(directory.path());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(fill_and_free(&disk));
    });
}

async fn fill_and_free(disk: &Disk) {
    let url = sqlite_url(&disk.0.join("full.db")).expect("UTF-8");
    let bed = Bed { store: Store::open(&url, &Sealing::unguarded()).await.expect("it opens"), url };
    for n in 0..3 {
        disk.fill();
        for again in 0..3 {
            let lost = signal(&format!("lost-{n}-{again}"), thread("main"), 1);
            let error = bed.store.accept(&lost).await.expect_err("there is no room");
            let why = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            assert!(why.contains("database or disk is full"), "{error}: {why}");
        }
        std::fs::remove_file(disk.ballast()).expect("it is ours");
        accepted(&bed, &format!("kept-{n}"), "main", 2).await;
    }
    assert_eq!(counts(&bed).await.open, 3);
    bed.store.close().await;
}
