//! The people: what they can do, each with a device of their own. They accept every invitation.

use serde_json::{Value, json};

use crate::server::{NAME, Synapse};

/// Somebody on the homeserver, at one of their devices.
#[derive(Clone)]
pub struct Person {
    synapse: Synapse,
    /// How the program calls this device.
    by: String,
    user: String,
    device: String,
}

/// A room that is to be made.
#[derive(Clone, Debug)]
pub struct Room {
    name: Option<String>,
    encrypted: bool,
    direct: bool,
    invite: Vec<String>,
}

impl Room {
    /// A closed room, with whoever makes it alone in it.
    pub fn new(name: &str) -> Self {
        Self { name: Some(name.to_owned()), encrypted: false, direct: false, invite: Vec::new() }
    }

    /// A room of two.
    pub const fn direct() -> Self {
        Self { name: None, encrypted: false, direct: true, invite: Vec::new() }
    }

    /// With encryption.
    #[must_use]
    pub fn encrypted(self) -> Self {
        Self { encrypted: true, ..self }
    }

    /// With this account invited, too.
    #[must_use]
    pub fn with(mut self, user: &str) -> Self {
        self.invite.push(user.to_owned());
        self
    }
}

/// Something to say.
#[derive(Clone, Debug)]
pub struct Say(Value);

impl Say {
    /// A text.
    pub fn new(body: &str) -> Self {
        Self(json!({ "msgtype": "m.text", "body": body, "m.mentions": {} }))
    }

    /// As bots write.
    #[must_use]
    pub fn notice(mut self) -> Self {
        self.0["msgtype"] = json!("m.notice");
        self
    }

    /// With a mention of this account, as clients write one: a pill, and the id beside it.
    #[must_use]
    pub fn to(mut self, user: &str) -> Self {
        let body = self.0["body"].as_str().unwrap_or_default().to_owned();
        let escaped = body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.0["body"] = json!(format!("{user}: {body}"));
        self.0["format"] = json!("org.matrix.custom.html");
        self.0["formatted_body"] = json!(format!("<a href=\"https://matrix.to/#/{user}\">{user}</a>: {escaped}"));
        self.0["m.mentions"] = json!({ "user_ids": [user] });
        self
    }

    /// In answer to a message.
    #[must_use]
    pub fn reply_to(mut self, event: &str) -> Self {
        self.0["m.relates_to"]["m.in_reply_to"] = json!({ "event_id": event });
        if self.0["m.relates_to"]["rel_type"] == "m.thread" {
            self.0["m.relates_to"]["is_falling_back"] = json!(false);
        }
        self
    }

    /// In a thread.
    #[must_use]
    pub fn in_thread(mut self, root: &str) -> Self {
        let before = self.0["m.relates_to"]["m.in_reply_to"].take();
        let falls_back = before.is_null();
        let before = if falls_back { json!({ "event_id": root }) } else { before };
        self.0["m.relates_to"] = json!({
            "rel_type": "m.thread", "event_id": root, "is_falling_back": falls_back, "m.in_reply_to": before,
        });
        self
    }

    /// In the place of a message of one's own.
    #[must_use]
    pub fn instead_of(self, event: &str) -> Self {
        let body = format!("* {}", self.0["body"].as_str().unwrap_or_default());
        let relation = json!({ "rel_type": "m.replace", "event_id": event });
        Self(json!({ "msgtype": "m.text", "body": body, "m.new_content": self.0, "m.relates_to": relation }))
    }
}

/// A comparison of keys that has begun.
#[derive(Clone, Debug)]
pub struct Comparison {
    flow: String,
    /// The names of the emoji that the person sees.
    pub emoji: Vec<String>,
}

impl Synapse {
    /// An account for a bot to log in to; in full.
    pub fn account(&self, name: &str, password: &str) -> String {
        let answer = self.front().ask(json!({ "do": "account", "name": name, "password": password }));
        text(&answer, "user")
    }

    /// Somebody new, with a device that encrypts.
    pub fn person(&self, name: &str) -> Person {
        let answer = self.front().ask(json!({ "do": "person", "name": name }));
        let user = text(&answer, "user");
        Person { synapse: self.clone(), by: user.clone(), user, device: text(&answer, "device") }
    }

    /// What an account of this name is called in full.
    pub fn id_of(&self, name: &str) -> String {
        format!("@{name}:{NAME}")
    }
}

impl Person {
    /// The account, in full.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The device's id.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// The same person at one more device.
    #[must_use]
    pub fn another_device(&self) -> Self {
        let key = format!("{} beside {}", self.user, self.by);
        let answer = self.ask(json!({ "do": "device", "key": key, "of": self.user }));
        Self { by: key, device: text(&answer, "device"), ..self.clone() }
    }

    /// Changes the display name.
    pub fn is_called(&self, name: &str) {
        self.ask(json!({ "do": "display", "display": name }));
    }

    /// Makes a room. People join by themselves, before long; see [`Person::joined`].
    pub fn room(&self, room: &Room) -> String {
        let Room { name, encrypted, direct, invite } = room;
        let request = json!({ "do": "room", "name": name, "encrypted": encrypted, "direct": direct, "invite": invite });
        text(&self.ask(request), "room")
    }

    /// Blocks until all of them are in the room, as everybody there sees it.
    pub fn joined(&self, room: &str, users: &[&str]) {
        self.ask(json!({ "do": "joined", "room": room, "users": users }));
    }

    /// Invites one more.
    pub fn invite(&self, room: &str, user: &str) {
        self.ask(json!({ "do": "invite", "room": room, "user": user }));
    }

    /// Leaves a room.
    pub fn leave(&self, room: &str) {
        self.ask(json!({ "do": "leave", "room": room }));
    }

    /// Gives somebody so much power in a room.
    pub fn give_power(&self, room: &str, user: &str, level: i64) {
        self.ask(json!({ "do": "power", "room": room, "user": user, "level": level }));
    }

    /// Sets a state of a room.
    pub fn set_state(&self, room: &str, kind: &str, content: &Value) -> String {
        text(&self.ask(json!({ "do": "state", "room": room, "kind": kind, "content": content })), "event")
    }

    /// Says something, encrypted where the room is. The event.
    pub fn say(&self, room: &str, say: &Say) -> String {
        self.send(room, "m.room.message", &say.0)
    }

    /// Says something in the clear, also where the room is encrypted. The event.
    pub fn say_in_the_clear(&self, room: &str, say: &Say) -> String {
        let request = json!({ "do": "send_in_the_clear", "room": room, "kind": "m.room.message", "content": say.0 });
        text(&self.ask(request), "event")
    }

    /// Says something under a key that nobody is given. The event.
    pub fn say_unreadably(&self, room: &str, body: &str) -> String {
        text(&self.ask(json!({ "do": "send_unreadable", "room": room, "body": body })), "event")
    }

    /// Sends any event, encrypted where the room is. The event.
    pub fn send(&self, room: &str, kind: &str, content: &Value) -> String {
        text(&self.ask(json!({ "do": "send", "room": room, "kind": kind, "content": content })), "event")
    }

    /// Reacts to a message. The reaction.
    pub fn react(&self, room: &str, event: &str, key: &str) -> String {
        let relation = json!({ "rel_type": "m.annotation", "event_id": event, "key": key });
        self.send(room, "m.reaction", &json!({ "m.relates_to": relation }))
    }

    /// Deletes an event. The redaction.
    pub fn delete(&self, room: &str, event: &str) -> String {
        text(&self.ask(json!({ "do": "redact", "room": room, "event": event })), "event")
    }

    /// Begins to compare keys with the only device of an account. Blocks until there is something to compare.
    pub fn compare(&self, user: &str) -> Comparison {
        let answer = self.ask(json!({ "do": "compare", "user": user }));
        let emoji = answer["emoji"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Comparison { flow: text(&answer, "flow"), emoji: emoji.map(str::to_owned).collect() }
    }

    /// Says that both sides see the same.
    pub fn confirm(&self, comparison: &Comparison) {
        self.ask(json!({ "do": "confirm", "flow": comparison.flow }));
    }

    /// Blocks until the other side has said so, too.
    pub fn compared(&self, comparison: &Comparison) {
        self.ask(json!({ "do": "compared", "flow": comparison.flow }));
    }

    fn ask(&self, mut request: Value) -> Value {
        request["by"] = json!(self.by);
        self.synapse.front().ask(request)
    }
}

fn text(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap_or_default().to_owned()
}
