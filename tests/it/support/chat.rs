//! What a test does with a chat platform, whichever it is: people write, press and react, and look at what the bot shows
//! them. Each platform's fake is one; how it does it is beside this, in a file of its own.

use std::fmt::Debug;

use super::stage::Pace;

/// A message as it stands in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) id: i64,
    pub(crate) from_bot: bool,
    /// Without markup.
    pub(crate) text: String,
    pub(crate) reply_to: Option<i64>,
    pub(crate) deleted: bool,
    /// Each with its label and what it carries.
    pub(crate) buttons: Vec<(String, String)>,
}

impl Shown {
    /// What the buttons say.
    pub(crate) fn labels(&self) -> Vec<&str> {
        self.buttons.iter().map(|(label, _)| label.as_str()).collect()
    }
}

/// What whoever pressed a button is shown for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// To them alone, so that they see it; else the answer stands in the room, or on the card.
    pub(crate) alone: bool,
}

/// One platform, played by its fake.
pub(crate) trait Chat: Clone {
    /// How it calls a room.
    type Room: Copy + Debug + PartialEq;
    /// As the bot calls it, in the access file and in the audit trail.
    const PLATFORM: &str;
    /// The environment variable of the bot's token.
    const TOKEN: &str;
    /// What stands at the beginning of every access file.
    const ACCESS: &str = "";
    /// Whether somebody can be answered so that nobody else sees it.
    const ANSWERS_ALONE: bool;

    /// Begins, with nobody in it. A wait takes at most so long.
    async fn open(patience: std::time::Duration) -> Self;
    /// The bot's token.
    fn bot_token(&self) -> String;
    /// The platform's table of the configuration.
    fn configuration(&self, pace: Pace) -> String;
    /// Waits until everything is heard that a bot has sent which has ended.
    async fn has_heard_all(&self) {}
    /// How much the bot has done so far, for `listens_since`.
    fn mark(&self) -> usize;
    /// Waits until a bot that was started after the mark listens.
    async fn listens_since(&self, mark: usize);

    /// What stands for somebody in the access file and in the audit trail.
    fn account(id: i64) -> String;
    /// Somebody with this number and name, or their new name. The number.
    fn person(&self, id: i64, name: &str) -> i64;
    /// A room of all, with the bot in it.
    fn room(&self, name: &str) -> Self::Room;
    /// The room of one person and the bot.
    fn private_room(&self, who: i64) -> Self::Room;
    /// Whether a room is of one person and the bot.
    fn is_private(&self, room: Self::Room) -> bool;

    /// The words by which the bot is addressed in a room.
    fn to_the_bot(&self, room: Self::Room, text: &str) -> String;
    /// Somebody writes, perhaps in answer to a message. The message.
    fn write(&self, who: i64, room: Self::Room, text: &str, reply_to: Option<i64>) -> i64;
    /// Somebody changes what they wrote.
    fn rewrite(&self, room: Self::Room, message: i64, text: &str);
    /// Somebody presses a button that is there. The press.
    fn press_button(&self, who: i64, room: Self::Room, message: i64, label: &str) -> String;
    /// Somebody sends this data as if a button of the message bore it. The press.
    fn press_data_of(&self, who: i64, room: Self::Room, message: i64, data: &str) -> String;
    /// Waits for what whoever pressed is shown. Who is asked for a reason gives none.
    async fn told(&self, press: &str) -> Told;
    /// From now on the bot is told of reactions in this room.
    fn let_react(&self, room: Self::Room);
    /// Somebody reacts to a message.
    fn add_reaction(&self, who: i64, room: Self::Room, message: i64, emoji: &str);
    /// Somebody takes their reaction back.
    fn take_reaction(&self, who: i64, room: Self::Room, message: i64, emoji: &str);

    /// The next update comes so many times more.
    fn repeat_next(&self, times: u32);
    /// From now on the platform takes no message in this room, and asks to wait a second.
    fn refuse_messages(&self, room: Self::Room);
    /// Waits until it has refused a message in this room so; with buttons, if that is asked.
    async fn message_refused(&self, room: Self::Room, with_buttons: bool);
    /// From now on it takes everything again.
    fn take_messages(&self);

    /// Every message of a room, without those that one person alone sees.
    fn all(&self, room: Self::Room) -> Vec<Shown>;
    /// Waits for one of them that is not deleted.
    async fn seen(&self, room: Self::Room, wanted: impl Fn(&Shown) -> bool) -> Shown;
    /// Everything that the bot sent to the platform, as text.
    fn sent(&self) -> String;
    /// The room as people see it.
    fn picture(&self, room: Self::Room) -> String;
}
