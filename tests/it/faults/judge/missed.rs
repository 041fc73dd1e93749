//! What may be missed on a platform that tells nothing again: what only a life heard that was killed before it took anything
//! behind it, and what was said while nobody listened where no plan waited all the while. What was said where one waits is
//! looked for.

use crate::faults::facts::{Asked, Facts, Life, Told};

/// Whether nobody can say that the bot should have taken it.
pub(super) fn may_be_missed(facts: &Facts, asked: &Asked) -> bool {
    !facts.tells_again && !was_heard(facts, asked) && !was_to_be_found(facts, asked)
}

/// Whether a life was told of it that went on: it was not killed, or took what came behind in the same room.
fn was_heard(facts: &Facts, asked: &Asked) -> bool {
    let mut told = facts.told.iter().enumerate().filter(|(_, told)| told.event == asked.event);
    told.any(|(at, told)| {
        let is_behind = |later: &Told| later.life == told.life && later.room == told.room && later.is_taken;
        told.life == facts.lives.len() || facts.told.iter().skip(at + 1).any(is_behind)
    })
}

/// Whether a life that went on had to look for it: it began after it was said, in a channel in which a plan waited before and
/// after that life began, and behind everything that was taken there before.
fn was_to_be_found(facts: &Facts, asked: &Asked) -> bool {
    let Some((channel, message)) = place(&asked.event) else { return false };
    // The lives that were over when it was said, where that can be told, and the one that was told of it.
    let over = facts.lives.iter().filter(|life| life.calls <= asked.calls).count();
    let first = if asked.is_heard { over + 1 } else { over };
    (first.max(1)..facts.lives.len()).any(|ended| {
        let (before, after) = facts.lives.split_at(ended);
        let (Some(last), Some(next)) = (before.last(), after.first()) else { return false };
        let waits = last.waits.intersection(&next.waits).any(|(_, at)| at == channel);
        let is_new = before.iter().all(|life| !took_from(life, channel, message));
        waits && is_new && (after.len() == 1 || took_from(next, channel, message))
    })
}

/// Whether it took this message or one behind it.
fn took_from(life: &Life, channel: &str, message: u64) -> bool {
    life.taken.iter().filter_map(|event| place(event)).any(|(at, taken)| at == channel && taken >= message)
}

/// The channel of a message, and its number there; none where the event is no message.
fn place(event: &str) -> Option<(&str, u64)> {
    let (channel, message) = event.split_once(':')?;
    Some((channel, message.parse().ok()?))
}
