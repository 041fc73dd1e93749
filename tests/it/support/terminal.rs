//! A person at a pseudo-terminal: types a line, waits until the prompt is back, and sees what stands on the screen. The
//! terminal is made by Python's `pty`, for which no crate of ours is needed. What is typed, and what is right, is not here.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use regex::Regex;
use tokio::time::Instant;

/// How long one terminal may take for everything that a test types into it.
const LIMIT: Duration = Duration::from_mins(1);

/// The columns and rows that the bot finds.
const COLUMNS: usize = 80;
const ROWS: usize = 50;

/// Runs its arguments on a terminal of their own, and copies between that and its own pipes.
const SPAWN: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/// What the line editor writes when a prompt opens: it asks for pasted text to be marked.
const OPENED: &str = "\u{1b}[?2004h";

/// What it writes when a line was entered. From then on the terminal itself shows what is typed.
const CLOSED: &str = "\u{1b}[?2004l";

pub(crate) const PROMPT: &str = "countersign> ";

/// A terminal with a bot in it. It is hung up when it is dropped.
pub(crate) struct Terminal {
    child: Child,
    input: ChildStdin,
    chunks: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    deadline: Instant,
}

impl Terminal {
    /// Runs this command there, with the variables and the directory that it has, and waits for the first prompt.
    pub(crate) fn start(command: &Command) -> Self {
        // The size has to be set from inside, before the bot looks.
        let size = format!("stty rows {ROWS} cols {COLUMNS} && exec \"$@\"");
        let mut python = Command::new("python3");
        python.args(["-c", SPAWN, "sh", "-c", &size, "sh"]).arg(command.get_program()).args(command.get_args());
        python.current_dir(command.get_current_dir().expect("a test's bot has a home"));
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => python.env(name, value),
                None => python.env_remove(name),
            };
        }
        python.env("TERM", "xterm").env("NO_COLOR", OsStr::new("1"));
        python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = python.spawn().expect("python3 runs");
        let input = child.stdin.take().expect("invariant: it is piped");
        let mut out = child.stdout.take().expect("invariant: it is piped");
        let (sender, chunks) = sync_channel(1024);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = out.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let mut terminal = Self { child, input, chunks, seen: Vec::new(), deadline: Instant::now() + LIMIT };
        terminal.until_prompts(1);
        terminal
    }

    /// Types a line, and waits until the next prompt is open.
    pub(crate) fn ask(&mut self, line: &str) {
        let open = self.prompts();
        self.press(line);
        self.until_prompts(open + 1);
    }

    /// Types these lines at one go, as a paste does, and waits until the next prompt is open.
    pub(crate) fn paste(&mut self, lines: &[&str]) {
        let open = self.prompts();
        self.press(&lines.join("\r"));
        self.until_prompts(open + 1);
    }

    /// Types a line, and waits for nothing.
    pub(crate) fn type_only(&mut self, line: &str) {
        self.press(line);
    }

    /// Waits until this stands on the screen.
    pub(crate) fn until_answered(&mut self, answer: &str) {
        self.until(|text| screen(text).contains(answer));
    }

    /// Types a line, then another one before the first is answered, which waits for `answer`; and waits until the next
    /// prompt is open.
    pub(crate) fn ask_and_type_ahead(&mut self, line: &str, ahead: &str, answer: impl FnOnce()) {
        let (open, closed) = (self.prompts(), self.text().matches(CLOSED).count());
        self.press(line);
        self.until(|text| text.matches(CLOSED).count() > closed);
        self.press(ahead);
        self.until(|text| text.rsplit(CLOSED).next().is_some_and(|last| last.contains(ahead)));
        answer();
        self.until_prompts(open + 1);
    }

    /// Types the line that ends the bot, and waits for its end. Whether it ended well.
    pub(crate) fn leave(&mut self, line: &str) -> bool {
        self.press(line);
        while self.read() {}
        self.child.wait().expect("it can be waited for").success()
    }

    /// Asks the bot itself to end, as a service manager does, and waits for its end. Whether it ended well.
    pub(crate) fn terminate(&mut self) -> bool {
        let python = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{python}/task/{python}/children")).expect("Linux says");
        let told = Command::new("kill").args(children.split_whitespace()).status();
        assert!(told.is_ok_and(|status| status.success()), "{children}");
        while self.read() {}
        self.child.wait().expect("it can be waited for").success()
    }

    /// Everything that has stood on the screen, line by line.
    pub(crate) fn screen(&self) -> String {
        screen(&self.text())
    }

    fn press(&mut self, line: &str) {
        self.input.write_all(format!("{line}\r").as_bytes()).expect("the terminal takes keys");
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    fn prompts(&self) -> usize {
        self.text().matches(OPENED).count()
    }

    fn until_prompts(&mut self, prompts: usize) {
        // The prompt itself is drawn just after it was opened.
        let is_drawn = |text: &str| text.rsplit(OPENED).next().is_some_and(|last| last.contains(PROMPT));
        self.until(|text| text.matches(OPENED).count() >= prompts && is_drawn(text));
    }

    fn until(&mut self, so: impl Fn(&str) -> bool) {
        while !so(&self.text()) {
            assert!(self.read(), "it ended: {}", self.screen());
        }
    }

    /// Waits for more. False where it has ended.
    fn read(&mut self) -> bool {
        match self.chunks.recv_timeout(self.deadline.saturating_duration_since(Instant::now())) {
            Ok(chunk) => self.seen.extend(chunk),
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => panic!("no prompt within {LIMIT:?}: {}", self.screen()),
        }
        true
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Draws what was written to a terminal that scrolls for ever: text, and those controls that the line editor uses.
fn screen(written: &str) -> String {
    let part = Regex::new(r"\x1b\[(\??[\d;]*)([A-Za-z])|(?s:.)").expect("a sound pattern");
    let (mut rows, mut row, mut column) = (vec![Vec::new()], 0_usize, 0_usize);
    for part in part.captures_iter(written) {
        let count = part.get(1).and_then(|count| count.as_str().parse().ok()).unwrap_or(1);
        match (part.get(2).map(|letter| letter.as_str()), part[0].chars().next()) {
            (Some("A"), _) => row = row.saturating_sub(count),
            (Some("B"), _) => row += count,
            (Some("C"), _) => column += count,
            (Some("D"), _) => column = column.saturating_sub(count),
            (Some("K"), _) => rows[row].truncate(column),
            (Some("J"), _) => {
                rows[row].truncate(column);
                rows.truncate(row + 1);
            }
            // Modes and colours are not seen.
            (Some(_), _) => {}
            (None, Some('\r')) => column = 0,
            (None, Some('\n')) => row += 1,
            (None, Some(shown)) => {
                if column == COLUMNS {
                    (row, column) = (row + 1, 0);
                }
                rows.resize(rows.len().max(row + 1), Vec::new());
                let width = rows[row].len().max(column + 1);
                rows[row].resize(width, ' ');
                rows[row][column] = shown;
                column += 1;
            }
            (None, None) => {}
        }
        rows.resize(rows.len().max(row + 1), Vec::new());
    }
    let lines = rows.into_iter().map(|row| row.into_iter().collect::<String>().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_screen_shows_what_was_drawn_over() {
    assert_eq!(screen("ab\r\x1b[Kcd\x1b[2D\x1b[1Ce\r\nf\x1b[1Ag"), "cg\nf");
    assert_eq!(screen(&format!("\x1b[?2004h{}{}", "x".repeat(80), "y")), format!("{}\ny", "x".repeat(80)));
}
