//! The places where a machine usually keeps secrets, found by their names, and what the system's own folders hold that not
//! everyone on the machine may read. A secret elsewhere is still refused by its name where a line names it; here it is out
//! of reach whatever the line says.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use countersign_core::secrets::secret_path;
use walkdir::WalkDir;

/// The most files that are looked at below one folder.
const ENTRIES_MAX: usize = 20_000;

/// Folders where a system keeps secrets, and how deep they are looked through.
const SYSTEM: [(&str, usize); 6] =
    [("/etc", 8), ("/run", 6), ("/boot", 4), ("/var/log", 4), ("/var/lib", 2), ("/var/crash", 1)];

/// How deep homes are looked through.
const HOME_DEPTH: usize = 4;

/// Folders of the system in which a file is a secret unless everyone on the machine may read it (`/etc/postfix/sasl_passwd`,
/// `/run/agenix/token`): it is not the people in a chat who may.
const EVERYBODYS: [&str; 3] = ["/etc", "/run", "/boot"];

/// The journal of a machine that keeps none on its disks; as with all logs, secrets in it are masked.
const JOURNAL: &str = "/run/log";

/// The bits of a mode by which everyone may read a file.
const READ_BY_EVERYONE: u32 = 0o004;

/// The bits of a mode by which everyone may look into a folder, or through it.
const ENTERED_BY_EVERYONE: u32 = 0o005;

/// Looks through the folders where secrets usually are; `shown` are places that are no secrets. Reads folders, never files.
pub(super) fn secret_places(shown: &[PathBuf]) -> Vec<PathBuf> {
    let system = SYSTEM.iter().map(|(place, depth)| (PathBuf::from(place), *depth));
    let homes = homes().into_iter().map(|home| (home, HOME_DEPTH));
    let mut places = BTreeSet::new();
    for (place, depth) in system.chain(homes) {
        let mut walk = WalkDir::new(place).max_depth(depth).same_file_system(true).into_iter();
        for _ in 0..ENTRIES_MAX {
            let Some(entry) = walk.next() else { break };
            let Ok(entry) = entry else { continue };
            let is_secret = secret_path(&entry.path().to_string_lossy()).is_some()
                || entry.metadata().is_ok_and(|meta| is_private(entry.path(), &meta, shown));
            if is_secret && !entry.path_is_symlink() {
                places.insert(entry.path().to_owned());
                if entry.file_type().is_dir() {
                    walk.skip_current_dir();
                }
            }
        }
    }
    places.into_iter().collect()
}

/// Returns the file or folder by which not everyone may read a real path in a folder of the system; none where everyone
/// may, or it is `shown`. Looks at the folders above it.
pub(super) fn private_part(path: &Path, shown: &[PathBuf]) -> Option<PathBuf> {
    let mut parts: Vec<&Path> = path.ancestors().collect();
    parts.reverse();
    let is_private = |part: &&Path| part.symlink_metadata().is_ok_and(|meta| is_private(part, &meta, shown));
    // Of a folder that is shown, what is private in it is shown as well.
    let is_shown = shown.iter().any(|shown| path.starts_with(shown));
    parts.into_iter().find(is_private).filter(|_| !is_shown).map(Path::to_owned)
}

fn is_private(path: &Path, meta: &Metadata, shown: &[PathBuf]) -> bool {
    let is_among = EVERYBODYS.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(JOURNAL);
    let is_shown = |shown: &PathBuf| path.starts_with(shown) || shown.starts_with(path);
    let is_kept = (meta.is_file() && meta.mode() & READ_BY_EVERYONE == 0)
        || (meta.is_dir() && meta.mode() & ENTERED_BY_EVERYONE == 0);
    is_among && is_kept && !shown.iter().any(is_shown)
}

/// The homes of this machine's people; system users live in folders of the system.
fn homes() -> BTreeSet<PathBuf> {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let listed = passwd.lines().filter_map(|line| line.split(':').nth(5)).map(PathBuf::from);
    let system = ["/", "/bin", "/sbin", "/usr", "/dev", "/proc", "/sys", "/nonexistent", "/etc", "/run"];
    let is_home = |path: &PathBuf| path.is_absolute() && !system.iter().any(|place| path == Path::new(place));
    let below_home = std::fs::read_dir("/home").into_iter().flatten().flatten().map(|entry| entry.path());
    listed.filter(is_home).chain(below_home).chain([PathBuf::from("/root")]).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_not_everyone_may_read_in_the_systems_folders_is_private() {
        // The rule is of the system's folders, where a test makes nothing: modes come from elsewhere.
        let dir = tempfile::tempdir().expect("a folder for the test");
        let of_mode = |mode: u32| {
            std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(mode)).expect("it is ours");
            dir.path().metadata().expect("it is there")
        };
        let shown = [PathBuf::from("/etc/app/shown")];
        for (path, mode, expected) in [
            ("/etc/postfix/sasl_passwd", 0o700, true),
            ("/etc/postfix/sasl_passwd", 0o750, true),
            ("/etc/postfix/main.cf", 0o755, false),
            ("/run/containerd", 0o711, false),
            ("/run/log/journal", 0o750, false),
            ("/var/log/auth.log", 0o700, false),
            ("/srv/app.conf", 0o700, false),
            ("/etc/app/shown/a", 0o700, false),
            ("/etc/app", 0o700, false),
            ("/etc/app/other", 0o700, true),
        ] {
            assert_eq!(is_private(Path::new(path), &of_mode(mode), &shown), expected, "{path} {mode:o}");
        }
    }
}
