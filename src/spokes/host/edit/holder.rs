//! Who may use a file, in words that are compared: what a card showed and what is there when the change is made.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use nix::unistd::{Gid, Group, Uid, User};

/// The bits of a mode that say who may do what, with those that run a program as its owner.
const MODE_BITS: u32 = 0o7777;

/// Returns the mode, the owner and the group, as in `0644 root:adm`. Reads the lists of users and groups.
pub(super) fn access(meta: &Metadata) -> String {
    let owner = User::from_uid(Uid::from_raw(meta.uid())).ok().flatten().map(|user| user.name);
    let group = Group::from_gid(Gid::from_raw(meta.gid())).ok().flatten().map(|group| group.name);
    let owner = owner.unwrap_or_else(|| meta.uid().to_string());
    let group = group.unwrap_or_else(|| meta.gid().to_string());
    format!("{:04o} {owner}:{group}", meta.mode() & MODE_BITS)
}
