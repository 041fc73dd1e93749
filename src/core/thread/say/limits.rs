//! What is said of limits: which one was met, how long to wait, and how much of each is left.

use crate::port::{Block, TableColumn};
use crate::rate::{Allowance, Most, Scope};

/// A message that is not taken. That it was too fast is said once a minute at most; what comes after it is only marked.
pub(in crate::thread) fn too_much(over: &Allowance) -> String {
    let begin = match over.most {
        Most::PerMinute { .. } => format!("that was too fast: {over}"),
        Most::AtOnce(_) => format!("that was too much at once: {over}"),
        Most::Bytes(most) => {
            return format!(
                "that was too long: I read at most {} KB of text in one message. Send it in smaller parts",
                most / 1024
            );
        }
    };
    let wait = if over.wait_ms == 0 { "Wait for an answer".to_owned() } else { format!("Wait {} s", over.wait_s()) };
    format!("{begin}. {wait}. I say this once a minute at most; until then I only mark what I do not take")
}

/// How much of each limit is left for the one who asks.
pub(in crate::thread) fn table(allowances: &[Allowance]) -> Vec<Block> {
    if allowances.is_empty() {
        return super::sentence("You are held to no limit here.");
    }
    let column = |title: &str, right| TableColumn { title: title.to_owned(), right };
    let rows = allowances.iter().map(|one| {
        let (per_minute, at_once) = match one.most {
            Most::PerMinute { count, burst } => (count.to_string(), burst.to_string()),
            Most::AtOnce(most) => (String::new(), most.to_string()),
            Most::Bytes(_) => (String::new(), String::new()),
        };
        vec![what(one.scope).to_owned(), per_minute, at_once, one.left.to_string()]
    });
    let columns =
        vec![column("limit", false), column("a minute", true), column("at once", true), column("left now", true)];
    vec![Block::Table { columns, rows: rows.collect() }]
}

const fn what(scope: Scope) -> &'static str {
    match scope {
        Scope::Person => "your messages",
        Scope::Stranger => "messages of this account, which I do not know",
        Scope::Strangers => "messages of all accounts that I do not know",
        Scope::Room => "messages in this room",
        Scope::Team => "messages of the whole team",
        Scope::Open => "your questions without an answer yet",
        Scope::Resolve => "discoveries for you",
        Scope::Read => "readings for you",
        Scope::Write => "changes that you plan",
        Scope::Message => "one message",
    }
}
