//! An intent file as it is written, and its checks: each entry against the tools, each pattern against its entry. An error names
//! the entry and the fix.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::intents::{Does, Intent};
use super::own_command::OwnCommand;
use super::phrases::Phrase;
use super::reply::Reply;
use crate::tool::{ArgKind, Registry, ToolKind};

/// One intent, as the file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IntentEntry {
    pub(super) name: String,
    about: String,
    examples: Vec<String>,
    #[serde(default)]
    pub(super) patterns: Vec<String>,
    #[serde(default)]
    pub(super) phrases: Vec<String>,
    #[serde(default)]
    call: Option<String>,
    #[serde(default)]
    own: Option<OwnCommand>,
    #[serde(default)]
    reply: Option<String>,
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    args: BTreeMap<String, toml::Value>,
    #[serde(default)]
    domain: String,
    #[serde(default)]
    topic: String,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    silent: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IntentFile {
    #[serde(rename = "intent")]
    pub(super) intents: Vec<IntentEntry>,
}

/// A regex error draws the pattern over several lines and says on the last what is wrong.
fn last_line(error: &str) -> &str {
    error.lines().last().unwrap_or_default().trim_start_matches("error: ")
}

/// Compiles a pattern that has to fit the whole of what was said.
pub(super) fn anchored(pattern: &str) -> Result<Regex, String> {
    // Matched against text in ASCII lower case, so that no pattern needs `(?i)` and none pays for it.
    Regex::new(&format!("^(?:{pattern})$"))
        .map_err(|error| format!("its pattern `{pattern}` is not valid: {}", last_line(&error.to_string())))
}

/// Checks an entry against the tools.
pub(super) fn check(entry: IntentEntry, registry: &Registry) -> Result<Intent, String> {
    if entry.examples.is_empty() || (entry.patterns.is_empty() && entry.phrases.is_empty()) {
        return Err("give at least one example, and one pattern or phrase".to_owned());
    }
    if let Some(command) = &entry.command {
        check_command(command)?;
    }
    let does = match (&entry.call, entry.own, &entry.reply) {
        (Some(call), None, None) => checked_call(call, &entry, registry)?,
        (None, Some(own), None) => Does::Own(own),
        (None, None, Some(reply)) => checked_reply(reply, &entry)?,
        (Some(_) | None, _, _) => return Err("say one of `call`, `own` and `reply`".to_owned()),
    };
    let args = match &does {
        // Each group of a reply is an argument of the same name.
        Does::Reply(reply) => {
            reply.groups().map(|name| (name.to_owned(), Value::from(format!("{{{name}}}")))).collect()
        }
        Does::Own(_) | Does::Call { .. } => json_of(entry.args)?,
    };
    let only_shows = match &does {
        Does::Call { tool, action } => matches!(registry.kind(tool, action), ToolKind::Read | ToolKind::Resolve),
        Does::Own(own) => own.only_shows(),
        Does::Reply(_) => true,
    };
    Ok(Intent {
        only_shows,
        name: entry.name,
        about: entry.about,
        examples: entry.examples,
        does,
        domain: entry.domain,
        topic: entry.topic,
        command: entry.command,
        silent: entry.silent,
        target: entry.target,
        args,
        verbatim: args_of(entry.call.as_deref(), registry, &[ArgKind::Content, ArgKind::Command]),
        commands: args_of(entry.call.as_deref(), registry, &[ArgKind::Command]),
    })
}

/// The most characters of a command's name that every chat takes.
const COMMAND_CHARS_MAX: usize = 32;

/// Checks that the first word of a command can stand in the menu of every chat.
fn check_command(command: &str) -> Result<(), String> {
    let word = command.split_whitespace().next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if word.is_empty() || word.len() > COMMAND_CHARS_MAX || !word.chars().all(is_plain) {
        return Err(format!("`command` begins with `{word}`; it takes small letters, digits and `_`, 32 at most"));
    }
    Ok(())
}

fn json_of(args: BTreeMap<String, toml::Value>) -> Result<BTreeMap<String, Value>, String> {
    let json = |value: toml::Value| serde_json::to_value(value).map_err(|error| error.to_string());
    args.into_iter().map(|(name, value)| Ok((name, json(value)?))).collect()
}

fn checked_reply(written: &str, entry: &IntentEntry) -> Result<Does, String> {
    if entry.target.is_some() || !entry.args.is_empty() {
        return Err(
            "a reply takes no `target` and no `args`; name the pattern's groups in the reply, in braces".to_owned()
        );
    }
    Reply::parse(written).map(Does::Reply)
}

/// Returns the arguments of these kinds.
fn args_of(call: Option<&str>, registry: &Registry, kinds: &[ArgKind]) -> BTreeSet<String> {
    let spec = call.and_then(|call| registry.named(call)).map(|(_, _, spec)| spec);
    let args = spec.into_iter().flat_map(|spec| &spec.args);
    args.filter(|(_, arg)| kinds.contains(&arg.kind)).map(|(name, _)| name.clone()).collect()
}

fn checked_call(call: &str, entry: &IntentEntry, registry: &Registry) -> Result<Does, String> {
    let Some((tool, action, spec)) = registry.named(call) else {
        return Err(format!("`call` names `{call}`, which is not declared in config/tools"));
    };
    if let Some(unknown) = entry.args.keys().find(|name| !spec.args.contains_key(*name)) {
        return Err(format!("`{call}` takes no argument `{unknown}`"));
    }
    let takes_name = !matches!(spec.target.as_deref(), None | Some("host"));
    if spec.kind != ToolKind::Resolve && takes_name && entry.target.is_none() {
        return Err(format!(
            "`{call}` runs on a {}; say with `target` which group names it",
            spec.target.as_deref().unwrap_or("thing")
        ));
    }
    Ok(Does::Call { tool: tool.to_owned(), action: action.to_owned() })
}

/// Checks that each group of a pattern is used.
pub(super) fn check_pattern(intent: &Intent, regex: &Regex) -> Result<(), String> {
    let groups: Vec<&str> = regex.capture_names().flatten().collect();
    check_groups(intent, &groups, regex.as_str().trim_start_matches("^(?:").trim_end_matches(")$"))
}

/// Parses a phrase of an intent. Loose words ask for no change, decide nothing and forget nothing.
pub(super) fn check_phrase(intent: &Intent, written: &str) -> Result<Phrase, String> {
    if !intent.only_shows {
        return Err(format!("it changes or decides something, so that `{written}` can't be a phrase; write a pattern"));
    }
    let phrase = Phrase::parse(written)?;
    check_groups(intent, &phrase.groups().collect::<Vec<_>>(), written)?;
    Ok(phrase)
}

fn check_groups(intent: &Intent, groups: &[&str], written: &str) -> Result<(), String> {
    intent.does.check_reply(groups, written)?;
    match groups.iter().find(|group| !intent.names_group(group)) {
        Some(group) => Err(format!("`{written}` names a group `{group}` that {} uses", intent.does.user_of_groups())),
        None => Ok(()),
    }
}
