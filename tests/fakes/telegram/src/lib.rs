//! A stateful fake of the Telegram Bot API on 127.0.0.1: a bot talks to it over HTTP as to Telegram, and a test (or a
//! person, with the program `telegram-fake`) plays the people in the chats and looks at what they would see. It is as
//! strict as Telegram where Telegram refuses, and stricter in one thing: a parameter that Telegram does not know is
//! refused and named. Nothing here knows the bot under test.
//!
//! ```ignore
//! let fake = Fake::start().await;
//! let (carol, ops) = (fake.user(11, "Carol"), fake.group("ops"));
//! // start the bot with fake.base_url() and fake.token(), then:
//! fake.say(Say::new(carol, ops, "/status"));
//! let reply = fake.wait_for(ops, |message| message.from_bot).await;
//! ```

mod chat;
mod clock;
mod draw;
mod entities;
mod fault;
mod html;
mod http;
mod json;
mod keyboard;
mod limits;
mod log;
mod look;
mod methods;
mod params;
mod people;
mod queue;
mod reactions;
mod refusal;
mod script;
mod server;
mod setup;
mod state;

pub use chat::{ChatId, ChatKind, Document, Message, Origin, Quote, Role, Service, User};
pub use entities::{Entity, EntityKind};
pub use fault::Fault;
pub use keyboard::Button;
pub use log::{Call, Count, Outcome};
pub use look::{CallbackAnswer, InlineAnswer};
pub use people::{ANONYMOUS_ADMIN, BOT};
pub use script::Say;
pub use server::Fake;
