//! The first answer to an interaction: within three seconds, once, and of a kind that fits what was asked.

use serde_json::{Value, json};

use super::messages::change;
use super::modal;
use crate::BOT;
use crate::channel::Message;
use crate::draft::{Draft, PARTS};
use crate::form::{Fields, Form};
use crate::interactions::{AnswerKind, CallbackAnswer, Kind, Modal};
use crate::keyboard::Choice;
use crate::refusal::{Answer, Refusal};
use crate::state::State;

/// Choices offered while somebody types, and letters of each.
const CHOICES_MAX: usize = 25;
const CHOICE_MAX: usize = 100;
/// Discord's numbers for messages that answer a command, and another message.
const OF_COMMAND: u8 = 20;
const REPLY: u8 = 19;

/// What stands under `data`.
enum Data {
    Draft(Box<Draft>),
    Choices(Vec<Choice>),
    Modal(Modal),
}

/// What was asked, as far as the answer needs it.
struct Asked {
    id: String,
    kind: Kind,
    user: u64,
    channel: crate::ChannelId,
    message: Option<u64>,
}

pub(super) fn answer(state: &mut State, form: &Form) -> Answer {
    let now = state.clock.now_ms();
    let (number, data) = form.fields(&["type", "data"], |fields| read(form, fields))?;
    let found = state.interactions.get(form.part(0)).filter(|one| one.token == form.part(1));
    let asked = found.ok_or_else(|| Refusal::unknown(10_062, "interaction"))?;
    asked.check_open(now)?;
    let asked = Asked {
        id: asked.id.clone(),
        kind: asked.kind,
        user: asked.user,
        channel: asked.channel,
        message: asked.message,
    };
    let kind = fitting(&asked, number)?;
    let (message, ephemeral, choices, modal) = match (kind, data) {
        (AnswerKind::Message, Data::Draft(draft)) => {
            draft.not_empty()?;
            let ephemeral = draft.is_ephemeral();
            (Some(respond(state, &asked, *draft, false)), ephemeral, Vec::new(), None)
        }
        (AnswerKind::Deferred, Data::Draft(draft)) => {
            let ephemeral = draft.is_ephemeral();
            (Some(respond(state, &asked, *draft, true)), ephemeral, Vec::new(), None)
        }
        (AnswerKind::Update, Data::Draft(draft)) => {
            let pressed = asked.message.and_then(|id| state.message(asked.channel, id)).cloned();
            let pressed = pressed.ok_or_else(Refusal::unknown_message)?;
            let ephemeral = pressed.ephemeral_for.is_some();
            change(state, pressed, *draft)?;
            (asked.message, ephemeral, Vec::new(), None)
        }
        (AnswerKind::Choices, Data::Choices(choices)) => (None, false, choices, None),
        (AnswerKind::Modal, Data::Modal(modal)) => (None, false, Vec::new(), Some(modal)),
        _ => (asked.message, false, Vec::new(), None),
    };
    let said = message.filter(|_| matches!(kind, AnswerKind::Message | AnswerKind::Update));
    let text = said.and_then(|id| state.message(asked.channel, id)).map(|message| message.text.clone());
    let answer = CallbackAnswer { kind, text: text.unwrap_or_default(), ephemeral, message, choices, modal };
    if let Some(interaction) = state.interactions.get_mut(&asked.id) {
        interaction.answer = Some(answer);
        interaction.original = message;
    }
    Ok(told(state, form, &asked, message))
}

fn read(form: &Form, fields: &Fields<'_>) -> (u64, Data) {
    let number = fields.number("type").unwrap_or(0);
    let Some(data) = fields.object("data") else {
        if [4, 8, 9].contains(&number) {
            fields.wrong("data", "BASE_TYPE_REQUIRED", "This field is required");
        }
        return (number, Data::Draft(Box::default()));
    };
    let data = match number {
        8 => {
            data.only(&["choices"]);
            Data::Choices(data.objects("choices", CHOICES_MAX).iter().map(choice).collect())
        }
        9 => Data::Modal(modal::read(&data)),
        _ => {
            data.only(&PARTS);
            Data::Draft(Box::new(Draft::read(form, &data)))
        }
    };
    (number, data)
}

fn choice(choice: &Fields<'_>) -> Choice {
    choice.only(&["name", "name_localizations", "value"]);
    let text = choice.required_text("name", CHOICE_MAX).to_owned();
    let value = match choice.get("value") {
        Some(Value::String(_)) => choice.text("value", CHOICE_MAX).unwrap_or_default().to_owned(),
        Some(value @ Value::Number(_)) => value.to_string(),
        _ => {
            choice.wrong("value", "BASE_TYPE_REQUIRED", "This field is required");
            String::new()
        }
    };
    Choice { text, value }
}

/// Which answers fit which question (API reference, "Interaction Callback Type").
fn fitting(asked: &Asked, number: u64) -> Result<AnswerKind, Refusal> {
    let of_message = asked.message.is_some();
    let kind = match (number, asked.kind) {
        (8, Kind::Autocomplete) => Some(AnswerKind::Choices),
        (_, Kind::Autocomplete) => None,
        (4, _) => Some(AnswerKind::Message),
        (5, _) => Some(AnswerKind::Deferred),
        (6, Kind::Component | Kind::Modal) if of_message => Some(AnswerKind::DeferredUpdate),
        (7, Kind::Component | Kind::Modal) if of_message => Some(AnswerKind::Update),
        (9, Kind::Command | Kind::Component) => Some(AnswerKind::Modal),
        _ => None,
    };
    kind.ok_or_else(|| {
        Refusal::field("type", "INTERACTION_CALLBACK_TYPE_INVALID", "This answer does not fit the interaction.")
    })
}

/// A new message that answers; its id.
fn respond(state: &mut State, asked: &Asked, draft: Draft, thinking: bool) -> u64 {
    let (id, now) = (state.clock.id(), state.clock.now_ms());
    let mut message = Message::new(asked.channel, id, BOT, now);
    message.interaction = Some(asked.id.clone());
    message.ephemeral_for = draft.is_ephemeral().then_some(asked.user);
    message.thinking = thinking;
    message.reply_to = asked.message.filter(|_| asked.kind == Kind::Component);
    message.kind = if message.reply_to.is_some() { REPLY } else { OF_COMMAND };
    draft.put(state, &mut message, true);
    state.post(message);
    id
}

/// Nothing, or, where `with_response` asks for it, what came of it.
fn told(state: &State, form: &Form, asked: &Asked, message: Option<u64>) -> Value {
    if form.query.get("with_response").is_none_or(|with| with != "true") {
        return Value::Null;
    }
    let shown = message.map(|id| state.shown(asked.channel, id));
    let number = form.body["type"].clone();
    json!({
        "interaction": {
            "id": asked.id,
            "type": asked.kind.number(),
            "response_message_id": message.map(|id| id.to_string()),
        },
        "resource": { "type": number, "message": shown },
    })
}
