//! Services under `SysV` init: a script each in `/etc/init.d`, whose action `status` says by its exit code how the
//! service is (Linux Standard Base 5.0, "Init Script Actions"), and whose other actions start and stop it. A script that
//! does not speak of `status` is not run.

use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use countersign_core::approval::Digest;
use countersign_sandbox::Asks;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use procfs::process::{Process, Stat};

use super::control::{Verb, script_failed};
use super::{Service, Services, State, Status};
use crate::spokes::host::answer::Trouble;
use crate::spokes::host::exec::{self, Reaches, Run};
use crate::spokes::host::this_host::ThisHost;

/// How long one script may take to say how its service is.
const STATUS_LIMIT: Duration = Duration::from_secs(3);

/// How long one script may take to start or to stop its service.
const CONTROL_LIMIT: Duration = Duration::from_secs(30);

/// How many scripts are asked at a time.
const ASKED_AT_ONCE: usize = 8;

/// The most of a script that is read: its header and its actions.
const SCRIPT_BYTES_MAX: u64 = 64 * 1024;

/// The largest script whose sum is told: all of it counts, and no real one comes near.
const SUMMED_BYTES_MAX: u64 = 1024 * 1024;

/// The most that is kept of what a script says.
const OUTPUT_BYTES_MAX: u64 = 2_000;

/// The longest sentence of a script that is shown, in characters.
const DETAIL_CHARS_MAX: usize = 200;

/// The back end.
pub(super) struct SysV<'h> {
    host: &'h ThisHost,
}

impl<'h> SysV<'h> {
    /// Of this machine.
    pub(super) const fn new(host: &'h ThisHost) -> Self {
        Self { host }
    }

    fn scripts(&self) -> Result<Vec<Service>, Trouble> {
        let dir = &self.host.places.init_scripts;
        let entries = std::fs::read_dir(dir).map_err(|error| Trouble::io(dir, &error))?;
        let mut services: Vec<Service> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| is_name(name))
            .filter_map(|name| self.service(name))
            .collect();
        services.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(services)
    }

    /// `None` for what is no script with an action `status`.
    fn service(&self, name: String) -> Option<Service> {
        let path = self.host.places.init_scripts.join(&name);
        path.metadata().ok().filter(is_program)?;
        let mut bytes = Vec::new();
        std::fs::File::open(&path).ok()?.take(SCRIPT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        let script = String::from_utf8_lossy(&bytes);
        script.contains("status").then(|| Service { about: description(&script), name })
    }

    fn script(&self, name: &str) -> String {
        self.host.places.init_scripts.join(name).display().to_string()
    }

    async fn ask(&self, service: Service) -> Status {
        let path = self.script(&service.name);
        // A script may connect to its service's local socket and check its process with `kill -0`.
        let sockets = vec![PathBuf::from("/")];
        let reaches = Reaches { all_files: true, sockets, asks: Asks::Processes, ..Reaches::default() };
        let run = Run {
            program: &path,
            args: &["status"],
            limit: STATUS_LIMIT,
            input: None,
            reaches,
            output_bytes_max: OUTPUT_BYTES_MAX,
        };
        let (state, detail) = match exec::run(self.host, run).await {
            Ok(outcome) => (state_of(outcome.code), first_line(&outcome.output)),
            Err(trouble) => {
                let message = trouble.into_envelope(0).error.map(|failure| failure.message);
                (State::Unknown, message.unwrap_or_default())
            }
        };
        let state = if state == State::Failed && self.was_stopped(&service.name) { State::Inactive } else { state };
        let process = self.process_of(&service.name);
        let run = process.as_ref().map(|stat| format!("{}-{}", stat.pid, stat.starttime));
        Status { service, state, detail, pid: process.map(|stat| stat.pid), run }
    }

    /// The process that the service's pid file names, if it still runs.
    fn process_of(&self, name: &str) -> Option<Stat> {
        let text = std::fs::read_to_string(self.pid_file(name)).ok()?;
        let pid: i32 = text.lines().next()?.trim().parse().ok()?;
        let process = Process::new(pid).ok().filter(Process::is_alive)?;
        process.stat().ok().filter(|stat| !matches!(stat.state, 'Z' | 'X'))
    }

    fn pid_file(&self, name: &str) -> PathBuf {
        self.host.places.pid_files.join(format!("{name}.pid"))
    }

    /// Which pid file is there; none where there is none.
    fn pid_file_written(&self, name: &str) -> Option<SystemTime> {
        self.pid_file(name).metadata().and_then(|meta| meta.modified()).ok()
    }

    /// A script that leaves the pid file behind when it stops its service calls that dead, as if the service had broken.
    /// Where it was us who stopped it, and the same file is still there, it is known to be merely stopped.
    fn was_stopped(&self, name: &str) -> bool {
        self.host.stopped().get(name) == Some(&self.pid_file_written(name))
    }

    async fn tell(&self, service: Service, verb: Verb) -> Result<(), Trouble> {
        self.host.stopped().remove(&service.name);
        let ended = exec::control(self.host, &self.script(&service.name), verb.word(), CONTROL_LIMIT).await?;
        if ended.code != Some(0) {
            return Err(script_failed(&service.name, verb, &ended));
        }
        if verb == Verb::Stop {
            let written = self.pid_file_written(&service.name);
            self.host.stopped().insert(service.name, written);
        }
        Ok(())
    }
}

impl Services for SysV<'_> {
    fn system(&self) -> &'static str {
        "SysV init"
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Service>, Trouble>> {
        async { self.scripts() }.boxed()
    }

    fn named<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Service>, Trouble>> {
        async move {
            let found = self.scripts()?.into_iter().find(|service| service.name == name);
            let path = self.host.places.init_scripts.join(name);
            if found.is_none() && is_name(name) && path.symlink_metadata().is_ok() {
                let message =
                    format!("`{}` cannot be read, or is no init script with an action `status`", path.display());
                return Err(Trouble::failed(message));
            }
            Ok(found)
        }
        .boxed()
    }

    fn statuses(&self, services: Vec<Service>) -> BoxFuture<'_, Result<Vec<Status>, Trouble>> {
        let asked = services.into_iter().map(|service| self.ask(service));
        async { Ok(futures::stream::iter(asked).buffered(ASKED_AT_ONCE).collect().await) }.boxed()
    }

    fn script_sum(&self, service: &Service) -> Result<Option<String>, Trouble> {
        let path = self.host.places.init_scripts.join(&service.name);
        let file = std::fs::File::open(&path).map_err(|error| Trouble::io(&path, &error))?;
        let mut bytes = Vec::new();
        file.take(SUMMED_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| Trouble::io(&path, &error))?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > SUMMED_BYTES_MAX {
            let (shown, most) = (path.display(), SUMMED_BYTES_MAX / 1024);
            return Err(Trouble::failed(format!("`{shown}` is larger than {most} KiB; it is no init script")));
        }
        Ok(Some(Digest::of(&bytes).as_str().to_owned()))
    }

    fn control(&self, service: Service, verb: Verb) -> BoxFuture<'_, Result<(), Trouble>> {
        self.tell(service, verb).boxed()
    }
}

/// A name that can only be a script of this directory. Backups that package managers leave there have a dot.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '@' | '+' | '.');
    let is_backup = [".dpkg-", ".rpm", ".bak", ".old"].iter().any(|mark| name.contains(mark));
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain) && !is_backup
}

fn is_program(meta: &Metadata) -> bool {
    meta.is_file() && meta.permissions().mode() & 0o111 != 0
}

/// The line `# Short-Description:` of the script's header.
fn description(script: &str) -> String {
    let line = script.lines().find_map(|line| line.strip_prefix('#')?.trim().strip_prefix("Short-Description:"));
    line.map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// The exit codes of `status`, after the Linux Standard Base.
const fn state_of(code: Option<i32>) -> State {
    match code {
        Some(0) => State::Active,
        // Dead, but its pid file or its lock is still there.
        Some(1 | 2) => State::Failed,
        Some(3) => State::Inactive,
        _ => State::Unknown,
    }
}

fn first_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .trim()
        .chars()
        .take(DETAIL_CHARS_MAX)
        .collect()
}
