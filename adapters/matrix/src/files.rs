//! The bot's own files beside the store: its session, its place in what it heard, a recovery key that was made. Only the
//! account that the bot runs as may read them. A file is replaced whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Makes a folder that nobody else may look into. One that is there already stays as it is. Does file I/O.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
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
    use std::os::unix::fs::PermissionsExt as _;

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
}
