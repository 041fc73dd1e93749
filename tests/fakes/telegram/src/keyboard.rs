//! Inline keyboards: reading one, and the rules Telegram has for it. Other kinds of `reply_markup` are refused: no bot
//! needs them here.

use serde_json::Value;

use crate::refusal::Refusal;

/// Bytes of `callback_data` (Bot API, `InlineKeyboardButton`).
const DATA_BYTES_MAX: usize = 64;
/// Buttons of one keyboard.
const BUTTONS_MAX: usize = 100;

/// One button of an inline keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Button {
    /// The label.
    pub text: String,
    /// What the bot is told when it is pressed.
    pub data: Option<String>,
    /// What is opened when it is pressed.
    pub url: Option<String>,
    /// The button as it was sent.
    pub(crate) raw: Value,
}

/// The rows of `reply_markup`; none where it is absent or empty.
pub(crate) fn parse(markup: Option<&Value>) -> Result<Vec<Vec<Button>>, Refusal> {
    let Some(markup) = markup else { return Ok(Vec::new()) };
    let Some(fields) = markup.as_object() else { return Err(Refusal::bad("object expected as reply markup")) };
    if let Some(other) = fields.keys().find(|key| *key != "inline_keyboard") {
        return Err(Refusal::bad(format!(
            "reply_markup: unknown parameter \"{other}\"; the fake knows inline keyboards"
        )));
    }
    let Some(rows) = fields.get("inline_keyboard") else { return Ok(Vec::new()) };
    let arrays = || Refusal::bad("field \"inline_keyboard\" must be an Array of Arrays");
    let rows = rows.as_array().ok_or_else(arrays)?;
    let rows: Vec<&Vec<Value>> = rows.iter().map(|row| row.as_array().ok_or_else(arrays)).collect::<Result<_, _>>()?;
    if rows.iter().map(|row| row.len()).sum::<usize>() > BUTTONS_MAX {
        return Err(Refusal::bad("reply markup is too long"));
    }
    let row = |row: &Vec<Value>| row.iter().map(button).collect::<Result<Vec<_>, _>>();
    let rows = rows.into_iter().map(row).collect::<Result<Vec<_>, _>>()?;
    Ok(rows.into_iter().filter(|row| !row.is_empty()).collect())
}

fn button(raw: &Value) -> Result<Button, Refusal> {
    let wrong = |why: &str| Refusal::bad(format!("can't parse inline keyboard button: {why}"));
    let fields = raw.as_object().ok_or_else(|| wrong("InlineKeyboardButton must be an Object"))?;
    let text = |name: &str| match fields.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(&format!("field \"{name}\" must be of type String"))),
    };
    let label = text("text")?.ok_or_else(|| wrong("can't find field \"text\""))?;
    if label.trim().is_empty() {
        return Err(wrong("field \"text\" must be non-empty"));
    }
    let (data, url) = (text("callback_data")?, text("url")?);
    let (data, url) = (data.filter(|data| !data.is_empty()), url.filter(|url| !url.is_empty()));
    if data.as_ref().is_some_and(|data| data.len() > DATA_BYTES_MAX) {
        return Err(Refusal::bad("BUTTON_DATA_INVALID"));
    }
    if url.as_ref().is_some_and(|url| !["http://", "https://", "tg://"].iter().any(|start| url.starts_with(start))) {
        return Err(Refusal::bad("BUTTON_URL_INVALID"));
    }
    known_fields(fields.keys(), &wrong)?;
    if data.is_none() && url.is_none() && !fields.keys().any(|key| OTHER_ACTIONS.contains(&key.as_str())) {
        return Err(wrong("Text buttons are unallowed in the inline keyboard"));
    }
    Ok(Button { text: label, data, url, raw: raw.clone() })
}

/// What a button may do besides calling back and opening a link; kept and shown, but never done.
const OTHER_ACTIONS: [&str; 4] =
    ["switch_inline_query", "switch_inline_query_current_chat", "switch_inline_query_chosen_chat", "copy_text"];

fn known_fields<'a>(names: impl Iterator<Item = &'a String>, wrong: &impl Fn(&str) -> Refusal) -> Result<(), Refusal> {
    let plain = ["text", "callback_data", "url", "style", "icon_custom_emoji_id"];
    for name in names {
        if !plain.contains(&name.as_str()) && !OTHER_ACTIONS.contains(&name.as_str()) {
            return Err(wrong(&format!("unknown parameter \"{name}\"")));
        }
    }
    Ok(())
}
