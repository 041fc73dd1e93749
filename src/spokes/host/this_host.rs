//! This machine as the spoke sees it: its name, the places it looks at, the clock, and who we are. The places are fields
//! so that tests can point them at a directory of their own.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::clock::wall_now;
use countersign_core::command::Tables;
use countersign_core::egress::Destinations;
use countersign_core::resource::{BadResourceId, ResourceId};
use countersign_core::secrets::secret_path;

use super::Limits;
use super::answer::Trouble;
use super::secret_places::private_part;
use super::walls::Sandbox;

/// Where programs are looked for, and the whole `PATH` of what is run. The distribution's own directories come first, so
/// that nothing in `/usr/local` can stand in for one of its programs.
const PROGRAM_DIRS: [&str; 6] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"];

/// The machine this process runs on.
#[derive(Clone, Debug)]
pub(super) struct ThisHost {
    /// Its host name: the scope of every id.
    pub(super) name: String,
    /// Where it keeps things.
    pub(super) places: Places,
    /// The bot's own files and folders, by the names they really have: they are neither read nor written.
    pub(super) kept_out: Vec<PathBuf>,
    /// What starts the bot, by the names it really has: it is not written.
    kept_unchanged: Vec<PathBuf>,
    /// What each tool of a command line does.
    pub(super) commands: Tables,
    /// The destinations that commands may talk to.
    pub(super) egress: Destinations,
    /// The walls around every program that is started.
    pub(super) sandbox: Sandbox,
    /// The services that were stopped through us, each with the time of the pid file that it left behind, if any.
    stopped: Arc<Mutex<BTreeMap<String, Option<SystemTime>>>>,
}

/// Directories that differ between a real machine and a test.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// Exists exactly where systemd is the running init system (`sd_booted(3)`).
    pub(super) systemd: PathBuf,
    /// `SysV` init scripts.
    pub(super) init_scripts: PathBuf,
    /// Files with the process ids of running services.
    pub(super) pid_files: PathBuf,
    /// Where services without a journal write.
    pub(super) logs: PathBuf,
    /// Where programs are looked for, in this order.
    pub(super) programs: Vec<PathBuf>,
}

impl ThisHost {
    /// This machine with its usual places. Reads the host name from the kernel.
    pub(super) fn detect() -> Result<Self, sysinfo::Error> {
        let places = Places {
            systemd: PathBuf::from("/run/systemd/system"),
            init_scripts: PathBuf::from("/etc/init.d"),
            pid_files: PathBuf::from("/run"),
            logs: PathBuf::from("/var/log"),
            programs: PROGRAM_DIRS.iter().map(PathBuf::from).collect(),
        };
        let name = sysinfo::System::host_name()?;
        Ok(Self {
            name,
            places,
            kept_out: Vec::new(),
            kept_unchanged: Vec::new(),
            commands: Tables::default(),
            egress: Destinations::default(),
            sandbox: Sandbox::default(),
            stopped: Arc::default(),
        })
    }

    /// The services that were stopped through us. The lock is held for a moment only.
    pub(super) fn stopped(&self) -> MutexGuard<'_, BTreeMap<String, Option<SystemTime>>> {
        // A panic elsewhere leaves what was known before it.
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, held to these limits.
    pub(super) fn limited(mut self, limits: Limits) -> Self {
        self.commands = limits.commands;
        self.egress = limits.egress;
        self.sandbox.best_effort = limits.best_effort;
        self.sandbox.covered = by_both_names(limits.hide);
        self.sandbox.shown = by_both_names(limits.show);
        self.kept_unchanged = by_both_names(limits.keep_unchanged);
        self.keeping_out(limits.keep_out)
    }

    /// The same, with paths that are never read.
    pub(super) fn keeping_out(mut self, paths: Vec<PathBuf>) -> Self {
        self.kept_out = by_both_names(paths);
        self.sandbox.covered.extend(self.kept_out.iter().cloned());
        self
    }

    /// Refuses what is the bot's own, also under a second name. Links in the path must have been followed. Looks at files.
    pub(super) fn refuse_own(&self, real: &Path) -> Result<(), Trouble> {
        if is_among(real, &self.kept_out) {
            return Err(Trouble::forbidden(format!("`{}` belongs to the bot itself", real.display())));
        }
        Ok(())
    }

    /// Refuses what the configuration hides from commands. Links in the path must have been followed.
    pub(super) fn refuse_hidden(&self, real: &Path) -> Result<(), Trouble> {
        if is_among(real, &self.sandbox.covered) {
            let message = format!("`{}` is hidden from commands (`[run] hide`)", real.display());
            return Err(Trouble::forbidden(message));
        }
        Ok(())
    }

    /// Refuses to read what not everyone on this machine may, in a folder of the system. Links in the path must have been
    /// followed. Looks at files.
    pub(super) fn refuse_private(&self, real: &Path) -> Result<(), Trouble> {
        // What is secret by its name is refused as that.
        let is_secret = secret_path(&real.to_string_lossy()).is_some();
        let private = private_part(real, &self.sandbox.shown).filter(|_| !is_secret);
        let Some(private) = private else { return Ok(()) };
        let message = format!(
            "not everyone on this machine may read `{}`; an administrator opens it to the people here with `[run] show`",
            private.display()
        );
        Err(Trouble::forbidden(message))
    }

    /// Refuses to write what is the bot's own or starts it. Links in the path must have been followed. Looks at files.
    pub(super) fn refuse_to_write(&self, real: &Path) -> Result<(), Trouble> {
        self.refuse_own(real)?;
        if is_among(real, &self.kept_unchanged) {
            let message = format!("`{}` starts the bot or one of its tool servers", real.display());
            return Err(Trouble::forbidden(format!("{message}; change it on the machine itself")));
        }
        Ok(())
    }

    /// The id of the machine itself: what everything on it lives in.
    pub(super) fn id(&self) -> Result<ResourceId, BadResourceId> {
        ResourceId::global("host", &self.name)
    }

    /// The id of something on this machine; `None` where no sound id can be made of it.
    pub(super) fn id_of(&self, kind: &str, uid: &str) -> Option<ResourceId> {
        ResourceId::scoped(kind, &self.name, uid).ok()
    }

    /// What everything on this machine lives in.
    pub(super) fn chain(&self) -> Vec<ResourceId> {
        self.id().into_iter().collect()
    }
}

fn by_both_names(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let real: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    paths.into_iter().chain(real).collect()
}

/// Whether a path is one of these or below one, or is the same file under another name.
fn is_among(real: &Path, kept: &[PathBuf]) -> bool {
    let file = |path: &Path| path.metadata().ok().filter(Metadata::is_file).map(|meta| (meta.dev(), meta.ino()));
    kept.iter().any(|kept| real.starts_with(kept))
        || file(real).is_some_and(|this| kept.iter().any(|kept| file(kept) == Some(this)))
}

/// Milliseconds since the Unix epoch.
pub(super) fn now_ms() -> i64 {
    wall_now().0
}

/// Lets time pass between two looks at the machine. Every call has a thread of its own, which has nothing else to do.
pub(super) fn pause(time: Duration) {
    #[expect(clippy::disallowed_methods, reason = "a rate needs two looks, and this thread is the call's own")]
    std::thread::sleep(time);
}

/// The part of the whole as a percentage from 0 to 100, with one decimal; 0 where there is no whole.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    let per_mille = (u128::from(part) * 1000).checked_div(u128::from(whole)).unwrap_or(0);
    f64::from(u32::try_from(per_mille).unwrap_or(u32::MAX)) / 10.0
}

/// The names of this machine's users by number. Reads the user database.
pub(super) fn users() -> BTreeMap<u32, String> {
    let listed = sysinfo::Users::new_with_refreshed_list();
    let users = listed.iter().flat_map(|users| users.iter());
    users.map(|user| (**user.id(), user.name().to_owned())).collect()
}

/// Whom this process runs as; the number where the user has no name.
pub(super) fn user_name() -> String {
    let uid = procfs::process::Process::myself().and_then(|me| me.status()).map(|status| status.euid);
    match uid {
        Ok(uid) => users().remove(&uid).unwrap_or_else(|| format!("user {uid}")),
        Err(_) => "an unknown user".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_one_decimal_and_never_divide_by_zero() {
        assert!((percent(1, 3) - 33.3).abs() < 1e-9);
        assert!((percent(u64::MAX, u64::MAX) - 100.0).abs() < 1e-9);
        assert!(percent(5, 0).abs() < 1e-9);
    }

    #[test]
    fn the_machine_has_an_id_and_we_have_a_name() {
        let host = ThisHost::detect().expect("Linux has a host name");
        assert_eq!(host.id().expect("a host name is a sound part").as_str(), format!("host:{}", host.name));
        assert!(!user_name().is_empty());
    }
}
