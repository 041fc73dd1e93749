//! The model: an OpenAI-compatible server, asked over HTTP. It words a question (`prompt`, `steps`), asks it (`client` over
//! `http`), puts together what comes (`stream`), and hands back what was said, untouched: what of it counts is the core's
//! matter (`thread/agent/`). It decides nothing. Which models a server has is in `catalogue`.

mod breaker;
mod catalogue;
mod client;
mod habits;
mod http;
mod meter;
mod prompt;
mod steps;
mod stream;
mod trouble;
mod wire;

pub use catalogue::{Catalogue, Listed, Listing, Missing};
pub use client::{Models, ModelsConfig};
pub use prompt::as_sent;
pub use trouble::{Refusal, Trouble};
