//! What all sent and edited messages share: their text with its marks, and what they answer. What is done with it is in
//! `send` and `edit`.

use serde_json::Value;

use crate::chat::{Chat, ChatKind, Quote};
use crate::entities::{Entity, EntityKind, Formatted, units};
use crate::html;
use crate::params::Params;
use crate::refusal::Refusal;

/// The bytes of a text beyond which Telegram does not look at it.
const SOURCE_BYTES_MAX: usize = 1 << 15;

/// The parsed text and, where it was HTML, its source.
pub(super) struct Text {
    pub(super) formatted: Formatted,
    pub(super) html: Option<String>,
}

/// Reads the text under `name`, or none where it is absent or empty. Marks come from HTML or from `entities`.
pub(super) fn text(params: &Params, name: &str, entities: &str) -> Result<Option<Text>, Refusal> {
    let Some(source) = params.text(name)?.filter(|source| !source.is_empty()) else { return Ok(None) };
    if source.len() > SOURCE_BYTES_MAX {
        return Err(Refusal::bad("text is too long"));
    }
    let mode = params.text("parse_mode")?.unwrap_or("none").to_ascii_lowercase();
    let is_html = match mode.as_str() {
        "html" => true,
        "none" | "" => false,
        "markdown" | "markdownv2" => return Err(Refusal::bad("the fake reads HTML only, no Markdown")),
        _ => return Err(Refusal::bad("unsupported parse_mode")),
    };
    let formatted = if is_html {
        html::parse(source).map_err(|why| Refusal::bad(format!("can't parse entities: {why}")))?
    } else {
        Formatted { text: source.to_owned(), entities: given(params.json(entities)?.as_ref(), source)? }
    };
    let formatted = formatted.finished();
    if formatted.text.is_empty() {
        return Err(Refusal::bad("text must be non-empty"));
    }
    Ok(Some(Text { formatted, html: is_html.then(|| source.to_owned()) }))
}

/// Marks that the bot gives itself.
fn given(entities: Option<&Value>, text: &str) -> Result<Vec<Entity>, Refusal> {
    let wrong = |why: &str| Refusal::bad(format!("can't parse MessageEntity: {why}"));
    let Some(entities) = entities else { return Ok(Vec::new()) };
    let entities = entities.as_array().ok_or_else(|| wrong("expected an Array"))?;
    let number = |entity: &Value, name: &str| {
        let number = entity.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| wrong(&format!("field \"{name}\" must be of type Number")))
    };
    let read = |entity: &Value| {
        let (offset, length) = (number(entity, "offset")?, number(entity, "length")?);
        if offset + length > units(text) {
            return Err(wrong("it ends beyond the text"));
        }
        let kind = kind(entity).ok_or_else(|| wrong("unsupported type specified"))?;
        Ok(Entity { kind, offset, length })
    };
    entities.iter().map(read).collect()
}

fn kind(entity: &Value) -> Option<EntityKind> {
    let field = |name: &str| entity.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(match field("type")?.as_str() {
        "bold" => EntityKind::Bold,
        "italic" => EntityKind::Italic,
        "underline" => EntityKind::Underline,
        "strikethrough" => EntityKind::Strikethrough,
        "spoiler" => EntityKind::Spoiler,
        "code" => EntityKind::Code,
        "pre" => EntityKind::Pre(field("language")),
        "blockquote" => EntityKind::Blockquote,
        "expandable_blockquote" => EntityKind::ExpandableBlockquote,
        "text_link" => EntityKind::TextLink(field("url")?),
        "text_mention" => EntityKind::TextMention(entity.get("user")?.get("id")?.as_i64()?),
        "mention" => EntityKind::Mention,
        "hashtag" => EntityKind::Hashtag,
        "bot_command" => EntityKind::BotCommand,
        "url" => EntityKind::Url,
        _ => return None,
    })
}

/// What a message answers, as it was asked for.
pub(super) struct ReplyTo {
    message: i64,
    optional: bool,
    quote: Option<String>,
}

/// Reads `reply_parameters`. Only answers in the same chat are known.
pub(super) fn reply_parameters(params: &Params) -> Result<Option<ReplyTo>, Refusal> {
    let Some(given) = params.json("reply_parameters")? else { return Ok(None) };
    let Some(fields) = given.as_object() else { return Err(Refusal::bad("object expected as reply parameters")) };
    let known = ["message_id", "chat_id", "allow_sending_without_reply", "quote", "quote_position"];
    if let Some(other) = fields.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(Refusal::bad(format!("reply_parameters: unknown parameter \"{other}\"")));
    }
    if let Some(chat) = fields.get("chat_id").filter(|chat| chat.as_i64() != params.chat().ok().map(|own| own.0)) {
        return Err(Refusal::bad(format!("reply_parameters: the fake knows answers in the same chat, not in {chat}")));
    }
    let message = fields.get("message_id").and_then(Value::as_i64);
    let message = message.ok_or_else(|| Refusal::bad("can't find field \"message_id\""))?;
    let optional = fields.get("allow_sending_without_reply").and_then(Value::as_bool).unwrap_or(false);
    let quote = fields.get("quote").and_then(Value::as_str).map(str::to_owned);
    Ok(Some(ReplyTo { message, optional, quote }))
}

impl ReplyTo {
    /// The message answered and what of it is quoted; none where it is gone and that does not matter.
    pub(super) fn find(&self, chat: &Chat) -> Result<Option<(i64, Option<Quote>)>, Refusal> {
        let Some(answered) = chat.shown(self.message) else {
            return if self.optional { Ok(None) } else { Err(Refusal::bad("message to be replied not found")) };
        };
        let quote = self.quote.as_ref().map(|text| {
            let at = answered.text.find(text.as_str()).ok_or_else(|| Refusal::bad("QUOTE_TEXT_INVALID"))?;
            let position = units(answered.text.get(..at).unwrap_or_default());
            Ok(Quote { text: text.clone(), position })
        });
        Ok(Some((answered.id, quote.transpose()?)))
    }
}

/// The topic that is asked for, if the chat has it.
pub(super) fn topic(params: &Params, chat: &Chat) -> Result<Option<i64>, Refusal> {
    let Some(topic) = params.integer("message_thread_id")? else { return Ok(None) };
    if chat.kind != ChatKind::Forum || !chat.topics.contains_key(&topic) {
        return Err(Refusal::bad("message thread not found"));
    }
    Ok(Some(topic))
}
