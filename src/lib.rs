//! The shell.
pub mod config;
pub mod engine;
pub mod store;
pub mod telemetry;
