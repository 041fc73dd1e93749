//! One request from its path to its answer: whose it is, what goes wrong with it on purpose, and doing it. Connections
//! are the `server`'s, what a method does is in `methods`.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, RETRY_AFTER};
use hyper::{Request, Response};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::chat::ChatId;
use crate::fault::Kind;
use crate::log::Outcome;
use crate::methods::updates::Poll;
use crate::methods::{self, Method, Work};
use crate::params::Params;
use crate::refusal::{Answer, Refusal};
use crate::state::Shared;

/// The token of the bot under test: made up, in the form of a real one.
pub(crate) const TOKEN: &str = "7000000001:AAF-not-a-secret-just-for-the-fake1";

/// What a proxy shows in the place of Telegram's answer.
const PAGE: &str = "<html><body>This is not Telegram.</body></html>";

/// The connection is closed without an answer: hyper does that when a service fails.
#[derive(Debug)]
pub(crate) struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the fake closed the connection, as it was told to")
    }
}

impl std::error::Error for Closed {}

/// A request that was read and written down.
struct Asked {
    sequence: u64,
    name: String,
    chat: Option<ChatId>,
    method: Option<&'static Method>,
    params: Result<Params, Refusal>,
}

/// Answers one request, or closes its connection.
pub(crate) async fn serve(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Closed> {
    let name = match route(request.uri().path()) {
        Ok(name) => name.to_owned(),
        Err(refusal) => return Ok(response(&Err(refusal))),
    };
    let asked = read(&shared, &name, request).await?;
    let fault = shared.look().faults.call(&asked.name, asked.chat);
    let mut lost = false;
    match fault {
        Some(Kind::DropBefore) => {
            shared.change(|state| state.note_outcome(asked.sequence, Outcome::DroppedBefore));
            return Err(Closed);
        }
        Some(Kind::TooMany(seconds)) => return Ok(told(&shared, &asked, &Err(Refusal::too_many(seconds)))),
        Some(Kind::Status(code)) => return Ok(told(&shared, &asked, &Err(Refusal::new(code, words(code))))),
        Some(Kind::Gateway(code)) => {
            let outcome = Outcome::Refused { code, description: PAGE.to_owned() };
            shared.change(|state| state.note_outcome(asked.sequence, outcome));
            return Ok(page(code));
        }
        Some(Kind::Silent) => match never().await {},
        Some(Kind::Slow(delay)) => pause(Instant::now() + delay).await,
        Some(Kind::DropAfter) => lost = true,
        Some(Kind::Duplicate(_) | Kind::Reorder) | None => {}
    }
    let answer = perform(&shared, &asked).await;
    if lost {
        let outcome = Outcome::DroppedAfter(Box::new(outcome(&answer)));
        shared.change(|state| state.note_outcome(asked.sequence, outcome));
        return Err(Closed);
    }
    Ok(told(&shared, &asked, &answer))
}

/// The method's name of `/bot<token>/<name>`. A token of the wrong form is no path to Telegram's front server.
fn route(path: &str) -> Result<&str, Refusal> {
    let missing = || Refusal::new(404, "Not Found");
    let (token, name) = path.strip_prefix("/bot").and_then(|rest| rest.split_once('/')).ok_or_else(missing)?;
    let well_formed = token.split_once(':').is_some_and(|(id, key)| id.parse::<u64>().is_ok() && key.len() == 35);
    match token == TOKEN {
        true => Ok(name),
        false if well_formed => Err(Refusal::new(401, "Unauthorized")),
        false => Err(missing()),
    }
}

async fn read(shared: &Shared, name: &str, request: Request<Incoming>) -> Result<Asked, Closed> {
    let method = methods::find(name);
    let name = method.map_or(name, |method| method.name).to_owned();
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Closed)?.to_bytes();
    let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let params = Params::read(head.uri.query().unwrap_or_default(), content_type, body).await;
    let chat = params.as_ref().ok().and_then(|params| params.chat().ok());
    let shown = params.as_ref().map_or(Value::Null, Params::shown);
    let sequence = shared.change(|state| state.note(&name, chat, shown));
    Ok(Asked { sequence, name, chat, method, params })
}

async fn perform(shared: &Shared, asked: &Asked) -> Answer {
    let method = asked.method.ok_or_else(|| Refusal::new(404, "Not Found: method not found"))?;
    let params = asked.params.as_ref().map_err(Clone::clone)?;
    method.check(params)?;
    if let (true, Some(chat)) = (method.limited, asked.chat) {
        let taken = shared.look().limits.take(chat, chat.0 < 0, Instant::now());
        taken.map_err(Refusal::too_many)?;
    }
    match method.work {
        Work::Now(perform) => shared.change(|state| perform(state, params)),
        Work::Poll => poll(shared, params).await,
    }
}

async fn poll(shared: &Shared, params: &Params) -> Answer {
    let mut bell = shared.bell();
    let poll = shared.change(|state| Poll::begin(state, params))?;
    loop {
        bell.mark_unchanged();
        let looked = poll.look(&mut shared.look());
        match looked {
            Ok(answer) => return answer,
            // Whether the bell rang or the time came, the next look tells.
            Err(until) => drop(timeout_at(until, bell.changed()).await),
        }
    }
}

/// The answer, written down.
fn told(shared: &Shared, asked: &Asked, answer: &Answer) -> Response<Full<Bytes>> {
    shared.change(|state| state.note_outcome(asked.sequence, outcome(answer)));
    response(answer)
}

fn outcome(answer: &Answer) -> Outcome {
    match answer {
        Ok(result) => Outcome::Done(result.clone()),
        Err(refusal) => Outcome::Refused { code: refusal.code, description: refusal.description.clone() },
    }
}

fn response(answer: &Answer) -> Response<Full<Bytes>> {
    let (status, body) = match answer {
        Ok(result) => (200, json!({ "ok": true, "result": result })),
        Err(refusal) => (refusal.code, refusal.body()),
    };
    let mut head = Response::builder().status(status).header(CONTENT_TYPE, "application/json");
    if let Err(Refusal { retry_after: Some(seconds), .. }) = answer {
        head = head.header(RETRY_AFTER, *seconds);
    }
    head.body(Full::new(body.to_string().into())).expect("invariant: statuses and headers are ours and sound")
}

/// What is answered by something that stands before Telegram.
fn page(code: u16) -> Response<Full<Bytes>> {
    let head = Response::builder().status(code).header(CONTENT_TYPE, "text/html");
    head.body(Full::new(PAGE.into())).expect("invariant: statuses and headers are ours and sound")
}

fn words(code: u16) -> &'static str {
    match code {
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Internal Server Error",
    }
}

/// Until the client goes, or the fake ends.
async fn never() -> Infallible {
    std::future::pending().await
}

async fn pause(until: Instant) {
    tokio::time::sleep_until(until).await;
}
