//! Paths whose content never ends or must not be shown. Judged by the text alone; links are followed beside the execution.

use super::judgement::{Category, Finding};
use crate::secrets;

/// Files below `/dev` that end at once.
const ENDING_DEVICES: [&str; 4] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// Files that wait for the kernel to say more.
const WAITING: [&str; 4] = ["/proc/kmsg", "trace_pipe", "/proc/sys/fs/binfmt_misc/register", "/proc/sysrq-trigger"];

/// Why the content of a file would never end.
pub(super) fn endless(path: &str) -> Option<Finding> {
    let squeezed = squeeze(path);
    let device = squeezed.starts_with("/dev/") && !ENDING_DEVICES.contains(&squeezed.as_str());
    let waits = WAITING.iter().any(|end| squeezed.ends_with(end));
    (device || waits).then(|| Finding::endless(Category::UnboundedStream, format!("reads {path}, which may never end")))
}

/// Why a word must not be shown: a secret path stays one whatever the command is, and also behind an option
/// (`--file=/etc/shadow`).
pub(super) fn secret(word: &str) -> Option<String> {
    if !word.contains('/') {
        return None;
    }
    let from_slash = word.find('/').and_then(|start| word.get(start..));
    let pieces = word.split(['=', ':', ',', '@']).chain([word]).chain(from_slash);
    pieces.filter(|piece| piece.contains('/')).find_map(|piece| {
        let class = secrets::secret_path(piece).or_else(|| secrets::secret_path(&squeeze(piece)))?;
        Some(format!("`{piece}` holds secrets ({class})"))
    })
}

/// Without `//`, `/./` and `x/..`.
fn squeeze(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let slash = if path.starts_with('/') { "/" } else { "" };
    format!("{slash}{}", parts.join("/"))
}
