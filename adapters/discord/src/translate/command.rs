//! Slash commands as what they stand for in words, and their texts while they are typed.

use countersign_core::port::Asked;
use countersign_core::signal::{Addressed, Payload, Signal};
use serenity::all::{CommandDataOptionValue, CommandInteraction, CommandType};

use super::{Call, Heard, Here, Typing, Waits, actor, message, place};
use crate::ids;

/// The command that stands for nothing: what is asked is all in its text.
pub(crate) const FREE: &str = "ask";

/// The one option of every command.
pub(crate) const TEXT: &str = "text";

/// A command that somebody gave.
pub(super) fn given(given: &CommandInteraction, here: Here<'_>) -> Heard {
    let id = given.id.get();
    let call = call(given);
    if given.data.kind != CommandType::ChatInput {
        return Heard::Stray(call);
    }
    let text = words(given);
    let thread = place::thread(&here, place::root_of_command(&here, id));
    let who = actor::user(&given.user);
    let said = message::signal((ids::interaction(id), thread, who), &here, Addressed::Command, Payload::Text { text });
    let signal = Signal { platform_roles: actor::roles_of_member(given.member.as_deref()), ..said };
    Heard::Said { signal, call: Some(call) }
}

/// What answers it.
pub(super) fn call(given: &CommandInteraction) -> Call {
    let application = given.application_id.get();
    Call { id: given.id.get(), application, token: given.token.clone(), waits: Waits::Command }
}

/// A text that somebody is typing. They are at its last word: Discord does not say where in it they are.
pub(super) fn typed(typed: &CommandInteraction, here: Here<'_>) -> Heard {
    let Some(option) = typed.data.autocomplete() else { return Heard::Nothing };
    let word = option.value.rsplit(char::is_whitespace).next().unwrap_or_default();
    let before = option.value.strip_suffix(word).unwrap_or_default();
    let asked = Asked {
        actor: actor::user(&typed.user),
        platform_roles: actor::roles_of_member(typed.member.as_deref()),
        thread: place::thread(&here, place::root_of_command(&here, typed.id.get())),
        room: place::kind(&here),
        words: word.to_owned(),
    };
    Heard::Types(Box::new(Typing { asked, before: before.to_owned(), call: call(typed) }))
}

/// The words that it stands for: `disk_usage` with the text `x` is `disk usage x`.
fn words(given: &CommandInteraction) -> String {
    let text = given.data.options.iter().find_map(|option| match &option.value {
        CommandDataOptionValue::String(text) => Some(text.trim()),
        _ => None,
    });
    let name = if given.data.name == FREE { String::new() } else { given.data.name.replace('_', " ") };
    let words = format!("{name} {}", text.unwrap_or_default());
    words.trim().to_owned()
}
