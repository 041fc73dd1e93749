//! The shell of Countersign: it carries what the core (`countersign-core`) decides. Rooms in reading order: the command
//! line, the configuration, the wiring of platforms, the engine, the store, the tool servers and their clients, the model,
//! rights, and telemetry.

pub mod cli;
pub mod config;
pub mod wire;
pub mod clock;
pub mod engine;
pub mod permit;
pub mod vault;
pub mod replay;
mod served;
pub mod store;
pub mod tools;
#[cfg(feature = "model")]
pub mod model;
#[cfg(feature = "host")]
pub mod spokes;
pub mod access;
pub mod telemetry;
