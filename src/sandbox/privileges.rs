//! Users, groups and capabilities. What the superuser starts becomes `nobody`, who may read every file and nothing else;
//! what an ordinary user starts stays that user.

use std::collections::HashSet;

use caps::{CapSet, Capability, CapsHashSet};
use nix::sys::prctl;
use nix::unistd::{Gid, Uid, getuid, setgroups, setresgid, setresuid};

use super::{Asks, Walls};

/// `nobody` and `nogroup`: owns nothing.
const NOBODY: u32 = 65_534;

/// Gives up every privilege for good.
pub(super) fn give_up(walls: &Walls) -> Result<(), String> {
    let kept = if getuid().is_root() { capabilities(walls) } else { CapsHashSet::new() };
    let failed = |error: caps::errors::CapsError| format!("capabilities cannot be given up: {error}");
    if getuid().is_root() {
        bound(&kept).map_err(failed)?;
        // A local socket and a device belong to the superuser: whoever uses one stays that user, without its powers.
        if walls.sockets.is_empty() && walls.asks != Asks::Devices {
            become_nobody().map_err(|error| format!("it would run as the superuser: {error}"))?;
        }
    }
    for set in [CapSet::Inheritable, CapSet::Effective, CapSet::Permitted] {
        caps::set(None, set, &kept).map_err(failed)?;
    }
    caps::set(None, CapSet::Ambient, &kept).map_err(failed)?;
    prctl::set_no_new_privs().map_err(|error| format!("it could get privileges: {error}"))
}

/// What the superuser's reads keep: files that others cannot read, the kernel's log, and devices where that is asked for.
fn capabilities(walls: &Walls) -> CapsHashSet {
    let mut kept = HashSet::from([Capability::CAP_DAC_READ_SEARCH, Capability::CAP_SYSLOG]);
    match walls.asks {
        Asks::Nothing => {}
        Asks::Devices => kept.extend([Capability::CAP_SYS_RAWIO, Capability::CAP_SYS_ADMIN]),
        // Whether a process of another user is there; that no signal is sent is held by the filter of system calls.
        Asks::Processes => kept.extend([Capability::CAP_KILL]),
    }
    kept
}

/// Takes everything else out of what a program could ever get.
fn bound(kept: &CapsHashSet) -> Result<(), caps::errors::CapsError> {
    let all = caps::runtime::thread_all_supported();
    all.difference(kept).try_for_each(|one| caps::drop(None, CapSet::Bounding, *one))
}

fn become_nobody() -> nix::Result<()> {
    prctl::set_keepcaps(true)?;
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    setgroups(&[])?;
    setresgid(group, group, group)?;
    setresuid(user, user, user)
}
