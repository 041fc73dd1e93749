//! Whether a message addresses the bot, and what is left of its text without the address. Everything else of the text stays
//! exactly as it was typed.

use countersign_core::signal::Addressed;
use teloxide::types::{Message, MessageEntity, MessageEntityKind};

use super::{Me, place};

/// The most mentions of a message that are looked at: as many entities as Telegram lets a message have. Each costs a look
/// through the text.
const ENTITIES_MAX: usize = 100;

/// How a message addresses the bot, and its text.
pub(super) fn read(message: &Message, me: &Me, commands: &[String]) -> Option<(Addressed, String)> {
    let text = message.text().or_else(|| message.caption())?;
    let entities = message.entities().or_else(|| message.caption_entities()).unwrap_or_default();
    let is_private = message.chat.is_private();
    // Its words are somebody else's: another person's, or another bot's, of which the person saw a title and tapped on it.
    let is_of_other_bot = message.via_bot.as_ref().is_some_and(|bot| bot.id.0 != me.id);
    if message.forward_origin().is_some() || is_of_other_bot {
        return Some((Addressed::No, text.to_owned()));
    }
    if let Some(command) = command(text, entities) {
        let is_ours = command.is_ours(me, commands, is_private);
        let words = if is_ours { command.words(commands) } else { None };
        let addressed = if is_ours { Addressed::Command } else { Addressed::No };
        return Some((addressed, words.unwrap_or_else(|| text.to_owned())));
    }
    let (rest, is_mentioned) = without_mentions(text, entities, me);
    let is_reply = place::answered(message).and_then(|answered| answered.from.as_ref());
    let is_reply = is_reply.is_some_and(|author| author.id.0 == me.id);
    let addressed = match (is_private, is_mentioned, is_reply) {
        (true, ..) => Addressed::Direct,
        (false, true, _) => Addressed::Mention,
        (false, false, true) => Addressed::Reply,
        (false, false, false) => Addressed::No,
    };
    Some((addressed, rest))
}

/// A command at the beginning of a message.
struct Command<'t> {
    /// Without its slash.
    name: &'t str,
    /// The bot that it is for, where it says so.
    to: Option<&'t str>,
    /// What follows it.
    rest: &'t str,
}

impl Command<'_> {
    /// Whether it is for this bot. In a group a bare command goes to every bot there: ours are those that it registered.
    fn is_ours(&self, me: &Me, commands: &[String], is_private: bool) -> bool {
        match self.to {
            Some(to) => to.eq_ignore_ascii_case(&me.username),
            None => is_private || self.is_start() || self.is_registered(commands),
        }
    }

    /// Every bot has it, and none registers it.
    fn is_start(&self) -> bool {
        self.name.eq_ignore_ascii_case("start")
    }

    fn is_registered(&self, commands: &[String]) -> bool {
        commands.iter().any(|own| own.eq_ignore_ascii_case(self.name))
    }

    /// The words that it stands for: `/disk_usage x` is `disk usage x`. None where it is no command that the bot registered:
    /// Telegram makes a link of every word behind a slash, and one tap on what somebody wrote must not say `approve`.
    /// Telegram sends `/start` when somebody opens the chat, with whatever a link put behind it.
    fn words(&self, commands: &[String]) -> Option<String> {
        if self.is_start() {
            return Some("start".to_owned());
        }
        let is_registered = self.is_registered(commands);
        is_registered.then(|| format!("{}{}", self.name.replace('_', " "), self.rest.trim_end()))
    }
}

fn command<'t>(text: &'t str, entities: &[MessageEntity]) -> Option<Command<'t>> {
    let entity = entities.iter().find(|entity| entity.offset == 0 && entity.kind == MessageEntityKind::BotCommand)?;
    let (written, rest) = text.split_at_checked(byte_at(text, entity.length)?)?;
    let written = written.strip_prefix('/')?;
    let (name, to) = written.split_once('@').map_or((written, None), |(name, to)| (name, Some(to)));
    Some(Command { name, to, rest })
}

/// The text without the bot's own mentions, and whether there was one.
fn without_mentions(text: &str, entities: &[MessageEntity], me: &Me) -> (String, bool) {
    let may_be_own = |entity: &&MessageEntity| {
        matches!(entity.kind, MessageEntityKind::Mention | MessageEntityKind::TextMention { .. })
    };
    let own = entities.iter().filter(may_be_own).take(ENTITIES_MAX).filter_map(|entity| {
        let end = entity.offset.saturating_add(entity.length);
        let (start, end) = (byte_at(text, entity.offset)?, byte_at(text, end)?);
        let is_own = match &entity.kind {
            MessageEntityKind::Mention => {
                text.get(start..end)?.strip_prefix('@').is_some_and(|name| name.eq_ignore_ascii_case(&me.username))
            }
            MessageEntityKind::TextMention { user } => user.id.0 == me.id,
            _ => false,
        };
        is_own.then_some((start, end))
    });
    let mut rest = String::new();
    let mut from = 0;
    let mut is_mentioned = false;
    for (start, end) in own {
        is_mentioned = true;
        rest.push_str(text.get(from..start).unwrap_or_default());
        from = end;
        from += passed_over(&rest, text.get(end..).unwrap_or_default());
    }
    rest.push_str(text.get(from..).unwrap_or_default());
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

/// The byte at which this many UTF-16 units are over, which is how Telegram counts; none in the middle of a character.
fn byte_at(text: &str, units: usize) -> Option<usize> {
    let mut passed = 0;
    for (byte, c) in text.char_indices() {
        if passed >= units {
            return (passed == units).then_some(byte);
        }
        passed += c.len_utf16();
    }
    (passed == units).then_some(text.len())
}
