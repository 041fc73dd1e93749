//! Decides, never does.
pub mod envelope;
pub mod gate;
pub mod port;
pub mod proposal;
pub mod resource;
pub mod signal;
pub mod tool;
