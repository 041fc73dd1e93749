//! Discord, as the tests of every platform play it: its fake, asked and looked at in their words. What is Discord's alone is
//! asked of the fake itself.

use std::time::Duration;

use countersign_discord_fake::{AnswerKind, Call, ChannelId, ChannelKind, Fake, Fault, Key, Message, Outcome, Say};

use super::chat::{Chat, Shown, Told};
use super::stage::{self, Pace};

pub(crate) use super::stage::{ANN, BOB, CAROL, EVE, Script, TOM};

/// A team on Discord.
pub(crate) type Stage = stage::Stage<Fake>;

/// What the numbers of people are counted from: no account of Discord's has fewer than 17 digits.
const PEOPLE: u64 = 100_000_000_000_000_000;

/// The account of somebody.
pub(crate) fn user(id: i64) -> u64 {
    PEOPLE + number(id)
}

/// A message, whose number has no sign on Discord.
pub(crate) fn number(id: i64) -> u64 {
    u64::try_from(id).expect("invariant: no number of the tests is negative")
}

/// A message as the tests have it: the highest bit of Discord's numbers is not in use before the year 2084.
pub(crate) fn id(number: u64) -> i64 {
    i64::try_from(number).expect("invariant: the time in it is before 2084")
}

impl Chat for Fake {
    type Room = ChannelId;
    const PLATFORM: &str = "discord";
    const TOKEN: &str = "COUNTERSIGN_DISCORD__TOKEN";
    const ANSWERS_ALONE: bool = true;

    async fn open(patience: Duration) -> Self {
        let fake = Self::start().await;
        fake.set_patience(patience);
        fake
    }

    fn bot_token(&self) -> String {
        self.token().to_owned()
    }

    fn configuration(&self, pace: Pace) -> String {
        let limits = match pace {
            Pace::Free => "per_second = 0\nper_channel_per_second = 0\n",
            Pace::OneASecond => "per_channel_per_second = 1\n",
        };
        format!("[discord]\napi_url = \"{}\"\n{limits}", self.base_url())
    }

    async fn has_heard_all(&self) {
        Fake::has_heard_all(self).await;
    }

    fn mark(&self) -> usize {
        self.call_count()
    }

    async fn listens_since(&self, mark: usize) {
        let is_new = |sequence: u64| usize::try_from(sequence).is_ok_and(|sequence| sequence > mark);
        self.wait_for_call(|call| call.method == "identify" && is_new(call.sequence) && call.outcome.took_effect())
            .await;
    }

    fn account(id: i64) -> String {
        user(id).to_string()
    }

    fn person(&self, id: i64, name: &str) -> i64 {
        self.user(user(id), name);
        id
    }

    fn room(&self, name: &str) -> ChannelId {
        self.channel(name)
    }

    fn private_room(&self, who: i64) -> ChannelId {
        self.private(user(who))
    }

    fn is_private(&self, room: ChannelId) -> bool {
        self.kind(room) == Some(ChannelKind::Private)
    }

    fn to_the_bot(&self, room: ChannelId, text: &str) -> String {
        if self.is_private(room) { text.to_owned() } else { format!("{} {text}", self.bot_mention()) }
    }

    fn write(&self, who: i64, room: ChannelId, text: &str, reply_to: Option<i64>) -> i64 {
        let said = Say::new(user(who), room, text);
        id(self.say(match reply_to {
            Some(message) => said.reply_to(number(message)),
            None => said,
        }))
    }

    fn rewrite(&self, room: ChannelId, message: i64, text: &str) {
        self.edit(room, number(message), text);
    }

    fn press_button(&self, who: i64, room: ChannelId, message: i64, label: &str) -> String {
        self.press(user(who), room, number(message), label)
    }

    fn press_data_of(&self, who: i64, room: ChannelId, message: i64, data: &str) -> String {
        self.press_data(user(who), room, number(message), data)
    }

    async fn told(&self, press: &str) -> Told {
        let answer = self.callback_answer(press).await;
        match answer.kind {
            AnswerKind::Modal => Box::pin(self.told(&self.submit(press, &[]))).await,
            // The message that was pressed says what came of it, or what follows says it to one person.
            AnswerKind::DeferredUpdate => self.aftermath(press).await.into(),
            AnswerKind::Message | AnswerKind::Deferred | AnswerKind::Update | AnswerKind::Choices => {
                self.response(press).await.into()
            }
        }
    }

    fn let_react(&self, _: ChannelId) {}

    fn add_reaction(&self, who: i64, room: ChannelId, message: i64, emoji: &str) {
        self.react(user(who), room, number(message), emoji);
    }

    fn take_reaction(&self, who: i64, room: ChannelId, message: i64, emoji: &str) {
        self.unreact(user(who), room, number(message), emoji);
    }

    fn repeat_next(&self, times: u32) {
        self.fault(Fault::duplicate(times).next(1));
    }

    fn refuse_messages(&self, room: ChannelId) {
        self.fault(Fault::too_many(Duration::from_secs(1)).in_channel(room).on("createMessage").always());
    }

    async fn message_refused(&self, room: ChannelId, with_buttons: bool) {
        let is_message = |call: &Call| call.method == "createMessage" && call.channel == Some(room);
        let is_refused = |call: &Call| matches!(call.outcome, Outcome::Refused { status: 429, .. });
        let has_buttons = |call: &Call| call.params["components"].as_array().is_some_and(|rows| !rows.is_empty());
        self.wait_for_call(|call| is_message(call) && is_refused(call) && (!with_buttons || has_buttons(call))).await;
    }

    fn take_messages(&self) {
        self.clear_faults();
    }

    fn all(&self, room: ChannelId) -> Vec<Shown> {
        self.messages(room).into_iter().filter(is_for_all).map(Shown::from).collect()
    }

    async fn seen(&self, room: ChannelId, wanted: impl Fn(&Shown) -> bool) -> Shown {
        self.wait_for(room, |message| is_for_all(message) && wanted(&message.clone().into())).await.into()
    }

    fn sent(&self) -> String {
        let calls: Vec<String> = self.log().iter().map(|call| format!("{} {}", call.method, call.params)).collect();
        calls.join("\n")
    }

    fn picture(&self, room: ChannelId) -> String {
        self.draw(room)
    }
}

fn is_for_all(message: &Message) -> bool {
    message.ephemeral_for.is_none()
}

impl From<Message> for Shown {
    fn from(message: Message) -> Self {
        let buttons = message.keyboard.rows.iter().flatten().filter_map(|key| match key {
            Key::Button(button) => Some((button.text.clone(), button.data.clone().unwrap_or_default())),
            Key::Select(_) => None,
        });
        let buttons = buttons.collect();
        let text = message.plain();
        let Message { from_bot, reply_to, deleted, .. } = message;
        Self { id: id(message.id), from_bot, text, reply_to: reply_to.map(id), deleted, buttons }
    }
}

impl From<Message> for Told {
    fn from(message: Message) -> Self {
        Self { text: message.plain(), alone: message.ephemeral_for.is_some() }
    }
}
