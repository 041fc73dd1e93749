//! Methods that answer a question: a pressed button, an inline query. Each can be answered once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::entities::units;
use crate::look::{CallbackAnswer, InlineAnswer};
use crate::params::Params;
use crate::refusal::{Answer, Refusal};
use crate::state::{Question, State};

pub(super) const CALLBACK: &[&str] = &["callback_query_id", "text", "show_alert", "url", "cache_time"];
pub(super) const INLINE: &[&str] =
    &["inline_query_id", "results", "cache_time", "is_personal", "next_offset", "button"];

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
    let wrong = |why: &str| Refusal::bad(format!("can't parse inline query result: {why}"));
    let text = |name: &str| result.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let id = text("id").ok_or_else(|| wrong("can't find field \"id\""))?;
    if id.len() > RESULT_ID_BYTES_MAX {
        return Err(Refusal::bad("RESULT_ID_INVALID"));
    }
    if text("type") != Some("article") {
        return Err(wrong("the fake knows results of type article"));
    }
    text("title").ok_or_else(|| wrong("can't find field \"title\""))?;
    let content = result.get("input_message_content").and_then(|content| content.get("message_text"));
    match content.and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(()),
        Some(_) => Err(Refusal::bad("message text is empty")),
        None => Err(wrong("input message content is not specified")),
    }
}
