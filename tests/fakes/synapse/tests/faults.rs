//! What goes wrong at the gate.

use countersign_synapse::{Fault, Gate, Synapse};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const PATH: &str = "/_matrix/client/versions";

/// Asks for the versions; everything that is answered.
async fn ask(gate: &Gate) -> String {
    ask_for(gate, PATH).await
}

async fn ask_for(gate: &Gate, path: &str) -> String {
    let mut stream = TcpStream::connect(gate.url().trim_start_matches("http://")).await.expect("the gate is open");
    let asked = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).await.expect("it hears");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it ends");
    answer
}

#[tokio::test]
async fn a_gate_passes_on_and_goes_wrong_as_it_is_told() {
    let gate = Synapse::shared().gate();
    assert!(ask(&gate).await.starts_with("HTTP/1.1 200 OK"));
    gate.fault(Fault::too_many(1500).on("versions").times(1));
    gate.fault(Fault::broken(502).on("versions").times(1));
    gate.fault(Fault::lost_reply().on("versions").times(1));
    gate.fault(Fault::broken(500).on("elsewhere"));
    let refused = ask(&gate).await;
    assert!(refused.starts_with("HTTP/1.1 429") && refused.ends_with("\"retry_after_ms\":1500}"), "{refused}");
    assert!(ask(&gate).await.starts_with("HTTP/1.1 502"));
    assert_eq!(ask(&gate).await, "", "it was done, and nobody heard of it");
    assert!(ask(&gate).await.starts_with("HTTP/1.1 200 OK"));
    let statuses: Vec<Option<u16>> = gate.calls().iter().map(|call| call.status).collect();
    assert_eq!(statuses, [Some(200), Some(429), Some(502), None, Some(200)]);
    gate.wait_for_since(4, |call| call.method == "GET" && call.path == PATH).await;
}

#[tokio::test]
async fn a_call_is_held_until_the_faults_are_cleared_and_a_token_may_end() {
    let gate = Synapse::shared().gate();
    gate.fault(Fault::logged_out().on("versions").times(1));
    let refused = ask(&gate).await;
    assert!(refused.starts_with("HTTP/1.1 401") && refused.ends_with("\"soft_logout\":true}"), "{refused}");
    gate.fault(Fault::held().on("versions"));
    let mut held = std::pin::pin!(ask(&gate));
    let other = gate.wait_for(|call| call.path == "/elsewhere");
    tokio::select! {
        answer = &mut held => panic!("it is held: {answer}"),
        () = async { drop(tokio::join!(other, ask_for(&gate, "/elsewhere"))) } => {}
    }
    assert_eq!(gate.count(), 2, "the one that is held has not ended");
    gate.clear_faults();
    assert!(held.await.starts_with("HTTP/1.1 200 OK"));
}
