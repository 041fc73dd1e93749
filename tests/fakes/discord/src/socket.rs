//! One connection to the gateway: what the bot says on it, and what it is sent. The bookkeeping is in `gateway`.

use std::sync::Arc;

use futures::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::gateway::{GUILDS, Order, PRIVILEGED};
use crate::http::TOKEN;
use crate::log::Outcome;
use crate::state::{Shared, State};
use crate::{BOT, json};

/// Every bit that means something as an intent.
const INTENTS: u64 = (1 << 26) - 1;

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Takes the connection out of the books however its task ends.
struct Entry {
    shared: Arc<Shared>,
    connection: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.shared.change(|state| state.gateway.disconnect(self.connection));
    }
}

/// Serves one connection until either side ends it.
pub(crate) async fn serve(shared: Arc<Shared>, upgraded: Upgraded) {
    let mut socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
    let connection = shared.change(|state| state.gateway.connect());
    let entry = Entry { shared, connection };
    let mut bell = entry.shared.bell();
    loop {
        bell.mark_unchanged();
        let next = entry.shared.look().gateway.next(connection, Instant::now());
        let until = match next {
            Ok(order) => {
                let sent = if let Order::Send(text) = &order { Some(text.clone()) } else { None };
                match perform(&mut socket, order).await {
                    Ok(true) => {
                        // Whoever waits for the events to be sent looks again.
                        entry.shared.change(|state| sent.iter().for_each(|text| state.note_event(text)));
                        continue;
                    }
                    Ok(false) | Err(_) => return,
                }
            }
            Err(until) => until,
        };
        tokio::select! {
            said = socket.next() => match said {
                Some(Ok(Message::Text(text))) => hear(&entry, &text),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
            // Whether the bell rang or the time came, the next look tells.
            _ = bell.changed() => {}
            () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {}
        }
    }
}

/// Whether the connection goes on.
async fn perform(socket: &mut Socket, order: Order) -> Result<bool, Error> {
    match order {
        Order::Send(text) => socket.send(Message::text(text)).await.map(|()| true),
        Order::Close(code, reason) => {
            let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
            socket.close(Some(frame)).await?;
            // The other side answers the close; until then, the socket must stay.
            while socket.next().await.is_some_and(|said| said.is_ok()) {}
            Ok(false)
        }
        Order::Cut => Ok(false),
        Order::Silence => {
            while is_open(socket.get_mut()).await {}
            Ok(false)
        }
    }
}

/// Reads without answering: what tungstenite would answer by itself (a close, a ping) stays unanswered, too.
async fn is_open(wire: &mut TokioIo<Upgraded>) -> bool {
    wire.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0)
}

fn hear(entry: &Entry, text: &str) {
    let said: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    entry.shared.change(|state| {
        let end = match said["op"].as_u64() {
            Some(1) => {
                let ack = json!({ "op": 11, "d": null, "s": null, "t": null }).to_string();
                state.gateway.order(entry.connection, Order::Send(ack));
                None
            }
            Some(2) => identify(state, entry.connection, &said["d"]),
            Some(3 | 4 | 8 | 31) => None,
            Some(6) => resume(state, entry.connection, &said["d"]),
            Some(_) => Some((4001, "Unknown opcode.")),
            None => Some((4002, "Error while decoding payload.")),
        };
        if let Some((code, reason)) = end {
            state.gateway.order(entry.connection, Order::Close(code, reason.to_owned()));
        }
    });
}

/// The code and the words to close with, where it is refused.
type End = Option<(u16, &'static str)>;

/// Discord takes a token with or without its prefix.
fn known(token: &Value) -> bool {
    token.as_str().is_some_and(|token| token.strip_prefix("Bot ").unwrap_or(token) == TOKEN)
}

fn noted(state: &mut State, method: &str, asked: &Value, end: End) -> End {
    let mut shown = asked.clone();
    shown["token"] = json!("(not shown)");
    let sequence = state.note(method, None, shown);
    let outcome = match end {
        None => Outcome::Done(Value::Null),
        Some((status, message)) => Outcome::Refused { status, code: None, message: message.to_owned() },
    };
    state.note_outcome(sequence, outcome);
    end
}

fn identify(state: &mut State, connection: u64, asked: &Value) -> End {
    let Some(intents) = asked["intents"].as_u64() else {
        return noted(state, "identify", asked, Some((4002, "Error while decoding payload.")));
    };
    let end = if !known(&asked["token"]) {
        Some((4004, "Authentication failed."))
    } else if intents & !INTENTS != 0 {
        Some((4013, "Invalid intent(s)."))
    } else if intents & PRIVILEGED & !state.gateway.granted != 0 {
        Some((4014, "Disallowed intent(s)."))
    } else {
        None
    };
    if end.is_none() {
        let session = state.gateway.identify(connection, intents);
        welcome(state, connection, &session, intents, &asked["shard"]);
    }
    noted(state, "identify", asked, end)
}

/// `READY`, and then each server.
fn welcome(state: &mut State, connection: u64, session: &str, intents: u64, shard: &Value) {
    let unavailable = |id: &u64| json!({ "id": id.to_string(), "unavailable": true });
    let mut bot = json::user_of(state, BOT);
    bot["verified"] = json!(true);
    bot["mfa_enabled"] = json!(false);
    bot["email"] = Value::Null;
    let ready = json!({
        "v": 10,
        "user": bot,
        "guilds": state.guilds.keys().map(unavailable).collect::<Vec<_>>(),
        "session_id": session,
        "session_type": "normal",
        "resume_gateway_url": state.gateway_url,
        "shard": if shard.is_null() { json!([0, 1]) } else { shard.clone() },
        "application": { "id": BOT.to_string(), "flags": state.application_flags() },
        "private_channels": [],
        "relationships": [],
        "presences": [],
        "user_settings": {},
    });
    state.gateway.tell_one(connection, "READY", &ready);
    if intents & GUILDS != 0 {
        let guilds: Vec<Value> = state.guilds.values().map(|guild| json::guild_create(state, guild)).collect();
        for guild in guilds {
            state.gateway.tell_one(connection, "GUILD_CREATE", &guild);
        }
    }
}

fn resume(state: &mut State, connection: u64, asked: &Value) -> End {
    let session = asked["session_id"].as_str().unwrap_or_default().to_owned();
    let after = asked["seq"].as_u64().unwrap_or(0);
    if !known(&asked["token"]) {
        return noted(state, "resume", asked, Some((4004, "Authentication failed.")));
    }
    if state.gateway.resume(connection, &session, after) {
        return noted(state, "resume", asked, None);
    }
    let invalid = json!({ "op": 9, "d": false, "s": null, "t": null }).to_string();
    state.gateway.order(connection, Order::Send(invalid));
    // The connection stays: the bot may identify on it.
    noted(state, "resume", asked, Some((9, "Invalid session."))).and(None)
}
