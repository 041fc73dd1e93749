//! Routes about reactions, and reacting as such, which people do in the same way.

use serde_json::{Value, json};

use crate::BOT;
use crate::channel::{ChannelId, Message};
use crate::form::Form;
use crate::gateway::{DIRECT_MESSAGE_REACTIONS, Event, GUILD_MESSAGE_REACTIONS};
use crate::json;
use crate::refusal::{Answer, Refusal};
use crate::state::State;

/// Different reactions that a message bears.
const DIFFERENT_MAX: usize = 20;

pub(super) fn create(state: &mut State, form: &Form) -> Answer {
    change(state, form, true)
}

pub(super) fn delete(state: &mut State, form: &Form) -> Answer {
    change(state, form, false)
}

fn change(state: &mut State, form: &Form, add: bool) -> Answer {
    let (channel, message, emoji) = (form.channel(), form.id(1), form.part(2));
    state.writable(channel)?;
    react(state, BOT, (channel, message), emoji, add)?;
    Ok(Value::Null)
}

pub(super) fn list(state: &mut State, form: &Form) -> Answer {
    let limit = form.count("limit", 25, 100)?;
    let message = state.visible(form.channel())?.shown(form.id(1)).ok_or_else(Refusal::unknown_message)?;
    let who = message.reactions.iter().filter(|(_, own)| own.iter().any(|emoji| emoji == form.part(2)));
    Ok(who.take(limit).map(|(who, _)| json::user_of(state, *who)).collect())
}

/// Somebody reacts or takes it back; the bot is told if anything changed.
pub(crate) fn react(
    state: &mut State,
    who: u64,
    (channel, id): (ChannelId, u64),
    emoji: &str,
    add: bool,
) -> Result<(), Refusal> {
    if !is_emoji(emoji) {
        return Err(Refusal::unknown(10_014, "Emoji"));
    }
    let message =
        state.message_mut(channel, id).filter(|message| message.is_public()).ok_or_else(Refusal::unknown_message)?;
    let bears = |message: &Message| message.reactions.values().flatten().any(|own| own == emoji);
    let mut different: Vec<&String> = message.reactions.values().flatten().collect();
    different.sort_unstable();
    different.dedup();
    if add && !bears(message) && different.len() >= DIFFERENT_MAX {
        return Err(Refusal::new(400, 30_010, "Maximum number of reactions reached (20)"));
    }
    let author = message.from;
    let own = message.reactions.entry(who).or_default();
    let had = own.iter().any(|own| own == emoji);
    own.retain(|own| own != emoji);
    if add {
        own.push(emoji.to_owned());
    }
    if own.is_empty() {
        message.reactions.remove(&who);
    }
    if had != add {
        tell(state, who, (channel, id), (emoji, author), add);
    }
    Ok(())
}

fn tell(state: &mut State, who: u64, (channel, id): (ChannelId, u64), (emoji, author): (&str, u64), add: bool) {
    let mut body = json!({
        "user_id": json::id(who),
        "channel_id": json::id(channel.0),
        "message_id": json::id(id),
        "emoji": json::emoji(emoji),
        "burst": false,
        "type": 0,
    });
    if add {
        body["message_author_id"] = json::id(author);
    }
    let mut intent = DIRECT_MESSAGE_REACTIONS;
    if let Some(guild) = state.guild_of(channel).and_then(|guild| state.guilds.get(&guild)) {
        body["guild_id"] = json::id(guild.id);
        intent = GUILD_MESSAGE_REACTIONS;
        if add {
            body["member"] = json::member_with_user(state, guild, who);
        }
    }
    let name = if add { "MESSAGE_REACTION_ADD" } else { "MESSAGE_REACTION_REMOVE" };
    if state.visible(channel).is_ok() {
        state.tell(Some(channel), &Event { name, intent, body, veiled: None });
    }
}

/// Unicode's emoji begin beyond the letters; keycaps begin with a digit and bear a mark. The fake has no emoji of a server.
fn is_emoji(text: &str) -> bool {
    let short = text.chars().count() <= 12;
    short
        && text.chars().any(|letter| letter >= '\u{203C}')
        && !text.chars().any(|letter| letter.is_alphabetic() && letter.is_ascii())
}
