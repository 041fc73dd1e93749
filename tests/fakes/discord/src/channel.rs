//! What a channel is made of: its kind, its messages and their parts, as plain data. How any of it is written on the wire
//! is in `json`, how it comes about in `routes` and `script`.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;

use crate::keyboard::{Button, Keyboard, Select};

/// A channel's id as Discord gives it: unique everywhere, also among threads and direct messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u64);

/// What sort of channel it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    /// Of a server.
    Text,
    /// Below a text channel.
    Thread,
    /// Below a text channel, for those who were asked in.
    PrivateThread,
    /// The direct messages of the bot and one person.
    Private,
}

impl ChannelKind {
    /// Discord's number for it in `channel.type`.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Text => 0,
            Self::Private => 1,
            Self::Thread => 11,
            Self::PrivateThread => 12,
        }
    }

    pub(crate) fn is_thread(self) -> bool {
        matches!(self, Self::Thread | Self::PrivateThread)
    }
}

/// What the bot under test may do in a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// See it and write there.
    Full,
    /// See it only.
    ReadOnly,
    /// Not even see it.
    None,
}

#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) id: ChannelId,
    pub(crate) kind: ChannelKind,
    pub(crate) name: String,
    /// The server; none for direct messages.
    pub(crate) guild: Option<u64>,
    /// The channel that a thread is below.
    pub(crate) parent: Option<ChannelId>,
    /// Who opened a thread.
    pub(crate) owner: Option<u64>,
    /// Whom the bot talks to in direct messages.
    pub(crate) recipient: Option<u64>,
    pub(crate) bot: Access,
    pub(crate) archived: bool,
    pub(crate) locked: bool,
    pub(crate) opened_ms: u64,
    pub(crate) messages: BTreeMap<u64, Message>,
}

impl Channel {
    pub(crate) fn new(id: ChannelId, kind: ChannelKind, name: &str) -> Self {
        Self {
            id,
            kind,
            name: name.to_owned(),
            guild: None,
            parent: None,
            owner: None,
            recipient: None,
            bot: Access::Full,
            archived: false,
            locked: false,
            opened_ms: 0,
            messages: BTreeMap::new(),
        }
    }

    /// The message, unless it is gone or never was.
    pub(crate) fn shown(&self, id: u64) -> Option<&Message> {
        self.messages.get(&id).filter(|message| !message.deleted)
    }

    pub(crate) fn shown_mut(&mut self, id: u64) -> Option<&mut Message> {
        self.messages.get_mut(&id).filter(|message| !message.deleted)
    }
}

/// One message, as the fake keeps it. What was deleted stays, marked, so that a test can see it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about what is seen")]
pub struct Message {
    /// Unique everywhere.
    pub id: u64,
    /// Where it stands.
    pub channel: ChannelId,
    /// Whose account sent it, or which webhook.
    pub from: u64,
    /// Whether the bot under test sent it.
    pub from_bot: bool,
    /// Discord's number for the kind: 0 said, 18 a thread was opened, 19 an answer, 20 of a command, 21 a thread's first.
    pub kind: u8,
    /// Discord's markup, as it was sent.
    pub text: String,
    /// Each as it was sent.
    pub embeds: Vec<Value>,
    /// Rows of buttons and menus, empty where there are none.
    pub keyboard: Keyboard,
    /// The message this answers.
    pub reply_to: Option<u64>,
    /// Of another channel, forwarded here.
    pub forwarded: Option<(ChannelId, u64)>,
    /// Files.
    pub documents: Vec<Document>,
    /// Whom it calls by a mark or by answering: `<@11>`, `<@&12>`, `@everyone`. Empty where `allowed_mentions` keeps it quiet.
    pub pings: Vec<String>,
    /// Who reacted with what.
    pub reactions: BTreeMap<u64, Vec<String>>,
    /// What the bot gave as `nonce`.
    pub nonce: Option<Value>,
    /// Whether links are not unfolded.
    pub suppress_embeds: bool,
    /// Whom alone it is shown to.
    pub ephemeral_for: Option<u64>,
    /// Shown as "Ops is thinking…": a promise that a later edit keeps.
    pub thinking: bool,
    /// The id of the interaction that it answers.
    pub interaction: Option<String>,
    /// The thread that was opened from it.
    pub thread: Option<ChannelId>,
    /// How often it was changed.
    pub edits: u32,
    /// Whether it is gone for everybody who looks.
    pub deleted: bool,
    /// Milliseconds since 1970.
    pub date_ms: u64,
    /// Milliseconds since 1970, of the last edit.
    pub edited_ms: Option<u64>,
}

impl Message {
    pub(crate) fn new(channel: ChannelId, id: u64, from: u64, date_ms: u64) -> Self {
        Self {
            id,
            channel,
            from,
            from_bot: from == crate::BOT,
            kind: 0,
            text: String::new(),
            embeds: Vec::new(),
            keyboard: Keyboard::default(),
            reply_to: None,
            forwarded: None,
            documents: Vec::new(),
            pings: Vec::new(),
            reactions: BTreeMap::new(),
            nonce: None,
            suppress_embeds: false,
            ephemeral_for: None,
            thinking: false,
            interaction: None,
            thread: None,
            edits: 0,
            deleted: false,
            date_ms,
            edited_ms: None,
        }
    }

    /// The button with this label, if it is shown.
    pub fn button(&self, label: &str) -> Option<&Button> {
        self.keyboard.buttons().find(|button| button.text == label)
    }

    /// The labels of all buttons, in reading order.
    pub fn labels(&self) -> Vec<&str> {
        self.keyboard.buttons().map(|button| button.text.as_str()).collect()
    }

    /// The menu that offers this choice, if it is shown.
    pub fn menu(&self, choice: &str) -> Option<&Select> {
        self.keyboard.menus().find(|menu| menu.options.iter().any(|option| option.text == choice))
    }

    /// Whether anybody but one person, and whoever asks over the API, can see it.
    pub(crate) fn is_public(&self) -> bool {
        self.ephemeral_for.is_none()
    }
}

/// A file that was uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Discord's id.
    pub id: u64,
    /// As the sender named it.
    pub name: String,
    /// As the sender declared it.
    pub mime: Option<String>,
    /// The content.
    pub bytes: Bytes,
}
