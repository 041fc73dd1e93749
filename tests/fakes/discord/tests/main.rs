//! The fake itself, tested from outside: over HTTP and a web socket as a bot uses it, with serenity to see that what it
//! sends is what that library takes for Discord's, and from inside as a test uses it.

mod draw;
mod faults;
mod gateway;
mod interactions;
mod people;
mod program;
mod refused;
mod serenity;
mod support;
