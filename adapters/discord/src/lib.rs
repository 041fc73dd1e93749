//! Discord as a platform. An event of the gateway becomes a signal or a touch, and an outgoing message becomes messages over
//! REST: this crate translates and nothing more. It stores nothing, decides nothing, and does not know what a signal asks
//! for.

mod answer;
mod api;
mod body;
mod busy;
mod calls;
mod commands;
mod deliver;
mod edit;
mod examine;
mod gateway;
mod hear;
mod ids;
mod lanes;
mod missed;
mod offer;
mod outcome;
mod patience;
mod places;
mod render;
mod session;
mod take;
mod translate;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::port::{
    Adapter, BoxFuture, Capabilities, Delivery, Editor, Ended, Finding, Ingress, Pace, Parcel,
};
use countersign_core::signal::{EventId, Platform, SignalId, ThreadKey};

use crate::api::Api;
use crate::calls::Calls;
use crate::deliver::{Letter, Unfinished};

/// The most characters of one message (Discord's `Create Message`).
const TEXT_CHARS_MAX: usize = 2000;

/// A command that Discord suggests to people who type a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Lower-case letters, digits and `_`, at most 32. An `_` stands for a space.
    pub name: String,
    /// What it does, at most 100 characters.
    pub about: String,
}

/// How fast the bot may talk, by what Discord allows; 0 is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages a second, over all channels.
    pub per_second: u32,
    /// Messages a second in a channel. Edits count like messages.
    pub channel_per_second: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { per_second: 50, channel_per_second: 1 }
    }
}

/// What the shell knows of the bot.
#[derive(Clone)]
pub struct Options {
    /// From the bot's page in the Developer Portal. Never shown.
    pub token: String,
    /// The server of the REST API, `https://discord.com` or a proxy.
    pub api_url: String,
    /// The gateway, `wss://...`; none asks the REST API for it, as Discord wants.
    pub gateway_url: Option<String>,
    /// What is suggested to people.
    pub commands: Vec<Command>,
    /// How fast it may talk.
    pub limits: Limits,
    /// The numbers of the channels in which each question gets a thread of its own.
    pub own_threads: BTreeSet<u64>,
}

impl Options {
    /// With everything as Discord says. The token is the bot's.
    pub fn new(token: impl Into<String>) -> Self {
        Self {
            token: token.into(),
            api_url: "https://discord.com".to_owned(),
            gateway_url: None,
            commands: Vec::new(),
            limits: Limits::default(),
            own_threads: BTreeSet::new(),
        }
    }
}

/// How long things take.
#[derive(Clone, Copy, Debug)]
struct Timing {
    /// How long any call may take, from its connection to the end of its answer.
    call: Duration,
    /// How long the gateway may take to say hello, and to say that it is ready.
    hello: Duration,
    /// How long an interaction waits for what comes of it, of the three seconds that Discord gives.
    patience: Duration,
    /// The first pause after trouble; each further one is twice as long.
    pause_first: Duration,
    /// The longest pause of our own choosing.
    pause_last: Duration,
    /// How long is waited where the engine has no room.
    room: Duration,
}

const TIMING: Timing = Timing {
    call: Duration::from_secs(15),
    hello: Duration::from_secs(20),
    patience: Duration::from_secs(2),
    pause_first: Duration::from_secs(1),
    pause_last: Duration::from_mins(1),
    room: Duration::from_millis(200),
};

/// One bot on Discord. Must be used inside a tokio runtime.
pub struct Discord {
    options: Options,
    timing: Timing,
    api: Arc<Api>,
    calls: Arc<Calls>,
    places: places::Places,
    unfinished: Unfinished,
    told: busy::Told,
    heard: missed::LastHeard,
}

impl Discord {
    /// The error is a sentence that names what is wrong with the options, and the fix. No I/O.
    pub fn new(options: Options) -> Result<Self, String> {
        Self::timed(options, TIMING)
    }

    fn timed(options: Options, timing: Timing) -> Result<Self, String> {
        let api = Arc::new(Api::new(&options.api_url, &options.token, timing.call)?);
        if let Some(url) = &options.gateway_url {
            gateway::check(url)?;
        }
        Ok(Self {
            timing,
            options,
            api,
            calls: Arc::new(Calls::default()),
            places: places::Places::default(),
            unfinished: Unfinished::default(),
            told: busy::Told::default(),
            heard: missed::LastHeard::default(),
        })
    }

    /// Whether each question in this channel gets a thread of its own.
    fn has_own_threads(&self, channel: u64) -> bool {
        self.options.own_threads.contains(&channel)
    }
}

impl Adapter for Discord {
    fn platform(&self) -> Platform {
        Platform::new(translate::PLATFORM)
    }

    fn capabilities(&self, _: &ThreadKey) -> Capabilities {
        Capabilities {
            buttons: true,
            reactions: true,
            edits: true,
            private: true,
            suggestions: false,
            text_chars_max: TEXT_CHARS_MAX,
        }
    }

    fn pace(&self, _: &ThreadKey) -> Pace {
        let Limits { per_second, channel_per_second } = self.options.limits;
        let edit_every_ms = 1000_u64.checked_div(u64::from(channel_per_second)).unwrap_or(0);
        Pace { per_second, room_per_second: channel_per_second, room_per_minute: 0, edit_every_ms }
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
        if let Some(closed) = self.calls.answered(signal) {
            answer::finish_soon(self, closed, None);
        }
    }
}

impl Editor for Discord {
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

#[cfg(test)]
mod tests;
