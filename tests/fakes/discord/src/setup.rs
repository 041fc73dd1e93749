//! Setting the scene: people, roles, channels, threads, rights, faults and switches. What people do in it is in `script`
//! and `interact`.

use std::time::Duration;

use crate::channel::{Access, Channel, ChannelId, ChannelKind};
use crate::fault::Fault;
use crate::gateway::{MESSAGE_CONTENT, Order};
use crate::people::{self, Guild};
use crate::routes::{open_thread, private};
use crate::server::Fake;
use crate::state::State;
use crate::{BOT, GUILD};

impl Fake {
    /// A person with this id and name, in the server; the id again. The user's name is made from the name.
    pub fn user(&self, id: u64, name: &str) -> u64 {
        self.shared().change(|state| add(state, people::person(id, name)));
        id
    }

    /// Another bot's account.
    pub fn bot(&self, id: u64, name: &str) -> u64 {
        self.shared().change(|state| add(state, crate::User { is_bot: true, ..people::person(id, name) }));
        id
    }

    /// A webhook, which writes under a name and is nobody.
    pub fn webhook(&self, id: u64, name: &str) -> u64 {
        let webhook = crate::User { is_webhook: true, ..people::person(id, name) };
        self.shared().change(|state| state.users.insert(id, webhook));
        id
    }

    /// A role of the server; its id.
    pub fn role(&self, name: &str) -> u64 {
        self.shared().change(|state| {
            let id = state.clock.id();
            if let Some(guild) = state.guilds.get_mut(&GUILD) {
                guild.roles.insert(id, name.to_owned());
            }
            id
        })
    }

    /// The roles that somebody has in the server, instead of those before. The bot is not told: it gets them with whatever
    /// the person does next.
    pub fn set_roles(&self, user: u64, roles: &[u64]) {
        let done = self.shared().change(|state| {
            let guild = state.guilds.get_mut(&GUILD)?;
            guild.members.get_mut(&user).map(|own| *own = roles.to_vec())
        });
        assert!(done.is_some(), "there is no user {user} in the server");
    }

    /// Somebody is in the server no more.
    pub fn leave(&self, user: u64) {
        self.shared().change(|state| state.guilds.get_mut(&GUILD).map(|guild| guild.members.remove(&user)));
    }

    /// Another server that the bot is in; its id. Nobody else is in it before they say something there.
    pub fn guild(&self, name: &str) -> u64 {
        self.shared().change(|state| {
            let id = state.clock.id();
            state.guilds.insert(id, Guild::new(id, name));
            id
        })
    }

    /// The direct messages of a person with the bot. The person must be known.
    pub fn private(&self, user: u64) -> ChannelId {
        let id = self.shared().change(|state| state.users.contains_key(&user).then(|| private(state, user)));
        id.unwrap_or_else(|| panic!("there is no user {user}: make one with Fake::user first"))
    }

    /// A text channel of the server.
    pub fn channel(&self, name: &str) -> ChannelId {
        self.channel_in(GUILD, name)
    }

    /// A text channel of another server.
    pub fn channel_in(&self, guild: u64, name: &str) -> ChannelId {
        self.shared().change(|state| {
            let id = ChannelId(state.clock.id());
            let mut channel = Channel::new(id, ChannelKind::Text, name);
            channel.guild = Some(guild);
            state.channels.insert(id, channel);
            state.tell_channel("CHANNEL_CREATE", id);
            id
        })
    }

    /// A thread below a channel, opened by somebody; the bot is told.
    pub fn thread(&self, user: u64, channel: ChannelId, name: &str) -> ChannelId {
        self.shared().change(|state| open_thread(state, user, channel, None, name, false))
    }

    /// A thread opened by somebody from a message; its id is the message's. The bot is told.
    pub fn thread_from(&self, user: u64, channel: ChannelId, message: u64, name: &str) -> ChannelId {
        self.shared().change(|state| open_thread(state, user, channel, Some(message), name, false))
    }

    /// Puts a thread away: whoever writes there brings it back. Closed, it stays away.
    pub fn archive(&self, thread: ChannelId, closed: bool) {
        self.shared().change(|state| {
            if let Some(thread) = state.channels.get_mut(&thread) {
                (thread.archived, thread.locked) = (true, closed);
            }
            state.tell_channel("THREAD_UPDATE", thread);
        });
    }

    /// What the bot may do in a channel, and in the threads below it.
    pub fn set_access(&self, channel: ChannelId, access: Access) {
        let done = self.shared().change(|state| state.channels.get_mut(&channel).map(|channel| channel.bot = access));
        assert!(done.is_some(), "there is no channel {channel:?}");
    }

    /// Takes the bot out of a channel.
    pub fn kick(&self, channel: ChannelId) {
        self.set_access(channel, Access::None);
    }

    /// Lets the bot into it again.
    pub fn invite(&self, channel: ChannelId) {
        self.set_access(channel, Access::Full);
    }

    /// The person takes no direct messages from the bot.
    pub fn block(&self, user: u64) {
        self.set_blocked(user, true);
    }

    /// The person takes them again.
    pub fn unblock(&self, user: u64) {
        self.set_blocked(user, false);
    }

    fn set_blocked(&self, user: u64, blocked: bool) {
        let found = self.shared().change(|state| state.users.get_mut(&user).map(|user| user.blocked = blocked));
        assert!(found.is_some(), "there is no user {user}");
    }

    /// Whether the application was granted the intent for the content of messages. Granted at first. Without it, asking for
    /// it ends the connection (4014), and listings come without what people write to each other.
    pub fn set_message_content(&self, granted: bool) {
        self.set_granted(MESSAGE_CONTENT, granted);
    }

    /// The same for any of the privileged intents, by its bit.
    pub fn set_granted(&self, intent: u64, granted: bool) {
        self.shared().change(|state| {
            state.gateway.granted =
                if granted { state.gateway.granted | intent } else { state.gateway.granted & !intent };
        });
    }

    /// How often a connection made from now on is asked for a heartbeat. 41.25 seconds at first.
    pub fn set_heartbeat(&self, interval: Duration) {
        self.shared().change(|state| state.gateway.heartbeat = interval);
    }

    /// The limit on messages in a channel. Off at first.
    pub fn set_limits(&self, on: bool) {
        self.shared().change(|state| state.limits.on = on);
    }

    /// How many messages in a channel in how long; five in five seconds at first.
    pub fn set_bucket(&self, messages: usize, within: Duration) {
        self.shared().change(|state| state.limits.bucket = (messages, within));
    }

    /// Stops the clock at this second since 1970. Then nothing is too late until it is moved. The wall clock's at first.
    pub fn set_date(&self, unix: u64) {
        self.shared().change(|state| state.clock.set(unix));
    }

    /// Moves the clock on: past the three seconds of an interaction, or the fifteen minutes of its token.
    pub fn advance(&self, by: Duration) {
        self.shared().change(|state| state.clock.advance(by));
    }

    /// Lets something go wrong. Rules are tried in the order in which they were made; the first that strikes counts.
    pub fn fault(&self, fault: Fault) {
        self.shared().change(|state| state.faults.add(fault));
    }

    /// Ends all faults. What already waits for an answer that never comes goes on waiting.
    pub fn clear_faults(&self) {
        self.shared().change(|state| state.faults.clear());
    }

    /// The gateway asks every connection to come again and resume (op 7).
    pub fn ask_to_reconnect(&self) {
        self.order(&Order::Send(r#"{"op":7,"d":null,"s":null,"t":null}"#.to_owned()));
    }

    /// The gateway declares every session invalid (op 9). What is not resumable is forgotten, with what was not read.
    pub fn invalidate(&self, resumable: bool) {
        self.order(&Order::Send(format!(r#"{{"op":9,"d":{resumable},"s":null,"t":null}}"#)));
        if !resumable {
            self.forget_sessions();
        }
    }

    /// The gateway closes every connection with this code (4000 to 4014, or 1001).
    pub fn close_gateway(&self, code: u16) {
        self.order(&Order::Close(code, String::new()));
    }

    /// Cuts every connection to the gateway without a word. The sessions stay, so that they can be resumed.
    pub fn cut_gateway(&self) {
        self.order(&Order::Cut);
    }

    /// Every connection to the gateway goes quiet: it stays open, and nothing is sent on it ever again. A new one is fine.
    pub fn silence_gateway(&self) {
        self.order(&Order::Silence);
    }

    /// No session can be resumed any more: after a long outage.
    pub fn forget_sessions(&self) {
        self.shared().change(|state| state.gateway.forget_sessions());
    }

    fn order(&self, order: &Order) {
        self.shared().change(|state| state.gateway.order_all(order));
    }
}

fn add(state: &mut State, user: crate::User) {
    if let Some(guild) = state.guilds.get_mut(&GUILD) {
        guild.members.entry(user.id).or_default();
    }
    debug_assert_ne!(user.id, BOT, "the bot under test is always there");
    state.users.insert(user.id, user);
}
