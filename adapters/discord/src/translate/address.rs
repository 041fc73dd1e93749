//! Whether a message addresses the bot, and what is left of its text without the address. Everything else of the text stays
//! exactly as it was typed.

use countersign_core::signal::Addressed;
use serenity::all::{Message, MessageReferenceKind};

use super::Here;
use crate::places::Kind;

/// How a message addresses the bot, and its text. None where it has no text of its own, as a picture or what is forwarded.
pub(super) fn read(message: &Message, here: &Here<'_>) -> Option<(Addressed, String)> {
    if message.content.is_empty() {
        return None;
    }
    let is_named = message.mentions.iter().any(|user| user.id.get() == here.me.id);
    let (rest, is_mentioned) =
        if is_named { without_mentions(&message.content, here.me.id) } else { (message.content.clone(), false) };
    let addressed = match (here.place.kind, is_mentioned, answers(message, here)) {
        (Kind::Direct, ..) => Addressed::Direct,
        (_, true, _) => Addressed::Mention,
        (_, false, true) => Addressed::Reply,
        (_, false, false) => Addressed::No,
    };
    Some((addressed, rest))
}

/// Whether it is a reply to a message of the bot's.
fn answers(message: &Message, here: &Here<'_>) -> bool {
    let is_reply =
        message.message_reference.as_ref().is_some_and(|reference| reference.kind == MessageReferenceKind::Default);
    is_reply && message.referenced_message.as_ref().is_some_and(|answered| answered.author.id.get() == here.me.id)
}

/// The text without the bot's own mentions, and whether there was one.
fn without_mentions(text: &str, me: u64) -> (String, bool) {
    let forms = [format!("<@{me}>"), format!("<@!{me}>")];
    let mut rest = String::new();
    let mut left = text;
    let mut is_mentioned = false;
    while let Some((at, form)) = forms.iter().filter_map(|form| left.find(form.as_str()).map(|at| (at, form))).min() {
        is_mentioned = true;
        rest.push_str(left.get(..at).unwrap_or_default());
        left = left.get(at + form.len()..).unwrap_or_default();
        left = left.get(passed_over(&rest, left)..).unwrap_or_default();
    }
    rest.push_str(left);
    if is_mentioned { (rest.trim().to_owned(), true) } else { (text.to_owned(), false) }
}

/// How many bytes after a mention go with it: the signs by which a text that begins with it goes on, or else one of the two
/// spaces around it.
fn passed_over(before: &str, after: &str) -> usize {
    if before.trim().is_empty() {
        return after.len() - after.trim_start_matches([' ', ',', ':']).len();
    }
    usize::from(before.ends_with(' ') && after.starts_with(' '))
}
