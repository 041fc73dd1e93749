//! Everything that is known after a run, as plain data: what people did, what the platform handed out and got, what the
//! database, the trail and the files hold. Where it comes from is in `script`, `seen` and `stored`; what must be true of it in
//! `judge`.

use std::collections::BTreeSet;

/// What somebody did.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Tells it from everything else that was asked; a press bears that of its change.
    pub(super) token: String,
    /// As the platform names it.
    pub(super) event: String,
    pub(super) what: What,
    /// How many calls of the bot's had come by then.
    pub(super) calls: usize,
    /// Whether somebody listened, as far as the platform knew.
    pub(super) is_heard: bool,
}

/// What kind of thing was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A canned answer.
    Ping,
    /// A file.
    Read,
    /// A line at the end of a file, in which it now stands so many times.
    Change { times: usize },
    /// A press of a card's button.
    Press { approves: bool },
}

/// Something that the bot was handed.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// Which run of the bot was, counted from 1.
    pub(super) life: usize,
    /// The room, as the database names it.
    pub(super) room: String,
    /// As the adapter names it.
    pub(super) event: String,
    /// Whether it is known that this run took it, so that what comes after that is a copy.
    pub(super) is_taken: bool,
}

/// What the database says of one run of the bot, once it was over.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    /// The events that it took.
    pub(super) taken: BTreeSet<String>,
    /// The plans that waited at its end, each with a channel in which something was said about it.
    pub(super) waits: BTreeSet<(String, String)>,
    /// How many calls had come by then.
    pub(super) calls: usize,
}

/// A message of the bot that came out in a chat, told to it or not.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) life: usize,
    /// The room, as the database names it.
    pub(super) chat: String,
    /// Its number in the chat, which is its place there.
    pub(super) message: i64,
    /// Its letters and digits.
    pub(super) says: String,
    /// Whether it says that it may be a repeat.
    pub(super) is_marked: bool,
    /// Whether the bot was told that it is out.
    pub(super) is_lost: bool,
}

/// A row of the inbox that is not the bot's own.
#[derive(Clone, Debug)]
pub(super) struct Signal {
    pub(super) id: String,
    pub(super) event: String,
    pub(super) thread: String,
    pub(super) state: String,
    pub(super) ending: String,
    /// A press on the older copy of a card that came out twice, which decides nothing.
    pub(super) is_on_older_copy: bool,
    /// Never the same twice: the order in which they were accepted.
    pub(super) received_at: i64,
}

/// A row of the outbox.
#[derive(Clone, Debug)]
pub(super) struct Post {
    pub(super) id: String,
    pub(super) signal: String,
    pub(super) thread: String,
    pub(super) chat: String,
    pub(super) lane: i64,
    pub(super) place: i64,
    pub(super) state: String,
    pub(super) repeat: bool,
    /// Whether it came out as a message; what only one person was shown has no ids.
    pub(super) has_parts: bool,
    /// The letters and digits of each of its texts.
    pub(super) says: Vec<String>,
    /// Whether it says that a rule does not allow it.
    pub(super) is_refusal: bool,
    /// The plan whose card it is.
    pub(super) card: Option<String>,
    /// The plan that it claims to be carried out as it should be.
    pub(super) claims: Option<String>,
}

impl Post {
    /// Whether these letters and digits say all of it.
    pub(super) fn is_said_by(&self, said: &str) -> bool {
        !self.says.is_empty() && self.says.iter().all(|text| said.contains(text))
    }

    /// Whether whoever says this other one says all of it.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        self.chat == other.chat && self.says.iter().all(|text| other.says.iter().any(|said| said.contains(text)))
    }

    /// Whether one of its texts has these letters and digits.
    pub(super) fn has(&self, letters: &str) -> bool {
        self.says.iter().any(|text| text.contains(letters))
    }
}

/// A row of the plans.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) id: String,
    /// The token of the request that it was made for.
    pub(super) token: String,
    /// With what it came to: `verified as_expected`, `refused DRIFTED`, `pending`.
    pub(super) state: String,
}

/// A row of the audit trail.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) what: String,
    /// `tool.action`.
    pub(super) call: String,
    pub(super) plan: String,
    /// Of a refusal.
    pub(super) code: String,
}

/// Everything.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) asked: Vec<Asked>,
    /// In the order in which it was to be taken.
    pub(super) told: Vec<Told>,
    /// In order.
    pub(super) lives: Vec<Life>,
    /// Whether the platform tells again what no run of the bot has confirmed.
    pub(super) tells_again: bool,
    pub(super) sent: Vec<Sent>,
    pub(super) signals: Vec<Signal>,
    pub(super) posts: Vec<Post>,
    pub(super) plans: Vec<Plan>,
    pub(super) trail: Vec<Row>,
}

/// The letters and digits of a text: all that is left of it the same on every platform.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}
