//! The server itself: its socket, what it is told to say, and what it was asked. It listens on the loopback only, on a thread
//! of its own, and ends with the last handle on it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::{Turn, completion, strict};

#[derive(Default)]
struct State {
    turns: VecDeque<Turn>,
    asked: Vec<Value>,
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
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("model-fake").enable_all().build();
        let runtime = runtime.expect("invariant: a runtime can be made");
        let (shared, listening) = (Arc::new(Shared::default()), std::sync::mpsc::sync_channel(1));
        shared.lock().turns = turns.into();
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

/// The connection is closed without an answer: hyper does that when a service fails.
#[derive(Debug)]
struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("the fake closed the connection, as it was told to")
    }
}

impl std::error::Error for Closed {}

impl From<Infallible> for Closed {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

async fn serve(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Closed> {
    let path = request.uri().path().to_owned();
    let Ok(body) = request.into_body().collect().await else { return Err(Closed) };
    if path != "/v1/chat/completions" {
        return Ok(refused(404, "no such path"));
    }
    let asked: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or(Value::Null);
    let turn = {
        let mut state = shared.lock();
        state.asked.push(asked.clone());
        state.turns.pop_front()
    };
    if let Some(problem) = strict::problem(&asked) {
        return Ok(refused(400, &problem));
    }
    let turn = turn.unwrap_or_else(|| Turn::says("I cannot say."));
    match &turn {
        Turn::Says(_) | Turn::Calls(_) => Ok(json_answer(200, completion(&turn, &asked).to_string())),
        Turn::Refuses(status) => Ok(refused(*status, "the fake was told to refuse")),
        Turn::Garbage(body) => Ok(json_answer(200, body.clone())),
        Turn::Breaks => Err(Closed),
        Turn::Hangs => std::future::pending().await,
    }
}

fn refused(status: u16, why: &str) -> Response<Full<Bytes>> {
    let error = json!({ "error": { "message": why, "type": "invalid_request_error", "param": null, "code": null } });
    json_answer(status, error.to_string())
}

fn json_answer(status: u16, body: String) -> Response<Full<Bytes>> {
    let answer = Response::builder().status(status).header(CONTENT_TYPE, "application/json");
    answer.body(Full::from(body)).expect("invariant: a status and a body make an answer")
}
