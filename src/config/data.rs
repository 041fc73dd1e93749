//! The data directory: where it is, that it is private, and that one bot at a time has it. What is kept in it belongs to
//! the store.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use super::error::ConfigError;

/// Holds the data directory until it is dropped. The lock is the operating system's, so that a crash frees it.
#[derive(Debug)]
pub struct DataLock {
    // Never read: the lock lasts as long as the file is open.
    _file: File,
    dir: PathBuf,
}

impl DataLock {
    /// The directory that is held.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// The platform's own place for data, such as `~/.local/share/countersign`. Reads HOME and `XDG_DATA_HOME`.
pub(super) fn default_dir() -> Result<PathBuf, ConfigError> {
    let strategy = etcetera::choose_base_strategy().map_err(|_| ConfigError::NoHome)?;
    Ok(strategy.data_dir().join("countersign"))
}

/// Creates the directory for its owner alone where it does not exist, and takes it. A second bot on the same directory is
/// refused with the number of the process that has it.
pub fn lock_data_dir(dir: &Path) -> Result<DataLock, ConfigError> {
    create_private(dir).map_err(|error| ConfigError::data(dir, format!("cannot be created ({error})")))?;
    check_owner(dir).map_err(|problem| ConfigError::data(dir, problem))?;
    let mut file = open_lock(&dir.join("lock"))
        .map_err(|error| ConfigError::data(dir, format!("cannot be written to ({error})")))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(locked(dir, file)),
        Err(TryLockError::Error(error)) => return Err(ConfigError::data(dir, format!("cannot be locked ({error})"))),
    }
    write_pid(&mut file).map_err(|error| ConfigError::data(dir, format!("cannot be written to ({error})")))?;
    Ok(DataLock { _file: file, dir: dir.to_owned() })
}

fn create_private(dir: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Conversations and keys lie in it: whoever else can write there could put words into the bot's mouth.
fn check_owner(dir: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let (held, own) = (std::fs::metadata(dir), std::fs::metadata("/proc/self"));
    let (Ok(held), Ok(own)) = (held, own) else { return Err("cannot be looked at".to_owned()) };
    if held.uid() != own.uid() {
        return Err(format!("belongs to another user (id {})", held.uid()));
    }
    if held.mode() & 0o022 != 0 {
        return Err(format!("can be written to by others (mode {:o}); run chmod go-w on it", held.mode() & 0o777));
    }
    Ok(())
}

fn open_lock(path: &Path) -> std::io::Result<File> {
    if path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
        return Err(std::io::Error::other("its lock is a link"));
    }
    let mut options = OpenOptions::new();
    // Not truncated: until the lock is ours, the number in it is another process's.
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.write_all(std::process::id().to_string().as_bytes())
}

fn locked(dir: &Path, file: File) -> ConfigError {
    let mut pid = String::new();
    // The other process may not have written its number yet, and what is not a number is not shown.
    let read = file.take(16).read_to_string(&mut pid).is_ok();
    let pid = (read && !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit())).then_some(pid);
    ConfigError::Locked { dir: dir.display().to_string(), pid }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bot_at_a_time_has_a_data_directory() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let dir = home.path().join("deep/countersign");
        let held = lock_data_dir(&dir).expect("nobody has it");
        assert_eq!(held.dir(), dir);
        let refused = lock_data_dir(&dir).expect_err("it is held").to_string();
        let (dir_text, pid) = (dir.display(), std::process::id());
        assert_eq!(
            refused,
            format!("another countersign is running on {dir_text} (process {pid}); stop it or give another --data")
        );
        drop(held);
        lock_data_dir(&dir).expect("it is free again");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_data_directory_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().expect("a temporary directory");
        let dir = home.path().join("countersign");
        let _held = lock_data_dir(&dir).expect("nobody has it");
        let mode = |path: &Path| std::fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&dir.join("lock"))), (0o700, 0o600));
    }

    #[test]
    fn a_directory_that_cannot_be_used_is_named_with_the_fix() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let file = home.path().join("file");
        std::fs::write(&file, "").expect("it can be written");
        let refused = lock_data_dir(&file.join("data")).expect_err("a file has no directories").to_string();
        assert!(refused.contains(&format!("data directory {}/data: cannot be created", file.display())), "{refused}");
        assert!(refused.ends_with("; give another one with --data"), "{refused}");
        let taken = home.path().join("taken");
        std::fs::create_dir_all(taken.join("lock")).expect("it can be created");
        let refused = lock_data_dir(&taken).expect_err("the lock is a directory").to_string();
        assert!(refused.contains("cannot be written to"), "{refused}");
    }

    #[test]
    fn a_directory_that_others_may_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().expect("a temporary directory");
        std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o777)).expect("the mode can be set");
        let refused = lock_data_dir(home.path()).expect_err("others may write there").to_string();
        assert!(refused.contains("can be written to by others (mode 777); run chmod go-w on it"), "{refused}");
        std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o755)).expect("the mode can be set");
        let victim = home.path().join("victim");
        std::fs::write(&victim, "mine").expect("a file can be written");
        std::os::unix::fs::symlink(&victim, home.path().join("lock")).expect("a link can be made");
        assert!(lock_data_dir(home.path()).is_err());
        assert_eq!(std::fs::read_to_string(&victim).expect("it is there"), "mine");
    }
}
