//! Long polling by hand: one `getUpdates`, each update read by itself, so that one which cannot be read does not hold up the
//! others. Which updates are confirmed is decided in `hear`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use teloxide::payloads::GetUpdates;
use teloxide::types::{AllowedUpdate, Update, UpdateKind};

use crate::Timing;
use crate::api::{Api, Trouble};

/// The most updates of one answer, which is also the most that Telegram gives.
const BATCH_MAX: u8 = 100;

/// What is asked for. Reactions come only where the bot is an administrator, and only if asked for.
const WANTED: [AllowedUpdate; 6] = [
    AllowedUpdate::Message,
    AllowedUpdate::EditedMessage,
    AllowedUpdate::CallbackQuery,
    AllowedUpdate::InlineQuery,
    AllowedUpdate::MessageReaction,
    AllowedUpdate::MyChatMember,
];

/// An update, and none where it has a form that is not known.
#[derive(Debug)]
pub(crate) struct Polled {
    pub(crate) id: u32,
    pub(crate) update: Option<Update>,
}

/// Waits for updates from `offset` on; without one, from the first that is not confirmed.
pub(crate) async fn poll(api: &Api, offset: Option<u32>, timing: Timing) -> Result<Vec<Polled>, Trouble> {
    let mut payload = GetUpdates::new();
    payload.offset = offset.map(|offset| i32::try_from(offset).unwrap_or(i32::MAX));
    payload.limit = Some(BATCH_MAX);
    payload.timeout = Some(u32::try_from(timing.poll.as_secs()).unwrap_or(u32::MAX));
    payload.allowed_updates = Some(WANTED.to_vec());
    let result = api.call_within(&payload, timing.poll + timing.grace).await?;
    batch(&result).map_err(|error| Trouble::Lost(format!("its updates have another form: {error}")))
}

/// The parts of an update that are looked at before it is read: its number, and who reacted. teloxide's reader of reactions
/// panics where there is nobody.
#[derive(Deserialize)]
struct Outline {
    update_id: u32,
    message_reaction: Option<Reacted>,
}

#[derive(Deserialize)]
struct Reacted {
    user: Option<IgnoredAny>,
    actor_chat: Option<IgnoredAny>,
}

fn batch(result: &RawValue) -> serde_json::Result<Vec<Polled>> {
    let all: Vec<&RawValue> = serde_json::from_str(result.get())?;
    all.into_iter().map(|one| one_of(one.get())).collect()
}

fn one_of(text: &str) -> serde_json::Result<Polled> {
    let outline: Outline = serde_json::from_str(text)?;
    let nobody = |reacted: &Reacted| reacted.user.is_none() && reacted.actor_chat.is_none();
    let update = if outline.message_reaction.as_ref().is_some_and(nobody) {
        None
    } else {
        serde_json::from_str::<Update>(text).ok().filter(|update| !matches!(update.kind, UpdateKind::Error(_)))
    };
    if update.is_none() {
        tracing::warn!(
            update = outline.update_id,
            "an update of Telegram has a form that is not known; it is passed over"
        );
    }
    Ok(Polled { id: outline.update_id, update })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_passed_over_and_the_others_are_not() {
        let text = r#"[
            {"update_id":1,"message":{"message_id":1,"date":1,"chat":{"id":5,"type":"private"},"text":"hi"}},
            {"update_id":2,"message":{"what":"is this"}},
            {"update_id":3,"something_new":{"a":1}},
            {"update_id":4,"message_reaction":{"chat":{"id":5,"type":"private"},"message_id":1,"date":1,"old_reaction":[],"new_reaction":[]}}
        ]"#;
        let result = RawValue::from_string(text.to_owned()).expect("it is JSON");
        let read = batch(&result).expect("it is a list of updates");
        let read: Vec<(u32, bool)> = read.iter().map(|polled| (polled.id, polled.update.is_some())).collect();
        assert_eq!(read, [(1, true), (2, false), (3, false), (4, false)]);
    }

    #[test]
    fn an_answer_that_is_no_list_of_updates_is_an_error() {
        for text in ["{}", "[1]", r#"[{"message":{}}]"#] {
            let result = RawValue::from_string(text.to_owned()).expect("it is JSON");
            assert!(batch(&result).is_err(), "{text}");
        }
    }
}
