//! A server of language models for tests: it speaks `OpenAI`'s chat completions on the loopback, says what a test has told it
//! to say, in order, and writes down what it was asked. What a request may hold is checked strictly; a model is not in it.

mod server;
mod strict;

use serde_json::{Value, json};

pub use server::Fake;

/// What the server does with one question.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// The model says this.
    Says(String),
    /// The model makes these calls: names and arguments, as it wrote them.
    Calls(Vec<(String, String)>),
    /// The server refuses, with this status.
    Refuses(u16),
    /// The server answers with this, and says that it is JSON.
    Garbage(String),
    /// The connection ends without an answer.
    Breaks,
    /// Nothing ever comes.
    Hangs,
}

impl Turn {
    /// The model says this.
    pub fn says(text: &str) -> Self {
        Self::Says(text.to_owned())
    }

    /// The model makes one call.
    pub fn call(name: &str, arguments: &Value) -> Self {
        Self::Calls(vec![(name.to_owned(), arguments.to_string())])
    }
}

/// An answer of the server's own form. Tokens are counted as four characters each, as good as any count for a test.
fn completion(turn: &Turn, asked: &Value) -> Value {
    let message = match turn {
        Turn::Calls(calls) => {
            let calls: Vec<Value> = calls
                .iter()
                .enumerate()
                .map(|(n, (name, arguments))| {
                    json!({ "id": format!("call_{n}"), "type": "function", "function": { "name": name, "arguments": arguments } })
                })
                .collect();
            json!({ "role": "assistant", "content": null, "tool_calls": calls })
        }
        Turn::Says(text) => json!({ "role": "assistant", "content": text }),
        Turn::Refuses(_) | Turn::Garbage(_) | Turn::Breaks | Turn::Hangs => Value::Null,
    };
    let tokens = |value: &Value| value.to_string().len().div_ceil(4);
    let (read, written) = (tokens(&asked["messages"]), tokens(&message));
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": asked["model"],
        "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written },
    })
}
