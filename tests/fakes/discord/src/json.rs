//! The fake's data as Discord writes it: users, members, channels, messages, servers. Every field that Discord always sends
//! is there, because a client may insist on it.

use serde_json::{Map, Value, json};

use crate::BOT;
use crate::channel::{Channel, ChannelKind, Message};
use crate::clock::iso;
use crate::people::{Guild, User};
use crate::state::State;

/// Every permission there was when this was written, but for a server's administration.
const PERMISSIONS: &str = "2248473465835073";
/// When everybody joined: nothing depends on it.
const JOINED: &str = "2024-01-01T00:00:00.000000+00:00";
/// Discord's number for a thread's first message, which shows the one that it was opened from.
const STARTER: u8 = 21;
/// Bits of `flags`.
const HAS_THREAD: u64 = 1 << 5;
const EPHEMERAL: u64 = 1 << 6;
const LOADING: u64 = 1 << 7;
const SUPPRESS_EMBEDS: u64 = 1 << 2;

pub(crate) fn id(id: u64) -> Value {
    json!(id.to_string())
}

pub(crate) fn user(user: &User) -> Value {
    json!({
        "id": id(user.id),
        "username": user.username,
        "global_name": if user.is_bot || user.is_webhook { Value::Null } else { json!(user.name) },
        "discriminator": if user.is_bot { "0001" } else { "0" },
        "avatar": null,
        "avatar_decoration_data": null,
        "collectibles": null,
        "primary_guild": null,
        "public_flags": 0,
        "flags": 0,
        "bot": user.is_bot || user.is_webhook,
    })
}

/// A user by id; somebody unknown has left Discord.
pub(crate) fn user_of(state: &State, id: u64) -> Value {
    let gone = || json!({ "id": id.to_string(), "username": "deleted_user", "discriminator": "0", "avatar": null, "global_name": null });
    state.users.get(&id).map_or_else(gone, user)
}

/// A member without the user, as a message has it.
pub(crate) fn member(guild: &Guild, user: u64) -> Value {
    let roles: Vec<Value> = guild.members.get(&user).into_iter().flatten().map(|role| id(*role)).collect();
    json!({
        "roles": roles,
        "nick": null,
        "avatar": null,
        "banner": null,
        "premium_since": null,
        "joined_at": JOINED,
        "communication_disabled_until": null,
        "pending": false,
        "deaf": false,
        "mute": false,
        "flags": 0,
    })
}

pub(crate) fn member_with_user(state: &State, guild: &Guild, user: u64) -> Value {
    let mut member = member(guild, user);
    member["user"] = user_of(state, user);
    member
}

/// A member as an interaction shows it: with what they may do there.
pub(crate) fn member_with_permissions(state: &State, guild: &Guild, user: u64) -> Value {
    let mut member = member_with_user(state, guild, user);
    member["permissions"] = json!(PERMISSIONS);
    member["unusual_dm_activity_until"] = Value::Null;
    member
}

pub(crate) fn channel(state: &State, channel: &Channel) -> Value {
    let last = channel.messages.values().rfind(|message| message.is_public()).map(|message| id(message.id));
    let mut json = json!({
        "id": id(channel.id.0),
        "type": channel.kind.number(),
        "last_message_id": last,
        "flags": 0,
    });
    if channel.kind == ChannelKind::Private {
        let recipient = channel.recipient.map(|recipient| user_of(state, recipient));
        json["recipients"] = json!(recipient.into_iter().collect::<Vec<_>>());
        return json;
    }
    json["guild_id"] = channel.guild.map_or(Value::Null, id);
    json["name"] = json!(channel.name);
    json["parent_id"] = channel.parent.map_or(Value::Null, |parent| id(parent.0));
    json["rate_limit_per_user"] = json!(0);
    if channel.kind.is_thread() {
        let said = channel.messages.values().filter(|message| !message.deleted).count();
        json["owner_id"] = channel.owner.map_or(Value::Null, id);
        json["message_count"] = json!(said);
        json["total_message_sent"] = json!(said);
        json["member_count"] = json!(1);
        json["thread_metadata"] = thread_metadata(channel);
        json["member"] = json!({ "join_timestamp": iso(channel.opened_ms), "flags": 1 });
    } else {
        let of_guild = json!({ "topic": null, "nsfw": false, "position": 0, "permission_overwrites": [] });
        json.as_object_mut().expect("invariant: made above").extend(of_guild.as_object().cloned().unwrap_or_default());
    }
    json
}

fn thread_metadata(channel: &Channel) -> Value {
    json!({
        "archived": channel.archived,
        "auto_archive_duration": 1440,
        "archive_timestamp": iso(channel.opened_ms),
        "create_timestamp": iso(channel.opened_ms),
        "locked": channel.locked,
    })
}

/// A message as the REST API and the gateway have it in common. The message it answers is shown, one step of a chain.
pub(crate) fn message(state: &State, message: &Message) -> Value {
    let mut json = bare(state, message);
    let channel = state.channels.get(&message.channel);
    if let Some(parent) = channel.and_then(|channel| channel.parent).filter(|_| message.kind == STARTER) {
        let above = state.message(parent, message.channel.0);
        json["message_reference"] = json!({
            "type": 0,
            "channel_id": id(parent.0),
            "message_id": id(message.channel.0),
            "guild_id": channel.and_then(|channel| channel.guild).map(id),
        });
        json["referenced_message"] = above.map_or(Value::Null, |above| bare(state, above));
    }
    if let Some(answered) = message.reply_to {
        json["message_reference"] = json!({
            "type": 0,
            "channel_id": id(message.channel.0),
            "message_id": id(answered),
            "guild_id": channel.and_then(|channel| channel.guild).map(id),
        });
        let shown = channel.and_then(|channel| channel.shown(answered));
        json["referenced_message"] = shown.map_or(Value::Null, |answered| bare(state, answered));
    }
    if let Some((from, original)) = message.forwarded {
        let shown = state.message(from, original);
        json["message_reference"] = json!({ "type": 1, "channel_id": id(from.0), "message_id": id(original) });
        json["message_snapshots"] =
            json!(shown.map(|shown| json!({ "message": snapshot(state, shown) })).into_iter().collect::<Vec<_>>());
    }
    if let Some(thread) = message.thread.and_then(|thread| state.channels.get(&thread)) {
        json["thread"] = self::channel(state, thread);
    }
    json
}

fn bare(state: &State, message: &Message) -> Value {
    let attachments: Vec<Value> = message.documents.iter().map(|document| attachment(message, document)).collect();
    let mut json = json!({
        "id": id(message.id),
        "channel_id": id(message.channel.0),
        "type": message.kind,
        "author": user_of(state, message.from),
        "content": message.text,
        "timestamp": iso(message.date_ms),
        "edited_timestamp": message.edited_ms.map(iso),
        "tts": false,
        "mention_everyone": message.pings.iter().any(|ping| ping.starts_with('@')),
        "mentions": mentioned(message, "<@", |id| user_of(state, id)),
        "mention_roles": mentioned(message, "<@&", id),
        "attachments": attachments,
        "embeds": if message.suppress_embeds { Vec::new() } else { message.embeds.clone() },
        "components": message.keyboard.wire,
        "pinned": false,
        "flags": flags(message),
    });
    if !message.reactions.is_empty() {
        json["reactions"] = reactions(message);
    }
    if let Some(nonce) = &message.nonce {
        json["nonce"] = nonce.clone();
    }
    let author = state.users.get(&message.from);
    if author.is_some_and(|author| author.is_webhook) {
        json["webhook_id"] = id(message.from);
    }
    if let Some(interaction) = message.interaction.as_ref().and_then(|asked| state.interactions.get(asked)) {
        json["webhook_id"] = id(BOT);
        json["application_id"] = id(BOT);
        json["interaction_metadata"] = interaction.metadata(state, message.id);
    }
    json
}

fn snapshot(state: &State, message: &Message) -> Value {
    let whole = bare(state, message);
    let parts = [
        "type",
        "content",
        "embeds",
        "attachments",
        "timestamp",
        "edited_timestamp",
        "flags",
        "mentions",
        "mention_roles",
        "components",
    ];
    parts.iter().map(|part| ((*part).to_owned(), whole[*part].clone())).collect::<Map<_, _>>().into()
}

/// Marks of one kind that the message calls somebody by.
fn mentioned(message: &Message, start: &str, show: impl Fn(u64) -> Value) -> Vec<Value> {
    let ids = message.pings.iter().filter_map(|ping| ping.strip_prefix(start)?.strip_suffix('>')?.parse().ok());
    ids.map(show).collect()
}

fn flags(message: &Message) -> u64 {
    let bits = [
        (message.suppress_embeds, SUPPRESS_EMBEDS),
        (message.thread.is_some(), HAS_THREAD),
        (message.ephemeral_for.is_some(), EPHEMERAL),
        (message.thinking, LOADING),
    ];
    bits.iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum()
}

fn attachment(message: &Message, document: &crate::Document) -> Value {
    let url = format!("https://cdn.example/attachments/{}/{}/{}", message.channel.0, document.id, document.name);
    json!({
        "id": id(document.id),
        "filename": document.name,
        "size": document.bytes.len(),
        "url": url,
        "proxy_url": url,
        "content_type": document.mime,
        "ephemeral": message.ephemeral_for.is_some(),
    })
}

fn reactions(message: &Message) -> Value {
    let mut emoji: Vec<&String> = message.reactions.values().flatten().collect();
    emoji.sort();
    emoji.dedup();
    let row = |emoji: &&String| {
        let who: Vec<&u64> =
            message.reactions.iter().filter(|(_, own)| own.contains(emoji)).map(|(who, _)| who).collect();
        json!({
            "emoji": self::emoji(emoji),
            "count": who.len(),
            "count_details": { "burst": 0, "normal": who.len() },
            "me": who.contains(&&BOT),
            "me_burst": false,
            "burst_colors": [],
        })
    };
    emoji.iter().map(row).collect()
}

pub(crate) fn emoji(emoji: &str) -> Value {
    json!({ "id": null, "name": emoji })
}

/// What every form of a server has.
pub(crate) fn guild(guild: &Guild) -> Value {
    let roles: Vec<Value> = guild.roles.iter().map(|(id, name)| role(*id, name)).collect();
    json!({
        "id": id(guild.id),
        "name": guild.name,
        "owner_id": id(1),
        "icon": null,
        "splash": null,
        "discovery_splash": null,
        "description": null,
        "banner": null,
        "features": [],
        "emojis": [],
        "stickers": [],
        "roles": roles,
        "afk_channel_id": null,
        "afk_timeout": 300,
        "system_channel_id": null,
        "system_channel_flags": 0,
        "rules_channel_id": null,
        "public_updates_channel_id": null,
        "safety_alerts_channel_id": null,
        "application_id": null,
        "vanity_url_code": null,
        "verification_level": 1,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "premium_progress_bar_enabled": false,
        "preferred_locale": "en-US",
        "max_members": 500_000,
        "max_presences": null,
        "max_video_channel_users": 25,
        "max_stage_video_channel_users": 50,
        "incidents_data": null,
    })
}

/// As `GUILD_CREATE` has it: with the channels that the bot sees, the threads, and the bot itself as the only member.
pub(crate) fn guild_create(state: &State, of: &Guild) -> Value {
    let visible =
        state.channels.values().filter(|channel| channel.guild == Some(of.id) && channel.bot != crate::Access::None);
    let (threads, channels): (Vec<_>, Vec<_>) = visible.partition(|channel| channel.kind.is_thread());
    let shown = |channels: Vec<&Channel>| channels.into_iter().map(|one| channel(state, one)).collect::<Vec<_>>();
    let more = json!({
        "joined_at": JOINED,
        "large": false,
        "unavailable": false,
        "member_count": of.members.len(),
        "voice_states": [],
        "members": [member_with_user(state, of, BOT)],
        "channels": shown(channels),
        "threads": shown(threads.into_iter().filter(|thread| !thread.archived).collect()),
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    });
    let mut whole = guild(of);
    whole.as_object_mut().expect("invariant: made above").extend(more.as_object().cloned().unwrap_or_default());
    whole
}

pub(crate) fn role(of: u64, name: &str) -> Value {
    json!({
        "id": id(of),
        "name": name,
        "description": null,
        "permissions": PERMISSIONS,
        "position": 0,
        "color": 0,
        "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null },
        "hoist": false,
        "managed": false,
        "mentionable": false,
        "icon": null,
        "unicode_emoji": null,
        "flags": 0,
    })
}
