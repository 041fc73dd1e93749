//! The walls around every program that a read starts: what it may see, whom it may reach and how much it may use is held by
//! the kernel, whatever the classifier thought of the command. The tool server starts the launcher (`launch.rs`), which gives
//! everything up and then becomes the program: own mount namespace, read-only and with the places of secrets covered
//! (`mounts.rs`); no capabilities (`privileges.rs`); Landlock (`rules.rs`); a list of system calls (`system_calls.rs`);
//! limits. Linux only. Nothing here decides whether a command may run at all.

mod launch;
mod masked;
mod mounts;
mod privileges;
mod rules;
mod system_calls;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

pub use masked::{MaskedFile, MaskedFiles};
pub use rules::everything;

/// The file name of the launcher, which is installed beside the bot.
pub const LAUNCHER: &str = "countersign-sandbox";

/// The only argument of the launcher for which it prints what it was built from.
const ASKED: &str = "--built-from";

/// The sources of this crate: a launcher that was built from others is not used.
const SOURCES: [&str; 8] = [
    include_str!("launch.rs"),
    include_str!("lib.rs"),
    include_str!("main.rs"),
    include_str!("masked.rs"),
    include_str!("mounts.rs"),
    include_str!("privileges.rs"),
    include_str!("rules.rs"),
    include_str!("system_calls.rs"),
];

/// The first argument of the bot's own binary that makes it a launcher.
const ARGUMENT: &str = "sandboxed";

/// In the place of walls, for the bot's own binary: those of a command that reaches nothing.
const USUAL: &str = "usual";

/// In the place of walls: a session of its own, and no walls.
const SESSION: &str = "session";

/// The exit code of a sandbox that could not be built; with it, [`FAILED`] begins the error output.
const EXIT_CODE: u8 = 121;

/// What the error output of a sandbox that could not be built begins with.
const FAILED: &str = "countersign: the sandbox could not be built: ";

/// The system's own files that a program may read, beside programs and libraries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemFiles {
    /// The system's configuration and logs.
    #[default]
    All,
    /// Files that most programs read when they start.
    Starts,
}

/// A capability beyond reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    /// Nothing.
    #[default]
    Nothing,
    /// Devices, which it reads too (`smartctl`).
    Devices,
    /// Signal 0 to any process (`kill -0`), and no other signal.
    Processes,
}

/// What a program may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walls {
    /// Whether a wall that this kernel or container does not give is done without (`[run] sandbox = "best_effort"`).
    pub best_effort: bool,
    /// Places that it must not see, by the names they really have.
    pub covered: Vec<PathBuf>,
    /// Files and folders that it may read beside the system's own.
    pub readable: Vec<PathBuf>,
    /// Whether it may talk to other machines at all.
    pub network: bool,
    /// TCP ports that it may connect to, on any machine.
    pub ports: Vec<u16>,
    /// The descriptor of the masked files that it reads in the place of others ([`MaskedFiles`]). Without mounts there are
    /// none, so that it does not run then.
    pub masked: Option<i32>,
    /// The system's own files that it may read.
    #[serde(default)]
    pub system: SystemFiles,
    /// Local sockets that it may connect to; a folder stands for those in it.
    pub sockets: Vec<PathBuf>,
    /// Its capability beyond reading.
    #[serde(default)]
    pub asks: Asks,
}

/// Returns the program and the arguments that run `program` behind these walls. The program's own arguments, environment,
/// folder and streams are the caller's to add.
pub fn wrapped(walls: &Walls, program: &Path) -> (PathBuf, Vec<OsString>) {
    launched(serde_json::to_string(walls).unwrap_or_default(), program)
}

/// Returns the program and the arguments that run `program` in a session of its own and without walls: for changes, which
/// a service that they start must outlive.
pub fn in_own_session(program: &Path) -> (PathBuf, Vec<OsString>) {
    launched(SESSION.to_owned(), program)
}

/// Returns the program and the arguments that start `program` by the launcher, or by the bot's own binary where none of the
/// same build lies beside it. Opens the launcher once, and starts it.
fn launched(walls: String, program: &Path) -> (PathBuf, Vec<OsString>) {
    static LAUNCHER_FILE: OnceLock<Option<File>> = OnceLock::new();
    let beside = || {
        let file = File::open(std::env::current_exe().ok()?.with_file_name(LAUNCHER)).ok()?;
        let asked = Command::new(opened(&file)).arg(ASKED).env_clear().output().ok()?;
        (asked.stdout == built_from().as_bytes()).then_some(file)
    };
    // Also where a file was replaced meanwhile, what runs is of the same build as this program.
    let (launcher, first) = match LAUNCHER_FILE.get_or_init(beside) {
        Some(file) => (opened(file), None),
        None => (PathBuf::from("/proc/self/exe"), Some(OsString::from(ARGUMENT))),
    };
    let args = first.into_iter().chain([walls.into(), program.into()]);
    (launcher, args.collect())
}

/// The path by which an open file can be started.
fn opened(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// A number for the sources of this build, by FNV-1a (64 bits).
fn built_from() -> String {
    const PRIME: u64 = 0x0100_0000_01b3;
    let bytes = SOURCES.iter().flat_map(|source| source.bytes());
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(PRIME));
    format!("{sum:016x}")
}

/// Returns why this machine cannot build these walls; none where it can. Starts a process.
pub fn missing(walls: &Walls) -> Option<String> {
    let (launcher, args) = wrapped(walls, Path::new("/bin/true"));
    match Command::new(launcher).args(args).output() {
        Ok(done) if done.status.success() => None,
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            Some(failure(done.status.code(), said.trim()).unwrap_or(said.trim()).to_owned())
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Returns why a sandbox could not be built, where that is what ended a program: by its exit code and what it said is wrong.
pub fn failure(code: Option<i32>, errors: &str) -> Option<&str> {
    errors.strip_prefix(FAILED).filter(|_| code == Some(i32::from(EXIT_CODE)))
}

/// Becomes the sandboxed program where this process is the bot's own binary, started for that, and does not return then, but
/// where it fails. `usual` are the walls of a command that reaches nothing. Must run before the process has any other thread.
pub fn launch_if_asked(usual: impl FnOnce() -> Walls) -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != ARGUMENT {
        return None;
    }
    let mut args = args.peekable();
    Some(match args.next_if(|walls| walls == USUAL) {
        None => launch(args),
        Some(_) => {
            let walls = serde_json::to_string(&usual()).unwrap_or_default();
            launch(std::iter::once(walls.into()).chain(args))
        }
    })
}

/// Becomes the sandboxed program, and returns only where it fails. The arguments are walls, a program and its arguments. Must
/// run before the process has any other thread.
pub fn launch(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let reason = match (args.next(), args.next()) {
        (Some(asked), None) if asked == ASKED => {
            print!("{}", built_from());
            return ExitCode::SUCCESS;
        }
        (Some(walls), Some(program)) => launch::launch(&walls, &program, args),
        _ => "it is started by the bot itself".to_owned(),
    };
    eprintln!("{FAILED}{reason}");
    ExitCode::from(EXIT_CODE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_counts() {
        let sources = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("it is there").flatten();
        let code = sources.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "rs"));
        let code: Vec<String> = code.map(|path| std::fs::read_to_string(path).expect("it is text")).collect();
        assert_eq!(code.len(), SOURCES.len());
        assert!(code.iter().all(|text| SOURCES.contains(&text.as_str())));
    }
}
