//! What a chat is made of: its kind, its members, its messages and their parts, as plain data. How any of it is written
//! on the wire is in `json`, how it comes about in `methods` and `script`.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::entities::Entity;
use crate::keyboard::Button;

/// A chat's id as Telegram gives it: the user's own id for a private chat, below zero for a basic group, below
/// -1,000,000,000,000 for a supergroup or a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChatId(pub i64);

/// What sort of chat it is. A forum is a supergroup with topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is Telegram's own word")]
pub enum ChatKind {
    Private,
    Group,
    Supergroup,
    Forum,
    Channel,
}

impl ChatKind {
    /// Telegram's word for it in `chat.type`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Group => "group",
            Self::Supergroup | Self::Forum => "supergroup",
            Self::Channel => "channel",
        }
    }
}

/// What somebody is in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is Telegram's own word")]
pub enum Role {
    Creator,
    Administrator,
    Member,
    Left,
    Kicked,
}

/// Somebody with an account: a person or a bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Telegram's numeric id.
    pub id: i64,
    /// The first name, which is all that the fake's people have.
    pub name: String,
    /// Without the `@`.
    pub username: Option<String>,
    /// Whether it is a bot's account.
    pub is_bot: bool,
    /// Whether this user has blocked the bot under test.
    pub blocked: bool,
}

#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) id: ChatId,
    pub(crate) kind: ChatKind,
    pub(crate) title: String,
    /// What the bot under test is here.
    pub(crate) bot: Role,
    pub(crate) members: BTreeMap<i64, Role>,
    pub(crate) messages: BTreeMap<i64, Message>,
    /// Topic names by the id of the message that opened each.
    pub(crate) topics: BTreeMap<i64, String>,
    /// The supergroup that it is by now.
    pub(crate) moved_to: Option<ChatId>,
}

impl Chat {
    pub(crate) fn new(id: ChatId, kind: ChatKind, title: &str) -> Self {
        let (members, messages, topics) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { id, kind, title: title.to_owned(), bot: Role::Member, members, messages, topics, moved_to: None }
    }

    /// The message, unless it is gone or never was.
    pub(crate) fn shown(&self, id: i64) -> Option<&Message> {
        self.messages.get(&id).filter(|message| !message.deleted)
    }

    pub(crate) fn shown_mut(&mut self, id: i64) -> Option<&mut Message> {
        self.messages.get_mut(&id).filter(|message| !message.deleted)
    }

    /// Ids count up from 1 in each chat, so that the same id means another message in another chat.
    pub(crate) fn next_id(&self) -> i64 {
        self.messages.keys().next_back().map_or(1, |last| last + 1)
    }

    /// The first message of the chain of replies that `id` stands in.
    pub(crate) fn root(&self, id: i64) -> i64 {
        let mut at = id;
        while let Some(above) = self.messages.get(&at).and_then(|message| message.reply_to) {
            at = above;
        }
        at
    }
}

/// One message, as the fake keeps it. What was deleted stays, marked, so that a test can see it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// Unique in its chat only.
    pub id: i64,
    /// Where it stands.
    pub chat: ChatId,
    /// The forum topic, by its id.
    pub topic: Option<i64>,
    /// Whose account sent it; nobody's for a channel post.
    pub from: Option<i64>,
    /// Whether the bot under test sent it.
    pub from_bot: bool,
    /// Sent in the name of this chat: an anonymous administrator, a channel.
    pub sender_chat: Option<ChatId>,
    /// The text or the caption, after its entities were taken out.
    pub text: String,
    /// Offsets and lengths in UTF-16 units of `text`.
    pub entities: Vec<Entity>,
    /// What the bot sent, before it was parsed; `None` where it sent no HTML.
    pub html: Option<String>,
    /// Rows of buttons, empty where there is no keyboard.
    pub keyboard: Vec<Vec<Button>>,
    /// The message this answers, in the same chat.
    pub reply_to: Option<i64>,
    /// The part of that message which is quoted.
    pub quote: Option<Quote>,
    /// Where it was forwarded from.
    pub forwarded: Option<Origin>,
    /// The bot whose inline result this is.
    pub via_bot: Option<i64>,
    /// A file, with `text` as its caption.
    pub document: Option<Document>,
    /// A notice of the platform's instead of a text.
    pub service: Option<Service>,
    /// Who reacted with what: users by their id, chats by theirs.
    pub reactions: BTreeMap<i64, Vec<String>>,
    /// How often it was changed.
    pub edits: u32,
    /// Whether it is gone for everybody who looks.
    pub deleted: bool,
    /// Seconds since 1970.
    pub date: i64,
    /// Seconds since 1970, of the last edit.
    pub edit_date: Option<i64>,
}

impl Message {
    pub(crate) fn new(chat: ChatId, id: i64, date: i64) -> Self {
        Self {
            id,
            chat,
            topic: None,
            from: None,
            from_bot: false,
            sender_chat: None,
            text: String::new(),
            entities: Vec::new(),
            html: None,
            keyboard: Vec::new(),
            reply_to: None,
            quote: None,
            forwarded: None,
            via_bot: None,
            document: None,
            service: None,
            reactions: BTreeMap::new(),
            edits: 0,
            deleted: false,
            date,
            edit_date: None,
        }
    }

    /// The button with this label, if it is shown.
    pub fn button(&self, label: &str) -> Option<&Button> {
        self.keyboard.iter().flatten().find(|button| button.text == label)
    }

    /// The labels of all buttons, in reading order.
    pub fn labels(&self) -> Vec<&str> {
        self.keyboard.iter().flatten().map(|button| button.text.as_str()).collect()
    }
}

/// A quoted part of the message that is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Word for word from that message.
    pub text: String,
    /// Where it begins there, in UTF-16 units.
    pub position: usize,
}

/// Where a forwarded message comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A user who lets their account be shown.
    User(i64),
    /// A user who does not: only a name, which anybody can bear.
    Hidden(String),
    /// A message of a channel.
    Channel(ChatId, i64),
}

/// A file that was uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// As the sender named it.
    pub name: String,
    /// As the sender declared it.
    pub mime: Option<String>,
    /// The content.
    pub bytes: Bytes,
}

/// What the platform itself says in a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Service {
    /// A topic with this name was opened.
    TopicCreated(String),
    /// The group is this supergroup from now on.
    MovedTo(ChatId),
    /// The supergroup was this group.
    MovedFrom(ChatId),
}
