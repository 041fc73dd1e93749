//! The fake itself, tested from outside: over HTTP as a bot uses it, once with teloxide to see that what it sends is what
//! that library takes for Telegram's, and from inside as a test uses it.

mod draw;
mod faults;
mod people;
mod polling;
mod program;
mod refused;
mod sending;
mod support;
mod teloxide;
