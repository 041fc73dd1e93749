//! The routes of the REST API that the fake knows: their names in Discord's reference, their paths, and which room does
//! each. How a request is read is in `form`, how it travels in `server` and `http`.

mod account;
mod callback;
mod channels;
mod messages;
mod modal;
mod reactions;
mod threads;
mod webhooks;

pub(crate) use account::private;
pub(crate) use messages::remove;
pub(crate) use reactions::react;
pub(crate) use threads::open as open_thread;

use crate::channel::ChannelId;
use crate::commands;
use crate::form::Form;
use crate::refusal::Answer;
use crate::state::State;

/// Does one thing at once, under the lock. What it refuses has changed nothing.
type Perform = fn(&mut State, &Form) -> Answer;

/// One route: its name, its verb, its path with `{}` for what varies, and how it is done.
pub(crate) struct Route {
    pub(crate) name: &'static str,
    verb: &'static str,
    path: &'static str,
    pub(crate) perform: Perform,
}

const fn route(name: &'static str, verb: &'static str, path: &'static str, perform: Perform) -> Route {
    Route { name, verb, path, perform }
}

const MESSAGES: &str = "/channels/{}/messages";
const MESSAGE: &str = "/channels/{}/messages/{}";
const REACTION: &str = "/channels/{}/messages/{}/reactions/{}";
const OWN_REACTION: &str = "/channels/{}/messages/{}/reactions/{}/@me";
const COMMANDS: &str = "/applications/{}/commands";
const GUILD_COMMANDS: &str = "/applications/{}/guilds/{}/commands";
const WEBHOOK: &str = "/webhooks/{}/{}";
const WEBHOOK_MESSAGE: &str = "/webhooks/{}/{}/messages/{}";

/// The first that fits counts.
static ROUTES: [Route; 42] = [
    route("getGateway", "GET", "/gateway", account::gateway),
    route("getGatewayBot", "GET", "/gateway/bot", account::gateway_bot),
    route("getCurrentUser", "GET", "/users/@me", account::me),
    route("getCurrentUserGuilds", "GET", "/users/@me/guilds", account::my_guilds),
    route("createDm", "POST", "/users/@me/channels", account::create_dm),
    route("getUser", "GET", "/users/{}", account::user),
    route("getCurrentApplication", "GET", "/applications/@me", account::application),
    route("getCurrentBotApplication", "GET", "/oauth2/applications/@me", account::application),
    route("getGuild", "GET", "/guilds/{}", account::guild),
    route("getGuildChannels", "GET", "/guilds/{}/channels", account::guild_channels),
    route("getGuildRoles", "GET", "/guilds/{}/roles", account::guild_roles),
    route("listActiveGuildThreads", "GET", "/guilds/{}/threads/active", account::active_threads),
    route("listGuildMembers", "GET", "/guilds/{}/members", account::members),
    route("getGuildMember", "GET", "/guilds/{}/members/{}", account::member),
    route("getChannel", "GET", "/channels/{}", channels::get),
    route("modifyChannel", "PATCH", "/channels/{}", channels::modify),
    route("deleteChannel", "DELETE", "/channels/{}", channels::delete),
    route("triggerTypingIndicator", "POST", "/channels/{}/typing", channels::typing),
    route("joinThread", "PUT", "/channels/{}/thread-members/@me", threads::join),
    route("leaveThread", "DELETE", "/channels/{}/thread-members/@me", threads::join),
    route("addThreadMember", "PUT", "/channels/{}/thread-members/{}", threads::join),
    route("startThreadWithoutMessage", "POST", "/channels/{}/threads", threads::without_message),
    route("startThreadFromMessage", "POST", "/channels/{}/messages/{}/threads", threads::from_message),
    route("getChannelMessages", "GET", MESSAGES, messages::list),
    route("createMessage", "POST", MESSAGES, messages::create),
    route("getChannelMessage", "GET", MESSAGE, messages::get),
    route("editMessage", "PATCH", MESSAGE, messages::edit),
    route("deleteMessage", "DELETE", MESSAGE, messages::delete),
    route("createReaction", "PUT", OWN_REACTION, reactions::create),
    route("deleteOwnReaction", "DELETE", OWN_REACTION, reactions::delete),
    route("getReactions", "GET", REACTION, reactions::list),
    route("bulkOverwriteGuildApplicationCommands", "PUT", GUILD_COMMANDS, commands::overwrite),
    route("getGuildApplicationCommands", "GET", GUILD_COMMANDS, commands::list),
    route("bulkOverwriteGlobalApplicationCommands", "PUT", COMMANDS, commands::overwrite),
    route("getGlobalApplicationCommands", "GET", COMMANDS, commands::list),
    route("createInteractionResponse", "POST", "/interactions/{}/{}/callback", callback::answer),
    route("getOriginalInteractionResponse", "GET", "/webhooks/{}/{}/messages/@original", webhooks::get),
    route("editOriginalInteractionResponse", "PATCH", "/webhooks/{}/{}/messages/@original", webhooks::edit),
    route("deleteOriginalInteractionResponse", "DELETE", "/webhooks/{}/{}/messages/@original", webhooks::delete),
    route("createFollowupMessage", "POST", WEBHOOK, webhooks::follow_up),
    route("editFollowupMessage", "PATCH", WEBHOOK_MESSAGE, webhooks::edit),
    route("deleteFollowupMessage", "DELETE", WEBHOOK_MESSAGE, webhooks::delete),
];

/// The route of this verb and path, and what stands where the path varies.
pub(crate) fn find(verb: &str, path: &str) -> Option<(&'static Route, Vec<String>)> {
    ROUTES.iter().filter(|route| route.verb == verb).find_map(|route| Some((route, fit(route.path, path)?)))
}

fn fit(pattern: &str, path: &str) -> Option<Vec<String>> {
    let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    let fits = |(wanted, given): (&&str, &&str)| wanted == given || (*wanted == "{}" && !given.is_empty());
    if pattern.len() != path.len() || !pattern.iter().zip(&path).all(fits) {
        return None;
    }
    let varying = pattern.iter().zip(&path).filter(|(wanted, _)| **wanted == "{}");
    Some(varying.map(|(_, given)| decoded(given)).collect())
}

/// An emoji in a path is percent-encoded.
fn decoded(part: &str) -> String {
    form_urlencoded::parse(part.as_bytes()).next().map(|(name, _)| name.into_owned()).unwrap_or_default()
}

impl Route {
    /// Whether it opens itself by a token in its path instead of the bot's.
    pub(crate) fn is_open(&self) -> bool {
        self.path.starts_with("/webhooks/") || self.path.starts_with("/interactions/")
    }

    /// Whether Discord's limits on sending count it.
    pub(crate) fn is_limited(&self) -> bool {
        self.path == MESSAGES && self.verb == "POST"
    }

    /// The channel that it concerns.
    pub(crate) fn channel(&self, state: &State, path: &[String]) -> Option<ChannelId> {
        let first = path.first()?;
        if self.path.starts_with("/channels/") {
            return first.parse().ok().map(ChannelId);
        }
        let interaction = match self.is_open() {
            true if self.path.starts_with("/interactions/") => state.interactions.get(first),
            true => state.interactions.values().find(|one| path.get(1) == Some(&one.token)),
            false => None,
        };
        interaction.map(|interaction| interaction.channel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_apart() {
        let name = |verb, path| find(verb, path).map(|(route, parts)| (route.name, parts));
        assert_eq!(name("GET", "/users/@me"), Some(("getCurrentUser", vec![])));
        assert_eq!(name("GET", "/users/11"), Some(("getUser", vec!["11".to_owned()])));
        let reaction = name("PUT", "/channels/1/messages/2/reactions/%F0%9F%91%8D/@me");
        assert_eq!(reaction, Some(("createReaction", vec!["1".to_owned(), "2".to_owned(), "👍".to_owned()])));
        assert_eq!(
            name("PATCH", "/webhooks/1/t/messages/@original").map(|found| found.0),
            Some("editOriginalInteractionResponse")
        );
        assert_eq!(name("POST", "/users/@me"), None);
    }
}
