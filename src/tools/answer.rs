//! From what a server says to the one shape that the core knows (TPR-01, MCP-03). An answer is taken strictly: what is
//! not exactly an envelope has not worked. Every sentence here is read by people.

use std::io;

use countersign_core::envelope::{Code, Details, Envelope, Failure};
use countersign_core::gate::ToolCall;
use countersign_core::text;
use rmcp::ServiceError;
use rmcp::model::{CallToolResponse, ErrorCode, ErrorData};
use serde_json::Value;

use super::stdout::TOO_LONG;

/// The longest answer taken, in bytes of JSON.
pub(super) const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// The longest part of a server's own error that is shown, in characters.
const MESSAGE_CHARS_MAX: usize = 500;

/// The connection is over: there is no answer, and there will be none.
#[derive(Clone, Copy, Debug)]
pub(super) struct HungUp;

/// Reads a server's answer, good or bad.
pub(super) fn read(call: &ToolCall, response: Result<CallToolResponse, ServiceError>) -> Result<Envelope, HungUp> {
    match response {
        Ok(CallToolResponse::Complete(result)) => Ok(envelope(call, result.structured_content)),
        Err(ServiceError::McpError(error)) => Ok(refused(call, &error)),
        Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => Err(HungUp),
        // The rest are answers of another protocol than ours: a question back, a task, a result of another method.
        Ok(_) | Err(_) => Ok(no_envelope(call)),
    }
}

fn envelope(call: &ToolCall, content: Option<Value>) -> Envelope {
    let Some(content) = content else { return no_envelope(call) };
    if !is_short(&content) {
        return too_long(call);
    }
    let known = ["ok", "data", "error", "meta"];
    let strict = content.as_object().is_some_and(|object| object.keys().all(|key| known.contains(&key.as_str())));
    match serde_json::from_value::<Envelope>(content) {
        Ok(envelope) if strict && is_sound(&envelope) => envelope,
        Ok(_) | Err(_) => no_envelope(call),
    }
}

/// Whether the parts of an envelope fit together: it worked, or it has an error that is either a refusal or a failure.
fn is_sound(envelope: &Envelope) -> bool {
    let sound = |error: &Failure| error.blocked != error.failed && !error.message.trim().is_empty();
    match &envelope.error {
        None => envelope.ok,
        Some(error) => !envelope.ok && envelope.data.is_null() && sound(error),
    }
}

fn is_short(content: &Value) -> bool {
    serde_json::to_writer(Room(ANSWER_BYTES_MAX), content).is_ok()
}

/// Counts bytes down and keeps none.
struct Room(usize);

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("full"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn refused(call: &ToolCall, error: &ErrorData) -> Envelope {
    if error.code == ErrorCode(TOO_LONG) {
        return too_long(call);
    }
    let said = text::one_line(&error.message, MESSAGE_CHARS_MAX);
    if error.code == ErrorCode::INVALID_PARAMS {
        let message =
            format!("The tool server `{}` did not take the arguments of `{}`: {said}", call.spoke, call.name());
        return Envelope::blocked(Code::InvalidInput, message, details(call));
    }
    let code = error.code.0;
    failed(
        call,
        format!("The tool server `{}` answered `{}` with error {code}: {said}", call.spoke, call.name()),
        false,
    )
}

fn no_envelope(call: &ToolCall) -> Envelope {
    failed(call, format!("The tool server `{}` answered with something that is no envelope.", call.spoke), false)
}

fn too_long(call: &ToolCall) -> Envelope {
    let limit = ANSWER_BYTES_MAX / (1024 * 1024);
    let message = format!("The answer of `{}` is longer than {limit} MiB, the limit. Ask for less.", call.name());
    failed(call, message, false)
}

/// It was tried and did not work. `retryable` only where the same again is safe.
pub(super) fn failed(call: &ToolCall, message: impl Into<String>, retryable: bool) -> Envelope {
    Envelope::failed(Code::ExecutionFailed, message, retryable, details(call))
}

/// It took too long.
pub(super) fn timed_out(call: &ToolCall, message: impl Into<String>, retryable: bool) -> Envelope {
    Envelope::failed(Code::Timeout, message, retryable, details(call))
}

fn details(call: &ToolCall) -> Details {
    Details {
        action: Some(call.name()),
        resource_id: call.target.as_ref().map(|target| target.as_str().to_owned()),
        ..Details::default()
    }
}
