//! What several tests need: a Postgres of their own, the real binary to talk to, in a pipe and at a terminal, and the
//! rights of root.

pub(crate) mod bot;
pub(crate) mod killed_bot;
pub(crate) mod postgres;
pub(crate) mod root;
pub(crate) mod terminal;
