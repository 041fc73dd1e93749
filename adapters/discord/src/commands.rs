//! The slash commands that Discord suggests to people: each takes a text, because what it stands for may go on.

use std::sync::Arc;

use reqwest::Method;
use serenity::all::{CommandOptionType, CreateCommand, CreateCommandOption, InstallationContext, InteractionContext};

use crate::translate::{COMMAND_TEXT as TEXT, FREE_COMMAND};
use crate::{Command, Discord};

/// The most commands of a bot.
const COMMANDS_MAX: usize = 100;

/// The most characters about one.
const ABOUT_CHARS_MAX: usize = 100;

/// Tells Discord the commands in the background, in the place of those that it knew. The bot is as good without, so that
/// trouble is only logged.
pub(crate) fn register_soon(discord: &Discord, application: u64) {
    let (api, commands) = (Arc::clone(&discord.api), all(&discord.options.commands));
    tokio::spawn(async move {
        let path = format!("/applications/{application}/commands");
        if let Err(trouble) = api.tell(Method::PUT, &path, &commands).await {
            tracing::warn!(%trouble, "Discord did not take the list of commands");
        }
    });
}

fn all(commands: &[Command]) -> Vec<CreateCommand> {
    let free = command(FREE_COMMAND).description("Ask anything, in your own words");
    let free = free.add_option(text("What do you want to know, or to have done?").required(true));
    let named = commands.iter().filter(|command| command.name != FREE_COMMAND).map(|command| {
        let about = countersign_core::text::cut(&command.about, ABOUT_CHARS_MAX);
        let about = if about.trim().is_empty() { command.name.clone() } else { about };
        self::command(&command.name).description(about).add_option(text("What it is about"))
    });
    std::iter::once(free).chain(named).take(COMMANDS_MAX).collect()
}

/// A command of those who have the bot in their guild, for use there and in a direct conversation with the bot. Where others
/// talk among themselves it is nobody's: the bot is not there, and cannot tell who reads it.
fn command(name: &str) -> CreateCommand {
    CreateCommand::new(name)
        .integration_types(vec![InstallationContext::Guild])
        .contexts(vec![InteractionContext::Guild, InteractionContext::BotDm])
}

fn text(about: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::String, TEXT, about).set_autocomplete(true)
}
