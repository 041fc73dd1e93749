//! Slash commands as what they stand for in words.

use countersign_core::signal::{Addressed, Payload, Signal};
use serenity::all::{CommandDataOptionValue, CommandInteraction, CommandType};

use super::{Call, Heard, Here, Waits, actor, message, place};
use crate::ids;

/// The command that stands for nothing: what is asked is all in its text.
pub(crate) const FREE: &str = "ask";

/// A command that somebody gave.
pub(super) fn given(given: &CommandInteraction, here: Here<'_>) -> Heard {
    let id = given.id.get();
    let call = Call { id, application: given.application_id.get(), token: given.token.clone(), waits: Waits::Command };
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
