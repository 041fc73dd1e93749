//! What several tests need: a Postgres of their own, and the real binary to talk to.

pub(crate) mod bot;
pub(crate) mod killed_bot;
pub(crate) mod postgres;
