//! What people do with buttons, menus, commands and windows. Each gives the bot an interaction to answer; its id is what
//! the waits in `look` take.

use serde_json::{Value, json};

use crate::channel::{ChannelId, ChannelKind};
use crate::commands::{GROUP, OF_MESSAGE, SUBCOMMAND, TYPED};
use crate::gateway::Event;
use crate::interactions::{AnswerKind, Interaction, Kind};
use crate::script::{Played, played, shown};
use crate::server::Fake;
use crate::state::State;
use crate::{BOT, json};

/// Bytes that an answer may upload, as every interaction says.
const UPLOAD_MAX: usize = 10 * 1024 * 1024;
/// Kinds of options whose value is no text.
const INTEGER: u64 = 4;
const BOOLEAN: u64 = 5;
const NUMBER: u64 = 10;

/// Keeps the interaction and gives it to the bot; its id.
fn ask(state: &mut State, interaction: Interaction, data: &Value) -> Played<String> {
    let (id, user) = (interaction.id.clone(), interaction.user);
    if !state.users.contains_key(&user) {
        return Err(format!("there is no user {user}: make one with Fake::user first"));
    }
    let channel = state.channels.get(&interaction.channel);
    let channel = channel.ok_or_else(|| format!("there is no channel {:?}", interaction.channel))?;
    let guild = channel.guild.and_then(|guild| state.guilds.get(&guild));
    let mut shown = json::channel(state, channel);
    shown["permissions"] = json!("2248473465835073");
    let mut body = json!({
        "id": id,
        "application_id": BOT.to_string(),
        "type": interaction.kind.number(),
        "data": data,
        "token": interaction.token,
        "version": 1,
        "channel_id": json::id(channel.id.0),
        "channel": shown,
        "app_permissions": "2248473465835073",
        "locale": "en-US",
        "entitlements": [],
        "authorizing_integration_owners": { "0": guild.map_or_else(|| "0".to_owned(), |guild| guild.id.to_string()) },
        "context": u8::from(channel.kind == ChannelKind::Private),
        "attachment_size_limit": UPLOAD_MAX,
    });
    if let Some(guild) = guild {
        body["guild_id"] = json::id(guild.id);
        body["guild_locale"] = json!("en-US");
        body["guild"] = json!({ "id": json::id(guild.id), "locale": "en-US", "features": [] });
        body["member"] = json::member_with_permissions(state, guild, user);
    } else {
        body["user"] = json::user_of(state, user);
    }
    let message = interaction.message.and_then(|message| state.message(channel.id, message));
    if let Some(message) = message {
        body["message"] = json::message(state, message);
    }
    let at = interaction.channel;
    state.interactions.insert(id.clone(), interaction);
    state.tell(Some(at), &Event { name: "INTERACTION_CREATE", intent: 0, body, veiled: None });
    Ok(id)
}

fn new(state: &mut State, kind: Kind, user: u64, channel: ChannelId) -> Interaction {
    Interaction::new(state.clock.id(), kind, user, channel, state.clock.now_ms())
}

/// Whether somebody sees the message at all.
fn sees(state: &mut State, user: u64, channel: ChannelId, id: u64) -> Played<()> {
    match shown(state, channel, id)?.ephemeral_for {
        Some(only) if only != user => Err(format!("message {id} is shown to {only} only")),
        _ => Ok(()),
    }
}

fn press(state: &mut State, user: u64, channel: ChannelId, id: u64, label: &str) -> Played<String> {
    sees(state, user, channel, id)?;
    let message = shown(state, channel, id)?;
    let labels = message.labels().join("`, `");
    let button =
        message.button(label).ok_or_else(|| format!("message {id} has no button `{label}`, but `{labels}`"))?;
    if button.disabled {
        return Err(format!("the button `{label}` cannot be pressed"));
    }
    let data = button.data.clone().ok_or_else(|| format!("the button `{label}` does not call back"))?;
    press_data(state, user, channel, id, &data)
}

fn press_data(state: &mut State, user: u64, channel: ChannelId, id: u64, data: &str) -> Played<String> {
    let kind = shown(state, channel, id)?.keyboard.kind_of(data);
    let mut interaction = new(state, Kind::Component, user, channel);
    interaction.message = Some(id);
    ask(state, interaction, &json!({ "custom_id": data, "component_type": kind, "id": 11 }))
}

fn select(state: &mut State, user: u64, channel: ChannelId, id: u64, choices: &[&str]) -> Played<String> {
    sees(state, user, channel, id)?;
    let first = choices.first().copied().unwrap_or_default();
    let message = shown(state, channel, id)?;
    let menu = message.menu(first).ok_or_else(|| format!("message {id} has no menu with the choice `{first}`"))?;
    let (least, most) = menu.bounds;
    let count = choices.len() as u64;
    if menu.disabled || count < least || count > most {
        return Err(format!("this menu takes {least} to {most} choices"));
    }
    let value = |choice: &&str| {
        let found = menu.options.iter().find(|option| option.text == **choice).map(|option| option.value.clone());
        found.ok_or_else(|| format!("the menu has no choice `{choice}`"))
    };
    let values: Vec<String> = choices.iter().map(value).collect::<Result<_, _>>()?;
    let data = json!({ "custom_id": menu.data, "component_type": message.keyboard.kind_of(&menu.data), "id": 11, "values": values });
    let mut interaction = new(state, Kind::Component, user, channel);
    interaction.message = Some(id);
    ask(state, interaction, &data)
}

/// The words of a command: its name, and those of commands below it.
fn command(
    state: &mut State,
    kind: Kind,
    (user, channel): (u64, ChannelId),
    words: &str,
    options: &[(&str, &str)],
    typing: Option<&str>,
) -> Played<String> {
    let guild = state.guild_of(channel);
    let mut names = words.split_whitespace();
    let name = names.next().unwrap_or_default();
    let found = state.commands.find(guild, TYPED, name);
    let found = found.ok_or_else(|| format!("the bot has no command `/{name}`"))?.clone();
    let mut path = Vec::new();
    let mut at = &found;
    for name in names {
        let below = at["options"].as_array().into_iter().flatten().find(|option| option["name"] == name);
        at = below
            .filter(|option| [SUBCOMMAND, GROUP].iter().any(|kind| option["type"] == *kind))
            .ok_or_else(|| format!("`/{words}` has no part `{name}`"))?;
        path.push((name.to_owned(), at["type"].clone()));
    }
    let mut given = filled(at, options, typing)?;
    for (name, kind) in path.into_iter().rev() {
        given = vec![json!({ "name": name, "type": kind, "options": given })];
    }
    let mut interaction = new(state, kind, user, channel);
    interaction.command = Some(words.to_owned());
    let mut data = json!({ "id": found["id"], "name": name, "type": TYPED, "options": given });
    if let Some(guild) = found.get("guild_id") {
        data["guild_id"] = guild.clone();
    }
    ask(state, interaction, &data)
}

/// The options as they are sent; `typing` names the one that somebody is still typing.
fn filled(command: &Value, options: &[(&str, &str)], typing: Option<&str>) -> Played<Vec<Value>> {
    let known: Vec<&Value> = command["options"].as_array().into_iter().flatten().collect();
    let missing =
        known.iter().find(|known| known["required"] == true && !options.iter().any(|(name, _)| known["name"] == *name));
    if let Some(missing) = missing.filter(|_| typing.is_none()) {
        return Err(format!("the option `{}` must be given", missing["name"].as_str().unwrap_or_default()));
    }
    let fill = |(name, value): &(&str, &str)| {
        let option = known.iter().find(|known| known["name"] == *name);
        let option = option.ok_or_else(|| format!("the command has no option `{name}`"))?;
        let focused = typing == Some(*name);
        if focused && option["autocomplete"] != true {
            return Err(format!("the option `{name}` offers nothing while it is typed"));
        }
        let mut filled = json!({ "name": name, "type": option["type"], "value": typed(option, value, focused)? });
        if focused {
            filled["focused"] = json!(true);
        }
        Ok(filled)
    };
    options.iter().map(fill).collect()
}

fn typed(option: &Value, text: &str, focused: bool) -> Played<Value> {
    let wrong = |what: &str| format!("`{text}` is no {what}");
    let choices: Vec<&Value> = option["choices"].as_array().into_iter().flatten().collect();
    if let Some(choice) = choices.iter().find(|choice| choice["name"] == text || choice["value"] == text) {
        return Ok(choice["value"].clone());
    }
    if !choices.is_empty() && !focused {
        return Err(wrong("choice of this option"));
    }
    match option["type"].as_u64() {
        Some(INTEGER) if !focused => text.parse::<i64>().map(Value::from).map_err(|_| wrong("whole number")),
        Some(NUMBER) if !focused => text.parse::<f64>().map(Value::from).map_err(|_| wrong("number")),
        Some(BOOLEAN) => text.parse::<bool>().map(Value::from).map_err(|_| wrong("yes or no")),
        _ => Ok(json!(text)),
    }
}

fn message_command(state: &mut State, user: u64, channel: ChannelId, id: u64, name: &str) -> Played<String> {
    sees(state, user, channel, id)?;
    let found = state.commands.find(state.guild_of(channel), OF_MESSAGE, name);
    let found = found.ok_or_else(|| format!("the bot has no command `{name}` for messages"))?.clone();
    let about = state.shown(channel, id);
    let mut interaction = new(state, Kind::Command, user, channel);
    interaction.command = Some(name.to_owned());
    let mut data = json!({ "id": found["id"], "name": name, "type": OF_MESSAGE, "target_id": json::id(id) });
    data["resolved"] = json!({ "messages": { id.to_string(): about } });
    ask(state, interaction, &data)
}

fn submit(state: &mut State, opened: &str, texts: &[(&str, &str)]) -> Played<String> {
    let asked = state.interactions.get(opened).ok_or_else(|| format!("there is no interaction {opened}"))?;
    let answer = asked.answer.as_ref().filter(|answer| answer.kind == AnswerKind::Modal);
    let modal = answer.and_then(|answer| answer.modal.clone());
    let modal = modal.ok_or_else(|| format!("the interaction {opened} opened no window"))?;
    let (user, channel, message, command) = (asked.user, asked.channel, asked.message, asked.command.clone());
    if let Some((unknown, _)) = texts.iter().find(|(label, _)| !modal.inputs.iter().any(|input| input.label == *label))
    {
        return Err(format!("the window has no input `{unknown}`"));
    }
    let mut rows = Vec::new();
    for (at, input) in modal.inputs.iter().enumerate() {
        let text = texts.iter().find(|(label, _)| *label == input.label).map_or("", |(_, text)| text);
        let letters = text.chars().count() as u64;
        let (least, most) = input.bounds;
        if (letters == 0 && input.required) || (letters > 0 && letters < least) || letters > most {
            return Err(format!("`{}` takes {least} to {most} letters", input.label));
        }
        let filled = json!({ "type": 4, "id": at * 2 + 2, "custom_id": input.data, "value": text });
        rows.push(json!({ "type": 1, "id": at * 2 + 1, "components": [filled] }));
    }
    let mut interaction = new(state, Kind::Modal, user, channel);
    interaction.message = message;
    interaction.command = command;
    ask(state, interaction, &json!({ "custom_id": modal.data, "components": rows }))
}

impl Fake {
    /// Somebody presses the button with this label; the interaction's id.
    #[track_caller]
    pub fn press(&self, user: u64, channel: ChannelId, message: u64, label: &str) -> String {
        played(self.try_press(user, channel, message, label))
    }

    /// As [`Fake::press`], with the reason where it cannot be done.
    pub fn try_press(&self, user: u64, channel: ChannelId, message: u64, label: &str) -> Result<String, String> {
        self.shared().change(|state| press(state, user, channel, message, label))
    }

    /// Somebody sends this `custom_id` as if a button bore it, or bears it no more: a forged or a belated press. The
    /// message must be there: Discord lets nobody press what is gone.
    #[track_caller]
    pub fn press_data(&self, user: u64, channel: ChannelId, message: u64, data: &str) -> String {
        played(self.shared().change(|state| press_data(state, user, channel, message, data)))
    }

    /// Somebody chooses from the menu that offers these; the interaction's id.
    #[track_caller]
    pub fn select(&self, user: u64, channel: ChannelId, message: u64, choices: &[&str]) -> String {
        played(self.try_select(user, channel, message, choices))
    }

    /// As [`Fake::select`], with the reason where it cannot be done.
    pub fn try_select(&self, user: u64, channel: ChannelId, message: u64, choices: &[&str]) -> Result<String, String> {
        self.shared().change(|state| select(state, user, channel, message, choices))
    }

    /// Somebody runs a command that the bot has registered: its words without the slash (`plan show` is `show` of `plan`),
    /// and its options by their names; the interaction's id.
    #[track_caller]
    pub fn command(&self, user: u64, channel: ChannelId, words: &str, options: &[(&str, &str)]) -> String {
        played(self.try_command(user, channel, words, options))
    }

    /// As [`Fake::command`], with the reason where it cannot be done.
    pub fn try_command(
        &self,
        user: u64,
        channel: ChannelId,
        words: &str,
        options: &[(&str, &str)],
    ) -> Result<String, String> {
        self.shared().change(|state| command(state, Kind::Command, (user, channel), words, options, None))
    }

    /// Somebody is typing the option `typing` of a command; the interaction's id. What is offered is in its answer's
    /// `choices`.
    #[track_caller]
    pub fn autocomplete(
        &self,
        user: u64,
        channel: ChannelId,
        words: &str,
        options: &[(&str, &str)],
        typing: &str,
    ) -> String {
        played(self.try_autocomplete(user, channel, words, options, typing))
    }

    /// As [`Fake::autocomplete`], with the reason where it cannot be done.
    pub fn try_autocomplete(
        &self,
        user: u64,
        channel: ChannelId,
        words: &str,
        options: &[(&str, &str)],
        typing: &str,
    ) -> Result<String, String> {
        self.shared().change(|state| command(state, Kind::Autocomplete, (user, channel), words, options, Some(typing)))
    }

    /// Somebody takes a command from the menu of a message; the interaction's id.
    #[track_caller]
    pub fn message_command(&self, user: u64, channel: ChannelId, message: u64, name: &str) -> String {
        played(self.shared().change(|state| message_command(state, user, channel, message, name)))
    }

    /// Whoever was shown a window fills it in by the labels of its texts and sends it; the id of the new interaction.
    #[track_caller]
    pub fn submit(&self, interaction: &str, texts: &[(&str, &str)]) -> String {
        played(self.try_submit(interaction, texts))
    }

    /// As [`Fake::submit`], with the reason where it cannot be done.
    pub fn try_submit(&self, interaction: &str, texts: &[(&str, &str)]) -> Result<String, String> {
        self.shared().change(|state| submit(state, interaction, texts))
    }

    /// Too much time went by for this interaction: no first answer, and no further ones either.
    pub fn expire(&self, interaction: &str) {
        self.shared().change(|state| state.interactions.get_mut(interaction).map(|asked| asked.expired = true));
    }
}
