//! One platform as the shell sees it: what it can, what it hears, how it delivers, and what it tells of itself.

use crate::gate::Cleared;
use crate::signal::{
    Actor, Assurance, ConversationId, ConversationKind, EventId, Platform, Signal, SignalId, ThreadKey,
};

use super::{Asked, Asker, BoxFuture, Outgoing, Right, Suggestion};

/// What happened to a delivery. Never guessed from the text of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It is out. The platform's ids of every part, in order, as an event would name them; empty where the platform has
    /// none. By them it is found out later what was answered, pressed or reacted to.
    Sent(Vec<EventId>),
    /// Not now: again after so many milliseconds.
    RetryAfter(u64),
    /// Not out, for a reason that may pass.
    Retryable(String),
    /// It may be out and it may not: never repeated without saying so.
    Ambiguous(String),
    /// Not out, and it never will be.
    Permanent(String),
    /// The platform does not let us in.
    Unauthorized(String),
}

/// What was done with a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Stored under this id: it will be answered, whatever happens to this process. `deliver` and `answered` name the
    /// same id, which is how an adapter knows whose answer came.
    Accepted(SignalId),
    /// Seen before: nothing to do, move the cursor on.
    Duplicate,
    /// What was touched is no button and no card of ours: nothing to do, move the cursor on.
    Unknown,
    /// The thread's queue is full, or a message was touched that may be one of ours on its way. Nothing was stored: try
    /// again, then tell the person, or hold the cursor.
    Busy,
    /// It came over a limit, and that was said already. Nothing was stored, and the cursor may move on. The adapter may mark
    /// the message, and says nothing more.
    Limited {
        /// Milliseconds until one more may be taken; 0 where nobody can say.
        wait_ms: u64,
    },
    /// The bot is stopping. Nothing was stored.
    Stopping,
}

/// What a room can do, as data. The core picks buttons, then reactions, then text. What is declared here works, and what is
/// not is not there: the conformance suite holds every adapter to both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about a room by itself, and no state")]
pub struct Capabilities {
    /// A choice can be pressed.
    pub buttons: bool,
    /// A reaction to a card decides it.
    pub reactions: bool,
    /// What was sent can be put right later: [`Adapter::editor`] is there.
    pub edits: bool,
    /// Who pressed a button can be answered so that nobody else sees it. False is the safe answer (ADAPTERS.md 1.7).
    pub private: bool,
    /// Whoever types is offered what they may mean: [`Ingress::suggest`] is asked.
    pub suggestions: bool,
    /// The most characters of one message, as the platform counts them; longer ones are split by the adapter.
    pub text_chars_max: usize,
}

/// How fast a platform lets us talk. The outbox keeps to it, so that what matters most leaves first; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Messages a second, over all rooms of this platform.
    pub per_second: u32,
    /// Messages a second in this room.
    pub room_per_second: u32,
    /// Messages a minute in this room.
    pub room_per_minute: u32,
    /// Milliseconds between two edits of one message.
    pub edit_every_ms: u64,
}

/// How it stands with a platform's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It hears: a sign of life, reported with every answer of the platform, also an empty one. How long ago the last one
    /// was is the platform's health; that a connection is open says nothing.
    Hearing,
    /// It does not, and goes on trying.
    Trouble {
        /// A sentence for people.
        what: String,
        /// When it tries again, in milliseconds from now.
        again_in_ms: u64,
    },
}

/// What somebody touched: it is found out among the bot's own messages what that decides, if it decides anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// A button. It counts only on the message that it was posted with.
    Button {
        /// The text that the adapter wrote into it: `POST:N`, the [`Parcel::id`] of its message and its position from 0. On a
        /// card 0 approves, 1 denies and 2 shows the details.
        data: String,
        /// The message that bears it, as `Delivery::Sent` named it.
        on: EventId,
    },
    /// A message, with a reaction that stands for something. Where that message asks nothing of the kind, it means nothing.
    Message {
        /// Which, as `Delivery::Sent` named it.
        event: EventId,
        /// What the reaction stands for.
        sign: Sign,
    },
}

/// What a reaction stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Yes, to a card.
    Approve,
    /// No, to a card.
    Deny,
    /// Show the details of a card's plan.
    Details,
    /// One of the choices of a question, by its position from 0.
    Pick(u32),
}

/// Somebody pressed a button or reacted to a message. Never text, and never told to a model before it was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The platform's id of the event, unique for (platform, account).
    pub event: EventId,
    /// What was touched.
    pub on: Touched,
    /// Where it happened. Its root counts only where nothing is found out: a decision belongs to the thread of its card.
    pub thread: ThreadKey,
    /// What kind of room that is.
    pub room: ConversationKind,
    /// Who did it.
    pub actor: Actor,
    /// The roles that the actor has there on the platform at this moment.
    pub platform_roles: Vec<String>,
    /// How far it is known that it was the actor.
    pub assurance: Assurance,
    /// Why, in the actor's own words, where the platform asked for that; empty elsewhere. Counts where a card is decided.
    pub reason: String,
}

/// What an adapter tells the shell. Implemented by the engine.
pub trait Ingress: Send + Sync {
    /// Takes a signal whose `id` is still empty and stores it. May do database I/O. Only after this returns may the
    /// platform's cursor move on. An error is a sentence for the log; the signal is then not stored. An adapter hands in
    /// the signals and touches of one conversation one after the other, each when the one before it has returned: which
    /// thread a reply belongs to has to be looked up, and what is handed in side by side may overtake.
    fn accept(&self, signal: Signal) -> BoxFuture<'_, Result<Admission, String>>;

    /// Takes a press or a reaction, as `accept` takes a signal. May do database I/O.
    fn touch(&self, touch: Touch) -> BoxFuture<'_, Result<Admission, String>>;

    /// The events that were taken in the threads in which something is still open: a request, or a plan that waits. Where a
    /// platform does not tell again what was said while nobody listened, that is looked for behind them. May do database
    /// I/O; an error is a sentence for the log.
    fn open_work(&self) -> BoxFuture<'_, Result<Vec<EventId>, String>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// The rooms of this platform that have another id than at first: the newest id, and the first one, which their threads
    /// keep. What an adapter hears as [`Payload::RoomMoved`](crate::signal::Payload::RoomMoved) is here soon after. No I/O.
    fn moved_rooms(&self) -> Vec<(ConversationId, ConversationId)> {
        Vec::new()
    }

    /// Whether somebody may do this there: for what a platform asks of the bot's account itself, as whose invitation it takes.
    /// What is asked in words is judged where it is heard. Fails closed. No I/O.
    fn may(&self, _asker: &Asker<'_>, _right: &Right) -> bool {
        false
    }

    /// What somebody may mean who is still typing, the best first; nothing where nothing may be said. It asks no tool, stores
    /// nothing and decides nothing. No I/O, and quick enough for each letter that is typed.
    fn suggest(&self, _asked: &Asked) -> Vec<Suggestion> {
        Vec::new()
    }

    /// Takes note of how it stands with the connection. No I/O.
    fn report(&self, condition: Condition);
}

/// Why an adapter ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its input is over: accepted requests are still answered, then the bot may stop.
    InputOver,
    /// It was asked to stop.
    Stopped,
    /// It broke; a sentence for people. It is started again, with a growing pause.
    Failed(String),
    /// It cannot go on until a person mends something; a sentence that names the thing and the fix. It is not started
    /// again.
    Refused(String),
}

/// Notes about a message's delivery, shown before its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryNotes {
    /// An earlier attempt may have come through.
    pub repeat: bool,
    /// The age of the message in minutes, if it is late.
    pub late_minutes: Option<u64>,
    /// The number of earlier messages of its thread that were given up.
    pub lost: u64,
}

impl DeliveryNotes {
    /// The most characters of [`DeliveryNotes::text`], all of one byte each: an adapter keeps room for them.
    pub const CHARS_MAX: usize = 100;

    /// It may be a repeat, and nothing else.
    pub const REPEAT: Self = Self { repeat: true, late_minutes: None, lost: 0 };

    /// Returns what is said, in brackets; none where there is nothing to say.
    pub fn text(&self) -> Option<String> {
        let late = self.late_minutes.map(|minutes| match minutes {
            0..120 => format!("written {minutes} min ago"),
            _ => format!("written {} h ago", (minutes / 60).min(9_999)),
        });
        let lost = match self.lost {
            0 => None,
            1 => Some("an earlier message could not be delivered".to_owned()),
            lost => Some(format!("{} earlier messages could not be delivered", lost.min(9_999))),
        };
        let repeat = self.repeat.then(|| "may be a repeat".to_owned());
        let notes: Vec<String> = late.into_iter().chain(lost).chain(repeat).collect();
        (!notes.is_empty()).then(|| format!("({})", notes.join("; ")))
    }
}

/// A message on its way to a platform.
#[derive(Clone, Copy, Debug)]
pub struct Parcel<'a> {
    /// Names the message for good, also when it is sent again: 26 to 32 letters and digits. Buttons carry it.
    pub id: &'a str,
    /// What is said.
    pub message: &'a Cleared<Outgoing>,
    /// The notes of its delivery, shown first.
    pub notes: DeliveryNotes,
    /// The event that it answers, as the platform named it; none where the bot speaks of its own accord. May name something
    /// that is no message.
    pub anchor: Option<&'a EventId>,
}

/// One thing that was looked at before anybody relies on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was found, without a full stop.
    pub found: String,
    /// What a person does about it, a sentence; none where it is fine.
    pub fix: Option<String>,
}

impl Finding {
    /// It is as it should be.
    pub fn fine(found: impl Into<String>) -> Self {
        Self { found: found.into(), fix: None }
    }

    /// It is not, and this is what to do.
    pub fn wrong(found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { found: found.into(), fix: Some(fix.into()) }
    }
}

/// Puts right what was sent. Its I/O is with its platform.
pub trait Editor: Send + Sync {
    /// Shows this in the place of a message that was delivered as these parts, with the buttons that it has itself and no
    /// others. What reads the same already is done.
    fn edit<'a>(&'a self, parts: &'a [EventId], parcel: Parcel<'a>) -> BoxFuture<'a, Delivery>;

    /// Takes a message back. One that is gone already is done.
    fn retract<'a>(&'a self, thread: &'a ThreadKey, parts: &'a [EventId]) -> BoxFuture<'a, Delivery>;
}

/// One platform: translates, and nothing more.
pub trait Adapter: Send + Sync + 'static {
    /// Which platform. No I/O.
    fn platform(&self) -> Platform;

    /// What a room can do. No I/O.
    fn capabilities(&self, room: &ThreadKey) -> Capabilities;

    /// How fast the platform lets us talk in a room. No I/O.
    fn pace(&self, _room: &ThreadKey) -> Pace {
        Pace::default()
    }

    /// Looks whether it could talk: its credential, and what a newcomer forgets to switch on. Talks to its platform, and
    /// changes nothing there.
    fn examine(&self) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(async { Vec::new() })
    }

    /// Hears until its input is over or `stop` resolves. Talks to its platform. Trouble on the way is a condition to
    /// report and recover from, not an error to return (ADAPTERS.md section 1). May be called again after it ended with
    /// [`Ended::Failed`].
    fn hear<'a>(&'a self, ingress: &'a dyn Ingress, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, Ended>;

    /// Sends one message; talks to its platform.
    fn deliver<'a>(&'a self, parcel: Parcel<'a>) -> BoxFuture<'a, Delivery>;

    /// What puts right what was sent; none where the platform cannot. No I/O.
    fn editor(&self) -> Option<&dyn Editor> {
        None
    }

    /// Every message that answers this signal has left. No I/O beyond the adapter's own platform, and none that is waited
    /// for.
    fn answered(&self, signal: &SignalId);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_how_it_was_delivered_in_a_bounded_line() {
        let text = |repeat, late_minutes, lost| DeliveryNotes { repeat, late_minutes, lost }.text().unwrap_or_default();
        assert_eq!(text(false, None, 0), "");
        assert_eq!(text(true, None, 0), "(may be a repeat)");
        assert_eq!(text(false, Some(12), 0), "(written 12 min ago)");
        assert_eq!(
            text(true, Some(300), 1),
            "(written 5 h ago; an earlier message could not be delivered; may be a repeat)"
        );
        let longest = text(true, Some(u64::MAX), u64::MAX);
        assert!(longest.is_ascii() && longest.len() <= DeliveryNotes::CHARS_MAX, "{longest}");
    }
}
