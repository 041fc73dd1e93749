//! Routes about the bot itself and about what it is in: its account, its application, servers, members, direct messages.

use serde_json::{Value, json};

use crate::channel::{Access, Channel, ChannelId, ChannelKind};
use crate::form::Form;
use crate::people::Guild;
use crate::refusal::{Answer, Refusal};
use crate::state::State;
use crate::{BOT, json};

#[expect(clippy::unnecessary_wraps, reason = "every route has this form")]
pub(super) fn gateway(state: &mut State, _: &Form) -> Answer {
    Ok(json!({ "url": state.gateway_url }))
}

#[expect(clippy::unnecessary_wraps, reason = "every route has this form")]
pub(super) fn gateway_bot(state: &mut State, _: &Form) -> Answer {
    let limit = json!({ "total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1 });
    Ok(json!({ "url": state.gateway_url, "shards": 1, "session_start_limit": limit }))
}

#[expect(clippy::unnecessary_wraps, reason = "every route has this form")]
pub(super) fn me(state: &mut State, _: &Form) -> Answer {
    let mut me = json::user_of(state, BOT);
    me["verified"] = json!(true);
    me["mfa_enabled"] = json!(false);
    me["email"] = Value::Null;
    me["locale"] = json!("en-US");
    Ok(me)
}

pub(super) fn user(state: &mut State, form: &Form) -> Answer {
    state.users.get(&form.id(0)).map(json::user).ok_or_else(|| Refusal::unknown(10_013, "User"))
}

#[expect(clippy::unnecessary_wraps, reason = "every route has this form")]
pub(super) fn my_guilds(state: &mut State, _: &Form) -> Answer {
    let row = |guild: &Guild| json!({ "id": json::id(guild.id), "name": guild.name, "icon": null, "banner": null, "owner": false, "permissions": "0", "features": [] });
    Ok(state.guilds.values().map(row).collect())
}

#[expect(clippy::unnecessary_wraps, reason = "every route has this form")]
pub(super) fn application(state: &mut State, _: &Form) -> Answer {
    Ok(json!({
        "id": BOT.to_string(),
        "name": "Ops",
        "icon": null,
        "description": "",
        "summary": "",
        "bot_public": false,
        "bot_require_code_grant": false,
        "verify_key": "0".repeat(64),
        "team": null,
        "owner": json::user_of(state, BOT),
        "flags": state.application_flags(),
        "approximate_guild_count": state.guilds.len(),
        "redirect_uris": [],
        "interactions_endpoint_url": null,
        "role_connections_verification_url": null,
        "integration_types_config": { "0": {} },
    }))
}

fn guild_at<'a>(state: &'a State, form: &Form) -> Result<&'a Guild, Refusal> {
    state.guilds.get(&form.id(0)).ok_or_else(|| Refusal::unknown(10_004, "Guild"))
}

pub(super) fn guild(state: &mut State, form: &Form) -> Answer {
    guild_at(state, form).map(json::guild)
}

pub(super) fn guild_channels(state: &mut State, form: &Form) -> Answer {
    let guild = guild_at(state, form)?.id;
    let own = |channel: &&Channel| channel.guild == Some(guild) && channel.kind == ChannelKind::Text;
    let visible = state.channels.values().filter(own).filter(|channel| state.access(channel) != Access::None);
    Ok(visible.map(|channel| json::channel(state, channel)).collect())
}

pub(super) fn guild_roles(state: &mut State, form: &Form) -> Answer {
    let guild = guild_at(state, form)?;
    Ok(guild.roles.iter().map(|(id, name)| json::role(*id, name)).collect())
}

pub(super) fn active_threads(state: &mut State, form: &Form) -> Answer {
    let guild = guild_at(state, form)?.id;
    let active = |channel: &&Channel| channel.guild == Some(guild) && channel.kind.is_thread() && !channel.archived;
    let visible = state.channels.values().filter(active).filter(|channel| state.access(channel) != Access::None);
    let threads: Vec<Value> = visible.map(|channel| json::channel(state, channel)).collect();
    Ok(json!({ "threads": threads, "members": [] }))
}

pub(super) fn member(state: &mut State, form: &Form) -> Answer {
    let (guild, user) = (guild_at(state, form)?, form.id(1));
    if !guild.members.contains_key(&user) {
        return Err(Refusal::unknown(10_007, "Member"));
    }
    Ok(json::member_with_user(state, guild, user))
}

/// Only for a bot that was granted the intent for members.
pub(super) fn members(state: &mut State, form: &Form) -> Answer {
    let limit = form.count("limit", 1, 1000)?;
    let guild = guild_at(state, form)?;
    if state.gateway.granted & crate::GUILD_MEMBERS == 0 {
        return Err(Refusal::new(403, 50_001, "Missing Access"));
    }
    let after = form.query.get("after").and_then(|after| after.parse().ok()).unwrap_or(0);
    let members = guild.members.keys().filter(|user| **user > after).take(limit);
    Ok(members.map(|user| json::member_with_user(state, guild, *user)).collect())
}

/// The channel is made when it is asked for first, and the same ever after.
pub(super) fn create_dm(state: &mut State, form: &Form) -> Answer {
    let recipient = form.fields(&["recipient_id"], |fields| fields.id("recipient_id"))?.unwrap_or(0);
    match state.users.get(&recipient) {
        None => return Err(Refusal::unknown(10_013, "User")),
        Some(user) if user.is_bot || user.is_webhook => {
            return Err(Refusal::new(400, 50_007, "Cannot send messages to this user"));
        }
        Some(_) => {}
    }
    let id = private(state, recipient);
    Ok(state.channels.get(&id).map_or(Value::Null, |channel| json::channel(state, channel)))
}

/// The direct messages of the bot with somebody.
pub(crate) fn private(state: &mut State, recipient: u64) -> ChannelId {
    let own = |channel: &&Channel| channel.recipient == Some(recipient);
    if let Some(channel) = state.channels.values().find(own) {
        return channel.id;
    }
    let id = ChannelId(state.clock.id());
    let name = state.users.get(&recipient).map(|user| user.name.clone()).unwrap_or_default();
    let mut channel = Channel::new(id, ChannelKind::Private, &name);
    channel.recipient = Some(recipient);
    state.channels.insert(id, channel);
    id
}
