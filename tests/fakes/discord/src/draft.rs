//! A message as the bot asks for it: its parts read from a body and checked, and put into a message, new or old. Which
//! fields a route takes is the route's.

use serde_json::Value;

use crate::channel::{Document, Message};
use crate::embeds;
use crate::form::{Fields, Form, Upload};
use crate::keyboard::Keyboard;
use crate::mentions::{Allowed, Mark};
use crate::refusal::Refusal;
use crate::state::State;

/// Letters of a message (API reference, "Create Message").
pub(crate) const TEXT_MAX: usize = 2000;
/// Letters of a nonce.
const NONCE_MAX: usize = 25;
/// Files of a message, and bytes of all together where a server has no boosts.
const FILES_MAX: usize = 10;
const BYTES_MAX: usize = 10 * 1024 * 1024;

/// Bits of `flags`.
const SUPPRESS_EMBEDS: u64 = 1 << 2;
pub(crate) const EPHEMERAL: u64 = 1 << 6;
const SUPPRESS_NOTIFICATIONS: u64 = 1 << 12;

/// What stands in every message body.
pub(crate) const PARTS: [&str; 7] =
    ["content", "tts", "embeds", "allowed_mentions", "components", "attachments", "flags"];

/// A part that is absent is `None`: an edit leaves that part as it is.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    text: Option<String>,
    embeds: Option<Vec<Value>>,
    keyboard: Option<Keyboard>,
    allowed: Option<Allowed>,
    flags: Option<u64>,
    pub(crate) nonce: Option<Value>,
    pub(crate) enforce_nonce: bool,
    /// The message that it answers, and whether it is refused where that is gone.
    pub(crate) reply: Option<(u64, bool)>,
    files: Vec<Upload>,
    /// Files that an edit keeps.
    kept: Option<Vec<u64>>,
}

impl Draft {
    pub(crate) fn read(form: &Form, fields: &Fields<'_>) -> Self {
        let embeds = fields.has("embeds").then(|| embeds::read(fields));
        let keyboard = fields.has("components").then(|| Keyboard::read(fields));
        let text = fields.text("content", TEXT_MAX).map(|text| text.trim().to_owned());
        let flags = fields.has("flags").then(|| fields.number("flags").unwrap_or(0));
        let known = SUPPRESS_EMBEDS | EPHEMERAL | SUPPRESS_NOTIFICATIONS;
        if flags.is_some_and(|flags| flags & !known != 0) {
            fields.wrong("flags", "FAKE_FLAGS", "The fake knows the flags 4, 64 and 4096.");
        }
        fields.flag("tts");
        let kept = attachments(form, fields);
        let nonce = fields.get("nonce").cloned();
        if nonce.as_ref().and_then(Value::as_str).is_some_and(|nonce| nonce.chars().count() > NONCE_MAX) {
            fields.wrong("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.");
        }
        let reply = fields.object("message_reference").and_then(|reference| {
            reference.only(&["type", "message_id", "channel_id", "guild_id", "fail_if_not_exists"]);
            let strict = reference.get("fail_if_not_exists").is_none_or(|strict| strict == true);
            reference.id("message_id").map(|id| (id, strict))
        });
        Self {
            text: if fields.has("content") { Some(text.unwrap_or_default()) } else { None },
            embeds,
            keyboard,
            allowed: Allowed::read(fields),
            flags,
            nonce,
            enforce_nonce: fields.flag("enforce_nonce"),
            reply,
            files: form.files.values().cloned().collect(),
            kept,
        }
    }

    pub(crate) fn is_ephemeral(&self) -> bool {
        self.flags.is_some_and(|flags| flags & EPHEMERAL != 0)
    }

    /// Refuses what shows nothing.
    pub(crate) fn not_empty(&self) -> Result<(), Refusal> {
        let bare = self.text.as_ref().is_none_or(String::is_empty)
            && self.embeds.as_ref().is_none_or(Vec::is_empty)
            && self.keyboard.as_ref().is_none_or(Keyboard::is_empty)
            && self.files.is_empty();
        if bare { Err(Refusal::new(400, 50_006, "Cannot send an empty message")) } else { Ok(()) }
    }

    /// Puts the parts into the message. Whom it calls is counted for a new message only: an edit calls nobody.
    pub(crate) fn put(self, state: &mut State, message: &mut Message, is_new: bool) {
        if let Some(text) = self.text {
            message.text = text;
        }
        if let Some(embeds) = self.embeds {
            message.embeds = embeds;
        }
        if let Some(keyboard) = self.keyboard {
            message.keyboard = keyboard;
        }
        if let Some(flags) = self.flags {
            message.suppress_embeds = flags & SUPPRESS_EMBEDS != 0;
        }
        if let Some(kept) = self.kept.filter(|_| !is_new) {
            message.documents.retain(|document| kept.contains(&document.id));
        }
        for file in self.files {
            let id = state.clock.id();
            message.documents.push(Document { id, name: file.name, mime: file.mime, bytes: file.bytes });
        }
        if is_new {
            message.nonce = self.nonce;
            let answered =
                message.reply_to.and_then(|id| state.message(message.channel, id)).map(|answered| answered.from);
            let answered = answered.filter(|author| *author != message.from);
            let allowed = self.allowed.unwrap_or_else(Allowed::everything);
            message.pings = allowed.pings(&message.text, answered).iter().map(Mark::written).collect();
        }
    }
}

/// The ids under `attachments`: small ones name files of this body, others files that the message has.
fn attachments(form: &Form, fields: &Fields<'_>) -> Option<Vec<u64>> {
    if form.files.len() > FILES_MAX {
        fields.wrong("attachments", "BASE_TYPE_BAD_LENGTH", "Must be between 0 and 10 in length.");
    }
    if form.files.values().map(|file| file.bytes.len()).sum::<usize>() > BYTES_MAX {
        fields.wrong("attachments", "FAKE_TOO_LARGE", "Discord answers 413 here: at most 10 MiB.");
    }
    fields.has("attachments").then(|| {
        let listed = fields.objects("attachments", FILES_MAX);
        let id = |listed: &Fields<'_>| {
            listed.only(&["id", "filename", "description"]);
            let id = listed.id("id").unwrap_or(u64::MAX);
            if id < FILES_MAX as u64 && !form.files.contains_key(&id) {
                listed.wrong("id", "FAKE_NO_SUCH_FILE", &format!("There is no part files[{id}]."));
            }
            id
        };
        listed.iter().map(id).collect()
    })
}
