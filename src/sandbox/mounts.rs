//! A mount namespace of its own: everything read-only, the places of secrets covered by an empty file or folder, and files
//! with secrets in them by the same files without.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getgid, getuid};
use procfs::process::Process;

use super::Walls;
use super::masked::{self, MaskedFile};

/// A folder that exists on every Linux machine and that a program never needs: what covers the rest is made in it.
const WORKSHOP: &str = "/proc/fs";

/// The least size of a file there, in bytes.
const PAGE_BYTES: usize = 4096;

/// The folder that programs begin in: it is empty, so that a name that is no absolute path means nothing.
const EMPTY: &str = "/proc/fs/empty";

/// Enters a mount namespace and builds it. As an ordinary user this takes a user namespace, too.
pub(super) fn enter(walls: &Walls) -> Result<(), String> {
    let (user, group) = (getuid(), getgid());
    if user.is_root() {
        unshare(CloneFlags::CLONE_NEWNS).map_err(|error| format!("no mount namespace: {error}"))?;
    } else {
        let flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
        unshare(flags).map_err(|error| format!("no user and mount namespaces: {error}"))?;
        let map = |file: &str, text: String| {
            fs::write(format!("/proc/self/{file}"), text).map_err(|error| format!("no {file}: {error}"))
        };
        map("setgroups", "deny".to_owned())?;
        map("uid_map", format!("{user} {user} 1"))?;
        map("gid_map", format!("{group} {group} 1"))?;
    }
    // Nothing of what follows is seen outside.
    change("/", MsFlags::MS_REC | MsFlags::MS_PRIVATE)?;
    let sockets = if walls.sockets.is_empty() { Vec::new() } else { other_sockets(&walls.sockets)? };
    let covered: Vec<&Path> = walls.covered.iter().chain(&sockets).map(PathBuf::as_path).collect();
    let masked = walls.masked.map_or(Ok(Vec::new()), masked::inherited)?;
    make_workshop(&masked)?;
    cover(&covered)?;
    let is_covered = |file: &MaskedFile| covered.iter().any(|place| file.path.starts_with(place));
    let open = masked.iter().enumerate().filter(|(_, file)| !is_covered(file));
    open.into_iter().try_for_each(|(number, file)| put_over(number, file))?;
    make_read_only()
}

fn change(place: &str, flags: MsFlags) -> Result<(), String> {
    mount(None::<&str>, place, None::<&str>, flags, None::<&str>).map_err(|error| format!("{place}: {error}"))
}

/// Local sockets on this machine but those that are wanted. Connecting to one is neither a write nor TCP, so that only
/// this keeps a program that may use one of them from the others.
fn other_sockets(wanted: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let wanted: Vec<PathBuf> = wanted.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let entries = procfs::net::unix().map_err(|error| format!("no list of local sockets: {error}"))?;
    let real = entries.into_iter().filter_map(|entry| entry.path?.canonicalize().ok());
    Ok(real.filter(|path| !wanted.iter().any(|wanted| path.starts_with(wanted))).collect())
}

/// Makes the place for what covers the rest, and enters an empty folder in it.
fn make_workshop(masked: &[MaskedFile]) -> Result<(), String> {
    let pages: usize = masked.iter().map(|file| file.text.len().div_ceil(PAGE_BYTES)).sum();
    let options = format!("size={},mode=755", (pages + 1) * PAGE_BYTES);
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("none"), WORKSHOP, Some("tmpfs"), flags, Some(options.as_str()))
        .map_err(|error| format!("no empty file system: {error}"))?;
    fs::create_dir(EMPTY)
        .and_then(|()| std::env::set_current_dir(EMPTY))
        .map_err(|error| format!("no empty folder: {error}"))
}

/// Covers each place that is there.
fn cover(places: &[&Path]) -> Result<(), String> {
    let (file, folder) = (Path::new(WORKSHOP).join("file"), Path::new(WORKSHOP).join("folder"));
    let made = File::create(&file).and_then(|_| fs::create_dir(&folder)).and_then(|()| {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o000))?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o000))
    });
    made.map_err(|error| format!("nothing to cover secrets with: {error}"))?;
    for (place, is_folder) in outermost(places) {
        let empty = if is_folder { &folder } else { &file };
        mount(Some(empty), &place, None::<&str>, MsFlags::MS_BIND, None::<&str>)
            .map_err(|error| format!("{} cannot be covered: {error}", place.display()))?;
    }
    Ok(())
}

/// Mounts a masked copy over its original, with the original's mode and modification time.
fn put_over(number: usize, masked: &MaskedFile) -> Result<(), String> {
    // What is gone meanwhile, or covered, cannot be read either.
    let Ok(meta) = fs::symlink_metadata(&masked.path) else { return Ok(()) };
    let made = Path::new(WORKSHOP).join(format!("masked-{number}"));
    let written = fs::write(&made, &masked.text).and_then(|()| {
        let times = FileTimes::new().set_modified(meta.modified()?);
        File::options().write(true).open(&made)?.set_times(times)?;
        fs::set_permissions(&made, meta.permissions())
    });
    let bind = || mount(Some(&made), &masked.path, None::<&str>, MsFlags::MS_BIND, None::<&str>);
    written
        .and_then(|()| bind().map_err(io::Error::from))
        .map_err(|error| format!("{} cannot be masked: {error}", masked.path.display()))
}

/// The places that are there, by the names they really have, each with whether it is a folder. What lies in a folder that is
/// among them is covered with it.
fn outermost(places: &[&Path]) -> Vec<(PathBuf, bool)> {
    let real: BTreeSet<PathBuf> = places.iter().filter_map(|place| place.canonicalize().ok()).collect();
    let mut kinds: Vec<(PathBuf, bool)> = Vec::new();
    for place in real {
        let is_inside = kinds.last().is_some_and(|(folder, is_folder)| *is_folder && place.starts_with(folder));
        if !is_inside {
            let is_folder = place.is_dir();
            kinds.push((place, is_folder));
        }
    }
    kinds
}

/// Makes every mount read-only, each with the other options it had.
fn make_read_only() -> Result<(), String> {
    let mounts =
        Process::myself().and_then(|me| me.mountinfo()).map_err(|error| format!("no list of mounts: {error}"))?;
    for one in mounts {
        let options = one.mount_options;
        if options.contains_key("ro") {
            continue;
        }
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | kept(&options);
        // A mount that lies below another one cannot be named, and not be reached either.
        if let Err(error) = mount(None::<&str>, &one.mount_point, None::<&str>, flags, None::<&str>)
            && one.mount_point.symlink_metadata().is_ok()
        {
            return Err(format!("{} cannot be made read-only: {error}", one.mount_point.display()));
        }
    }
    Ok(())
}

fn kept(options: &std::collections::HashMap<String, Option<String>>) -> MsFlags {
    let table: BTreeMap<&str, MsFlags> = BTreeMap::from([
        ("nosuid", MsFlags::MS_NOSUID),
        ("nodev", MsFlags::MS_NODEV),
        ("noexec", MsFlags::MS_NOEXEC),
        ("noatime", MsFlags::MS_NOATIME),
        ("nodiratime", MsFlags::MS_NODIRATIME),
        ("relatime", MsFlags::MS_RELATIME),
    ]);
    table.into_iter().filter(|(name, _)| options.contains_key(*name)).map(|(_, flag)| flag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_a_covered_folder_is_covered_with_it() {
        let dir = tempfile::tempdir().expect("a folder for the test");
        let root = dir.path().canonicalize().expect("it is there");
        let place = |name: &str| root.join(name);
        fs::create_dir_all(place("data/keys")).expect("a folder can be made");
        fs::create_dir(place("data-2")).expect("a folder can be made");
        fs::write(place("data/bot.db"), "").expect("a file can be written");
        fs::write(place("note"), "").expect("a file can be written");
        std::os::unix::fs::symlink(place("note"), place("link")).expect("a link can be made");
        let all = ["data/bot.db", "data", "data/keys", "gone", "link", "note", "data-2"].map(place);
        let found = outermost(&all.iter().map(PathBuf::as_path).collect::<Vec<_>>());
        assert_eq!(found, [(place("data"), true), (place("data-2"), true), (place("note"), false)]);
    }
}
