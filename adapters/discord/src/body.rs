//! The bodies that go to Discord. Nothing in them wakes anybody, and no address is looked at.

use reqwest::multipart::{Form, Part as File};
use serde::Serialize;
use serde_json::json;
use serenity::all::{CreateActionRow, CreateInputText, InputTextStyle};

use countersign_core::port::DeliveryNotes;

use crate::api::Trouble;
use crate::render::Text;

/// What is not shown of addresses in a message (Discord's message flags, `SUPPRESS_EMBEDS`).
const NO_PREVIEW: u64 = 1 << 2;
/// Only one person sees it (`EPHEMERAL`).
const PRIVATE: u64 = 1 << 6;
/// Nobody's phone rings (`SUPPRESS_NOTIFICATIONS`).
const SILENT: u64 = 1 << 12;

/// The most characters of a reason: more is not kept either.
const WHY_CHARS_MAX: u16 = 500;

/// Nobody is woken, not even whoever is answered.
#[derive(Clone, Debug, Default, Serialize)]
struct NoMentions {
    parse: [(); 0],
    replied_user: bool,
}

/// The message that another answers. It may be gone by now; then this one stands alone.
#[derive(Clone, Debug, Serialize)]
struct Reference {
    message_id: String,
    fail_if_not_exists: bool,
}

/// A message.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Body {
    content: String,
    allowed_mentions: NoMentions,
    components: Vec<CreateActionRow>,
    flags: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    enforce_nonce: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_reference: Option<Reference>,
}

impl Body {
    /// A text with what can be pressed under it.
    pub(crate) fn new(text: &Text) -> Self {
        let components = text.keyboard.as_ref().map(crate::render::Keyboard::components).unwrap_or_default();
        Self { components, ..Self::plain(&text.content) }
    }

    /// A text, and nothing to press.
    pub(crate) fn plain(content: &str) -> Self {
        Self {
            content: content.to_owned(),
            allowed_mentions: NoMentions::default(),
            components: Vec::new(),
            flags: NO_PREVIEW,
            nonce: None,
            enforce_nonce: false,
            message_reference: None,
        }
    }

    /// What goes with a file.
    pub(crate) fn of_file(notes: DeliveryNotes) -> Self {
        Self::plain(notes.text().unwrap_or_default().as_str())
    }

    /// For one person.
    pub(crate) fn private(self) -> Self {
        Self { flags: self.flags | PRIVATE, ..self }
    }

    /// Rings nobody.
    pub(crate) fn silent(self, is_silent: bool) -> Self {
        Self { flags: if is_silent { self.flags | SILENT } else { self.flags }, ..self }
    }

    /// Sent again within minutes, it is the same message: Discord takes at most 25 characters.
    pub(crate) fn once(self, nonce: String) -> Self {
        Self { nonce: Some(nonce), enforce_nonce: true, ..self }
    }

    /// In answer to a message.
    pub(crate) fn answering(self, message: Option<u64>) -> Self {
        let reference = |id: u64| Reference { message_id: id.to_string(), fail_if_not_exists: false };
        Self { message_reference: message.map(reference), ..self }
    }

    /// With a file, as a form.
    pub(crate) fn form(&self, name: String, bytes: Vec<u8>) -> Result<Form, Trouble> {
        let unsent = |error: String| Trouble::Unsent(error);
        let payload = serde_json::to_string(self).map_err(|error| unsent(error.to_string()))?;
        let file = File::bytes(bytes).file_name(name).mime_str("text/plain; charset=utf-8");
        let file = file.map_err(|error| unsent(error.to_string()))?;
        Ok(Form::new().text("payload_json", payload).part("files[0]", file))
    }
}

/// What a press is told that nothing is said to.
pub(crate) fn acknowledged() -> serde_json::Value {
    json!({"type": 6})
}

/// That an answer to a command comes.
pub(crate) fn deferred() -> serde_json::Value {
    json!({"type": 5})
}

/// The window that asks why; `data` comes back with what is said.
pub(crate) fn why(data: &str) -> serde_json::Value {
    let style = InputTextStyle::Paragraph;
    let why = CreateInputText::new(style, "Why not? You may leave it empty.", "why").required(false);
    let why = CreateActionRow::InputText(why.max_length(WHY_CHARS_MAX));
    json!({"type": 9, "data": {"custom_id": data, "title": "Deny", "components": [why]}})
}

/// An answer.
pub(crate) fn answer(body: &Body) -> serde_json::Value {
    json!({"type": 4, "data": body})
}
