//! Writes a recording while a session runs. Secrets are masked, so that a masked word may be judged otherwise in a replay;
//! a recording that holds secrets would be worse.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::effect::{Effect, Input};
use countersign_core::secrets::Mask;
use countersign_core::signal::{Now, ThreadKey};

use super::{Header, Line};
use crate::engine::Watch;

/// A recording that is being written.
pub struct Recorder {
    file: Mutex<File>,
    mask: Arc<Mask>,
}

impl Recorder {
    /// Begins a recording in a new file that only its owner can read. An existing file is left alone: an error.
    pub fn begin(path: &Path, header: &Header, mask: Arc<Mask>) -> io::Result<Self> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        writeln!(file, "{}", serde_json::to_string(header).unwrap_or_default())?;
        Ok(Self { file: Mutex::new(file), mask })
    }
}

/// A plan's bytes must stay what its digest says. Nothing in them is secret: they passed the gate `secrets`, and what was
/// typed is masked in them already.
const fn holds_plans(input: &Input) -> bool {
    matches!(input, Input::Filed(_) | Input::Lost { .. } | Input::Held { .. })
}

impl Watch for Recorder {
    fn step(&self, thread: &ThreadKey, now: Now, input: &Input, _: &[Effect]) {
        let line = serde_json::to_value(Line::of(thread, now, input)).unwrap_or_default();
        let line = if holds_plans(input) { line } else { self.mask.mask_json(&line) };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writeln!(file, "{line}") {
            tracing::error!(%error, "the recording cannot be written; it ends before this step");
        }
    }
}
