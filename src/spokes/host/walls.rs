//! The walls around the programs that this server starts: which places are covered, and what is said where they cannot be
//! built. How they are built is in `src/sandbox`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::Instant;

use super::answer::Trouble;
use super::exec::Reaches;
use super::readable::{ReadableFiles, installed};
use super::secret_places::secret_places;
use countersign_sandbox as sandbox;
use countersign_sandbox::{SystemFiles, Walls};

/// How old the list of secret places may be.
const LIST_AGE_MAX: Duration = Duration::from_mins(1);

/// The sandbox as it was configured.
#[derive(Clone, Debug, Default)]
pub(super) struct Sandbox {
    /// Whether a wall that cannot be built is done without.
    pub(super) best_effort: bool,
    /// Covered whatever their names say: the bot's own, and what the configuration adds.
    pub(super) covered: Vec<PathBuf>,
    /// Places that the configuration shows although they are private.
    pub(super) shown: Vec<PathBuf>,
    secrets: Arc<Mutex<Option<SecretPlaces>>>,
}

/// The places of secrets, and when they were looked for.
#[derive(Clone, Debug)]
struct SecretPlaces {
    found: Instant,
    places: Vec<PathBuf>,
}

impl Sandbox {
    /// Returns a command that runs a program behind the walls, in a session of its own.
    pub(super) fn command(&self, program: &Path, files: &ReadableFiles, reaches: &Reaches) -> Command {
        let mut walls = self.walls(files, reaches);
        walls.readable.extend(installed(program));
        launched(sandbox::wrapped(&walls, program), program)
    }

    /// Returns a command that runs a program in a session of its own, with nothing else around it.
    pub(super) fn session(program: &Path) -> Command {
        launched(sandbox::in_own_session(program), program)
    }

    /// Returns what is said where a program's walls could not be built.
    pub(super) fn trouble(reason: &str) -> Trouble {
        Trouble::forbidden(format!(
            "commands don't run here, because their sandbox can't be built ({reason}); `countersign doctor` says what to do"
        ))
    }

    fn walls(&self, files: &ReadableFiles, reaches: &Reaches) -> Walls {
        Walls {
            best_effort: self.best_effort,
            covered: self.covers(files).collect(),
            readable: if reaches.all_files { sandbox::everything() } else { files.paths.iter().cloned().collect() },
            masked: files.masked.as_ref().map(|masked| masked.descriptor()),
            system: if files.is_all { SystemFiles::Starts } else { SystemFiles::All },
            network: reaches.network,
            ports: reaches.ports.clone(),
            sockets: reaches.sockets.clone(),
            asks: reaches.asks,
        }
    }

    /// Returns every place that a program with these files must not see.
    pub(super) fn covers(&self, files: &ReadableFiles) -> impl Iterator<Item = PathBuf> {
        self.covered.iter().cloned().chain(self.secret_places()).chain(files.covered.iter().cloned())
    }

    /// Returns places of secrets that are there now, found at most a minute ago.
    pub(super) fn secret_places(&self) -> Vec<PathBuf> {
        let mut known = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref().filter(|known| known.found.elapsed() < LIST_AGE_MAX) {
            Some(known) => known.places.clone(),
            None => {
                let places = secret_places(&self.shown);
                known.insert(SecretPlaces { found: Instant::now(), places }).places.clone()
            }
        }
    }
}

/// Returns the walls of a command that reaches nothing and may read whatever is no secret. Looks through folders.
pub(crate) fn usual_walls() -> Walls {
    Walls { covered: secret_places(&[]), readable: sandbox::everything(), ..Walls::default() }
}

fn launched((launcher, args): (PathBuf, Vec<OsString>), program: &Path) -> Command {
    if cfg!(test) {
        // The binary of these tests is no launcher. The walls are tested with the bot's own, in `tests/it/sandbox.rs`.
        let mut command = Command::new(program);
        command.process_group(0);
        return command;
    }
    let mut command = Command::new(launcher);
    command.args(args);
    command
}
