//! What was answered, and what came out of it. A copy is allowed where nobody could know whether the one before it came out,
//! and then says that it may be one.

use std::collections::BTreeMap;

use super::Found;
use crate::faults::facts::{Asked, Facts, Post, Sent, Signal, What};

/// What came out of a message: each of its copies, in order.
pub(super) fn copies<'a>(facts: &'a Facts, post: &Post) -> Vec<&'a Sent> {
    let of_it = |sent: &&Sent| sent.chat == post.chat && post.is_said_by(&sent.says);
    let mut copies: Vec<&Sent> = facts.sent.iter().filter(of_it).collect();
    copies.sort_by_key(|sent| sent.message);
    copies
}

/// Whether nothing else in the chat says the same.
pub(super) fn is_unique(facts: &Facts, post: &Post) -> bool {
    facts.posts.iter().filter(|other| post.is_part_of(other)).count() == 1
}

/// Everything that was asked has ended, and was answered.
pub(super) fn ended(facts: &Facts) -> Found {
    let signals: BTreeMap<&str, &Signal> = facts.signals.iter().map(|it| (it.event.as_str(), it)).collect();
    let asked = facts.asked.iter().filter_map(|asked| Some((asked, *signals.get(asked.event.as_str())?)));
    let wrong = asked.clone().filter_map(|(asked, signal)| unanswered(facts, asked, signal).err());
    (asked.clone().count(), wrong.collect())
}

fn unanswered(facts: &Facts, asked: &Asked, signal: &Signal) -> Result<(), String> {
    let about = format!("{} ({})", asked.event, asked.token);
    if signal.state != "done" || !matches!(signal.ending.as_str(), "answered" | "interrupted") {
        return Err(format!("{about} is {} {}", signal.state, signal.ending));
    }
    let posts: Vec<&Post> = facts.posts.iter().filter(|post| post.signal == signal.id).collect();
    // A card that may be out already is tried no more once its plan was decided, which somebody did who saw it.
    let is_decided = |id: &String| facts.plans.iter().any(|plan| plan.id == *id && plan.state != "expired");
    let is_over = |post: &Post| {
        let is_given_up = post.state.starts_with("failed: given up, because its plan has ended");
        is_given_up && post.card.as_ref().is_some_and(is_decided)
    };
    if let Some(post) = posts.iter().find(|post| post.state != "sent" && !is_over(post)) {
        return Err(format!("{about}: its answer {} is {}", post.id, post.state));
    }
    // A press leads to more than one sentence where its change takes more than one look.
    let is_press = matches!(asked.what, What::Press { .. });
    match posts.len() {
        1 => {}
        2.. if is_press => {}
        count => return Err(format!("{about} has {count} answers")),
    }
    let interrupted = posts.iter().any(|post| post.has("Iwasinterrupted"));
    if (signal.ending == "interrupted") != interrupted && !is_press {
        return Err(format!("{about} is {}, and says {:?}", signal.ending, posts[0].says));
    }
    // What is set aside is told without its words, which may be what interrupted it.
    if interrupted && !is_press {
        return Ok(());
    }
    // Where a change is not verified, another one is refused, and what is then spoken of is the first.
    let is_blocked = matches!(asked.what, What::Change { .. }) && posts[0].is_refusal;
    let names_it = posts.iter().any(|post| post.has(&asked.token));
    if names_it || is_press || is_blocked { Ok(()) } else { Err(format!("{about} is answered by {:?}", posts[0].says)) }
}

/// What was sent came out once, or more often where nobody could know that, and each copy says so.
pub(super) fn once(facts: &Facts) -> Found {
    let sent = facts.posts.iter().filter(|post| post.state == "sent" && post.has_parts);
    let wrong = sent.clone().filter_map(|post| {
        let copies = copies(facts, post);
        let judged =
            if is_unique(facts, post) { judge_copies(post, &copies) } else { judge_alike(facts, post, &copies) };
        judged.err().map(|why| format!("{:?} of {}: {why}", post.says, post.signal))
    });
    (sent.clone().count(), wrong.collect())
}

fn judge_copies(post: &Post, copies: &[&Sent]) -> Result<(), String> {
    let Some(first) = copies.first() else { return Err("it never came out".to_owned()) };
    if copies.iter().skip(1).any(|copy| !copy.is_marked) {
        return Err(format!("it came out {} times without saying so", copies.len()));
    }
    if copies.iter().any(|copy| copy.is_marked) && !post.repeat {
        return Err("it says that it may be a repeat, and is stored as none".to_owned());
    }
    // Nobody could know of a copy whose answer was lost, or whose life ended about then.
    if copies.windows(2).any(|pair| !pair[0].is_lost && pair[0].life == pair[1].life) {
        return Err("it came out again, although it was known to be out".to_owned());
    }
    if first.is_marked && first.life == 1 {
        return Err("it says that it may be a repeat, and nothing came before it".to_owned());
    }
    Ok(())
}

/// Of several messages that say the same there are at least so many, and no more without saying so.
fn judge_alike(facts: &Facts, post: &Post, copies: &[&Sent]) -> Result<(), String> {
    let alike = facts.posts.iter().filter(|other| other.has_parts && post.is_part_of(other));
    let (posts, unmarked) = (alike.count(), copies.iter().filter(|copy| !copy.is_marked).count());
    if copies.len() < posts || unmarked > posts {
        return Err(format!("there are {posts} like it, and {} came out ({unmarked} unmarked)", copies.len()));
    }
    Ok(())
}

/// Whatever came out is in the outbox.
pub(super) fn known(facts: &Facts) -> Found {
    let is_known = |sent: &&Sent| facts.posts.iter().any(|post| post.chat == sent.chat && post.is_said_by(&sent.says));
    let strangers = facts.sent.iter().filter(|sent| !is_known(sent));
    let wrong = strangers.map(|sent| format!("{}:{} says {}", sent.chat, sent.message, sent.says)).collect();
    (facts.sent.len(), wrong)
}
