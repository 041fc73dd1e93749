//! Running other programs so that they cannot hold us up: by argument vector and behind the sandbox's walls, with a clean
//! environment, nothing on their standard input, bounded output, and an end, with everything they started, at the time
//! limit. What may be run at all is decided elsewhere.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Seek, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::command::{Joint, Stream};
use countersign_sandbox::Asks;
use futures::future::join_all;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{WaitId, WaitIdOptions, waitid};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::answer::Trouble;
use super::between::{Takes, pass_on};
use super::changes;
use super::readable::ReadableFiles;
use super::this_host::ThisHost;
use super::walls::Sandbox;
use super::wrote::Wrote;

/// The most bytes kept of what a program says is wrong: a few sentences.
const ERROR_BYTES_MAX: u64 = 8 * 1024;

/// One program to run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// Its plain name, looked up in the places for programs, or an absolute path.
    pub(super) program: &'a str,
    /// Its arguments.
    pub(super) args: &'a [&'a str],
    /// What it reads on standard input; nothing where there is none.
    pub(super) input: Option<File>,
    /// What it must reach beside files.
    pub(super) reaches: Reaches,
    /// When it is ended, with everything it started.
    pub(super) limit: Duration,
    /// The most bytes kept of its output. What writes more loses its reader and ends.
    pub(super) output_bytes_max: u64,
}

/// What a program may reach beside the system's own files and those that its words name.
#[derive(Clone, Debug, Default)]
pub(super) struct Reaches {
    /// Whether it reads whatever file is no secret: a script that the machine's owner has installed.
    pub(super) all_files: bool,
    /// Whether it has a network at all.
    pub(super) network: bool,
    /// TCP ports that it may connect to.
    pub(super) ports: Vec<u16>,
    /// Local sockets; a folder stands for those in it.
    pub(super) sockets: Vec<PathBuf>,
    /// Its capability beyond reading.
    pub(super) asks: Asks,
}

/// What a command of a pipeline reads.
#[derive(Debug)]
pub(super) enum Fed {
    /// Nothing.
    Nothing,
    /// What the command before it writes.
    Before,
    /// A file that is open already.
    File(File),
    /// The same, masked on its way.
    Masked(File, Takes),
}

/// One command of a line, ready to be started.
#[derive(Debug)]
pub(super) struct Start {
    /// The program's full path.
    pub(super) path: PathBuf,
    /// Its arguments.
    pub(super) args: Vec<String>,
    /// Additions to its environment.
    pub(super) settings: Vec<(String, String)>,
    /// Its standard input.
    pub(super) input: Fed,
    /// Its standard output.
    pub(super) output: Stream,
    /// Its standard error.
    pub(super) errors: Stream,
    /// What it must reach beside files.
    pub(super) reaches: Reaches,
    /// The input that it may get from the command before it.
    pub(super) takes: Takes,
    /// The files that it may read.
    pub(super) files: Arc<ReadableFiles>,
    /// True for git, which shows whole files around each change.
    pub(super) shows_changes: bool,
}

/// Commands that run beside each other.
pub(super) type Pipeline = Vec<Start>;

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
    /// True if secrets were masked between two commands.
    pub(super) masked: bool,
}

/// Runs a program to its end. A program that is not installed is `NOT_FOUND`; one that takes too long is `TIMEOUT`.
pub(super) async fn run(host: &ThisHost, run: Run<'_>) -> Result<Outcome, Trouble> {
    let start = Start {
        path: installed(host, run.program)?,
        args: run.args.iter().map(|word| (*word).to_owned()).collect(),
        settings: Vec::new(),
        input: run.input.map_or(Fed::Nothing, Fed::File),
        output: Stream::Output,
        errors: Stream::Errors,
        reaches: run.reaches,
        takes: Takes::Text,
        files: Arc::new(ReadableFiles::named_by(run.args.iter().copied())),
        shows_changes: false,
    };
    let bounds = Bounds { limit: run.limit, output_bytes_max: run.output_bytes_max };
    run_list(host, vec![(Joint::Then, vec![start])], bounds, run.program).await
}

/// How long a line may take, and how much it may say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// When everything is ended.
    pub(super) limit: Duration,
    /// The most bytes kept of its output.
    pub(super) output_bytes_max: u64,
}

/// Runs pipelines one after another, as their joints say. `shown` names them in errors.
pub(super) async fn run_list(
    host: &ThisHost,
    list: Vec<(Joint, Pipeline)>,
    bounds: Bounds,
    shown: &str,
) -> Result<Outcome, Trouble> {
    let broken = |error: io::Error| Trouble::failed(format!("`{shown}` could not be run: {error}"));
    let (output, output_end) = io::pipe().map_err(broken)?;
    let (errors, errors_end) = io::pipe().map_err(broken)?;
    let sinks = Sinks { output: output_end, errors: errors_end };
    let all = async {
        tokio::join!(
            read_start(output, bounds.output_bytes_max),
            read_all(errors, ERROR_BYTES_MAX),
            run_pipelines(host, list, sinks)
        )
    };
    // Leaving in whichever way (time limit, cancelled call) drops what runs, and with it everything that it started.
    let Ok((output, errors, code)) = timeout(bounds.limit, all).await else {
        let seconds = bounds.limit.as_secs();
        return Err(Trouble::too_slow(format!("`{shown}` did not end within {seconds} s and was stopped")));
    };
    let (output, cut) = output.map_err(broken)?;
    let errors = errors.map_err(broken)?;
    let errors = String::from_utf8_lossy(&errors).trim().to_owned();
    let End { code, masked } = code?;
    match countersign_sandbox::failure(code, &errors) {
        Some(reason) => Err(Sandbox::trouble(reason)),
        None => Ok(Outcome { code, output, cut, errors, masked }),
    }
}

/// Where the commands of a line write.
struct Sinks {
    output: PipeWriter,
    errors: PipeWriter,
}

/// The end of one or more pipelines.
struct End {
    /// The exit code of what ran last; `None` where a signal ended it.
    code: Option<i32>,
    /// True if secrets were masked between two commands.
    masked: bool,
}

async fn run_pipelines(host: &ThisHost, list: Vec<(Joint, Pipeline)>, sinks: Sinks) -> Result<End, Trouble> {
    let mut end = End { code: Some(0), masked: false };
    for (joint, pipeline) in list {
        let runs = match joint {
            Joint::Then => true,
            Joint::And => end.code == Some(0),
            Joint::Or => end.code != Some(0),
        };
        if runs {
            let ended = run_pipeline(host, pipeline, &sinks).await?;
            end = End { code: ended.code, masked: end.masked || ended.masked };
        }
    }
    Ok(end)
}

async fn run_pipeline(host: &ThisHost, pipeline: Pipeline, sinks: &Sinks) -> Result<End, Trouble> {
    let mut running = Vec::new();
    let mut masks = Vec::new();
    let mut before: Option<PipeReader> = None;
    let last = pipeline.len().saturating_sub(1);
    let mut after = pipeline.iter().skip(1).map(|start| start.takes).collect::<Vec<_>>().into_iter();
    for (index, start) in pipeline.into_iter().enumerate() {
        let shown = start.path.display().to_string();
        let could_not_start = |error: io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied => Trouble::denied(&format!("`{shown}`")),
            _ => Trouble::failed(format!("`{shown}` could not be started: {error}")),
        };
        // Our own end is closed with each turn, so that the next command sees where its input ends.
        let (next, on) = if index == last {
            (None, sinks.output.try_clone().map_err(could_not_start)?)
        } else {
            let (reader, writer) = io::pipe().map_err(could_not_start)?;
            let takes = after.next().unwrap_or_default();
            if takes == Takes::Everything {
                running.push(
                    spawn(host, start, before.replace(reader), (&writer, sinks), &mut masks)
                        .map_err(could_not_start)?,
                );
                continue;
            }
            let (masked, masked_writer) = io::pipe().map_err(could_not_start)?;
            // It ends with the commands on its sides.
            masks.push(tokio::task::spawn_blocking(move || pass_on(reader, masked_writer, takes)));
            (Some(masked), writer)
        };
        running.push(spawn(host, start, before.take(), (&on, sinks), &mut masks).map_err(could_not_start)?);
        before = next;
    }
    let codes = join_all(running.iter_mut().map(Running::ended)).await;
    let code = codes.into_iter().next_back().unwrap_or(Ok(Some(0)))?;
    let masked = join_all(masks).await.into_iter().any(Result::unwrap_or_default);
    Ok(End { code, masked })
}

/// Starts one command. `on` is where its output goes on to.
fn spawn(
    host: &ThisHost,
    start: Start,
    before: Option<PipeReader>,
    (on, sinks): (&PipeWriter, &Sinks),
    masks: &mut Vec<JoinHandle<bool>>,
) -> io::Result<Running> {
    let cut_back = start.shows_changes.then(io::pipe).transpose()?;
    let on = match cut_back {
        None => on.try_clone()?,
        Some((reader, writer)) => {
            let on = on.try_clone()?;
            masks.push(tokio::task::spawn_blocking(move || changes::pass_on(reader, on)));
            writer
        }
    };
    let to = |stream: Stream| {
        Ok::<_, io::Error>(match stream {
            Stream::Output => Stdio::from(on.try_clone()?),
            Stream::Errors => Stdio::from(sinks.errors.try_clone()?),
            Stream::Nowhere => Stdio::null(),
        })
    };
    let mut command = host.sandbox.command(&start.path, &start.files, &start.reaches);
    clean(host, &mut command);
    command.args(&start.args).envs(start.settings).stdout(to(start.output)?).stderr(to(start.errors)?);
    command.stdin(match (start.input, before) {
        (Fed::File(file), _) => Stdio::from(file),
        (Fed::Masked(file, takes), _) => {
            let (reader, writer) = io::pipe()?;
            masks.push(tokio::task::spawn_blocking(move || pass_on(file, writer, takes)));
            Stdio::from(reader)
        }
        (Fed::Before, Some(pipe)) => Stdio::from(pipe),
        (Fed::Before, None) | (Fed::Nothing, _) => Stdio::null(),
    });
    let child = command.spawn()?;
    Ok(Running { group: Group::of(&child), child, program: start.path })
}

/// A command that was started. Dropping it ends it, with everything in its group.
struct Running {
    child: Child,
    group: Group,
    program: PathBuf,
}

impl Running {
    /// Waits for its end, and ends what it leaves behind. The exit code is `None` where a signal ended it.
    async fn ended(&mut self) -> Result<Option<i32>, Trouble> {
        let ended = match self.until_gone().await {
            Ok(()) => {
                self.group.end();
                self.child.wait().await
            }
            Err(error) => Err(error),
        };
        let program = self.program.display();
        ended
            .map(|status| status.code())
            .map_err(|error| Trouble::failed(format!("`{program}` could not be followed to its end: {error}")))
    }

    /// Waits until it has ended, without taking its number from it: until then the group's number is its own.
    async fn until_gone(&self) -> io::Result<()> {
        let gone = io::Error::from(io::ErrorKind::NotFound);
        let pid = self.group.0.and_then(|pid| rustix::process::Pid::from_raw(pid.as_raw())).ok_or(gone)?;
        // Where this is dropped, the program is ended, and with it the wait.
        let waits = move || waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        tokio::task::spawn_blocking(waits).await?.map(drop).map_err(io::Error::from)
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
    let mut command = Sandbox::session(Path::new(program));
    clean(host, &mut command);
    command.arg(arg).stdin(Stdio::null());
    let mut wrote = Wrote::of(host, &mut command);
    let mut child = command.spawn().map_err(|error| Trouble::refused(format!("`{program}` cannot be run: {error}")))?;
    // The writing ends are the program's alone from here on.
    drop(command);
    let mut group = Group::of(&child);
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

pub(super) fn installed(host: &ThisHost, program: &str) -> Result<PathBuf, Trouble> {
    locate(host, program)
        .ok_or_else(|| Trouble::not_found(format!("`{program}` is not installed on this machine"), Vec::new()))
}

/// Settings of git: it runs nothing that a repository names and reading does not need, it reads all repositories, and it shows
/// whole files around each change, so that the mask sees what a changed line belongs to (`changes.rs`).
const GIT_SETTINGS: [(&str, &str); 9] = [
    ("GIT_CONFIG_COUNT", "4"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_1", "/dev/null"),
    // In the sandbox it is nobody, to whom no repository belongs.
    ("GIT_CONFIG_KEY_2", "safe.directory"),
    ("GIT_CONFIG_VALUE_2", "*"),
    ("GIT_CONFIG_KEY_3", "diff.context"),
    ("GIT_CONFIG_VALUE_3", "1000000000"),
];

/// Gives a program a clean environment, the root as its folder, and an end with its parent's interest in it.
pub(super) fn clean(host: &ThisHost, command: &mut Command) {
    let search: Vec<String> = host.places.programs.iter().map(|dir| dir.display().to_string()).collect();
    command
        .env_clear()
        .env("PATH", search.join(":"))
        .env("LC_ALL", "C.UTF-8")
        .env("TERM", "dumb")
        .envs(GIT_SETTINGS)
        .current_dir("/")
        .kill_on_drop(true);
}

/// The first bytes of a pipe, and whether there were more. The pipe closes on return, which ends whoever writes on.
async fn read_start(pipe: PipeReader, bytes_max: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let pipe = Receiver::from_owned_fd(OwnedFd::from(pipe))?;
    pipe.take(bytes_max + 1).read_to_end(&mut bytes).await?;
    let kept = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let cut = bytes.len() > kept;
    bytes.truncate(kept);
    Ok((bytes, cut))
}

/// Returns a file without a name that holds the text, at its beginning.
pub(super) fn unnamed_file(text: &str) -> io::Result<File> {
    let mut file = File::from(memfd_create("input", MemfdFlags::CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// The first bytes of a pipe, which is read to its end: what a program complains about must not end it.
async fn read_all(pipe: PipeReader, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut pipe = Receiver::from_owned_fd(OwnedFd::from(pipe))?;
    (&mut pipe).take(bytes_max).read_to_end(&mut bytes).await?;
    tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
    Ok(bytes)
}

/// The process group of a program that was started, and its session: it can leave neither. Dropping it ends every member;
/// [`Group::has_ended`] forgets it.
struct Group(Option<Pid>);

impl Group {
    /// The group that the program leads.
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw))
    }

    /// Forgets it: what it left running goes on.
    const fn has_ended(&mut self) {
        self.0 = None;
    }

    /// Ends every member. Its leader must not have been waited for, so that the number is still its own.
    fn end(&mut self) {
        if let Some(group) = self.0.take() {
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use countersign_core::envelope::Code;

    use super::*;

    fn sh<'a>(args: &'a [&'a str]) -> Run<'a> {
        Run {
            program: "sh",
            args,
            limit: Duration::from_secs(20),
            input: None,
            reaches: Reaches::default(),
            output_bytes_max: 1_000,
        }
    }

    fn host() -> ThisHost {
        ThisHost::detect().expect("Linux has a host name")
    }

    #[tokio::test]
    async fn a_program_sees_a_clean_environment_and_no_input() {
        let outcome = run(&host(), sh(&["-c", "env | sort; cat; echo oops >&2; exit 3"])).await.expect("sh runs");
        let text = String::from_utf8_lossy(&outcome.output).into_owned();
        let names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
        let (git, names): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| name.starts_with("GIT_CONFIG_"));
        assert_eq!((git.len(), names), (GIT_SETTINGS.len(), vec!["LC_ALL", "PATH", "PWD", "TERM"]));
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
