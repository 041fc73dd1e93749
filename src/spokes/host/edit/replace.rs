//! Puts a new content in the place of a file, so that whoever reads it sees the old one or the new one and never a part.
//! Everything happens inside one held folder: nobody who moves folders about can lead the write elsewhere.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, openat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::{FILE_BYTES_MAX, Now, drifted, holder, keep};
use crate::clock::fresh_id;
use crate::spokes::host::answer::Trouble;
use crate::spokes::host::change::Change;
use crate::spokes::host::this_host::user_name;

/// Replaces what was read by a new content, unless somebody was faster. Blocks.
pub(super) fn replace(now: &Now, content: &str, change: &Change) -> Result<(), Trouble> {
    let (Some(parent), Some(name)) = (now.path.parent(), now.path.file_name()) else {
        return Err(Trouble::failed("this path has no folder"));
    };
    let folder = open_folder(parent)?;
    let old = open_old(&folder, name, now)?;
    let new = Draft::write(&folder, now, old.as_ref(), content)?;
    // Looked at once more directly before it is replaced: whoever changed it since the last look keeps the change.
    if let Some(old) = open_old(&folder, name, now)? {
        let access =
            old.metadata().map(|meta| holder::access(&meta)).map_err(|error| Trouble::io(&now.path, &error))?;
        let mut held = Vec::new();
        old.take(FILE_BYTES_MAX + 1).read_to_end(&mut held).map_err(|error| Trouble::io(&now.path, &error))?;
        if held != now.text().as_bytes() || access != now.access {
            return Err(drifted(&now.path));
        }
    }
    change.begin()?;
    new.put(name, now)?;
    // It is done; only a loss of power could still undo it.
    folder.sync_all().map_err(|error| Trouble::failed(format!("`{}` cannot be synced: {error}", parent.display())))
}

fn open_folder(parent: &Path) -> Result<File, Trouble> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(parent, flags, Mode::empty()).map_err(|error| trouble(parent, error))?;
    let folder = File::from(folder);
    let real = std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    if real.map_err(|error| Trouble::io(parent, &error))? != parent {
        return Err(Trouble::drifted(format!("`{}` was moved; nothing was done", parent.display())));
    }
    Ok(folder)
}

/// The file as it is now: none where there was none, and still is none.
fn open_old(folder: &File, name: &OsStr, now: &Now) -> Result<Option<File>, Trouble> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match (openat(folder, name, flags, Mode::empty()), &now.content) {
        (Ok(file), Some(_)) => Ok(Some(File::from(file))),
        (Err(Errno::NOENT), None) => Ok(None),
        (Ok(_), None) | (Err(Errno::NOENT | Errno::LOOP), _) => Err(drifted(&now.path)),
        (Err(error), _) => Err(trouble(&now.path, error)),
    }
}

/// The new content under a name of its own. Dropping it removes it, unless it was put in its place.
struct Draft<'f> {
    folder: &'f File,
    name: String,
    is_put: bool,
}

impl<'f> Draft<'f> {
    fn write(folder: &'f File, now: &Now, old: Option<&File>, content: &str) -> Result<Self, Trouble> {
        let name = format!(".countersign-{}", fresh_id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Nobody else reads it before it is whole and has its owner.
        let file =
            openat(folder, name.as_str(), flags, Mode::RUSR | Mode::WUSR).map_err(|error| trouble(&now.path, error))?;
        let draft = Self { folder, name, is_put: false };
        let mut file = File::from(file);
        keep::owner_and_mode(&file, old, &now.path)?;
        let written = file.write_all(content.as_bytes()).and_then(|()| file.sync_all());
        written.map_err(|error| cannot_write(&now.path, &error))?;
        Ok(draft)
    }

    fn put(mut self, name: &OsStr, now: &Now) -> Result<(), Trouble> {
        let flags = if now.content.is_some() { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        renameat_with(self.folder, self.name.as_str(), self.folder, name, flags).map_err(|error| match error {
            Errno::EXIST => drifted(&now.path),
            other => trouble(&now.path, other),
        })?;
        self.is_put = true;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_put {
            // What cannot be removed now is found by its name.
            let _left = unlinkat(self.folder, self.name.as_str(), AtFlags::empty());
        }
    }
}

/// What the system refused; nothing of the file was changed.
pub(super) fn trouble(path: &Path, error: Errno) -> Trouble {
    cannot_write(path, &error.into())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Trouble {
    let shown = path.display();
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => Trouble::refused(format!(
            "`{shown}` may not be written: countersign runs as `{}`, who may not do that",
            user_name()
        )),
        _ => Trouble::refused(format!("`{shown}` could not be written: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::envelope::Code;
    use tokio_util::sync::CancellationToken;

    use super::super::NO_FILE;
    use super::*;
    use crate::spokes::host::change::tests::permitted;

    struct Place {
        dir: tempfile::TempDir,
        path: std::path::PathBuf,
    }

    impl Place {
        fn with(content: Option<&str>) -> Self {
            let dir = tempfile::tempdir().expect("a directory for the test");
            let path = dir.path().canonicalize().expect("it is there").join("motd");
            if let Some(content) = content {
                std::fs::write(&path, content).expect("a file can be written");
            }
            Self { dir, path }
        }

        /// Replaces what was read as `read` by `two`; then what is there, under how many names.
        fn replace(&self, read: Option<&str>, change: &Change) -> (Option<Code>, Option<String>, usize) {
            let access = self.path.metadata().map_or_else(|_| NO_FILE.to_owned(), |meta| holder::access(&meta));
            let now = Now { path: self.path.clone(), content: read.map(str::to_owned), access };
            let code = replace(&now, "two", change).err().map(|trouble| trouble.failure().code);
            let names = std::fs::read_dir(self.dir.path()).expect("it is there").count();
            (code, std::fs::read_to_string(&self.path).ok(), names)
        }
    }

    #[test]
    fn the_last_look_is_directly_before_the_replacement() {
        let fresh = || permitted(5_000, &CancellationToken::new());
        let held = |content: &str| Some(content.to_owned());
        assert_eq!(Place::with(Some("one")).replace(Some("one"), &fresh()), (None, held("two"), 1));
        assert_eq!(Place::with(None).replace(None, &fresh()), (None, held("two"), 1));
        assert_eq!(Place::with(Some("new")).replace(Some("one"), &fresh()), (Some(Code::Drifted), held("new"), 1));
        assert_eq!(Place::with(Some("new")).replace(None, &fresh()), (Some(Code::Drifted), held("new"), 1));
        assert_eq!(Place::with(None).replace(Some("one"), &fresh()), (Some(Code::Drifted), None, 0));
    }

    #[test]
    fn a_change_that_may_not_begin_leaves_nothing_behind() {
        let given_up = permitted(5_000, &CancellationToken::new());
        assert!(given_up.give_up());
        let unchanged = (Some(Code::PolicyBlocked), Some("one".to_owned()), 1);
        assert_eq!(Place::with(Some("one")).replace(Some("one"), &given_up), unchanged);
    }
}
