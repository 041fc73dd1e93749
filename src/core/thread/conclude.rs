//! The end of a procedure: its answer, what it was about, and the sentence of an intent for a command that printed nothing.

use serde_json::Value;

use crate::answer;
use crate::effect::Ending;
use crate::envelope::Envelope;
use crate::gate::ToolCall;
use crate::port::{Block, Claim, Mark};
use crate::resource::ResourceId;
use crate::route::Intent;

use super::procedure::{CHOICES_MAX, Procedure};
use super::request::Request;
use super::state::Turn;
use super::{Entity, say, trouble};

/// Answers with what the last call of a procedure came back with.
pub(super) fn conclude(
    turn: &mut Turn<'_>,
    mut request: Request,
    procedure: &Procedure,
    call: Option<&ToolCall>,
    envelope: &Envelope,
) {
    let Some((call, spec)) = call.and_then(|call| Some((call, turn.env.registry.action(&call.tool, &call.action)?)))
    else {
        turn.say(&mut request, Mark::Plain, Claim::Nothing, say::nothing_to_show());
        turn.finish(request, Ending::Answered);
        return;
    };
    let mut blocks: Vec<Block> = procedure.said_it.iter().map(|text| Block::Text { text: text.clone() }).collect();
    match silent(turn, procedure, envelope) {
        Some(sentence) => blocks.push(say::line(sentence)),
        None => blocks.extend(answer::show(&spec.show, &call.args, envelope, turn.env.mask)),
    }
    let (by, spoken_of) = (&request.signal.actor.id, spoken_of(turn, call, envelope));
    if spoken_of.is_empty() && turn.env.intents.named(&procedure.intent).is_some_and(Intent::takes_something) {
        // The answer was about something without an id, so an earlier subject must not stay "it".
        turn.state.entities.forget(by);
    }
    turn.state.entities.remember(by, request.turn, spoken_of);
    // An answer rests on what was looked at for it, not on how its target was found.
    let sources = request.sources.last().cloned().into_iter().collect();
    let (meant, choices) = trouble::meaning(turn, &request, call, envelope).unwrap_or_default();
    blocks.extend(meant);
    turn.offer(request, (Mark::Plain, Claim::Readings { sources, unverified: None }, blocks), choices);
}

/// Returns what an intent says in the place of a command that ended well and printed nothing. `grep` ends with 1 where it finds nothing.
fn silent(turn: &Turn<'_>, procedure: &Procedure, envelope: &Envelope) -> Option<String> {
    let sentence = turn.env.intents.named(&procedure.intent)?.silent.clone()?;
    let data = &envelope.data;
    let ended_well = matches!(data.get("exit_code").and_then(Value::as_i64), Some(0 | 1));
    let is_blank = |name: &str| match data.get(name) {
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(lines)) => lines.iter().all(|line| line.as_str().is_some_and(|line| line.trim().is_empty())),
        Some(Value::Null) | None => true,
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => false,
    };
    let is_whole = envelope.meta.left_out.is_empty() && data.get("output").is_some();
    (ended_well && is_whole && is_blank("output") && is_blank("errors")).then_some(sentence)
}

/// What an answer was about: its target, or else the things it lists.
fn spoken_of(turn: &Turn<'_>, call: &ToolCall, envelope: &Envelope) -> Vec<Entity> {
    let target = call.target.as_ref().filter(|id| !id.is_place());
    if let Some(id) = target {
        return vec![entity(turn, id)];
    }
    let lists = envelope.data.as_object().into_iter().flat_map(|data| data.values()).filter_map(Value::as_array);
    lists.flatten().filter_map(listed_entity).take(CHOICES_MAX).collect()
}

/// Returns a thing by the name that the thread knows it by.
pub(super) fn entity(turn: &Turn<'_>, id: &ResourceId) -> Entity {
    let name = turn.state.resolved.peek(id).map_or_else(|| id.uid().to_owned(), |known| known.name.clone());
    Entity { id: id.clone(), name }
}

fn listed_entity(row: &Value) -> Option<Entity> {
    let id: ResourceId = row.get("id")?.as_str()?.parse().ok()?;
    Some(Entity { id, name: row.get("name")?.as_str()?.to_owned() })
}
