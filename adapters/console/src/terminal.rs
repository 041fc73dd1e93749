//! A person at a terminal: line editing on a thread of its own, and the loop that asks, waits and asks again. What a line
//! means, and how a message is drawn, is elsewhere.

use std::ffi::OsStr;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc as blocking};
use std::thread;
use std::time::Duration;

use countersign_core::port::{BoxFuture, Ended, Ingress, Mark};
use futures::FutureExt as _;
use nix::sys::termios::{FlushArg, tcflush};
use rustyline::completion::Completer;
use rustyline::config::Configurer as _;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper, Prompt};
use tokio::signal::unix::{Signal as OsSignal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::hear::{NOT_STORED, Next, Offered, STOPPING, leaves, nobody_reads, too_long};
use crate::history::{HISTORY_LINES_MAX, History};
use crate::line::LINE_BYTES_MAX;
use crate::output::Output;
use crate::question::Asked;
use crate::{Console, lock, question, render};

const PROMPT: &str = "countersign> ";

/// How long a stop waits for the line editor to put the terminal back.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);

const HOW_TO_LEAVE: &str = "To leave, type quit or press Ctrl-D.";
/// How long an answer may take until whoever waits is told how to get the prompt back.
const PATIENCE: Duration = Duration::from_secs(5);

const TAKES_LONG: &str = "This takes a while. Ctrl-C gives the prompt back.";
const STILL_WORKING: &str = "Still working on it. The answer will appear here; type stop to end it.";
const BUSY: &str = "The bot is busy with earlier questions, and this line was not taken. Send it again in a moment.";

/// Whether colours are wanted: on a terminal that has them, unless its owner said no (<https://no-color.org>).
pub(crate) fn colour_wanted(terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    terminal && no_color.is_none_or(OsStr::is_empty) && term.is_none_or(|term| term != "dumb")
}

/// What the line editor heard.
#[derive(Debug, PartialEq, Eq)]
enum Key {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D on an empty line, or the terminal is gone.
    End,
    /// The terminal does not work; a sentence.
    Broken(String),
}

fn key(heard: Result<String, ReadlineError>) -> Key {
    match heard {
        Ok(line) => Key::Line(line),
        Err(ReadlineError::Interrupted) => Key::Interrupt,
        Err(ReadlineError::Eof) => Key::End,
        Err(error) => Key::Broken(format!("the terminal cannot be read: {error}")),
    }
}

/// The prompt, and the way out of it. The line editor cannot be called off from another thread; but it asks for its prompt
/// whenever it draws, and unwinding from there runs the guard that puts the terminal back as it was.
struct Door {
    leaving: Arc<AtomicBool>,
    output: Arc<Output>,
}

impl Prompt for Door {
    fn raw(&self) -> &str {
        self.output.prompt_drawn();
        if self.leaving.load(Ordering::SeqCst) {
            resume_unwind(Box::new("leaving"));
        }
        PROMPT
    }
}

/// Sees whether a line is begun: the line editor asks it for a hint whenever the line has changed, and never gets one.
struct Watch(Arc<Output>);

impl Hinter for Watch {
    type Hint = String;

    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<String> {
        self.0.line_is_begun(!line.trim().is_empty());
        None
    }
}

impl Completer for Watch {
    type Candidate = String;
}

impl Highlighter for Watch {}
impl Validator for Watch {}
impl Helper for Watch {}

/// What becomes of lines that were typed before the prompt opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ahead {
    /// They are heard, one after the other.
    Kept,
    /// Nobody has read a card that they had not seen yet, so that no word from before it may decide it.
    Dropped,
}

/// The line editor's thread, seen from the loop.
struct Keyboard {
    /// One order is one prompt.
    orders: blocking::SyncSender<Ahead>,
    keys: mpsc::Receiver<Key>,
    leaving: Arc<AtomicBool>,
    output: Arc<Output>,
}

impl Keyboard {
    fn start(output: Arc<Output>, history: History) -> io::Result<Self> {
        let (orders, asked) = blocking::sync_channel(1);
        let (sender, keys) = mpsc::channel(1);
        let leaving = Arc::new(AtomicBool::new(false));
        let door = Door { leaving: Arc::clone(&leaving), output: Arc::clone(&output) };
        thread::Builder::new().name("console-input".to_owned()).spawn(move || {
            if let Err(error) = edit(&asked, &sender, &door, history) {
                let _ = sender.blocking_send(Key::Broken(format!("the terminal cannot be used: {error}")));
            }
        })?;
        Ok(Self { orders, keys, leaving, output })
    }

    /// Opens a prompt and resolves with what is typed there.
    async fn ask(&mut self, ahead: Ahead) -> Key {
        // There is never more than one order open; where the thread has ended, the channel of its keys is closed too.
        let _ = self.orders.try_send(ahead);
        self.keys.recv().await.unwrap_or(Key::End)
    }

    /// Closes an open prompt, so that the terminal is not left in raw mode.
    async fn leave(&self) {
        // Without a printer the terminal is not in raw mode, and there is nothing to put back.
        if self.output.has_printer() && self.output.prompt_is_open() {
            self.leaving.store(true, Ordering::SeqCst);
            let closed = async {
                // Printing nothing makes the editor draw, and with that go through the door.
                self.output.put(String::new()).await;
                self.output.until_prompt_closed().await;
            };
            let _ = tokio::time::timeout(LEAVE_LIMIT, closed).await;
        }
    }
}

/// Edits one line per order until nobody orders any more.
fn edit(
    asked: &blocking::Receiver<Ahead>,
    keys: &mpsc::Sender<Key>,
    door: &Door,
    mut history: History,
) -> rustyline::Result<()> {
    let mut editor = editor(&history, &door.output)?;
    print_by(&mut editor, &door.output);
    while let Ok(ahead) = asked.recv() {
        if ahead == Ahead::Dropped {
            discard_typed_ahead();
            // What was read at one go with an earlier line is in the editor already.
            editor = self::editor(&history, &door.output)?;
            print_by(&mut editor, &door.output);
        }
        let columns = editor.dimensions().map_or(0, |(columns, _)| usize::from(columns));
        door.output.open_prompt(columns);
        let heard = catch_unwind(AssertUnwindSafe(|| editor.readline(door)));
        door.output.close_prompt();
        let Ok(heard) = heard else { return Ok(()) };
        let key = key(heard);
        if let Key::Line(line) = &key
            && !leaves(line)
        {
            history.remember(line);
            fill(&mut editor, &history)?;
        }
        if keys.blocking_send(key).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

fn editor(history: &History, output: &Arc<Output>) -> rustyline::Result<Editor<Watch, MemHistory>> {
    let config = Config::builder().max_history_size(HISTORY_LINES_MAX)?.build();
    let lines = MemHistory::with_config(&config);
    let mut editor = Editor::with_history(config, lines)?;
    editor.set_helper(Some(Watch(Arc::clone(output))));
    // A drawing that is cut short on the way out must not leave the terminal waiting for the end of an update.
    editor.enable_synchronized_output(false);
    fill(&mut editor, history)?;
    Ok(editor)
}

/// Has messages shown above the prompt, where the terminal can do that.
fn print_by(editor: &mut Editor<Watch, MemHistory>, output: &Output) {
    match editor.create_external_printer() {
        Ok(printer) => output.set_printer(Box::new(printer)),
        // A terminal without cursor control, such as TERM=dumb: messages then follow the prompt on lines of their own.
        Err(error) => tracing::debug!(%error, "messages cannot be shown above the prompt"),
    }
}

/// Gives the editor the history anew: the editor itself would drop a repeated line only behind its twin.
fn fill(editor: &mut Editor<Watch, MemHistory>, history: &History) -> rustyline::Result<()> {
    editor.clear_history()?;
    for line in history.lines() {
        editor.add_history_entry(line.as_str())?;
    }
    Ok(())
}

/// Throws away what the terminal still holds.
fn discard_typed_ahead() {
    if let Err(error) = tcflush(io::stdin(), FlushArg::TCIFLUSH) {
        tracing::warn!(%error, "what was typed ahead cannot be thrown away");
    }
}

impl Console {
    /// Asks, waits for the answer and asks again, until the person leaves or `stop` resolves.
    pub(crate) async fn hear_terminal(&self, ingress: &dyn Ingress, stop: BoxFuture<'_, ()>) -> Ended {
        let started = self.start_terminal();
        let (mut keyboard, mut interrupts) = match started {
            Ok(parts) => parts,
            Err(error) => return Ended::Refused(format!("the terminal cannot be used: {error}")),
        };
        self.say(&self.options.banner).await;
        let ended = tokio::select! {
            biased;
            () = stop => Ended::Stopped,
            () = self.output.until_closed() => nobody_reads(),
            ended = self.converse(ingress, &mut keyboard, &mut interrupts) => ended,
        };
        keyboard.leave().await;
        ended
    }

    fn start_terminal(&self) -> io::Result<(Keyboard, OsSignal)> {
        let interrupts = signal(SignalKind::interrupt())?;
        let history = History::open(self.options.history.clone());
        Ok((Keyboard::start(Arc::clone(&self.output), history)?, interrupts))
    }

    async fn converse(&self, ingress: &dyn Ingress, keyboard: &mut Keyboard, interrupts: &mut OsSignal) -> Ended {
        loop {
            let is_card = matches!(*lock(&self.asked), Some(Asked::Card(_)));
            let key = keyboard.ask(if is_card { Ahead::Dropped } else { Ahead::Kept }).await;
            // A Ctrl-C from before this line was not meant for the wait that follows it.
            while let Some(Some(())) = interrupts.recv().now_or_never() {}
            let next = match key {
                Key::Line(line) => self.take_typed(ingress, &line).await,
                Key::Interrupt => {
                    self.say(HOW_TO_LEAVE).await;
                    Next::Line
                }
                Key::End => Next::End(Ended::InputOver),
                Key::Broken(why) => Next::End(Ended::Refused(why)),
            };
            if let Next::End(ended) = next {
                return ended;
            }
            self.wait(interrupts).await;
        }
    }

    /// Until there is an answer, or Ctrl-C gives the prompt back. Whoever waits long is told of that once.
    async fn wait(&self, interrupts: &mut OsSignal) {
        let mut is_told = false;
        loop {
            tokio::select! {
                biased;
                () = self.waiting.until_answered() => return,
                _ = interrupts.recv() => {
                    self.waiting.forget();
                    return self.say(STILL_WORKING).await;
                }
                () = tokio::time::sleep(PATIENCE), if !is_told => {
                    is_told = true;
                    self.say(TAKES_LONG).await;
                }
            }
        }
    }

    /// What becomes of a line that was typed.
    pub(crate) async fn take_typed(&self, ingress: &dyn Ingress, line: &str) -> Next {
        if line.trim().is_empty() {
            return Next::Line;
        }
        if leaves(line) {
            return Next::End(Ended::InputOver);
        }
        if line.len() > LINE_BYTES_MAX {
            self.complain(None, Mark::Refused, &too_long(line.len())).await;
            return Next::Line;
        }
        let missed = question::near_miss(line, lock(&self.asked).as_ref());
        if let Some(told) = missed {
            self.say(&told).await;
            return Next::Line;
        }
        let payload = self.payload(line);
        match self.accept(ingress, &self.offer(None, payload)).await {
            Offered::Taken | Offered::Limited => {}
            Offered::Busy => self.complain(None, Mark::Refused, BUSY).await,
            Offered::Stopping => {
                self.complain(None, Mark::Refused, STOPPING).await;
                return Next::End(Ended::Stopped);
            }
            Offered::Failed => self.complain(None, Mark::Failed, NOT_STORED).await,
        }
        Next::Line
    }

    async fn say(&self, text: &str) {
        if !text.is_empty() {
            self.print(render::sentence(Mark::Plain, text, self.style())).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use rustyline::ExternalPrinter;

    use super::*;

    #[test]
    fn colours_need_a_terminal_that_wants_them() {
        let os = |text: &'static str| Some(OsStr::new(text));
        assert!(colour_wanted(true, None, os("xterm-256color")));
        assert!(colour_wanted(true, os(""), None));
        assert!(!colour_wanted(true, os("1"), os("xterm")));
        assert!(!colour_wanted(true, None, os("dumb")));
        assert!(!colour_wanted(false, None, os("xterm")));
    }

    #[test]
    fn keys_mean_what_people_expect() {
        assert_eq!(key(Ok("why".to_owned())), Key::Line("why".to_owned()));
        assert_eq!(key(Err(ReadlineError::Interrupted)), Key::Interrupt);
        assert_eq!(key(Err(ReadlineError::Eof)), Key::End);
        let broken = key(Err(ReadlineError::Io(io::Error::other("gone"))));
        assert_eq!(broken, Key::Broken("the terminal cannot be read: gone".to_owned()));
    }

    #[test]
    fn the_prompt_is_left_by_unwinding() {
        let output = Arc::new(Output::new(Box::new(io::sink())));
        let door = Door { leaving: Arc::new(AtomicBool::new(false)), output };
        assert_eq!(door.raw(), PROMPT);
        door.leaving.store(true, Ordering::SeqCst);
        assert!(catch_unwind(AssertUnwindSafe(|| door.raw().len())).is_err());
    }

    /// A line editor that nothing is shown by.
    struct Unused;

    impl ExternalPrinter for Unused {
        fn print(&mut self, text: String) -> rustyline::Result<()> {
            unreachable!("nothing is shown here: {text}")
        }
    }

    #[test]
    fn a_line_is_begun_when_something_stands_there() {
        let output = Arc::new(Output::new(Box::new(io::sink())));
        output.set_printer(Box::new(Unused));
        output.open_prompt(80);
        let is_begun = || output.keys().may_have_begun(output.keys());
        let editor = editor(&History::open(None), &output).expect("an editor needs no terminal until it reads");
        let watch = editor.helper().expect("the editor has its watch");
        let typed = |line: &str| {
            assert_eq!(watch.hint(line, line.len(), &Context::new(editor.history())), None);
            is_begun()
        };
        assert_eq!(["a", "ap", "", "  ", "d"].map(typed), [true, true, false, false, true]);
        output.open_prompt(80);
        assert!(!is_begun(), "a new prompt is empty");
    }

    #[test]
    fn leaving_takes_one_word() {
        assert!(leaves("quit") && leaves(" EXIT ") && !leaves("quit nginx") && !leaves(""));
    }

    #[test]
    fn the_editor_has_the_history_once() {
        let mut history = History::open(None);
        for line in ["a", "b", "a"] {
            history.remember(line);
        }
        let output = Arc::new(Output::new(Box::new(io::sink())));
        let editor = editor(&history, &output).expect("an editor needs no terminal until it reads");
        let lines: Vec<&String> = editor.history().into_iter().collect();
        assert_eq!(lines, ["b", "a"]);
    }
}
