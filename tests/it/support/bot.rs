//! The real binary, used as a person or a script uses it: a home of its own, lines in, events or a transcript out, all
//! within one time limit, and no process left when a test ends. What is asked, and what is right, is not here.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

/// How long one bot may take for everything that a test asks of it: far more than is needed, also on a busy machine.
const LIMIT: Duration = Duration::from_mins(1);

/// How many lines of a bot may wait to be read by the test.
const LINES_MAX: usize = 4096;

/// A directory for one test: working directory, home and data of the bots that it starts.
pub(crate) struct Home {
    directory: TempDir,
}

impl Home {
    /// A fresh one.
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::with_prefix("countersign-bot-").expect("a temporary directory can be created") }
    }

    /// Where it is, by its real name: links are what some tests are about.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().expect("it exists")
    }

    /// The bots' data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Writes a file into it, and its directories.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        let parent = path.parent().expect("invariant: it is below the home");
        std::fs::create_dir_all(parent).expect("a directory can be created");
        std::fs::write(&path, content).expect("a file can be written");
        path
    }

    /// The binary with nothing of our own configuration around it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.current_dir(self.path()).env("HOME", self.path()).env_remove("XDG_DATA_HOME");
        let ours = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COUNTERSIGN_"));
        for (name, _) in ours {
            command.env_remove(name);
        }
        command
    }

    /// The same on this home's data directory.
    pub(crate) fn bot(&self) -> Command {
        let mut command = self.command();
        command.arg("--data").arg(self.data());
        command
    }

    /// Asks these lines in a pipe, and waits for the end.
    pub(crate) fn pipe(&self, lines: &str) -> Done {
        finish(&mut self.bot(), lines.as_bytes())
    }

    /// A process of this name that waits to be ended, with these arguments on its command line.
    pub(crate) fn process(&self, name: &str, args: &[&str]) -> Process {
        self.shell(name, "read line", args)
    }

    /// The same, which takes its time to end: some seconds more than the tool server waits for it.
    pub(crate) fn slow_process(&self, name: &str) -> Process {
        self.shell(name, "trap 'sleep 6; exit' TERM; read line", &[])
    }

    fn shell(&self, name: &str, script: &str, args: &[&str]) -> Process {
        let program = self.path().join(name);
        if !program.exists() {
            symlink("/bin/sh", &program).expect("a link can be made");
        }
        // The shell reads from a pipe that this test holds, so that it ends with the test whatever happens.
        let child = Command::new(program).args(["-c", script, name]).args(args).stdin(Stdio::piped()).spawn();
        Process(child.expect("a shell can be started"))
    }
}

/// A process to be looked at. It ends when it is dropped.
pub(crate) struct Process(Child);

impl Process {
    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a bot that has ended left.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// The answer to a question of a transcript, without the question.
    pub(crate) fn answer(&self, question: &str) -> &str {
        let echoed = format!("> {question}\n");
        let start = self.out.find(&echoed).unwrap_or_else(|| panic!("{question:?} is not echoed in {}", self.out));
        let rest = &self.out[start + echoed.len()..];
        rest.split("\n> ").next().unwrap_or_default()
    }
}

/// Runs a command to its end with this input.
pub(crate) fn finish(command: &mut Command, input: &[u8]) -> Done {
    let mut bot = Bot::spawn(command);
    let mut stdin = bot.input.take().expect("invariant: it was just started");
    let input = input.to_owned();
    // On a thread of its own: the bot answers while it is still being asked. It may end early, and then hears no more.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let done = bot.end();
    writer.join().expect("the writer does not panic");
    done
}

/// What the bot said to one line, in JSON mode.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) messages: Vec<Value>,
}

impl Answer {
    /// Every text of every block, one a line; the cells of a row with ` | ` between them.
    pub(crate) fn text(&self) -> String {
        let blocks = self.messages.iter().flat_map(|message| message["blocks"].as_array().into_iter().flatten());
        blocks.map(block_text).collect::<Vec<_>>().join("\n")
    }

    /// The card that it shows; one must be there.
    pub(crate) fn card(&self) -> Card {
        let mut blocks = self.messages.iter().flat_map(|message| message["blocks"].as_array().into_iter().flatten());
        let block = blocks.find(|block| block["type"] == "card");
        let block = block.unwrap_or_else(|| panic!("no card was shown: {}", self.text()));
        let text = |key: &str| block[key].as_str().expect("a card's ids are texts").to_owned();
        Card { plan: text("plan"), digest: text("digest") }
    }

    /// The mark of the first message.
    pub(crate) fn mark(&self) -> &str {
        self.messages.first().and_then(|message| message["mark"].as_str()).unwrap_or_default()
    }
}

/// What a script needs to decide a plan.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    pub(crate) plan: String,
    pub(crate) digest: String,
}

impl Card {
    /// The line that countersigns it.
    pub(crate) fn approve(&self) -> String {
        json!({ "plan": self.plan, "digest": self.digest, "choice": "approve" }).to_string()
    }

    /// The line that says no, and why.
    pub(crate) fn deny(&self, reason: &str) -> String {
        json!({ "plan": self.plan, "digest": self.digest, "choice": "deny", "reason": reason }).to_string()
    }
}

fn block_text(block: &Value) -> String {
    let rows = |value: &Value| -> Vec<String> {
        let rows = value.as_array().into_iter().flatten();
        rows.map(|row| row.as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "))
            .collect()
    };
    let choice = |choice: &Value| {
        format!("{} | {}", choice["label"].as_str().unwrap_or_default(), choice["about"].as_str().unwrap_or_default())
    };
    match block["type"].as_str() {
        Some("text" | "code") => block["text"].as_str().unwrap_or_default().to_owned(),
        Some("quote") => {
            let lines = block["text"].as_str().unwrap_or_default().lines();
            lines.map(|line| format!("| {line}")).collect::<Vec<_>>().join("\n")
        }
        Some("fields") => rows(&block["fields"]).join("\n"),
        Some("table") => rows(&block["rows"]).join("\n"),
        Some("choices") => block["choices"].as_array().into_iter().flatten().map(choice).collect::<Vec<_>>().join("\n"),
        Some("card") => format!("to decide: plan {}", block["plan"].as_str().unwrap_or_default()),
        other => panic!("an unknown kind of block: {other:?}"),
    }
}

/// A running bot. It is killed when it is dropped.
pub(crate) struct Bot {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    deadline: Instant,
}

impl Bot {
    /// A bot that speaks JSON.
    pub(crate) fn json(home: &Home) -> Self {
        Self::spawn(home.bot().arg("--json"))
    }

    /// Starts a command with pipes at all its ends.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().expect("the binary can be started");
        let (input, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, lines) = sync_channel(LINES_MAX);
        let out = out.expect("invariant: it is piped");
        std::thread::spawn(move || {
            let mut reader = BufReader::new(out);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                if sender.send(String::from_utf8(std::mem::take(&mut line)).expect("the output is UTF-8")).is_err() {
                    return;
                }
            }
        });
        let mut err = err.expect("invariant: it is piped");
        let errors = std::thread::spawn(move || {
            let mut all = Vec::new();
            let _ = err.read_to_end(&mut all);
            String::from_utf8(all).expect("the error output is UTF-8")
        });
        Self { child, input, lines, errors: Some(errors), deadline: Instant::now() + LIMIT }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Types a line.
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("invariant: the input is open until the end");
        input.write_all(format!("{line}\n").as_bytes()).expect("the bot reads its input");
    }

    /// The next event; none once the output is over.
    pub(crate) fn event(&mut self) -> Option<Value> {
        let line = self.line()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}")))
    }

    /// Types a line and waits for its whole answer.
    pub(crate) fn ask(&mut self, line: &str) -> Answer {
        self.say(line);
        self.answer()
    }

    /// Waits for the whole answer to the line that is accepted next.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut messages = Vec::new();
        let mut signal = Value::Null;
        while let Some(event) = self.event() {
            match event["type"].as_str() {
                Some("accepted") => signal = event["signal"].clone(),
                Some("message") if event["answers"] == signal => messages.push(event),
                Some("answered") if event["signal"] == signal => return Answer { messages },
                _ => panic!("not expected here: {event}"),
            }
        }
        panic!("the bot ended without an answer; it said: {}", self.kill());
    }

    /// What was answered to so many lines, in the order in which their answers were over.
    pub(crate) fn answers(&mut self, count: usize) -> Vec<Answer> {
        let (mut open, mut over) = (Vec::<(Value, Answer)>::new(), Vec::new());
        while over.len() < count {
            let event = self.event().expect("the bot answers");
            match event["type"].as_str() {
                Some("accepted") => open.push((event["signal"].clone(), Answer { messages: Vec::new() })),
                Some("message") => {
                    let asked = open.iter_mut().find(|(signal, _)| *signal == event["answers"]);
                    asked.expect("it was accepted").1.messages.push(event);
                }
                Some("answered") => {
                    let at = open.iter().position(|(signal, _)| *signal == event["signal"]);
                    over.push(open.remove(at.expect("it was accepted")).1);
                }
                _ => panic!("not expected here: {event}"),
            }
        }
        over
    }

    /// The number of the host's tool server, as `status` says it.
    pub(crate) fn spoke(&mut self) -> u32 {
        let status = self.ask("status").text();
        let pid = status.lines().find_map(|line| line.strip_prefix("tools: host | runs as process "));
        pid.and_then(|pid| pid.parse().ok()).unwrap_or_else(|| panic!("no tool server runs: {status}"))
    }

    /// Closes its input and waits for its end.
    pub(crate) fn end(mut self) -> Done {
        drop(self.input.take());
        let mut out = String::new();
        while let Some(line) = self.line() {
            out.push_str(&line);
        }
        // The output is over only when the process is.
        let status = self.child.wait().expect("it can be waited for");
        Done { status, out, err: self.errors() }
    }

    /// Ends it at once, and says what it had written to its error output.
    pub(crate) fn kill(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.errors()
    }

    fn line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(self.deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no answer within {LIMIT:?}; it said: {}", self.kill()),
        }
    }

    fn errors(&mut self) -> String {
        self.errors.take().map(|errors| errors.join().expect("its reader does not panic")).unwrap_or_default()
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something in `/proc` is so, which nothing announces. Gives other processes the processor in between, and
/// fails after the limit.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !so() {
        assert!(Instant::now() < deadline, "{what}: not within {LIMIT:?}");
        std::thread::yield_now();
    }
}

/// Whether a process is there and has not ended; one that nobody has waited for yet has ended.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
    // The state stands after the name, which is in parentheses and may hold anything.
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with('Z'))
}
