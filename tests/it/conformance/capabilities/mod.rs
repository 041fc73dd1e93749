//! What a platform declares works, and what it does not declare is not there. Each platform is a file.

mod console;
mod discord;
mod telegram;
