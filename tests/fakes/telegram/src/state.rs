//! Everything the fake knows, behind one lock: chats, people, updates, questions that wait for the bot's answer, faults,
//! the log. Small steps that several rooms need stand here; what the bot may do is in `methods`, what people do in
//! `script`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::chat::{Chat, ChatId, ChatKind, Message, Role, User};
use crate::clock::Clock;
use crate::fault::Faults;
use crate::limits::Limits;
use crate::log::{Call, Outcome};
use crate::look::{CallbackAnswer, InlineAnswer};
use crate::people;
use crate::queue::Queue;
use crate::refusal::Refusal;
use crate::{BOT, json};

/// The state, and a bell that rings whenever it may have changed.
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<u64>,
}

impl Shared {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State::new()), changed: watch::Sender::new(0) }
    }

    pub(crate) fn look(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("invariant: nobody panics while holding the state")
    }

    /// Does it under the lock, and rings.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let done = change(&mut self.look());
        self.changed.send_modify(|count| *count += 1);
        done
    }

    /// Rings for everything that changes after this call.
    pub(crate) fn bell(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

/// A question to the bot that it may answer once: the answer, once it is there.
#[derive(Debug)]
pub(crate) struct Question<T> {
    pub(crate) open: bool,
    pub(crate) answer: Option<T>,
}

impl<T> Question<T> {
    pub(crate) fn new() -> Self {
        Self { open: true, answer: None }
    }
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) chats: BTreeMap<ChatId, Chat>,
    pub(crate) users: BTreeMap<i64, User>,
    pub(crate) queue: Queue,
    pub(crate) callbacks: BTreeMap<String, Question<CallbackAnswer>>,
    pub(crate) inline: BTreeMap<String, Question<InlineAnswer>>,
    /// (name, description) as the bot registered them last.
    pub(crate) commands: Vec<(String, String)>,
    pub(crate) faults: Faults,
    pub(crate) limits: Limits,
    pub(crate) log: Vec<Call>,
    pub(crate) clock: Clock,
    /// Whether a bot that is no administrator gets only what concerns it.
    pub(crate) privacy: bool,
    /// Whether the bot is asked what to offer to people who type its name.
    pub(crate) inline_mode: bool,
    /// Where the bot's updates are said to go instead; empty where nowhere. Nothing is ever sent there.
    pub(crate) webhook: String,
    pub(crate) started: Instant,
    questions: u64,
    groups: i64,
}

impl State {
    fn new() -> Self {
        Self {
            chats: BTreeMap::new(),
            users: people::everybody(),
            queue: Queue::new(),
            callbacks: BTreeMap::new(),
            inline: BTreeMap::new(),
            commands: Vec::new(),
            faults: Faults::default(),
            limits: Limits::default(),
            log: Vec::new(),
            clock: Clock::default(),
            privacy: false,
            inline_mode: true,
            webhook: String::new(),
            started: Instant::now(),
            questions: 0,
            groups: 0,
        }
    }

    /// A new group, supergroup or channel.
    pub(crate) fn add_chat(&mut self, kind: ChatKind, title: &str) -> ChatId {
        self.groups += 1;
        let id = match kind {
            ChatKind::Group => ChatId(-4_000_000 - self.groups),
            _ => ChatId(-1_001_000_000_000 - self.groups),
        };
        self.chats.insert(id, Chat::new(id, kind, title));
        id
    }

    /// An id as Telegram gives questions: digits, and never the same twice.
    pub(crate) fn question_id(&mut self) -> String {
        self.questions += 1;
        (4_000_000_000_000_000_000 + self.questions).to_string()
    }

    /// The chat, if the bot may know it.
    pub(crate) fn chat(&self, id: ChatId) -> Result<&Chat, Refusal> {
        self.chats.get(&id).ok_or_else(|| Refusal::bad("chat not found"))
    }

    /// The chat, if the bot may write there.
    pub(crate) fn writable(&mut self, id: ChatId) -> Result<&mut Chat, Refusal> {
        let blocked = self.users.get(&id.0).is_some_and(|user| user.blocked);
        let chat = self.chats.get_mut(&id).ok_or_else(|| Refusal::bad("chat not found"))?;
        let word = chat.kind.word();
        if let Some(to) = chat.moved_to {
            return Err(Refusal::moved(to.0));
        }
        match chat.bot {
            _ if blocked => Err(Refusal::forbidden("bot was blocked by the user")),
            Role::Kicked => Err(Refusal::forbidden(format!("bot was kicked from the {word} chat"))),
            Role::Left => Err(Refusal::forbidden(format!("bot is not a member of the {word} chat"))),
            Role::Member if chat.kind == ChatKind::Channel => {
                Err(Refusal::bad("need administrator rights in the channel chat"))
            }
            Role::Creator | Role::Administrator | Role::Member => Ok(chat),
        }
    }

    /// Queues an update, late if a fault says so.
    pub(crate) fn tell(&mut self, kind: &str, chat: Option<ChatId>, body: Value) -> bool {
        let held = self.faults.reorders(chat);
        self.queue.push(kind, chat, body, held)
    }

    /// Queues the message as new or edited, unless the bot is not to see it.
    pub(crate) fn tell_message(&mut self, id: ChatId, message: i64, edited: bool) {
        let Some(chat) = self.chats.get(&id) else { return };
        let Some(message) = chat.shown(message) else { return };
        if matches!(chat.bot, Role::Kicked | Role::Left) || !self.concerns_bot(chat, message) {
            return;
        }
        let kind = match (chat.kind == ChatKind::Channel, edited) {
            (false, false) => "message",
            (false, true) => "edited_message",
            (true, false) => "channel_post",
            (true, true) => "edited_channel_post",
        };
        let body = json::message(self, chat, message);
        self.tell(kind, Some(id), body);
    }

    /// Privacy mode (Bot API, "Privacy mode"): in a group, a bot that is no administrator gets commands that are not
    /// meant for another bot, mentions of it, and answers to it.
    fn concerns_bot(&self, chat: &Chat, message: &Message) -> bool {
        let group = !matches!(chat.kind, ChatKind::Private | ChatKind::Channel);
        if !self.privacy || !group || chat.bot == Role::Administrator || message.service.is_some() {
            return true;
        }
        let answers = message.reply_to.and_then(|id| chat.shown(id)).is_some_and(|answered| answered.from_bot);
        answers || message.via_bot == Some(BOT) || message.entities.iter().any(|entity| addresses(message, entity))
    }

    /// Tells the bot what it has become in a chat, as somebody who did nothing else.
    pub(crate) fn set_bot_role(&mut self, id: ChatId, role: Role) {
        let date = self.clock.now();
        let Some(chat) = self.chats.get_mut(&id) else { return };
        let old = std::mem::replace(&mut chat.bot, role);
        let Some(chat) = self.chats.get(&id) else { return };
        let Some(bot) = self.users.get(&BOT) else { return };
        let by = chat.members.keys().next().and_then(|id| self.users.get(id)).unwrap_or(bot);
        let body = json!({
            "chat": json::chat(self, chat),
            "from": json::user(by),
            "date": date,
            "old_chat_member": json::member(bot, old),
            "new_chat_member": json::member(bot, role),
        });
        if old != role {
            self.tell("my_chat_member", Some(id), body);
        }
    }

    /// Writes a call down as open.
    pub(crate) fn note(&mut self, method: &str, chat: Option<ChatId>, params: Value) -> u64 {
        let sequence = u64::try_from(self.log.len()).unwrap_or(u64::MAX) + 1;
        let at = self.started.elapsed();
        self.log.push(Call { sequence, at, method: method.to_owned(), chat, params, outcome: Outcome::Open });
        sequence
    }

    /// Writes down what came of a call.
    pub(crate) fn note_outcome(&mut self, sequence: u64, outcome: Outcome) {
        let at = usize::try_from(sequence - 1).unwrap_or(usize::MAX);
        if let Some(call) = self.log.get_mut(at) {
            call.outcome = outcome;
        }
    }
}

fn addresses(message: &Message, entity: &crate::Entity) -> bool {
    use crate::EntityKind::{BotCommand, Mention, TextMention};
    let part = crate::entities::slice(&message.text, entity.offset, entity.length);
    let names_bot = |name: &str| name.eq_ignore_ascii_case(people::BOT_USERNAME);
    match &entity.kind {
        BotCommand => part.split_once('@').is_none_or(|(_, bot)| names_bot(bot)),
        Mention => part.strip_prefix('@').is_some_and(names_bot),
        TextMention(id) => *id == BOT,
        _ => false,
    }
}
