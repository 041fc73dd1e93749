//! What is offered to somebody who is still typing: what an adapter asks, and what it gets (PRE-02). What is known and who may
//! see it is not here.

use crate::signal::{Actor, Assurance, ConversationKind, ThreadKey};

use super::Asker;

/// The most that is offered at a time: what a person still looks through. More letters narrow it.
pub const SUGGESTIONS_MAX: usize = 10;

/// Somebody types, and their platform asks what they may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Who types.
    pub actor: Actor,
    /// The roles that the actor has there on the platform at this moment.
    pub platform_roles: Vec<String>,
    /// Where. What is offered is seen by nobody but the actor, so that a platform which does not say where names its private
    /// chat with them.
    pub thread: ThreadKey,
    /// What kind of room that is.
    pub room: ConversationKind,
    /// What was typed so far; may be empty.
    pub words: String,
}

impl Asked {
    /// Who asks, and from where. Nothing is decided by typing.
    pub fn asker(&self) -> Asker<'_> {
        let Self { actor, platform_roles, thread, room, .. } = self;
        Asker { actor, platform_roles, assurance: Assurance::Unsealed, thread, room: *room }
    }
}

/// One thing that may be meant. All text in it is one line, bounded and without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What to write: `@@nginx`, or with the whole id where the name alone would not say which. One word of at most 514
    /// bytes, to be used as it is or not at all.
    pub mention: String,
    /// What it is called, at most 64 characters.
    pub title: String,
    /// What tells it from others: `service on web-1: A web server`. At most 120 characters.
    pub about: String,
}
