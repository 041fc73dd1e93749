//! Masked copies of files, which a program reads instead of the originals. The tool server passes them to the launcher in an
//! unnamed file in memory, which each started program inherits. The launcher mounts each copy over its original
//! (`mounts.rs`).

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};

/// A file without its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskedFile {
    /// The real path of the original.
    pub path: PathBuf,
    /// The masked content.
    pub text: String,
}

/// Masked files on their way to the launcher.
#[derive(Debug)]
pub struct MaskedFiles(File);

impl MaskedFiles {
    /// Writes the files into memory.
    pub fn new(files: &[MaskedFile]) -> io::Result<Self> {
        // No secret is in it, so that it may be inherited by every program that is started: the launcher closes it.
        let memory = File::from(memfd_create("masked", MemfdFlags::empty())?);
        serde_json::to_writer(&memory, files)?;
        Ok(Self(memory))
    }

    /// Returns its number, which is the same in a program that inherits it.
    pub fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

/// Reads the masked files behind an inherited descriptor.
pub(super) fn inherited(descriptor: i32) -> Result<Vec<MaskedFile>, String> {
    let read = fs::read(format!("/proc/self/fd/{descriptor}"));
    let text = read.map_err(|error| format!("the masked files cannot be read: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("the masked files cannot be read: {error}"))
}
