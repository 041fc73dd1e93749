//! The homeserver and its people, as tests use them: what they say is told, encrypted where it is to be, and what goes wrong
//! at the gate goes wrong.

mod faults;
mod people;
