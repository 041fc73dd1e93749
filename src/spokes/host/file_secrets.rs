//! The mask for a window of a file, made from the secrets in the file itself: a few lines may not say what they are.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;

use countersign_core::secrets::Mask;

/// The most bytes that are read around a window of a file.
pub(super) const WINDOW_BYTES_MAX: u64 = 256 * 1024;

/// The most secrets that are looked for.
const SECRETS_MAX: usize = 64;

/// Masks the secrets of a file in some of its lines, found in its last bytes before `end`. Reads the file.
pub(super) fn masked(lines: &VecDeque<String>, file: &File, end: u64) -> Vec<String> {
    if lines.is_empty() {
        return Vec::new();
    }
    let length = end.min(WINDOW_BYTES_MAX);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    let read = file.read_at(&mut bytes, end - length).unwrap_or_default();
    bytes.truncate(read);
    let mut secrets = Mask::default().secrets_in(&String::from_utf8_lossy(&bytes));
    secrets.truncate(SECRETS_MAX);
    let text = lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
    Mask::new(secrets).apply(&text).split('\n').map(str::to_owned).collect()
}
