//! The gateway's bookkeeping: sessions with their numbered events, connections with what is asked of them, what an intent
//! lets through, and resuming. How a connection travels is in `socket`.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

/// Intents by their bits (API reference, "List of Intents").
pub(crate) const GUILDS: u64 = 1;
pub(crate) const GUILD_MESSAGES: u64 = 1 << 9;
pub(crate) const GUILD_MESSAGE_REACTIONS: u64 = 1 << 10;
pub(crate) const DIRECT_MESSAGES: u64 = 1 << 12;
pub(crate) const DIRECT_MESSAGE_REACTIONS: u64 = 1 << 13;
/// The intent without which messages come without their content.
pub const MESSAGE_CONTENT: u64 = 1 << 15;
/// The intent for joining and leaving members.
pub const GUILD_MEMBERS: u64 = 1 << 1;
/// The intent for who is online.
pub const GUILD_PRESENCES: u64 = 1 << 8;
/// Intents that must be granted to an application.
pub(crate) const PRIVILEGED: u64 = MESSAGE_CONTENT | GUILD_MEMBERS | GUILD_PRESENCES;

/// How long an event that is to come late waits for another to overtake it.
const HELD_FOR: Duration = Duration::from_millis(100);
/// As often as Discord asks for a heartbeat.
const HEARTBEAT: Duration = Duration::from_millis(41_250);

/// An event before it is numbered.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    /// The intent that it needs; 0 for none.
    pub(crate) intent: u64,
    pub(crate) body: Value,
    /// The body for a session that may not read what people write.
    pub(crate) veiled: Option<Value>,
}

/// What a connection is told to do from outside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Order {
    /// Sends this text.
    Send(String),
    /// Closes with this code.
    Close(u16, String),
    /// Closes the socket without a word.
    Cut,
    /// Keeps the socket, and never answers any more.
    Silence,
}

#[derive(Debug)]
struct Session {
    id: String,
    intents: u64,
    /// Number of the newest event.
    sequence: u64,
    /// Events that a resume may want again, with their numbers.
    events: VecDeque<(u64, String)>,
    /// How many of them the connection has sent.
    sent: usize,
    connection: Option<u64>,
    held: Option<(Instant, Event, u32)>,
}

#[derive(Debug)]
pub(crate) struct Gateway {
    sessions: Vec<Session>,
    orders: BTreeMap<u64, VecDeque<Order>>,
    made: u64,
    /// Privileged intents that the application was granted.
    pub(crate) granted: u64,
    pub(crate) heartbeat: Duration,
}

impl Default for Gateway {
    fn default() -> Self {
        let (sessions, orders) = (Vec::new(), BTreeMap::new());
        Self { sessions, orders, made: 0, granted: PRIVILEGED, heartbeat: HEARTBEAT }
    }
}

impl Gateway {
    /// A new connection; its number.
    pub(crate) fn connect(&mut self) -> u64 {
        self.made += 1;
        let hello =
            json!({ "op": 10, "d": { "heartbeat_interval": crate::clock::ms(self.heartbeat) }, "s": null, "t": null });
        self.orders.insert(self.made, VecDeque::from([Order::Send(hello.to_string())]));
        self.made
    }

    pub(crate) fn disconnect(&mut self, connection: u64) {
        self.orders.remove(&connection);
        for session in self.sessions.iter_mut().filter(|session| session.connection == Some(connection)) {
            session.connection = None;
        }
        // Only the newest can be resumed: a bot that identified anew forgot the others.
        let newest = self.sessions.last().map(|session| session.id.clone());
        self.sessions.retain(|session| session.connection.is_some() || Some(&session.id) == newest.as_ref());
    }

    /// A new session on this connection; its id. Sessions that no connection holds are forgotten.
    pub(crate) fn identify(&mut self, connection: u64, intents: u64) -> String {
        self.sessions.retain(|session| session.connection.is_some_and(|own| own != connection));
        self.made += 1;
        let id = format!("fake_session_{}", self.made);
        self.sessions.push(Session {
            id: id.clone(),
            intents,
            sequence: 0,
            events: VecDeque::new(),
            sent: 0,
            connection: Some(connection),
            held: None,
        });
        id
    }

    /// Whether this connection goes on with a session from after the event of this number.
    pub(crate) fn resume(&mut self, connection: u64, id: &str, after: u64) -> bool {
        let Some(session) = self.sessions.iter_mut().find(|session| session.id == id) else { return false };
        if after > session.sequence {
            return false;
        }
        session.connection = Some(connection);
        session.events.retain(|(number, _)| *number > after);
        session.sent = 0;
        session.push("RESUMED", &json!({}), 0);
        true
    }

    /// Sends an event to one connection's session only.
    pub(crate) fn tell_one(&mut self, connection: u64, name: &str, body: &Value) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.connection == Some(connection)) {
            session.push(name, body, 0);
        }
    }

    /// Gives the event to every session that may have it, `copies` times more than once, or late.
    pub(crate) fn tell(&mut self, event: &Event, copies: u32, late: bool) {
        let wanting = |session: &&mut Session| event.intent == 0 || session.intents & event.intent != 0;
        for session in self.sessions.iter_mut().filter(wanting) {
            if late && session.held.is_none() {
                session.held = Some((Instant::now() + HELD_FOR, event.clone(), copies));
                continue;
            }
            session.take(event, copies);
            if let Some((_, held, copies)) = session.held.take() {
                session.take(&held, copies);
            }
        }
    }

    /// The next thing for a connection to do, or until when it may wait.
    pub(crate) fn next(&mut self, connection: u64, now: Instant) -> Result<Order, Option<Instant>> {
        if let Some(order) = self.orders.get_mut(&connection).and_then(VecDeque::pop_front) {
            return Ok(order);
        }
        let session = self.sessions.iter_mut().find(|session| session.connection == Some(connection));
        let Some(session) = session else { return Err(None) };
        if let Some((_, event, copies)) = session.held.take_if(|(until, _, _)| *until <= now) {
            session.take(&event, copies);
        }
        let Some((_, text)) = session.events.get(session.sent) else {
            return Err(session.held.as_ref().map(|(until, _, _)| *until));
        };
        session.sent += 1;
        Ok(Order::Send(text.clone()))
    }

    pub(crate) fn order(&mut self, connection: u64, order: Order) {
        if let Some(orders) = self.orders.get_mut(&connection) {
            orders.push_back(order);
        }
    }

    /// The same order for every connection; how many there are.
    pub(crate) fn order_all(&mut self, order: &Order) -> usize {
        self.orders.values_mut().for_each(|orders| orders.push_back(order.clone()));
        self.orders.len()
    }

    pub(crate) fn forget_sessions(&mut self) {
        self.sessions.clear();
    }

    /// The newest session that a connection holds.
    pub(crate) fn session(&self) -> Option<&str> {
        let held = self.sessions.iter().rev().find(|session| session.connection.is_some());
        held.map(|session| session.id.as_str())
    }

    /// Sessions that a connection holds.
    pub(crate) fn listening(&self) -> usize {
        self.sessions.iter().filter(|session| session.connection.is_some()).count()
    }

    /// Events that no connection has sent yet.
    pub(crate) fn waiting(&self) -> usize {
        let waiting = |session: &Session| session.events.len() - session.sent + usize::from(session.held.is_some());
        self.sessions.iter().map(waiting).sum()
    }
}

impl Session {
    fn take(&mut self, event: &Event, copies: u32) {
        let may_read = self.intents & MESSAGE_CONTENT != 0;
        let body = event.veiled.as_ref().filter(|_| !may_read).unwrap_or(&event.body);
        self.push(event.name, body, copies);
    }

    fn push(&mut self, name: &str, body: &Value, copies: u32) {
        self.sequence += 1;
        let text = json!({ "op": 0, "t": name, "s": self.sequence, "d": body }).to_string();
        for _ in 0..=copies {
            self.events.push_back((self.sequence, text.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &'static str, intent: u64) -> Event {
        Event { name, intent, body: json!({ "content": "x" }), veiled: Some(json!({ "content": "" })) }
    }

    /// (number, name) of everything that is sent next.
    fn sent(gateway: &mut Gateway, connection: u64, now: Instant) -> Vec<(u64, String)> {
        let mut seen = Vec::new();
        while let Ok(Order::Send(text)) = gateway.next(connection, now) {
            let event: Value = serde_json::from_str(&text).expect("it is JSON");
            seen.push((event["s"].as_u64().unwrap_or(0), event["t"].as_str().unwrap_or("HELLO").to_owned()));
        }
        seen
    }

    fn names(seen: &[(u64, String)]) -> Vec<&str> {
        seen.iter().map(|(_, name)| name.as_str()).collect()
    }

    #[tokio::test]
    async fn a_resume_gets_what_came_after_the_number_it_names() {
        let (mut gateway, now) = (Gateway::default(), Instant::now());
        let first = gateway.connect();
        let session = gateway.identify(first, GUILD_MESSAGES);
        for name in ["A", "B"] {
            gateway.tell(&event(name, GUILD_MESSAGES), 0, false);
        }
        gateway.tell(&event("UNWANTED", DIRECT_MESSAGES), 0, false);
        assert_eq!(names(&sent(&mut gateway, first, now)), ["HELLO", "A", "B"]);
        gateway.disconnect(first);
        gateway.tell(&event("C", GUILD_MESSAGES), 0, false);
        let second = gateway.connect();
        assert!(!gateway.resume(second, "other", 0) && !gateway.resume(second, &session, 9));
        assert!(gateway.resume(second, &session, 1));
        let seen = sent(&mut gateway, second, now);
        assert_eq!(names(&seen), ["HELLO", "B", "C", "RESUMED"]);
        assert_eq!(seen[1].0, 2, "with the number it had");
    }

    #[tokio::test]
    async fn a_late_event_comes_after_the_next_one_or_alone_when_none_comes() {
        let (mut gateway, now) = (Gateway::default(), Instant::now());
        let connection = gateway.connect();
        gateway.identify(connection, GUILD_MESSAGES);
        gateway.tell(&event("A", GUILD_MESSAGES), 0, true);
        gateway.tell(&event("B", GUILD_MESSAGES), 1, false);
        gateway.tell(&event("C", GUILD_MESSAGES), 0, true);
        let seen = sent(&mut gateway, connection, now);
        assert_eq!(names(&seen), ["HELLO", "B", "B", "A"]);
        assert_eq!((seen[1].0, seen[2].0, seen[3].0), (1, 1, 2));
        assert_eq!(names(&sent(&mut gateway, connection, now + HELD_FOR * 2)), ["C"]);
    }
}
