//! One call from here to a server and back: within its time limit, once more where the server ended under it and nothing
//! can have changed, and always with an answer. A write takes its permit along, is sent at most once, and its failure says
//! whether it may have been done. What an answer looks like is in `answer.rs`.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::envelope::{Code, Details, Envelope};
use countersign_core::gate::ToolCall;
use countersign_core::tool::{ArgKind, ToolKind, credential_in};
use countersign_core::usage::Origin;
use rmcp::ServiceError;
use rmcp::model::{CallToolRequestParams, CallToolResponse, RequestMetaObject, RequestParamsMeta};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout, timeout_at};

use super::answer::{self, HungUp, failed, timed_out};
use super::process::Process;
use super::supervise::{CALLS_MAX, Spoke, Unavailable};
use crate::clock::wall_now;
use crate::permit;
use crate::vault::CredentialError;

/// How long a server whose connection is over may take to be seen as ended.
const FAREWELL: Duration = Duration::from_secs(1);

/// The server ended under a call: how, as a fragment.
struct ServerEnded(String);

/// Runs a call. The limit holds for everything: a start, the call and its repetition. Always answers.
pub(super) async fn run(spoke: &Arc<Spoke>, call: &ToolCall) -> Envelope {
    if call.kind == ToolKind::Write && call.warrant.is_none() {
        let message =
            format!("`{}` changes something and was not countersigned, so that it was not sent.", call.name());
        return Envelope::blocked(Code::PolicyBlocked, message, details(call));
    }
    let Ok(_place) = spoke.calls.try_acquire() else {
        let busy = format!("The tool server `{}` is busy with {CALLS_MAX} calls. Try again in a moment.", call.spoke);
        return not_sent(call, busy, true);
    };
    let deadline = Instant::now() + limit(call);
    let mut message = match attempt(spoke, call, deadline).await {
        Ok(envelope) => return envelope,
        Err(ServerEnded(reason)) => unknown_outcome(call, &reason),
    };
    if !changes_something(call) {
        message = match attempt(spoke, call, deadline).await {
            Ok(envelope) => return envelope,
            Err(ServerEnded(reason)) => ended_twice(call, &reason),
        };
    }
    uncertain(call, failed(call, message, false))
}

/// One attempt. It is well with an answer, and with a reason for which nothing was sent.
async fn attempt(spoke: &Arc<Spoke>, call: &ToolCall, deadline: Instant) -> Result<Envelope, ServerEnded> {
    let process = match timeout_at(deadline, spoke.process()).await {
        Ok(Ok(process)) => process,
        Ok(Err(unavailable)) => return Ok(not_sent(call, down(call, &unavailable), true)),
        Err(_) if changes_something(call) => return Ok(not_sent(call, still_starting(call), true)),
        Err(_) => return Ok(timed_out(call, still_starting(call), true)),
    };
    if let Some(problem) = process.offer.problem(&call.tool, &call.action) {
        return Ok(not_sent(call, problem, false));
    }
    let params = match params(spoke, call, &process) {
        Ok(params) => params,
        Err(error) => return Ok(not_sent(call, format!("`{}` was not called: {error}.", call.name()), false)),
    };
    let sent = Instant::now();
    let response = tokio::select! {
        biased;
        response = timeout_at(deadline, process.peer.call_tool_once(params)) => response,
        reason = process.ended() => return Err(ServerEnded(reason)),
    };
    match response.map(|response| read(call, response)) {
        Ok(Ok(envelope)) => Ok(envelope),
        Ok(Err(HungUp)) => Err(ServerEnded(farewell(spoke, &process).await)),
        Err(_) => {
            // A server that a slow start left with less than half of the time is not to blame.
            if sent.elapsed() * 2 >= limit(call) {
                spoke.retire(&process);
            }
            Ok(uncertain(call, timed_out(call, too_slow(call), !changes_something(call))))
        }
    }
}

/// Reads an answer. Of a write only a sound envelope says what became of it; whatever else came back leaves that open.
fn read(call: &ToolCall, response: Result<CallToolResponse, ServiceError>) -> Result<Envelope, HungUp> {
    let said: Option<Envelope> = match &response {
        Ok(CallToolResponse::Complete(result)) if changes_something(call) => {
            result.structured_content.clone().and_then(|content| serde_json::from_value(content).ok())
        }
        Ok(_) | Err(_) => None,
    };
    let envelope = answer::read(call, response)?;
    Ok(if said.as_ref() == Some(&envelope) { envelope } else { uncertain(call, envelope) })
}

/// Marks a failure of something that changes the world: nobody knows whether it was done.
fn uncertain(call: &ToolCall, mut envelope: Envelope) -> Envelope {
    if let Some(failure) = envelope.error.as_mut().filter(|failure| failure.failed && changes_something(call)) {
        failure.details.outcome_unknown = true;
    }
    envelope
}

/// The call never left: a failure that may be tried again, or of something that changes the world a refusal, because it
/// is certain that nothing was done.
pub(super) fn not_sent(call: &ToolCall, message: String, retryable: bool) -> Envelope {
    if changes_something(call) {
        return Envelope::blocked(Code::ExecutionFailed, message, details(call));
    }
    failed(call, message, retryable)
}

fn details(call: &ToolCall) -> Details {
    let resource_id = call.target.as_ref().map(|target| target.as_str().to_owned());
    Details { action: Some(call.name()), resource_id, ..Details::default() }
}

/// Waits until the end of a server is noted, so that the next attempt meets the next server. One that lives on with a
/// broken connection is retired.
async fn farewell(spoke: &Spoke, process: &Process) -> String {
    if let Ok(reason) = timeout(FAREWELL, process.ended()).await {
        return reason;
    }
    spoke.retire(process);
    "it closed its connection".to_owned()
}

/// Makes what is sent. The permit is made for the very process that it is sent to, and a credential takes the place of its
/// name, both at the last moment. Looks at the credentials' files.
fn params(spoke: &Spoke, call: &ToolCall, process: &Process) -> Result<CallToolRequestParams, CredentialError> {
    let mut arguments: Map<String, Value> = call.args.clone();
    let declared = spoke.registry.action(&call.tool, &call.action).into_iter().flat_map(|spec| &spec.args);
    for (name, _) in declared.filter(|(_, arg)| arg.kind == ArgKind::Credential) {
        if let Some(credential) = arguments.get(name).and_then(Value::as_str).and_then(credential_in) {
            let value = Value::from(spoke.credentials.reveal(credential)?.expose());
            arguments.insert(name.clone(), value);
        }
    }
    arguments.insert("action".to_owned(), Value::String(call.action.clone()));
    if let Some(target) = &call.target {
        arguments.insert("target".to_owned(), Value::String(target.as_str().to_owned()));
    }
    let mut params = CallToolRequestParams::new(call.tool.clone()).with_arguments(arguments);
    let permit = call.warrant.as_ref().map(|warrant| permit::mint(&process.key, warrant, wall_now()));
    let permit = permit.map(|permit| (permit::META_KEY.to_owned(), permit));
    let by = (call.by == Origin::Model).then(|| (permit::PROPOSED_BY_KEY.to_owned(), Value::from(permit::MODEL)));
    let meta: Map<String, Value> = permit.into_iter().chain(by).collect();
    if !meta.is_empty() {
        params.set_meta(RequestMetaObject::from(meta));
    }
    Ok(params)
}

const fn limit(call: &ToolCall) -> Duration {
    Duration::from_millis(call.limit_ms)
}

/// Whether running the call twice, or not knowing whether it ran, makes a difference.
fn changes_something(call: &ToolCall) -> bool {
    match call.kind {
        ToolKind::Resolve | ToolKind::Read => false,
        ToolKind::Write | ToolKind::Record => true,
    }
}

fn unknown_outcome(call: &ToolCall, reason: &str) -> String {
    let name = call.name();
    format!("The tool server `{}` failed while it ran `{name}`: {reason}. {UNKNOWN}", call.spoke)
}

/// What people must know before anything else is done.
const UNKNOWN: &str = "Whether it was done is not known. Read the target again first.";

fn ended_twice(call: &ToolCall, reason: &str) -> String {
    format!("The tool server `{}` failed twice while it ran `{}`: {reason}.", call.spoke, call.name())
}

fn too_slow(call: &ToolCall) -> String {
    let slow = format!("`{}` did not answer within {} ms.", call.name(), call.limit_ms);
    if changes_something(call) { format!("{slow} {UNKNOWN}") } else { slow }
}

fn still_starting(call: &ToolCall) -> String {
    let (spoke, limit) = (&call.spoke, call.limit_ms);
    format!("The tool server `{spoke}` was not ready within {limit} ms. Nothing was sent to it. Try again in a moment.")
}

fn down(call: &ToolCall, unavailable: &Unavailable) -> String {
    let (spoke, reason) = (&call.spoke, &unavailable.reason);
    match unavailable.retry_in {
        Some(wait) => format!("The tool server `{spoke}` is down: {reason}. It is tried again in {}.", rough(wait)),
        None => format!("The tool server `{spoke}` is down: {reason}."),
    }
}

/// Never rounded down, so that nobody tries too early.
fn rough(wait: Duration) -> String {
    if wait < Duration::from_secs(1) {
        return format!("{} ms", wait.as_millis() + 1);
    }
    format!("{} s", wait.as_millis().div_ceil(1_000))
}
