//! A gate between a bot and the homeserver: passes every call on, keeps a log, and lets things go wrong where it is told to.
//! It runs on a thread of its own, so that a test that blocks does not block it.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::http::response::Parts;
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

use crate::fault::{Fault, Kind};
use crate::look::PATIENCE;
use crate::server::Synapse;

/// What was asked, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// `PUT`.
    pub method: String,
    /// With everything behind the question mark.
    pub path: String,
    /// What was sent with it.
    pub body: String,
    /// The HTTP status that the bot was told; none where it was told nothing.
    pub status: Option<u16>,
    /// What it came to, also where the bot was not told.
    pub answer: String,
}

/// A gate. It closes when it is dropped.
pub struct Gate {
    address: SocketAddr,
    shared: Arc<Shared>,
    _closes: oneshot::Sender<()>,
}

struct Shared {
    upstream: String,
    state: Mutex<State>,
    changed: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    faults: Vec<Fault>,
    calls: Vec<Call>,
    /// Answers to the next syncs that were given before.
    again: VecDeque<Bytes>,
}

type Answer = Response<Full<Bytes>>;

/// An answer, all of it.
type Whole = (Parts, Bytes);

impl Synapse {
    /// A new gate to this homeserver.
    pub fn gate(&self) -> Gate {
        let upstream = self.url().trim_start_matches("http://").to_owned();
        let shared = Arc::new(Shared { upstream, state: Mutex::default(), changed: watch::Sender::new(0) });
        let (keeps_open, dropped) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port on the loopback");
                // Whoever asked for the gate waits for this.
                let _told = tell.send(listener.local_addr().expect("its number"));
                tokio::select! {
                    () = listen(listener, own) => {}
                    _ = dropped => {}
                }
            });
        });
        Gate { address: told.recv().expect("the gate opens"), shared, _closes: keeps_open }
    }
}

impl Gate {
    /// The address that stands for the homeserver's.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on this goes wrong, beside what goes wrong already.
    pub fn fault(&self, fault: Fault) {
        self.shared.state().faults.push(fault);
    }

    /// Nothing goes wrong any more.
    pub fn clear_faults(&self) {
        self.shared.state().faults.clear();
        // Wakes what is held.
        self.shared.changed.send_modify(|_| {});
    }

    /// Every call that has ended so far, in that order.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.state().calls.clone()
    }

    /// How many calls have ended so far.
    pub fn count(&self) -> usize {
        self.shared.state().calls.len()
    }

    /// Waits until so many calls have ended.
    pub async fn wait_for_count(&self, count: usize) {
        let mut changed = self.shared.changed.subscribe();
        let in_time = tokio::time::timeout(PATIENCE, changed.wait_for(|made| *made >= count)).await;
        drop(in_time.unwrap_or_else(|_| panic!("{} calls within {PATIENCE:?}, and not {count}", self.count())));
    }

    /// Waits for a call, also one that was before.
    pub async fn wait_for(&self, wanted: impl Fn(&Call) -> bool) -> Call {
        self.wait_for_since(0, wanted).await
    }

    /// Waits for a call after so many others.
    pub async fn wait_for_since(&self, mark: usize, wanted: impl Fn(&Call) -> bool) -> Call {
        let mut changed = self.shared.changed.subscribe();
        let made = async {
            loop {
                let found = self.shared.state().calls.iter().skip(mark).find(|call| wanted(call)).cloned();
                if let Some(call) = found {
                    return call;
                }
                changed.changed().await.expect("the gate is open");
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, made).await.ok();
        in_time.unwrap_or_else(|| {
            let line = |call: &Call| format!("{} {} {:?}", call.method, call.path, call.status);
            let calls: Vec<String> = self.calls().iter().map(line).collect();
            panic!("it was not asked within {PATIENCE:?}, but\n{}", calls.join("\n"))
        })
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What goes wrong with this call, if anything does.
    fn trouble(&self, path: &str) -> Option<Kind> {
        let mut state = self.state();
        // Whether a sync is told again is drawn once it is known to tell of something.
        let strikes = |fault: &mut Fault| matches!(fault.kind, Kind::ToldAgain(..)) || fault.strikes();
        let mut met = state.faults.iter_mut().filter(|fault| fault.meets(path));
        met.find_map(|fault| strikes(fault).then(|| fault.kind.clone()))
    }

    /// Waits until nothing holds a call like this any more.
    async fn held(&self, path: &str) {
        let holds =
            |shared: &Self| shared.state().faults.iter().any(|fault| fault.kind == Kind::Held && fault.is_about(path));
        let mut changed = self.changed.subscribe();
        while holds(self) && changed.changed().await.is_ok() {}
    }

    fn note(&self, call: Call) {
        self.state().calls.push(call);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Keeps an answer to be given again, where it tells of something in a room.
    fn keep(&self, (times, but): (u32, &str), answer: &Bytes) {
        let told = serde_json::from_slice::<serde_json::Value>(answer).unwrap_or_default();
        let rooms = told["rooms"]["join"].as_object().into_iter().flatten();
        let mut events = rooms.flat_map(|(_, room)| room["timeline"]["events"].as_array().into_iter().flatten());
        let is_said = |kind: &str| matches!(kind, "m.room.message" | "m.room.encrypted" | "m.reaction");
        if events.any(|event| event["sender"] != but && event["type"].as_str().is_some_and(is_said)) {
            let mut state = self.state();
            let mut kept = state.faults.iter_mut().filter(|fault| matches!(fault.kind, Kind::ToldAgain(..)));
            if kept.any(Fault::strikes) {
                state.again.extend((0..times).map(|_| answer.clone()));
            }
        }
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| pass(Arc::clone(&shared), request));
            // A connection that breaks is the bot's affair.
            drop(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

/// One call. An error closes the connection without an answer.
async fn pass(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Answer, std::io::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
    let path = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let said = String::from_utf8_lossy(&body).into_owned();
    let call = Call { method: head.method.to_string(), path, body: said, status: None, answer: String::new() };
    let (answer, is_lost) = answer(&shared, &call.path, Request::from_parts(head, Full::new(body))).await?;
    let (head, body) = answer;
    let status = (!is_lost).then(|| head.status.as_u16());
    shared.note(Call { status, answer: String::from_utf8_lossy(&body).into_owned(), ..call });
    if is_lost {
        return Err(std::io::Error::other("the answer is lost"));
    }
    Ok(Response::from_parts(head, Full::new(body)))
}

/// What it comes to, and whether the bot is not told.
async fn answer(shared: &Shared, path: &str, request: Request<Full<Bytes>>) -> Result<(Whole, bool), std::io::Error> {
    let trouble = shared.trouble(path);
    let again = if path.contains("/sync") { shared.state().again.pop_front() } else { None };
    if let Some(again) = again {
        return Ok((plain(200, again), false));
    }
    Ok(match trouble {
        Some(Kind::TooMany(retry_after_ms)) => (plain(429, too_many(retry_after_ms).into()), false),
        Some(Kind::Broken(status)) => (plain(status, BROKEN.into()), false),
        Some(Kind::LostReply) => (forward(shared, request).await?, true),
        Some(Kind::ToldAgain(times, but)) => {
            let (head, body) = forward(shared, request).await?;
            shared.keep((times, &but), &body);
            ((head, body), false)
        }
        Some(Kind::LoggedOut) => (plain(401, LOGGED_OUT.into()), false),
        Some(Kind::Held) => {
            shared.held(path).await;
            (forward(shared, request).await?, false)
        }
        None => (forward(shared, request).await?, false),
    })
}

/// What Synapse says where it is too much for it.
fn too_many(retry_after_ms: u64) -> String {
    let told = "\"errcode\":\"M_LIMIT_EXCEEDED\",\"error\":\"Too Many Requests\"";
    format!("{{{told},\"retry_after_ms\":{retry_after_ms}}}")
}

/// What it says where a token has ended.
const LOGGED_OUT: &str = r#"{"errcode":"M_UNKNOWN_TOKEN","error":"Access token has expired","soft_logout":true}"#;

/// What it says where it is broken.
const BROKEN: &str = r#"{"errcode":"M_UNKNOWN","error":"Internal server error"}"#;

/// Asks the homeserver.
async fn forward(shared: &Shared, mut request: Request<Full<Bytes>>) -> Result<Whole, std::io::Error> {
    let stream = TcpStream::connect(&shared.upstream).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(std::io::Error::other)?;
    tokio::spawn(connection);
    request.headers_mut().remove(header::CONNECTION);
    let answer = sender.send_request(request).await.map_err(std::io::Error::other)?;
    let (mut head, body) = answer.into_parts();
    let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
    for name in [header::TRANSFER_ENCODING, header::CONNECTION, header::CONTENT_LENGTH] {
        head.headers.remove(name);
    }
    Ok((head, body))
}

fn plain(status: u16, body: Bytes) -> Whole {
    let mut answer = Response::new(body);
    *answer.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    answer.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    answer.into_parts()
}
