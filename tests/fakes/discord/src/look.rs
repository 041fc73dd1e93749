//! Looking: what stands in a channel, what the bot answered, what it called; and waiting for any of it, woken by every
//! change. Nothing here changes anything.

use std::collections::BTreeMap;

use tokio::time::timeout;

use crate::channel::{ChannelId, ChannelKind, Message};
use crate::interactions::CallbackAnswer;
use crate::log::{Call, Count, SentEvent, counts};
use crate::server::Fake;
use crate::state::State;

impl Fake {
    /// All messages of a channel or thread, oldest first, also those for one person's eyes; those that were deleted as
    /// well, marked.
    pub fn messages(&self, channel: ChannelId) -> Vec<Message> {
        let state = self.shared().look();
        state.channels.get(&channel).into_iter().flat_map(|channel| channel.messages.values()).cloned().collect()
    }

    /// What one person sees in a channel now: nothing that was deleted, and what is for others' eyes only neither.
    pub fn seen_by(&self, user: u64, channel: ChannelId) -> Vec<Message> {
        let all = self.messages(channel).into_iter();
        all.filter(|message| !message.deleted && message.ephemeral_for.is_none_or(|only| only == user)).collect()
    }

    /// One message, deleted or not.
    pub fn message(&self, channel: ChannelId, message: u64) -> Option<Message> {
        self.shared().look().channels.get(&channel)?.messages.get(&message).cloned()
    }

    /// What sort of channel it is; none where there is no such channel.
    pub fn kind(&self, channel: ChannelId) -> Option<ChannelKind> {
        Some(self.shared().look().channels.get(&channel)?.kind)
    }

    /// The channel that a thread is below; none where it is no thread.
    pub fn parent(&self, thread: ChannelId) -> Option<ChannelId> {
        self.shared().look().channels.get(&thread)?.parent
    }

    /// The threads below a channel, oldest first, with their names.
    pub fn threads(&self, channel: ChannelId) -> Vec<(ChannelId, String)> {
        let state = self.shared().look();
        let below = state.channels.values().filter(|thread| thread.parent == Some(channel));
        below.map(|thread| (thread.id, thread.name.clone())).collect()
    }

    /// Whether the bot was last seen typing there: since its last message.
    pub fn is_typing(&self, channel: ChannelId) -> bool {
        self.shared().look().typing.contains(&channel)
    }

    /// Waits until the channel shows a message of which `wanted` holds, and gives the first. Fails with a picture of the
    /// channel when the patience is over.
    pub async fn wait_for(&self, channel: ChannelId, wanted: impl Fn(&Message) -> bool) -> Message {
        let find = |state: &State| {
            let shown = state.channels.get(&channel)?.messages.values().filter(|message| !message.deleted);
            shown.into_iter().find(|message| wanted(message)).cloned()
        };
        self.wait(find, || format!("no such message came:\n{}", self.draw(channel))).await
    }

    /// Waits until a thread with this name is below the channel.
    pub async fn wait_for_thread(&self, channel: ChannelId, name: &str) -> ChannelId {
        let find = |state: &State| {
            let mut below = state.channels.values().filter(|thread| thread.parent == Some(channel));
            below.find(|thread| thread.name == name).map(|thread| thread.id)
        };
        self.wait(find, || format!("no thread {name} was opened:\n{}", self.draw(channel))).await
    }

    /// Waits until the log has a call of which `wanted` holds, and gives the first. Fails with the log.
    pub async fn wait_for_call(&self, wanted: impl Fn(&Call) -> bool) -> Call {
        let find = |state: &State| state.log.iter().find(|call| wanted(call)).cloned();
        self.wait(find, || format!("no such call came; the calls so far: {:#?}", self.calls())).await
    }

    /// Waits until a bot listens: it is connected to the gateway and has a session.
    pub async fn wait_until_connected(&self) {
        let find = |state: &State| (state.gateway.listening() > 0).then_some(());
        self.wait(find, || "no bot has a session".to_owned()).await;
    }

    /// Waits until no bot listens.
    pub async fn wait_until_disconnected(&self) {
        let find = |state: &State| (state.gateway.listening() == 0).then_some(());
        self.wait(find, || "a bot still has a session".to_owned()).await;
    }

    /// Waits until every event was sent. Whether the bot has read it, no gateway knows.
    pub async fn wait_until_sent(&self) {
        let find = |state: &State| (state.gateway.waiting() == 0).then_some(());
        self.wait(find, || format!("{} events were not sent", self.unsent())).await;
    }

    /// Events that wait for a connection.
    pub fn unsent(&self) -> usize {
        self.shared().look().gateway.waiting()
    }

    /// Waits for what the bot first answers to a press, a choice, a command, typing or a filled-in window.
    pub async fn callback_answer(&self, interaction: &str) -> CallbackAnswer {
        let find = |state: &State| state.interactions.get(interaction)?.answer.clone();
        self.wait(find, || format!("the interaction {interaction} was not answered")).await
    }

    /// What the bot first answered to an interaction; none before it did.
    pub fn answered(&self, interaction: &str) -> Option<CallbackAnswer> {
        self.shared().look().interactions.get(interaction)?.answer.clone()
    }

    /// Waits for the message that answers an interaction, and for its text where it was only promised.
    pub async fn response(&self, interaction: &str) -> Message {
        let find = |state: &State| {
            let asked = state.interactions.get(interaction)?;
            state.message(asked.channel, asked.original?).filter(|message| !message.thinking).cloned()
        };
        self.wait(find, || format!("no message answered the interaction {interaction}")).await
    }

    /// Waits for what somebody is shown whose press was answered by nothing that is seen: a message behind that, for them
    /// alone, or else the message that they pressed, once it was changed since.
    pub async fn aftermath(&self, interaction: &str) -> Message {
        let find = |state: &State| {
            let asked = state.interactions.get(interaction)?;
            let is_theirs =
                |message: &&Message| message.ephemeral_for.is_some() && message.interaction.as_ref() == Some(&asked.id);
            let mut shown = state.channels.get(&asked.channel)?.messages.values();
            let theirs = shown.find(is_theirs);
            let pressed = asked.message.and_then(|message| state.message(asked.channel, message));
            let changed = pressed.filter(|message| message.edited_ms >= Some(asked.asked_ms));
            theirs.or(changed).cloned()
        };
        self.wait(find, || format!("nothing came of the interaction {interaction}")).await
    }

    /// The commands that the bot registered last, with their descriptions.
    pub fn commands(&self) -> Vec<(String, String)> {
        self.shared().look().commands.listed()
    }

    /// How often each method was called, and how that ended.
    pub fn calls(&self) -> BTreeMap<String, Count> {
        counts(&self.shared().look().log)
    }

    /// Every call of the bot's in the order of arrival.
    pub fn log(&self) -> Vec<Call> {
        self.shared().look().log.clone()
    }

    /// How many calls there were.
    pub fn call_count(&self) -> usize {
        self.shared().look().log.len()
    }

    /// Every event that the gateway sent, in the order in which it did.
    pub fn events(&self) -> Vec<SentEvent> {
        self.shared().look().events.clone()
    }

    /// Whether a bot has a session, so that it is told what happens.
    pub fn is_listened_to(&self) -> bool {
        self.shared().look().gateway.listening() > 0
    }

    /// Looks after every change until something is found.
    async fn wait<T>(&self, find: impl Fn(&State) -> Option<T>, missing: impl Fn() -> String) -> T {
        let mut bell = self.shared().bell();
        let look = async {
            loop {
                bell.mark_unchanged();
                let found = find(&self.shared().look());
                if let Some(found) = found {
                    return found;
                }
                // The bell is gone only with the fake, which `self` keeps.
                drop(bell.changed().await);
            }
        };
        let patience = self.patience();
        let found = timeout(patience, look).await;
        found.unwrap_or_else(|_| panic!("waited for {patience:?}: {}", missing()))
    }
}
