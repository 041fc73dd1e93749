//! From one task to another and back: what a queue between two rooms of a program costs.

use std::hint::black_box;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

use crate::report;

const ROUNDS: u64 = 20_000;

pub(crate) async fn measure() -> anyhow::Result<()> {
    queue().await?;
    spawn().await?;
    tcp().await
}

async fn queue() -> anyhow::Result<()> {
    let (send, mut received) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(64);
    tokio::spawn(async move {
        while let Some((number, answer)) = received.recv().await {
            // Whoever asked waits for it.
            let _ = answer.send(number + 1);
        }
    });
    let mut took = Vec::new();
    for number in 0..ROUNDS {
        let began = Instant::now();
        let (answer, answered) = oneshot::channel();
        send.send((number, answer)).await?;
        black_box(answered.await?);
        took.push(began.elapsed());
    }
    report("mpsc there, oneshot back", took);
    Ok(())
}

async fn spawn() -> anyhow::Result<()> {
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        tokio::spawn(async { black_box(1) }).await?;
        took.push(began.elapsed());
    }
    report("spawn and join", took);
    Ok(())
}

async fn tcp() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        let (mut peer, _) = listener.accept().await?;
        peer.set_nodelay(true)?;
        let mut bytes = [0_u8; 64];
        // Until the other side closes.
        while peer.read_exact(&mut bytes).await.is_ok() {
            peer.write_all(&bytes).await?;
        }
        Ok::<(), std::io::Error>(())
    });
    let mut peer = TcpStream::connect(address).await?;
    peer.set_nodelay(true)?;
    let (mut bytes, mut took) = ([0_u8; 64], Vec::new());
    for _ in 0..ROUNDS / 2 {
        let began = Instant::now();
        peer.write_all(&bytes).await?;
        peer.read_exact(&mut bytes).await?;
        took.push(began.elapsed());
    }
    report("64 bytes over TCP on loopback and back", took);
    Ok(())
}
