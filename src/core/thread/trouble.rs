//! A call did not work, and somebody waits for what it was to tell: what is known of such a failure is said, with what to
//! look at next on buttons that run nothing by themselves; what nobody knows is said as it came, and a model may explain it
//! (ERR-01 to ERR-06). What a model did wrong never comes here: it is told so in `agent/`, and people are spared it.

use serde_json::Value;

use crate::answer::{self, Rule};
use crate::effect::Ending;
use crate::envelope::{Code, Envelope, Failure};
use crate::gate::ToolCall;
use crate::port::{Block, Choice, Claim, Mark};
use crate::usage::Origin;

use super::procedure::CHOICES_MAX;
use super::request::Request;
use super::run::on_failure;
use super::state::{AuditAbout, Resume, Turn};
use super::{agent, say};

/// What is said below an answer, and what it offers.
type Further = (Vec<Block>, Vec<(Choice, Resume)>);

/// Says it, and ends the request or has a model explain it.
pub(super) fn tell(turn: &mut Turn<'_>, mut request: Request, call: Option<&ToolCall>, failure: &Failure) {
    let gate = on_failure(turn, &mut request, call.and_then(|call| call.target.as_ref()), failure);
    let mark = if gate.is_some() { Mark::Refused } else { Mark::Failed };
    if gate.is_none() {
        record(turn, &request, call, failure);
    }
    let errors = turn.env.errors;
    let rule = errors.known(failure);
    count(turn, call, rule);
    let Some(rule) = rule else {
        turn.say(&mut request, mark, Claim::Nothing, answer::failure(failure, gate, turn.env.mask));
        if needs_explaining(failure) && request.thought_by == Origin::Rule {
            return agent::explain(turn, request, call, failure);
        }
        return turn.finish(request, Ending::Answered);
    };
    let what = say::trouble::what(call, &turn.state.resolved);
    let mut blocks = answer::explained(failure, rule, &what, turn.env.mask);
    let fixes = fixes(turn, &request, call, rule);
    blocks.extend((!fixes.is_empty()).then(say::trouble::look_further));
    turn.offer(request, (mark, Claim::Nothing, blocks), fixes);
}

/// Nothing is called what somebody named: what lists such things is offered.
pub(super) fn missing(turn: &mut Turn<'_>, request: Request, kind: Option<&str>, mut blocks: Vec<Block>) {
    let errors = turn.env.errors;
    let words = kind.and_then(|kind| errors.lists(kind)).map(str::to_owned);
    let choices = offered(turn, &request, words.into_iter());
    blocks.extend((!choices.is_empty()).then(say::trouble::look_further));
    turn.offer(request, (Mark::Plain, Claim::Nothing, blocks), choices);
}

/// What a program says that ran and did not work means, where that is known: below the reading, with what to look at next.
pub(super) fn meaning(turn: &Turn<'_>, request: &Request, call: &ToolCall, envelope: &Envelope) -> Option<Further> {
    let said = |name: &str| envelope.data.get(name).and_then(Value::as_str).unwrap_or_default();
    envelope.data.get("exit_code").and_then(Value::as_i64).filter(|code| *code != 0)?;
    let rule = turn.env.errors.known_of(said("errors"))?;
    let fixes = fixes(turn, request, Some(call), rule);
    let further = (!fixes.is_empty()).then(say::trouble::look_further);
    Some((std::iter::once(answer::meaning(rule)).chain(further).collect(), fixes))
}

/// The words of a failure as they came: the whole of them is for the audit alone (ERR-01).
pub(super) fn record(turn: &mut Turn<'_>, request: &Request, call: Option<&ToolCall>, failure: &Failure) {
    let name = call.map(ToolCall::name).unwrap_or_default();
    let target = call.and_then(|call| call.target.as_ref()).map(ToString::to_string);
    let detail = format!("{}: {}", failure.code, failure.message);
    let about = AuditAbout { call: &name, target: target.as_deref(), detail: &detail, ..AuditAbout::default() };
    turn.audit("failed", &request.signal, about);
}

fn count(turn: &mut Turn<'_>, call: Option<&ToolCall>, rule: Option<&Rule>) {
    let tool = call.map_or("none", |call| call.tool.as_str());
    let rule = rule.map_or("none", |rule| rule.name.as_str());
    turn.count("failures_total", &[("tool", tool), ("rule", rule)]);
}

/// What is not there, what the tool itself says how to mend, and what was refused explains itself.
fn needs_explaining(failure: &Failure) -> bool {
    failure.failed && failure.code != Code::NotFound && failure.details.recovery_hint.is_none()
}

/// What may be looked at next: each is routed and judged like words that were typed, once somebody presses it (ERR-06).
fn fixes(turn: &Turn<'_>, request: &Request, call: Option<&ToolCall>, rule: &Rule) -> Vec<(Choice, Resume)> {
    let target = call.and_then(|call| turn.state.resolved.peek(call.target.as_ref()?));
    let words = rule.fixes(target.map(|resource| (&resource.id, resource.name.as_str())));
    offered(turn, request, words.into_iter())
}

fn offered(turn: &Turn<'_>, request: &Request, words: impl Iterator<Item = String>) -> Vec<(Choice, Resume)> {
    // What has just failed is no way to find out more.
    let asked = request.signal.payload.words();
    let others = words.filter(|words| !words.eq_ignore_ascii_case(asked.trim()));
    let offered = others.filter_map(|words| {
        let intent = turn.env.intents.offered(&words)?;
        Some((say::trouble::fix(&words, &intent.about), Resume::Words(words)))
    });
    offered.take(CHOICES_MAX).collect()
}

#[cfg(test)]
#[path = "trouble_tests.rs"]
mod tests;
