//! The model: an OpenAI-compatible server, asked over HTTP. It words a question (`prompt`), asks it (`client`), and hands back
//! what was said, untouched: what of it counts is the core's matter (`thread/agent/`). It decides nothing.

mod breaker;
mod client;
mod prompt;
mod wire;

pub use client::{Models, ModelsConfig};
pub use prompt::as_sent;
