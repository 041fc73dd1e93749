//! What the bot says where what is worked on is stopped.

use std::fmt::Write;

use crate::answer;
use crate::approval::Filed;
use crate::port::{Block, Source};
use crate::secrets::Mask;
use crate::signal::{Signal, Wall};
use crate::text;

use super::plans::{NOTHING_CHANGED, title};
use super::{quote, sentence};

/// How many readings are named; the number of the rest is said.
const READINGS_MAX: usize = 10;

/// Somebody's name in a sentence.
pub(in crate::thread) fn name(display: &str, mask: &Mask) -> String {
    text::one_line(&quote(display, mask), 64)
}

/// There is nothing to stop.
pub(in crate::thread) fn nothing_at_work() -> Vec<Block> {
    sentence("Nothing is being worked on here. An open plan is taken back with `cancel`.")
}

/// It will be stopped.
pub(in crate::thread) fn stopping(at_work: &Signal, mask: &Mask) -> Vec<Block> {
    sentence(format!("I stop working on “{}”.", quote(&at_work.payload.words(), mask)))
}

/// It was stopped, and what was read until then.
pub(in crate::thread) fn stopped(by: &str, sources: &[Source]) -> Vec<Block> {
    let mut said = format!("Stopped: {by} asked for that. {NOTHING_CHANGED}");
    if sources.is_empty() {
        said.push_str(" Nothing was read yet.");
        return sentence(said);
    }
    said.push_str(" Read so far:");
    for source in sources.iter().take(READINGS_MAX) {
        let on = source.target.as_ref().map(|target| format!(" of {}", text::one_line(target.as_str(), 120)));
        let at = answer::time(Wall(source.observed_at));
        let _infallible = write!(said, "\n- {}{} at {at}", source.call, on.unwrap_or_default());
    }
    let rest = sources.len().saturating_sub(READINGS_MAX);
    if rest > 0 {
        let _infallible = write!(said, "\n- and {rest} more");
    }
    sentence(said)
}

/// An approved plan was stopped before anything was done.
pub(in crate::thread) fn never_begun(filed: &Filed, by: &str) -> Vec<Block> {
    let title = title(filed.frozen.plan());
    sentence(format!(
        "Stopped before it was begun, because {by} asked for that: {title}. {NOTHING_CHANGED} The plan is cancelled."
    ))
}
