//! The chat completions of `OpenAI` as this bot sends and reads them: the parts that every compatible server has. What a server
//! leaves out has a default, and what it adds is passed over. How a stream is put together is in `stream`.

use countersign_core::mind::RawCall;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::trouble::{self, Trouble};

/// The most calls of one answer that are handed on, and the most bytes of what one of them is called with. More is no call.
pub(super) const CALLS_MAX: usize = 8;
pub(super) const ARGUMENTS_BYTES_MAX: usize = 16 * 1024;

/// What stands for arguments that are longer.
pub(super) const TOO_LONG: &str = "too long";

/// One question.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Request {
    pub(super) model: String,
    pub(super) messages: Vec<Message>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u32>,
    /// The newer name of the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_completion_tokens: Option<u32>,
    pub(super) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<StreamOptions>,
}

/// What a stream ends with.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct StreamOptions {
    pub(super) include_usage: bool,
}

/// One message of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Message {
    pub(super) role: &'static str,
    pub(super) content: String,
}

/// A whole answer, however it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) text: String,
    pub(super) calls: Vec<RawCall>,
    /// What the server counted.
    pub(super) tokens: Option<Tokens>,
    /// The model was in the middle of it when it had written as much as it may.
    pub(super) is_cut: bool,
}

impl Whole {
    /// How much was heard.
    pub(super) fn chars(&self) -> usize {
        self.text.len() + self.calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>()
    }
}

/// Tokens that were read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) read: u64,
    pub(super) written: u64,
}

impl Tokens {
    /// As a server says it; none where it says something else.
    pub(super) fn said(usage: Option<&Value>) -> Option<Self> {
        let number = |name: &str| usage?.get(name)?.as_u64();
        Some(Self { read: number("prompt_tokens")?, written: number("completion_tokens")? })
    }
}

/// What comes back in one piece.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    #[serde(deserialize_with = "or_default")]
    choices: Vec<Choice>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    content: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolCall {
    function: Function,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function {
    #[serde(deserialize_with = "or_default")]
    name: String,
    /// A text with JSON in it, by the specification; some servers send the JSON itself.
    arguments: Value,
}

impl Response {
    /// What was said. Some servers say with a fine status that they could not.
    pub(super) fn whole(self) -> Result<Whole, Trouble> {
        if let Some(error) = self.error.filter(|error| !error.is_null()) {
            return Err(Trouble::GaveUp(said(&error)));
        }
        let tokens = Tokens::said(self.usage.as_ref());
        let Choice { message: Said { content, tool_calls }, finish_reason } =
            self.choices.into_iter().next().unwrap_or_default();
        let calls = tool_calls.unwrap_or_default().into_iter().take(CALLS_MAX);
        let calls = calls.map(|call| raw_call(&call.function.name, text_of(call.function.arguments))).collect();
        Ok(Whole { text: content.unwrap_or_default(), calls, tokens, is_cut: is_cut(finish_reason.as_deref()) })
    }
}

/// The JSON of arguments, whichever way a server sends it.
pub(super) fn text_of(arguments: Value) -> String {
    match arguments {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A call as it is handed on.
pub(super) fn raw_call(name: &str, arguments: String) -> RawCall {
    let name = countersign_core::text::one_line(name, 200);
    let arguments = if arguments.len() > ARGUMENTS_BYTES_MAX { TOO_LONG.to_owned() } else { arguments };
    RawCall { name, arguments }
}

pub(super) fn is_cut(finish_reason: Option<&str>) -> bool {
    finish_reason == Some("length")
}

/// What an error object says, on one line.
pub(super) fn said(error: &Value) -> String {
    let said = trouble::words(error).unwrap_or_else(|| error.to_string());
    countersign_core::text::one_line(said.trim(), 160)
}

/// Some servers write `null` where others leave out.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(json: &str) -> Result<Whole, Trouble> {
        serde_json::from_str::<Response>(json).expect("it is an answer").whole()
    }

    #[test]
    fn an_answer_is_read_whatever_a_server_leaves_out() {
        let said = whole(
            r#"{"id":"x","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hello",
                "tool_calls":[{"id":"1","type":"function","function":{"name":"a__b","arguments":"{\"c\":1}"}},
                {"function":{"name":"d","arguments":{"e":2}}}]}}],"usage":{"prompt_tokens":1500,"completion_tokens":10}}"#,
        );
        let said = said.expect("it is an answer");
        let calls: Vec<_> = said.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
        assert_eq!(calls, [("a__b", r#"{"c":1}"#), ("d", r#"{"e":2}"#)]);
        assert_eq!((said.text.as_str(), said.is_cut), ("hello", false));
        assert_eq!(said.tokens, Some(Tokens { read: 1500, written: 10 }));
        let bare = [
            r#"{"choices":[{"message":{"content":null}}]}"#,
            r#"{"choices":[]}"#,
            r#"{"choices":null,"usage":null,"error":null}"#,
            r#"{"usage":{"prompt_tokens":-1,"completion_tokens":"many"}}"#,
            "{}",
        ];
        for bare in bare {
            assert_eq!(whole(bare), Ok(Whole::default()), "{bare}");
        }
        let long = format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"function":{{"name":"a","arguments":"{}"}}}}]}}}}]}}"#,
            "x".repeat(20_000)
        );
        assert_eq!(whole(&long).expect("it is an answer").calls[0].arguments, TOO_LONG);
        assert!(whole(r#"{"choices":[{"finish_reason":"length"}]}"#).is_ok_and(|said| said.is_cut));
        let gave_up = Trouble::GaveUp("overloaded".to_owned());
        assert_eq!(whole(r#"{"error":{"message":"overloaded"}}"#), Err(gave_up));
    }
}
