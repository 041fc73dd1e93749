//! The chat completions of `OpenAI` as this bot sends and reads them: the parts that every compatible server has. What a server
//! leaves out has a default, and what it adds is passed over.

use countersign_core::mind::{RawCall, Thought};
use countersign_core::usage::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most calls of one answer that are handed on, and the most bytes of what one of them is called with. More is no call.
const CALLS_MAX: usize = 8;
const ARGUMENTS_BYTES_MAX: usize = 16 * 1024;

/// How many characters a token has, where a server does not count.
const TOKEN_CHARS: u64 = 3;

/// One question.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Request {
    pub(super) model: String,
    pub(super) messages: Vec<Message>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<&'static str>,
    pub(super) temperature: u8,
    pub(super) max_tokens: u32,
    pub(super) stream: bool,
}

/// One message of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Message {
    pub(super) role: &'static str,
    pub(super) content: String,
}

/// What comes back.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    choices: Vec<Choice>,
    usage: Option<Tokens>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    message: Said,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    content: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
}

impl Said {
    fn chars(&self) -> u64 {
        let calls = self.tool_calls.iter().flatten().map(|call| call.function.arguments.to_string().len());
        let all = self.content.as_ref().map_or(0, String::len).saturating_add(calls.sum());
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolCall {
    function: Function,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function {
    name: String,
    /// A text with JSON in it, by the specification; some servers send the JSON itself.
    arguments: Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    prompt_tokens: u64,
    completion_tokens: u64,
}

impl Response {
    /// What was said, with what it cost at these prices: millionths for a million tokens, read and written.
    /// Where the server does not say what was used, it is estimated by the characters that it was told, so that no budget
    /// goes without.
    pub(super) fn thought(self, prices: (u64, u64), told: u64) -> Thought {
        let written = self.choices.first().map_or(0, |choice| choice.message.chars());
        let Tokens { prompt_tokens, completion_tokens } = self.usage.unwrap_or(Tokens {
            prompt_tokens: told.div_ceil(TOKEN_CHARS),
            completion_tokens: written.div_ceil(TOKEN_CHARS),
        });
        let price = |tokens: u64, per_million: u64| tokens.saturating_mul(per_million).div_ceil(1_000_000);
        let usage = Usage {
            tokens_in: prompt_tokens,
            tokens_out: completion_tokens,
            cost_micros: price(prompt_tokens, prices.0).saturating_add(price(completion_tokens, prices.1)),
        };
        let Said { content, tool_calls } = self.choices.into_iter().next().unwrap_or_default().message;
        let calls = tool_calls.unwrap_or_default().into_iter().take(CALLS_MAX).map(|call| RawCall {
            name: countersign_core::text::one_line(&call.function.name, 200),
            arguments: match call.function.arguments {
                Value::String(text) if text.len() > ARGUMENTS_BYTES_MAX => "too long".to_owned(),
                Value::String(text) => text,
                Value::Null => String::new(),
                other => other.to_string(),
            },
        });
        Thought { text: content.unwrap_or_default(), calls: calls.collect(), usage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thought(json: &str) -> Thought {
        serde_json::from_str::<Response>(json).expect("it is an answer").thought((1_000_000, 2_000_000), 300)
    }

    #[test]
    fn an_answer_is_read_whatever_a_server_leaves_out() {
        let whole = thought(
            r#"{"id":"x","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hello",
                "tool_calls":[{"id":"1","type":"function","function":{"name":"a__b","arguments":"{\"c\":1}"}},
                {"function":{"name":"d","arguments":{"e":2}}}]}}],"usage":{"prompt_tokens":1500,"completion_tokens":10}}"#,
        );
        let calls: Vec<_> = whole.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
        assert_eq!(calls, [("a__b", r#"{"c":1}"#), ("d", r#"{"e":2}"#)]);
        assert_eq!(whole.text, "hello");
        assert_eq!(whole.usage, Usage { tokens_in: 1500, tokens_out: 10, cost_micros: 1_520 });
        for bare in [r#"{"choices":[{"message":{"content":null}}]}"#, r#"{"choices":[]}"#, "{}"] {
            let usage = Usage { tokens_in: 100, tokens_out: 0, cost_micros: 100 };
            assert_eq!(thought(bare), Thought { usage, ..Thought::default() }, "estimated: {bare}");
        }
        let long = format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"function":{{"name":"a","arguments":"{}"}}}}]}}}}]}}"#,
            "x".repeat(20_000)
        );
        assert_eq!(thought(&long).calls[0].arguments, "too long");
    }
}
