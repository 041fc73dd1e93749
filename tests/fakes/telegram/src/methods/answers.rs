//! Methods that answer a question: a pressed button, an inline query. Each can be answered once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::reply;
use super::send::TEXT_UNITS_MAX;
use crate::entities::{Formatted, units};
use crate::look::{CallbackAnswer, InlineAnswer};
use crate::params::Params;
use crate::refusal::{Answer, Refusal};
use crate::state::{Question, State};

pub(super) const CALLBACK: &[&str] = &["callback_query_id", "text", "show_alert", "url", "cache_time"];
pub(super) const INLINE: &[&str] =
    &["inline_query_id", "results", "cache_time", "is_personal", "next_offset", "button"];

/// What an article and its text may have (Bot API, `InlineQueryResultArticle`, `InputTextMessageContent`).
const ARTICLE: &[&str] = &[
    "type",
    "id",
    "title",
    "input_message_content",
    "reply_markup",
    "url",
    "description",
    "thumbnail_url",
    "thumbnail_width",
    "thumbnail_height",
];
const CONTENT: &[&str] = &["message_text", "parse_mode", "entities", "link_preview_options"];

/// UTF-16 units of a notice (Bot API, `answerCallbackQuery`).
const NOTICE_UNITS_MAX: usize = 200;
/// Results of one inline query (Bot API, `answerInlineQuery`).
const RESULTS_MAX: usize = 50;
/// Bytes of a result's id (Bot API, `InlineQueryResult`).
const RESULT_ID_BYTES_MAX: usize = 64;

/// The question, if it is still open.
fn open<T>(question: Option<&mut Question<T>>) -> Result<&mut Question<T>, Refusal> {
    let late = || Refusal::bad("query is too old and response timeout expired or query ID is invalid");
    question.filter(|question| question.open).ok_or_else(late)
}

pub(super) fn callback(state: &mut State, params: &Params) -> Answer {
    let id = params.text("callback_query_id")?.unwrap_or_default();
    let text = params.text("text")?.unwrap_or_default().to_owned();
    let show_alert = params.flag("show_alert")?;
    params.integer("cache_time")?;
    let question = open(state.callbacks.get_mut(id))?;
    if units(&text) > NOTICE_UNITS_MAX {
        return Err(Refusal::bad("MESSAGE_TOO_LONG"));
    }
    question.open = false;
    question.answer = Some(CallbackAnswer { text, show_alert, url: params.text("url")?.map(str::to_owned) });
    Ok(json!(true))
}

pub(super) fn inline(state: &mut State, params: &Params) -> Answer {
    let id = params.text("inline_query_id")?.unwrap_or_default();
    let results = params.json("results")?.ok_or_else(|| Refusal::bad("can't find field \"results\""))?;
    let results = results.as_array().ok_or_else(|| Refusal::bad("expected an Array of inline query results"))?;
    if results.len() > RESULTS_MAX {
        return Err(Refusal::bad("RESULTS_TOO_MUCH"));
    }
    let mut seen = BTreeSet::new();
    for result in results {
        check_result(result)?;
        if !seen.insert(result["id"].as_str()) {
            return Err(Refusal::bad("RESULT_ID_DUPLICATE"));
        }
    }
    let (cache_time_s, personal) = (params.integer("cache_time")?, params.flag("is_personal")?);
    let question = open(state.inline.get_mut(id))?;
    question.open = false;
    question.answer = Some(InlineAnswer { results: results.clone(), cache_time_s, personal });
    Ok(json!(true))
}

fn check_result(result: &Value) -> Result<(), Refusal> {
    let text = |name: &str| result.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let id = text("id").ok_or_else(|| wrong("can't find field \"id\""))?;
    if id.len() > RESULT_ID_BYTES_MAX {
        return Err(Refusal::bad("RESULT_ID_INVALID"));
    }
    if text("type") != Some("article") {
        return Err(wrong("the fake knows results of type article"));
    }
    text("title").ok_or_else(|| wrong("can't find field \"title\""))?;
    Params::inside(result.as_object().ok_or_else(|| wrong("expected an Object"))?).only(ARTICLE)?;
    content(result).map(drop)
}

/// The message that a result becomes when it is chosen.
pub(crate) fn content(result: &Value) -> Result<Formatted, Refusal> {
    let content = result.get("input_message_content").and_then(Value::as_object);
    let content = Params::inside(content.ok_or_else(|| wrong("input message content is not specified"))?);
    content.only(CONTENT)?;
    let text = reply::text(&content, "message_text", "entities")?;
    let text = text.ok_or_else(|| Refusal::bad("message text is empty"))?.formatted;
    if units(&text.text) > TEXT_UNITS_MAX { Err(Refusal::bad("MESSAGE_TOO_LONG")) } else { Ok(text) }
}

fn wrong(why: &str) -> Refusal {
    Refusal::bad(format!("can't parse inline query result: {why}"))
}
