//! What a question must look like to be answered: what `OpenAI`'s reference asks for, and nothing that it does not know. A bot
//! that is sloppy here would be refused by one server or another.

use serde_json::Value;

/// What a request may hold.
const KNOWN: [&str; 10] = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "response_format",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "stream",
    "stream_options",
];

/// Why a question is refused; none where it is sound.
pub(crate) fn problem(asked: &Value) -> Option<String> {
    let Some(fields) = asked.as_object() else { return Some("the body is no JSON object".to_owned()) };
    if let Some(unknown) = fields.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Some(format!("unknown parameter `{unknown}`"));
    }
    if asked["model"].as_str().is_none_or(str::is_empty) {
        return Some("`model` is missing".to_owned());
    }
    let messages = asked["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if messages.is_empty() {
        return Some("`messages` is missing".to_owned());
    }
    let is_message = |message: &Value| {
        let role = message["role"].as_str().unwrap_or_default();
        ["system", "user", "assistant"].contains(&role) && message["content"].is_string()
    };
    if !messages.iter().all(is_message) {
        return Some("a message has no role or no content".to_owned());
    }
    // Many templates ask for this.
    if messages.windows(2).any(|two| two[0]["role"] == two[1]["role"]) {
        return Some("conversation roles must alternate".to_owned());
    }
    let tools = asked["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    if asked.get("tools").is_some() && tools.is_empty() {
        return Some("`tools` is empty".to_owned());
    }
    if asked.get("tool_choice").is_some() && tools.is_empty() {
        return Some("`tool_choice` is only allowed when `tools` are specified".to_owned());
    }
    if asked.get("stream_options").is_some() && asked["stream"] != true {
        return Some("`stream_options` is only allowed when `stream` is true".to_owned());
    }
    if asked.get("max_tokens").is_some() && asked.get("max_completion_tokens").is_some() {
        return Some("`max_tokens` and `max_completion_tokens` are one thing".to_owned());
    }
    asked.get("response_format").and_then(format_problem).or_else(|| tools.iter().find_map(tool_problem))
}

/// A function's name has letters, digits, `_` and `-`, at most 64 of them.
fn tool_problem(tool: &Value) -> Option<String> {
    let name = tool["function"]["name"].as_str().unwrap_or_default();
    if tool["type"] != "function" || !is_name(name) {
        return Some(format!("`{name}` is no name of a function"));
    }
    (tool["function"]["parameters"]["type"] != "object").then(|| format!("`{name}` has no parameters"))
}

/// A schema that a server can hold a model to.
fn format_problem(format: &Value) -> Option<String> {
    let schema = &format["json_schema"]["schema"];
    let name = format["json_schema"]["name"].as_str().unwrap_or_default();
    if format["type"] != "json_schema" || !is_name(name) {
        return Some("`response_format` is no named JSON schema".to_owned());
    }
    if schema["type"] != "object" || schema["additionalProperties"] != false {
        return Some("the schema of `response_format` is open".to_owned());
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    let is_bounded = |property: &Value| {
        property["type"] != "string" || property["enum"].is_array() || property["maxLength"].is_u64()
    };
    properties
        .filter(|(_, property)| !is_bounded(property))
        .map(|(name, _)| format!("`{name}` may be a text of any length"))
        .next()
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain)
}
