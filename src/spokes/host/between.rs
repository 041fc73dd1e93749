//! The mask between two commands of a pipeline, and between a large file and a command. It masks the output of the first
//! command before the next one can cut or encode it.

use std::borrow::Cow;
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use super::packed;
use anstream::adapter::strip_str;
use countersign_core::secrets::Mask;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The most bytes that are masked together.
const BLOCK_BYTES: usize = 256 * 1024;

/// The size of one read, in bytes: as much as a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;

/// The silence after which the lines read so far are passed on. Lines that belong together come together.
const SILENCE: Duration = Duration::from_millis(50);

/// The input that a command may get from the command before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Takes {
    /// Everything, unmasked: the command shows nothing of it.
    Everything,
    /// Everything, masked: the command shows whole lines, or unpacks compressed data.
    Masked,
    /// Masked text only. Compressed data could hold secrets that the mask does not see.
    #[default]
    Text,
}

/// The state of the input after a read.
enum Filled {
    /// A full block, or all bytes before a silence.
    Part,
    /// The rest.
    End,
}

/// Passes everything on until either end is gone. Returns whether anything was masked. Blocks.
pub(super) fn pass_on(mut from: impl Read + AsFd, mut to: PipeWriter, takes: Takes) -> bool {
    let mut block = Vec::new();
    let mut is_masked = false;
    loop {
        let whole = match fill(&mut from, &mut block) {
            Ok(Filled::Part) if block.len() < BLOCK_BYTES => lines_end(&block),
            Ok(Filled::Part) => Some(lines_end(&block).unwrap_or(block.len())),
            // What cannot be read any further has come to its end.
            Ok(Filled::End) | Err(_) if block.is_empty() => return is_masked,
            Ok(Filled::End) | Err(_) => Some(block.len()),
        };
        let Some(whole) = whole else { continue };
        let rest = block.split_off(whole);
        if takes == Takes::Text && packed::begins_in(&block) {
            return true;
        }
        let text = String::from_utf8_lossy(&block);
        let text = uncoloured(&text);
        let mask = Mask::default();
        let masked = mask.apply(&text);
        // What holds no secret goes on as it is, text or not.
        let has_secret = matches!(masked, Cow::Owned(_));
        is_masked |= has_secret;
        let written = if has_secret { to.write_all(masked.as_bytes()) } else { to.write_all(&block) };
        // The next command has read enough.
        if written.is_err() {
            return is_masked;
        }
        block = rest;
    }
}

/// Returns a text without terminal colours, which would hide a word from the mask.
pub(super) fn uncoloured(text: &str) -> Cow<'_, str> {
    if text.contains('\u{1b}') { Cow::Owned(strip_str(text).to_string()) } else { Cow::Borrowed(text) }
}

/// Returns where the last whole line ends.
fn lines_end(block: &[u8]) -> Option<usize> {
    block.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1)
}

/// Reads until there is enough, nothing more comes for a while, or it has ended.
fn fill(from: &mut (impl Read + AsFd), block: &mut Vec<u8>) -> io::Result<Filled> {
    let silence = Timespec::try_from(SILENCE).ok();
    let mut has_read = false;
    while block.len() < BLOCK_BYTES {
        // A line that has no end yet waits for it.
        if has_read && poll(&mut [PollFd::new(from, PollFlags::IN)], silence.as_ref())? == 0 {
            return Ok(Filled::Part);
        }
        // One read: as much as there is.
        let mut chunk = vec![0; CHUNK_BYTES.min(BLOCK_BYTES - block.len())];
        let read = from.read(&mut chunk)?;
        block.extend(chunk.iter().take(read));
        if read == 0 {
            return Ok(Filled::End);
        }
        has_read = true;
    }
    Ok(Filled::Part)
}
