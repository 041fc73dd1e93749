//! Services under `SysV` init: a script each in `/etc/init.d`, whose action `status` says by its exit code how the
//! service is (Linux Standard Base 5.0, "Init Script Actions"). A script that does not speak of `status` is not run.

use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use procfs::process::Process;

use super::{Service, Services, State, Status};
use crate::spokes::host::answer::Trouble;
use crate::spokes::host::exec::{self, Run};
use crate::spokes::host::this_host::ThisHost;

/// How long one script may take to say how its service is.
const STATUS_LIMIT: Duration = Duration::from_secs(3);

/// How many scripts are asked at a time.
const ASKED_AT_ONCE: usize = 8;

/// The most of a script that is read: its header and its actions.
const SCRIPT_BYTES_MAX: u64 = 64 * 1024;

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

    async fn ask(&self, service: Service) -> Status {
        let path = self.host.places.init_scripts.join(&service.name).display().to_string();
        let run = Run {
            program: &path,
            args: &["status"],
            limit: STATUS_LIMIT,
            input: None,
            output_bytes_max: OUTPUT_BYTES_MAX,
        };
        let (state, detail) = match exec::run(self.host, run).await {
            Ok(outcome) => (state_of(outcome.code), first_line(&outcome.output)),
            Err(trouble) => {
                let message = trouble.into_envelope(0).error.map(|failure| failure.message);
                (State::Unknown, message.unwrap_or_default())
            }
        };
        let pid = self.pid_of(&service.name);
        Status { service, state, detail, pid }
    }

    /// The process that the service's pid file names, if it still runs.
    fn pid_of(&self, name: &str) -> Option<i32> {
        let text = std::fs::read_to_string(self.host.places.pid_files.join(format!("{name}.pid"))).ok()?;
        let pid: i32 = text.lines().next()?.trim().parse().ok()?;
        Process::new(pid).ok().filter(Process::is_alive).map(|process| process.pid)
    }
}

impl Services for SysV<'_> {
    fn system(&self) -> &'static str {
        "SysV init"
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Service>, Trouble>> {
        async { self.scripts() }.boxed()
    }

    fn statuses(&self, services: Vec<Service>) -> BoxFuture<'_, Result<Vec<Status>, Trouble>> {
        let asked = services.into_iter().map(|service| self.ask(service));
        async { Ok(futures::stream::iter(asked).buffered(ASKED_AT_ONCE).collect().await) }.boxed()
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
