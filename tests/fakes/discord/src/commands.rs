//! The commands that the bot registered: what Discord takes and refuses of them, and finding one by its words. Running one
//! is in `interact`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::BOT;
use crate::form::{Fields, Form};
use crate::refusal::{Answer, Refusal};
use crate::state::State;

/// API reference, "Application Commands": commands of a kind, options, choices; letters of names, descriptions, choices.
const COMMANDS_MAX: usize = 100;
const OPTIONS_MAX: usize = 25;
const NAME_MAX: usize = 32;
const DESCRIPTION_MAX: usize = 100;
const CHOICE_MAX: usize = 100;

/// Kinds of commands: typed ones, and those in the menu of a message.
pub(crate) const TYPED: u64 = 1;
pub(crate) const OF_MESSAGE: u64 = 3;
/// Kinds of options: a command below the command, and a group of such.
pub(crate) const SUBCOMMAND: u64 = 1;
pub(crate) const GROUP: u64 = 2;

const KNOWN: [&str; 13] = [
    "id",
    "type",
    "name",
    "name_localizations",
    "description",
    "description_localizations",
    "options",
    "nsfw",
    "default_member_permissions",
    "dm_permission",
    "integration_types",
    "contexts",
    "handler",
];
const KNOWN_OPTION: [&str; 15] = [
    "type",
    "name",
    "name_localizations",
    "description",
    "description_localizations",
    "required",
    "choices",
    "options",
    "channel_types",
    "min_value",
    "max_value",
    "min_length",
    "max_length",
    "autocomplete",
    "file_types",
];

/// Commands as they are answered, of all servers (`None`) and of one.
#[derive(Debug, Default)]
pub(crate) struct Commands(BTreeMap<Option<u64>, Vec<Value>>);

impl Commands {
    /// Those that can be used in a server, or, without one, in direct messages.
    pub(crate) fn usable(&self, guild: Option<u64>) -> impl Iterator<Item = &Value> {
        let own = self.0.get(&guild).filter(|_| guild.is_some());
        own.into_iter().chain(self.0.get(&None)).flatten()
    }

    pub(crate) fn find(&self, guild: Option<u64>, kind: u64, name: &str) -> Option<&Value> {
        self.usable(guild).find(|command| command["type"] == kind && command["name"] == name)
    }

    /// (name, description) of every command.
    pub(crate) fn listed(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.0.values().flatten().map(|command| (text(&command["name"]), text(&command["description"]))).collect()
    }
}

/// `PUT` of all commands, of everywhere or of one server.
pub(crate) fn overwrite(state: &mut State, form: &Form) -> Answer {
    let guild = scope(state, form)?;
    let Value::Array(_) = form.body else {
        return Err(Refusal::field("", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType"));
    };
    // The list is read as if it were a field; Discord names only the number.
    let wrapped = Form { body: json!({ "commands": form.body }), ..Form::default() };
    let read = wrapped.fields(&["commands"], |fields| {
        let given = fields.objects("commands", COMMANDS_MAX);
        for given in &given {
            check_reach(given, guild.is_some());
        }
        let read: Vec<Value> = given.iter().map(command).collect();
        for (at, one) in read.iter().enumerate() {
            if read.iter().take(at).any(|other| (&other["name"], &other["type"]) == (&one["name"], &one["type"])) {
                fields.wrong(
                    "commands",
                    "APPLICATION_COMMANDS_DUPLICATE_NAME",
                    "Application command names must be unique",
                );
            }
        }
        read
    })?;
    let before = state.commands.0.remove(&guild).unwrap_or_default();
    let mut registered = Vec::new();
    for mut command in read {
        let same = |old: &&Value| old["name"] == command["name"] && old["type"] == command["type"];
        command["id"] =
            before.iter().find(same).map_or_else(|| json!(state.clock.id().to_string()), |old| old["id"].clone());
        command["version"] = json!(state.clock.id().to_string());
        if let Some(guild) = guild {
            command["guild_id"] = json!(guild.to_string());
        }
        registered.push(command);
    }
    state.commands.0.insert(guild, registered.clone());
    Ok(json!(registered))
}

/// `GET` of the same.
pub(crate) fn list(state: &mut State, form: &Form) -> Answer {
    let guild = scope(state, form)?;
    Ok(json!(state.commands.0.get(&guild).cloned().unwrap_or_default()))
}

/// The server in the path, where there is one. The application must be the bot's.
fn scope(state: &State, form: &Form) -> Result<Option<u64>, Refusal> {
    if form.id(0) != BOT {
        return Err(Refusal::unknown(10_002, "Application"));
    }
    match form.path.len() {
        1 => Ok(None),
        _ if state.guilds.contains_key(&form.id(1)) => Ok(Some(form.id(1))),
        _ => Err(Refusal::new(403, 50_001, "Missing Access")),
    }
}

fn command(given: &Fields<'_>) -> Value {
    given.only(&KNOWN);
    let kind = given.number("type").unwrap_or(TYPED);
    if !(1..=3).contains(&kind) {
        given.wrong("type", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3).");
    }
    let name = given.required_text("name", NAME_MAX);
    let description = if kind == TYPED {
        check_name(given, name);
        given.required_text("description", DESCRIPTION_MAX)
    } else {
        let description = given.text("description", DESCRIPTION_MAX).unwrap_or_default();
        if !description.is_empty() {
            given.wrong(
                "description",
                "APPLICATION_COMMAND_DESCRIPTION_CANNOT_BE_SET",
                "Context menu commands cannot have a description",
            );
        }
        description
    };
    options(given);
    let options = given.list("options", OPTIONS_MAX).unwrap_or_default();
    json!({
        "application_id": BOT.to_string(),
        "type": kind,
        "name": name,
        "name_localizations": given.get("name_localizations"),
        "description": description,
        "description_localizations": given.get("description_localizations"),
        "options": options,
        "default_member_permissions": given.get("default_member_permissions"),
        "dm_permission": true,
        "nsfw": given.flag("nsfw"),
        "integration_types": [0],
        "contexts": given.get("contexts"),
    })
}

/// Who has a command, and where it can be used (API reference, "Application Commands": contexts). The fake is stricter than
/// Discord, where a command that does not say so reaches further than its bot may be ready for: it must be for servers and
/// for direct messages with the bot. One of a single server cannot say.
fn check_reach(given: &Fields<'_>, is_of_server: bool) {
    for (name, wanted) in [("integration_types", json!([0])), ("contexts", json!([0, 1]))] {
        if is_of_server && given.has(name) {
            given.wrong(name, "FAKE_REACH", "A command of one server cannot say where it can be used.");
        }
        if !is_of_server && given.get(name) != Some(&wanted) {
            given.wrong(name, "FAKE_REACH", &format!("In the fake this must be {wanted}."));
        }
    }
}

fn check_name(given: &Fields<'_>, name: &str) {
    let letter = |letter: char| letter.is_alphanumeric() || ['-', '_', '\''].contains(&letter);
    if !name.chars().all(letter) || name.to_lowercase() != name {
        given.wrong("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid");
    }
}

fn options(given: &Fields<'_>) {
    let mut optional = false;
    for option in given.objects("options", OPTIONS_MAX) {
        option.only(&KNOWN_OPTION);
        check_name(&option, option.required_text("name", NAME_MAX));
        option.required_text("description", DESCRIPTION_MAX);
        if !option.number("type").is_some_and(|kind| (1..=11).contains(&kind)) {
            option.wrong("type", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11).");
        }
        let required = option.flag("required");
        if required && optional {
            given.wrong(
                "options",
                "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
                "Required options must be placed before non-required options",
            );
        }
        optional |= !required;
        let choices = option.objects("choices", OPTIONS_MAX);
        if option.flag("autocomplete") && !choices.is_empty() {
            option.wrong(
                "autocomplete",
                "APPLICATION_COMMAND_OPTIONS_CHOICES_AND_AUTOCOMPLETE",
                "Choices and autocomplete are mutually exclusive",
            );
        }
        for choice in choices {
            choice.only(&["name", "name_localizations", "value"]);
            choice.required_text("name", CHOICE_MAX);
        }
        options(&option);
    }
}
