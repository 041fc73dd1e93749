//! Matrix as a platform. An event of a room becomes a signal or a touch, and an outgoing message becomes events in a room:
//! this crate translates and nothing more. Beside its device, its keys and its place in what it heard it stores nothing; it
//! decides nothing, and does not know what a signal asks for.
#![recursion_limit = "256"]

mod busy;
mod deliver;
mod edit;
mod examine;
mod facts;
mod files;
mod gap;
mod hear;
mod ids;
mod invite;
mod outcome;
mod patience;
mod place;
mod render;
mod rights;
mod rooms;
mod session;
mod signs;
mod take;
mod translate;
mod trust;
mod unread;
mod verify;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use countersign_core::port::{
    Adapter, BoxFuture, Capabilities, Delivery, Editor, Ended, Finding, Ingress, Pace, Parcel,
};
use countersign_core::signal::{EventId, Platform, SignalId, ThreadKey};
use matrix_sdk::Client;
use matrix_sdk::ruma::{OwnedUserId, UserId};

use crate::deliver::{Letter, Unfinished};

/// The most characters of one message: an event has at most 65,536 bytes (Matrix's "Size limits"), encrypted and with its
/// markup.
const TEXT_CHARS_MAX: usize = 16_000;

/// Whether the bot talks in encrypted rooms or in others. Never in both, so that nothing can be moved from the one to the
/// other unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// Only in rooms that are not encrypted.
    Off,
    /// Only in encrypted rooms.
    Required,
}

/// How fast the bot may talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages a second, over all rooms; 0 is no limit. Edits and reactions count like messages.
    pub per_second: u32,
}

impl Default for Limits {
    /// What Synapse lets an account say at once (`rc_message`).
    fn default() -> Self {
        Self { per_second: 10 }
    }
}

/// What the shell knows of the bot.
#[derive(Clone)]
pub struct Options {
    /// The address of the homeserver's client API, `https://matrix.example.org`.
    pub homeserver: String,
    /// The bot's account, in full: `@bot:example.org`.
    pub user: String,
    /// Its password. Needed at the first login, and for making the bot's identity. Never shown.
    pub password: String,
    /// In which rooms it talks.
    pub encryption: Encryption,
    /// A folder of its own, for its device, its keys and its place in what it heard. Whoever reads it can be the bot.
    pub store: PathBuf,
    /// Opens the bot's identity on a new device; else the one in its folder does.
    pub recovery_key: Option<String>,
    /// Accounts that a bridge moves and no person: in full, or with a `*` for any letters: `@telegram_*:example.org`.
    pub ghosts: BTreeSet<String>,
    /// What can be asked by a word behind a `!`, with `_` for a space.
    pub commands: Vec<String>,
    /// How fast it may talk.
    pub limits: Limits,
}

impl Options {
    /// With encryption.
    pub fn new(
        homeserver: impl Into<String>,
        user: impl Into<String>,
        password: impl Into<String>,
        store: PathBuf,
    ) -> Self {
        Self {
            homeserver: homeserver.into(),
            user: user.into(),
            password: password.into(),
            encryption: Encryption::Required,
            store,
            recovery_key: None,
            ghosts: BTreeSet::new(),
            commands: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// How long things take.
#[derive(Clone, Copy, Debug)]
struct Timing {
    /// How long the homeserver holds a sync that has nothing to tell.
    poll: Duration,
    /// How long any other call may take, from its connection to the end of its answer.
    call: Duration,
    /// The first pause after trouble; each further one is twice as long.
    pause_first: Duration,
    /// The longest pause of our own choosing.
    pause_last: Duration,
    /// How long is waited where the engine has no room.
    room: Duration,
    /// How long a message may stay unreadable before that is said: its key may be on its way.
    unread: Duration,
    /// How long nothing more is said of one sender's unreadable messages in a room.
    quiet: Duration,
}

const TIMING: Timing = Timing {
    poll: Duration::from_secs(30),
    call: Duration::from_secs(20),
    pause_first: Duration::from_secs(1),
    pause_last: Duration::from_mins(1),
    room: Duration::from_millis(200),
    unread: Duration::from_secs(10),
    quiet: Duration::from_mins(1),
};

/// One bot on Matrix. Must be used inside a tokio runtime.
pub struct Matrix {
    options: Options,
    user: OwnedUserId,
    timing: Timing,
    /// The session; none until the first login.
    client: RwLock<Option<Client>>,
    /// Whether the homeserver has said, since this was made, in which rooms the bot is.
    has_heard: AtomicBool,
    /// What the bot is called, where it has a name.
    name: RwLock<Option<String>>,
    unfinished: Unfinished,
    told: busy::Told,
    seeds: edit::Seeds,
    working: signs::Working,
    checks: verify::Checks,
    waiting: unread::Waiting,
    invited: invite::Bell,
}

impl Matrix {
    /// The error is a sentence that names what is wrong with the options, and the fix. No I/O.
    pub fn new(options: Options) -> Result<Self, String> {
        Self::timed(options, TIMING)
    }

    fn timed(options: Options, timing: Timing) -> Result<Self, String> {
        let user = account(&options.user)?;
        let has_scheme = ["http://", "https://"].iter().any(|scheme| options.homeserver.starts_with(scheme));
        if !has_scheme {
            return Err(format!("`{}` is no address of a homeserver: it starts with https://", options.homeserver));
        }
        Ok(Self {
            options,
            user,
            timing,
            client: RwLock::default(),
            has_heard: AtomicBool::new(false),
            name: RwLock::default(),
            unfinished: Unfinished::default(),
            told: busy::Told::default(),
            seeds: edit::Seeds::default(),
            working: signs::Working::default(),
            checks: verify::Checks::default(),
            waiting: unread::Waiting::default(),
            invited: invite::Bell::default(),
        })
    }

    /// The session, if there is one yet.
    fn client(&self) -> Option<Client> {
        self.client.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn connected(&self, client: Client, name: Option<String>) {
        *self.client.write().unwrap_or_else(PoisonError::into_inner) = Some(client);
        *self.name.write().unwrap_or_else(PoisonError::into_inner) = name;
    }

    /// The SDK knows by now in which rooms the bot is.
    fn heard(&self) {
        self.has_heard.store(true, Ordering::Release);
    }

    /// Whether a room that the SDK does not know is one in which the bot is not. Before that is known, the SDK knows only what
    /// lay in its store.
    fn knows_its_rooms(&self) -> bool {
        self.has_heard.load(Ordering::Acquire)
    }

    fn me(&self) -> translate::Me {
        let name = self.name.read().unwrap_or_else(PoisonError::into_inner).clone();
        translate::Me { user: self.user.clone(), name }
    }
}

/// A full account name, in its exact case.
fn account(name: &str) -> Result<OwnedUserId, String> {
    UserId::parse(name).map_err(|_| format!("`{name}` is no account on Matrix: it is named like @bot:example.org"))
}

impl Adapter for Matrix {
    fn platform(&self) -> Platform {
        Platform::new(translate::PLATFORM)
    }

    fn capabilities(&self, _: &ThreadKey) -> Capabilities {
        Capabilities {
            buttons: false,
            reactions: true,
            edits: true,
            private: false,
            suggestions: false,
            text_chars_max: TEXT_CHARS_MAX,
        }
    }

    fn pace(&self, _: &ThreadKey) -> Pace {
        let per_second = self.options.limits.per_second;
        let edit_every_ms = 1000_u64.checked_div(u64::from(per_second)).unwrap_or(0);
        Pace { per_second, room_per_second: 0, room_per_minute: 0, edit_every_ms }
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
        signs::rest(self, signal);
    }
}

impl Editor for Matrix {
    fn edit<'a>(&'a self, parts: &'a [EventId], parcel: Parcel<'a>) -> BoxFuture<'a, Delivery> {
        Box::pin(edit::edit(self, parts, letter(parcel)))
    }

    fn retract<'a>(&'a self, thread: &'a ThreadKey, parts: &'a [EventId]) -> BoxFuture<'a, Delivery> {
        Box::pin(edit::retract(self, thread, parts))
    }
}

fn letter(parcel: Parcel<'_>) -> Letter<'_> {
    Letter { id: parcel.id, message: parcel.message.get(), notes: parcel.notes, anchor: parcel.anchor }
}

#[cfg(test)]
mod tests;
