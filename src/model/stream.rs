//! An answer that comes in pieces, put together: lines into events, and what they say into one whole answer. It is handed on
//! when it is whole, and never before; a stream that broke off, or says nonsense, is no answer (C-19, STM-06).

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;

use super::http::Answer;
use super::meter::Meter;
use super::trouble::Trouble;
use super::wire::{self, ARGUMENTS_BYTES_MAX, CALLS_MAX, Response, Tokens, Whole, or_default};

/// The most bytes of one line, and of an answer's words.
const LINE_BYTES_MAX: usize = 256 * 1024;
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// How many bytes are enough to tell a stream from anything else.
const ENOUGH_BYTES: usize = 6;

/// How long what was used may come after the model's last word.
const AFTER_THE_END: Duration = Duration::from_secs(2);

/// How an answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// In pieces, as it was asked for.
    Stream,
    /// In one: some servers know no streams, and say nothing of it.
    Whole,
}

impl Form {
    /// The stable name; a label of metrics.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Whole => "whole",
        }
    }
}

/// Reads an answer to its end, whichever way it comes.
pub(super) async fn read(mut answer: Answer, meter: &mut Meter) -> Result<(Whole, Form), Trouble> {
    let mut head = Vec::new();
    while head.trim_ascii_start().len() < ENOUGH_BYTES {
        let Some(piece) = answer.next().await? else { break };
        head.extend(piece);
    }
    if !is_stream(&head, answer.is_stream()) {
        while let Some(piece) = answer.next().await? {
            head.extend(piece);
        }
        let response: Response =
            serde_json::from_slice(&head).map_err(|error| Trouble::Senseless(error.to_string()))?;
        return Ok((response.whole()?, Form::Whole));
    }
    let mut stream = Stream::default();
    let mut next = Some(head);
    while let Some(piece) = next {
        stream.take(&piece)?;
        meter.heard(stream.said.chars());
        if stream.is_done || stream.said.is_finished {
            break;
        }
        next = answer.next().await?;
    }
    // In all, however slowly it comes.
    let _late = timeout(AFTER_THE_END, what_follows(&mut stream, &mut answer)).await;
    Ok((stream.end()?, Form::Stream))
}

/// What comes after the model came to its end: what was used, and that it is over. Nothing that an answer needs is still to
/// come, so that a server that breaks off here, talks nonsense or falls silent takes nothing away.
async fn what_follows(stream: &mut Stream, answer: &mut Answer) {
    while !stream.is_done
        && let Ok(Some(piece)) = answer.next().await
        && stream.take(&piece).is_ok()
    {}
}

/// By its first bytes where they say it, else by what the server calls it.
fn is_stream(head: &[u8], is_called_so: bool) -> bool {
    let head = head.trim_ascii_start();
    let begins = [&b"data:"[..], b"event:", b"id:", b"retry:", b":"];
    !head.starts_with(b"{") && (is_called_so || begins.iter().any(|begins| head.starts_with(begins)))
}

/// What was heard of a stream so far.
#[derive(Default)]
struct Stream {
    /// The line that is under way.
    line: Vec<u8>,
    /// The last line ended in a carriage return, so that a line feed belongs to it.
    after_return: bool,
    /// The data of the event that is under way, and whether it is called an error.
    data: Option<String>,
    is_error: bool,
    said: Draft,
    /// The stream came to its end.
    is_done: bool,
}

/// What the model said so far.
#[derive(Default)]
struct Draft {
    text: String,
    calls: Vec<Call>,
    tokens: Option<Tokens>,
    is_cut: bool,
    /// The model came to its end.
    is_finished: bool,
}

/// A call that is being written.
#[derive(Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk {
    #[serde(deserialize_with = "or_default")]
    choices: Vec<ChunkChoice>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChunkChoice {
    #[serde(deserialize_with = "or_default")]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    function: FunctionDelta,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Value,
}

impl Stream {
    /// The next piece. What is wrong in it after the model came to its end takes nothing of the answer away.
    fn take(&mut self, piece: &[u8]) -> Result<(), Trouble> {
        let taken = self.bytes(piece);
        if self.said.is_finished {
            self.is_done |= taken.is_err();
            return Ok(());
        }
        taken
    }

    /// It may end anywhere: in the middle of a line, of a character, of a line's end.
    fn bytes(&mut self, piece: &[u8]) -> Result<(), Trouble> {
        for &byte in piece {
            let is_rest = std::mem::take(&mut self.after_return) && byte == b'\n';
            match byte {
                _ if is_rest => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    self.line()?;
                }
                _ if self.line.len() >= LINE_BYTES_MAX => return Err(Trouble::Endless(LINE_BYTES_MAX / 1024)),
                _ => self.line.push(byte),
            }
        }
        Ok(())
    }

    /// A line is whole. What is no field of an event is passed over, as the format asks for; so are comments, which keep a
    /// connection open.
    fn line(&mut self) -> Result<(), Trouble> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.event();
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                let data = self.data.get_or_insert_default();
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(value);
                if data.len() > LINE_BYTES_MAX {
                    return Err(Trouble::Endless(LINE_BYTES_MAX / 1024));
                }
            }
            "event" => self.is_error = value == "error",
            _ => {}
        }
        Ok(())
    }

    fn event(&mut self) -> Result<(), Trouble> {
        let is_error = std::mem::take(&mut self.is_error);
        let Some(data) = self.data.take() else { return Ok(()) };
        match data.trim() {
            _ if self.is_done => Ok(()),
            "" => Ok(()),
            "[DONE]" => {
                self.is_done = true;
                Ok(())
            }
            said if is_error => {
                let error = serde_json::from_str(said).unwrap_or_else(|_| Value::String(said.to_owned()));
                Err(Trouble::GaveUp(wire::said(&error)))
            }
            json => {
                let chunk = serde_json::from_str(json).map_err(|error| Trouble::Senseless(error.to_string()))?;
                self.said.chunk(chunk)
            }
        }
    }

    /// The stream is over.
    fn end(mut self) -> Result<Whole, Trouble> {
        // The last event needs no empty line after it.
        let last = self.line().and_then(|()| self.event());
        if !self.is_done && !self.said.is_finished {
            return Err(last.err().filter(|last| matches!(last, Trouble::GaveUp(_))).unwrap_or(Trouble::Broken));
        }
        let Draft { text, calls, tokens, is_cut, .. } = self.said;
        let calls = calls.into_iter().map(|call| wire::raw_call(&call.name, call.arguments)).collect();
        Ok(Whole { text, calls, tokens, is_cut })
    }
}

impl Draft {
    fn chars(&self) -> usize {
        let calls = self.calls.iter().map(|call| call.name.len() + call.arguments.len());
        self.text.len() + calls.sum::<usize>()
    }

    fn chunk(&mut self, chunk: Chunk) -> Result<(), Trouble> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(Trouble::GaveUp(wire::said(&error)));
        }
        // The last one counts: some servers count as they go.
        self.tokens = Tokens::said(chunk.usage.as_ref()).or(self.tokens);
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
        self.text.push_str(&choice.delta.content.unwrap_or_default());
        if self.text.len() > TEXT_BYTES_MAX {
            return Err(Trouble::Endless(TEXT_BYTES_MAX / 1024));
        }
        for delta in choice.delta.tool_calls.unwrap_or_default() {
            self.call(delta);
        }
        // Some servers name no reason by an empty one, with every piece.
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.is_finished = true;
            self.is_cut = wire::is_cut(Some(&reason));
        }
        Ok(())
    }

    /// A piece of a call: of the one with its number; where it has none, or another id under the same number, which some
    /// servers send, of a new one, if it says that one begins.
    fn call(&mut self, delta: CallDelta) {
        let name = delta.function.name.unwrap_or_default();
        let id = delta.id.unwrap_or_default();
        let at = match delta.index {
            Some(_) => self.calls.iter().rposition(|call| call.index == delta.index),
            None if name.is_empty() && id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| !id.is_empty() && call.id == id),
        };
        let is_another = |call: &Call| !id.is_empty() && !call.id.is_empty() && call.id != id;
        let at = at.filter(|at| !self.calls.get(*at).is_some_and(is_another));
        let at = at.unwrap_or_else(|| {
            self.calls.push(Call { index: delta.index, ..Call::default() });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(at) else { return };
        if call.id.is_empty() {
            call.id = id;
        }
        if call.name != name {
            call.name.push_str(&name);
        }
        // One byte more than is taken, so that what is too long is seen to be.
        if call.arguments.len() <= ARGUMENTS_BYTES_MAX {
            call.arguments.push_str(&wire::text_of(delta.function.arguments));
        }
        call.name.truncate(call.name.floor_char_boundary(ARGUMENTS_BYTES_MAX));
        // What is beyond is a run-away, and is not kept.
        self.calls.truncate(CALLS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a stream comes to, however it is cut into pieces.
    fn heard(stream: &str) -> Result<Whole, Trouble> {
        let whole = in_pieces(stream, stream.len());
        for size in [1, 2, 3, 7] {
            assert_eq!(in_pieces(stream, size), whole, "in pieces of {size}");
        }
        whole
    }

    fn in_pieces(stream: &str, size: usize) -> Result<Whole, Trouble> {
        let mut heard = Stream::default();
        stream.as_bytes().chunks(size.max(1)).try_for_each(|piece| heard.take(piece))?;
        heard.end()
    }

    fn text(said: &str) -> String {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{said}\"}}}}]}}\n\n")
    }

    fn call(call: &str) -> String {
        format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n")
    }

    fn finish(reason: &str) -> String {
        format!("data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\n")
    }

    const DONE: &str = "data: [DONE]\n\n";

    fn calls(whole: Result<Whole, Trouble>) -> Vec<String> {
        let calls = whole.expect("it is whole").calls;
        calls.into_iter().map(|call| format!("{} {}", call.name, call.arguments)).collect()
    }

    #[test]
    fn words_are_put_together_wherever_they_were_cut() {
        let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n";
        let said = [": hello\n\n", &text("Grüße, "), &text("日本 🎉"), &finish("stop"), usage, DONE].concat();
        let whole = Whole {
            text: "Grüße, 日本 🎉".to_owned(),
            tokens: Some(Tokens { read: 9, written: 4 }),
            ..Whole::default()
        };
        assert_eq!(heard(&said), Ok(whole.clone()));
        assert_eq!(heard(&said.replace('\n', "\r\n")), Ok(whole.clone()), "whatever ends its lines");
        assert_eq!(heard(&said.replace('\n', "\r")), Ok(whole.clone()));
        assert_eq!(heard(&said.replace("data: ", "data:")), Ok(whole.clone()));
        assert_eq!(heard(said.trim_end()), Ok(whole.clone()), "its end needs no empty line");
        assert_eq!(heard(&format!("{said}{}", text("more"))), Ok(whole), "after its end comes nothing");
        let uncounted = heard(&[&text("a"), &finish("stop"), DONE].concat());
        assert_eq!(uncounted.map(|whole| whole.tokens), Ok(None));
    }

    #[test]
    fn it_is_whole_when_the_model_or_the_stream_came_to_its_end_and_never_before() {
        assert_eq!(heard(&[text("All is"), DONE.to_owned()].concat()).map(|whole| whole.text), Ok("All is".to_owned()));
        assert_eq!(heard(&[text("All is"), finish("stop")].concat()).map(|whole| whole.text), Ok("All is".to_owned()));
        let on = text("All is").replace("}]}", "},\"finish_reason\":\"\"}]}").replace("}},", "},");
        assert_eq!(heard(&on), Err(Trouble::Broken), "{on}");
        assert_eq!(
            heard(&[on, text(" well"), finish("stop")].concat()).map(|whole| whole.text),
            Ok("All is well".to_owned())
        );
        for tail in ["data: {nonsense\n\n", "event: error\ndata: out of memory\n\n", "data: {\"error\":\"late\"}\n\n"] {
            let stream = [&text("All is"), &finish("stop"), tail, &text(" lost")].concat();
            assert_eq!(heard(&stream).map(|whole| whole.text), Ok("All is".to_owned()), "{tail}");
        }
        assert_eq!(heard(&text("All is")), Err(Trouble::Broken));
        assert_eq!(heard(""), Err(Trouble::Broken));
        assert_eq!(heard(&[&text("All is"), "data: {\"choi"].concat()), Err(Trouble::Broken));
        assert_eq!(heard(&[text("All is"), finish("length")].concat()).map(|whole| whole.is_cut), Ok(true));
    }

    #[test]
    fn what_a_server_says_in_the_middle_is_told_and_nonsense_is_no_answer() {
        let gave_up = |said: &str| Err(Trouble::GaveUp(said.to_owned()));
        let error = "data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n";
        assert_eq!(heard(&[&text("All"), error, DONE].concat()), gave_up("out of memory"));
        assert_eq!(
            heard(&[&text("All"), error.trim_end()].concat()),
            gave_up("out of memory"),
            "also as its last word"
        );
        assert_eq!(heard("event: error\ndata: overloaded\n\n"), gave_up("overloaded"));
        assert!(matches!(heard("data: <html>\n\n"), Err(Trouble::Senseless(_))));
        let noise = ["nonsense\nmore: nonsense\n", ": comment\n", "retry: 5\nid: 7\nevent: ping\n\n"].concat();
        assert_eq!(heard(&[&noise, &text("a"), DONE].concat()).map(|whole| whole.text), Ok("a".to_owned()));
        let nulls = "data: {\"choices\":[{\"delta\":null,\"finish_reason\":null}],\"usage\":null,\"error\":null}\n\n";
        assert_eq!(heard(&[nulls, DONE].concat()), Ok(Whole::default()));
    }

    #[test]
    fn calls_are_put_together_whatever_their_order() {
        let interleaved = [
            call(r#"{"index":0,"id":"a","function":{"name":"one","arguments":""}}"#),
            call(r#"{"index":1,"id":"b","function":{"name":"two","arguments":"{\"x\""}}"#),
            call(r#"{"index":0,"function":{"arguments":"{\"ü\":"}}"#),
            call(r#"{"index":1,"function":{"arguments":":2}"}},{"index":0,"function":{"arguments":"1}"}}"#),
            finish("tool_calls"),
        ];
        assert_eq!(calls(heard(&interleaved.concat())), [r#"one {"ü":1}"#, r#"two {"x":2}"#]);
        let one_number = [
            call(r#"{"index":0,"id":"a","function":{"name":"one","arguments":"{}"}}"#),
            call(r#"{"index":0,"id":"b","function":{"name":"two","arguments":"{\"x\":2}"}}"#),
            DONE.to_owned(),
        ];
        assert_eq!(calls(heard(&one_number.concat())), ["one {}", r#"two {"x":2}"#], "another id is another call");
        let no_number = [
            call(r#"{"id":"a","function":{"name":"one","arguments":{"x":1}}}"#),
            call(r#"{"id":"b","function":{"name":"one"}}"#),
            call(r#"{"function":{"arguments":"{\"y\":"}}"#),
            call(r#"{"function":{"arguments":"2}"}}"#),
            DONE.to_owned(),
        ];
        assert_eq!(calls(heard(&no_number.concat())), [r#"one {"x":1}"#, r#"one {"y":2}"#]);
        let named_again = [
            call(r#"{"index":0,"id":"a","function":{"name":"one","arguments":"{"}}"#),
            call(r#"{"index":0,"id":"a","function":{"name":"one","arguments":"}"}}"#),
            DONE.to_owned(),
        ];
        assert_eq!(calls(heard(&named_again.concat())), ["one {}"]);
    }

    #[test]
    fn what_does_not_end_is_cut_off() {
        let long = "x".repeat(40_000);
        assert_eq!(heard(&[text(&long), text(&long), DONE.to_owned()].concat()), Err(Trouble::Endless(64)));
        let line = format!("data: {}", "x".repeat(LINE_BYTES_MAX));
        assert_eq!(in_pieces(&line, 4_096), Err(Trouble::Endless(256)), "a line without an end");
        let lines = "data: xxxxxxx\n".repeat(40_000);
        assert_eq!(in_pieces(&lines, 4_096), Err(Trouble::Endless(256)), "an event without an end");
        let arguments = call(&format!(r#"{{"index":0,"function":{{"name":"a","arguments":"{long}"}}}}"#));
        assert_eq!(calls(heard(&[&arguments, DONE].concat())), ["a too long"]);
        let many: String = (0..40).map(|n| call(&format!(r#"{{"index":{n},"function":{{"name":"a"}}}}"#))).collect();
        assert_eq!(calls(heard(&[&many, DONE].concat())).len(), CALLS_MAX);
    }

    #[test]
    fn a_stream_is_told_from_anything_else_by_how_it_begins() {
        let table = [
            (&b"data: {}"[..], false, true),
            (b"\n: ok\n", false, true),
            (b" {\"choices\":[]}", true, false),
            (b"<html>", false, false),
            (b"<html>", true, true),
            (b"", false, false),
        ];
        for (head, is_called_so, expected) in table {
            assert_eq!(is_stream(head, is_called_so), expected, "{}", String::from_utf8_lossy(head));
        }
    }
}
