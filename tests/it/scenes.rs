//! Changing something, told as scenes with the real binary, the real host spoke and real things: a plan is shown, somebody
//! decides, it is done once or not at all, and a fresh look says what came of it. What each part does by itself is tested
//! beside it; that a plan expires is shown by a recording, because the shortest time that can be configured is a minute.

mod files;
mod processes;
mod recordings;
mod services;
mod several;
mod terminal;

use regex::Regex;

use crate::support::bot::{Answer, Bot, Home};

/// What a bot says, with what differs from run to run replaced.
fn plain(home: &Home, text: &str) -> String {
    let text = text.replace(&home.path().display().to_string(), "HOME");
    let patterns = [
        // One init system numbers the runs of a service, another names each by an id.
        (r"\brun( \||) (?:[0-9a-f]{32}|\d+-\d+)", "run$1 RUN"),
        (
            r"Its run was \S+ when the plan was made and is \S+ now",
            "Its run was RUN when the plan was made and is RUN now",
        ),
        (r"\b[0-9a-f]{64}\b", "SHA256"),
        (r"\b[0-9a-f]{16,}…", "SHA256…"),
        (r"\b[0-9a-f]{32}\b", "PLAN"),
        (r"\S+ asks to ", "PERSON asks to "),
        (r"\S+ \(alone; the record says so\)", "PERSON (alone; the record says so)"),
        (r" on \S+\.(\s+It is)", " on HOST.$1"),
        (r"until \d\d:\d\d UTC", "until TIME"),
        (r"Plan [0-9a-f]{4}: “[^”]*…”", "Plan SHORT: “CUT…”"),
        (r"Plan [0-9a-f]{4}: ", "Plan SHORT: "),
        (r"`(approve|deny) [0-9a-f]{4}` now", "`$1 SHORT` now"),
        (r"\([0-9a-f]{12}\)", "(DIGEST)"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "TIME"),
        (r"process:\S+:\d+-\d+", "process:HOST:PID-START"),
        (r"(service|file):[^:\s]+:", "$1:HOST:"),
        (r"\b(pid|process) \d+", "$1 PID"),
        (r"\S+ \(console:uid:\d+\)", "PERSON"),
        (r"asked by \S+:", "asked by PERSON:"),
        (r"access \d{4} \w+:\w+", "access OWNER"),
        (r"Countersigned by \S+:", "Countersigned by PERSON:"),
        (r"(?m)^\S+ decided it at", "PERSON decided it at"),
    ];
    patterns.iter().fold(text, |text, (pattern, name)| {
        Regex::new(pattern).expect("a sound pattern").replace_all(&text, *name).into_owned()
    })
}

fn said(home: &Home, answer: &Answer) -> String {
    plain(home, &answer.text())
}

/// Whether an answer says that the change of this plan was carried out and verified: a claim with its reading.
fn is_verified(answer: &Answer, plan: &str, outcome: &str) -> bool {
    let claim = &answer.messages[0]["claim"];
    answer.mark() == "plain"
        && (&claim["type"], &claim["plan"], &claim["outcome"]) == (&"change".into(), &plan.into(), &outcome.into())
        && claim["sources"].as_array().is_some_and(|sources| sources.len() == 1)
}

/// A bot on the thread of this name.
fn on_thread(home: &Home, thread: &str) -> Bot {
    Bot::spawn(home.bot().args(["--json", "--thread", thread]))
}
