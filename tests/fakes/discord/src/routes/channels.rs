//! Routes about one channel or thread: looking, changing a thread's state, and the sign that the bot is typing.

use serde_json::Value;

use crate::form::Form;
use crate::json;
use crate::refusal::{Answer, Refusal};
use crate::state::State;

/// Letters of a channel's or thread's name.
pub(super) const NAME_MAX: usize = 100;

pub(super) fn get(state: &mut State, form: &Form) -> Answer {
    state.visible(form.channel()).map(|channel| json::channel(state, channel))
}

/// Of a thread: its name, and whether it is put away or closed.
pub(super) fn modify(state: &mut State, form: &Form) -> Answer {
    let known = [
        "name",
        "archived",
        "locked",
        "auto_archive_duration",
        "invitable",
        "rate_limit_per_user",
        "flags",
        "applied_tags",
    ];
    let (name, archived, locked) = form.fields(&known, |fields| {
        let flag = |name: &str| fields.get(name).map(|_| fields.flag(name));
        (fields.text("name", NAME_MAX).map(str::to_owned), flag("archived"), flag("locked"))
    })?;
    let id = form.channel();
    if !state.visible(id)?.kind.is_thread() {
        return Err(Refusal::new(403, 50_013, "Missing Permissions"));
    }
    let thread = state.channels.get_mut(&id).ok_or_else(Refusal::unknown_channel)?;
    if thread.archived && archived != Some(false) {
        return Err(Refusal::new(400, 50_083, "Thread is archived"));
    }
    if let Some(name) = name {
        thread.name = name;
    }
    thread.archived = archived.unwrap_or(thread.archived);
    thread.locked = locked.unwrap_or(thread.locked);
    state.tell_channel("THREAD_UPDATE", id);
    state.visible(id).map(|channel| json::channel(state, channel))
}

/// The fake lets a bot close direct messages only: nothing is lost by that.
pub(super) fn delete(state: &mut State, form: &Form) -> Answer {
    let channel = state.visible(form.channel())?;
    match channel.recipient {
        Some(_) => Ok(json::channel(state, channel)),
        None => Err(Refusal::new(403, 50_013, "Missing Permissions")),
    }
}

pub(super) fn typing(state: &mut State, form: &Form) -> Answer {
    let id = state.writable(form.channel())?.id;
    state.typing.insert(id);
    Ok(Value::Null)
}
