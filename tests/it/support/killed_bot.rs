//! The real binary as a child that may be killed at any moment: its lines in and out, its end, and what it leaves alive.
//! What is asked of it, and what its answers must be, is not here.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tokio::time::Instant;

/// How many lines may wait to be looked at. The bot waits behind them.
const LINES_MAX: usize = 1024;

/// A bot that says nothing for so long hangs: its own limits for one answer are far below.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// One run of the bot on a directory.
pub(crate) struct KilledBot {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    directory: PathBuf,
}

/// What came, or did not come, while somebody waited.
pub(crate) enum Heard {
    Line(Value),
    Nothing,
    /// The process has closed its output, which it does when it ends and not before.
    End,
}

impl KilledBot {
    /// Starts it, to speak JSON lines, with `directory/data` as its data and `directory/log` behind its standard error.
    pub(crate) fn start(directory: &Path) -> Self {
        Self::start_in(directory, "main")
    }

    /// The same for a thread of this name.
    pub(crate) fn start_in(directory: &Path, thread: &str) -> Self {
        let log = OpenOptions::new().create(true).append(true).open(directory.join("log")).expect("a log file");
        let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(["--json", "--thread", thread])
            .arg("--data")
            .arg(directory.join("data"))
            // Everything that it starts inherits this, so that `alive` finds it.
            .current_dir(directory)
            .env_clear()
            .env("HOME", directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the binary runs");
        let input = child.stdin.take();
        let lines = read(child.stdout.take().expect("invariant: its output is piped"));
        Self { child, input, lines, directory: directory.to_owned() }
    }

    /// Writes a line to it.
    pub(crate) fn say(&mut self, line: &Value) {
        let said = self.input.as_mut().map(|input| writeln!(input, "{line}"));
        assert!(matches!(said, Some(Ok(()))), "it does not listen: {said:?}\n{}", self.last_words());
    }

    /// Waits for a line at most so long.
    pub(crate) fn hear(&self, at_most: Duration) -> Heard {
        match self.lines.recv_timeout(at_most) {
            Ok(line) => Heard::Line(line),
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::End,
        }
    }

    /// Waits for a line that must come. None: it hangs.
    pub(crate) fn must_hear(&self) -> Option<Value> {
        match self.hear(SILENCE_MAX) {
            Heard::Line(line) => Some(line),
            Heard::Nothing => None,
            Heard::End => panic!("it has ended by itself\n{}", self.last_words()),
        }
    }

    /// Kills it. What it had written by then is returned.
    pub(crate) fn kill(mut self) -> Vec<Value> {
        self.child.kill().expect("it can be killed");
        let (status, lines) = self.end(SILENCE_MAX);
        assert!(!status.success(), "it had ended by itself: {status}");
        lines
    }

    /// Kills it and its tool servers, one directly after the other; `servers_first` says in which order.
    pub(crate) fn kill_with(mut self, servers: &[Pid], servers_first: bool) -> Vec<Value> {
        if servers_first {
            strike(servers);
        }
        self.child.kill().expect("it can be killed");
        strike(servers);
        let (status, lines) = self.end(SILENCE_MAX);
        assert!(!status.success(), "it had ended by itself: {status}");
        lines
    }

    /// The processes that it has started and that are alive.
    pub(crate) fn servers(&self) -> Vec<Pid> {
        children(self.child.id())
    }

    /// Asks it to stop, with its input still open.
    pub(crate) fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).expect("invariant: a process id is a pid_t");
        kill(Pid::from_raw(pid), Signal::SIGTERM).expect("it can be asked");
    }

    /// Says that nothing more will be said to it.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for its end, at most so long; returns how it ended and what it had still to say.
    pub(crate) fn end(mut self, at_most: Duration) -> (ExitStatus, Vec<Value>) {
        let over = Instant::now() + at_most;
        let mut lines = Vec::new();
        loop {
            match self.hear(over.saturating_duration_since(Instant::now())) {
                Heard::Line(line) => lines.push(line),
                Heard::End => break,
                Heard::Nothing => panic!("it does not end\n{}", self.last_words()),
            }
        }
        (self.child.wait().expect("it can be waited for"), lines)
    }

    /// The end of its log.
    fn last_words(&self) -> String {
        let log = std::fs::read_to_string(self.directory.join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

impl Drop for KilledBot {
    fn drop(&mut self) {
        // Where a test fails it must not leave a bot behind. It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads lines until the output is closed. A last line without its end was cut off by a kill: nobody has received it.
fn read(output: ChildStdout) -> Receiver<Value> {
    let (sender, lines) = sync_channel(LINES_MAX);
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|read| read > 0) && line.ends_with('\n') {
            // What is no JSON must not pass in silence; the test looks at its type.
            let value = serde_json::from_str(&line).unwrap_or_else(|_| Value::String(line.clone()));
            if sender.send(value).is_err() {
                return;
            }
            line.clear();
        }
    });
    lines
}

/// Runs `countersign audit` on the data of a bot in this directory. It must find everything fine; returns what it said.
pub(crate) fn audit(directory: &Path, what: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.arg("--data").arg(directory.join("data")).args(["audit", what]);
    let done = command.current_dir(directory).env_clear().env("HOME", directory).output().expect("the binary runs");
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "audit {what}: {}\n{out}{err}", done.status);
    out.into_owned()
}

/// Kills these processes, of which some may have ended.
pub(crate) fn strike(processes: &[Pid]) {
    for process in processes {
        let _gone = kill(*process, Signal::SIGKILL);
    }
}

/// The processes that this one has started and that are alive.
pub(crate) fn children(parent: u32) -> Vec<Pid> {
    let processes = std::fs::read_dir("/proc").expect("this system has /proc").flatten();
    processes.filter_map(|process| child_of(&process.path(), parent)).collect()
}

/// The process, if this is its parent and it has not ended.
fn child_of(process: &Path, parent: u32) -> Option<Pid> {
    let pid: i32 = process.file_name()?.to_str()?.parse().ok()?;
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    // The name stands in parentheses and may hold anything; after it come the state and the parent.
    let mut after_name = stat.rsplit_once(") ")?.1.split(' ');
    let (state, its_parent) = (after_name.next()?, after_name.next()?);
    (its_parent.parse() == Ok(parent) && state != "Z").then(|| Pid::from_raw(pid))
}

/// Every process that works in this directory or names it on its command line, as `pid: command line`.
pub(crate) fn alive(directory: &Path) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("this system has /proc").flatten();
    processes.filter_map(|process| belonging(&process.path(), directory)).collect()
}

fn belonging(process: &Path, directory: &Path) -> Option<String> {
    let pid: u32 = process.file_name()?.to_str()?.parse().ok()?;
    let command = std::fs::read(process.join("cmdline")).ok()?;
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    let works_there = std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(directory));
    let names_it = command.contains(directory.to_str()?);
    (works_there || names_it).then(|| format!("{pid}: {command}"))
}

/// Waits until nothing of a directory is alive, at most so long; returns what still is.
pub(crate) fn alive_after(directory: &Path, at_most: Duration) -> Vec<String> {
    // Nobody ever sends on it: a process of which we are not the parent tells us nothing when it ends.
    let (_never, silence) = sync_channel::<()>(1);
    let over = Instant::now() + at_most;
    loop {
        let left = alive(directory);
        if left.is_empty() || Instant::now() > over {
            return left;
        }
        let _ = silence.recv_timeout(Duration::from_millis(20));
    }
}
