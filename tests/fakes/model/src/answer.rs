//! Answers of the server's own form: in one piece, and as the events of a stream. What is said is the test's.

use serde_json::{Value, json};

use crate::Turn;

/// How many characters a piece of a stream adds.
const PIECE_CHARS: usize = 5;

/// What the model says to one question, and why it stopped.
pub(crate) struct Said {
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<(String, String)>,
    pub(crate) finish: &'static str,
}

impl Said {
    pub(crate) fn text(text: &str, finish: &'static str) -> Self {
        Self { text: Some(text.to_owned()), calls: Vec::new(), finish }
    }
}

/// What this turn comes to where a question is put so; none where it is no turn of the model's. And whether it is over: a
/// model without functions needs two questions for a call.
pub(crate) fn said(turn: &Turn, asked: &Value, has_functions: bool) -> Option<(Said, bool)> {
    let schema = &asked["response_format"]["json_schema"]["schema"];
    let choices = one_choice(schema);
    match turn {
        Turn::Says(text) => Some(match choices {
            Some(names) => (choose(schema, names.last().map_or("", |last| last)), false),
            None => (Said::text(text, "stop"), true),
        }),
        Turn::IsCut(text) => Some((Said::text(text, "length"), true)),
        Turn::Calls(calls) => Some(match (calls.first(), choices) {
            (Some((name, _)), Some(_)) => (choose(schema, name), false),
            (Some((_, arguments)), None) if schema.is_object() => (Said::text(arguments, "stop"), true),
            (Some((name, arguments)), None) if !has_functions => {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
                (Said::text(&json!({ "name": name, "arguments": arguments }).to_string(), "stop"), true)
            }
            _ => (Said { text: None, calls: calls.clone(), finish: "tool_calls" }, true),
        }),
        Turn::InOne(turn) | Turn::Held(turn) => said(turn, asked, has_functions),
        Turn::Refuses(_)
        | Turn::SaysNo(..)
        | Turn::Busy(..)
        | Turn::Redirects(_)
        | Turn::Garbage(_)
        | Turn::Streams(..)
        | Turn::Breaks
        | Turn::Hangs => None,
    }
}

/// Whether a question leaves nothing but one choice.
pub(crate) fn is_choice(asked: &Value) -> bool {
    one_choice(&asked["response_format"]["json_schema"]["schema"]).is_some()
}

fn one_choice(schema: &Value) -> Option<Vec<&str>> {
    let properties = schema["properties"].as_object()?;
    let only = properties.values().next().filter(|_| properties.len() == 1)?;
    // A target is an argument, though it is chosen, too.
    if properties.contains_key("target") {
        return None;
    }
    Some(only["enum"].as_array()?.iter().filter_map(Value::as_str).collect())
}

fn choose(schema: &Value, name: &str) -> Said {
    let key = schema["properties"].as_object().and_then(|properties| properties.keys().next());
    Said::text(&json!({ key.map_or("", String::as_str): name }).to_string(), "stop")
}

/// In one piece.
pub(crate) fn completion(said: &Said, asked: &Value, counts: bool) -> Value {
    let calls: Vec<Value> =
        said.calls.iter().enumerate().map(|(n, (name, arguments))| call(n, name, arguments)).collect();
    let mut message = json!({ "role": "assistant", "content": said.text });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let mut completion = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": asked["model"],
        "choices": [{ "index": 0, "message": message, "finish_reason": said.finish, "logprobs": null }],
    });
    if counts {
        completion["usage"] = usage(said, asked);
    }
    completion
}

fn call(n: usize, name: &str, arguments: &str) -> Value {
    json!({ "id": format!("call_{n}"), "type": "function", "function": { "name": name, "arguments": arguments } })
}

/// As the events of a stream, with the usage at its end where it was asked for.
pub(crate) fn stream(said: &Said, asked: &Value, counts: bool) -> String {
    let mut events = vec![json!({ "role": "assistant", "content": "" })];
    events.extend(pieces(said.text.as_deref().unwrap_or_default()).iter().map(|piece| json!({ "content": piece })));
    for (n, (name, arguments)) in said.calls.iter().enumerate() {
        let mut first = call(n, name, "");
        first["index"] = json!(n);
        events.push(json!({ "tool_calls": [first] }));
        let more = |piece: &String| json!({ "tool_calls": [{ "index": n, "function": { "arguments": piece } }] });
        events.extend(pieces(arguments).iter().map(more));
    }
    let mut stream: String = events.iter().map(|delta| event(&chunk(delta, None))).collect();
    stream.push_str(&event(&chunk(&json!({}), Some(said.finish))));
    if counts && asked["stream_options"]["include_usage"] == true {
        let mut last = chunk(&json!({}), None);
        last["choices"] = json!([]);
        last["usage"] = usage(said, asked);
        stream.push_str(&event(&last));
    }
    stream + "data: [DONE]\n\n"
}

/// A piece that adds these words.
pub(crate) fn content(text: &str) -> Value {
    chunk(&json!({ "content": text }), None)
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish, "logprobs": null }],
    })
}

/// An event of a stream.
pub(crate) fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(PIECE_CHARS).map(|piece| piece.iter().collect()).collect()
}

/// Tokens are counted as four characters each, as good as any count for a test.
fn usage(said: &Said, asked: &Value) -> Value {
    let written = said.text.as_deref().unwrap_or_default().len()
        + said.calls.iter().map(|(name, arguments)| name.len() + arguments.len()).sum::<usize>();
    let (read, written) = (asked["messages"].to_string().len().div_ceil(4), written.div_ceil(4));
    json!({ "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written })
}
