//! What people's clients have shown them: events as they came, decrypted where that was possible, once each.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

/// An event of a room.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Its id.
    pub event: String,
    /// The room's.
    pub room: String,
    /// Whose it is, in full.
    pub sender: String,
    /// `m.room.message`, `m.reaction`, ...: what was encrypted as what it is, if somebody could read it.
    pub kind: String,
    /// What it says.
    pub content: Value,
    /// Whether it was encrypted on its way.
    pub encrypted: bool,
    /// Whether anybody could read it.
    pub readable: bool,
    /// The event that it redacts.
    pub redacts: Option<String>,
    /// Whether it was redacted before anybody had seen what it said.
    pub emptied: bool,
}

impl Seen {
    pub(crate) fn read(told: &Value) -> Option<Self> {
        let event = told.get("event")?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let redacts = text(&event["redacts"]).or_else(|| text(&event["content"]["redacts"]));
        Some(Self {
            event: text(&event["event_id"])?,
            room: text(told.get("room")?)?,
            sender: text(&event["sender"])?,
            kind: text(&event["type"])?,
            content: event["content"].clone(),
            encrypted: told["encrypted"].as_bool()?,
            readable: told["readable"].as_bool()?,
            redacts: redacts.filter(|_| event["type"] == "m.room.redaction"),
            emptied: event["unsigned"]["redacted_because"].is_object(),
        })
    }

    /// The plain text; empty where there is none.
    pub fn body(&self) -> &str {
        self.content["body"].as_str().unwrap_or_default()
    }

    /// The kind of message, `m.text`; empty where it is none.
    pub fn message_type(&self) -> &str {
        self.content["msgtype"].as_str().unwrap_or_default()
    }

    /// Whether it is a message of its own: no edit of one, and nothing that was deleted before it was seen.
    pub fn is_message(&self) -> bool {
        self.kind == "m.room.message" && self.edits().is_none() && !self.message_type().is_empty()
    }

    fn related(&self, how: &str) -> Option<&str> {
        let relation = &self.content["m.relates_to"];
        (relation["rel_type"] == how).then(|| relation["event_id"].as_str())?
    }

    /// The message in whose place it shows another.
    pub fn edits(&self) -> Option<&str> {
        self.related("m.replace")
    }

    /// The message from which its thread hangs.
    pub fn thread(&self) -> Option<&str> {
        self.related("m.thread")
    }

    /// The message that it reacts to, and with what.
    pub fn reaction(&self) -> Option<(&str, &str)> {
        let key = self.content["m.relates_to"]["key"].as_str()?;
        self.related("m.annotation").map(|event| (event, key))
    }

    /// The message that it replies to, also where that only stands in for a thread.
    pub fn reply_to(&self) -> Option<&str> {
        self.content["m.relates_to"]["m.in_reply_to"]["event_id"].as_str()
    }
}

/// Everything that was seen, in the order in which it was seen first.
#[derive(Default)]
pub(crate) struct Timeline {
    events: Vec<Arc<Seen>>,
    /// Where each is, by its id.
    places: HashMap<String, usize>,
    /// Which are in a room, by its id.
    rooms: HashMap<String, Vec<usize>>,
}

impl Timeline {
    /// Several people see the same; who can read it counts.
    pub(crate) fn add(&mut self, seen: Seen) {
        if let Some(known) = self.places.get(&seen.event).and_then(|at| self.events.get_mut(*at)) {
            if !known.readable && seen.readable {
                *known = Arc::new(seen);
            }
            return;
        }
        let at = self.events.len();
        self.places.insert(seen.event.clone(), at);
        self.rooms.entry(seen.room.clone()).or_default().push(at);
        self.events.push(Arc::new(seen));
    }

    pub(crate) fn of(&self, room: &str) -> Vec<Arc<Seen>> {
        let places = self.rooms.get(room).into_iter().flatten();
        places.filter_map(|at| self.events.get(*at).cloned()).collect()
    }

    /// The number of an event, from 1.
    pub(crate) fn number(&self, event: &str) -> Option<i64> {
        i64::try_from(*self.places.get(event)?).ok().map(|at| at + 1)
    }

    pub(crate) fn numbered(&self, number: i64) -> Option<&Seen> {
        self.events.get(usize::try_from(number).ok()?.checked_sub(1)?).map(Arc::as_ref)
    }
}

/// What a message of these says now, after its edits; none where it was deleted or never seen.
pub fn shown_now(events: &[Arc<Seen>], event: &str) -> Option<Seen> {
    if events.iter().any(|seen| seen.redacts.as_deref() == Some(event)) {
        return None;
    }
    let message = events.iter().find(|seen| seen.event == event)?;
    let edit = events.iter().rev().find(|seen| seen.edits() == Some(event) && seen.sender == message.sender);
    let new = edit.map(|edit| edit.content["m.new_content"].clone()).filter(|new| !new.is_null());
    let mut shown = message.as_ref().clone();
    if let Some(mut new) = new {
        new["m.relates_to"] = message.content["m.relates_to"].clone();
        shown.content = new;
    }
    Some(shown)
}
