//! One request from its path to its answer: whose it is, what goes wrong with it on purpose, and doing it. Connections
//! are the `server`'s, what a route does is in `routes`.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use hyper::{Request, Response};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::channel::ChannelId;
use crate::clock::ms;
use crate::fault::Kind;
use crate::form::Form;
use crate::limits::Level;
use crate::log::Outcome;
use crate::refusal::{Answer, Refusal};
use crate::routes::{self, Route};
use crate::state::Shared;

/// The token of the bot under test: made up, in the form of a real one.
pub(crate) const TOKEN: &str = "NzAwMDAwMDAwMDAwMDAwMDAwMQ.GnotAsecret.just-for-the-fake-just-for-the-fake-12";

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
    channel: Option<ChannelId>,
    route: Option<&'static Route>,
    form: Result<Form, Refusal>,
}

/// Answers one request, or closes its connection.
pub(crate) async fn serve(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Closed> {
    let path = request.uri().path().to_owned();
    let Some(path) = path.strip_prefix("/api/v10").or_else(|| path.strip_prefix("/api")) else {
        return Ok(response(&Err(missing()), None));
    };
    let found = routes::find(request.method().as_str(), path);
    if !found.as_ref().is_some_and(|(route, _)| route.is_open()) && !is_authorized(request.headers()) {
        return Ok(response(&Err(Refusal::new(401, 0, "401: Unauthorized")), None));
    }
    let asked = read(&shared, path, found, request).await?;
    let fault = shared.look().faults.call(&asked.name, asked.channel);
    let mut lost = false;
    match fault {
        Some(Kind::DropBefore) => {
            shared.change(|state| state.note_outcome(asked.sequence, Outcome::DroppedBefore));
            return Err(Closed);
        }
        Some(Kind::TooMany(after)) => return Ok(told(&shared, &asked, &Err(Refusal::too_many(after, false)))),
        Some(Kind::TooManyEverywhere(after)) => return Ok(told(&shared, &asked, &Err(Refusal::too_many(after, true)))),
        Some(Kind::Status(code)) => return Ok(told(&shared, &asked, &Err(broken(code)))),
        Some(Kind::Silent) => match never().await {},
        Some(Kind::Slow(delay)) => sleep(delay).await,
        Some(Kind::DropAfter) => lost = true,
        Some(Kind::Duplicate(_) | Kind::Reorder) | None => {}
    }
    let answer = perform(&shared, &asked);
    if lost {
        let outcome = Outcome::DroppedAfter(Box::new(outcome(&answer)));
        shared.change(|state| state.note_outcome(asked.sequence, outcome));
        return Err(Closed);
    }
    Ok(told(&shared, &asked, &answer))
}

fn is_authorized(headers: &HeaderMap) -> bool {
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.strip_prefix("Bot ").is_some_and(|token| token == TOKEN)
}

fn missing() -> Refusal {
    Refusal::new(404, 0, "404: Not Found")
}

async fn read(
    shared: &Shared,
    path: &str,
    found: Option<(&'static Route, Vec<String>)>,
    request: Request<Incoming>,
) -> Result<Asked, Closed> {
    let unknown = format!("{} {path}", request.method());
    let (route, parts) = found.map_or((None, Vec::new()), |(route, parts)| (Some(route), parts));
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Closed)?.to_bytes();
    let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut form = Form::read(head.uri.query().unwrap_or_default(), content_type, body).await;
    let shown = form.as_ref().map_or(Value::Null, Form::shown);
    let name = route.map_or(unknown, |route| route.name.to_owned());
    let (sequence, channel) = shared.change(|state| {
        let channel = route.and_then(|route| route.channel(state, &parts));
        (state.note(&name, channel, shown), channel)
    });
    if let Ok(form) = &mut form {
        form.path = parts;
    }
    Ok(Asked { sequence, name, channel, route, form })
}

fn perform(shared: &Shared, asked: &Asked) -> Answer {
    let route = asked.route.ok_or_else(missing)?;
    let form = asked.form.as_ref().map_err(Clone::clone)?;
    if let (true, Some(channel)) = (route.is_limited(), asked.channel) {
        let taken = shared.look().limits.take(channel, Instant::now());
        taken.map_err(|after| Refusal::too_many(after, false))?;
    }
    shared.change(|state| (route.perform)(state, form))
}

/// The answer, written down.
fn told(shared: &Shared, asked: &Asked, answer: &Answer) -> Response<Full<Bytes>> {
    shared.change(|state| state.note_outcome(asked.sequence, outcome(answer)));
    let limited = asked.route.is_some_and(Route::is_limited);
    let channel = asked.channel.filter(|_| limited);
    let level = channel.and_then(|channel| shared.look().limits.level(channel, Instant::now()));
    response(answer, level.map(|level| (channel.map_or(0, |channel| channel.0), level)))
}

fn outcome(answer: &Answer) -> Outcome {
    match answer {
        Ok(body) => Outcome::Done(body.clone()),
        Err(refusal) => {
            Outcome::Refused { status: refusal.status, code: refusal.code, message: refusal.message.clone() }
        }
    }
}

fn response(answer: &Answer, level: Option<(u64, Level)>) -> Response<Full<Bytes>> {
    let (status, body) = match answer {
        Ok(Value::Null) => (204, String::new()),
        Ok(body) => (200, body.to_string()),
        Err(refusal) => (refusal.status, refusal.body().to_string()),
    };
    let mut head = Response::builder().status(status);
    if !body.is_empty() {
        head = head.header(CONTENT_TYPE, "application/json");
    }
    if let Some((channel, level)) = level {
        head = head
            .header("x-ratelimit-bucket", format!("fake-messages-{channel}"))
            .header("x-ratelimit-limit", level.limit)
            .header("x-ratelimit-remaining", level.remaining)
            .header("x-ratelimit-reset-after", seconds(ms(level.reset_after)));
    }
    if let Err(Refusal { retry: Some(retry), .. }) = answer {
        head = head.header(RETRY_AFTER, retry.after.as_millis().div_ceil(1000).to_string());
        head = head.header("x-ratelimit-scope", if retry.global { "global" } else { "user" });
        if retry.global {
            head = head.header("x-ratelimit-global", "true");
        } else if level.is_none() {
            head = head.header("x-ratelimit-reset-after", seconds(ms(retry.after)));
        }
    }
    head.body(Full::new(body.into())).expect("invariant: statuses and headers are ours and sound")
}

/// Seconds with their thousandths, as the headers have them.
fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

fn broken(status: u16) -> Refusal {
    let words = match status {
        502 => "502: Bad Gateway",
        503 => "503: Service Unavailable",
        504 => "504: Gateway Timeout",
        _ => "500: Internal Server Error",
    };
    Refusal::new(status, 0, words)
}

/// Until the client goes, or the fake ends.
async fn never() -> Infallible {
    std::future::pending().await
}
