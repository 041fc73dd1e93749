//! The server itself: its socket, what it is told to say, and what it was asked. It listens on the loopback only, on a thread
//! of its own, and ends with the last handle on it.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use crate::body::{Closed, Pieces};
use crate::{Turn, Ways, answer, lists, strict};

#[derive(Default)]
struct State {
    ways: Ways,
    turns: VecDeque<Turn>,
    /// The next turn was chosen already; what it is called with is asked next, if it is called with anything.
    is_chosen: bool,
    asked: Vec<Value>,
    /// Every request, by its method and path.
    seen: Vec<String>,
}

/// A running server. Clones are handles on the same one.
#[derive(Clone)]
pub struct Fake {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    address: SocketAddr,
    runtime: Option<Runtime>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    release: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("invariant: nobody panics while holding it")
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Fake {
    /// Starts one on a free port of 127.0.0.1. It says these in order, and then, over and over, that it cannot say.
    pub fn start(turns: Vec<Turn>) -> Self {
        Self::with(Ways::default(), turns)
    }

    /// The same, of this kind.
    pub fn with(ways: Ways, turns: Vec<Turn>) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("model-fake").enable_all().build();
        let runtime = runtime.expect("invariant: a runtime can be made");
        let (shared, listening) = (Arc::new(Shared::default()), std::sync::mpsc::sync_channel(1));
        *shared.lock() = State { ways, turns: turns.into(), ..State::default() };
        let told = listening.0;
        let serving = Arc::clone(&shared);
        runtime.spawn(async move {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("invariant: there is a free port");
            told.send(listener.local_addr().expect("invariant: it is bound")).expect("invariant: it is waited for");
            accept(listener, serving).await;
        });
        let address = listening.1.recv().expect("invariant: it listens");
        Self { inner: Arc::new(Inner { shared, address, runtime: Some(runtime) }) }
    }

    /// What a bot takes for the base URL, with `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.inner.address)
    }

    /// Has it say these, too.
    pub fn then(&self, turns: Vec<Turn>) {
        self.inner.shared.lock().turns.extend(turns);
    }

    /// Has it say what it holds back: what it holds now, else what it holds next.
    pub fn release(&self) {
        self.inner.shared.release.notify_one();
    }

    /// Makes it one of another kind.
    pub fn becomes(&self, ways: Ways) {
        self.inner.shared.lock().ways = ways;
    }

    /// Every request that came, by its method and path, in order.
    pub fn seen(&self) -> Vec<String> {
        self.inner.shared.lock().seen.clone()
    }

    /// What it was asked, in order; also what it refused.
    pub fn asked(&self) -> Vec<Value> {
        self.inner.shared.lock().asked.clone()
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| serve(Arc::clone(&shared), request));
            // A connection that was cut, by either side, is no matter for the fake.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn serve(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Pieces>, Closed> {
    let (head, body) = request.into_parts();
    let route = format!("{} {}", head.method, head.uri.path());
    shared.lock().seen.push(route.clone());
    let Ok(body) = body.collect().await else { return Err(Closed) };
    let asked: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or(Value::Null);
    let chat = {
        let mut state = shared.lock();
        if !has_key(&state.ways, &head.headers) {
            return Ok(refused(401, "Incorrect API key provided"));
        }
        match (route.as_str(), &state.ways.pulls) {
            ("POST /v1/chat/completions", _) => turn(&mut state, &asked),
            ("GET /v1/models", _) => return Ok(json_answer(200, lists::models(&state.ways).to_string())),
            ("GET /api/tags", Some(_)) => return Ok(json_answer(200, lists::tags(&state.ways).to_string())),
            ("POST /api/pull", Some(_)) => {
                let lines = lists::pull(&mut state.ways, &asked);
                return Ok(answered(200, "application/x-ndjson", Pieces::cut(&lines)));
            }
            _ => return Ok(refused(404, "no such path")),
        }
    };
    match chat {
        Does::Answers(answer) => Ok(*answer),
        Does::Holds(answer) => {
            shared.release.notified().await;
            Ok(*answer)
        }
        Does::Breaks => Err(Closed),
        Does::Hangs => std::future::pending().await,
    }
}

fn has_key(ways: &Ways, headers: &HeaderMap) -> bool {
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    ways.key.as_ref().is_none_or(|key| given == Some(&format!("Bearer {key}")))
}

/// What is done with a question.
enum Does {
    Answers(Box<Response<Pieces>>),
    Holds(Box<Response<Pieces>>),
    Breaks,
    Hangs,
}

impl From<Response<Pieces>> for Does {
    fn from(answer: Response<Pieces>) -> Self {
        Self::Answers(Box::new(answer))
    }
}

fn turn(state: &mut State, asked: &Value) -> Does {
    state.asked.push(asked.clone());
    if let Some(problem) = strict::problem(asked) {
        return refused(400, &problem).into();
    }
    let unknown = state.ways.refuses.iter().find(|(name, _)| asked.get(name).is_some());
    if let Some((name, status)) = unknown {
        return refused(*status, &format!("this server does not know `{name}`")).into();
    }
    let mut asked = asked.clone();
    let has_functions = !state.ways.refuses.iter().any(|(name, _)| *name == "tools");
    for name in &state.ways.ignores {
        asked[*name] = Value::Null;
    }
    if std::mem::take(&mut state.is_chosen) && answer::is_choice(&asked) {
        state.turns.pop_front();
    }
    let turn = state.turns.pop_front().unwrap_or_else(|| Turn::says("I cannot say."));
    if let Some((said, is_over)) = answer::said(&turn, &asked, has_functions) {
        state.is_chosen = !is_over;
        let in_one = !state.ways.streams || asked["stream"] != true || matches!(turn, Turn::InOne(_));
        let is_held = matches!(turn, Turn::Held(_));
        if !is_over {
            state.turns.push_front(turn);
        }
        let counts = state.ways.counts;
        let answer = Box::new(if in_one {
            json_answer(200, answer::completion(&said, &asked, counts).to_string())
        } else {
            answered(200, "text/event-stream", Pieces::cut(&answer::stream(&said, &asked, counts)))
        });
        return if is_held { Does::Holds(answer) } else { Does::Answers(answer) };
    }
    fault(turn)
}

/// What the server does by itself.
fn fault(turn: Turn) -> Does {
    match turn {
        Turn::Refuses(status) => refused(status, "the fake was told to refuse").into(),
        Turn::SaysNo(status, why) => refused(status, &why).into(),
        Turn::Busy(status, wait) => with_header(refused(status, "slow down"), "retry-after", &wait).into(),
        Turn::Redirects(to) => with_header(refused(307, "it is elsewhere"), "location", &to).into(),
        Turn::Garbage(body) => json_answer(200, body).into(),
        Turn::Streams(pieces, end) => {
            let pieces = pieces.into_iter().map(Bytes::from).collect();
            answered(200, "text/event-stream; charset=utf-8", Pieces::new(pieces, end)).into()
        }
        Turn::Hangs => Does::Hangs,
        Turn::Breaks | Turn::Says(_) | Turn::Calls(_) | Turn::IsCut(_) | Turn::InOne(_) | Turn::Held(_) => Does::Breaks,
    }
}

fn refused(status: u16, why: &str) -> Response<Pieces> {
    let error = json!({ "error": { "message": why, "type": "invalid_request_error", "param": null, "code": null } });
    json_answer(status, error.to_string())
}

fn json_answer(status: u16, body: String) -> Response<Pieces> {
    answered(status, "application/json", Pieces::whole(body))
}

fn answered(status: u16, kind: &str, body: Pieces) -> Response<Pieces> {
    let answer = Response::builder().status(status).header(CONTENT_TYPE, kind);
    answer.body(body).expect("invariant: a status and a body make an answer")
}

fn with_header(mut answer: Response<Pieces>, name: &'static str, value: &str) -> Response<Pieces> {
    answer.headers_mut().insert(name, value.parse().expect("invariant: a test writes what a header may hold"));
    answer
}
