//! One small JSON request over HTTP on loopback, on a kept connection and on a new one: what a call of a platform costs at
//! least.

use std::convert::Infallible;
use std::hint::black_box;
use std::net::SocketAddr;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use reqwest::Client;
use tokio::net::{TcpListener, TcpStream};

use crate::report;

const ROUNDS: usize = 5_000;
/// New connections use up ports.
const ROUNDS_NEW: usize = 600;
const WARM: usize = 50;

pub(crate) async fn measure() -> anyhow::Result<()> {
    let address = serve().await?;
    let kept = client()?;
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        post(&kept, address).await?;
        took.push(began.elapsed());
    }
    report("reqwest, kept connection", took.split_off(WARM));
    for _ in 0..ROUNDS_NEW {
        let began = Instant::now();
        post(&client()?, address).await?;
        took.push(began.elapsed());
    }
    report("reqwest, a new client each time", took.split_off(WARM));
    hyper_alone(address).await
}

fn client() -> reqwest::Result<Client> {
    Client::builder().no_proxy().tcp_nodelay(true).build()
}

async fn post(client: &Client, address: SocketAddr) -> reqwest::Result<()> {
    let message = serde_json::json!({"chat_id": 1, "text": "ok"});
    let response = client.post(format!("http://{address}/x")).json(&message).send().await?;
    black_box(response.bytes().await?);
    Ok(())
}

async fn hyper_alone(address: SocketAddr) -> anyhow::Result<()> {
    let peer = TcpStream::connect(address).await?;
    peer.set_nodelay(true)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(peer)).await?;
    tokio::spawn(connection);
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let body = Full::new(Bytes::from_static(b"{\"chat_id\":1}"));
        let response = sender.send_request(Request::post("/x").header("host", "x").body(body)?).await?;
        black_box(response.into_body().collect().await?);
        took.push(began.elapsed());
    }
    report("hyper, kept connection", took.split_off(WARM));
    Ok(())
}

async fn serve() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((peer, _)) = listener.accept().await {
            let answer = service_fn(|_| async {
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"{\"ok\":true}"))))
            });
            if peer.set_nodelay(true).is_ok() {
                tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(peer), answer));
            }
        }
    });
    Ok(address)
}
