//! What a server sends, on its way to the MCP client, with a limit on the length of one message. A message that is too
//! long is replaced by an error under the same id, so that one call fails and the others never notice. Nothing here
//! knows what a tool is.

use std::io;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::lines::{Fit, next_line};

/// The longest message taken from a server, in bytes: four times the longest answer, because servers often send an
/// answer a second time as escaped text.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The JSON-RPC code under which `carry` reports a message that was too long; in the range that JSON-RPC leaves to
/// implementations.
pub(super) const TOO_LONG: i32 = -32_099;

/// How much of a message's top level is remembered while it is skipped, in bytes.
const OUTLINE_BYTES_MAX: usize = 1_024;

/// Carries messages from a server to the client until either side closes.
pub(super) async fn carry(from: impl AsyncRead + Unpin, to: impl AsyncWrite + Unpin) {
    // A broken pipe on either side is the end of the connection, and that is noticed where the session ends.
    let _over: io::Result<()> = carry_lines(from, to).await;
}

async fn carry_lines(from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        let mut outline = Outline::default();
        let Some(fit) = next_line(&mut from, MESSAGE_BYTES_MAX, &mut line, |part| outline.feed(part)).await? else {
            return Ok(());
        };
        if fit == Fit::Cut {
            let Some(id) = outline.answered() else {
                tracing::warn!(target: "spoke", "a message of more than {MESSAGE_BYTES_MAX} bytes was dropped");
                continue;
            };
            line = too_long(&id);
        }
        line.push(b'\n');
        to.write_all(&line).await?;
    }
}

fn too_long(id: &Value) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": TOO_LONG, "message": "too long"}}).to_string().into_bytes()
}

/// The top level of a JSON object, read byte by byte, with `0` in place of everything nested.
#[derive(Default)]
struct Outline {
    depth: usize,
    in_string: bool,
    escaped: bool,
    top: Vec<u8>,
}

impl Outline {
    fn feed(&mut self, part: &[u8]) {
        for byte in part {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'{' | b'[' => {
                self.keep(if self.depth == 0 { byte } else { b'0' });
                self.depth += 1;
                if self.depth == 1 {
                    self.top = vec![byte];
                }
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.keep(byte);
                }
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {
                self.in_string = byte == b'"';
                self.keep(byte);
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.top.len() < OUTLINE_BYTES_MAX {
            self.top.push(byte);
        }
    }

    /// The id of the request that this message answers. A request of the server's own has an id too, and no such answer.
    fn answered(&self) -> Option<Value> {
        let top: Map<String, Value> = serde_json::from_slice(&self.top).ok()?;
        let answers = top.contains_key("result") || top.contains_key("error");
        top.get("id").filter(|id| answers && (id.is_number() || id.is_string())).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outline_finds_the_id_wherever_it_stands() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":5,"result":{"id":6,"x":[1,{"id":7}]}}"#, Some(json!(5))),
            (r#"{"result":{"a":"}]\"","id":9},"jsonrpc":"2.0","id":"x"}"#, Some(json!("x"))),
            (r#"{"error":{"code":-1,"message":"\\"},"id":3}"#, Some(json!(3))),
            (r#"{"id":5,"method":"roots/list"}"#, None),
            (r#"[{"id":5,"result":0}]"#, None),
            ("no json", None),
            ("", None),
        ];
        for (message, id) in table {
            let mut outline = Outline::default();
            outline.feed(message.as_bytes());
            assert_eq!(outline.answered(), id, "{message}");
        }
    }

    #[tokio::test]
    async fn a_message_that_is_too_long_becomes_an_error_and_the_next_one_passes() {
        let long = format!("{{\"result\":\"{}\",\"id\":1}}", "x".repeat(MESSAGE_BYTES_MAX));
        let long_top = format!("{{\"result\":[\"{}\"],\"id\":1}}", "x".repeat(MESSAGE_BYTES_MAX));
        let input = format!("{long}\n{long_top}\n{{\"id\":2}}\n");
        let mut output = Vec::new();
        carry_lines(input.as_bytes(), &mut output).await.expect("in memory");
        let lines: Vec<Value> = String::from_utf8(output)
            .expect("JSON is text")
            .lines()
            .map(|line| serde_json::from_str(line).expect("every line is JSON"))
            .collect();
        let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": TOO_LONG, "message": "too long"}});
        assert_eq!(lines, [error, json!({"id": 2})], "the id of the first message is out of reach: it is dropped");
    }
}
