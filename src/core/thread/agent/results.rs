//! What a model is told of the calls that it wanted: what came of each, or why it was refused.

use serde_json::Value;

use crate::answer;
use crate::envelope::Envelope;
use crate::gate::{Refusal, ToolCall};
use crate::mind::Exchange;
use crate::thread::run::KNOWN;
use crate::thread::state::Turn;
use crate::tool::ToolKind;

use super::reply::Wanted;
use super::{Agent, Done, situation};

fn exchange(turn: &Turn<'_>, wanted: &Wanted, result: &str, ok: bool) -> Exchange {
    let masked = |text: &str| situation::told_line(turn.env.mask, text);
    let result = situation::masked(turn.env.mask, result, situation::RESULT_CHARS_MAX);
    let args = wanted.args.clone().map(|args| Value::Object(args).to_string()).unwrap_or_default();
    let target = wanted.target.as_deref().map(masked);
    Exchange { call: masked(&wanted.name()), target, args: masked(&args), result, ok }
}

/// A call that was not even judged.
pub(super) fn not_tried(turn: &Turn<'_>, wanted: &Wanted, why: &str) -> Done {
    Done { exchange: exchange(turn, wanted, why, false), facts: String::new() }
}

/// A refusal goes back as data: which gate, why, how to recover (REJ-01).
pub(super) fn refused(turn: &Turn<'_>, wanted: &Wanted, refusal: &Refusal) -> Done {
    let hint = refusal.details.recovery_hint.as_deref().unwrap_or_default();
    let rewrite = refusal.details.suggested_rewrite.as_deref();
    let rewrite = rewrite.map(|rewrite| format!(" Allowed instead: {rewrite}")).unwrap_or_default();
    let result = format!("refused by {}: {}: {}. {hint}{rewrite}", refusal.gate, refusal.code, refusal.message);
    Done { exchange: exchange(turn, wanted, &result, false), facts: String::new() }
}

/// What came of a call, as people would be shown it: that is shorter than data, and has the units in it.
pub(super) fn done(
    turn: &Turn<'_>,
    agent: &mut Agent,
    wanted: &Wanted,
    (call, envelope): (Option<&ToolCall>, &Envelope),
) -> Done {
    let spec = turn.env.registry.action(&wanted.tool, &wanted.action);
    let (Some(call), Some(spec)) = (call, spec) else {
        let known = envelope.data.get(KNOWN).and_then(Value::as_str);
        let result = match known {
            Some(facts) => format!("already known from a reading of this request, and not read again: {facts}"),
            None => "nothing of that kind is there; it was looked for in this request already".to_owned(),
        };
        agent.evidence.mentioned(known.unwrap_or_default());
        let facts = known.unwrap_or_default().to_owned();
        return Done { exchange: exchange(turn, wanted, &result, true), facts };
    };
    let (result, blocks) = if call.kind == ToolKind::Resolve && envelope.ok {
        (situation::found(turn, envelope), Vec::new())
    } else {
        let blocks = answer::show(&spec.show, &call.args, envelope, turn.env.mask);
        (answer::plain(&blocks), blocks)
    };
    if envelope.ok {
        if call.kind == ToolKind::Resolve {
            agent.evidence.mentioned(&result);
        } else {
            let args = Value::Object(call.args.clone()).to_string();
            agent.evidence.read(&result, (&args, &situation::commands(spec, call)), situation::items(envelope));
        }
        if !blocks.is_empty() {
            agent.shown = blocks;
        }
    }
    let facts = answer::facts(&spec.facts, envelope, turn.env.mask);
    let facts = facts.into_iter().map(|(attr, value)| format!("{attr}: {value}")).collect::<Vec<_>>().join("; ");
    Done { exchange: exchange(turn, wanted, &result, envelope.ok), facts }
}
