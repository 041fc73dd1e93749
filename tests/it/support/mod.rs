//! What several tests need: a Postgres of their own, the real binary to talk to, in a pipe, at a terminal and on
//! a chat platform, what its database holds, and the rights of root.

pub(crate) mod bot;
#[cfg(feature = "full")]
pub(crate) mod chat;
#[cfg(feature = "full")]
pub(crate) mod database;
pub(crate) mod decisions;
#[cfg(feature = "full")]
pub(crate) mod discord;
pub(crate) mod killed_bot;
#[cfg(feature = "full")]
pub(crate) mod matrix;
pub(crate) mod metrics;
pub(crate) mod postgres;
pub(crate) mod root;
pub(crate) mod shop;
#[cfg(feature = "full")]
pub(crate) mod stage;
#[cfg(feature = "full")]
pub(crate) mod telegram;
pub(crate) mod terminal;
