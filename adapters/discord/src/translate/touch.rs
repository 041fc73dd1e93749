//! Presses of buttons, picks from menus, and reactions. What they decide is found out among the bot's own messages, and
//! never here.

use countersign_core::port::{Sign, Touch, Touched};
use countersign_core::signal::Assurance;
use serde::Deserialize;
use serenity::all::{
    ActionRowComponent, ApplicationId, Button, ButtonKind, ButtonStyle, ChannelId, ComponentInteraction,
    ComponentInteractionDataKind, GuildId, InteractionId, Member, Message, MessageId, ModalInteraction, ReactionType,
    UserId,
};

use super::{Call, Heard, Here, Waits, actor, place};
use crate::ids::{self, MessageRef};

/// The reactions that decide.
const APPROVES: [&str; 2] = ["👍", "✅"];
const DENIES: [&str; 2] = ["👎", "❌"];

/// A reaction that somebody gave.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Reaction {
    user_id: UserId,
    pub(crate) channel_id: ChannelId,
    message_id: MessageId,
    #[serde(default)]
    pub(crate) guild_id: Option<GuildId>,
    emoji: ReactionType,
    #[serde(default)]
    member: Option<PartOfMember>,
    #[serde(default)]
    message_author_id: Option<UserId>,
}

/// What a reaction says of whoever gave it.
#[derive(Clone, Debug, Deserialize)]
struct PartOfMember {
    user: serenity::all::User,
    roles: Vec<serenity::all::RoleId>,
}

impl Reaction {
    /// Whether it stands for yes or no.
    pub(crate) fn may_decide(&self) -> bool {
        self.sign().is_some()
    }

    fn sign(&self) -> Option<Sign> {
        let ReactionType::Unicode(emoji) = &self.emoji else { return None };
        match emoji.as_str() {
            emoji if APPROVES.contains(&emoji) => Some(Sign::Approve),
            emoji if DENIES.contains(&emoji) => Some(Sign::Deny),
            _ => None,
        }
    }
}

/// What answers a press.
pub(super) fn call(id: InteractionId, application: ApplicationId, token: &str) -> Call {
    Call { id: id.get(), application: application.get(), token: token.to_owned(), waits: Waits::Press }
}

/// A press of a button, or a pick from a menu. One without data of ours is no press of ours.
pub(super) fn pressed(pressed: &ComponentInteraction, here: Here<'_>) -> Heard {
    let id = pressed.id.get();
    let call = call(pressed.id, pressed.application_id, &pressed.token);
    let data = match &pressed.data.kind {
        ComponentInteractionDataKind::Button => Some(&pressed.data.custom_id),
        ComponentInteractionDataKind::StringSelect { values } => values.first(),
        _ => None,
    };
    let Some(data) = data else { return Heard::Stray(call) };
    if says_no(&pressed.message, data) {
        return Heard::Asks { call, data: data.clone() };
    }
    let member: Option<&Member> = pressed.member.as_ref();
    let touch = Touch {
        event: ids::interaction(id),
        on: button(data, pressed.channel_id, pressed.message.id),
        thread: place::thread(&here, place::root(&here, pressed.message.id.get())),
        room: place::kind(&here),
        actor: actor::user(&pressed.user),
        platform_roles: actor::roles_of_member(member),
        assurance: Assurance::Platform,
        reason: String::new(),
    };
    Heard::Touched { touch, call: Some(call) }
}

fn button(data: &str, channel: ChannelId, message: MessageId) -> Touched {
    let on = MessageRef { channel: channel.get(), message: message.get() }.event();
    Touched::Button { data: data.to_owned(), on }
}

/// Whether the button with this data is the one that denies a plan, which alone looks like that.
fn says_no(message: &Message, data: &str) -> bool {
    let buttons = message.components.iter().flat_map(|row| &row.components);
    buttons.into_iter().any(|component| match component {
        ActionRowComponent::Button(Button { data: ButtonKind::NonLink { custom_id, style }, .. }) => {
            custom_id == data && *style == ButtonStyle::Danger
        }
        _ => false,
    })
}

/// The press that somebody has said the reason of. It counts from now on.
pub(super) fn said_why(filled: &ModalInteraction, here: Here<'_>) -> Heard {
    let id = filled.id.get();
    let call = call(filled.id, filled.application_id, &filled.token);
    let Some(message) = &filled.message else { return Heard::Stray(call) };
    let said = filled.data.components.iter().flat_map(|row| &row.components).find_map(|component| match component {
        ActionRowComponent::InputText(input) => input.value.clone(),
        _ => None,
    });
    let touch = Touch {
        event: ids::interaction(id),
        on: button(&filled.data.custom_id, filled.channel_id, message.id),
        thread: place::thread(&here, place::root(&here, message.id.get())),
        room: place::kind(&here),
        actor: actor::user(&filled.user),
        platform_roles: actor::roles_of_member(filled.member.as_ref()),
        assurance: Assurance::Platform,
        reason: said.unwrap_or_default(),
    };
    Heard::Touched { touch, call: Some(call) }
}

/// A reaction that says yes or no, told in this place of the session. One that is taken back takes nothing back.
pub(crate) fn reacted(reaction: &Reaction, (session, sequence): (&str, u64), here: Here<'_>) -> Heard {
    let Some(sign) = reaction.sign() else { return Heard::Nothing };
    let is_ours = reaction.message_author_id.is_none_or(|author| author.get() == here.me.id);
    if reaction.user_id.get() == here.me.id || !is_ours {
        return Heard::Nothing;
    }
    let at = MessageRef { channel: reaction.channel_id.get(), message: reaction.message_id.get() };
    let who = match &reaction.member {
        Some(member) => actor::user(&member.user),
        None => actor::numbered(reaction.user_id.get()),
    };
    let roles = reaction.member.iter().flat_map(|member| &member.roles).map(|role| role.get().to_string()).collect();
    let touch = Touch {
        event: ids::reaction(session, sequence),
        on: Touched::Message { event: at.event(), sign },
        thread: place::thread(&here, place::root(&here, at.message)),
        room: place::kind(&here),
        actor: who,
        platform_roles: roles,
        assurance: Assurance::Platform,
        reason: String::new(),
    };
    Heard::Touched { touch, call: None }
}
