//! Telegram, as the tests of every platform play it: its fake, asked and looked at in their words. What is Telegram's alone is
//! asked of the fake itself.

use std::time::Duration;

use countersign_telegram_fake::{Call, ChatId, Fake, Fault, Message, Outcome, Say};

use super::chat::{Chat, Shown, Told};
use super::stage::{self, Pace};

pub(crate) use super::stage::{ANN, BOB, CAROL, EVE, Script, TOM};

/// A team on Telegram.
pub(crate) type Stage = stage::Stage<Fake>;

impl Chat for Fake {
    type Room = ChatId;
    const PLATFORM: &str = "telegram";
    const TOKEN: &str = "COUNTERSIGN_TELEGRAM__TOKEN";
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
            Pace::Free => "per_second = 0\nper_chat_per_second = 0\nper_group_per_minute = 0\n",
            Pace::OneASecond => "per_chat_per_second = 1\n",
        };
        format!("[telegram]\napi_url = \"{}\"\n{limits}", self.base_url())
    }

    async fn has_heard_all(&self) {
        Fake::has_heard_all(self).await;
    }

    fn mark(&self) -> usize {
        self.call_count()
    }

    async fn listens_since(&self, mark: usize) {
        let is_new = |sequence: u64| usize::try_from(sequence).is_ok_and(|sequence| sequence > mark);
        self.wait_for_call(|call| call.method == "getUpdates" && is_new(call.sequence)).await;
    }

    fn account(id: i64) -> String {
        id.to_string()
    }

    fn person(&self, id: i64, name: &str) -> i64 {
        self.user(id, name)
    }

    fn room(&self, name: &str) -> ChatId {
        self.group(name)
    }

    fn private_room(&self, who: i64) -> ChatId {
        self.private(who)
    }

    fn is_private(&self, room: ChatId) -> bool {
        room.0 > 0
    }

    fn to_the_bot(&self, room: ChatId, text: &str) -> String {
        if self.is_private(room) { text.to_owned() } else { format!("@{} {text}", self.bot_username()) }
    }

    fn write(&self, who: i64, room: ChatId, text: &str, reply_to: Option<i64>) -> i64 {
        let said = Say::new(who, room, text);
        self.say(match reply_to {
            Some(message) => said.reply_to(message),
            None => said,
        })
    }

    fn rewrite(&self, room: ChatId, message: i64, text: &str) {
        self.edit(room, message, text);
    }

    fn press_button(&self, who: i64, room: ChatId, message: i64, label: &str) -> String {
        self.press(who, room, message, label)
    }

    fn press_data_of(&self, who: i64, room: ChatId, message: i64, data: &str) -> String {
        self.press_data(who, room, message, data)
    }

    async fn told(&self, press: &str) -> Told {
        let answer = self.callback_answer(press).await;
        Told { text: answer.text, alone: answer.show_alert }
    }

    fn let_react(&self, room: ChatId) {
        self.set_admin(room, true);
    }

    fn add_reaction(&self, who: i64, room: ChatId, message: i64, emoji: &str) {
        self.react(who, room, message, emoji);
    }

    fn take_reaction(&self, who: i64, room: ChatId, message: i64, _: &str) {
        self.unreact(who, room, message);
    }

    fn repeat_next(&self, times: u32) {
        self.fault(Fault::duplicate(times).next(1));
    }

    fn refuse_messages(&self, room: ChatId) {
        self.fault(Fault::too_many(1).in_chat(room).on("sendMessage").always());
    }

    async fn message_refused(&self, room: ChatId, with_buttons: bool) {
        let is_message = |call: &Call| call.method == "sendMessage" && call.chat == Some(room);
        let is_refused = |call: &Call| matches!(call.outcome, Outcome::Refused { code: 429, .. });
        let as_asked = |call: &Call| !with_buttons || call.params.get("reply_markup").is_some();
        self.wait_for_call(|call| is_message(call) && is_refused(call) && as_asked(call)).await;
    }

    fn take_messages(&self) {
        self.clear_faults();
    }

    fn all(&self, room: ChatId) -> Vec<Shown> {
        self.messages(room, None).into_iter().map(Shown::from).collect()
    }

    async fn seen(&self, room: ChatId, wanted: impl Fn(&Shown) -> bool) -> Shown {
        self.wait_for(room, |message| wanted(&message.clone().into())).await.into()
    }

    fn sent(&self) -> String {
        let calls: Vec<String> = self.log().iter().map(|call| format!("{} {}", call.method, call.params)).collect();
        calls.join("\n")
    }

    fn picture(&self, room: ChatId) -> String {
        self.draw(room, None)
    }
}

impl From<Message> for Shown {
    fn from(message: Message) -> Self {
        let buttons = message.keyboard.concat().into_iter();
        let buttons = buttons.map(|button| (button.text, button.data.unwrap_or_default())).collect();
        let Message { id, from_bot, text, reply_to, deleted, .. } = message;
        Self { id, from_bot, text, reply_to, deleted, buttons }
    }
}
