//! What a new content takes over from the file whose place it takes: whom it belongs to, and who may use it. What cannot be
//! kept is not lost in silence: then nothing is changed.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Gid, Mode, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fsetxattr, fstat};
use rustix::io::Errno;

use super::replace::trouble;
use crate::spokes::host::answer::Trouble;
use crate::spokes::host::this_host::user_name;

/// The mode of a file that was not there before.
const NEW_FILE_MODE: u32 = 0o644;

/// The longest list of attributes, and the longest attribute, in bytes (`XATTR_LIST_MAX` and `XATTR_SIZE_MAX` of Linux).
const ATTRIBUTE_BYTES_MAX: usize = 64 * 1024;

/// The attributes that say who may use a file, and those that its users have given it. The kernel makes the others itself.
const KEPT: [&[u8]; 3] = [b"system.posix_acl_access", b"security.selinux", b"user."];

/// Gives a new file the owner, the access list and the mode of the old one, or those of a new file.
pub(super) fn owner_and_mode(new: &File, old: Option<&File>, path: &Path) -> Result<(), Trouble> {
    let Some(old) = old else {
        return fchmod(new, Mode::from_raw_mode(NEW_FILE_MODE)).map_err(|error| trouble(path, error));
    };
    let before = fstat(old).map_err(|error| trouble(path, error))?;
    let made = fstat(new).map_err(|error| trouble(path, error))?;
    let shown = path.display();
    if before.st_nlink > 1 {
        let message = format!("`{shown}` has a second name (a hard link), which would keep the old content");
        return Err(Trouble::refused(message));
    }
    if (before.st_uid, before.st_gid) != (made.st_uid, made.st_gid) {
        let (owner, group) = (Uid::from_raw(before.st_uid), Gid::from_raw(before.st_gid));
        let refused = |_| {
            let me = user_name();
            Trouble::refused(format!(
                "`{shown}` could not keep its owner: countersign runs as `{me}`; nothing was done"
            ))
        };
        fchown(new, Some(owner), Some(group)).map_err(refused)?;
    }
    let lost = |error| {
        Trouble::refused(format!("`{shown}` could not keep its access list or attributes: {error}; nothing was done"))
    };
    attributes(new, old).map_err(lost)?;
    // After the owner: changing that takes away the bits that run a program as its owner.
    fchmod(new, Mode::from_raw_mode(before.st_mode & 0o7777)).map_err(|error| trouble(path, error))
}

fn attributes(new: &File, old: &File) -> Result<(), Errno> {
    let mut names = vec![0; ATTRIBUTE_BYTES_MAX];
    let length = match flistxattr(old, names.as_mut_slice()) {
        // A file system without attributes has none to lose.
        Err(Errno::NOTSUP | Errno::NOSYS) => 0,
        listed => listed?,
    };
    names.truncate(length);
    let mut value = vec![0; ATTRIBUTE_BYTES_MAX];
    let kept = |name: &&[u8]| KEPT.iter().any(|kept| name.starts_with(kept));
    for name in names.split(|byte| *byte == 0).filter(kept) {
        let length = fgetxattr(old, name, value.as_mut_slice())?;
        fsetxattr(new, name, value.get(..length).unwrap_or_default(), XattrFlags::empty())?;
    }
    Ok(())
}
