//! The credentials of the tool servers (GAT-03): loaded once, checked again at each step and before each use. A value leaves
//! this file only for the process or the call that was declared to need it. What a gate makes of a credential's state is not
//! decided here.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use countersign_core::env::{Credential, Vault};
use nix::unistd::{getegid, geteuid};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::config::{CredentialConfig, Secret};

/// The largest file that is taken for a credential, in bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// A credential that is not used, and why. A message names no path, because people in a chat may read it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the credential `{name}` {trouble}")]
pub struct CredentialError {
    /// Its name.
    pub name: String,
    /// Its file, as it was configured; empty where it has none.
    pub path: PathBuf,
    /// What is wrong with it.
    pub trouble: CredentialTrouble,
}

/// What is wrong with a credential, to be read after its name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CredentialTrouble {
    /// No section of the configuration names it.
    #[error("is not configured")]
    NotConfigured,
    /// Its file cannot be used.
    #[error("is missing: its file {0}")]
    Missing(String),
    /// Others can read or replace what is in its file.
    #[error("is exposed: its file {0}")]
    Exposed(String),
    /// Its file is another than the one that was loaded.
    #[error("changed since it was loaded")]
    Changed,
}

impl CredentialError {
    /// A credential that no section of the configuration names.
    pub fn not_configured(name: &str) -> Self {
        Self { name: name.to_owned(), path: PathBuf::new(), trouble: CredentialTrouble::NotConfigured }
    }

    /// Returns what the operator can do about it.
    pub fn fix(&self) -> String {
        let (name, path) = (&self.name, self.path.display());
        match self.trouble {
            CredentialTrouble::NotConfigured => {
                format!("Write it into a file of the bot's own, and name that by `credentials.{name}.file`.")
            }
            CredentialTrouble::Missing(_) => format!("Write it into {path}, as the account that the bot runs as."),
            CredentialTrouble::Exposed(_) => format!("Run chmod 600 on {path} and give it to the bot's account."),
            CredentialTrouble::Changed => "Restart the bot, so that it loads the new one.".to_owned(),
        }
    }

    fn state(&self) -> Option<Credential> {
        match self.trouble {
            CredentialTrouble::NotConfigured => None,
            CredentialTrouble::Missing(_) => Some(Credential::Missing),
            CredentialTrouble::Exposed(_) => Some(Credential::Exposed),
            CredentialTrouble::Changed => Some(Credential::Changed),
        }
    }
}

/// The configured credentials, with what was loaded of each.
#[derive(Debug, Default)]
pub struct Credentials {
    held: BTreeMap<String, Held>,
}

#[derive(Debug)]
enum Held {
    /// From the environment, which nobody changes while the bot runs.
    Given(Secret),
    Kept(Kept),
}

/// A credential in a file.
#[derive(Debug)]
struct Kept {
    path: PathBuf,
    /// None where the file could not be used at the start.
    loaded: Option<Loaded>,
    /// The version of the file that was looked at last, and whether it holds what was loaded.
    seen: Mutex<(Stamp, bool)>,
}

#[derive(Debug)]
struct Loaded {
    secret: Secret,
    hash: Hash,
}

type Hash = [u8; 32];

/// What changes when a file is written or replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stamp([i64; 7]);

impl Credentials {
    /// Loads every configured credential. Reads files; one that cannot be used is remembered as that.
    pub fn load(configured: &BTreeMap<String, CredentialConfig>) -> Self {
        let held = configured.iter().filter_map(|(name, config)| {
            let given = config.value.clone().map(Held::Given);
            let held = given.or_else(|| config.file.as_deref().map(|path| Held::Kept(Kept::load(path))));
            Some((name.clone(), held?))
        });
        Self { held: held.collect() }
    }

    /// Returns every value that was loaded, for the mask.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.held.values().filter_map(|held| match held {
            Held::Given(secret) => Some(secret.expose()),
            Held::Kept(kept) => kept.loaded.as_ref().map(|loaded| loaded.secret.expose()),
        })
    }

    /// Returns the files of the credentials.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.held.values().filter_map(|held| match held {
            Held::Given(_) => None,
            Held::Kept(kept) => Some(kept.path.as_path()),
        })
    }

    /// Returns the names of the credentials, each with its trouble, if any. Looks at the files.
    pub fn checked(&self) -> impl Iterator<Item = (&str, Option<CredentialError>)> {
        self.held.keys().map(|name| (name.as_str(), self.reveal(name).err()))
    }

    /// Returns the state of each credential, for a step. Looks at the files, and reads again only those that are not the ones
    /// it looked at last.
    pub fn look(&self) -> Vault {
        let states = self.checked().map(|(name, trouble)| {
            let state = trouble.map_or(Some(Credential::Sound), |trouble| trouble.state());
            Some((name.to_owned(), state?))
        });
        Vault { credentials: states.flatten().collect() }
    }

    /// Returns the value of a credential that is present, private and unchanged. Looks at its file.
    pub fn reveal(&self, name: &str) -> Result<&Secret, CredentialError> {
        match self.held.get(name) {
            None => Err(CredentialError::not_configured(name)),
            Some(Held::Given(secret)) => Ok(secret),
            Some(Held::Kept(kept)) => kept.reveal(name),
        }
    }
}

impl Kept {
    fn load(path: &Path) -> Self {
        let read = read(path).and_then(|(stamp, bytes)| {
            let text =
                String::from_utf8(bytes).map_err(|_| CredentialTrouble::Missing("is not UTF-8 text".to_owned()))?;
            Ok((stamp, Loaded { hash: hash(text.as_bytes()), secret: Secret::new(text.trim()) }))
        });
        let (stamp, loaded) = read.ok().unzip();
        Self { path: path.to_owned(), loaded, seen: Mutex::new((stamp.unwrap_or_default(), true)) }
    }

    fn reveal(&self, name: &str) -> Result<&Secret, CredentialError> {
        let secret = self.is_unchanged().and_then(|is_unchanged| {
            let loaded = self.loaded.as_ref().filter(|_| is_unchanged);
            loaded.map(|loaded| &loaded.secret).ok_or(CredentialTrouble::Changed)
        });
        secret.map_err(|trouble| CredentialError { name: name.to_owned(), path: self.path.clone(), trouble })
    }

    /// Whether the file still holds what was loaded, if it is usable.
    fn is_unchanged(&self) -> Result<bool, CredentialTrouble> {
        let stamp = usable(&looked_at(std::fs::metadata(&self.path))?)?;
        // A panic elsewhere leaves at worst an old version, which is then read again.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0 != stamp {
            let (stamp, bytes) = read(&self.path)?;
            *seen = (stamp, self.loaded.as_ref().is_some_and(|loaded| loaded.hash == hash(&bytes)));
        }
        Ok(seen.1)
    }
}

fn read(path: &Path) -> Result<(Stamp, Vec<u8>), CredentialTrouble> {
    // Looked at before it is opened, because opening a pipe would wait, and again once it is open.
    usable(&looked_at(std::fs::metadata(path))?)?;
    let file = looked_at(File::open(path))?;
    let stamp = usable(&looked_at(file.metadata())?)?;
    let mut bytes = Vec::new();
    looked_at(file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))?;
    match bytes.trim_ascii() {
        [] => Err(CredentialTrouble::Missing("is empty".to_owned())),
        _ => Ok((stamp, bytes)),
    }
}

fn looked_at<T>(result: std::io::Result<T>) -> Result<T, CredentialTrouble> {
    result.map_err(|error| CredentialTrouble::Missing(format!("cannot be read: {error}")))
}

/// A plain file of the bot's account or of root, which nobody else reads or writes. The bot's own group may read one of
/// root's, because the bot could not read it otherwise.
fn usable(meta: &Metadata) -> Result<Stamp, CredentialTrouble> {
    if !meta.is_file() {
        return Err(CredentialTrouble::Missing("is no plain file".to_owned()));
    }
    if meta.len() > FILE_BYTES_MAX {
        return Err(CredentialTrouble::Missing(format!("is larger than {} KiB", FILE_BYTES_MAX / 1024)));
    }
    if meta.uid() != geteuid().as_raw() && meta.uid() != 0 {
        return Err(CredentialTrouble::Exposed(format!("belongs to another account (id {})", meta.uid())));
    }
    let shared = if meta.uid() == 0 && meta.gid() == getegid().as_raw() { 0o037 } else { 0o077 };
    if meta.mode() & shared != 0 {
        return Err(CredentialTrouble::Exposed(format!(
            "can be read or written by others (mode {:o})",
            meta.mode() & 0o777
        )));
    }
    let number = |number: u64| i64::from_ne_bytes(number.to_ne_bytes());
    Ok(Stamp([
        number(meta.dev()),
        number(meta.ino()),
        number(meta.len()),
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec(),
    ]))
}

fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const NAME: &str = "shop_token";

    struct Place {
        dir: tempfile::TempDir,
    }

    impl Place {
        fn new(content: Option<&str>) -> Self {
            let place = Self { dir: tempfile::tempdir().expect("a directory for the test") };
            if let Some(content) = content {
                place.write(content);
            }
            place
        }

        fn path(&self) -> PathBuf {
            self.dir.path().join("token")
        }

        fn write(&self, content: &str) {
            std::fs::write(self.path(), content).expect("a file can be written");
            self.mode(0o600);
        }

        fn mode(&self, mode: u32) {
            std::fs::set_permissions(self.path(), Permissions::from_mode(mode)).expect("the mode can be set");
        }

        fn load(&self) -> Credentials {
            let config = CredentialConfig { file: Some(self.path()), value: None };
            Credentials::load(&[(NAME.to_owned(), config)].into())
        }
    }

    fn state(credentials: &Credentials) -> Credential {
        credentials.look().credentials[NAME]
    }

    #[test]
    fn a_private_unchanged_file_is_revealed_without_its_line_end() {
        let place = Place::new(Some("hunter2hunter2\n"));
        let credentials = place.load();
        assert_eq!(state(&credentials), Credential::Sound);
        assert_eq!(credentials.reveal(NAME).map(Secret::expose), Ok("hunter2hunter2"));
        assert_eq!(credentials.values().collect::<Vec<_>>(), ["hunter2hunter2"]);
        place.mode(0o400);
        assert_eq!(state(&credentials), Credential::Sound);
        // Written anew with the same content, it is read again and still the same.
        place.write("hunter2hunter2\n");
        assert_eq!(state(&credentials), Credential::Sound);
        assert!(!format!("{credentials:?}").contains("hunter2"));
    }

    #[test]
    fn an_exposed_changed_or_missing_file_is_never_revealed() {
        for mode in [0o640, 0o604, 0o620, 0o602, 0o644] {
            let place = Place::new(Some("hunter2hunter2"));
            let credentials = place.load();
            place.mode(mode);
            // The group of root's own file is root's, where the tests run as root.
            let is_own_group = geteuid().is_root() && mode == 0o640;
            assert_eq!(state(&credentials) == Credential::Exposed, !is_own_group, "{mode:o}");
            assert_eq!(credentials.reveal(NAME).is_ok(), is_own_group, "{mode:o}");
        }
        let place = Place::new(Some("hunter2hunter2"));
        let credentials = place.load();
        place.write("hunter3hunter3");
        assert_eq!(state(&credentials), Credential::Changed, "the same length, in the same moment");
        assert_eq!(
            credentials.reveal(NAME).map(|_| ()).expect_err("changed").fix(),
            "Restart the bot, so that it loads the new one."
        );
        place.write("hunter2hunter2");
        assert_eq!(state(&credentials), Credential::Sound, "what was loaded is there again");
        std::fs::remove_file(place.path()).expect("it can be removed");
        assert_eq!(state(&credentials), Credential::Missing);
    }

    #[test]
    fn a_file_that_was_no_credential_at_the_start_is_none_later() {
        let place = Place::new(None);
        let credentials = place.load();
        assert_eq!(state(&credentials), Credential::Missing);
        place.write("hunter2hunter2");
        assert_eq!(state(&credentials), Credential::Changed);
        for content in ["", " \n"] {
            let place = Place::new(Some(content));
            assert_eq!(state(&place.load()), Credential::Missing, "{content:?}");
        }
        let place = Place::new(None);
        std::fs::create_dir(place.path()).expect("a directory can be created");
        assert_eq!(state(&place.load()), Credential::Missing);
    }

    #[test]
    fn a_credential_from_the_environment_is_sound() {
        let config = CredentialConfig { value: Some(Secret::new("hunter2")), file: None };
        let credentials = Credentials::load(&[(NAME.to_owned(), config)].into());
        assert_eq!(credentials.look().credentials, [(NAME.to_owned(), Credential::Sound)].into());
        let unknown = credentials.reveal("other").map(|_| ()).expect_err("nobody configured it");
        assert_eq!(unknown.to_string(), "the credential `other` is not configured");
    }
}
