//! The terminal as a platform. A line typed, piped or sent as JSON becomes a signal, and an outgoing message becomes
//! text or a JSON line: this crate translates and nothing more. It stores nothing but a terminal's history, decides
//! nothing, and does not know what a signal asks for.

mod clean;
mod decide;
mod hear;
mod history;
mod json;
mod line;
mod output;
mod question;
mod render;
mod terminal;
mod waiting;

use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::port::{
    Adapter, BoxFuture, Capabilities, Delivery, DeliveryNotes, Ended, Ingress, Outgoing, Parcel,
};
use countersign_core::signal::{
    AccountId, Actor, ActorId, ActorKind, Addressed, Assurance, ConversationId, ConversationKind, EventId, Ground,
    Payload, Platform, Signal, SignalId, SpaceId, ThreadKey, ThreadRoot, Wall,
};

use crate::output::{Output, Put};
use crate::question::Asked;
use crate::render::{Style, Width};
use crate::waiting::Waiting;

/// The most characters of one message. A terminal has no limit of its own; this one only keeps arithmetic on it safe.
const TEXT_CHARS_MAX: usize = 1_000_000;

/// What the shell knows about the process that the console runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The thread that every line belongs to; "main" unless a person names another.
    pub thread: String,
    /// Whether standard output carries JSON lines and nothing else.
    pub json: bool,
    /// The OS user's name, or the uid where it has none. Decoration only.
    pub user: String,
    /// The OS user's numeric id as text, such as `1000`. This is who acts.
    pub uid: String,
    /// The machine's name.
    pub host: String,
    /// Where a terminal keeps what was typed; nowhere where there is none.
    pub history: Option<PathBuf>,
    /// What is said once at the start: on the terminal, else on standard error. May be empty.
    pub banner: String,
    /// Random, new for each start, without `/`: it makes event ids unique across restarts.
    pub session: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            thread: "main".to_owned(),
            json: false,
            user: String::new(),
            uid: String::new(),
            host: String::new(),
            history: None,
            banner: String::new(),
            session: String::new(),
        }
    }
}

/// How people, or a script, talk to the bot here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// A person at a terminal, with line editing.
    Terminal,
    /// Lines in, a transcript out.
    Pipe,
    /// Lines in, JSON lines out.
    Json,
}

/// Where lines come from.
enum Input {
    Terminal,
    Stream(Box<dyn Read + Send>),
}

/// The console as an adapter. One process has one.
pub struct Console {
    options: Options,
    mode: Mode,
    /// Taken by the one call of `hear`.
    input: Mutex<Option<Input>>,
    output: Arc<Output>,
    /// Where people's text goes that must not stand in the output.
    notes: Mutex<Box<dyn Write + Send>>,
    /// Held while a signal is being accepted, so that its answer cannot be shown before its acceptance.
    turn: tokio::sync::Mutex<()>,
    waiting: Waiting,
    /// What a line can answer. A line that is taken closes it.
    asked: Mutex<Option<Asked>>,
    events: AtomicU64,
    colour: bool,
}

impl Console {
    /// The console of this process: a terminal where standard input and standard output both are one and JSON was not
    /// asked for, else a pipe. Reads `NO_COLOR` and `TERM`; no other I/O.
    pub fn new(options: Options) -> Self {
        let terminal = io::stdin().is_terminal() && io::stdout().is_terminal() && !options.json;
        let input = if terminal { Input::Terminal } else { Input::Stream(Box::new(io::stdin())) };
        let colour = terminal::colour_wanted(
            terminal,
            std::env::var_os("NO_COLOR").as_deref(),
            std::env::var_os("TERM").as_deref(),
        );
        Self::build(options, input, Box::new(io::stdout()), Box::new(io::stderr()), colour)
    }

    /// A console over any three streams, as a pipe or as JSON lines: `input` is read on a thread of its own, `output`
    /// takes what `Options` says of standard output, `notes` what it says of standard error.
    pub fn over(
        options: Options,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        notes: impl Write + Send + 'static,
    ) -> Self {
        Self::build(options, Input::Stream(Box::new(input)), Box::new(output), Box::new(notes), false)
    }

    fn build(
        options: Options,
        input: Input,
        output: Box<dyn Write + Send>,
        notes: Box<dyn Write + Send>,
        colour: bool,
    ) -> Self {
        let mode = match (&input, options.json) {
            (Input::Terminal, _) => Mode::Terminal,
            (Input::Stream(_), true) => Mode::Json,
            (Input::Stream(_), false) => Mode::Pipe,
        };
        Self {
            options,
            mode,
            input: Mutex::new(Some(input)),
            output: Arc::new(Output::new(output)),
            notes: Mutex::new(notes),
            turn: tokio::sync::Mutex::new(()),
            waiting: Waiting::default(),
            asked: Mutex::new(None),
            events: AtomicU64::new(0),
            colour,
        }
    }

    /// Whether Ctrl-C is the console's own key. On a terminal it ends a wait and not the bot, so the shell must then
    /// not stop on SIGINT (it still does on SIGTERM). No I/O.
    pub fn owns_interrupt(&self) -> bool {
        self.mode == Mode::Terminal
    }

    /// The thread that every line here belongs to. No I/O.
    pub fn thread(&self) -> ThreadKey {
        ThreadKey {
            platform: self.platform(),
            account: AccountId::new(&self.options.host),
            space: SpaceId::new(""),
            conversation: ConversationId::new("console"),
            root: ThreadRoot::new(&self.options.thread),
        }
    }

    /// A signal of this console's one person. Id and time are left empty for the engine.
    fn signal(&self, event: EventId, payload: Payload) -> Signal {
        Signal {
            id: SignalId::new(""),
            event,
            thread: self.thread(),
            room: ConversationKind::Direct,
            actor: Actor { id: self.person(), kind: ActorKind::Human, display: self.options.user.clone() },
            addressed: Addressed::Direct,
            payload,
            depth: 0,
            ground: Ground::Foreground,
            follows: None,
            platform_roles: Vec::new(),
            assurance: Assurance::Platform,
            received_at: Wall(0),
        }
    }

    /// The one person of this console: the OS user, by number. No I/O.
    pub fn person(&self) -> ActorId {
        ActorId::new(format!("uid:{}", self.options.uid))
    }

    /// An event id that no other line and no other start of the console has.
    fn new_event(&self) -> String {
        let count = self.events.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{}-{count}", self.options.session)
    }

    fn style(&self) -> Style {
        let width = match self.mode {
            Mode::Terminal => self.output.columns().map_or_else(Width::default, Width::terminal),
            Mode::Pipe | Mode::Json => Width::default(),
        };
        Style { width, colour: self.colour, keys: self.mode == Mode::Terminal }
    }

    /// Writes a message in this mode's form. What `deliver` does, without the seal, which only the core can make.
    async fn show(&self, id: &str, message: &Outgoing, notes: DeliveryNotes) -> Delivery {
        // A line that is being accepted is first known by its id; only then can be told what answers it. And no line is
        // taken between a message and what is remembered of it.
        let turn = self.turn.lock().await;
        // In a transcript the answer is what follows the question, so that whatever else comes has to say what it is.
        let notice = self.mode == Mode::Pipe && !self.waiting.is_for(&message.answers);
        let text = match self.mode {
            Mode::Json => json::message(id, message, notes),
            Mode::Pipe if notice => render::notice(message, notes, self.style()),
            Mode::Terminal | Mode::Pipe => render::message(message, notes, self.style()),
        };
        let before = self.output.keys();
        let put = self.output.put(text).await;
        if matches!(put, Put::Out | Put::Unsure) && !notice {
            let clear = matches!(put, Put::Out) && !before.may_have_begun(self.output.keys());
            self.remember(message, clear);
        }
        drop(turn);
        match put {
            Put::Out => Delivery::Sent(Vec::new()),
            Put::Unsure => Delivery::Ambiguous("the prompt closed while the message was being shown".to_owned()),
            Put::Closed => Delivery::Permanent("standard output is closed".to_owned()),
            Put::Broken(error) => Delivery::Ambiguous(format!("cannot write to standard output: {error}")),
        }
    }

    /// Remembers what the next line can answer. `clear` says that the message was seen before that line was begun.
    fn remember(&self, message: &Outgoing, clear: bool) {
        let Some(asked) = question::asked_in(message) else { return };
        let mut open = lock(&self.asked);
        let is_known = open.as_ref() == Some(&asked);
        *open = match (self.mode, &asked) {
            // What belongs to another thread is not answered from this one.
            _ if message.to != self.thread() => None,
            // A script names the question itself: many of its lines may be under way at once.
            (Mode::Json, _) => None,
            (Mode::Terminal | Mode::Pipe, Asked::Question { .. }) => Some(asked),
            // In a pipe nobody has seen the card. And an `approve` that was begun before the card came was meant for
            // something else: the person then says by its id which plan they mean.
            (Mode::Pipe, Asked::Card(_)) => None,
            (Mode::Terminal, Asked::Card(_)) => Some(asked).filter(|_| clear || is_known),
        };
    }
}

impl Adapter for Console {
    fn platform(&self) -> Platform {
        Platform::new("console")
    }

    fn capabilities(&self, _room: &ThreadKey) -> Capabilities {
        // A number that is typed is as good as a button that is pressed.
        Capabilities { buttons: true, text_chars_max: TEXT_CHARS_MAX, ..Capabilities::default() }
    }

    fn hear<'a>(&'a self, ingress: &'a dyn Ingress, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, Ended> {
        Box::pin(async move {
            let input = lock(&self.input).take();
            match input {
                Some(Input::Terminal) => self.hear_terminal(ingress, stop).await,
                Some(Input::Stream(input)) => self.hear_stream(ingress, input, stop).await,
                None => Ended::Refused("the console hears once, and it has already been heard to its end".to_owned()),
            }
        })
    }

    fn deliver<'a>(&'a self, parcel: Parcel<'a>) -> BoxFuture<'a, Delivery> {
        Box::pin(self.show(parcel.id, parcel.message.get(), parcel.notes))
    }

    fn answered(&self, signal: &SignalId) {
        self.waiting.answered(signal);
        if self.mode == Mode::Json {
            // A reader that is gone is noticed by the next delivery; there is nobody to tell it to here.
            let _ = self.output.write(&json::answered(signal));
        }
    }
}

/// Takes a lock. What a panicking thread left behind is still whole: every lock here guards one assignment or one write.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
