//! How a line becomes an accepted signal, and the loop that reads a pipe or JSON lines. The terminal's loop is in
//! `terminal`, what a line means is in `question` and `json`.

use std::io::{self, Read, Write as _};
use std::time::Duration;

use countersign_core::port::{Admission, BoxFuture, Ended, Ingress, Mark};
use countersign_core::signal::{EventId, Payload, Signal, SignalId};
use tokio::sync::mpsc;

use crate::json::{Misread, Said};
use crate::line::{self, LINE_BYTES_MAX, Line};
use crate::output::Put;
use crate::{Console, Mode, clean, json, lock, question, render};

/// The first pause after the bot was busy. It doubles up to `PAUSE_MAX`.
const PAUSE_FIRST: Duration = Duration::from_millis(50);

/// The longest pause after the bot was busy.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// How often a line is offered to a busy bot: about ten minutes, after which a script hears that it is stuck.
const OFFERS_MAX: u32 = 600;

/// Whether there is more to read.
pub(crate) enum Next {
    Line,
    End(Ended),
}

/// What became of an offered line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// Stored now or before.
    Taken,
    Busy,
    /// Not stored, and not to be offered again: it came too fast. That is marked.
    Limited,
    Stopping,
    /// Not stored; the reason is in the log.
    Failed,
}

/// A line on its way to the bot.
pub(crate) struct Offer {
    /// The id as the person or the script knows it.
    pub(crate) event: String,
    pub(crate) signal: Signal,
}

/// Whether a line asks to leave.
pub(crate) fn leaves(line: &str) -> bool {
    let word = line.trim();
    word.eq_ignore_ascii_case("quit") || word.eq_ignore_ascii_case("exit")
}

impl Console {
    /// Reads a stream until it is over, `stop` resolves, or nobody reads the answers any more.
    pub(crate) async fn hear_stream(
        &self,
        ingress: &dyn Ingress,
        input: Box<dyn Read + Send>,
        stop: BoxFuture<'_, ()>,
    ) -> Ended {
        self.note(&self.options.banner);
        let lines = match line::spawn(input) {
            Ok(lines) => lines,
            Err(error) => return Ended::Refused(format!("cannot start the thread that reads the input: {error}")),
        };
        tokio::select! {
            biased;
            () = stop => Ended::Stopped,
            () = self.output.until_closed() => nobody_reads(),
            ended = self.read_on(ingress, lines) => ended,
        }
    }

    async fn read_on(&self, ingress: &dyn Ingress, mut lines: mpsc::Receiver<io::Result<Line>>) -> Ended {
        while let Some(line) = lines.recv().await {
            let next = match line {
                Ok(Line::Whole(line)) => self.take(ingress, &line).await,
                Ok(Line::TooLong(bytes)) => {
                    self.complain(None, Mark::Refused, &too_long(bytes)).await;
                    Next::Line
                }
                Err(error) => Next::End(Ended::Refused(format!("cannot read the input: {error}"))),
            };
            match next {
                Next::Line => {}
                Next::End(ended) => return ended,
            }
        }
        Ended::InputOver
    }

    async fn take(&self, ingress: &dyn Ingress, line: &str) -> Next {
        let word = line.trim();
        if word.is_empty() || word.starts_with('#') {
            return Next::Line;
        }
        if leaves(line) {
            return Next::End(Ended::InputOver);
        }
        if self.mode == Mode::Json {
            return self.take_json(ingress, line).await;
        }
        self.echo(line).await;
        let payload = self.payload(line);
        let next = self.offer_until_taken(ingress, self.offer(None, payload)).await;
        // The next line may be the number of a choice that is still to be shown, and the output is to read like a
        // transcript: one question is answered before the next is asked.
        self.waiting.until_answered().await;
        next
    }

    async fn take_json(&self, ingress: &dyn Ingress, line: &str) -> Next {
        match json::parse(line) {
            Ok(Said { event, payload }) => self.offer_until_taken(ingress, self.offer(event, payload)).await,
            Err(Misread { event, message }) => {
                self.complain(event.as_deref(), Mark::Refused, &message).await;
                Next::Line
            }
        }
    }

    /// What a line says, given the question or the card that is open.
    pub(crate) fn payload(&self, line: &str) -> Payload {
        question::payload(line, lock(&self.asked).as_ref())
    }

    /// A line as a signal. An id that a script chose carries the person's own: two people may count from 1, and neither
    /// may swallow the other's lines.
    pub(crate) fn offer(&self, event: Option<String>, payload: Payload) -> Offer {
        let (event, unique) = if let Some(event) = event {
            let unique = format!("{}/{event}", self.person());
            (event, unique)
        } else {
            let event = self.new_event();
            (event.clone(), event)
        };
        Offer { event, signal: self.signal(EventId::new(unique), payload) }
    }

    /// A pipe waits while the bot is busy: what it has read cannot be given back.
    async fn offer_until_taken(&self, ingress: &dyn Ingress, offer: Offer) -> Next {
        let mut pause = PAUSE_FIRST;
        for _ in 0..OFFERS_MAX {
            match self.accept(ingress, &offer).await {
                Offered::Taken | Offered::Limited => return Next::Line,
                Offered::Busy => tokio::time::sleep(pause).await,
                Offered::Stopping => {
                    self.complain(Some(&offer.event), Mark::Refused, STOPPING).await;
                    return Next::End(Ended::Stopped);
                }
                Offered::Failed => {
                    self.complain(Some(&offer.event), Mark::Failed, NOT_STORED).await;
                    return Next::Line;
                }
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
        self.complain(Some(&offer.event), Mark::Failed, STUCK).await;
        Next::End(Ended::Refused("the bot stayed busy, and the input was not read to its end".to_owned()))
    }

    /// Offers a line once. The answer to it can be shown only after this returns.
    pub(crate) async fn accept(&self, ingress: &dyn Ingress, offer: &Offer) -> Offered {
        let _turn = self.turn.lock().await;
        self.waiting.offered();
        let offered = match ingress.accept(offer.signal.clone()).await {
            Ok(Admission::Accepted(id)) => return self.accepted(offer, &id).await,
            Ok(Admission::Duplicate | Admission::Unknown) => {
                if self.mode == Mode::Json {
                    self.print(json::duplicate(&offer.event)).await;
                }
                Offered::Taken
            }
            Ok(Admission::Busy) => Offered::Busy,
            Ok(Admission::Limited { wait_ms }) => {
                self.mark_limited(offer, wait_ms).await;
                Offered::Limited
            }
            Ok(Admission::Stopping) => Offered::Stopping,
            Err(error) => {
                tracing::error!(%error, event = %offer.signal.event, "a line was not stored");
                Offered::Failed
            }
        };
        self.waiting.forget();
        offered
    }

    async fn accepted(&self, offer: &Offer, id: &SignalId) -> Offered {
        if self.mode == Mode::Json {
            // Lines of a script may overtake each other's answers, so that nothing is waited for.
            self.waiting.forget();
            self.print(json::accepted(&offer.event, id)).await;
        } else {
            self.waiting.accepted(id);
            // Any line that was taken closes what could be answered, but for a look at the card's details. One that was not
            // will be sent again, and must then mean the same.
            if !matches!(offer.signal.payload, Payload::Details { .. }) {
                *lock(&self.asked) = None;
            }
        }
        Offered::Taken
    }

    /// The bot has said why, once; here is only the mark of a line that was not taken.
    async fn mark_limited(&self, offer: &Offer, wait_ms: u64) {
        let text = match self.mode {
            Mode::Json => json::limited(&offer.event, wait_ms),
            Mode::Terminal | Mode::Pipe => render::sentence(Mark::Refused, LIMITED, self.style()),
        };
        self.print(text).await;
    }

    /// Repeats a question before its answer, so that the output of a pipe reads like a transcript.
    async fn echo(&self, line: &str) {
        self.print(format!("> {}\n", clean::visible_line(line))).await;
    }

    /// Tells a person, or a script, about a line that was not taken.
    pub(crate) async fn complain(&self, event: Option<&str>, mark: Mark, sentence: &str) {
        let text = match self.mode {
            Mode::Json => json::error(event, sentence),
            Mode::Terminal | Mode::Pipe => render::sentence(mark, sentence, self.style()),
        };
        self.print(text).await;
    }

    /// Prints what the console says by itself. A closed output ends the loops; other trouble with it is logged, and the
    /// deliveries meet it again.
    pub(crate) async fn print(&self, text: String) {
        if let Put::Broken(error) = self.output.put(text).await {
            tracing::warn!(%error, "standard output cannot be written");
        }
    }

    /// Says something to people where it does not stand in a script's way.
    fn note(&self, text: &str) {
        if !text.is_empty() {
            // Where people's stream is gone there is nobody to tell, and the work goes on.
            let _ = lock(&self.notes).write_all(format!("{}\n", clean::visible(text.trim_end())).as_bytes());
        }
    }
}

/// The bot is stopping.
pub(crate) const STOPPING: &str = "The bot is stopping. This line was not taken; send it again after the start.";

/// The engine could not store a line.
pub(crate) const NOT_STORED: &str =
    "This line could not be stored, so it was not taken. The reason is in the bot's log. Send it again.";

/// A line came over a limit.
const LIMITED: &str = "Not taken: too fast.";

const STUCK: &str =
    "The bot stayed busy for ten minutes. This line and those after it were not taken. Send them again.";

/// A line is over the limit.
pub(crate) fn too_long(bytes: usize) -> String {
    format!("A line of {bytes} bytes was not taken: the limit is {LINE_BYTES_MAX} bytes (8 KiB). Shorten or split it.")
}

/// Nobody reads the answers.
pub(crate) fn nobody_reads() -> Ended {
    Ended::Refused("standard output was closed, so that nobody can read the answers".to_owned())
}
