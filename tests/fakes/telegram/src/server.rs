//! The fake as a server: its socket, its connections, and outages. It listens on the loopback only, on a port that the
//! system chooses, on a thread of its own, and ends with the last handle on it. What a request does is in `http`.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::http::{TOKEN, serve};
use crate::people::BOT_USERNAME;
use crate::state::Shared;

/// How long a wait for something in a chat lasts before it fails, unless a test says otherwise.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running fake. Clones are handles on the same one; it ends when the last is dropped.
///
/// What people do (`say`, `press`, ...) panics with a sentence where it cannot be done, because the test is wrong then.
#[derive(Clone)]
pub struct Fake {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    address: SocketAddr,
    home: Home,
    /// The task that accepts, with all its connections; none while there is an outage.
    accepting: Mutex<Option<JoinHandle<()>>>,
    /// Each open connection listens to it.
    open: Arc<watch::Sender<()>>,
    patience: Mutex<Duration>,
}

/// The fake's own runtime, so that it answers while a test blocks its thread, and in real time while a test stops the clock.
struct Home(Option<Runtime>);

impl Home {
    fn build() -> std::io::Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("telegram-fake").enable_all().build()?;
        Ok(Self(Some(runtime)))
    }

    fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.0.as_ref().expect("invariant: it is there until it is dropped").spawn(task)
    }

    /// A socket belongs to the runtime in which it is made.
    async fn bind(&self, address: SocketAddr) -> std::io::Result<TcpListener> {
        self.spawn(TcpListener::bind(address)).await.map_err(std::io::Error::other)?
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // A runtime must not be waited for inside another one, where the last handle may well be dropped.
            runtime.shutdown_background();
        }
    }
}

impl Fake {
    /// Starts one on a free port of 127.0.0.1.
    pub async fn start() -> Self {
        Self::start_on(0).await.expect("invariant: the loopback has a free port")
    }

    /// Starts one on this port of 127.0.0.1. The error says why the port cannot be had.
    pub async fn start_on(port: u16) -> std::io::Result<Self> {
        let home = Home::build()?;
        let listener = home.bind((Ipv4Addr::LOCALHOST, port).into()).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new());
        let open = Arc::new(watch::Sender::new(()));
        let accepting = Mutex::new(Some(home.spawn(accept(listener, Arc::clone(&shared), Arc::clone(&open)))));
        let inner = Inner { shared, address, home, accepting, open, patience: Mutex::new(PATIENCE) };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What a bot takes for Telegram's base URL: `http://127.0.0.1:PORT`, without a slash at its end.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.inner.address)
    }

    /// The token that the fake knows its bot by.
    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// The bot's name, without the `@`.
    pub fn bot_username(&self) -> &'static str {
        BOT_USERNAME
    }

    /// An outage: closes the socket and every connection. What was said meanwhile waits, as at Telegram.
    pub async fn stop_listening(&self) {
        let accepting = self.accepting().take();
        if let Some(accepting) = accepting {
            accepting.abort();
            // Only when the task is gone are its sockets closed.
            drop(accepting.await);
        }
    }

    /// The end of an outage: listens on the same port again.
    pub async fn listen_again(&self) {
        let listener = self.inner.home.bind(self.inner.address).await;
        let listener = listener.unwrap_or_else(|why| panic!("{} cannot be had again: {why}", self.inner.address));
        let accepting =
            self.inner.home.spawn(accept(listener, Arc::clone(&self.inner.shared), Arc::clone(&self.inner.open)));
        if let Some(before) = self.accepting().replace(accepting) {
            before.abort();
        }
    }

    /// Waits until everything is heard that a bot has sent which has ended: what it wrote last may still lie in a socket.
    pub async fn has_heard_all(&self) {
        // Whoever connected before is accepted before.
        let address = self.inner.address;
        let knock = move || {
            let mut stream = std::net::TcpStream::connect(address)?;
            stream.write_all(b"GET / HTTP/1.1\r\nhost: fake\r\nconnection: close\r\n\r\n")?;
            stream.read_to_end(&mut Vec::new())
        };
        // During an outage nobody is heard.
        drop(tokio::task::spawn_blocking(knock).await);
        let all = tokio::time::timeout(self.patience(), self.inner.open.closed()).await;
        assert!(all.is_ok(), "a connection of a bot that has ended stays open");
    }

    /// How long a wait for something in a chat lasts before it fails.
    pub fn set_patience(&self, patience: Duration) {
        *self.inner.patience.lock().expect("invariant: nobody panics while holding it") = patience;
    }

    pub(crate) fn patience(&self) -> Duration {
        *self.inner.patience.lock().expect("invariant: nobody panics while holding it")
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.inner.shared
    }

    fn accepting(&self) -> std::sync::MutexGuard<'_, Option<JoinHandle<()>>> {
        self.inner.accepting.lock().expect("invariant: nobody panics while holding it")
    }
}

/// Accepts until it is aborted, which ends its connections as well.
async fn accept(listener: TcpListener, shared: Arc<Shared>, open: Arc<watch::Sender<()>>) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (shared, one) = (Arc::clone(&shared), open.subscribe());
        connections.spawn(async move {
            let _open = one;
            let service = service_fn(move |request| serve(Arc::clone(&shared), request));
            // A connection that was cut, by either side, is no matter for the fake.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}
