//! Interactions: what somebody pressed, chose, typed or submitted, and how far the bot has come with it. What the bot may
//! answer is in `routes`, how one comes about in `interact`.

use serde_json::{Value, json};

use crate::channel::ChannelId;
use crate::json::{id, user_of};
use crate::keyboard::Choice;
use crate::refusal::Refusal;
use crate::state::State;

/// How long the first answer may take, and how long the token holds (API reference, "Interaction Callback").
const FIRST_MS: u64 = 3_000;
const TOKEN_MS: u64 = 15 * 60 * 1000;

/// What somebody did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Command,
    Component,
    Autocomplete,
    Modal,
}

impl Kind {
    /// Discord's number in `type`.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Command => 2,
            Self::Component => 3,
            Self::Autocomplete => 4,
            Self::Modal => 5,
        }
    }
}

/// What the bot answered first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// A message (4).
    Message,
    /// A message that is to come (5): "Ops is thinking…".
    Deferred,
    /// Nothing that is seen (6): the message of the button stays as it is.
    DeferredUpdate,
    /// The message of the button was changed (7).
    Update,
    /// What can be chosen (8).
    Choices,
    /// A window to fill in (9).
    Modal,
}

/// What whoever pressed a button, ran a command or typed is shown first.
#[derive(Debug, Clone, PartialEq)]
pub struct CallbackAnswer {
    /// Which of Discord's ways it is.
    pub kind: AnswerKind,
    /// The text of a message or of a changed one; empty otherwise.
    pub text: String,
    /// Whether only whoever asked sees it.
    pub ephemeral: bool,
    /// The message that came of it, or is to come, or was changed.
    pub message: Option<u64>,
    /// What can be chosen.
    pub choices: Vec<Choice>,
    /// The window to fill in.
    pub modal: Option<Modal>,
}

/// A window with texts to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modal {
    /// Above.
    pub title: String,
    /// What the bot gets back: its `custom_id`.
    pub data: String,
    /// From top to bottom.
    pub inputs: Vec<Input>,
}

/// A text to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Above it.
    pub label: String,
    /// What the bot gets besides the text: its `custom_id`.
    pub data: String,
    /// Whether it may not stay empty.
    pub required: bool,
    /// Letters at least and at most.
    pub bounds: (u64, u64),
    /// Whether it has several lines.
    pub long: bool,
}

#[derive(Debug)]
pub(crate) struct Interaction {
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) kind: Kind,
    pub(crate) user: u64,
    pub(crate) channel: ChannelId,
    /// The message whose button or menu it was, also through a modal.
    pub(crate) message: Option<u64>,
    /// The name of the command.
    pub(crate) command: Option<String>,
    pub(crate) asked_ms: u64,
    pub(crate) expired: bool,
    pub(crate) answer: Option<CallbackAnswer>,
    /// What `@original` means.
    pub(crate) original: Option<u64>,
}

impl Interaction {
    pub(crate) fn new(id: u64, kind: Kind, user: u64, channel: ChannelId, asked_ms: u64) -> Self {
        Self {
            id: id.to_string(),
            token: format!("fake-interaction-token-{id}"),
            kind,
            user,
            channel,
            message: None,
            command: None,
            asked_ms,
            expired: false,
            answer: None,
            original: None,
        }
    }

    /// Whether the first answer may still be given.
    pub(crate) fn check_open(&self, now_ms: u64) -> Result<(), Refusal> {
        if self.answer.is_some() {
            return Err(Refusal::new(400, 40_060, "Interaction has already been acknowledged."));
        }
        if self.expired || now_ms > self.asked_ms + FIRST_MS {
            return Err(Refusal::unknown(10_062, "interaction"));
        }
        Ok(())
    }

    /// Whether the token still opens its webhook.
    pub(crate) fn check_token(&self, now_ms: u64) -> Result<(), Refusal> {
        if now_ms > self.asked_ms + TOKEN_MS || (self.expired && self.answer.is_some()) {
            return Err(Refusal::new(401, 50_027, "Invalid Webhook Token"));
        }
        if self.answer.is_none() {
            return Err(Refusal::unknown(10_015, "Webhook"));
        }
        Ok(())
    }

    /// What a message that answers it says about it.
    pub(crate) fn metadata(&self, state: &State, message: u64) -> Value {
        let mut metadata = json!({
            "id": self.id,
            "type": self.kind.number(),
            "user": user_of(state, self.user),
            "authorizing_integration_owners": { "0": state.guild_of(self.channel).map_or_else(|| "0".to_owned(), |guild| guild.to_string()) },
        });
        if let Some(original) = self.original.filter(|original| *original != message) {
            metadata["original_response_message_id"] = id(original);
        }
        if let (Kind::Component, Some(pressed)) = (self.kind, self.message) {
            metadata["interacted_message_id"] = id(pressed);
        }
        if self.kind == Kind::Modal {
            let inner = json!({ "id": self.id, "type": 3, "user": metadata["user"], "interacted_message_id": self.message.map(id),
                "authorizing_integration_owners": metadata["authorizing_integration_owners"] });
            let command = json!({ "id": self.id, "type": 2, "user": metadata["user"], 
                "authorizing_integration_owners": metadata["authorizing_integration_owners"] });
            metadata["triggering_interaction_metadata"] = if self.message.is_some() { inner } else { command };
        }
        metadata
    }
}
