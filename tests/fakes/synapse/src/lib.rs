//! The real homeserver Synapse on 127.0.0.1, for tests of what talks to Matrix: no fake, but the server that runs in the
//! field, with people played by an independent client (matrix-nio) that encrypts for itself. Both are Python programs, which
//! the script `tests/fakes/synapse/install` puts into the target folder; they end with the process that started them. Nothing
//! here knows the bot under test.
//!
//! ```ignore
//! let synapse = Synapse::start();
//! let carol = synapse.person("carol");
//! let bot = synapse.account("bot", "its password");
//! let gate = synapse.gate();
//! // start the bot with gate.url(), then:
//! let ops = carol.room(&Room::new("ops").encrypted().with(&bot));
//! carol.say(&ops, &Say::new("status").to(&bot));
//! let reply = synapse.wait_for(&ops, |event| event.sender == bot).await;
//! ```

mod fault;
mod front;
mod gate;
mod look;
mod people;
mod seen;
mod server;

pub use fault::Fault;
pub use gate::{Call, Gate};
pub use people::{Comparison, Person, Room, Say};
pub use seen::{Seen, shown_now};
pub use server::Synapse;
