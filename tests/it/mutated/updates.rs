//! Updates as Telegram could send them, from whomever, about whatever, and changed in ways in which it would not: fields
//! that are missing, of another type, out of range, deep or long.

use serde_json::{Map, Value, json};

use super::chance::Chance;
use super::seeds::Seeds;
use crate::support::telegram::{ANN, BOB, CAROL, EVE};

/// Who writes: two known people of each right, and a stranger.
pub(super) const PEOPLE: [i64; 4] = [ANN, BOB, CAROL, EVE];

/// A group that is nowhere.
const NOWHERE: i64 = -1_001_999_999;

/// Makes updates.
pub(super) struct Updates<'a> {
    seeds: &'a Seeds,
    bot: &'a str,
    /// Where people write, beside their private rooms.
    groups: &'a [i64],
    /// Rises with each message.
    message: i64,
    /// Buttons that stand in a room: the room, the message, and what the button carries.
    pub(super) buttons: Vec<(i64, i64, String)>,
}

impl<'a> Updates<'a> {
    /// For the bot of this name, in these groups.
    pub(super) const fn new(seeds: &'a Seeds, bot: &'a str, groups: &'a [i64]) -> Self {
        Self { seeds, bot, groups, message: 1_000_000, buttons: Vec::new() }
    }

    /// One update, without its number.
    pub(super) fn next(&mut self, chance: &mut Chance) -> Value {
        let mut update = match chance.below(20) {
            0..12 => json!({ "message": self.message(chance) }),
            12 => json!({ "edited_message": self.edited(chance) }),
            13 | 14 => json!({ "callback_query": self.press(chance) }),
            15 => json!({ "message_reaction": self.reaction(chance) }),
            16 => json!({ "inline_query": self.inline(chance) }),
            17 => json!({ "message": self.service(chance) }),
            18 => json!({ "my_chat_member": self.membership(chance) }),
            _ => self.unknown(chance),
        };
        let changes = [0, 0, 0, 0, 0, 0, 1, 2, 3][chance.index(9)];
        for _ in 0..changes {
            self.change(&mut update, chance);
        }
        // It keeps its number, so that it can be confirmed.
        if update.is_object() { update } else { json!({ "made_up": update }) }
    }

    fn message(&mut self, chance: &mut Chance) -> Value {
        let mut message = self.plain(chance);
        let text = self.addressed(&mut message, chance);
        match chance.below(12) {
            0 => {
                message["caption"] = json!(text);
                let file = json!({"file_id": "f", "file_unique_id": "u", "file_size": 1_u64 << chance.below(63)});
                let (kind, more) = [("document", json!({"file_name": text})), ("sticker", json!({"emoji": "x"}))]
                    [chance.index(2)]
                .clone();
                message[kind] = merged(file, more);
            }
            1 => {
                message["caption"] = json!(text);
                let photo = json!({"file_id": "f", "file_unique_id": "u", "width": -1, "height": 1, "file_size": 1});
                message["photo"] = json!(vec![photo; chance.index(50)]);
            }
            2 => {
                message["text"] = json!(text);
                message["reply_to_message"] = self.nested(chance.index(40), chance);
            }
            3 => {
                message["text"] = json!(text);
                let origin = json!({"type": "hidden_user", "sender_user_name": "x", "date": 1});
                message["forward_origin"] = origin;
            }
            _ => message["text"] = json!(text),
        }
        message
    }

    /// A text that addresses the bot, with the entities that say so and others that say anything.
    fn addressed(&self, message: &mut Value, chance: &mut Chance) -> String {
        let mut text = self.seeds.text(chance);
        let mut entities = Vec::new();
        if message["chat"]["type"] != "private" && !chance.once_in(10) {
            text = format!("@{} {text}", self.bot);
            entities.push(json!({"type": "mention", "offset": 0, "length": self.bot.len() + 1}));
        } else if chance.once_in(10) {
            let command = text.split(' ').next().unwrap_or_default().len();
            text = format!("/{text}");
            entities.push(json!({"type": "bot_command", "offset": 0, "length": command + 1}));
        }
        let most = [1, 1, 1, 1, 1, 1, 1, 3, 30, 3_000][chance.index(10)];
        let odd = chance.index(most);
        for _ in 0..odd {
            let kind = chance.pick(&["mention", "bold", "text_mention", "bot_command", "pre", "made_up", "url"]);
            let (offset, length) = (self.number(chance), self.number(chance));
            let user = json!({"id": 1, "is_bot": false, "first_name": "x"});
            entities.push(json!({"type": kind, "offset": offset, "length": length, "user": user}));
        }
        if !entities.is_empty() {
            message["entities"] = json!(entities);
        }
        text
    }

    fn plain(&mut self, chance: &mut Chance) -> Value {
        self.message += 1;
        let who = PEOPLE[chance.index(PEOPLE.len())];
        let chat = self.chat(who, chance);
        let mut message = json!({"message_id": self.message, "date": 1_700_000_000, "chat": chat, "from": person(who)});
        if chance.once_in(12) {
            message["message_thread_id"] = json!(chance.below(5));
            message["is_topic_message"] = json!(true);
        }
        message
    }

    fn chat(&self, who: i64, chance: &mut Chance) -> Value {
        if chance.once_in(3) {
            return json!({"id": who, "type": "private", "first_name": "Someone"});
        }
        json!({"id": self.groups[chance.index(self.groups.len())], "type": "supergroup", "title": "a group"})
    }

    /// A message that answers another, that answers another, and so on.
    fn nested(&mut self, levels: usize, chance: &mut Chance) -> Value {
        let mut nested = self.plain(chance);
        nested["text"] = json!("x");
        for _ in 0..levels {
            let mut outer = self.plain(chance);
            outer["text"] = json!("x");
            outer["reply_to_message"] = nested;
            nested = outer;
        }
        nested
    }

    fn edited(&mut self, chance: &mut Chance) -> Value {
        let mut message = self.message(chance);
        message["message_id"] = json!(self.message - i64::try_from(chance.below(50)).expect("it is small"));
        message["edit_date"] = json!(1_700_000_001);
        message
    }

    fn press(&mut self, chance: &mut Chance) -> Value {
        let who = PEOPLE[chance.index(PEOPLE.len())];
        self.message += 1;
        if !self.buttons.is_empty() && !chance.once_in(3) {
            let (room, message, data) = self.buttons[chance.index(self.buttons.len())].clone();
            let chat = json!({"id": room, "type": "supergroup", "title": "a group"});
            let message = json!({"message_id": message, "date": 1_700_000_000, "chat": chat, "text": "x"});
            let id = self.message.to_string();
            return json!({"id": id, "from": person(who), "message": message, "chat_instance": "1", "data": data});
        }
        let forged = format!("{:032x}:{}", chance.below(u64::MAX), chance.below(4));
        let data = match chance.below(4) {
            0 => self.seeds.text(chance),
            1 => "0:".repeat(1 + chance.index(10_000)),
            _ => forged,
        };
        json!({"id": self.message.to_string(), "from": person(who), "message": self.plain(chance), "chat_instance": "1",
            "data": data})
    }

    fn reaction(&mut self, chance: &mut Chance) -> Value {
        let who = PEOPLE[chance.index(PEOPLE.len())];
        let emoji = chance.pick(&["👍", "👎", "❤", "x"]);
        let new = vec![json!({"type": "emoji", "emoji": emoji}); chance.index(100)];
        let message = self.message - i64::try_from(chance.below(50)).expect("it is small");
        json!({"chat": self.chat(who, chance), "message_id": message, "user": person(who), "date": 1,
            "old_reaction": [], "new_reaction": new})
    }

    fn inline(&mut self, chance: &mut Chance) -> Value {
        self.message += 1;
        let who = PEOPLE[chance.index(PEOPLE.len())];
        json!({"id": self.message.to_string(), "from": person(who), "query": self.seeds.text(chance), "offset": ""})
    }

    fn service(&mut self, chance: &mut Chance) -> Value {
        let mut message = self.plain(chance);
        let (kind, what) = [
            ("new_chat_members", json!([person(EVE), person(BOB)])),
            ("left_chat_member", person(EVE)),
            ("migrate_to_chat_id", json!(NOWHERE)),
            ("migrate_from_chat_id", json!(NOWHERE)),
            ("location", json!({"latitude": 91.0, "longitude": -1e300})),
            ("contact", json!({"phone_number": "1", "first_name": "x"})),
            ("poll", json!({"id": "1", "question": "x", "options": []})),
            ("dice", json!({"emoji": "🎲", "value": 7})),
            (
                "pinned_message",
                json!({"message_id": 1, "date": 0, "chat": {"id": NOWHERE, "type": "supergroup", "title": "x"}}),
            ),
            ("new_chat_title", json!("x".repeat(10_000))),
            ("successful_payment", json!({})),
            ("web_app_data", json!({"data": "x", "button_text": "x"})),
        ][chance.index(12)]
        .clone();
        message[kind] = what;
        message
    }

    fn membership(&mut self, chance: &mut Chance) -> Value {
        let who = PEOPLE[chance.index(PEOPLE.len())];
        let status = chance.pick(&["member", "administrator", "kicked", "left", "made_up"]);
        let member = json!({"user": {"id": 1, "is_bot": true, "first_name": "x"}, "status": status, "until_date": 0});
        json!({"chat": self.chat(who, chance), "from": person(who), "date": 1, "old_chat_member": member,
            "new_chat_member": member})
    }

    fn unknown(&mut self, chance: &mut Chance) -> Value {
        let kind =
            chance.pick(&["channel_post", "poll", "chat_join_request", "business_message", "made_up", "message"]);
        let mut body = self.message(chance);
        self.change(&mut body, chance);
        let mut update = Map::new();
        update.insert(kind.to_owned(), body);
        update.into()
    }

    #[expect(clippy::unused_self, reason = "it stands with the others")]
    fn number(&self, chance: &mut Chance) -> Value {
        match chance.below(8) {
            0 => json!(u64::MAX),
            1 => json!(i64::MIN),
            2 => json!(u32::MAX),
            3 => json!(-1),
            4 => json!(1.5),
            5 => json!(1e308),
            _ => json!(chance.below(5_000)),
        }
    }

    /// Changes something somewhere in it.
    fn change(&self, value: &mut Value, chance: &mut Chance) {
        let inner = match value {
            Value::Object(fields) if !fields.is_empty() => {
                let at = chance.index(fields.len());
                let name = fields.keys().nth(at).expect("it is there").clone();
                match chance.below(12) {
                    0 => {
                        fields.remove(&name);
                        return;
                    }
                    1 => {
                        let moved = fields[&name].clone();
                        fields
                            .insert(chance.pick(&["text", "id", "type", "chat", "from", "made_up"]).to_owned(), moved);
                        return;
                    }
                    2 => fields.get_mut(&name).map(|field| (field, true)),
                    _ => fields.get_mut(&name).map(|field| (field, false)),
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let at = chance.index(items.len());
                if chance.once_in(6) {
                    let more = vec![items[at].clone(); chance.index(200)];
                    items.extend(more);
                    return;
                }
                items.get_mut(at).map(|item| (item, false))
            }
            Value::Object(_) | Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                None
            }
        };
        match inner {
            Some((inner, false)) => self.change(inner, chance),
            Some((inner, true)) => *inner = self.anything(chance),
            None => *value = self.anything(chance),
        }
    }

    /// Any value.
    fn anything(&self, chance: &mut Chance) -> Value {
        match chance.below(9) {
            0 => Value::Null,
            1 => json!(true),
            2 | 3 => self.number(chance),
            4 => json!(self.seeds.text(chance)),
            5 => json!([]),
            6 => json!({}),
            7 => (0..chance.below(100)).fold(json!(1), |inner, _| json!([inner])),
            _ => (0..chance.below(100)).fold(json!(1), |inner, _| json!({"reply_to_message": inner, "text": "x"})),
        }
    }
}

fn person(id: i64) -> Value {
    json!({"id": id, "is_bot": false, "first_name": "Someone", "username": "someone"})
}

fn merged(mut one: Value, other: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut one, other) {
        fields.extend(more);
    }
    one
}
