//! Telegram as a platform. An update becomes a signal, and an outgoing message becomes messages of the Bot API: this crate
//! translates and nothing more. It stores nothing, decides nothing, and does not know what a signal asks for.

mod render;
