//! What several tests need: a Postgres of their own, the real binary to talk to, in a pipe, at a terminal and on
//! a chat platform, what its database holds, and the rights of root.

pub(crate) mod bot;
#[cfg(feature = "telegram")]
pub(crate) mod chat;
#[cfg(feature = "telegram")]
pub(crate) mod database;
pub(crate) mod decisions;
pub(crate) mod killed_bot;
pub(crate) mod postgres;
pub(crate) mod root;
#[cfg(feature = "telegram")]
pub(crate) mod stage;
#[cfg(feature = "telegram")]
pub(crate) mod telegram;
pub(crate) mod terminal;
