//! The socket to Discord's gateway and what goes over it: one JSON text a frame, without compression. What a frame means is
//! in `session`.

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// The version of the gateway that this speaks.
const VERSION: &str = "v=10&encoding=json";

/// What the gateway says.
#[derive(Debug)]
pub(crate) enum Frame {
    /// Something happened.
    Event {
        /// Its place in the session.
        sequence: u64,
        /// What kind of event.
        name: String,
        /// The event.
        data: Box<RawValue>,
    },
    /// It wants a heartbeat now.
    Beat,
    /// It wants another connection.
    Reconnect,
    /// The session is over, or may be taken up again.
    Invalid {
        /// Whether it may.
        resumable: bool,
    },
    /// The first word.
    Hello {
        /// How far apart heartbeats are.
        every: Duration,
    },
    /// It heard a heartbeat.
    BeatHeard,
    /// Nothing that is known.
    Unknown,
}

/// Why a connection is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    /// Discord closed it with this code, 1005 where it gave none, and these words.
    Closed(u16, String),
    /// It broke, or never stood.
    Broken(String),
}

/// A connection.
pub(crate) struct Gateway {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

#[derive(Deserialize)]
struct Envelope {
    op: u8,
    #[serde(default)]
    s: Option<u64>,
    #[serde(default)]
    t: Option<String>,
    #[serde(default)]
    d: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Hello {
    heartbeat_interval: u64,
}

/// Whether an address can be one of a gateway. The error is a sentence that names the thing and the fix.
pub(crate) fn check(url: &str) -> Result<(), String> {
    if url.starts_with("wss://") || url.starts_with("ws://") {
        return Ok(());
    }
    Err(format!("the Discord gateway `{url}` must begin with wss:// or ws://"))
}

impl Gateway {
    pub(crate) async fn connect(url: &str) -> Result<Self, Gone> {
        let url = format!("{}/?{VERSION}", url.trim_end_matches('/'));
        let (socket, _) = connect_async(url).await.map_err(|error| gone(&error))?;
        Ok(Self { socket })
    }

    /// What comes next. Nothing is lost where nobody waits for it to the end.
    pub(crate) async fn next(&mut self) -> Result<Frame, Gone> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return Ok(read(&text)),
                Some(Ok(Message::Close(frame))) => {
                    let (code, reason) = frame.map_or((1005, String::new()), |frame| {
                        (u16::from(frame.code), frame.reason.as_str().to_owned())
                    });
                    return Err(Gone::Closed(code, reason));
                }
                Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Err(error)) => return Err(gone(&error)),
                None => return Err(Gone::Broken("it ended without a word".to_owned())),
            }
        }
    }

    pub(crate) async fn send(&mut self, op: u8, data: &(impl Serialize + Sync)) -> Result<(), Gone> {
        let text = json!({"op": op, "d": data}).to_string();
        self.socket.send(Message::text(text)).await.map_err(|error| gone(&error))
    }
}

fn gone(error: &Error) -> Gone {
    Gone::Broken(error.to_string())
}

fn read(text: &str) -> Frame {
    let Ok(Envelope { op, s, t, d }) = serde_json::from_str(text) else { return Frame::Unknown };
    match (op, s, t, d) {
        (0, Some(sequence), Some(name), Some(data)) => Frame::Event { sequence, name, data },
        (1, ..) => Frame::Beat,
        (7, ..) => Frame::Reconnect,
        (9, _, _, data) => Frame::Invalid { resumable: data.is_some_and(|data| data.get() == "true") },
        (10, _, _, Some(data)) => match serde_json::from_str::<Hello>(data.get()) {
            Ok(hello) => Frame::Hello { every: Duration::from_millis(hello.heartbeat_interval.max(1)) },
            Err(_) => Frame::Unknown,
        },
        (11, ..) => Frame::BeatHeard,
        _ => Frame::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_is_read_and_what_is_not_known_is_passed_over() {
        let texts = [
            r#"{"op":0,"s":7,"t":"RESUMED","d":{}}"#,
            r#"{"op":1,"d":null}"#,
            r#"{"op":7,"d":null}"#,
            r#"{"op":9,"d":true}"#,
            r#"{"op":9,"d":false}"#,
            r#"{"op":10,"d":{"heartbeat_interval":41250}}"#,
            r#"{"op":11}"#,
            r#"{"op":99}"#,
            "[]",
        ];
        let all: Vec<String> = texts.iter().map(|text| format!("{:?}", read(text))).collect();
        insta::assert_snapshot!(all.join("\n"), @r#"
        Event { sequence: 7, name: "RESUMED", data: RawValue({}) }
        Beat
        Reconnect
        Invalid { resumable: true }
        Invalid { resumable: false }
        Hello { every: 41.25s }
        BeatHeard
        Unknown
        Unknown
        "#);
    }
}
