//! What a step decided, as JSON lines: one line for each effect that somebody would discuss. Counters, timers and what is
//! remembered for speed are left out; texts are those that people would see.

use countersign_core::effect::Effect;
use countersign_core::signal::ThreadKey;
use serde_json::{Value, json};

/// The lines of one step. `line` is the number of the recording's line that led to it.
pub(super) fn lines(line: usize, thread: &ThreadKey, effects: &[Effect]) -> Vec<String> {
    let head = |name: &str, rest: Value| {
        let mut object = json!({ "line": line, "thread": thread.root.as_str(), "decided": name });
        if let (Some(object), Value::Object(rest)) = (object.as_object_mut(), rest) {
            object.extend(rest);
        }
        object.to_string()
    };
    effects.iter().filter_map(|effect| decided(effect)).map(|(name, rest)| head(name, rest)).collect()
}

fn decided(effect: &Effect) -> Option<(&'static str, Value)> {
    Some(match effect {
        Effect::Call(call) => {
            let call = call.get();
            let plan = call.warrant.as_ref().map(|warrant| warrant.plan.as_str());
            let rest =
                json!({ "call": call.name(), "id": call.id, "target": call.target, "args": call.args, "plan": plan });
            ("call", rest)
        }
        Effect::Post { n, message } => {
            let message = message.get();
            ("say", json!({ "n": n, "mark": message.mark, "claim": message.claim, "blocks": message.blocks }))
        }
        Effect::File(filed) => {
            let plan = filed.frozen.plan();
            ("file", json!({ "plan": plan.id, "digest": filed.frozen.digest(), "title": plan.title }))
        }
        Effect::Move(moved) => {
            let state = |state: countersign_core::approval::PlanState| state.as_str();
            ("move", json!({ "plan": moved.plan, "from": state(moved.from), "to": state(moved.to.state) }))
        }
        Effect::Spend(spend) => {
            let used =
                json!({ "signal": spend.signal, "day": spend.day.to_string(), "by": spend.by, "usage": spend.usage });
            ("spend", used)
        }
        Effect::Keep(change) => {
            ("keep", json!({ "row": change.key, "from": change.from, "gone": change.to.is_none() }))
        }
        Effect::Audit(audit) => {
            let code = audit.code.map(countersign_core::envelope::Code::as_str);
            let rest = json!({
                "what": audit.what, "gate": audit.gate, "code": code, "call": audit.call, "target": audit.target,
                "actor": audit.actor.id, "detail": audit.detail,
            });
            ("record", rest)
        }
        Effect::Finish { signal, ending } => ("finish", json!({ "signal": signal, "ending": ending.as_str() })),
        Effect::Think(ask) => {
            let (ask, offers) = (ask.get(), ask.get().situation.offers.iter());
            let offers: Vec<&str> = offers.map(|offer| offer.name.as_str()).collect();
            ("think", json!({ "n": ask.n, "tier": ask.tier.as_str(), "offers": offers }))
        }
        Effect::Progress(message) => ("progress", json!({ "message": message.get() })),
        Effect::Redraw { plan, message } => ("redraw", json!({ "plan": plan, "message": message.get() })),
        Effect::Count(_) | Effect::Remember { .. } | Effect::Wake { .. } | Effect::GiveUp { .. } => return None,
    })
}
