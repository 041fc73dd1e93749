//! The bot's own files beside the store: its session, its place in what it heard, a recovery key that was made. Only the
//! account that the bot runs as may read them. A file is replaced whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why there is no folder that nobody else may look into.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It cannot be made.
    Unmade(io::Error),
    /// Others may look into it, and that cannot be changed.
    Open(io::Error),
}

/// Makes a folder that nobody else may look into, or of one that is there already such a one. Does file I/O.
pub(crate) fn folder(path: &Path) -> Result<(), Unfit> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(Unfit::Unmade)?;
    let is_open = || fs::metadata(path).map(|folder| folder.permissions().mode() & 0o077 != 0).map_err(Unfit::Open);
    if !is_open()? {
        return Ok(());
    }
    // Only its owner may.
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(Unfit::Open)?;
    if is_open()? {
        return Err(Unfit::Open(io::Error::other("the file system does not keep it")));
    }
    tracing::warn!(path = %path.display(), "others could look into the bot's folder; from now on they cannot");
    Ok(())
}

/// Reads a file; none where there is none. Does file I/O.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a file in the place of the one that is there. Does file I/O.
pub(crate) fn write<T: Serialize>(path: &Path, content: &T) -> io::Result<()> {
    put(path, &serde_json::to_vec(content)?)
}

/// Writes these bytes in the place of what is there. Does file I/O.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    // One that was left over from a crash may be anybody's to read.
    if let Err(error) = fs::remove_file(&new)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_stays_the_owners() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("a.json");
        assert_eq!(read::<Vec<u8>>(&path).expect("it can be looked for"), None);
        fs::write(path.with_extension("new"), "left over").expect("there is room");
        write(&path, &vec![1, 2]).expect("there is room");
        write(&path, &vec![3]).expect("there is room");
        assert_eq!(read::<Vec<u8>>(&path).expect("it can be read"), Some(vec![3]));
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1);
    }

    #[test]
    fn a_folder_that_is_there_already_becomes_the_owners_alone() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("matrix");
        let mode = || fs::metadata(&path).expect("it is there").permissions().mode() & 0o777;
        super::folder(&path).expect("it can be made");
        assert_eq!(mode(), 0o700);
        for open in [0o755, 0o750, 0o701] {
            fs::set_permissions(&path, fs::Permissions::from_mode(open)).expect("it is ours");
            super::folder(&path).expect("it is ours");
            assert_eq!(mode(), 0o700, "{open:o}");
        }
        // Who wants it tighter may.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o500)).expect("it is ours");
        super::folder(&path).expect("it is ours");
        assert_eq!(mode(), 0o500);
        fs::write(folder.path().join("file"), "").expect("there is room");
        assert!(matches!(super::folder(&folder.path().join("file/matrix")), Err(Unfit::Unmade(_))));
    }
}
