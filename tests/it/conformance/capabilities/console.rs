//! The console: no buttons, no edits, no answers for one person, no reactions, and nothing offered by the bot.

use std::collections::BTreeSet;

use crate::support::bot::{Bot, Home};

#[test]
fn the_console_shows_whole_messages_and_nothing_that_would_have_to_be_put_right() {
    let home = Home::new();
    let process = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("stop process {}", process.pid())).card();
    let done = bot.ask(&card.approve());
    assert_eq!(done.messages.len(), 1, "no card is drawn anew, and no progress is shown: {done:?}");
    bot.say("approvals");
    let kinds: BTreeSet<String> = bot.end().out.lines().map(kind_of).collect();
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), ["accepted", "answered", "message"]);
}

fn kind_of(line: &str) -> String {
    let event: serde_json::Value = serde_json::from_str(line).expect("an event is an object");
    event["type"].as_str().expect("it has a type").to_owned()
}
