//! Tool servers ("spokes"): each is started when first needed, as its own process with a clean environment, called over
//! MCP, watched, and replaced when it ends or hangs. This room takes cleared calls only and decides nothing: which call
//! may run, and at what limit, was settled in `core::gate`.

mod answer;
mod backoff;
mod call;
mod lines;
mod offer;
mod process;
mod spokes;
mod stderr;
mod stdout;
mod supervise;
#[cfg(test)]
mod tests;

pub use process::program;
pub use spokes::{SpokeConfig, Spokes, SpokesError};
pub use supervise::{SpokeHealth, SpokeState};
