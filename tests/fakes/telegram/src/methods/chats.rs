//! Methods about the bot itself, its chats and their members: looking, topics, and the list of commands.

use serde_json::{Value, json};

use crate::chat::{ChatKind, Message, Role, Service};
use crate::entities::units;
use crate::params::Params;
use crate::refusal::{Answer, Refusal};
use crate::state::State;
use crate::{BOT, json};

/// Bot API, `BotCommand` and `setMyCommands`.
const COMMANDS_MAX: usize = 100;
const COMMAND_LETTERS_MAX: usize = 32;
const DESCRIPTION_UNITS_MAX: usize = 256;
/// Bot API, `createForumTopic`.
const TOPIC_UNITS_MAX: usize = 128;
const ICON_COLOURS: [i64; 6] = [7_322_096, 16_766_590, 13_338_331, 9_367_192, 16_749_490, 16_478_047];

#[expect(clippy::unnecessary_wraps, reason = "every method has this form")]
pub(super) fn get_me(state: &mut State, _: &Params) -> Answer {
    let mut me = state.users.get(&BOT).map_or(Value::Null, json::user);
    for (what, can) in [
        ("can_join_groups", true),
        ("can_read_all_group_messages", !state.privacy),
        ("supports_inline_queries", state.inline_mode),
        ("can_connect_to_business", false),
        ("has_main_web_app", false),
    ] {
        me[what] = json!(can);
    }
    Ok(me)
}

pub(super) fn get_chat(state: &mut State, params: &Params) -> Answer {
    let chat = state.chat(params.chat()?)?;
    let mut full = json::chat(state, chat);
    full["accent_color_id"] = json!(0);
    full["max_reaction_count"] = json!(11);
    let gifts = json!({
        "unlimited_gifts": false,
        "limited_gifts": false,
        "unique_gifts": false,
        "premium_subscription": false,
        "gifts_from_channels": false,
    });
    full["accepted_gift_types"] = gifts;
    Ok(full)
}

pub(super) fn get_chat_member(state: &mut State, params: &Params) -> Answer {
    let id = params.integer("user_id")?.ok_or_else(|| Refusal::bad("invalid user_id specified"))?;
    let chat = state.writable(params.chat()?)?;
    let role = match id {
        BOT => Some(chat.bot),
        id => chat.members.get(&id).copied(),
    };
    let user = state.users.get(&id).ok_or_else(|| Refusal::bad("user not found"))?;
    Ok(json::member(user, role.unwrap_or(Role::Left)))
}

pub(super) fn create_topic(state: &mut State, params: &Params) -> Answer {
    let name = params.text("name")?.unwrap_or_default().trim().to_owned();
    let colour = params.integer("icon_color")?.unwrap_or(ICON_COLOURS[0]);
    let (id, date) = (params.chat()?, state.clock.now());
    let chat = state.writable(id)?;
    if chat.kind != ChatKind::Forum {
        return Err(Refusal::bad("the chat is not a forum"));
    }
    if chat.bot != Role::Administrator {
        return Err(Refusal::bad("not enough rights to create a topic"));
    }
    if !(1..=TOPIC_UNITS_MAX).contains(&units(&name)) {
        return Err(Refusal::bad("TOPIC_TITLE_EMPTY"));
    }
    if !ICON_COLOURS.contains(&colour) {
        return Err(Refusal::bad("TOPIC_ICON_COLOR_INVALID"));
    }
    let mut opening = Message::new(id, chat.next_id(), date);
    opening.from = Some(BOT);
    opening.from_bot = true;
    let topic = open_topic(chat, opening, &name);
    Ok(json!({ "message_thread_id": topic, "name": name, "icon_color": colour }))
}

/// A topic's id is that of the notice that opens it.
pub(crate) fn open_topic(chat: &mut crate::chat::Chat, mut opening: Message, name: &str) -> i64 {
    let id = opening.id;
    opening.topic = Some(id);
    opening.service = Some(Service::TopicCreated(name.to_owned()));
    chat.topics.insert(id, name.to_owned());
    chat.messages.insert(id, opening);
    id
}

pub(super) fn set_my_commands(state: &mut State, params: &Params) -> Answer {
    let commands = params.json("commands")?.ok_or_else(|| Refusal::bad("can't parse commands JSON object"))?;
    let commands = commands.as_array().ok_or_else(|| Refusal::bad("expected an Array of BotCommand"))?;
    if commands.len() > COMMANDS_MAX {
        return Err(Refusal::bad("BOT_COMMANDS_TOO_MUCH"));
    }
    let commands = commands.iter().map(command).collect::<Result<Vec<_>, _>>()?;
    state.commands = commands;
    Ok(json!(true))
}

fn command(given: &Value) -> Result<(String, String), Refusal> {
    let text = |name: &str| {
        let missing = || Refusal::bad(format!("can't parse BotCommand: can't find field \"{name}\""));
        given.get(name).and_then(Value::as_str).ok_or_else(missing)
    };
    let (name, description) = (text("command")?, text("description")?);
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() {
        return Err(Refusal::bad("command must be non-empty"));
    }
    if name.len() > COMMAND_LETTERS_MAX || !name.bytes().all(letter) {
        return Err(Refusal::bad("BOT_COMMAND_INVALID"));
    }
    if description.trim().is_empty() {
        return Err(Refusal::bad("command description must be non-empty"));
    }
    if units(description) > DESCRIPTION_UNITS_MAX {
        return Err(Refusal::bad("command description length must not exceed 256"));
    }
    Ok((name.to_owned(), description.to_owned()))
}
