//! A stateful fake of Discord's REST API (v10) and gateway on 127.0.0.1: a bot talks to it over HTTP and a web socket as to
//! Discord, and a test (or a person, with the program `discord-fake`) plays the people in the channels and looks at what
//! they would see. It is as strict as Discord where Discord refuses, and stricter in one thing: a field that Discord does
//! not know is refused and named. Nothing here knows the bot under test.
//!
//! ```ignore
//! let fake = Fake::start().await;
//! let (carol, ops) = (fake.user(11, "Carol"), fake.channel("ops"));
//! // start the bot with fake.base_url() and fake.token(), then:
//! fake.wait_until_connected().await;
//! fake.say(Say::new(carol, ops, "Ops status").mention(BOT, "Ops"));
//! let reply = fake.wait_for(ops, |message| message.from_bot).await;
//! ```
//!
//! The script, all on [`Fake`]:
//!
//! - Scene: `user`, `bot`, `webhook`, `role`, `set_roles`, `leave`, `guild`, `channel`, `channel_in`, `private`, `thread`,
//!   `thread_from`, `archive`, `set_access`, `kick`, `invite`, `block`, `unblock`, `set_message_content`, `set_granted`,
//!   `set_heartbeat`, `set_limits`, `set_bucket`, `set_date`, `advance`, `set_patience`.
//! - People: `say` with [`Say`], `edit`, `unfold`, `delete`, `delete_channel`, `react`, `unreact`; interactions, each of
//!   which gives its id: `press`, `press_data`, `select`, `command`, `autocomplete`, `message_command`, `submit`; `expire`.
//!   `try_...` gives a reason instead of failing the test.
//! - Looking: `messages`, `seen_by`, `message` (`Message::plain` is its text as people read it), `kind`, `parent`, `threads`,
//!   `is_typing`, `answered`, `commands`, `calls`, `call_count`, `log`, `events`, `unsent`, `is_listened_to`, `draw`, `draw_for`.
//! - Waiting: `wait_for`, `wait_for_thread`, `wait_for_call`, `wait_until_connected`, `wait_until_disconnected`,
//!   `wait_until_sent`, `callback_answer` (the first answer to an interaction), `response` (its message, once it has a text),
//!   `aftermath` (what is seen of a press that was answered by nothing).
//! - Trouble: `fault` with [`Fault`], `clear_faults`, `stop_listening`, `listen_again`, `ask_to_reconnect`, `invalidate`,
//!   `close_gateway`, `cut_gateway`, `silence_gateway`, `forget_sessions`.

mod channel;
mod clock;
mod commands;
mod draft;
mod draw;
mod embeds;
mod fault;
mod form;
mod gateway;
mod http;
mod interact;
mod interactions;
mod json;
mod keyboard;
mod limits;
mod log;
mod look;
mod mentions;
mod people;
mod plain;
mod refusal;
mod routes;
mod script;
mod server;
mod setup;
mod socket;
mod state;
mod wrap;

pub use channel::{Access, ChannelId, ChannelKind, Document, Message};
pub use fault::Fault;
pub use gateway::{GUILD_MEMBERS, GUILD_PRESENCES, MESSAGE_CONTENT};
pub use interactions::{AnswerKind, CallbackAnswer, Input, Modal};
pub use keyboard::{Button, Choice, Key, Keyboard, Select};
pub use log::{Call, Count, Outcome, SentEvent};
pub use people::{BOT, GUILD, User};
pub use script::Say;
pub use server::Fake;
