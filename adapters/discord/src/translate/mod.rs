//! Events of the gateway and interactions as signals and touches. Pure: what has to be asked of Discord, such as what kind
//! of place a channel is, is handed in. What a signal asks for is not looked at.

mod actor;
mod address;
mod command;
mod message;
mod place;
mod touch;

use countersign_core::port::{Asked, Touch};
use countersign_core::signal::{AccountId, Platform, Signal};
use serenity::all::{Interaction, InteractionContext};

use crate::places::{Kind, Place};

pub(crate) use command::{FREE as FREE_COMMAND, TEXT as COMMAND_TEXT};
pub(crate) use message::{Change, changed, deleted, said};
pub(crate) use touch::{Reaction, reacted};

/// The platform's name in every key.
pub(crate) const PLATFORM: &str = "discord";

/// Who the bot is, as the gateway says when it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Me {
    /// Immutable.
    pub(crate) id: u64,
}

impl Me {
    /// The account that hears.
    pub(crate) fn account(&self) -> AccountId {
        AccountId::new(self.id.to_string())
    }
}

/// Where something happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'a> {
    pub(crate) me: &'a Me,
    pub(crate) place: Place,
    /// Whether each question in this channel gets a thread of its own.
    pub(crate) own_threads: bool,
}

/// What Discord waits for, and by what it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// A press, which stops spinning when it is answered.
    Press,
    /// A command, under which a message is to appear.
    Command,
}

/// An interaction, which has to be answered within three seconds.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: u64,
    /// The application that it is for.
    pub(crate) application: u64,
    /// Stands for the bot's token for fifteen minutes: never shown.
    pub(crate) token: String,
    pub(crate) waits: Waits,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}", self.waits, self.id)
    }
}

/// Somebody is at a word of a command's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Typing {
    /// With the word.
    pub(crate) asked: Asked,
    /// What stands before it.
    pub(crate) before: String,
    /// What it is answered by.
    pub(crate) call: Call,
}

/// What an event comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Somebody wrote, changed or deleted something.
    Said {
        /// What.
        signal: Signal,
        /// The command that it came as.
        call: Option<Call>,
    },
    /// Somebody pressed a button or reacted.
    Touched {
        /// What.
        touch: Touch,
        /// The press.
        call: Option<Call>,
    },
    /// Somebody presses what says no: they are asked why before that counts.
    Asks {
        /// The press.
        call: Call,
        /// What stood in the button.
        data: String,
    },
    /// Somebody types the text of a command.
    Types(Box<Typing>),
    /// A press or a command that says nothing to us and must be answered all the same.
    Stray(Call),
    /// Nothing for us.
    Nothing,
}

/// What an interaction comes to.
pub(crate) fn interaction(interaction: &Interaction, here: Here<'_>) -> Heard {
    if is_among_others(interaction, here.place) {
        return stray(interaction);
    }
    match interaction {
        Interaction::Command(given) => command::given(given, here),
        Interaction::Autocomplete(typed) => command::typed(typed, here),
        Interaction::Component(pressed) => touch::pressed(pressed, here),
        Interaction::Modal(filled) => touch::said_why(filled, here),
        _ => Heard::Nothing,
    }
}

/// Whether it comes from where others talk among themselves: a group, or a direct conversation that is not the bot's. Then
/// it is not known who reads there.
fn is_among_others(interaction: &Interaction, place: Place) -> bool {
    let context = match interaction {
        Interaction::Command(given) | Interaction::Autocomplete(given) => given.context,
        Interaction::Component(pressed) => pressed.context,
        _ => None,
    };
    let is_ours = matches!(context, None | Some(InteractionContext::Guild | InteractionContext::BotDm));
    !is_ours || (place.guild.is_none() && place.kind != Kind::Direct)
}

/// An interaction that says nothing to us.
fn stray(interaction: &Interaction) -> Heard {
    match interaction {
        Interaction::Command(given) => Heard::Stray(command::call(given)),
        Interaction::Component(pressed) => {
            Heard::Stray(touch::call(pressed.id, pressed.application_id, &pressed.token))
        }
        Interaction::Modal(filled) => Heard::Stray(touch::call(filled.id, filled.application_id, &filled.token)),
        _ => Heard::Nothing,
    }
}

fn platform() -> Platform {
    Platform::new(PLATFORM)
}

#[cfg(test)]
mod tests;
