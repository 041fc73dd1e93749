//! Where everything goes that people or scripts read: standard output, or the lines above a terminal's prompt. It writes
//! finished text and knows nothing of its form.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustyline::ExternalPrinter;
use tokio::sync::watch;

use crate::lock;

/// What became of a text.
#[derive(Debug)]
pub(crate) enum Put {
    /// Written and flushed.
    Out,
    /// Given to the line editor, whose prompt closed meanwhile: it may show it only with its next prompt.
    Unsure,
    /// Nobody reads any more, and nobody will.
    Closed,
    /// The write failed, perhaps after a part of it.
    Broken(io::Error),
}

/// What is known at one moment of a person's typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    prompt: bool,
    begun: bool,
}

impl Keys {
    /// Whether a line may have been begun before something that was shown between this moment and `later` was seen.
    pub(crate) const fn may_have_begun(self, later: Self) -> bool {
        // A prompt that is closed meanwhile was closed by a line.
        let entered = self.prompt && !later.prompt;
        self.begun || later.begun || entered
    }
}

type Printer = Mutex<Box<dyn ExternalPrinter + Send>>;

/// The one place that writes.
pub(crate) struct Output {
    stream: Mutex<Box<dyn Write + Send>>,
    /// The printer of the line editor that is at work, which keeps what a person is typing below the text.
    above: Mutex<Option<Arc<Printer>>>,
    /// Whether a prompt is open.
    typing: watch::Sender<bool>,
    /// Whether something stands at the open prompt, as far as the line editor says.
    begun: AtomicBool,
    /// How often the line editor has drawn its prompt.
    drawn: watch::Sender<u64>,
    closed: watch::Sender<bool>,
    /// The terminal's width in columns; 0 is unknown.
    columns: AtomicUsize,
}

impl Output {
    /// Writes to a stream; a terminal adds its printer.
    pub(crate) fn new(stream: Box<dyn Write + Send>) -> Self {
        Self {
            stream: Mutex::new(stream),
            above: Mutex::new(None),
            typing: watch::Sender::new(false),
            begun: AtomicBool::new(false),
            drawn: watch::Sender::new(0),
            closed: watch::Sender::new(false),
            columns: AtomicUsize::new(0),
        }
    }

    /// Gives it the line editor's printer, in the place of an earlier editor's.
    pub(crate) fn set_printer(&self, printer: Box<dyn ExternalPrinter + Send>) {
        *lock(&self.above) = Some(Arc::new(Mutex::new(printer)));
    }

    /// Whether there is a line editor that texts are shown above.
    pub(crate) fn has_printer(&self) -> bool {
        lock(&self.above).is_some()
    }

    /// The width in columns as it was when the last prompt opened.
    pub(crate) fn columns(&self) -> Option<usize> {
        Some(self.columns.load(Ordering::Relaxed)).filter(|&columns| columns > 0)
    }

    /// A prompt opens, this many columns wide. Waits for a write under way, so that the prompt starts on a line of its own.
    pub(crate) fn open_prompt(&self, columns: usize) {
        let _writing = lock(&self.stream);
        self.columns.store(columns, Ordering::Relaxed);
        self.begun.store(false, Ordering::SeqCst);
        self.typing.send_replace(true);
    }

    /// The prompt is closed.
    pub(crate) fn close_prompt(&self) {
        self.typing.send_replace(false);
    }

    /// The prompt was drawn. The editor does so right after it has written a text above it.
    pub(crate) fn prompt_drawn(&self) {
        self.drawn.send_modify(|count| *count += 1);
    }

    /// Something stands at the open prompt now, or nothing does.
    pub(crate) fn line_is_begun(&self, begun: bool) {
        self.begun.store(begun, Ordering::SeqCst);
    }

    /// What is known of a person's typing now.
    pub(crate) fn keys(&self) -> Keys {
        let prompt = self.prompt_is_open();
        // A terminal without cursor control does not say what is being typed, so that it may be anything.
        let begun = prompt && (!self.has_printer() || self.begun.load(Ordering::SeqCst));
        Keys { prompt, begun }
    }

    /// Whether a prompt is open.
    pub(crate) fn prompt_is_open(&self) -> bool {
        *self.typing.borrow()
    }

    /// Resolves when the prompt is closed.
    pub(crate) async fn until_prompt_closed(&self) {
        // The sender lives as long as `self`, so that waiting cannot fail.
        let _ = self.typing.subscribe().wait_for(|typing| !typing).await;
    }

    /// Resolves when nobody reads any more.
    pub(crate) async fn until_closed(&self) {
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    /// Writes and flushes; blocks.
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        let result = self.write_here(text);
        // A full disk is as final as a closed pipe: nobody is to be kept waiting for room.
        if result.is_err() {
            self.closed.send_replace(true);
        }
        result
    }

    fn write_here(&self, text: &str) -> io::Result<()> {
        let mut stream = lock(&self.stream);
        let above = lock(&self.above).clone();
        if let Some(above) = above.filter(|_| self.prompt_is_open()) {
            // The printer may block until the editor takes the text, and must not hold up the next prompt meanwhile.
            drop(stream);
            return lock(&above).print(text.to_owned()).map_err(io::Error::other);
        }
        stream.write_all(text.as_bytes())?;
        stream.flush()
    }

    /// The same without blocking the runtime. What goes above a prompt is out once the editor has drawn the prompt again.
    pub(crate) async fn put(self: &Arc<Self>, text: String) -> Put {
        let above_prompt = self.has_printer() && self.prompt_is_open();
        let mut drawn = self.drawn.subscribe();
        drawn.mark_unchanged();
        let here = Arc::clone(self);
        let written = tokio::task::spawn_blocking(move || here.write(&text));
        let shown = async {
            let done = written.await.unwrap_or_else(|panicked| Err(io::Error::other(panicked)));
            if done.is_ok() && above_prompt {
                // The sender lives as long as `self`, so that waiting cannot fail.
                let _ = drawn.changed().await;
            }
            done
        };
        tokio::select! {
            biased;
            done = shown => match done {
                Ok(()) => Put::Out,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Put::Closed,
                Err(error) => Put::Broken(error),
            },
            () = self.until_prompt_closed(), if above_prompt => Put::Unsure,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::time::Duration;

    use futures::FutureExt as _;

    use super::*;

    /// An editor that takes texts and draws when it is told to, as the real one does between two keys.
    struct Editor(std::sync::mpsc::SyncSender<String>);

    impl ExternalPrinter for Editor {
        fn print(&mut self, text: String) -> rustyline::Result<()> {
            self.0.send(text).map_err(|_| io::Error::from(io::ErrorKind::Other).into())
        }
    }

    fn with_editor() -> (Arc<Output>, std::sync::mpsc::Receiver<String>) {
        let output = Arc::new(Output::new(Box::new(io::sink())));
        let (editor, taken) = std::sync::mpsc::sync_channel(16);
        output.set_printer(Box::new(Editor(editor)));
        output.open_prompt(80);
        (output, taken)
    }

    /// Puts a text above the prompt, lets the editor take it, looks often whether that is already called out, and ends with
    /// what follows `then`.
    async fn put_and(then: impl FnOnce(&Output)) -> Put {
        let (output, taken) = with_editor();
        let mut put = pin!(output.put("late".to_owned()));
        while taken.try_recv().is_err() {
            assert!(put.as_mut().now_or_never().is_none(), "the editor does not have it yet");
            tokio::task::yield_now().await;
        }
        for _ in 0..10_000 {
            assert!(put.as_mut().now_or_never().is_none(), "the editor has it, and has not drawn it");
            tokio::task::yield_now().await;
        }
        then(&output);
        tokio::time::timeout(Duration::from_secs(20), put).await.expect("it is decided now")
    }

    #[tokio::test]
    async fn a_text_above_the_prompt_is_out_when_it_was_drawn() {
        assert!(matches!(put_and(Output::prompt_drawn).await, Put::Out));
    }

    #[tokio::test]
    async fn a_text_that_the_prompt_closed_over_is_not_called_sent() {
        assert!(matches!(put_and(Output::close_prompt).await, Put::Unsure));
    }

    #[tokio::test]
    async fn without_a_prompt_the_stream_is_written() {
        let (output, taken) = with_editor();
        output.close_prompt();
        assert!(matches!(output.put("now".to_owned()).await, Put::Out));
        assert!(taken.try_recv().is_err(), "nothing went to the editor");
    }
}
