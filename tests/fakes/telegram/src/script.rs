//! What people do: they write, edit, delete, press buttons, react, and ask inline. Each is told to the bot as Telegram
//! would tell it, or not at all where Telegram would not. Setting the scene is in `setup`, looking at it in `look`.

use serde_json::{Value, json};

use crate::chat::{Chat, ChatId, ChatKind, Document, Message, Origin, Quote, Role};
use crate::entities::{Entity, EntityKind, Formatted, units};
use crate::people::{ANONYMOUS_ADMIN, CHANNEL_BOT};
use crate::server::Fake;
use crate::state::{Question, State};
use crate::{BOT, json, methods, reactions};

/// What cannot be done, as a sentence.
type Played<T> = Result<T, String>;

/// A message that somebody writes. Mentions, commands, tags and links are marked as Telegram marks them.
#[derive(Debug, Clone)]
#[must_use]
pub struct Say {
    from: i64,
    chat: ChatId,
    text: String,
    topic: Option<i64>,
    reply_to: Option<i64>,
    quote: Option<String>,
    mentions: Vec<(i64, String)>,
    via_bot: Option<i64>,
    forwarded: Option<Origin>,
    sender_chat: Option<ChatId>,
    document: Option<Document>,
    /// As the bot marked it, where it is one of its results.
    marked: Option<Formatted>,
}

impl Say {
    /// In a channel, `from` does not matter: a post is the channel's.
    pub fn new(from: i64, chat: ChatId, text: &str) -> Self {
        Self {
            from,
            chat,
            text: text.to_owned(),
            topic: None,
            reply_to: None,
            quote: None,
            mentions: Vec::new(),
            via_bot: None,
            forwarded: None,
            sender_chat: None,
            document: None,
            marked: None,
        }
    }

    /// In this topic of a forum.
    pub fn topic(self, topic: i64) -> Self {
        Self { topic: Some(topic), ..self }
    }

    /// As an answer to this message, in its topic.
    pub fn reply_to(self, message: i64) -> Self {
        Self { reply_to: Some(message), ..self }
    }

    /// Quotes this part of the message that is answered.
    pub fn quote(self, part: &str) -> Self {
        Self { quote: Some(part.to_owned()), ..self }
    }

    /// Mentions somebody by a name that stands in the text, as people without a user's name are mentioned.
    pub fn mention(mut self, user: i64, name: &str) -> Self {
        self.mentions.push((user, name.to_owned()));
        self
    }

    /// As the result of an inline query of this bot.
    pub fn via_bot(self, bot: i64) -> Self {
        Self { via_bot: Some(bot), ..self }
    }

    /// Forwarded from elsewhere.
    pub fn forwarded(self, origin: Origin) -> Self {
        Self { forwarded: Some(origin), ..self }
    }

    /// As an anonymous administrator of the group: in its name, by the account that all of them share.
    pub fn anonymous(self) -> Self {
        Self { sender_chat: Some(self.chat), from: ANONYMOUS_ADMIN, ..self }
    }

    /// In the name of a channel.
    pub fn as_channel(self, channel: ChatId) -> Self {
        Self { sender_chat: Some(channel), from: CHANNEL_BOT, ..self }
    }

    /// With a file; the text is its caption.
    pub fn document(self, name: &str, bytes: &[u8]) -> Self {
        let (name, bytes) = (name.to_owned(), bytes.to_vec().into());
        Self { document: Some(Document { name, mime: None, bytes }), ..self }
    }

    fn formatted(&self) -> Played<Formatted> {
        if let Some(marked) = &self.marked {
            return Ok(marked.clone());
        }
        let mark = |(user, name): &(i64, String)| {
            let at = self.text.find(name).ok_or_else(|| format!("`{name}` does not stand in `{}`", self.text))?;
            let offset = units(self.text.get(..at).unwrap_or_default());
            Ok::<_, String>(Entity { kind: EntityKind::TextMention(*user), offset, length: units(name) })
        };
        let entities = self.mentions.iter().map(mark).collect::<Result<_, _>>()?;
        Ok(Formatted { text: self.text.clone(), entities }.finished())
    }
}

fn say(state: &mut State, said: Say) -> Played<i64> {
    let (date, formatted) = (state.clock.now(), said.formatted()?);
    if !state.users.contains_key(&said.from) {
        return Err(format!("there is no user {}: make one with Fake::user first", said.from));
    }
    let chat = state.chats.get_mut(&said.chat).ok_or_else(|| format!("there is no chat {:?}", said.chat))?;
    if let Some(topic) = said.topic.filter(|topic| !chat.topics.contains_key(topic)) {
        return Err(format!("{} has no topic {topic}", chat.title));
    }
    let mut message = Message::new(said.chat, chat.next_id(), date);
    let answered = match said.reply_to {
        Some(id) => Some(chat.shown(id).ok_or_else(|| format!("{} shows no message {id}", chat.title))?),
        None => None,
    };
    message.quote = match (said.quote, answered) {
        (Some(part), Some(answered)) => Some(quote(&part, answered)?),
        (Some(part), None) => return Err(format!("`{part}` is quoted from no message")),
        (None, _) => None,
    };
    message.topic = answered.and_then(|answered| answered.topic).or(said.topic);
    message.reply_to = said.reply_to;
    if chat.kind == ChatKind::Channel {
        message.sender_chat = Some(said.chat);
    } else {
        message.from = Some(said.from);
        message.sender_chat = said.sender_chat;
        chat.members.entry(said.from).or_insert(Role::Member);
    }
    message.via_bot = said.via_bot;
    message.forwarded = said.forwarded;
    message.document = said.document;
    message.text = formatted.text;
    message.entities = formatted.entities;
    let id = message.id;
    chat.messages.insert(id, message);
    state.tell_message(said.chat, id, false);
    Ok(id)
}

fn quote(part: &str, answered: &Message) -> Played<Quote> {
    let at = answered.text.find(part).ok_or_else(|| format!("`{part}` does not stand in message {}", answered.id))?;
    Ok(Quote { text: part.to_owned(), position: units(answered.text.get(..at).unwrap_or_default()) })
}

fn edit(state: &mut State, chat: ChatId, id: i64, text: &str) -> Played<()> {
    let date = state.clock.now();
    let message = shown(state, chat, id)?;
    if message.from_bot {
        return Err(format!("message {id} is the bot's; nobody else can edit it"));
    }
    let formatted = Formatted { text: text.to_owned(), entities: Vec::new() }.finished();
    message.text = formatted.text;
    message.entities = formatted.entities;
    message.edits += 1;
    message.edit_date = Some(date);
    state.tell_message(chat, id, true);
    Ok(())
}

fn shown(state: &mut State, chat: ChatId, id: i64) -> Played<&mut Message> {
    let chat = state.chats.get_mut(&chat).ok_or_else(|| format!("there is no chat {chat:?}"))?;
    let title = chat.title.clone();
    chat.shown_mut(id).ok_or_else(|| format!("{title} shows no message {id}"))
}

fn press(state: &mut State, user: i64, chat: ChatId, id: i64, label: &str) -> Played<String> {
    let message = shown(state, chat, id)?;
    let labels = message.labels().join("`, `");
    let button =
        message.button(label).ok_or_else(|| format!("message {id} has no button `{label}`, but `{labels}`"))?;
    let data = button.data.clone().ok_or_else(|| format!("the button `{label}` does not call back"))?;
    press_data(state, user, chat, id, &data)
}

/// The bot is told with the message as it is now, or, where it is gone, only with its id.
fn press_data(state: &mut State, user: i64, id: ChatId, message: i64, data: &str) -> Played<String> {
    let callback = state.question_id();
    let from = state.users.get(&user).ok_or_else(|| format!("there is no user {user}"))?;
    let chat = state.chats.get(&id).ok_or_else(|| format!("there is no chat {id:?}"))?;
    let about = match chat.shown(message) {
        Some(message) => json::message(state, chat, message),
        None => json!({ "chat": json::chat(state, chat), "message_id": message, "date": 0 }),
    };
    let body = json!({
        "id": callback,
        "from": json::user(from),
        "message": about,
        "chat_instance": (6_000_000_000_000 + id.0.unsigned_abs()).to_string(),
        "data": data,
    });
    state.callbacks.insert(callback.clone(), Question::new());
    state.tell("callback_query", Some(id), body);
    Ok(callback)
}

/// Telegram tells a bot of reactions in private chats and where it is an administrator. `actor` is a user or a chat.
fn react(state: &mut State, actor: i64, id: ChatId, message: i64, emoji: Option<&str>) -> Played<()> {
    let date = state.clock.now();
    if let Some(emoji) = emoji.filter(|emoji| !reactions::allowed(emoji)) {
        return Err(format!("{emoji} is no reaction that Telegram knows"));
    }
    let new: Vec<String> = emoji.into_iter().map(str::to_owned).collect();
    let shown = shown(state, id, message)?;
    let old = shown.reactions.remove(&actor).unwrap_or_default();
    if !new.is_empty() {
        shown.reactions.insert(actor, new.clone());
    }
    let chat = state.chats.get(&id).ok_or_else(|| format!("there is no chat {id:?}"))?;
    if old == new || !(chat.kind == ChatKind::Private || chat.bot == Role::Administrator) {
        return Ok(());
    }
    let (field, who) = acting(state, actor)?;
    let body = json!({
        "chat": json::chat(state, chat),
        "message_id": message,
        field: who,
        "date": date,
        "old_reaction": json::reactions(&old),
        "new_reaction": json::reactions(&new),
    });
    state.tell("message_reaction", Some(id), body);
    Ok(())
}

fn acting(state: &State, actor: i64) -> Played<(&'static str, Value)> {
    let as_chat = |chat: &Chat| ("actor_chat", json::chat(state, chat));
    let user = state.users.get(&actor).map(|user| ("user", json::user(user)));
    user.or_else(|| state.chats.get(&ChatId(actor)).map(as_chat)).ok_or_else(|| format!("there is no user {actor}"))
}

fn inline_query(state: &mut State, user: i64, text: &str) -> Played<String> {
    if !state.inline_mode {
        return Err("inline mode is off, so that the bot is not asked: see Fake::set_inline".to_owned());
    }
    let query = state.question_id();
    let from = state.users.get(&user).ok_or_else(|| format!("there is no user {user}"))?;
    let body = json!({ "id": query, "from": json::user(from), "query": text, "offset": "" });
    state.inline.insert(query.clone(), Question::new());
    state.tell("inline_query", None, body);
    Ok(query)
}

fn choose(state: &mut State, user: i64, chat: ChatId, query: &str, result: &str) -> Played<i64> {
    let answer = state.inline.get(query).and_then(|question| question.answer.as_ref());
    let answer = answer.ok_or_else(|| format!("the inline query {query} was not answered"))?;
    let chosen = answer.results.iter().find(|offered| offered["id"] == result);
    let chosen = chosen.ok_or_else(|| format!("the inline query {query} has no result `{result}`"))?;
    let marked = methods::content(chosen).map_err(|refusal| format!("the result is none: {refusal:?}"))?;
    let said = Say { marked: Some(marked), ..Say::new(user, chat, "") };
    say(state, said.via_bot(BOT))
}

/// What a script comes to, or the end of the test with the reason.
#[track_caller]
fn played<T>(done: Played<T>) -> T {
    done.unwrap_or_else(|why| panic!("this cannot be done in the fake: {why}"))
}

impl Fake {
    /// Somebody writes; the message's id.
    #[track_caller]
    pub fn say(&self, said: Say) -> i64 {
        played(self.try_say(said))
    }

    /// As [`Fake::say`], with the reason where it cannot be done.
    pub fn try_say(&self, said: Say) -> Result<i64, String> {
        self.shared().change(|state| say(state, said))
    }

    /// Whoever wrote a message changes it.
    #[track_caller]
    pub fn edit(&self, chat: ChatId, message: i64, text: &str) {
        played(self.try_edit(chat, message, text));
    }

    /// As [`Fake::edit`], with the reason where it cannot be done.
    pub fn try_edit(&self, chat: ChatId, message: i64, text: &str) -> Result<(), String> {
        self.shared().change(|state| edit(state, chat, message, text))
    }

    /// Somebody takes a message away, also one of the bot's. No bot is told.
    #[track_caller]
    pub fn delete(&self, chat: ChatId, message: i64) {
        played(self.shared().change(|state| shown(state, chat, message).map(|message| message.deleted = true)));
    }

    /// Somebody presses the button with this label; the callback's id.
    #[track_caller]
    pub fn press(&self, user: i64, chat: ChatId, message: i64, label: &str) -> String {
        played(self.try_press(user, chat, message, label))
    }

    /// As [`Fake::press`], with the reason where it cannot be done.
    pub fn try_press(&self, user: i64, chat: ChatId, message: i64, label: &str) -> Result<String, String> {
        self.shared().change(|state| press(state, user, chat, message, label))
    }

    /// Somebody sends this data as if a button bore it, or bears it no more: a forged or a belated press.
    #[track_caller]
    pub fn press_data(&self, user: i64, chat: ChatId, message: i64, data: &str) -> String {
        played(self.shared().change(|state| press_data(state, user, chat, message, data)))
    }

    /// An update that this fake would not make, handed out as it is; only its number is the fake's. Of what it says nothing
    /// stands in any chat.
    pub fn hand_out(&self, update: Value) {
        self.shared().change(|state| state.queue.push_as_it_is(update));
    }

    /// Too much time went by: the callback can be answered no more.
    pub fn expire(&self, callback: &str) {
        self.shared().change(|state| state.callbacks.get_mut(callback).map(|question| question.open = false));
    }

    /// Somebody reacts, instead of with what they reacted before.
    #[track_caller]
    pub fn react(&self, user: i64, chat: ChatId, message: i64, emoji: &str) {
        played(self.try_react(user, chat, message, Some(emoji)));
    }

    /// Somebody takes their reaction back.
    #[track_caller]
    pub fn unreact(&self, user: i64, chat: ChatId, message: i64) {
        played(self.try_react(user, chat, message, None));
    }

    /// An anonymous administrator reacts: in the name of the group.
    #[track_caller]
    pub fn react_anonymously(&self, chat: ChatId, message: i64, emoji: &str) {
        played(self.try_react(chat.0, chat, message, Some(emoji)));
    }

    /// As [`Fake::react`] and [`Fake::unreact`], with the reason where it cannot be done.
    pub fn try_react(&self, user: i64, chat: ChatId, message: i64, emoji: Option<&str>) -> Result<(), String> {
        self.shared().change(|state| react(state, user, chat, message, emoji))
    }

    /// Somebody types `@bot text` in any chat; the query's id.
    #[track_caller]
    pub fn inline_query(&self, user: i64, text: &str) -> String {
        played(self.try_inline_query(user, text))
    }

    /// As [`Fake::inline_query`], with the reason where it cannot be done.
    pub fn try_inline_query(&self, user: i64, text: &str) -> Result<String, String> {
        self.shared().change(|state| inline_query(state, user, text))
    }

    /// Somebody takes one of the results, which is then their message, by way of the bot; its id.
    #[track_caller]
    pub fn choose(&self, user: i64, chat: ChatId, query: &str, result: &str) -> i64 {
        played(self.shared().change(|state| choose(state, user, chat, query, result)))
    }
}
