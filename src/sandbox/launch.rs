//! The launcher: gives up one thing after another and then becomes the program. Runs in a process of its own with a single
//! thread, so that each step holds for all of it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;
use nix::unistd::setsid;

use super::{SESSION, Walls, mounts, privileges, rules, system_calls};

/// The first file descriptor that is none of input, output and errors.
const FIRST_OTHER: i32 = 3;

/// Processor seconds of one process: what reads for longer is ended by the clock before.
const SECONDS_MAX: u64 = 60;

/// The most private memory of one process, in bytes: a sort of a large file, no more.
const MEMORY_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// The most address space of one process, in bytes. Runtimes reserve far more than they use.
const ADDRESS_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;

/// The most processes and threads of the user that it runs as.
const PROCESSES_MAX: u64 = 128;

/// The most open files of one process.
const FILES_MAX: u64 = 1024;

/// Becomes `program`. Returns why that failed; what was given up by then is not given back.
pub(super) fn launch(walls: &OsStr, program: &OsStr, args: impl Iterator<Item = OsString>) -> String {
    // What the bot was started with, and everything else but input, output and errors, ends here.
    close_fds::set_fds_cloexec(FIRST_OTHER, &[]);
    let built = match walls.to_str() {
        Some(SESSION) => own_session(),
        _ => read(walls).and_then(|walls| build(&walls)),
    };
    match built {
        Err(reason) => reason,
        Ok(()) => format!("{}: {}", program.display(), Command::new(program).args(args).exec()),
    }
}

fn read(walls: &OsStr) -> Result<Walls, String> {
    serde_json::from_str(&walls.to_string_lossy()).map_err(|error| format!("its walls cannot be read: {error}"))
}

fn own_session() -> Result<(), String> {
    setsid().map(drop).map_err(|error| format!("no session of its own: {error}"))
}

fn build(walls: &Walls) -> Result<(), String> {
    own_session()?;
    // The first to go where memory runs out. Elsewhere than on Linux proper this file may be missing.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    let soften = |result: Result<(), String>| if walls.best_effort { Ok(()) } else { result };
    let entered = mounts::enter(walls);
    // Without mounts it would read the secrets.
    if walls.masked.is_some() {
        entered?;
    } else {
        soften(entered)?;
    }
    limit().map_err(|error| format!("no limits: {error}"))?;
    privileges::give_up(walls)?;
    // Only now: a change of the user takes it back.
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(|error| format!("it would outlive the tool server: {error}"))?;
    let landlock = soften_to(walls.best_effort, rules::restrict(walls))?;
    system_calls::restrict(walls, landlock)
}

/// What a step came to, or the least where it may fail.
fn soften_to<T: Default>(best_effort: bool, result: Result<T, String>) -> Result<T, String> {
    if best_effort { Ok(result.unwrap_or_default()) } else { result }
}

fn limit() -> nix::Result<()> {
    let limits = [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_FSIZE, 0),
        (Resource::RLIMIT_CPU, SECONDS_MAX),
        (Resource::RLIMIT_DATA, MEMORY_BYTES_MAX),
        (Resource::RLIMIT_AS, ADDRESS_BYTES_MAX),
        (Resource::RLIMIT_NPROC, PROCESSES_MAX),
        (Resource::RLIMIT_NOFILE, FILES_MAX),
        (Resource::RLIMIT_MEMLOCK, 0),
    ];
    limits.into_iter().try_for_each(|(resource, most)| setrlimit(resource, most, most))
}
