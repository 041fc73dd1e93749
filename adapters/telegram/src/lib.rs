//! Telegram as a platform. An update becomes a signal or a touch, and an outgoing message becomes messages of the Bot API:
//! this crate translates and nothing more. It stores nothing, decides nothing, and does not know what a signal asks for.

mod api;
mod busy;
mod callbacks;
mod deliver;
mod edit;
mod examine;
mod hear;
mod ids;
mod moved;
mod offer;
mod outcome;
mod poll;
mod render;
mod roles;
mod rooms;
mod take;
mod translate;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_core::port::{
    Adapter, BoxFuture, Capabilities, Delivery, Editor, Ended, Finding, Ingress, Pace, Parcel,
};
use countersign_core::signal::{EventId, Platform, SignalId, ThreadKey};

use crate::api::Api;
use crate::callbacks::{Callbacks, answer_soon};
use crate::deliver::{Letter, Unfinished};

/// The most characters of one message, in UTF-16 units (the Bot API's `sendMessage`).
const TEXT_CHARS_MAX: usize = 4096;

/// A command that Telegram suggests to people who type a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Lower-case letters, digits and `_`, at most 32. An `_` stands for a space.
    pub name: String,
    /// What it does, at most 256 characters.
    pub about: String,
}

/// How fast the bot may talk, by what Telegram's Bot FAQ allows; 0 is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages a second, over all chats.
    pub per_second: u32,
    /// Messages a second in a chat.
    pub chat_per_second: u32,
    /// Messages a minute in a group. Edits count like messages.
    pub group_per_minute: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { per_second: 30, chat_per_second: 1, group_per_minute: 20 }
    }
}

/// What the shell knows of the bot.
#[derive(Clone)]
pub struct Options {
    /// From `@BotFather`. Never shown.
    pub token: String,
    /// The server of the Bot API, `https://api.telegram.org` or one's own.
    pub api_url: String,
    /// What is suggested to people.
    pub commands: Vec<Command>,
    /// How fast it may talk.
    pub limits: Limits,
    /// Whether any role of Telegram means anything to the access file. If so, it is asked for with each message to the bot in
    /// a group, which costs a call.
    pub platform_roles: bool,
}

impl Options {
    /// With everything as Telegram says. The token is the bot's.
    pub fn new(token: impl Into<String>) -> Self {
        Self {
            token: token.into(),
            api_url: "https://api.telegram.org".to_owned(),
            commands: Vec::new(),
            limits: Limits::default(),
            platform_roles: false,
        }
    }
}

/// How long things take.
#[derive(Clone, Copy, Debug)]
struct Timing {
    /// How long Telegram holds a poll that has nothing to tell.
    poll: Duration,
    /// How much longer its connection may be silent before it is given up.
    grace: Duration,
    /// How long any other call may take, from its connection to the end of its answer.
    call: Duration,
    /// The first pause after trouble; each further one is twice as long.
    pause_first: Duration,
    /// The longest pause of our own choosing.
    pause_last: Duration,
    /// How long is waited where the engine has no room.
    room: Duration,
}

const TIMING: Timing = Timing {
    poll: Duration::from_secs(50),
    grace: Duration::from_secs(10),
    call: Duration::from_secs(15),
    pause_first: Duration::from_millis(250),
    pause_last: Duration::from_mins(1),
    room: Duration::from_millis(200),
};

/// One bot on Telegram. Must be used inside a tokio runtime.
pub struct Telegram {
    options: Options,
    timing: Timing,
    command_names: Vec<String>,
    api: Arc<Api>,
    callbacks: Callbacks,
    unfinished: Unfinished,
    told: busy::Told,
    rooms: rooms::Rooms,
    moved: moved::MovedChats,
    /// Whether Telegram tells the bot what is typed after its name, as it said when it was asked last.
    is_inline: AtomicBool,
}

impl Telegram {
    /// The error is a sentence that names what is wrong with the options, and the fix. No I/O.
    pub fn new(options: Options) -> Result<Self, String> {
        Self::timed(options, TIMING)
    }

    fn timed(options: Options, timing: Timing) -> Result<Self, String> {
        let api = Arc::new(Api::new(&options.api_url, &options.token, timing.call)?);
        Ok(Self {
            timing,
            command_names: options.commands.iter().map(|command| command.name.clone()).collect(),
            options,
            api,
            callbacks: Callbacks::default(),
            unfinished: Unfinished::default(),
            told: busy::Told::default(),
            rooms: rooms::Rooms::default(),
            moved: moved::MovedChats::default(),
            is_inline: AtomicBool::default(),
        })
    }
}

impl Adapter for Telegram {
    fn platform(&self) -> Platform {
        Platform::new(translate::PLATFORM)
    }

    fn capabilities(&self, room: &ThreadKey) -> Capabilities {
        Capabilities {
            buttons: true,
            reactions: chat_of(room).is_some_and(|chat| self.rooms.tells_reactions(self.moved.newest(chat))),
            edits: true,
            private: true,
            suggestions: self.is_inline.load(Ordering::Relaxed),
            text_chars_max: TEXT_CHARS_MAX,
        }
    }

    fn pace(&self, room: &ThreadKey) -> Pace {
        let limits = self.options.limits;
        let room_per_minute = if is_group(room) { limits.group_per_minute } else { 0 };
        let apart = |time_ms: u64, times: u32| time_ms.checked_div(u64::from(times)).unwrap_or(0);
        Pace {
            per_second: limits.per_second,
            room_per_second: limits.chat_per_second,
            room_per_minute,
            edit_every_ms: apart(1000, limits.chat_per_second).max(apart(60_000, room_per_minute)),
        }
    }

    fn examine(&self) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(examine::examine(self))
    }

    fn hear<'a>(&'a self, ingress: &'a dyn Ingress, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, Ended> {
        Box::pin(hear::hear(self, ingress, stop))
    }

    fn deliver<'a>(&'a self, parcel: Parcel<'a>) -> BoxFuture<'a, Delivery> {
        Box::pin(deliver::deliver(self, letter(parcel)))
    }

    fn editor(&self) -> Option<&dyn Editor> {
        Some(self)
    }

    fn answered(&self, signal: &SignalId) {
        if let Some(callback) = self.callbacks.answered(signal) {
            answer_soon(&self.api, callback, None);
        }
    }
}

impl Editor for Telegram {
    fn edit<'a>(&'a self, parts: &'a [EventId], parcel: Parcel<'a>) -> BoxFuture<'a, Delivery> {
        Box::pin(edit::edit(self, parts, letter(parcel)))
    }

    fn retract<'a>(&'a self, _thread: &'a ThreadKey, parts: &'a [EventId]) -> BoxFuture<'a, Delivery> {
        Box::pin(edit::retract(self, parts))
    }
}

fn letter(parcel: Parcel<'_>) -> Letter<'_> {
    Letter { id: parcel.id, message: parcel.message.get(), notes: parcel.notes, anchor: parcel.anchor }
}

/// A room's first id; none where it is none of Telegram's.
fn chat_of(room: &ThreadKey) -> Option<i64> {
    room.conversation.as_str().parse().ok()
}

/// Whether a room is no private chat: Telegram's groups and channels have negative numbers.
fn is_group(room: &ThreadKey) -> bool {
    room.conversation.as_str().starts_with('-')
}

#[cfg(test)]
mod tests;
