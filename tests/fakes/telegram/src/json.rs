//! How things are written on the wire: users, chats, messages and their parts as the Bot API has them. Nothing is decided
//! here, and nothing is read.

use serde_json::{Map, Value, json};

use crate::chat::{Chat, ChatKind, Message, Origin, Role, Service, User};
use crate::entities::{Entity, EntityKind};
use crate::people::BOT;
use crate::state::State;

pub(crate) fn user(user: &User) -> Value {
    let mut out = json!({ "id": user.id, "is_bot": user.is_bot, "first_name": user.name });
    if let Some(username) = &user.username {
        out["username"] = json!(username);
    }
    if !user.is_bot {
        out["language_code"] = json!("en");
    }
    out
}

pub(crate) fn chat(state: &State, chat: &Chat) -> Value {
    let mut out = json!({ "id": chat.id.0, "type": chat.kind.word() });
    if chat.kind == ChatKind::Private {
        out["first_name"] = json!(chat.title);
        if let Some(username) = state.users.get(&chat.id.0).and_then(|user| user.username.as_ref()) {
            out["username"] = json!(username);
        }
    } else {
        out["title"] = json!(chat.title);
    }
    match chat.kind {
        ChatKind::Forum => out["is_forum"] = json!(true),
        ChatKind::Group => out["all_members_are_administrators"] = json!(true),
        ChatKind::Private | ChatKind::Supergroup | ChatKind::Channel => {}
    }
    out
}

pub(crate) fn entity(state: &State, entity: &Entity) -> Value {
    let mut out = json!({ "type": word(&entity.kind), "offset": entity.offset, "length": entity.length });
    match &entity.kind {
        EntityKind::Pre(Some(language)) => out["language"] = json!(language),
        EntityKind::TextLink(url) => out["url"] = json!(url),
        EntityKind::TextMention(id) => out["user"] = state.users.get(id).map_or(Value::Null, user),
        _ => {}
    }
    out
}

fn word(kind: &EntityKind) -> &'static str {
    match kind {
        EntityKind::Blockquote => "blockquote",
        EntityKind::ExpandableBlockquote => "expandable_blockquote",
        EntityKind::Pre(_) => "pre",
        EntityKind::Code => "code",
        EntityKind::TextLink(_) => "text_link",
        EntityKind::TextMention(_) => "text_mention",
        EntityKind::Mention => "mention",
        EntityKind::BotCommand => "bot_command",
        EntityKind::Hashtag => "hashtag",
        EntityKind::Url => "url",
        EntityKind::Bold => "bold",
        EntityKind::Italic => "italic",
        EntityKind::Underline => "underline",
        EntityKind::Strikethrough => "strikethrough",
        EntityKind::Spoiler => "spoiler",
    }
}

/// A message with the message that it answers.
pub(crate) fn message(state: &State, chat: &Chat, message: &Message) -> Value {
    let mut out = bare_message(state, chat, message);
    // A message in a topic that answers nothing bears the notice that opened the topic.
    let answered = message.reply_to.or(message.topic.filter(|topic| *topic != message.id));
    if let Some(answered) = answered.and_then(|id| chat.shown(id)) {
        out.insert("reply_to_message".to_owned(), Value::Object(bare_message(state, chat, answered)));
    }
    Value::Object(out)
}

/// A message without the message that it answers: Telegram shows one step of a chain only.
fn bare_message(state: &State, chat: &Chat, message: &Message) -> Map<String, Value> {
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| out.insert(name.to_owned(), value);
    put("message_id", json!(message.id));
    if let Some(from) = message.from.and_then(|id| state.users.get(&id)) {
        put("from", user(from));
    }
    if let Some(sender) = message.sender_chat.and_then(|id| state.chats.get(&id)) {
        put("sender_chat", self::chat(state, sender));
    }
    put("chat", self::chat(state, chat));
    put("date", json!(message.date));
    if let Some(date) = message.edit_date {
        put("edit_date", json!(date));
    }
    if let Some(topic) = message.topic {
        put("message_thread_id", json!(topic));
        put("is_topic_message", json!(true));
    } else if chat.kind == ChatKind::Supergroup && message.reply_to.is_some() {
        // A chain of replies has a thread id too, without being a topic.
        put("message_thread_id", json!(chat.root(message.id)));
    }
    if let Some(origin) = message.forwarded.as_ref() {
        put("forward_origin", self::origin(state, origin, message.date));
    }
    if let Some(bot) = message.via_bot.and_then(|id| state.users.get(&id)) {
        put("via_bot", user(bot));
    }
    if let Some(quote) = &message.quote {
        put("quote", json!({ "text": quote.text, "position": quote.position, "is_manual": true }));
    }
    content(state, message, &mut put);
    if !message.keyboard.is_empty() {
        put("reply_markup", keyboard(message));
    }
    out
}

fn content(state: &State, message: &Message, put: &mut impl FnMut(&str, Value) -> Option<Value>) {
    let entities: Value = message.entities.iter().map(|entity| self::entity(state, entity)).collect();
    match (&message.service, &message.document) {
        (Some(Service::TopicCreated(name)), _) => {
            put("forum_topic_created", json!({ "name": name, "icon_color": 7_322_096 }));
        }
        (Some(Service::MovedTo(to)), _) => {
            put("migrate_to_chat_id", json!(to.0));
        }
        (Some(Service::MovedFrom(from)), _) => {
            put("migrate_from_chat_id", json!(from.0));
        }
        (None, Some(_)) => {
            put("document", document(message));
            if !message.text.is_empty() {
                put("caption", json!(message.text));
                put("caption_entities", entities);
            }
        }
        (None, None) => {
            put("text", json!(message.text));
            if !message.entities.is_empty() {
                put("entities", entities);
            }
        }
    }
}

pub(crate) fn keyboard(message: &Message) -> Value {
    let rows: Vec<Vec<&Value>> =
        message.keyboard.iter().map(|row| row.iter().map(|button| &button.raw).collect()).collect();
    json!({ "inline_keyboard": rows })
}

fn document(message: &Message) -> Value {
    let Some(document) = &message.document else { return Value::Null };
    let id = format!("{}_{}", message.chat.0.unsigned_abs(), message.id);
    let mut out = json!({
        "file_id": format!("FAKE{id}"),
        "file_unique_id": format!("U{id}"),
        "file_name": document.name,
        "file_size": document.bytes.len(),
    });
    if let Some(mime) = &document.mime {
        out["mime_type"] = json!(mime);
    }
    out
}

fn origin(state: &State, origin: &Origin, date: i64) -> Value {
    match origin {
        Origin::User(id) => {
            json!({ "type": "user", "date": date, "sender_user": state.users.get(id).map_or(Value::Null, user) })
        }
        Origin::Hidden(name) => json!({ "type": "hidden_user", "date": date, "sender_user_name": name }),
        Origin::Channel(id, message) => {
            let from = state.chats.get(id).map_or(Value::Null, |from| chat(state, from));
            json!({ "type": "channel", "date": date, "chat": from, "message_id": message })
        }
    }
}

pub(crate) fn reactions(emoji: &[String]) -> Value {
    emoji.iter().map(|emoji| json!({ "type": "emoji", "emoji": emoji })).collect()
}

/// A `ChatMember` in the shape of its status.
pub(crate) fn member(who: &User, role: Role) -> Value {
    let mut out = json!({ "user": user(who) });
    let status = match role {
        Role::Creator => "creator",
        Role::Administrator => "administrator",
        Role::Member => "member",
        Role::Left => "left",
        Role::Kicked => "kicked",
    };
    out["status"] = json!(status);
    match role {
        Role::Creator => out["is_anonymous"] = json!(false),
        Role::Kicked => out["until_date"] = json!(0),
        Role::Member | Role::Left => {}
        Role::Administrator => {
            for (right, given) in RIGHTS {
                out[right] = json!(given);
            }
            out["can_be_edited"] = json!(who.id != BOT);
        }
    }
    out
}

/// What an administrator of the fake's chats may do.
const RIGHTS: [(&str, bool); 13] = [
    ("can_manage_chat", true),
    ("can_change_info", true),
    ("can_delete_messages", true),
    ("can_invite_users", true),
    ("can_restrict_members", true),
    ("can_pin_messages", true),
    ("can_manage_topics", true),
    ("can_promote_members", false),
    ("can_manage_video_chats", true),
    ("can_post_stories", false),
    ("can_edit_stories", false),
    ("can_delete_stories", false),
    ("is_anonymous", false),
];
