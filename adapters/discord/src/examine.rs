//! What is looked at before anybody relies on the bot: its token, whether it may read messages, and whether anybody has invited
//! it. Nothing is heard and nothing is changed here.

use countersign_core::port::Finding;
use serde::Deserialize;

use crate::Discord;
use crate::api::{Refusal, Trouble};
use crate::hear::{GIVE_THE_TOKEN, SWITCH_ON_CONTENT};

/// That a bot may read messages: granted by Discord, or switched on for one in few guilds (API reference, "Application
/// Flags").
const MESSAGE_CONTENT: u64 = 1 << 18 | 1 << 19;

/// What Discord says of the application, as far as it counts here.
#[derive(Deserialize)]
struct Application {
    name: String,
    #[serde(default)]
    flags: u64,
}

/// A guild that the bot is in.
#[derive(Deserialize)]
struct Guild {
    name: String,
}

pub(crate) async fn examine(discord: &Discord) -> Vec<Finding> {
    let application = match discord.api.get::<Application>("/applications/@me").await {
        Ok(application) => application,
        Err(trouble) => return vec![failed(&trouble)],
    };
    let known = Finding::fine(format!("the token is {}'s", plain(&application.name)));
    let reads = if application.flags & MESSAGE_CONTENT == 0 {
        Finding::wrong("it may not read messages", SWITCH_ON_CONTENT)
    } else {
        Finding::fine("it may read messages")
    };
    vec![known, reads, guilds(discord).await]
}

async fn guilds(discord: &Discord) -> Finding {
    match discord.api.get::<Vec<Guild>>("/users/@me/guilds").await {
        Ok(guilds) if guilds.is_empty() => Finding::wrong(
            "it is in no guild",
            "Invite it with the scopes `bot` and `applications.commands`: the Developer Portal makes the address.",
        ),
        Ok(guilds) => {
            let names: Vec<String> = guilds.iter().map(|guild| plain(&guild.name)).collect();
            Finding::fine(format!("it is in {}", countersign_core::text::cut(&names.join(", "), 200)))
        }
        Err(trouble) => failed(&trouble),
    }
}

fn plain(name: &str) -> String {
    countersign_core::text::one_line(name, 60)
}

fn failed(trouble: &Trouble) -> Finding {
    let fix = match trouble {
        Trouble::Refused(Refusal { status: 401, .. }) => GIVE_THE_TOKEN,
        Trouble::Refused(_) | Trouble::Unsent(_) | Trouble::Lost(_) => {
            "See that `discord.api_url` is right, and that this machine may connect to it."
        }
    };
    Finding::wrong(trouble.to_string(), fix)
}
