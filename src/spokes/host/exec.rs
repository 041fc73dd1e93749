//! Running another program so that it cannot hold us up: by argument vector, with a clean environment, nothing on its
//! standard input, bounded output, and an end, with everything it started, at the time limit. What may be run at all is
//! decided elsewhere.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::answer::Trouble;
use super::this_host::ThisHost;
use super::wrote::Wrote;

/// The most bytes kept of what a program says is wrong: a few sentences.
const ERROR_BYTES_MAX: u64 = 8 * 1024;

/// A program to run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// Its plain name, looked up in the places for programs, or an absolute path.
    pub(super) program: &'a str,
    /// Its arguments.
    pub(super) args: &'a [&'a str],
    /// What it reads on standard input; nothing where there is none.
    pub(super) input: Option<File>,
    /// When it is ended, with everything it started.
    pub(super) limit: Duration,
    /// The most bytes kept of its output. What writes more loses its reader and ends.
    pub(super) output_bytes_max: u64,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The exit code; `None` where a signal ended it.
    pub(super) code: Option<i32>,
    /// What it wrote, at most as much as was asked for.
    pub(super) output: Vec<u8>,
    /// Whether it wrote more than that.
    pub(super) cut: bool,
    /// What it said is wrong.
    pub(super) errors: String,
}

/// Runs a program to its end. A program that is not installed is `NOT_FOUND`; one that takes too long is `TIMEOUT`.
pub(super) async fn run(host: &ThisHost, run: Run<'_>) -> Result<Outcome, Trouble> {
    let path = locate(host, run.program)
        .ok_or_else(|| Trouble::not_found(format!("`{}` is not installed on this machine", run.program), Vec::new()))?;
    let could_not_start = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => Trouble::denied(&format!("`{}`", run.program)),
        _ => Trouble::failed(format!("`{}` could not be started: {error}", run.program)),
    };
    let child = command(host, &path, run.args, run.input).spawn().map_err(could_not_start)?;
    // From here on, whichever way we leave (time limit, cancelled call), nothing that was started stays behind.
    let group = Group::of(&child);
    let outcome = timeout(run.limit, finish(child, run.output_bytes_max)).await;
    match outcome {
        Ok(Ok(outcome)) => {
            group.has_ended();
            Ok(outcome)
        }
        Ok(Err(error)) => Err(Trouble::failed(format!("`{}` could not be followed to its end: {error}", run.program))),
        Err(_) => Err(Trouble::too_slow(format!(
            "`{}` did not end within {} s and was stopped",
            run.program,
            run.limit.as_secs()
        ))),
    }
}

/// What came of a program that may have left a service running.
#[derive(Debug)]
pub(super) struct Ended {
    /// The exit code; `None` where a signal ended it.
    pub(super) code: Option<i32>,
    /// The beginning of what it wrote, where it did not end well: its output and its errors in one.
    pub(super) wrote: String,
}

/// Runs a program that may leave a service running, with one argument, and waits for the program alone: what it started
/// may hold its output for ever, so that only what is written until it ends is heard (`wrote.rs`), and once it has ended
/// nothing of it is touched. At the time limit it is ended with its group.
pub(super) async fn control(host: &ThisHost, program: &str, arg: &str, limit: Duration) -> Result<Ended, Trouble> {
    let mut command = command(host, Path::new(program), &[arg], None);
    let mut wrote = Wrote::of(host, &mut command);
    let mut child = command.spawn().map_err(|error| Trouble::refused(format!("`{program}` cannot be run: {error}")))?;
    // The writing ends are the program's alone from here on.
    drop(command);
    let group = Group::of(&child);
    match timeout(limit, wrote.while_running(child.wait())).await {
        Ok(Ok(status)) => {
            group.has_ended();
            let wrote = if status.success() { String::new() } else { wrote.until_silent().await };
            Ok(Ended { code: status.code(), wrote })
        }
        Ok(Err(error)) => Err(Trouble::failed(format!("`{program}` could not be followed to its end: {error}"))),
        Err(_) => Err(Trouble::too_slow(format!(
            "`{program} {arg}` did not end within {} s and was stopped",
            limit.as_secs()
        ))),
    }
}

/// The full path of a program, where it is installed.
pub(super) fn locate(host: &ThisHost, program: &str) -> Option<PathBuf> {
    if program.starts_with('/') {
        return Some(PathBuf::from(program));
    }
    host.places.programs.iter().map(|dir| dir.join(program)).find(|path| path.is_file())
}

/// A program that sees a clean environment, and whose group ends with it.
pub(super) fn command(host: &ThisHost, path: &Path, args: &[&str], input: Option<File>) -> Command {
    let mut command = Command::new(path);
    let search: Vec<String> = host.places.programs.iter().map(|dir| dir.display().to_string()).collect();
    command
        .args(args)
        .env_clear()
        .env("PATH", search.join(":"))
        .env("LC_ALL", "C.UTF-8")
        .env("TERM", "dumb")
        .current_dir("/")
        .stdin(input.map_or_else(Stdio::null, Stdio::from))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    command
}

async fn finish(mut child: Child, output_bytes_max: u64) -> io::Result<Outcome> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (output, errors, status) =
        tokio::join!(read_start(stdout, output_bytes_max), read_start(stderr, ERROR_BYTES_MAX), child.wait());
    let (output, cut) = output?;
    let (errors, _) = errors?;
    Ok(Outcome { code: status?.code(), output, cut, errors: String::from_utf8_lossy(&errors).trim().to_owned() })
}

/// The first bytes of a pipe, and whether there were more. The pipe closes on return, which ends whoever writes on.
async fn read_start(pipe: Option<impl AsyncRead + Unpin>, bytes_max: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let Some(pipe) = pipe else {
        return Ok((bytes, false));
    };
    pipe.take(bytes_max + 1).read_to_end(&mut bytes).await?;
    let kept = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let cut = bytes.len() > kept;
    bytes.truncate(kept);
    Ok((bytes, cut))
}

/// The process group of a program that was started. Dropping it ends every member; [`Group::has_ended`] forgets it.
struct Group(Option<i32>);

impl Group {
    /// The group that `process_group(0)` made: its number is the first member's.
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|pid| i32::try_from(pid).ok()))
    }

    fn has_ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(group) = self.0 else {
            return;
        };
        let members = procfs::process::all_processes().into_iter().flatten().flatten();
        let pids: Vec<sysinfo::Pid> = members
            .filter_map(|process| process.stat().ok())
            .filter(|stat| stat.pgrp == group)
            .filter_map(|stat| u32::try_from(stat.pid).ok())
            .map(sysinfo::Pid::from_u32)
            .collect();
        let Ok(mut system) = sysinfo::System::new() else {
            return;
        };
        system.refresh_processes_specifics(
            sysinfo::ProcessesToUpdate::Some(&pids),
            false,
            sysinfo::ProcessRefreshKind::nothing(),
        );
        for pid in pids {
            system.process(pid).map(sysinfo::Process::kill);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use countersign_core::envelope::Code;

    use super::*;

    fn sh<'a>(args: &'a [&'a str]) -> Run<'a> {
        Run { program: "sh", args, limit: Duration::from_secs(20), input: None, output_bytes_max: 1_000 }
    }

    fn host() -> ThisHost {
        ThisHost::detect().expect("Linux has a host name")
    }

    #[tokio::test]
    async fn a_program_sees_a_clean_environment_and_no_input() {
        let outcome = run(&host(), sh(&["-c", "env | sort; cat; echo oops >&2; exit 3"])).await.expect("sh runs");
        let text = String::from_utf8_lossy(&outcome.output).into_owned();
        let names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
        assert_eq!(names, ["LC_ALL", "PATH", "PWD", "TERM"]);
        assert_eq!((outcome.code, outcome.errors.as_str(), outcome.cut), (Some(3), "oops", false));
    }

    #[tokio::test]
    async fn output_without_end_is_cut() {
        let started = Instant::now();
        let outcome = run(&host(), sh(&["-c", "yes"])).await.expect("sh runs");
        assert!(outcome.cut && outcome.output.len() == 1_000);
        assert!(started.elapsed() < Duration::from_secs(10), "its writer must lose the pipe and end");
    }

    #[tokio::test]
    async fn at_the_time_limit_everything_that_was_started_ends() {
        // Ends by itself should this fail; the odd number is how we know it again.
        let marker = "97.31";
        let script = format!("sleep {marker} & sleep {marker}");
        let args = ["-c", script.as_str()];
        let slow = Run { limit: Duration::from_millis(300), ..sh(&args) };
        let trouble = run(&host(), slow).await.expect_err("it takes longer");
        assert_eq!(trouble.failure().code, Code::Timeout);
        assert!(trouble.failure().retryable);
        // A killed process may be a zombie until its parent looks; a zombie has no command line.
        let running = || {
            let processes = procfs::process::all_processes().expect("/proc is there").flatten();
            processes
                .filter_map(|process| process.cmdline().ok())
                .any(|words| words.get(1).is_some_and(|w| w == marker))
        };
        let deadline = Instant::now() + Duration::from_secs(5);
        while running() {
            assert!(Instant::now() < deadline, "a child is left behind");
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_is_not_installed_is_not_found() {
        let missing = Run { program: "countersign-no-such-program", ..sh(&[]) };
        let trouble = run(&host(), missing).await.expect_err("no such program");
        assert_eq!(trouble.failure().code, Code::NotFound);
    }
}
