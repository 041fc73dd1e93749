//! Whether a message addresses the bot, and what is left of its text without the address. Everything else of the text stays
//! exactly as it was typed.

use countersign_core::approval::PlanId;
use countersign_core::signal::{Addressed, ConversationKind};
use matrix_sdk::ruma::events::Mentions;
use matrix_sdk::ruma::events::room::message::TextMessageEventContent;

use super::{Here, Me};

/// The command that stands for nothing: what is asked is all behind it.
const FREE: &str = "cs";

/// The commands that are the bot's where the id of a plan follows, whoever else hears commands in the room.
const DECISIONS: [&str; 3] = ["approve", "deny", "cancel"];

/// How a message addresses the bot, and its text. `answers_us` says that it replies to a message of the bot's.
pub(super) fn read(
    text: &TextMessageEventContent,
    mentions: Option<&Mentions>,
    answers_us: bool,
    here: &Here<'_>,
) -> (Addressed, String) {
    let is_named = mentions.is_some_and(|mentions| mentions.user_ids.contains(&here.me.user))
        || text.formatted.as_ref().is_some_and(|formatted| has_pill(&formatted.body, here.me));
    let (rest, is_mentioned) = without_mentions(&text.body, is_named, here.me);
    let is_direct = here.place.kind == ConversationKind::Direct;
    let command = command(&rest, is_direct || is_mentioned, here.commands);
    let addressed = match (is_direct, &command, is_mentioned) {
        (true, ..) => Addressed::Direct,
        (false, Some(_), false) => Addressed::Command,
        (false, _, true) => Addressed::Mention,
        (false, None, false) if answers_us => Addressed::Reply,
        (false, None, false) => Addressed::No,
    };
    (addressed, command.unwrap_or(rest))
}

/// The words that a command stands for; none where it is no command of the bot's. Some clients keep what begins with a slash
/// for themselves, so that a `!` stands for it. `is_ours` says that whatever is said is said to the bot.
fn command(text: &str, is_ours: bool, commands: &[String]) -> Option<String> {
    let said = text.strip_prefix(['!', '/'])?;
    let (name, rest) = said.split_at(said.find(char::is_whitespace).unwrap_or(said.len()));
    if name.eq_ignore_ascii_case(FREE) {
        return Some(rest.trim().to_owned());
    }
    let is_registered = commands.iter().any(|own| own.eq_ignore_ascii_case(name));
    let names_a_plan = || rest.split_whitespace().next().and_then(PlanId::parse).is_some();
    let decides = DECISIONS.iter().any(|own| own.eq_ignore_ascii_case(name)) && names_a_plan();
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(['/', '.']);
    let words = || format!("{}{}", name.replace('_', " "), rest.trim_end());
    (is_registered || decides || (is_ours && is_word)).then(words)
}

/// Whether the HTML holds a link to the bot's account, which clients show as its name.
fn has_pill(html: &str, me: &Me) -> bool {
    let id = me.user.as_str();
    let escaped = id.replace('@', "%40").replace(':', "%3A");
    let targets = [format!("https://matrix.to/#/{id}"), format!("https://matrix.to/#/{escaped}")];
    targets.iter().any(|target| {
        let links = html.match_indices(target.as_str()).filter_map(|(at, _)| html.get(at + target.len()..));
        links.into_iter().any(|after| after.starts_with(['"', '\'', '?']))
    })
}

/// The text without the bot's own mentions, and whether there was one. `is_named` says that the sender's client says so;
/// then the bot's name stands somewhere, or nowhere.
fn without_mentions(text: &str, is_named: bool, me: &Me) -> (String, bool) {
    let (rest, has_id) = without_id(text, me);
    let rest = if has_id { rest } else { text.to_owned() };
    if let Some(after) = after_name(&rest, is_named, me) {
        return (after.to_owned(), true);
    }
    match before_name(&rest, me).filter(|_| is_named) {
        Some(before) => (before.to_owned(), true),
        None => (rest, is_named || has_id),
    }
}

/// The text without the bot's whole id, wherever it stands as a word.
fn without_id(text: &str, me: &Me) -> (String, bool) {
    let id = me.user.as_str();
    let mut rest = String::new();
    let mut left = text;
    let mut found = false;
    while let Some(at) = left.find(id) {
        let (before, from) = left.split_at(at);
        let after = from.get(id.len()..).unwrap_or_default();
        rest.push_str(before);
        if ends_a_name(after) && !rest.ends_with(|c: char| c.is_alphanumeric()) {
            found = true;
            left = after.get(passed_over(&rest, after)..).unwrap_or_default();
        } else {
            rest.push_str(id);
            left = after;
        }
    }
    rest.push_str(left);
    (if found { rest.trim().to_owned() } else { rest }, found)
}

/// Whether an id ends here: behind `@bot:a.b`, `.de` makes another one of it, and a full stop does not.
fn ends_a_name(after: &str) -> bool {
    let mut chars = after.chars();
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    match chars.next() {
        Some('.') => !chars.next().is_some_and(in_name),
        Some(':') => !chars.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => !in_name(c),
        None => true,
    }
}

/// How many bytes after a mention go with it: the signs by which a text that begins with it goes on, or else one of the two
/// spaces around it.
fn passed_over(before: &str, after: &str) -> usize {
    if before.trim().is_empty() {
        return after.len() - after.trim_start_matches([' ', ',', ':']).len();
    }
    usize::from(before.ends_with(' ') && after.starts_with(' '))
}

/// What follows the bot's name, where the text begins with it. Somebody's client that mentions nobody has typed it by hand:
/// then a colon or a comma says that it is meant as an address, and not as a word.
fn after_name<'t>(text: &'t str, is_named: bool, me: &Me) -> Option<&'t str> {
    let text = text.trim_start();
    let text = text.strip_prefix('@').unwrap_or(text);
    names(me).find_map(|name| {
        let head = text.get(..name.len()).filter(|head| head.eq_ignore_ascii_case(name))?;
        let after = text.get(head.len()..)?;
        // What goes on right behind a colon is somebody's id.
        let is_address = after.strip_prefix([':', ',']).is_some_and(|next| !next.starts_with(char::is_alphanumeric));
        let is_word = is_named && (after.is_empty() || after.starts_with(char::is_whitespace));
        (is_address || is_word).then(|| after.trim_start_matches([' ', ',', ':']).trim_end())
    })
}

/// What stands before the bot's name, where the text ends with it.
fn before_name<'t>(text: &'t str, me: &Me) -> Option<&'t str> {
    let text = text.trim_end().trim_end_matches(['.', '!', '?']);
    names(me).find_map(|name| {
        let at = text.len().checked_sub(name.len())?;
        let tail = text.get(at..).filter(|tail| tail.eq_ignore_ascii_case(name))?;
        let before = text.strip_suffix(tail)?;
        let before = before.strip_suffix('@').unwrap_or(before);
        before.ends_with([' ', ',']).then(|| before.trim_end_matches([' ', ',']))
    })
}

/// What the bot is called, the longer first.
fn names(me: &Me) -> impl Iterator<Item = &str> {
    me.name.as_deref().filter(|name| !name.trim().is_empty()).into_iter().chain([me.user.localpart()])
}
