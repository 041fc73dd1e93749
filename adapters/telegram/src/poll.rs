//! Long polling by hand: one `getUpdates`, each update read by itself, so that one which cannot be read does not hold up the
//! others. Which updates are confirmed is decided in `hear`.

use std::panic::catch_unwind;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use teloxide::payloads::GetUpdates;
use teloxide::types::{AllowedUpdate, Message, MessageEntity, Update, UpdateKind};

use countersign_core::text::json_depth;

use crate::Timing;
use crate::api::{Api, Trouble};

/// The most updates of one answer, which is also the most that Telegram gives.
const BATCH_MAX: u8 = 100;

/// How deep an update may be. Telegram's own go to 12; whoever reads one takes some stack for each level.
const DEPTH_MAX: usize = 16;

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

/// A message as it came, where what was read of it says nothing.
#[derive(Deserialize)]
struct Written {
    text: Option<IgnoredAny>,
    caption: Option<IgnoredAny>,
    reply_to_message: Option<Box<Written>>,
}

/// The messages of people that an update can hold.
#[derive(Deserialize)]
struct AsItCame {
    message: Option<Written>,
    edited_message: Option<Written>,
}

/// Reads a batch. One without a number that can be read cannot be confirmed by itself: it is passed over with the others,
/// and only where it is alone is there nothing else to do than to ask again.
fn batch(result: &RawValue) -> serde_json::Result<Vec<Polled>> {
    let all: Vec<&RawValue> = serde_json::from_str(result.get())?;
    let (read, failed): (Vec<_>, Vec<_>) = all.into_iter().map(|one| one_of(one.get())).partition(Result::is_ok);
    let read: Vec<Polled> = read.into_iter().flatten().collect();
    match failed.into_iter().find_map(Result::err) {
        Some(error) if read.is_empty() => Err(error),
        Some(error) => {
            tracing::warn!(%error, "an update of Telegram has no number; it is passed over");
            Ok(read)
        }
        None => Ok(read),
    }
}

fn one_of(text: &str) -> serde_json::Result<Polled> {
    let outline: Outline = serde_json::from_str(text)?;
    let nobody = |reacted: &Reacted| reacted.user.is_none() && reacted.actor_chat.is_none();
    let cannot_be = outline.message_reaction.as_ref().is_some_and(nobody) || json_depth(text) > DEPTH_MAX;
    // A reader that panics must not hold up the updates behind this one, again and again.
    let update = if cannot_be { None } else { catch_unwind(|| read(text)).unwrap_or_default() };
    match &update {
        None => tracing::warn!(
            update = outline.update_id,
            "an update of Telegram has a form that is not known; it is passed over"
        ),
        Some(update) if is_text_lost(text, update) => tracing::warn!(
            update = outline.update_id,
            "a message of Telegram has a form that is not known; not all that it says is heard"
        ),
        Some(_) => {}
    }
    Ok(Polled { id: outline.update_id, update })
}

/// Reads an update. teloxide drops all of what a message says where one of its entities is of a type that it does not know;
/// then it is read again without those.
fn read(text: &str) -> Option<Update> {
    let update = whole(text);
    if update.as_ref().is_some_and(|update| !is_text_lost(text, update)) {
        return update;
    }
    let mut value: Value = serde_json::from_str(text).ok()?;
    drop_unknown_entities(&mut value);
    whole(&value.to_string()).or(update)
}

fn whole(text: &str) -> Option<Update> {
    serde_json::from_str::<Update>(text).ok().filter(|update| !matches!(update.kind, UpdateKind::Error(_)))
}

/// Whether a message says something that is not in what was read of it. Most messages were read with their text, and then
/// the update is not looked at again.
fn is_text_lost(text: &str, update: &Update) -> bool {
    let (UpdateKind::Message(message) | UpdateKind::EditedMessage(message)) = &update.kind else { return false };
    if !is_silent(message) && !message.reply_to_message().is_some_and(is_silent) {
        return false;
    }
    let Ok(AsItCame { message: new, edited_message: edited }) = serde_json::from_str(text) else { return false };
    new.or(edited).is_some_and(|written| written.is_lost_in(message))
}

/// Whether nothing that a person wrote was read.
fn is_silent(message: &Message) -> bool {
    message.text().or_else(|| message.caption()).is_none()
}

impl Written {
    fn is_lost_in(&self, message: &Message) -> bool {
        let says = self.text.is_some() || self.caption.is_some();
        let answered = self.reply_to_message.as_ref().zip(message.reply_to_message());
        (says && is_silent(message)) || answered.is_some_and(|(written, read)| written.is_lost_in(read))
    }
}

/// Takes out every entity that teloxide cannot read, wherever Telegram has a list of them (`entities`, `caption_entities`,
/// `text_entities`, ...). They say only how a text is drawn: those that mean something to us are all known.
fn drop_unknown_entities(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if let (true, Value::Array(entities)) = (name.ends_with("entities"), &mut *field) {
                    entities.retain(|entity| MessageEntity::deserialize(entity).is_ok());
                }
                drop_unknown_entities(field);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(drop_unknown_entities),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use teloxide::types::MessageEntityKind;

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

    fn read_batch(text: &str) -> Option<Vec<(u32, bool)>> {
        let result = RawValue::from_string(text.to_owned()).expect("it is JSON");
        let read = batch(&result).ok()?;
        Some(read.iter().map(|polled| (polled.id, polled.update.is_some())).collect())
    }

    #[test]
    fn one_that_cannot_be_read_at_all_holds_up_no_other() {
        let sound =
            r#"{"update_id":2,"message":{"message_id":1,"date":1,"chat":{"id":5,"type":"private"},"text":"hi"}}"#;
        for broken in [
            r#"{"update_id":-1,"message":{}}"#,
            r#"{"update_id":"1"}"#,
            r#"{"message":{"message_id":1}}"#,
            r#"{"update_id":4294967296}"#,
            "17",
        ] {
            assert_eq!(read_batch(&format!("[{broken},{sound}]")), Some(vec![(2, true)]), "{broken}");
            assert_eq!(read_batch(&format!("[{broken}]")), None, "{broken}");
        }
        // Half of a pair of surrogates is no character.
        let half = sound.replace("hi", r"\ud83d");
        assert_eq!(read_batch(&format!("[{half},{sound}]")), Some(vec![(2, false), (2, true)]));
    }

    /// Each level takes some of the stack, and a stack that overflows ends the process.
    #[test]
    fn an_update_that_is_deeper_than_telegrams_is_passed_over() {
        let inner = r#""message_id":1,"date":1,"chat":{"id":5,"type":"private"},"text":"hi""#;
        let nest = |levels: usize| {
            let outer = format!(r#"{{{inner},"reply_to_message":"#).repeat(levels);
            format!(r#"[{{"update_id":1,"message":{outer}{{{inner}}}{}}}]"#, "}".repeat(levels))
        };
        assert_eq!(read_batch(&nest(2)), Some(vec![(1, true)]));
        assert_eq!(read_batch(&nest(100)), Some(vec![(1, false)]));
        assert_eq!(read_batch(&nest(100_000)), Some(vec![(1, false)]));
    }

    /// A message that Ann wrote, with what else is in it.
    fn update(kind: &str, more: &Value) -> String {
        let ann = json!({"id": 11, "is_bot": false, "first_name": "Ann"});
        let chat = json!({"id": 11, "type": "private", "first_name": "Ann"});
        let mut message = json!({"message_id": 7, "date": 1, "chat": chat, "from": ann});
        for (key, value) in more.as_object().into_iter().flatten() {
            message[key] = value.clone();
        }
        json!({"update_id": 1, kind: message}).to_string()
    }

    /// What was read of its message.
    fn message(text: &str) -> Message {
        let polled = one_of(text).expect("it has a number");
        match polled.update.map(|update| update.kind) {
            Some(UpdateKind::Message(message) | UpdateKind::EditedMessage(message)) => message,
            other => panic!("no message: {other:?}"),
        }
    }

    #[test]
    fn an_entity_that_is_not_known_costs_no_text() {
        let date = json!({"type": "date_time", "offset": 0, "length": 2, "unix_time": 1});
        let no_link = json!({"type": "text_link", "offset": 0, "length": 2, "url": "no link"});
        let mention = json!({"type": "mention", "offset": 3, "length": 4});
        let entities = json!([date, mention, no_link]);
        let photo = json!([{"file_id": "a", "file_unique_id": "b", "width": 1, "height": 1}]);
        let chat = json!({"id": 11, "type": "private", "first_name": "Ann"});
        let earlier = json!({"message_id": 3, "date": 1, "chat": chat, "text": "at 9 @bob", "entities": entities});
        let all = [
            json!({"text": "at @bob", "entities": entities}),
            json!({"caption": "at @bob", "caption_entities": entities, "photo": photo}),
            json!({"text": "hm", "reply_to_message": earlier, "quote": {"text": "at 9", "position": 0, "entities": [date]}}),
            json!({"text": "hm", "reply_to_message": earlier}),
        ];
        for more in &all {
            for kind in ["message", "edited_message"] {
                let read = message(&update(kind, more));
                let marked = read.entities().or_else(|| read.caption_entities()).unwrap_or_default();
                let kinds: Vec<_> = marked.iter().map(|entity| &entity.kind).collect();
                match read.reply_to_message() {
                    None => {
                        assert_eq!(read.text().or_else(|| read.caption()), Some("at @bob"), "{more}");
                        assert_eq!(kinds, [&MessageEntityKind::Mention]);
                    }
                    Some(answered) => assert_eq!((read.text(), answered.text()), (Some("hm"), Some("at 9 @bob"))),
                }
            }
        }
    }

    #[test]
    fn what_is_lost_all_the_same_is_noticed() {
        let lost = |more: &Value| {
            let text = update("message", more);
            let read = read(&text).expect("it is an update");
            is_text_lost(&text, &read)
        };
        assert!(lost(&json!({"text": "hi", "forward_origin": {"type": "somewhere_new", "date": 1}})));
        assert!(lost(&json!({"caption": "hi", "something_new": {"a": 1}})));
        assert!(!lost(&json!({"something_new": {"a": 1}})) && !lost(&json!({"text": "hi", "something_new": {"a": 1}})));
    }

    #[test]
    fn an_answer_that_is_no_list_of_updates_is_an_error() {
        for text in ["{}", "[1]", r#"[{"message":{}}]"#] {
            let result = RawValue::from_string(text.to_owned()).expect("it is JSON");
            assert!(batch(&result).is_err(), "{text}");
        }
    }
}
