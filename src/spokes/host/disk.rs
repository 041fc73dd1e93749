//! `host_disk`: mounted file systems and how full they are. Pseudo file systems are left out, and so are network ones:
//! asking a dead file server how full it is can hang for ever (sysinfo leaves both out).

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use countersign_core::resource::Resource;
use nix::sys::statvfs::statvfs;
use serde_json::{Value, json};
use sysinfo::{Disk, DiskRefreshKind, Disks};

use super::answer::{Answer, Found, Trouble};
use super::call::{Call, Target};
use super::matching;
use super::this_host::{ThisHost, percent};

/// The most mounts in one answer.
const MOUNTS_MAX: usize = 50;

/// Mounts by mount point, device or file system; any other path means the mount that it lies on.
pub(super) fn find(host: &ThisHost, call: &Call) -> Answer {
    let disks = disks()?;
    let query = call.text("query");
    if let Some(holder) = query.and_then(|query| holder(&disks, query)) {
        let found: Vec<Resource> = resource(host, holder).into_iter().collect();
        return Ok(Found::all(json!({ "resources": found, "nearest": [] })));
    }
    let resources: Vec<Resource> = disks.iter().filter_map(|disk| resource(host, disk)).collect();
    Ok(matching::answer(query, &resources, "mounts"))
}

/// Returns the mount that a path lies on; none if it is a mount point itself, or not there.
fn holder<'d>(disks: &'d Disks, query: &str) -> Option<&'d Disk> {
    let path = Path::new(query).canonicalize().ok().filter(|_| query.starts_with('/'))?;
    let is_known = |disk: &Disk| disk.mount_point() == Path::new(query) || disk.name() == query;
    if disks.iter().any(is_known) {
        return None;
    }
    // A mount that is not listed here lies between, where the devices differ.
    let device = |path: &Path| path.metadata().map(|meta| meta.dev()).ok();
    let holds = disks.iter().filter(|disk| path.starts_with(disk.mount_point()));
    let nearest = holds.max_by_key(|disk| disk.mount_point().components().count())?;
    (device(&path)? == device(nearest.mount_point())?).then_some(nearest)
}

/// How full every mount is, the fullest first.
pub(super) fn usage(host: &ThisHost, _call: &Call) -> Answer {
    let disks = disks()?;
    let mut mounts: Vec<&Disk> = disks.iter().filter(|disk| disk.total_space() > 0).collect();
    mounts.sort_by_key(|disk| (std::cmp::Reverse(per_mille(disk)), disk.mount_point()));
    let total = mounts.len();
    let rows: Vec<Value> = mounts.into_iter().take(MOUNTS_MAX).map(describe).collect();
    let left_out = if total > MOUNTS_MAX {
        format!("the {MOUNTS_MAX} fullest of {total} mounts are shown; ask for another by its path")
    } else {
        String::new()
    };
    Ok(Found::part(json!({ "name": host.name, "mounts": rows }), left_out))
}

/// How full one mount is.
pub(super) fn of(_host: &ThisHost, call: &Call) -> Answer {
    let Target::Mount(path) = &call.target else {
        return Err(Trouble::invalid("target", "this action runs on a mount"));
    };
    let disks = disks()?;
    let mount = disks.iter().find(|disk| disk.mount_point() == path);
    mount.map(describe).map(Found::all).ok_or_else(|| {
        let names: Vec<String> = disks.iter().map(|disk| disk.mount_point().display().to_string()).collect();
        let near = matching::nearest(&path.to_string_lossy(), names.iter().map(|name| (name.as_str(), name.as_str())));
        Trouble::not_found(format!("nothing is mounted on `{}`", path.display()), near)
    })
}

/// How full the root file system is.
pub(super) fn root_usage() -> Result<Value, Trouble> {
    let disks = disks()?;
    let root = disks.iter().find(|disk| disk.mount_point() == Path::new("/"));
    Ok(root.map_or(Value::Null, describe))
}

fn disks() -> Result<Disks, Trouble> {
    Disks::new_with_refreshed_list_specifics(DiskRefreshKind::nothing().with_storage())
        .map_err(|error| Trouble::reading("the mounted file systems", error))
}

/// What is written, without the blocks that are kept back for root: the `Used` of df. sysinfo does not tell the two apart.
fn used(disk: &Disk) -> u64 {
    let unused = statvfs(disk.mount_point()).map(|fs| fs.blocks_free().saturating_mul(fs.fragment_size()));
    disk.total_space().saturating_sub(unused.unwrap_or_else(|_| disk.available_space()))
}

/// Of what a program without special rights could have: full is full, even where root could still write. As df counts.
fn usable(disk: &Disk) -> u64 {
    used(disk).saturating_add(disk.available_space())
}

fn per_mille(disk: &Disk) -> u128 {
    (u128::from(used(disk)) * 1000).checked_div(u128::from(usable(disk))).unwrap_or(0)
}

fn describe(disk: &Disk) -> Value {
    json!({
        "mount": disk.mount_point(),
        "device": disk.name().to_string_lossy(),
        "file_system": disk.file_system().to_string_lossy(),
        "total": disk.total_space(),
        "used": used(disk),
        "available": disk.available_space(),
        "percent": percent(used(disk), usable(disk)),
        "read_only": disk.is_read_only(),
    })
}

fn resource(host: &ThisHost, disk: &Disk) -> Option<Resource> {
    let mount = disk.mount_point().to_str()?;
    let device = disk.name().to_string_lossy().into_owned();
    let file_system = disk.file_system().to_string_lossy().into_owned();
    Some(Resource {
        id: host.id_of("mount", mount)?,
        name: mount.to_owned(),
        aliases: vec![device.clone()],
        chain: host.chain(),
        allowed: Vec::new(),
        mounts: Vec::new(),
        about: format!("{file_system} on {device}"),
        attrs: BTreeMap::from([("file_system".to_owned(), file_system)]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_as_full_as_df_says() {
        let df = std::process::Command::new("df").args(["--output=pcent", "/"]).output().expect("df runs");
        let said = String::from_utf8_lossy(&df.stdout).split_whitespace().last().map(|last| last.replace('%', ""));
        let said: f64 = said.expect("a percentage").parse().expect("a number");
        let root = root_usage().expect("the mounts can be read");
        let ours = root.get("percent").and_then(Value::as_f64).expect("a percentage");
        // df rounds up, and something may be written in between.
        assert!((said - ours).abs() <= 2.0, "df says {said}, we say {ours}");
    }
}
